"""Intake: written down before anything else, strangers leave no trace, and no end of a stream makes Aldis deaf."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from bot.access.access import AccessList
from bot.access.limits import Quota
from bot.clock import SetClock
from bot.errors import ConfigError, Disconnected
from bot.event_json import load_envelope
from bot.events import Envelope, Event, Kind
from bot.loops.intake import Intake
from bot.metrics import Counts
from bot.settings import LimitsSettings
from bot.signal.protocol import StreamState
from bot.signal.signal_cli.transport import SignalCli
from bot.unanswered import REASONS
from store import InboxId, Repositories, Store, StoreError, StoreFull, TurnId
from tests.bot.loops.fake_transport import FakeTransport, envelope
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.conftest import NOON
from tests.servers.envelopes import ALICE, message
from tests.waiting import WAIT_SECONDS, eventually

T = TypeVar("T")

ALLOWED = AccessList(persons=frozenset({"alice"}), groups=frozenset({"G"}))


def intake_of(
    transport: FakeTransport,
    store: Store,
    clock: SetClock,
    counts: Counts | None = None,
    *,
    allowed: AccessList = ALLOWED,
) -> Intake:
    quota = Quota(LimitsSettings(messages_per_minute=10_000, conversation_messages_per_minute=10_000))
    return Intake(transport, store, clock, counts or Counts(), allowed=allowed, name="Aldis", quota=quota)


@asynccontextmanager
async def running(intake: Intake) -> AsyncGenerator[asyncio.Task[None]]:
    task = asyncio.create_task(intake.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        await intake.aclose()


async def kept(store: Store) -> list[Envelope]:
    """The envelopes in the inbox, conversation by conversation."""
    found: list[Envelope] = []
    busy: list[int] = []
    while claim := await store.transaction(
        lambda repos: repos.inbox.claim(now=NOON, until=NOON, busy=busy, limit=1000)  # pyright: ignore[reportArgumentType]
    ):
        busy.append(claim.conversation)
        found += [load_envelope(item.envelope) for item in claim.items]
    return found


async def test_an_envelope_is_kept_as_it_came_and_then_read(store: Store, clock: SetClock) -> None:
    """The whole frame is in the inbox when the read receipt goes out."""
    transport = FakeTransport(streams=[[envelope("hi", 7)]])
    async with running(intake_of(transport, store, clock)):
        await transport.until(lambda: transport.read == [7])
        assert await kept(store) == [envelope("hi", 7)]


async def test_no_more_than_a_burst_is_read_before_the_commit(store: Store, clock: SetClock) -> None:
    """While the inbox cannot be written, the rest is left to the bridge; what was taken waits for the disk."""
    taken: list[int] = []

    class Counting(FakeTransport):
        async def envelopes(self) -> AsyncGenerator[Envelope]:
            for number in range(500):
                taken.append(number)
                yield envelope("hi", number)

    intake = intake_of(Counting(), store, clock)
    await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
    with pytest.raises(Exception, match="SQLITE_ERROR"):
        await intake.read_once()
    assert len(taken) == 100


async def test_nothing_is_made_of_a_burst_before_all_of_it_is_stored(store: Store, clock: SetClock) -> None:
    """Frames that come apart from each other by moments share a commit, the parsing and the receipts come after it."""
    parsed: list[int] = []

    class Trickling(FakeTransport):
        all_came = False

        def event(self, envelope: Envelope) -> Event | None:
            assert self.all_came
            parsed.append(envelope.sent_at)
            return super().event(envelope)

        async def envelopes(self) -> AsyncGenerator[Envelope]:
            self.opened += 1
            for number in range(3 if self.opened == 1 else 0):
                await asyncio.sleep(0.005)
                yield envelope("hi", number)
            self.all_came = True
            if self.opened > 1:
                await self.stopping.wait()

    await store.conversation("direct:alice", now=NOON)
    transport, commits = Trickling(), commits_of(store)
    intake = intake_of(transport, store, clock)
    intake.burst_seconds = WAIT_SECONDS
    async with running(intake):
        await transport.until(lambda: len(transport.read) == 3)
    assert parsed == [0, 1, 2]
    assert len(commits) == 1


async def test_what_may_not_come_in_leaves_no_row(store: Store, clock: SetClock) -> None:
    """Not a byte in the store, no receipt; each is counted for a reason."""
    counts = Counts()
    dropped = [
        envelope(author="mallory"),
        envelope(author=None),
        envelope(from_self=True),
        envelope(chat="group:H"),
        envelope(kind=Kind.OTHER),
        envelope(kind=Kind.UNDECRYPTABLE, author=None),
    ]
    transport = FakeTransport(streams=[[*dropped, envelope("hi", 2)]])
    async with running(intake_of(transport, store, clock, counts)):
        await transport.until(lambda: transport.read == [2])
    assert len(await kept(store)) == 1
    assert await store.read(lambda repos: repos.inbox.rows("SELECT count(*) FROM conversations")) == [(1,)]
    reasons = {
        name.removeprefix("unanswered_"): n for name, n in counts.all().items() if name.startswith("unanswered_")
    }
    assert sum(reasons.values()) == len(dropped)
    assert reasons.keys() <= REASONS.keys()


async def test_group_talk_is_not_marked_as_read(store: Store, clock: SetClock) -> None:
    """Read means that it will be answered: what is not addressed to Aldis gets no receipt."""
    transport = FakeTransport(
        streams=[[envelope("among us", 1, chat="group:G"), envelope("Aldis, you?", 2, chat="group:G", author="bob")]]
    )
    async with running(intake_of(transport, store, clock)):
        await transport.until(lambda: transport.read == [2])
    assert await store.read(lambda repos: repos.inbox.backlog().items) == 2


async def test_a_redelivery_is_counted_and_not_read_again(store: Store, clock: SetClock) -> None:
    """The second delivery changes nothing."""
    counts = Counts()
    transport = FakeTransport(streams=[[envelope("hi", 1), envelope("hi", 1), envelope("more", 2)]])
    async with running(intake_of(transport, store, clock, counts)):
        await transport.until(lambda: transport.read == [1, 2])
    assert counts.all()["unanswered_duplicate"] == 1


@pytest.mark.parametrize(
    "end", [[], [Disconnected("cut")], [StoreFull("full")], [ValueError("a bug")]], ids=["clean", "cut", "full", "bug"]
)
async def test_whatever_ends_a_stream_the_next_is_opened(store: Store, clock: SetClock, end: list[Exception]) -> None:
    """A clean close, a cut, a full disk and a bug: Aldis listens again, and closed what it left."""
    transport = FakeTransport(streams=[[*end], [envelope("hi", 5)]])
    intake = intake_of(transport, store, clock)
    async with running(intake):
        await transport.until(lambda: transport.read == [5])
        assert (transport.opened, transport.closed) == (2, 1)
        assert transport.stream.is_open
    assert not transport.stream.is_open


async def test_an_outage_is_logged_once(store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """However often the stream is opened in vain."""
    failures: list[list[Envelope | Exception]] = [[Disconnected("refused")] for _ in range(20)]
    transport = FakeTransport(streams=[*failures, [envelope("back", 7)]])
    async with running(intake_of(transport, store, clock)):
        await transport.until(lambda: transport.read == [7])
    assert caplog.text.count("the stream of messages broke: refused") == 1


async def test_a_bridge_that_will_never_work_ends_the_loop(store: Store, clock: SetClock) -> None:
    """A wrong setting is for the operator, not for another try."""
    transport = FakeTransport(streams=[[ConfigError("SIGNAL__ACCOUNT: unknown")]])
    with pytest.raises(ConfigError, match="SIGNAL__ACCOUNT"):
        await intake_of(transport, store, clock).run()


# What comes together


def commits_of(store: Store) -> list[int]:
    """How many units of work each commit of the store holds, from now on."""
    counts: list[int] = []
    transaction = store.transaction

    async def counted(work: Callable[[Repositories], T]) -> T:
        counts.append(1)
        return await transaction(work)

    store.transaction = counted
    return counts


async def in_doubt(store: Store, chat: str) -> None:
    """An answer to the chat of which nobody knows whether it went out."""
    conversation = await store.conversation(chat, now=NOON)

    def put(repos: Repositories) -> None:
        [(turn,)] = repos.outbox.rows(
            "INSERT INTO turns (conversation_id, state, started_at) VALUES (?, 'kept', 0) RETURNING id", (conversation,)
        )
        repos.outbox.put(conversation, TurnId(turn), 0, b"answer", in_group=chat.startswith("group:"), now=NOON)
        [item] = repos.outbox.begin(now=NOON, limit=1)
        repos.outbox.mark_unknown(item.id, due_at=NOON + timedelta(seconds=90))

    await store.transaction(put)


async def test_receipts_are_written_down_with_what_comes_with_them(store: Store, clock: SetClock) -> None:
    """After a pause hundreds of them come with a few messages: what waited for each by itself is lost by a kill."""
    await in_doubt(store, "direct:alice")
    names = [int(NOON.timestamp() * 1000) + number for number in (10, 20)]
    receipts = [envelope("", 1, kind=Kind.RECEIPT, targets=(name,)) for name in names]
    transport = FakeTransport(streams=[[*receipts, envelope("hi", 7)]])
    commits = commits_of(store)
    async with running(intake_of(transport, store, clock)):
        await transport.until(lambda: transport.read == [7])
    assert len(commits) == 1
    assert await store.read(lambda repos: repos.outbox.rows("SELECT state FROM outbox")) == [("sent",)]


@pytest.mark.parametrize(("kind", "written"), [(Kind.MESSAGE, [1, 2, 3, 4]), (Kind.RECEIPT, [1, 2, 4])])
async def test_one_that_fails_takes_no_other_along(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture, kind: Kind, written: list[int]
) -> None:
    """A bug over one envelope of several: the others are confirmed, and nothing of it is logged.

    A message is written down before it is read, so that the worker can say that it failed.
    """

    class Stumbling(FakeTransport):
        def event(self, envelope: Envelope) -> Event | None:
            if "stumble" in envelope.raw:
                raise LookupError(envelope.raw)
            return super().event(envelope)

    frames = [envelope("one", 1), envelope("two", 2), envelope("stumble", 3, kind=kind), envelope("four", 4)]
    transport = Stumbling(streams=[[*frames]])
    intake = intake_of(transport, store, clock)
    async with running(intake):
        await transport.until(lambda: transport.read == [1, 2, 4])
    assert [kept.sent_at for kept in await kept(store)] == written
    assert "LookupError" in caplog.text
    assert "stumble" not in caplog.text
    assert transport.opened == 1


@pytest.mark.parametrize("asked_in", ["direct:alice", "group:0"])
async def test_what_comes_while_its_conversation_is_forgotten_comes_in(
    asked_in: str, store: Store, clock: SetClock
) -> None:
    """With all that came beside it: people who forget and write again would keep everybody else from being heard."""
    intake = intake_of(FakeTransport(), store, clock, allowed=replace(ALLOWED, groups=frozenset(map(str, range(20)))))
    await intake.take(envelope("old", 1), envelope("/forget everything yes", 2, chat=asked_in))
    # The conversations of the others are begun while that of the first, which is looked up before, is forgotten.
    beside = [envelope("hi", 4 + number, chat=f"group:{number}") for number in range(20)]
    forgetting = store.forget("direct:alice", person="alice", before=InboxId(2), now=NOON, then=lambda *_: None)
    await asyncio.gather(intake.take(envelope("new", 3), *beside), forgetting)
    assert {one.sent_at for one in await kept(store)} == set(range(2, 24))
    await intake.aclose()


async def test_a_full_disk_holds_all_of_it(store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """What came together was taken from the stream: all of it is written down before the next stream is opened."""

    async def rename(one: str, other: str) -> None:
        await store.transaction(lambda repos: repos.inbox.execute(f"ALTER TABLE {one} RENAME TO {other}"))

    await rename("inbox", "away")
    transport = FakeTransport(streams=[[envelope("one", 1), envelope("two", 2)], [envelope("three", 3)]])
    async with running(intake_of(transport, store, clock)):
        await eventually(lambda: "the inbox cannot be written" in caplog.text)
        await rename("away", "inbox")
        await transport.until(lambda: transport.read == [1, 2, 3])
    assert [kept.sent_at for kept in await kept(store)] == [1, 2, 3]


async def test_what_a_transport_has_read_together_is_in_hand_together(store: Store, clock: SetClock) -> None:
    """However long reading it takes: signal-cli has handed it on, and no one else would have it after a full disk."""
    transport = SignalCli("unix:///nowhere", OWN_ACCOUNT)

    async def frames() -> AsyncGenerator[list[str]]:
        yield [json.dumps(message(text, sent_at=number)) for number, text in enumerate(("one", "two", "three"), 1)]

    transport._subscription.frames = frames
    quota = Quota(LimitsSettings())
    allowed = AccessList(persons=frozenset({ALICE.uuid}), groups=frozenset())
    intake = Intake(transport, store, clock, Counts(), allowed=allowed, name="Aldis", quota=quota)
    intake.burst_seconds = 0
    await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
    with pytest.raises(StoreError):
        await intake.read_once()
    assert [one.sent_at for one in intake._held] == [1, 2, 3]


# The end


async def test_a_stop_takes_in_what_is_under_way(store: Store, clock: SetClock) -> None:
    """What the bridge has fetched by then still comes in, and `run` ends by itself."""

    class Late(FakeTransport):
        async def envelopes(self) -> AsyncGenerator[Envelope]:
            async for came in super().envelopes():
                yield came
            yield envelope("under way", 2)

    transport = Late(streams=[[envelope("hi", 1)]])
    intake = intake_of(transport, store, clock)
    async with running(intake) as task:
        await transport.until(lambda: transport.read == [1])
        intake.stop()
        await task
    assert [kept.sent_at for kept in await kept(store)] == [1, 2]
    assert (transport.opened, transport.closed) == (1, 1)


async def test_a_stop_tries_once_more_to_write_down_what_it_holds(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody else has it any more."""
    await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
    transport = FakeTransport(
        streams=[[envelope("in hand", 1)], [envelope("never asked for", 2)]],
        stream=StreamState(is_open=True, pause_seconds=10_000),
    )
    intake = intake_of(transport, store, clock)
    async with running(intake) as task:
        await eventually(lambda: "the inbox cannot be written" in caplog.text)
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE away RENAME TO inbox"))
        intake.stop()
        await task
    assert [kept.sent_at for kept in await kept(store)] == [1]
