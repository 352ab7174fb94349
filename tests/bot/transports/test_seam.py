"""What both bridges to Signal promise alike: one suite, run over each of them and its double."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Self, cast

import pytest

from bot.errors import ConfigError, Disconnected, NotSent, SendUnknown, Undeliverable
from bot.events import (
    ChatId,
    Envelope,
    Incoming,
    Kind,
    PersonId,
    QuoteTarget,
    Receipt,
    SentId,
    Style,
    Styled,
    StyleRange,
)
from bot.transports.base import ToolStarted, Transport
from bot.transports.rest_api import RestApi
from bot.transports.signal_cli import SignalCli
from tests.bot.transports.bridges import Bridge, received, reply, rest_api_bridge, signal_cli_bridge
from tests.servers.base import answer_json, hang
from tests.servers.envelopes import (
    ACCOUNT,
    ALICE,
    BOB,
    CAROL,
    FIXTURES,
    GROUP,
    MALLORY,
    PLACEHOLDER,
    mention_of,
    message,
    undecryptable,
)
from tests.servers.signal_server import Plan, cut

BRIDGES = {"signal_cli": signal_cli_bridge, "rest_api": rest_api_bridge}
IN_GROUP = f"group:{GROUP}"


@pytest.fixture(params=BRIDGES)
async def bridge(request: pytest.FixtureRequest) -> AsyncIterator[Bridge]:
    async with BRIDGES[request.param]() as running:
        yield running


class Listening:
    """A transport whose stream is open: `next` takes envelopes from it one by one."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._envelopes = transport.envelopes()
        self._first: asyncio.Task[Envelope] | None = asyncio.ensure_future(anext(self._envelopes))

    async def next(self) -> Envelope:
        first, self._first = self._first, None
        return await (first or anext(self._envelopes))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._first is not None:
            self._first.cancel()
            await asyncio.gather(self._first, return_exceptions=True)
        await self._envelopes.aclose()


async def test_a_message_comes_in(bridge: Bridge) -> None:
    """Who, where and when are told before the frame is read, and the frame itself is handed on as it came."""
    transport = bridge.transport()
    frame = message("hi", author=BOB, group=GROUP, mention=True)
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(frame)
        envelope = await stream.next()
    assert (envelope.account, envelope.author, envelope.chat) == (transport.account, BOB.uuid, IN_GROUP)
    assert (envelope.kind, envelope.from_self, json.loads(envelope.raw)) == (Kind.MESSAGE, False, frame)
    event = transport.event(envelope)
    assert isinstance(event, Incoming)
    assert (event.text, event.mentions_me) == ("hi", True)


