"""Sender: sent, not sent and unknown are told apart, and each ends well."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.chat.outgoing import add_message
from bot.clock import SetClock
from bot.errors import NetworkFailed, NotSent, NotUploaded, SendUnknown, Undeliverable, Untrusted
from bot.event_json import dump_value
from bot.events import ChatId, File, PersonId, QuoteTarget, Removal, Reply, SentId, Style, Styled, StyleRange
from bot.i18n import phrases
from bot.i18n.language import Language, use_language
from bot.loops.sender import MAX_REMOVALS, MAX_RESENDS, MAX_SENDING, Sender
from bot.metrics import Counts
from bot.signal.protocol import MissedRecipient
from store import Repositories, Store, TurnId
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.waiting import WAIT_SECONDS, eventually_found


def sender_of(
    transport: FakeTransport,
    store: Store,
    clock: SetClock,
    *,
    counts: Counts | None = None,
    language: Callable[..., Language] = lambda *_: "en",
    **changes: Any,
) -> Sender:
    changes = {"grace_seconds": 90.0, **changes}
    return Sender(transport, store, clock, counts or Counts(), language=language, **changes)


def phrase(name: str, language: Language) -> str:
    with use_language(language):
        return phrases.say(getattr(phrases, name))


@asynccontextmanager
async def running(sender: Sender) -> AsyncGenerator[asyncio.Task[None]]:
    task = asyncio.create_task(sender.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def say(store: Store, *texts: str, chat: str = "direct:alice", **more: Any) -> None:
    """Put these into the outbox; `more` are fields of the replies."""
    conversation = await store.conversation(chat, now=NOON)

    def put(repos: Repositories) -> None:
        [(turn,)] = repos.outbox.rows(
            "INSERT INTO turns (conversation_id, state, started_at) VALUES (?, 'kept', 0) RETURNING id", (conversation,)
        )
        for position, text in enumerate(texts):
            reply = dump_value(Reply(**{"chat": ChatId(chat), "content": Styled(text=text)} | more))
            repos.outbox.put(conversation, TurnId(turn), position, reply, in_group=False, now=NOON)

    await store.transaction(put)


async def states(store: Store) -> list[str]:
    rows = await store.read(lambda repos: repos.outbox.rows("SELECT state FROM outbox ORDER BY id"))
    return [state for (state,) in rows]


async def come_to(store: Store, *wanted: str) -> None:
    """Wait until the outbox is in these states."""

    async def has_come() -> bool:
        return await states(store) == list(wanted)

    await eventually_found(has_come)


async def test_a_slow_chat_holds_nobody_up(store: Store, clock: SetClock) -> None:
    """While one send hangs, the others go out."""
    gate = asyncio.Event()

    class Slow(FakeTransport):
        async def send(self, reply: Reply) -> SentId:
            if reply.chat == "direct:slow":
                await gate.wait()
            return await super().send(reply)

    transport = Slow()
    await say(store, "late", chat="direct:slow")
    await say(store, "early", chat="direct:quick")
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "sending", "sent")
        gate.set()
        await come_to(store, "sent", "sent")


async def test_no_more_sends_begin_at_once_than_the_bridge_can_take(store: Store, clock: SetClock) -> None:
    """The others wait until a place is free, even if many are due at the same moment."""
    transport = FakeTransport(gate=asyncio.Event())
    for number in range(2 * MAX_SENDING):
        await say(store, "hello", chat=f"direct:{number}")
    async with running(sender_of(transport, store, clock)):
        await come_to(store, *["sending"] * MAX_SENDING, *["waiting"] * MAX_SENDING)
        assert transport.gate is not None
        transport.gate.set()
        await come_to(store, *["sent"] * (2 * MAX_SENDING))


@pytest.mark.parametrize(("retry_after", "limit"), [(None, 3.0), (40.0, 40.0)], ids=["back-off", "as asked"])
async def test_what_was_not_sent_is_sent_later(
    store: Store, clock: SetClock, retry_after: float | None, limit: float
) -> None:
    """After the pause that Signal asked for, or one of our own; the order is kept."""
    transport = FakeTransport(sends=[NotSent("refused", retry_after_seconds=retry_after)])
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock)):
        await transport.until(lambda: not transport.sends)
        await come_to(store, "waiting", "waiting")
        assert transport.sent == []
        clock.move(limit)
        store.wakeups["outbox"].set()
        await come_to(store, "sent", "sent")
    assert [reply.content.text for reply in transport.sent] == ["one", "two"]


async def test_a_removal_that_is_refused_lets_answers_pass_and_ends(store: Store, clock: SetClock) -> None:
    """With a sentence that no one knows: it is tried again behind them, and in the end no more."""
    refused = [SendUnknown("a sentence that is not known") for _ in range(MAX_REMOVALS)]
    transport = FakeTransport(sends=[*refused[:1], lambda: SentId(7), *refused[1:]])
    chat = ChatId("direct:alice")
    conversation = await store.conversation(chat, now=NOON)

    def put_removal(repos: Repositories) -> None:
        turn = repos.turns.begin(conversation, now=NOON)
        add_message(repos, conversation, turn, Removal(chat=chat, target=SentId(5)), NOON)

    await store.transaction(put_removal)
    await say(store, "an answer")
    async with running(sender_of(transport, store, clock)):
        await transport.until(lambda: len(transport.sent) == 1)
        while transport.sends:
            await come_to(store, "waiting", "sent")
            left = len(transport.sends)
            clock.move(400)
            store.wakeups["outbox"].set()
            await transport.until(lambda left=left: len(transport.sends) < left)
        await come_to(store, "dead", "sent")
    assert transport.removed == []


@pytest.mark.parametrize("error", [SendUnknown("silence"), ValueError("a bug")], ids=["unknown", "bug"])
async def test_an_unknown_send_waits_for_its_proof(store: Store, clock: SetClock, error: Exception) -> None:
    """It is not repeated within the grace period; after it, it is, and the ledger says so."""
    transport = FakeTransport(sends=[error])
    await say(store, "one")
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "unknown")
        clock.move(89)
        store.wakeups["outbox"].set()
        await asyncio.sleep(0.05)
        assert transport.sent == []
        clock.move(1)
        store.wakeups["outbox"].set()
        await come_to(store, "sent")
    ledger = await store.read(lambda repos: repos.ledger.rows("SELECT kind, outcome FROM ledger"))
    assert ledger == [("send", "resent")]


@asynccontextmanager
async def unheard(store: Store, clock: SetClock) -> AsyncGenerator[FakeTransport]:
    """A send is in doubt, and the bridge is away: nobody can hear of it."""
    transport = FakeTransport(sends=[SendUnknown("the bridge went away")])
    await say(store, "one")
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "unknown")
        transport.stream.is_open = False
        yield transport


async def test_while_nothing_can_be_heard_no_grace_runs(store: Store, clock: SetClock) -> None:
    """The bridge is away for five minutes: the receipt may be among what comes first when it is back."""
    async with unheard(store, clock) as transport:
        for _ in range(5):
            clock.move(60)
            await looked(store, clock)
        assert await states(store) == ["unknown"]
        transport.stream.is_open = True
        clock.move(80)
        await looked(store, clock)
        assert await states(store) == ["unknown"]
        clock.move(20)
        store.wakeups["outbox"].set()
        await come_to(store, "sent")
        assert len(transport.sent) == 1


async def pass_until(store: Store, clock: SetClock, *ends: list[str]) -> None:
    """Time passes, by 90 seconds a look, until the states are one of these."""

    async def has_come() -> bool:
        clock.move(90)
        store.wakeups["outbox"].set()
        return await states(store) in ends

    await eventually_found(has_come)


async def looked(store: Store, clock: SetClock) -> None:
    """The sender has looked what is due by now."""
    store.wakeups["outbox"].set()

    async def has_looked() -> bool:
        [(until,)] = await store.read(lambda repos: repos.outbox.rows("SELECT until FROM listening"))
        return until == int(clock.now().timestamp() * 1000)

    await eventually_found(has_looked)


async def test_a_send_that_stays_unknown_is_given_up(store: Store, clock: SetClock) -> None:
    """Not for ever: after some repetitions, and a last wait for a receipt, it is dead and the next part goes out."""
    transport = FakeTransport(sends=[SendUnknown("silence")] * 3)
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock, max_resends=2)):
        await pass_until(store, clock, ["dead", "sent", "sent"])
    assert transport.sends == []


async def test_while_nothing_goes_out_at_all_nothing_is_given_up(store: Store, clock: SetClock) -> None:
    """Signal cannot be reached for hours: that tells nothing about this message, nor about its file."""
    transport = FakeTransport(sends=[NetworkFailed("no network")] * 100)
    await say(store, "one", files=(PICTURE,))
    async with running(sender_of(transport, store, clock)):
        await pass_until(store, clock, ["sent"], ["dead"])
    assert [len(reply.files) for reply in transport.sent] == [1]


async def test_what_alone_does_not_go_out_is_given_up(store: Store, clock: SetClock) -> None:
    """Others get theirs all the time: it is this message, or this person."""

    class Picky(FakeTransport):
        tries = 0

        async def send(self, reply: Reply) -> SentId:
            if reply.chat == "direct:alice":
                self.tries += 1
                raise NetworkFailed("nobody got it")
            return await super().send(reply)

    transport = Picky()
    await say(store, "one")
    async with running(sender_of(transport, store, clock)):

        async def is_given_up() -> bool:
            await say(store, "other", chat="direct:bob")
            clock.move(90)
            store.wakeups["outbox"].set()
            return "dead" in await states(store)

        await eventually_found(is_given_up)
    assert transport.tries < 4 * MAX_RESENDS


async def test_draining_sends_what_is_due_and_ends(store: Store, clock: SetClock) -> None:
    """What is due goes out; what is due later waits for the next start."""
    transport = FakeTransport(sends=[NotSent("refused")], gate=asyncio.Event())
    await say(store, "later")
    await say(store, "one", "two", chat="direct:bob")
    sender = sender_of(transport, store, clock)
    async with running(sender) as task:
        await come_to(store, "sending", "sending", "waiting")
        sender.drain()
        assert transport.gate is not None
        transport.gate.set()
        await asyncio.wait_for(task, WAIT_SECONDS)
    assert await states(store) == ["waiting", "sent", "sent"]


async def test_an_outcome_is_written_down_when_the_disk_has_room_again(store: Store, clock: SetClock) -> None:
    """A send that went out is never taken for an unknown one because its outcome could not be written at first."""
    gate = asyncio.Event()
    transport = FakeTransport(gate=gate)
    await say(store, "one")
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "sending")
        await store.transaction(lambda repos: repos.outbox.execute("ALTER TABLE outbox RENAME TO away"))
        gate.set()
        await transport.until(lambda: len(transport.sent) == 1)
        await asyncio.sleep(0.05)
        await store.transaction(lambda repos: repos.outbox.execute("ALTER TABLE away RENAME TO outbox"))
        await come_to(store, "sent")
    assert len(transport.sent) == 1


PICTURE = File(name="lamp.png", content_type="image/png", data=b"picture")


def texts(transport: FakeTransport) -> list[str]:
    return [reply.content.text for reply in transport.sent]


async def test_the_words_do_not_wait_for_a_file_that_is_refused(store: Store, clock: SetClock) -> None:
    """They go out at once, without it; then a sentence says so, and what stands behind follows."""
    transport = FakeTransport(sends=[NotUploaded("too large", is_final=True)])
    await say(store, "here it is", files=(PICTURE,))
    await say(store, "two")
    async with running(sender_of(transport, store, clock, language=lambda *_: "de")):
        await come_to(store, "sent", "sent", "sent")
    assert texts(transport) == ["here it is", "two", phrase("FILES_NOT_SENT", "de")]
    assert not any(reply.files for reply in transport.sent)


async def test_a_file_that_may_be_taken_later_is_tried_a_few_times(store: Store, clock: SetClock) -> None:
    """Within seconds; after that the words go without it."""
    transport = FakeTransport(sends=[NotUploaded("busy", is_final=False)] * 3)
    await say(store, "here it is", files=(PICTURE,))
    async with running(sender_of(transport, store, clock)):
        for left in (2, 1):
            await transport.until(lambda left=left: len(transport.sends) == left)
            await come_to(store, "waiting")
            assert transport.sent == []
            clock.move(8)
            store.wakeups["outbox"].set()
        await come_to(store, "sent", "sent")
    assert texts(transport) == ["here it is", phrases.FILES_NOT_SENT.text]


@pytest.mark.parametrize("files", [(PICTURE,), ()], ids=["a file alone", "too long a text"])
async def test_what_has_no_words_or_is_too_large_by_itself_is_given_up(
    store: Store, clock: SetClock, files: tuple[File, ...]
) -> None:
    """A file alone leaves the sentence; words that are too large themselves leave that there was a message."""
    transport = FakeTransport(sends=[NotUploaded("too large", is_final=True)])
    await say(store, "" if files else "long", files=files)
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "dead", "sent")
    assert texts(transport) == [phrases.FILES_NOT_SENT.text if files else phrases.MESSAGE_NOT_SENT.text]


def long_reply() -> dict[str, Any]:
    """A text of three parts, all of it in bold."""
    text = "word " * 1000
    return {"content": Styled(text=text.rstrip(), styles=(StyleRange(start=0, length=4999, style=Style.BOLD),))}


async def test_a_long_text_that_is_refused_goes_out_in_parts(store: Store, clock: SetClock) -> None:
    """In order, each styled, the last one known as the last; nothing of it is lost or cut."""
    transport = FakeTransport(takes_long_texts=False)
    await say(store, "", quote=QuoteTarget(author=PersonId("alice"), sent_at=SentId(7), text="?"), **long_reply())
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "sent", "sent", "sent")
    assert " ".join(texts(transport)) == long_reply()["content"].text
    assert [(reply.last, reply.quote is not None) for reply in transport.sent] == [
        (False, True),
        (False, False),
        (True, False),
    ]
    assert all(len(reply.content.styles) == 1 for reply in transport.sent)


def adorned() -> dict[str, Any]:
    return {
        "content": Styled(text="one", styles=(StyleRange(start=0, length=3, style=Style.BOLD),)),
        "quote": QuoteTarget(author=PersonId("bob"), sent_at=SentId(5), text="?"),
    }


async def test_what_is_refused_for_its_form_is_sent_plainly(store: Store, clock: SetClock) -> None:
    """A request that the bridge cannot read is no weather: once without what stands around the words, then never."""
    transport = FakeTransport(
        sends=[Undeliverable("odd"), lambda: SentId(7), Undeliverable("odd"), Undeliverable("odd")]
    )
    counts = Counts()
    await say(store, "one", **adorned())
    await say(store, "two", chat="direct:bob", **adorned())
    async with running(sender_of(transport, store, clock, counts=counts)):
        await come_to(store, "sent", "dead", "sent")
    sent, _notice = transport.sent
    assert (sent.content, sent.quote) == (Styled(text="one"), None)
    assert counts.all()["undeliverable_refused"] == 1


async def test_files_of_which_nobody_knows_go_no_more_the_third_time(store: Store, clock: SetClock) -> None:
    """They may be what fails, and in a group a bridge does not tell: the words are to arrive."""
    transport = FakeTransport(sends=[SendUnknown("odd"), SendUnknown("odd")])
    await say(store, "here it is", files=(PICTURE,), chat="group:g")
    async with running(sender_of(transport, store, clock)):
        for left in (1, 0):
            await transport.until(lambda left=left: len(transport.sends) == left)
            await come_to(store, "unknown")
            clock.move(90)
            store.wakeups["outbox"].set()
        await come_to(store, "sent", "sent")
    assert (texts(transport), transport.sent[0].files) == (["here it is", phrases.FILES_NOT_SENT.text], ())


@pytest.mark.parametrize("reason", ["unregistered", "not_in_group", "no_keys"])
async def test_the_hopeless_is_tried_once(store: Store, clock: SetClock, reason: Any) -> None:
    """And counted by its reason."""
    transport, counts = FakeTransport(sends=[Undeliverable("never", reason=reason)]), Counts()
    await say(store, "one", **adorned())
    async with running(sender_of(transport, store, clock, counts=counts)):
        await come_to(store, "dead")
    assert (transport.sent, counts.all()[f"undeliverable_{reason}"]) == ([], 1)


async def test_what_is_for_a_key_that_is_not_trusted_is_held(store: Store, clock: SetClock) -> None:
    """It is not tried again as if it were weather, nor is what comes after it; others go out."""
    transport, counts = FakeTransport(sends=[Untrusted("new key")]), Counts()
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock, counts=counts)):
        await transport.until(lambda: not transport.sends)
        await come_to(store, "waiting", "waiting")
        clock.move(86_400)
        await say(store, "other", chat="direct:bob")
        await come_to(store, "waiting", "waiting", "sent")
        assert (texts(transport), counts.all()["sends_held"]) == (["other"], 1)
        conversation = await store.conversation("direct:alice", now=NOON)
        await store.transaction(lambda repos: repos.holds.release(conversation))
        await come_to(store, "sent", "sent", "sent")
    assert texts(transport) == ["other", "one", "two"]


async def test_whom_a_message_to_a_group_missed_is_counted_and_not_sent_to_again(store: Store, clock: SetClock) -> None:
    """By reason; for a new safety number it is also told who it is."""
    transport, counts, untrusted = FakeTransport(), Counts(), list[PersonId]()
    bob = PersonId("bob")
    transport.missed.extend(
        [
            MissedRecipient(person=bob, reason="untrusted"),
            MissedRecipient(person=None, reason="untrusted"),
            MissedRecipient(person=bob, reason="network"),
        ]
    )
    sender = Sender(transport, store, clock, counts, grace_seconds=90, on_untrusted=untrusted.append)
    await say(store, "one", chat="group:g")
    async with running(sender):
        await come_to(store, "sent")
    counted = counts.all()
    assert (texts(transport), untrusted, counted["missed_untrusted"], counted["missed_network"]) == (
        ["one"],
        [bob],
        2,
        1,
    )


# What people are told of what does not arrive

NOTICE = phrases.MESSAGE_NOT_SENT.text


async def test_people_are_told_at_once_of_what_is_refused(store: Store, clock: SetClock) -> None:
    """Once for an answer, however many of its parts are refused: another message may well go out."""
    transport = FakeTransport(sends=[Undeliverable("odd", reason="refused")] * 2)
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "dead", "dead", "sent")
    assert texts(transport) == [NOTICE]


async def test_people_are_told_when_something_arrives_again(store: Store, clock: SetClock) -> None:
    """Whom nothing reaches is told nothing before; with the next answer, once, also after a restart."""
    transport = FakeTransport(sends=[Undeliverable("gone", reason="unregistered")])
    await say(store, "one")
    async with running(sender_of(transport, store, clock)):
        await come_to(store, "dead")
    async with running(sender_of(transport, store, clock)):
        await say(store, "two")
        await come_to(store, "dead", "sent", "sent")
        await say(store, "three")
        await come_to(store, "dead", "sent", "sent", "sent")
    assert texts(transport) == ["two", NOTICE, "three"]


async def test_people_are_told_of_what_nobody_knows_the_end_of(store: Store, clock: SetClock) -> None:
    """It was tried often enough; the next that goes out is followed by the notice."""
    transport = FakeTransport(sends=[SendUnknown("silence")])
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock, max_resends=0)):
        await pass_until(store, clock, ["dead", "sent", "sent"])
    assert texts(transport) == ["two", NOTICE]
