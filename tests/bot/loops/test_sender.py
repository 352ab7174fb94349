"""Sender: sent, not sent and unknown are told apart, and each ends well."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.chat.outgoing import add_message
from bot.clock import SetClock
from bot.errors import NetworkFailed, NotSent, NotUploaded, SendUnknown, Undeliverable, Untrusted
from bot.events import (
    ChatId,
    File,
    PersonId,
    Quote,
    Removal,
    Reply,
    SentId,
    Style,
    Styled,
    StyleRange,
    dump_value,
)
from bot.i18n import phrases
from bot.i18n.catalogues import say as say_phrase
from bot.i18n.language import Language, use_language
from bot.loops.sender import MAX_REMOVALS, MAX_RESENDS, MAX_SENDING, Sender
from bot.metrics import Counts
from store import Repositories, Store
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.waiting import WAIT_SECONDS, eventually_found, running


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


async def say(store: Store, *texts: str, chat: str = "direct:alice", **more: Any) -> None:
    conversation = await store.conversation(chat, now=NOON)

    def put(repos: Repositories) -> None:
        turn = repos.turns.begin(conversation, now=NOON)
        for position, text in enumerate(texts):
            reply = dump_value(Reply(**{"chat": ChatId(chat), "content": Styled(text=text)} | more))
            repos.outbox.put(conversation, turn, position, reply, in_group=False, now=NOON)

    await store.transaction(put)


async def states(store: Store) -> list[str]:
    rows = await store.read(lambda repos: repos.outbox.rows("SELECT state FROM outbox ORDER BY id"))
    return [state for (state,) in rows]


async def come_to(store: Store, *wanted: str) -> None:
    async def has_come() -> bool:
        return await states(store) == list(wanted)

    await eventually_found(has_come)


def due(store: Store, clock: SetClock, seconds: float) -> None:
    clock.move(seconds)
    store.wakeups["outbox"].set()


def texts(transport: FakeTransport) -> list[str]:
    return [reply.content.text for reply in transport.sent]


async def pass_until(store: Store, clock: SetClock, *ends: list[str]) -> None:
    async def has_come() -> bool:
        due(store, clock, 90)
        return await states(store) in ends

    await eventually_found(has_come)


async def test_no_more_sends_begin_at_once_than_the_bridge_can_take(store: Store, clock: SetClock) -> None:
    """Each chat's goes out beside the others', but only so many at once: the rest waits until a place is free."""
    transport = FakeTransport(gate=asyncio.Event())
    for number in range(2 * MAX_SENDING):
        await say(store, "hello", chat=f"direct:{number}")
    async with running(sender_of(transport, store, clock).run()):
        await come_to(store, *["sending"] * MAX_SENDING, *["waiting"] * MAX_SENDING)
        assert transport.gate is not None
        transport.gate.set()
        await come_to(store, *["sent"] * (2 * MAX_SENDING))


@pytest.mark.parametrize(("retry_after", "limit"), [(None, 3.0), (40.0, 40.0)], ids=["back-off", "as asked"])
async def test_what_was_not_sent_is_sent_later(
    store: Store, clock: SetClock, retry_after: float | None, limit: float
) -> None:
    """After the pause that Signal asked for, or one of our own; the order is kept, and Signal's names written down."""
    transport = FakeTransport(sends=[NotSent("refused", retry_after_seconds=retry_after)])
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock).run()):
        await transport.until(lambda: not transport.sends)
        await come_to(store, "waiting", "waiting")
        assert transport.sent == []
        due(store, clock, limit)
        await come_to(store, "sent", "sent")
    assert texts(transport) == ["one", "two"]
    rows = await store.read(lambda repos: repos.outbox.rows("SELECT sent_at FROM outbox ORDER BY id"))
    assert rows == [(1001,), (1002,)]


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
    async with running(sender_of(transport, store, clock).run()):
        await transport.until(lambda: len(transport.sent) == 1)
        while transport.sends:
            await come_to(store, "waiting", "sent")
            left = len(transport.sends)
            due(store, clock, 400)
            await transport.until(lambda left=left: len(transport.sends) < left)
        await come_to(store, "dead", "sent")
    assert transport.removed == []


async def test_a_send_in_doubt_waits_while_its_proof_cannot_come(store: Store, clock: SetClock) -> None:
    """The grace period begins anew as long as the stream is closed; after it the send is repeated."""
    transport = FakeTransport(sends=[SendUnknown("silence")])
    await say(store, "one")
    async with running(sender_of(transport, store, clock).run()):
        await come_to(store, "unknown")
        for number, (seconds, is_open) in enumerate(((60, False), (60, False), (60, False), (80, True)), 1):
            transport.stream.is_open = is_open
            due(store, clock, seconds)
            await say(store, "another", chat="direct:bob")
            await come_to(store, "unknown", *["sent"] * number)
        due(store, clock, 20)
        await come_to(store, *["sent"] * 5)


