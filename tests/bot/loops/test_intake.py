"""Intake: written down before anything else, strangers leave no trace, and no end of a stream makes Aldis deaf."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import TypeVar

import pytest

from bot.clock import SetClock
from bot.errors import ConfigError, Disconnected
from bot.events import Envelope, Event, Kind
from bot.loops.intake import Intake
from bot.metrics import ALL_DAY, REASONS, Counts
from bot.signal.protocol import StreamState
from bot.signal.signal_cli.transport import SignalCli
from store import InboxId, Repositories, Store, StoreError, StoreFull
from tests.bot.loops.doors import Door, access
from tests.bot.loops.fake_transport import FakeTransport, envelope
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.conftest import NOON
from tests.servers.envelopes import ALICE, message
from tests.store.sends import doubted, states
from tests.waiting import WAIT_SECONDS, eventually

T = TypeVar("T")


async def test_an_envelope_is_kept_as_it_came_and_then_read(store: Store, clock: SetClock) -> None:
    """The whole frame is in the inbox when the read receipt goes out."""
    door = Door(store, clock, FakeTransport(streams=[[envelope("hi", 7)]]))
    async with door.running():
        await door.transport.until(lambda: door.transport.read == [7])
        assert await door.kept() == [envelope("hi", 7)]


async def test_no_more_than_a_burst_is_read_before_the_commit(store: Store, clock: SetClock) -> None:
    """While the inbox cannot be written, the rest is left to the bridge; what was taken waits for the disk."""
    taken: list[int] = []

    class Counting(FakeTransport):
        async def envelopes(self) -> AsyncGenerator[Envelope]:
            for number in range(500):
                taken.append(number)
                yield envelope("hi", number)

    door = Door(store, clock, Counting())
    door.intake.burst_seconds = WAIT_SECONDS  # the number bounds it, not the time
    await door.rename("inbox", "away")
    with pytest.raises(Exception, match="SQLITE_ERROR"):
        await door.intake.read_once()
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
    door, commits = Door(store, clock, Trickling()), commits_of(store)
    door.intake.burst_seconds = WAIT_SECONDS
    async with door.running():
        await door.transport.until(lambda: len(door.transport.read) == 3)
    assert parsed == [0, 1, 2]
    assert len(commits) == 1


async def test_what_is_not_answered_is_counted_for_a_reason(store: Store, clock: SetClock) -> None:
    """It leaves not a byte in the store. Read means that it will be answered: group talk gets no receipt."""
    dropped = [
        envelope(author="mallory"),
        envelope(author=None),
        envelope(from_self=True),
        envelope(chat="group:H"),
        envelope(kind=Kind.OTHER),
        envelope(kind=Kind.UNDECRYPTABLE, author=None),
    ]
    talk, asked = (envelope(text, at, chat="group:G") for text, at in (("among us", 3), ("Aldis, you?", 4)))
    transport = FakeTransport(streams=[[*dropped, envelope("hi", 2), envelope("hi", 2), talk, asked]])
    door = Door(store, clock, transport)
    async with door.running():
        await transport.until(lambda: sorted(transport.read) == [2, 4])
    assert [one.sent_at for one in await door.kept()] == [2, 3, 4]
    assert await store.read(lambda repos: repos.inbox.rows("SELECT count(*) FROM conversations")) == [(2,)]
    reasons = {
        name.removeprefix("unanswered_"): n for name, n in door.counts.all().items() if name.startswith("unanswered_")
    }
    assert (sum(reasons.values()), reasons["duplicate"]) == (len(dropped) + 1, 1)
    assert reasons.keys() <= {*REASONS, *ALL_DAY}


async def test_whatever_ends_a_stream_the_next_is_opened(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A clean close, cuts, a full disk and a bug; the log has one line of an outage, however long it is."""
    refused: list[Exception] = [Disconnected("refused")] * 20
    ends = [[], *([end] for end in (StoreFull("full"), ValueError("a bug"), *refused))]
    door = Door(store, clock, FakeTransport(streams=[*ends, [envelope("hi", 5)]]))
    async with door.running():
        await door.transport.until(lambda: door.transport.read == [5])
        assert (door.transport.opened, door.transport.closed) == (24, 23)
        assert door.transport.stream.is_open
    assert not door.transport.stream.is_open
    assert caplog.text.count("the stream of messages broke: refused") == 1


async def test_a_bridge_that_will_never_work_ends_the_loop(store: Store, clock: SetClock) -> None:
    """A wrong setting is for the operator, not for another try."""
    transport = FakeTransport(streams=[[ConfigError("SIGNAL__ACCOUNT: unknown")]])
    with pytest.raises(ConfigError, match="SIGNAL__ACCOUNT"):
        await Door(store, clock, transport).intake.run()


# What comes together


def commits_of(store: Store) -> list[int]:
    counts: list[int] = []
    transaction = store.transaction

    async def counted(work: Callable[[Repositories], T]) -> T:
        counts.append(1)
        return await transaction(work)

    store.transaction = counted
    return counts