async def test_nothing_that_comes_stops_the_stream(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    """After every kind of frame, broken ones included, the next good message arrives; the broken ones are counted."""
    broken = ["", "null", "[]", '{"error":"x"}', "{" * 5000, '"' + "x" * 2_000_000 + '"', json.dumps(message())[:-40]]
    frames = [path.read_text(encoding="utf-8").replace("\n", " ") for path in sorted(FIXTURES.glob("*.json"))]
    transport = bridge.transport()
    async with Listening(transport) as stream:
        await bridge.server.connected()
        seen: list[Envelope] = []
        for number, frame in enumerate([*frames, *broken]):
            await bridge.server.deliver_data(frame)
            await bridge.server.deliver(message(f"good {number}"))
            while not (seen and f"good {number}" in seen[-1].raw):
                seen.append(await stream.next())
                transport.event(seen[-1])
    assert len(seen) == 2 * len(frames) + len(broken) - 1
    unreadable = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert cast("SignalCli | RestApi", transport).unreadable_frames == len(unreadable) == len(broken) + 1


async def test_a_clean_close_ends_the_envelopes(bridge: Bridge) -> None:
    """A proxy that is restarted closes in good order: the stream ends, and the intake can connect again."""
    transport = bridge.transport()
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.end_streams("close")
        with pytest.raises(StopAsyncIteration):
            await stream.next()
    await bridge.server.disconnected()
    async with Listening(transport) as stream:
        await bridge.server.connected(2)
        await bridge.server.deliver(message("again"))
        assert (await stream.next()).kind is Kind.MESSAGE


async def test_a_broken_connection_is_disconnected(bridge: Bridge) -> None:
    """So is a server that goes away altogether, and one that is not there yet."""
    transport = bridge.transport()
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.end_streams("drop")
        with pytest.raises(Disconnected):
            await stream.next()
    await bridge.server.stop()
    with pytest.raises(Disconnected):
        await received(transport, 1)


async def test_a_half_open_connection_is_disconnected(bridge: Bridge) -> None:
    """A stream on which not even keep-alives come is given up, instead of being deaf for ever."""
    transport = bridge.transport(silence_seconds=0.8)
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(message("before"))
        await stream.next()
        await bridge.server.end_streams("silence")
        with pytest.raises(Disconnected):
            await stream.next()


async def test_keep_alives_keep_a_quiet_stream(bridge: Bridge) -> None:
    """Nobody writes for longer than the silence that is allowed, and the stream is still there."""
    transport = bridge.transport(silence_seconds=0.8)
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await asyncio.sleep(1.2)
        await bridge.server.deliver(message("good morning"))
        assert (await stream.next()).kind is Kind.MESSAGE
    assert bridge.server.streams_opened == 1


async def test_an_unknown_account_will_never_work(bridge: Bridge) -> None:
    """The operator is told which variable is wrong; the number itself is in no message."""
    with pytest.raises(ConfigError, match="SIGNAL__ACCOUNT") as told:
        await received(bridge.transport("+15550109999"), 1)
    assert "5550109999" not in str(told.value)


async def test_a_slow_reader_gets_everything_in_order(bridge: Bridge) -> None:
    """The next frame is read when it is asked for, and none is lost meanwhile."""
    async with Listening(bridge.transport()) as stream:
        await bridge.server.connected()
        frames = [message(f"{number}") for number in range(50)]
        await bridge.server.deliver(*frames)
        got = []
        for _ in frames:
            got.append(await stream.next())
            await asyncio.sleep(0)
    assert [envelope.sent_at for envelope in got] == [frame["envelope"]["timestamp"] for frame in frames]


async def test_a_mention_by_a_person_without_a_number_is_mine(bridge: Bridge) -> None:
    """The account's uuid is looked up when the stream opens: such mentions name nothing else."""
    transport = bridge.transport()
    mine = mention_of(replace(CAROL, uuid=bridge.server.own.uuid)) if bridge.server.own else {}
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(message(f"a {PLACEHOLDER}", author=CAROL, mentions=[mine | {"start": 2}]))
        event = transport.event(await stream.next())
    assert isinstance(event, Incoming)
    assert (event.mentions_me, event.text) == (True, "a @Aldis")


async def test_an_account_that_is_not_told_who_it_is_learns_it(bridge: Bridge) -> None:
    """The first thing that the account does on the linked phone tells its uuid."""
    own, bridge.server.own = bridge.server.own, None
    assert own is not None
    transport = bridge.transport()
    mention = message(f"a {PLACEHOLDER}", mentions=[{"uuid": own.uuid, "start": 2, "length": 1}])
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(mention, message("note", author=own), mention)
        events = [transport.event(await stream.next()) for _ in range(3)]
    assert [isinstance(event, Incoming) and event.mentions_me for event in events] == [False, False, True]


async def test_a_reply_goes_out_whole(bridge: Bridge) -> None:
    """Text, styles and the quote arrive at the person, and the id is the one that the person's phone sees."""
    transport = bridge.transport()
    text = "Sow *early*: 🪴 in April."
    styles = (StyleRange(start=0, length=3, style=Style.BOLD), StyleRange(start=16, length=8, style=Style.ITALIC))
    quote = QuoteTarget(author=PersonId(BOB.uuid), sent_at=SentId(1234), text="when?")
    sent_id = await transport.send(replace(reply(chat=IN_GROUP, quote=quote), content=Styled(text=text, styles=styles)))
    [sent] = bridge.server.sent
    assert (sent.chat, sent.text, sent.timestamp) == (IN_GROUP, text, sent_id)
    assert sent.styles == ("0:3:BOLD", "16:8:ITALIC")
    assert (sent.quote_author, sent.quote_timestamp, sent.quote_text) == (BOB.uuid, 1234, "when?")


async def test_a_plain_reply_is_not_touched(bridge: Bridge) -> None:
    """Characters that mark styles elsewhere are text where no style is asked for."""
    text = "2 * 3 ** 4 ~ `x` || \\* end"
    await bridge.transport().send(reply(text, chat=CAROL.chat))
    [sent] = bridge.server.sent
    assert (sent.text, sent.styles, sent.recipient, sent.quote_timestamp) == (text, (), CAROL.uuid, None)


async def test_receipts_confirm_what_was_sent(bridge: Bridge) -> None:
    """Delivery receipts come back by the stream with the id of the message: how an unknown send is reconciled."""
    transport = bridge.transport()
    assert transport.has_receipts
    async with Listening(transport) as stream:
        await bridge.server.connected()
        sent_id = await transport.send(reply(chat=ALICE.chat))
        event = transport.event(await stream.next())
    assert event == Receipt(author=PersonId(ALICE.uuid), what="delivered", targets=(sent_id,))


GROUP_RATE_LIMIT = ("RATE_LIMIT_FAILURE",) * 3
UNREGISTERED, IDENTITY, NO_KEY = "UNREGISTERED_FAILURE", "IDENTITY_FAILURE", "INVALID_PRE_KEY_FAILURE"


@pytest.mark.parametrize(
    ("plan", "outcome"),
    [
        (Plan(results=("RATE_LIMIT_FAILURE",)), NotSent),
        (Plan(results=GROUP_RATE_LIMIT), NotSent),
        (Plan(error=-5), NotSent),
        (Plan(results=(IDENTITY,)), Undeliverable),
        (Plan(error=-4), Undeliverable),
        (Plan(results=("NETWORK_FAILURE",)), SendUnknown),
        (Plan(results=("NETWORK_FAILURE", UNREGISTERED, "RATE_LIMIT_FAILURE")), SendUnknown),
        (Plan(error=-3), SendUnknown),
        (Plan(error=-32603, goes_out=True), SendUnknown),
        (Plan(answer=cut, goes_out=True), SendUnknown),
        (Plan(answer=answer_json({}, status=500)), SendUnknown),
        (Plan(answer=answer_json({}, status=502)), SendUnknown),
        (Plan(answer=answer_json("<html>")), SendUnknown),
        (Plan(answer=answer_json({"timestamp": "?"}, status=201)), SendUnknown),
        (Plan(answer=answer_json({}, status=401)), NotSent),
        (Plan(answer=answer_json({}, status=404)), NotSent),
        (Plan(answer=answer_json({}, status=408)), NotSent),
        (Plan(answer=answer_json({}, status=429)), NotSent),
        (Plan(answer=answer_json({}, status=413)), Undeliverable),
        (Plan(answer=answer_json({}, status=422)), Undeliverable),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
async def test_a_send_that_fails_is_told_as_what_it_is(bridge: Bridge, plan: Plan, outcome: type[Exception]) -> None:
    """Surely not sent, never going out, and unknown are three different things to do."""
    bridge.server.plans.append(plan)
    with pytest.raises(outcome) as told:
        await bridge.transport().send(reply("a secret"))
    assert type(told.value) is outcome
    assert "secret" not in str(told.value)
    assert not any(person.number in str(told.value) for person in (ALICE, BOB) if person.number)


@pytest.mark.parametrize("late", [Plan(delay_seconds=3), Plan(answer=hang, goes_out=True)])
async def test_an_answer_after_the_deadline_is_unknown(bridge: Bridge, late: Plan) -> None:
    """The message went out, but nobody was told in time: the deadline is for the whole, not for each read."""
    bridge.server.plans.append(late)
    with pytest.raises(SendUnknown):
        await bridge.transport(send_seconds=0.3).send(reply())
    assert await bridge.server.sent_count(1)


async def test_a_server_that_is_down_sent_nothing(bridge: Bridge) -> None:
    """Also after a connection was used before: a refused connection is surely not sent."""
    transport = bridge.transport()
    await transport.send(reply())
    await bridge.server.stop()
    with pytest.raises(NotSent):
        await transport.send(reply())


async def test_some_of_a_group_is_sent(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    """Whom it did not reach is counted in the log; sending it again would reach the others twice."""
    bridge.server.plans.append(Plan(results=("SUCCESS", "NETWORK_FAILURE", UNREGISTERED)))
    assert await bridge.transport().send(reply(chat=IN_GROUP)) == bridge.server.sent[0].timestamp
    [warning] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "did not reach 2" in warning


async def test_an_unknown_group_is_undeliverable(bridge: Bridge) -> None:
    """A group that the account has left takes nothing."""
    with pytest.raises(Undeliverable):
        await bridge.transport().send(reply(chat="group:R29uZQ=="))


async def test_typing_and_receipts_go_out(bridge: Bridge) -> None:
    """In direct chats and groups; the read receipt of a group's message goes to its author."""
    transport = bridge.transport()
    await transport.typing(ChatId(ALICE.chat), started=True)
    await transport.typing(ChatId(IN_GROUP), started=False)
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(message("hi", author=CAROL, group=GROUP), undecryptable(None))
        for _ in range(2):
            await transport.receipt(await stream.next())
    assert await bridge.server.typing_count(2) == [(ALICE.chat, True), (IN_GROUP, False)]
    [(recipient, _)] = await bridge.server.read_count(1)
    assert recipient == CAROL.uuid
    assert len(bridge.server.read) == 1


@pytest.mark.parametrize("fault", [answer_json({}, status=500), answer_json("no", status=404), hang])
async def test_typing_and_receipts_may_fail(bridge: Bridge, fault: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for them, so their failures are logged and go no further; they are bounded, too."""
    caplog.set_level(logging.INFO)
    transport = bridge.transport(call_seconds=0.3)
    frame = json.dumps(message("hi"))
    envelope = Envelope(
        account=ACCOUNT,
        author=PersonId(MALLORY.uuid),
        number=MALLORY.number,
        device=1,
        sent_at=SentId(1),
        kind=Kind.MESSAGE,
        chat=ChatId(MALLORY.chat),
        raw=frame,
    )
    bridge.server.faults += [fault, fault]
    await transport.typing(ChatId(MALLORY.chat), started=True)
    await transport.receipt(envelope)
    assert len([record for record in caplog.records if record.name.startswith("bot.")]) == 2


async def test_a_server_that_is_down_stops_no_typing(bridge: Bridge) -> None:
    """Neither does it stop a receipt."""
    await bridge.server.stop()
    await bridge.transport().typing(ChatId(ALICE.chat), started=True)


async def test_progress_shows_nothing(bridge: Bridge) -> None:
    """Signal has no place for the steps of a turn."""
    await bridge.transport().progress(ChatId(ALICE.chat), ToolStarted(name="calculate", arguments="{}"))
    assert not bridge.server.requests


async def test_logs_hold_no_words_and_no_numbers(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    """Even with every library at its most talkative."""
    caplog.set_level(logging.DEBUG)
    transport = bridge.transport()
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(message("a secret", author=MALLORY))
        await transport.receipt(await stream.next())
        await bridge.server.deliver_data('{"a secret": 1')
        await transport.send(reply("another secret", chat=IN_GROUP))
        await stream.next()
    ours = [record for record in caplog.records if not record.name.startswith(("asyncio", "aiohttp.server"))]
    told = " ".join(record.getMessage() for record in ours)
    assert "secret" not in told
    assert "555" not in told


async def test_a_cancelled_stream_is_closed(bridge: Bridge) -> None:
    """Shutting down cancels the intake: the connection is gone with it, and nothing is fetched any more."""
    transport = bridge.transport()

    async def listen() -> None:
        async with aclosing(transport.envelopes()) as envelopes:
            async for _ in envelopes:
                pass

    listening = asyncio.ensure_future(listen())
    await bridge.server.connected()
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    await bridge.server.disconnected()
