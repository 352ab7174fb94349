"""What both bridges to Signal promise alike: one suite, run over each of them and its double."""

import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from aiohttp import web

from bot.errors import (
    CallRefused,
    Disconnected,
    NetworkFailed,
    NotSent,
    NotUploaded,
    SendUnknown,
    TransportError,
    Undeliverable,
    Unfetchable,
    Untrusted,
)
from bot.events import (
    Attachment,
    ChatId,
    Envelope,
    File,
    Incoming,
    Kind,
    MentionRange,
    PersonId,
    Quote,
    Receipt,
    Removal,
    SentId,
    Style,
    Styled,
    StyleRange,
)
from bot.signal.envelope import FrameReader
from bot.signal.protocol import Contact, Group, Identity, Release, SignalTransport
from bot.signal.rest_api.transport import RestApi
from bot.signal.signal_cli.transport import SignalCli
from tests.bot.signal.bridges import OWN_ACCOUNT, Bridge, Listening, received, reply, rest_api_bridge, signal_cli_bridge
from tests.servers import envelopes
from tests.servers.base import Seen, answer_json, hang
from tests.servers.envelopes import (
    ALDIS,
    ALICE,
    BOB,
    CAROL,
    FIXTURES,
    GROUP,
    GROUP_NAME,
    MALLORY,
    message,
    undecryptable,
)
from tests.servers.signal_server import End, Plan, Reaction, SentFile, cut
from tests.waiting import DEADLINE_SECONDS, eventually

BRIDGES: dict[str, Callable[[], AbstractAsyncContextManager[Bridge]]] = {
    "signal_cli": signal_cli_bridge,
    "signal_cli_tcp": lambda: signal_cli_bridge("tcp"),
    "rest_api": rest_api_bridge,
}
IN_GROUP = f"group:{GROUP}"


@pytest.fixture(params=BRIDGES)
async def bridge(request: pytest.FixtureRequest) -> AsyncIterator[Bridge]:
    async with BRIDGES[request.param]() as running:
        yield running


def outcome_over(bridge: Bridge, plan: Plan, outcome: type[Exception]) -> type[Exception]:
    """What an outcome is over this bridge: what HTTP tells by a status, a socket can only tell by being closed."""
    if bridge.server.url.startswith("http") or plan.answer in {None, cut, hang}:
        return outcome
    assert plan.answer is not None
    answer = plan.answer(Seen(method="POST", path="/", query={}, headers={}, body=b""))
    return outcome if isinstance(answer, web.Response) and answer.status == 200 else SendUnknown


async def test_a_message_comes_in(bridge: Bridge) -> None:
    """Who, where and when are known before the frame is read; when the intake is cancelled nothing more is fetched."""
    transport = bridge.transport()
    frame = message("hi", author=BOB, group=GROUP, mention=True)
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(frame)
        envelope = await stream.next()
    await bridge.server.disconnected()
    assert (envelope.account, envelope.author, envelope.chat) == (transport.account, BOB.uuid, IN_GROUP)
    assert (envelope.kind, envelope.from_self, json.loads(envelope.raw)) == (Kind.MESSAGE, False, frame)
    event = transport.event(envelope)
    assert isinstance(event, Incoming)
    assert (event.text, event.mentions_me) == ("hi", True)