async def test_a_send_that_stays_unknown_is_given_up(store: Store, clock: SetClock) -> None:
    """After some repetitions, and a last wait for a receipt, it is dead and the next part goes out, with a notice."""
    transport = FakeTransport(sends=[ValueError("a bug"), *[SendUnknown("silence")] * MAX_RESENDS])
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock).run()):
        await pass_until(store, clock, ["dead", "sent", "sent"])
    assert texts(transport) == ["two", NOTICE]


async def test_while_nothing_goes_out_at_all_nothing_is_given_up(store: Store, clock: SetClock) -> None:
    """Signal cannot be reached for hours: that tells nothing about this message, nor about its file."""
    transport = FakeTransport(sends=[NetworkFailed("no network")] * 100)
    await say(store, "one", files=(PICTURE,))
    async with running(sender_of(transport, store, clock).run()):
        await pass_until(store, clock, ["sent"], ["dead"])
    assert [len(reply.files) for reply in transport.sent] == [1]


async def test_what_alone_does_not_go_out_is_given_up(store: Store, clock: SetClock) -> None:
    """Others get theirs all the time: it is this message, or this person."""

    class Picky(FakeTransport):
        tries = 0

        async def send(self, reply: Reply) -> SentId:
            if reply.chat == "direct:alice":
                self.tries += 1
                raise NetworkFailed("not sent")
            return await super().send(reply)

    transport = Picky()
    await say(store, "one")
    async with running(sender_of(transport, store, clock).run()):

        async def is_given_up() -> bool:
            await say(store, "other", chat="direct:bob")
            due(store, clock, 90)
            return "dead" in await states(store)

        await eventually_found(is_given_up)
    assert transport.tries < 4 * MAX_RESENDS


async def test_draining_sends_what_is_due_and_ends(store: Store, clock: SetClock) -> None:
    """What is due goes out; what is due later waits for the next start."""
    transport = FakeTransport(sends=[NotSent("refused")], gate=asyncio.Event())
    await say(store, "later")
    await say(store, "one", "two", chat="direct:bob")
    sender = sender_of(transport, store, clock)
    async with running(sender.run()) as task:
        await come_to(store, "sending", "sending", "waiting")
        sender.drain()
        assert transport.gate is not None
        transport.gate.set()
        await asyncio.wait_for(task, WAIT_SECONDS)
    assert await states(store) == ["waiting", "sent", "sent"]


async def test_an_outcome_is_written_down_when_the_disk_has_room_again(store: Store, clock: SetClock) -> None:
    """A send that went out is never taken for an unknown one because its outcome could not be written at first."""
    transport = FakeTransport(gate=asyncio.Event())
    await say(store, "one")
    async with running(sender_of(transport, store, clock).run()):
        await come_to(store, "sending")
        await store.transaction(lambda repos: repos.outbox.execute("ALTER TABLE outbox RENAME TO away"))
        assert transport.gate is not None
        transport.gate.set()
        await transport.until(lambda: len(transport.sent) == 1)
        await asyncio.sleep(0.05)
        await store.transaction(lambda repos: repos.outbox.execute("ALTER TABLE away RENAME TO outbox"))
        await come_to(store, "sent")
    assert len(transport.sent) == 1


# Files, and what is refused

PICTURE = File(name="lamp.png", content_type="image/png", data=b"picture")
NOTICE = phrases.MESSAGE_NOT_SENT.text
FILES_NOT_SENT = phrases.FILES_NOT_SENT.text


async def test_the_words_do_not_wait_for_a_file_that_is_refused(store: Store, clock: SetClock) -> None:
    """They go out at once; then a sentence says so, and what stands behind follows. A file alone leaves it."""
    too_large = NotUploaded("too large", is_final=True)
    transport = FakeTransport(sends=[too_large, lambda: SentId(7), lambda: SentId(8), too_large])
    await say(store, "here it is", files=(PICTURE,))
    await say(store, "two")
    await say(store, "", files=(PICTURE,))
    async with running(sender_of(transport, store, clock, language=lambda *_: "de").run()):
        await come_to(store, "sent", "sent", "dead", "sent", "sent")
    with use_language("de"):
        german = say_phrase(phrases.FILES_NOT_SENT)
    assert texts(transport) == ["here it is", "two", german, german]
    assert not any(reply.files for reply in transport.sent)


async def test_a_file_that_may_be_what_fails_is_tried_a_few_times(store: Store, clock: SetClock) -> None:
    """After that the words go without it: they are to arrive."""
    transport = FakeTransport(sends=[NotUploaded("busy", is_final=False)] * 3)
    await say(store, "here it is", files=(PICTURE,), chat="group:g")
    async with running(sender_of(transport, store, clock).run()):
        for left in (2, 1):
            await transport.until(lambda left=left: len(transport.sends) == left)
            await come_to(store, "waiting")
            assert transport.sent == []
            due(store, clock, 8)
        await come_to(store, "sent", "sent")
    assert (texts(transport), transport.sent[0].files) == (["here it is", FILES_NOT_SENT], ())