async def test_receipts_are_written_down_with_what_comes_with_them(store: Store, clock: SetClock) -> None:
    """After a pause hundreds of them come with a few messages: what waited for each by itself is lost by a kill."""
    await store.transaction(lambda repos: doubted(repos, "direct:alice"))
    names = [int(NOON.timestamp() * 1000) + number for number in (10, 20)]
    receipts = [envelope("", 1, kind=Kind.RECEIPT, targets=(name,)) for name in names]
    door = Door(store, clock, FakeTransport(streams=[[*receipts, envelope("hi", 7)]]))
    commits = commits_of(store)
    async with door.running():
        await door.transport.until(lambda: door.transport.read == [7])
    assert len(commits) == 1
    assert [state for state, _ in await store.read(states)] == ["sent"]


@pytest.mark.parametrize(("kind", "written"), [(Kind.MESSAGE, [1, 2, 3, 4]), (Kind.RECEIPT, [1, 2, 4])])
async def test_one_that_fails_takes_no_other_along(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture, kind: Kind, written: list[int]
) -> None:
    """The others are confirmed, nothing of it is logged; it is written down first, so that the worker can say so."""

    class Stumbling(FakeTransport):
        def event(self, envelope: Envelope) -> Event | None:
            if "stumble" in envelope.raw:
                raise LookupError(envelope.raw)
            return super().event(envelope)

    frames = [envelope("one", 1), envelope("two", 2), envelope("stumble", 3, kind=kind), envelope("four", 4)]
    door = Door(store, clock, Stumbling(streams=[[*frames]]))
    async with door.running():
        await door.transport.until(lambda: door.transport.read == [1, 2, 4])
    assert [kept.sent_at for kept in await door.kept()] == written
    assert "LookupError" in caplog.text
    assert "stumble" not in caplog.text
    assert door.transport.opened == 1


@pytest.mark.parametrize("asked_in", ["direct:alice", "group:0"])
async def test_what_comes_while_its_conversation_is_forgotten_comes_in(
    asked_in: str, store: Store, clock: SetClock
) -> None:
    """With all that came beside it: people who forget and write again would keep everybody else from being heard."""
    door = Door(store, clock, allowed=access("alice", groups=tuple(map(str, range(20)))))
    await door.take(envelope("old", 1), envelope("/forget everything yes", 2, chat=asked_in))
    # The conversations of the others are begun while that of the first, which is looked up before, is forgotten.
    beside = [envelope("hi", 4 + number, chat=f"group:{number}") for number in range(20)]
    forgetting = store.forget("direct:alice", person="alice", before=InboxId(2), now=NOON, then=lambda *_: None)
    await asyncio.gather(door.take(envelope("new", 3), *beside), forgetting)
    assert {one.sent_at for one in await door.kept()} == set(range(2, 24))


async def test_a_full_disk_holds_all_of_it(store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """What came together was taken from the stream: all of it is written down before the next stream is opened."""
    door = Door(store, clock, FakeTransport(streams=[[envelope("1", 1), envelope("2", 2)], [envelope("3", 3)]]))
    await door.rename("inbox", "away")
    async with door.running():
        await eventually(lambda: "the inbox cannot be written" in caplog.text)
        await door.rename("away", "inbox")
        await door.transport.until(lambda: door.transport.read == [1, 2, 3])
    assert [kept.sent_at for kept in await door.kept()] == [1, 2, 3]


async def test_what_a_transport_has_read_together_is_in_hand_together(store: Store, clock: SetClock) -> None:
    """However long reading it takes: signal-cli has handed it on, and no one else would have it after a full disk."""
    transport = SignalCli("unix:///nowhere", OWN_ACCOUNT)

    async def frames() -> AsyncGenerator[list[str]]:
        yield [json.dumps(message(text, sent_at=number)) for number, text in enumerate(("one", "two", "three"), 1)]

    transport._subscription.frames = frames
    door = Door(store, clock)
    door.intake.door.access = access(ALICE.uuid)
    intake = Intake(transport, store, clock, Counts(), door=door.intake.door, quota=door.quota)
    intake.burst_seconds = 0
    await door.rename("inbox", "away")
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

    door = Door(store, clock, Late(streams=[[envelope("hi", 1)]]))
    async with door.running() as task:
        await door.transport.until(lambda: door.transport.read == [1])
        door.intake.stop()
        await task
    assert [kept.sent_at for kept in await door.kept()] == [1, 2]
    assert (door.transport.opened, door.transport.closed) == (1, 1)


async def test_a_stop_tries_once_more_to_write_down_what_it_holds(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody else has it any more."""
    transport = FakeTransport(
        streams=[[envelope("in hand", 1)], [envelope("never asked for", 2)]],
        stream=StreamState(is_open=True, pause_seconds=10_000),
    )
    door = Door(store, clock, transport)
    await door.rename("inbox", "away")
    async with door.running() as task:
        await eventually(lambda: "the inbox cannot be written" in caplog.text)
        await door.rename("away", "inbox")
        door.intake.stop()
        await task
    assert [kept.sent_at for kept in await door.kept()] == [1]