async def test_nothing_that_comes_stops_the_stream(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> None:
    """After every kind of frame, broken ones included, the next good message arrives; the broken ones are counted."""
    broken = ["", "null", "[]", '{"error":"x"}', '"' + "x" * 2_000_000 + '"', json.dumps(message())[:-40]]
    frames = [path.read_text(encoding="utf-8").replace("\n", " ") for path in sorted(FIXTURES.glob("*.json"))]
    caplog.set_level(logging.INFO)
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
    if not isinstance(transport, RestApi):  # this bridge hands on nothing over a websocket that names no account
        assert transport.stream.unreadable == len(broken) + 1
    assert "xxx" not in caplog.text


@pytest.mark.parametrize("how", get_args(End))
async def test_however_a_stream_ends_the_intake_can_connect_again(bridge: Bridge, how: End) -> None:
    """After a proxy's restart, a cut, or silence without keep-alives; not after a server that goes away altogether."""
    transport = bridge.transport(silence_seconds=0.8 if how == "silence" else DEADLINE_SECONDS)
    is_orderly = how == "close" and bridge.server.url.startswith("http")  # a socket knows no good order
    async with Listening(transport) as stream:
        await eventually(lambda: transport.stream.is_open)
        await bridge.server.end_streams(how)
        with pytest.raises(StopAsyncIteration if is_orderly else Disconnected):
            await stream.next()
    await bridge.server.disconnected()
    async with Listening(bridge.transport()) as stream:
        await bridge.server.connected(2)
        await bridge.server.deliver(message("again"))
        assert (await stream.next()).kind is Kind.MESSAGE
    await bridge.server.stop()
    with pytest.raises(Disconnected):
        await received(transport, 1)


async def test_a_reply_goes_out_whole(bridge: Bridge) -> None:
    """Text, styles, mentions, quote and the id that the phone sees; places are counted in what people see."""
    transport = bridge.transport()
    text = "🪴 *@Bob* and @Carol water."
    styles = (StyleRange(start=0, length=2, style=Style.BOLD), StyleRange(start=21, length=5, style=Style.ITALIC))
    mentions = (
        MentionRange(start=4, length=4, person=PersonId(BOB.uuid)),
        MentionRange(start=14, length=6, person=PersonId(CAROL.uuid)),
    )
    keeps_styles = bridge.build is SignalCli  # the other takes them as markers, and the text has such characters
    quote = Quote(author=PersonId(BOB.uuid), sent_at=SentId(1_700_000_001_234), text="when?")
    whole = reply(chat=IN_GROUP, quote=quote, mentions=mentions)
    sent_id = await transport.send(replace(whole, content=Styled(text=text, styles=styles)))
    long = "Grüße 😀 *~|` " * 1200  # a file of its own, which the bridge makes of it
    await transport.send(reply(long))
    [sent, second] = bridge.server.sent
    assert (sent.chat, sent.text, sent.timestamp, second.text) == (IN_GROUP, text, sent_id, long)
    assert sent.styles == (("0:2:BOLD", "21:5:ITALIC") if keeps_styles else ())
    assert sent.mentions == (f"4:4:{BOB.uuid}", f"14:6:{CAROL.uuid}")
    assert (sent.quote_author, sent.quote_timestamp, sent.quote_text) == (BOB.uuid, 1_700_000_001_234, "when?")


async def test_every_member_of_a_group_gets_the_next_message(bridge: Bridge) -> None:
    """An unseen indicator begins signal-cli's sessions: once a group, again for who joins, not after a message."""
    other = "T3JjaGFyZENsdWJPcmNoYXJkQ2x1Yk9yY2hhcmRDbHU="
    bridge.server.groups[other] = (BOB, MALLORY)
    bridge.server.newcomers = {BOB.uuid, MALLORY.uuid}
    transport = bridge.transport()
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(message("hi", group=GROUP))
        await stream.next()
        for text in ("In April.", "In May."):
            await transport.send(reply(text, chat=IN_GROUP))
        await transport.typing(ChatId(f"group:{other}"), started=True)
        await transport.send(reply("In June.", chat=f"group:{other}"))
        await transport.send(reply("In July.", chat=MALLORY.chat))
        assert bridge.server.typing == [(IN_GROUP, False), (f"group:{other}", True)]
        await bridge.server.add_to_group(MALLORY, revision=5)
        while (await stream.next()).group_revision != 5:
            pass
        for text in ("In August.", "In May."):
            await transport.send(reply(text, chat=IN_GROUP))
    assert bridge.server.missed == []
    assert len(bridge.server.sent) == 6
    assert bridge.server.typing[2:] == [(IN_GROUP, False)]


def words(bridge: Bridge, chat: str) -> list[str]:
    return [sent.text for sent in bridge.server.visible(chat)]


async def test_an_edit_takes_the_place_of_the_newest_revision(bridge: Bridge) -> None:
    """Every edit names the revision before it; text, styles and quote are the edit's, and the place stays."""
    transport = bridge.transport()
    quote = Quote(author=PersonId(ALICE.uuid), sent_at=SentId(1_700_000_001_234), text="when?")
    first = await transport.send(reply("In April.", quote=quote))
    await transport.send(reply("Anything else?"))
    second = await transport.send(reply("In May.", quote=quote, edits=first))
    bold = Styled(text="In June.", styles=(StyleRange(start=3, length=4, style=Style.BOLD),))
    third = await transport.send(replace(reply(quote=quote, edits=second), content=bold))
    assert len({first, second, third}) == 3
    assert words(bridge, ALICE.chat) == ["In June.", "Anything else?"]
    shown = bridge.server.visible(ALICE.chat)[0]
    assert (shown.timestamp, shown.styles) == (third, ("3:4:BOLD",))
    assert (shown.quote_author, shown.quote_timestamp, shown.quote_text) == (ALICE.uuid, 1_700_000_001_234, "when?")


@pytest.mark.parametrize("chat", [ALICE.chat, IN_GROUP])
async def test_a_removed_message_is_gone(bridge: Bridge, chat: str) -> None:
    """Also an edited one, by any revision; twice does no harm, others stay, and phones confirm it by its own id."""
    transport = bridge.transport()
    recipients = {ALICE.uuid, BOB.uuid, CAROL.uuid} if chat == IN_GROUP else {ALICE.uuid}
    first = await transport.send(reply("In April.", chat=chat))
    await transport.send(reply("Anything else?", chat=chat))
    second = await transport.send(reply("In May.", chat=chat, edits=first))
    async with Listening(transport) as stream:
        await bridge.server.connected()
        removed = await transport.remove(Removal(chat=ChatId(chat), target=second))
        confirmed = {second}
        while removed not in confirmed:
            event = transport.event(await stream.next())
            assert isinstance(event, Receipt)
            assert event.author in recipients
            confirmed |= {*event.targets}
        await transport.remove(Removal(chat=ChatId(chat), target=second))
    assert words(bridge, chat) == ["Anything else?"]
    assert [one.target for one in bridge.server.removed] == [second, second]


TOKEN = "c0ffee00-0000-4000-8000-00000000cafe"


async def test_a_captcha_is_wanted_until_it_is_solved_or_a_send_goes_well(bridge: Bridge) -> None:
    """The token is for the operator, not in the log; a wrong solution is refused in the bridge's own words."""
    server, transport = bridge.server, bridge.transport()
    with pytest.raises(CallRefused, match="wants no captcha"):
        await transport.submit_challenge(server.captcha)
    for chat, members in ((ALICE.chat, 1), (IN_GROUP, 3), (ALDIS.chat, 1)):
        results = ("RATE_LIMIT_FAILURE",) * members
        server.plans.append(Plan(results=results, retry_after_seconds=86400, challenge=TOKEN))
        with pytest.raises(NotSent, match="wants a captcha solved") as refusal:
            await transport.send(reply(chat=chat))
        assert transport.challenge == TOKEN
        assert TOKEN not in str(refusal.value)
        assert (refusal.value.retry_after_seconds or 0) <= 900
        await transport.send(reply())
        assert transport.challenge is None
    server.limited_by = TOKEN
    with pytest.raises(NotSent):
        await transport.send(reply())
    with pytest.raises(CallRefused, match="Captcha rejected, it may be outdated, already used"):
        await transport.submit_challenge("signalcaptcha://wrong")
    assert transport.challenge == TOKEN
    await transport.submit_challenge(f"signalcaptcha://{server.captcha}")
    assert transport.challenge is None
    assert await transport.send(reply())


async def test_a_new_key_is_told_and_trusted(bridge: Bridge) -> None:
    """Nothing is sent to it before; what the bridge refuses it says why."""
    server, transport = bridge.server, bridge.transport()
    await transport.send(reply())
    assert all(identity.is_trusted for identity in await transport.identities())
    key = await server.change_key(ALICE)
    with pytest.raises(Untrusted):
        await transport.send(reply())
    [alice] = [one for one in await transport.identities() if one.person == ALICE.uuid]
    assert alice == Identity(
        person=PersonId(ALICE.uuid), is_trusted=False, key=key.fingerprint, safety_number=key.safety_number
    )
    with pytest.raises(CallRefused, match="make sure the number is correct"):
        await transport.trust(PersonId("5eed0000-0000-4000-8000-000000000000"))
    with pytest.raises(Untrusted):
        await transport.send(reply())
    await transport.trust(alice.person)
    assert await transport.send(reply())


async def test_whom_a_send_to_a_group_missed_is_told(bridge: Bridge) -> None:
    """The others got it, so that it is sent; who has a new safety number is told."""
    await bridge.server.change_key(BOB)
    transport = bridge.transport()
    assert await transport.send(reply(chat=IN_GROUP))
    bridge.server.plans.append(Plan(results=("SUCCESS", "NETWORK_FAILURE", UNREGISTERED)))
    assert await transport.send(reply(chat=IN_GROUP))
    assert list(transport.missed) == [BOB.uuid]


UNREGISTERED, IDENTITY = "UNREGISTERED_FAILURE", "IDENTITY_FAILURE"


async def test_a_send_that_fails_is_reported_as_what_it_is(bridge: Bridge) -> None:
    """Surely not sent, never going out, and unknown are three different things to do."""
    rows: tuple[tuple[Plan, type[Exception]], ...] = (
        (Plan(results=("RATE_LIMIT_FAILURE",)), NotSent),
        (Plan(error=-5), NotSent),
        (Plan(results=(IDENTITY,)), Untrusted),
        (Plan(error=-4), Untrusted),
        (Plan(results=("NETWORK_FAILURE",)), NetworkFailed),
        (Plan(results=("NETWORK_FAILURE", UNREGISTERED, "RATE_LIMIT_FAILURE")), NetworkFailed),
        (Plan(error=-3), SendUnknown),
        (Plan(error=-32603, goes_out=True), SendUnknown),
        (Plan(answer=cut, goes_out=True), SendUnknown),
        (Plan(answer=answer_json({}, status=500)), SendUnknown),
        (Plan(answer=answer_json("<html>")), SendUnknown),
        (Plan(answer=answer_json({}, status=401)), NotSent),
        (Plan(answer=answer_json({}, status=429)), NotSent),
        (Plan(answer=answer_json({}, status=413)), NotUploaded),
    )
    for plan, wanted in rows:
        outcome = outcome_over(bridge, plan, wanted)
        bridge.server.plans.append(plan)
        with pytest.raises(outcome) as failure:
            await bridge.transport().send(reply("a secret"))
        assert type(failure.value) is outcome, plan
        assert "secret" not in str(failure.value)
        assert not any(person.number in str(failure.value) for person in (ALICE, BOB) if person.number)
    bridge.server.plans.append(Plan(answer=hang))
    with pytest.raises(SendUnknown):
        await bridge.transport(send_seconds=0.2).send(reply())


UPLOAD = "(AttachmentInvalidException) (UnexpectedErrorException)"
WEATHER = "(PushNetworkException) (UnexpectedErrorException)"
CAST = "class java.lang.Integer cannot be cast to class java.lang.Long (ClassCastException)"
# The words, and what they mean in a direct chat and in a group.
WORDS: tuple[tuple[int, str, type[Exception], type[Exception]], ...] = (
    (-32603, f"Failed to send message: data:x;base64,QQ==: [413] too large {UPLOAD}", NotUploaded, NotUploaded),
    (-32603, f"Failed to send message: data:x;base64,QQ==: timeout {UPLOAD}", NotUploaded, NotUploaded),
    (-32603, "Failed to send message: gone (ResumeLocationInvalidException)", NotUploaded, NotUploaded),
    (-32603, f"Failed to send message: null {WEATHER}", NotUploaded, SendUnknown),
    (-32603, "Failed to send message: [413] Rate Limited (RateLimitException)", NotUploaded, SendUnknown),
    (-32603, CAST, Undeliverable, Undeliverable),
    (-32603, "null (NullPointerException)", SendUnknown, SendUnknown),
    (-1, f"User is not a member in group: [429] rate limit (CastException) ({GROUP})", Undeliverable, Undeliverable),
    (-1, f"User is not allowed to send message to group: Garden ({GROUP})", Undeliverable, Undeliverable),
    (-1, "The user +15554290413 is not registered.", Undeliverable, Undeliverable),
)


async def test_the_words_of_signal_cli_show_what_surely_did_not_go_out(bridge: Bridge) -> None:
    """Files go up first, and an exception comes before the first recipient, but in a group; a quote may be too odd."""
    transport = bridge.transport()
    for code, words, direct, group in WORDS:
        for chat, outcome in ((ALICE.chat, direct), (IN_GROUP, group)):
            bridge.server.plans.append(Plan(error=code, words=words, goes_out=False))
            with pytest.raises(TransportError) as failure:
                await transport.send(reply(chat=chat))
            assert type(failure.value) is outcome, words
            assert not any(part in str(failure.value) for part in ("429", "QQ==", "Garden", GROUP))
    file = File(name="(ClassCastException).png", content_type="image/png", data=b"x" * 100_000)
    for words in ("[413] too large", "[503] busy", "timeout"):
        bridge.server.upload_fails = words
        with pytest.raises(NotUploaded) as upload:
            await transport.send(replace(reply(), files=(file,)))
        assert (upload.value.is_final, bridge.server.sent) == (False, [])
        assert await transport.send(reply())
        bridge.server.sent.clear()
    quote = Quote(author=PersonId(ALICE.uuid), sent_at=SentId(5), text="when?")
    with pytest.raises(Undeliverable) as refusal:
        await transport.send(reply(quote=quote))
    assert refusal.value.reason == "refused"


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
    assert await bridge.server.first(bridge.server.typing, 2) == [(ALICE.chat, True), (IN_GROUP, False)]
    [(recipient, _)] = await bridge.server.first(bridge.server.read, 1)
    assert recipient == CAROL.uuid
    assert len(bridge.server.read) == 1


@pytest.mark.parametrize("fault", [answer_json({}, status=500), answer_json("no", status=404), hang])
async def test_signs_of_life_may_fail(bridge: Bridge, fault: Any, caplog: pytest.LogCaptureFixture) -> None:
    """They are bounded, and failures go no further than a wordless log; a late reaction is named as one."""
    caplog.set_level(logging.DEBUG)
    transport = bridge.transport(call_seconds=0.3)
    chat, person, at = ChatId(MALLORY.chat), PersonId(MALLORY.uuid), SentId(1_700_000_000_001)
    envelope = FrameReader(OWN_ACCOUNT, "Aldis").envelope(json.dumps(message("hi", author=MALLORY)))
    assert envelope is not None
    bridge.server.faults += [fault] * 3
    await transport.typing(chat, started=True)
    await transport.receipt(envelope)
    with pytest.raises(SendUnknown) if fault is hang else suppress(SendUnknown):
        await transport.react(chat, person, at, "👀", removed=False)
    logged = [record for record in caplog.records if record.name.startswith("bot.")]
    assert [record.levelno for record in logged][:2] == [logging.DEBUG, logging.INFO]
    assert not any(part in record.getMessage() for record in logged for part in ("👀", MALLORY.uuid))
    assert bridge.server.reactions == []


async def test_every_sign_of_life_is_heard(bridge: Bridge) -> None:
    """None before the first; later by frames and, where nobody writes, by keep-alives; kept after the end."""
    transport = bridge.transport(silence_seconds=3)
    assert transport.stream.heard_at is None
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(message("hi"))
        await stream.next()
        at_message = transport.stream.heard_at
        assert at_message is not None
        await eventually(lambda: transport.stream.heard_at != at_message)
    assert (transport.stream.is_open, transport.stream.heard_at is None) == (False, False)


CALLS: dict[str, Callable[[SignalTransport], Awaitable[object]]] = {
    "linked": lambda transport: transport.is_linked(),
    "release": lambda transport: transport.release(),
    "groups": lambda transport: transport.groups(),
    "invitations": lambda transport: transport.invitations(),
    "contacts": lambda transport: transport.contacts(),
    "file": lambda transport: transport.attachment(ChatId(ALICE.chat), came(), max_bytes=1000),
}
ALL = {*CALLS}


@pytest.mark.parametrize(
    ("fault", "names"),
    [(hang, ALL), (answer_json({}, status=503), ALL), (answer_json("no"), ALL - {"release", "file"}), (None, ALL)],
)
async def test_a_bridge_that_does_not_answer_is_to_be_asked_again(bridge: Bridge, fault: Any, names: set[str]) -> None:
    """Mute, overloaded, talking nonsense or down, it says nothing about the account, a person, a group or a file."""
    transport = bridge.transport(call_seconds=0.3, send_seconds=0.3)
    if fault is None:
        await bridge.server.stop()
    for name in sorted(names):
        bridge.server.faults = [fault] if fault else []
        with pytest.raises(Disconnected):
            await CALLS[name](transport)


async def test_what_the_bridge_has_of_the_account(bridge: Bridge) -> None:
    """Its release, groups that were not left, people who can be named, and, each time anew, whether it is linked."""
    transport, other = bridge.transport(), "T3RoZXI="
    kind = "signal_cli" if bridge.build is SignalCli else "rest_api"
    assert await transport.release() == Release(bridge=kind, version=bridge.server.version)  # type: ignore[attr-defined]
    bridge.server.groups[other] = (replace(BOB, name=None, number=None),)
    bridge.server.former_groups = ("TGVmdA==",)
    people = {ALDIS.uuid, ALICE.uuid, BOB.uuid, CAROL.uuid}
    assert await transport.groups() == (
        Group(id=GROUP, name=GROUP_NAME, members=frozenset(map(PersonId, people))),
        Group(id=other, name="Group T3Ro", members=frozenset({PersonId(ALDIS.uuid), PersonId(BOB.uuid)})),
    )
    bridge.server.people = (ALICE, CAROL, replace(BOB, uuid=""), replace(MALLORY, name=MALLORY.number))
    assert await transport.contacts() == (
        Contact(person=PersonId(ALICE.uuid), number=ALICE.number, name="Alice"),
        Contact(person=PersonId(CAROL.uuid), number=None, name="Carol"),
        Contact(person=PersonId(MALLORY.uuid), number=MALLORY.number, name=None),
    )
    assert await transport.is_linked()
    bridge.server.accounts[:] = ["+15550109998"]
    assert not await transport.is_linked()


async def test_a_group_is_joined_that_the_account_is_invited_to(bridge: Bridge) -> None:
    """Before that it is none of its groups, and nothing can be sent there; to accept twice changes nothing."""
    invited = "SW52aXRlZA=="
    bridge.server.invitations[invited] = (ALICE,)
    bridge.server.former_groups = ("TGVmdA==",)
    transport = bridge.transport()
    found = Group(id=invited, name="Group SW52", members=frozenset({PersonId(ALICE.uuid)}))
    assert await transport.invitations() == (found,)
    assert await transport.former_groups() == {"TGVmdA=="}
    assert invited not in {group.id for group in await transport.groups()}
    for group in (invited, "TGVmdA==", "bm93aGVyZQ=="):
        with pytest.raises(Undeliverable) as told:
            await transport.send(reply(chat=f"group:{group}"))
        assert told.value.reason == "not_in_group"
    await transport.join(invited)
    await transport.join(invited)
    assert await transport.invitations() == ()
    assert {ALICE.uuid, ALDIS.uuid} in [group.members for group in await transport.groups()]
    assert await transport.send(reply(chat=f"group:{invited}"))
    for other in ("TGVmdA==", "bm93aGVyZQ=="):
        with pytest.raises(CallRefused):
            await transport.join(other)


PLOT = File(name="plot.png", content_type="image/png", data=b"\x89PNG" * 100)
TABLE = File(name="table.csv", content_type="text/csv", data=b"a,b\n1,2\n")


async def test_files_go_out_with_a_message(bridge: Bridge) -> None:
    """In order, byte by byte, with name and type, with or without words; never as an edit; spoken, as a voice note."""
    transport = bridge.transport()
    first = await transport.send(reply("Wait.", chat=IN_GROUP))
    await transport.send(reply("Here it is.", chat=IN_GROUP, edits=first, files=(PLOT, TABLE)))
    await transport.send(reply("", chat=IN_GROUP, files=(TABLE,), is_voice_note=True))
    files = [SentFile(name=file.name, content_type=file.content_type, data=file.data) for file in (PLOT, TABLE)]
    assert [sent.files for sent in bridge.server.sent] == [(), tuple(files), tuple(files[1:])]
    is_note = isinstance(transport, SignalCli)
    assert [sent.is_voice_note for sent in bridge.server.sent] == [False, False, is_note]
    assert words(bridge, IN_GROUP) == ["Wait.", "Here it is.", ""]


async def test_a_reaction_is_put_on_and_taken_off(bridge: Bridge) -> None:
    """Directly and in groups; people see the last one alone."""
    server, transport = bridge.server, bridge.transport()
    for author, group in ((ALICE, None), (CAROL, GROUP)):
        frame = message("hi", author=author, group=group)
        await server.deliver(frame)
        at, chat = SentId(frame["envelope"]["timestamp"]), ChatId(IN_GROUP if group else author.chat)
        await transport.react(chat, PersonId(author.uuid), at, "👀", removed=False)
        assert server.reactions[-1] == Reaction(chat=chat, author=author.uuid, target=at, emoji="👀", removed=False)
        assert server.shown_on(author.uuid, at) == "👀"
        await transport.react(chat, PersonId(author.uuid), at, "👀", removed=True)
        assert server.shown_on(author.uuid, at) is None


def came(id_: str = "8841.jpg", size_bytes: int | None = None) -> Attachment:
    return Attachment(id=id_, content_type="image/jpeg", name=None, size_bytes=size_bytes)


async def test_a_file_that_came_is_fetched_and_discarded(bridge: Bridge) -> None:
    """Up to the very last byte allowed; one that is larger is not fetched, whatever is said of its size."""
    data, transport = bytes(range(256)) * 40, bridge.transport()
    bridge.server.files["8841.jpg"] = data
    with pytest.raises(Unfetchable):
        await transport.attachment(ChatId(ALICE.chat), came(size_bytes=len(data)), max_bytes=len(data) - 1)
    assert bridge.server.requests == []
    for file, max_bytes in ((came(), len(data) - 1), (came(size_bytes=5), 1), (came("gone.jpg"), 1000)):
        with pytest.raises(Unfetchable):
            await transport.attachment(ChatId(ALICE.chat), file, max_bytes=max_bytes)
    for chat in (ALICE.chat, IN_GROUP):
        assert await transport.attachment(ChatId(chat), came(), max_bytes=len(data)) == data
    await transport.discard(came())
    if isinstance(transport, RestApi):
        assert bridge.server.files == {}
        await transport.discard(came())  # once more does no harm


async def test_a_picture_that_may_be_seen_only_once_leaves_no_copy_at_the_bridge(
    bridge: Bridge, tmp_path: Path
) -> None:
    """Nobody has read the envelope yet, and the file is gone; other files wait for whoever needs them."""
    once, other = (envelopes.attachment() for _ in range(2))
    bridge.server.files = {item["id"]: b"x" for item in (once, other)}
    for id_ in bridge.server.files:
        (tmp_path / id_).write_bytes(b"x")
    folder: dict[str, Any] = {"attachments": tmp_path} if bridge.build is SignalCli else {}
    async with Listening(bridge.transport(**folder)) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(message(None, attachments=[once], viewOnce=True))
        await bridge.server.deliver(message(None, attachments=[other]))
        for _ in range(2):
            await stream.next()
    left = set(os.listdir(tmp_path)) if folder else set(bridge.server.files)  # noqa: PTH208 - nothing else in async code
    assert left == {other["id"]}


# The account is a person's own


async def test_a_note_to_self_comes_in_and_is_answered_there(bridge: Bridge) -> None:
    """The answer goes to the account alone, can be edited and deleted, and can have a reaction."""
    transport = bridge.transport(takes_notes=True)
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(envelopes.note("when do I sow beans?"))
        envelope = await stream.next()
        event = transport.event(envelope)
        assert isinstance(event, Incoming)
        assert (event.text, event.chat) == ("when do I sow beans?", ALDIS.chat)
        chat = event.chat
        await transport.typing(chat, started=True)
        await transport.react(chat, event.author, event.sent_at, "👀", removed=False)
        first = await transport.send(reply("In April.", chat=chat))
        second = await transport.send(reply("In May.", chat=chat, edits=first))
        assert words(bridge, chat) == ["In May."]
        await transport.remove(Removal(chat=chat, target=second))
    assert (words(bridge, chat), bridge.server.sent) == ([], [])
    asked = [f"{seen.path} {seen.body.decode()}".lower() for seen in bridge.server.requests]
    assert not [words for words in asked if "typing" in words]  # nobody would see it
    assert bridge.server.shown_on(ALDIS.uuid, event.sent_at) == "👀"


@pytest.mark.parametrize("chat", [ALICE.chat, IN_GROUP])
async def test_nothing_ever_goes_to_the_persons_other_chats(bridge: Bridge, chat: str) -> None:
    """Whoever asks for it (a reminder, a broadcast, an answer from before): the transport is the last door."""
    frame = message("hi", author=ALICE, group=GROUP if chat == IN_GROUP else None)
    transport, at = bridge.transport(takes_notes=True), SentId(frame["envelope"]["timestamp"])
    with pytest.raises(Undeliverable):  # also before the stream is opened
        await transport.send(reply(chat=chat))
    async with Listening(transport) as stream:
        await bridge.server.connected()
        await bridge.server.deliver(frame)
        envelope = await stream.next()
        asked = len(bridge.server.requests)
        await transport.receipt(envelope)
        with pytest.raises(Undeliverable):
            await transport.send(reply(chat=chat))
        with pytest.raises(Undeliverable):
            await transport.remove(Removal(chat=ChatId(chat), target=at))
        await transport.typing(ChatId(chat), started=True)
        await transport.react(ChatId(chat), PersonId(ALICE.uuid), at, "👀", removed=False)
        assert len(bridge.server.requests) == asked
        await transport.send(reply("Aldis listens.", chat=ALDIS.chat))
    assert (len(bridge.server.notes), bridge.server.sent) == (1, [])