async def test_a_long_text_that_is_refused_goes_out_in_parts(store: Store, clock: SetClock) -> None:
    """In order, each styled, the last one known as the last; nothing of it is lost or cut."""
    transport = FakeTransport(takes_long_texts=False)
    text = ("word " * 1000).rstrip()
    bold = Styled(text=text, styles=(StyleRange(start=0, length=4999, style=Style.BOLD),))
    await say(store, "", quote=Quote(author=PersonId("alice"), sent_at=SentId(7), text="?"), content=bold)
    async with running(sender_of(transport, store, clock).run()):
        await come_to(store, "sent", "sent", "sent")
    assert " ".join(texts(transport)) == text
    parts = [(reply.last, reply.quote is not None, len(reply.content.styles)) for reply in transport.sent]
    assert parts == [(False, True, 1), (False, False, 1), (True, False, 1)]


def adorned() -> dict[str, Any]:
    return {
        "content": Styled(text="one", styles=(StyleRange(start=0, length=3, style=Style.BOLD),)),
        "quote": Quote(author=PersonId("bob"), sent_at=SentId(5), text="?"),
    }


async def test_what_is_refused_for_its_form_is_sent_plainly(store: Store, clock: SetClock) -> None:
    """A request that the bridge cannot read is no weather: once without what stands around the words, then never."""
    odd = Undeliverable("odd")
    transport, counts = FakeTransport(sends=[odd, lambda: SentId(7), odd, odd]), Counts()
    await say(store, "one", **adorned())
    await say(store, "two", chat="direct:bob", **adorned())
    async with running(sender_of(transport, store, clock, counts=counts).run()):
        await come_to(store, "sent", "dead", "sent")
    sent, _notice = transport.sent
    assert (sent.content, sent.quote) == (Styled(text="one"), None)
    assert counts.all()["undeliverable_refused"] == 1


@pytest.mark.parametrize("reason", ["unregistered", "not_in_group", "no_keys"])
async def test_the_hopeless_is_tried_once(store: Store, clock: SetClock, reason: Any) -> None:
    """And counted by its reason; a notice follows what arrives next, once, also after a restart."""
    transport, counts = FakeTransport(sends=[Undeliverable("never", reason=reason)]), Counts()
    await say(store, "one", **adorned())
    async with running(sender_of(transport, store, clock, counts=counts).run()):
        await come_to(store, "dead")
    assert (transport.sent, counts.all()[f"undeliverable_{reason}"]) == ([], 1)
    async with running(sender_of(transport, store, clock).run()):
        await say(store, "two")
        await come_to(store, "dead", "sent", "sent")
        await say(store, "three")
        await come_to(store, "dead", "sent", "sent", "sent")
    assert texts(transport) == ["two", NOTICE, "three"]


async def test_people_hear_at_once_of_what_is_refused(store: Store, clock: SetClock) -> None:
    """Once for an answer, however many of its parts are refused: another message may well go out."""
    transport = FakeTransport(sends=[Undeliverable("odd", reason="refused")] * 2)
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock).run()):
        await come_to(store, "dead", "dead", "sent")
    assert texts(transport) == [NOTICE]


async def test_what_is_for_a_key_that_is_not_trusted_is_held(store: Store, clock: SetClock) -> None:
    """It is not tried again as if it were weather, nor is what comes after it; others go out."""
    transport, counts = FakeTransport(sends=[Untrusted("new key")]), Counts()
    await say(store, "one", "two")
    async with running(sender_of(transport, store, clock, counts=counts).run()):
        await transport.until(lambda: not transport.sends)
        await come_to(store, "waiting", "waiting")
        clock.move(86_400)
        await say(store, "other", chat="direct:bob")
        await come_to(store, "waiting", "waiting", "sent")
        assert (texts(transport), counts.all()["sends_held"]) == (["other"], 1)
        conversation = await store.conversation("direct:alice", now=NOON)
        await store.transaction(lambda repos: repos.outbox.release(conversation))
        await come_to(store, "sent", "sent", "sent")
    assert texts(transport) == ["other", "one", "two"]


async def test_whom_a_message_to_a_group_missed_is_told_and_not_sent_to_again(store: Store, clock: SetClock) -> None:
    """The others would read it twice."""
    transport, untrusted = FakeTransport(), list[PersonId]()
    transport.missed.append(PersonId("bob"))
    await say(store, "one", chat="group:g")
    async with running(sender_of(transport, store, clock, on_untrusted=untrusted.append).run()):
        await come_to(store, "sent")
    assert (texts(transport), untrusted) == (["one"], ["bob"])
