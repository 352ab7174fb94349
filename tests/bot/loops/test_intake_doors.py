"""Intake at the door: codes for strangers, members of groups, numbers that change hands, and too many messages."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest

from bot.access.access import AccessList
from bot.access.limits import Quota
from bot.access.pairing import Callers, Pairing
from bot.clock import SetClock
from bot.errors import NotSent
from bot.event_json import load_envelope
from bot.events import Envelope, Kind, PersonId
from bot.loops.intake import Intake
from bot.metrics import Counts
from bot.settings import LimitsSettings
from bot.signal.protocol import Group
from bot.unanswered import REASONS
from store import ConversationId, Repositories, Store
from tests.bot.loops.fake_transport import ACCOUNT, FakeTransport, envelope
from tests.conftest import NOON

NUMBER = "+15550100002"


def access(*persons: str, groups: tuple[str, ...] = ("G",), admins: tuple[str, ...] = ()) -> AccessList:
    return AccessList(persons=frozenset(persons), groups=frozenset(groups), admins=frozenset(admins))


def garden(*members: str) -> tuple[Group, ...]:
    return (Group(id="G", name="garden", members=frozenset(map(PersonId, members))),)


@dataclass
class Door:
    """An intake in front of a store, and what has become of what it took."""

    store: Store
    clock: SetClock
    transport: FakeTransport = field(default_factory=FakeTransport)
    allowed: AccessList = field(default_factory=lambda: access("alice"))
    quota: Quota = field(default_factory=lambda: Quota(LimitsSettings()))
    pairing: Pairing | None = None
    callers: Callers | None = None
    counts: Counts = field(default_factory=Counts)
    intake: Intake = field(init=False)

    def __post_init__(self) -> None:
        self.intake = Intake(
            self.transport,
            self.store,
            self.clock,
            self.counts,
            allowed=self.allowed,
            name="Aldis",
            quota=self.quota,
            pairing=self.pairing,
            callers=self.callers,
        )

    async def take(self, *envelopes: Envelope) -> None:
        await self.intake.take(*envelopes)

    async def rows(self) -> list[tuple[Any, ...]]:
        """The kind, the refusal, the urgency and the end of every row of the inbox."""
        query = "SELECT kind, refusal, urgent, expires_at FROM inbox ORDER BY id"
        return await self.store.read(lambda repos: repos.inbox.rows(query))

    async def refusals(self) -> list[str | None]:
        return [row[1] for row in await self.rows()]

    async def count(self) -> int:
        return len(await self.rows())


async def finished(intake: Intake) -> None:
    """Wait for what the intake does aside."""
    await asyncio.gather(*intake._aside.tasks)


def names_kept(repos: Repositories) -> list[tuple[str | None, str | None]]:
    """Author and number of every envelope in the inbox, conversation by conversation."""
    found: list[tuple[str | None, str | None]] = []
    busy: list[ConversationId] = []
    while claim := repos.inbox.claim(now=NOON, until=NOON, busy=busy):
        busy.append(claim.conversation)
        kept = [load_envelope(item.envelope) for item in claim.items]
        found += [(each.author, each.number) for each in kept]
    return found


# Strangers


async def test_a_stranger_is_given_one_code_and_leaves_no_row(store: Store, clock: SetClock) -> None:
    """One message with a code that an admin can use; nothing more, whatever they write; not a byte in the store."""
    door = Door(store, clock, pairing=(pairing := Pairing()))
    await door.take(envelope("let me in", 1, author="mallory"), envelope("please", 2, author="mallory"))
    await finished(door.intake)
    [reply] = door.transport.sent
    assert reply.chat == "direct:mallory"
    code = next(word for word in reply.content.text.split() if "-" in word).strip(".")
    assert pairing.approve(code, NOON) == "mallory"
    assert "let me in" not in reply.content.text
    for table in ("inbox", "conversations", "outbox", "people"):
        query = f"SELECT count(*) FROM {table}"
        assert await store.read(lambda repos, query=query: repos.inbox.rows(query)) == [(0,)]
    assert door.counts.all() | {"unanswered_not_allowed": 2, "codes_given": 1} == door.counts.all()
    assert door.transport.read == []


async def test_only_a_direct_message_with_words_gets_a_code(store: Store, clock: SetClock) -> None:
    """A stranger in a group gets nothing ever, and frames without words are no question."""
    door = Door(store, clock, pairing=Pairing())
    kinds = (Kind.EDIT, Kind.REACTION, Kind.DELETE, Kind.TIMER, Kind.OTHER)
    await door.take(
        envelope("Aldis, hi", author="mallory", chat="group:H"),
        *(envelope("hi", author="mallory", kind=kind) for kind in kinds),
        envelope("", author="mallory"),
        envelope("unreadable", author="mallory"),
        envelope("hi", author="mallory", chat="direct:alice"),
        envelope("hi", author="mallory", from_self=True),
        envelope("hi", author=None),
    )
    await finished(door.intake)
    assert (door.transport.sent, await door.count()) == ([], 0)


async def test_a_code_that_cannot_be_sent_holds_nobody_up(store: Store, clock: SetClock) -> None:
    """The stream goes on while it is being sent, and when it fails."""
    transport = FakeTransport(gate=asyncio.Event(), sends=[NotSent("no connection")])
    door = Door(store, clock, transport, pairing=Pairing())
    await door.take(envelope("hi", 1, author="mallory"), envelope("hi", 2))
    assert await door.count() == 1
    assert transport.gate is not None
    transport.gate.set()
    await finished(door.intake)
    assert transport.sent == []
    await door.take(envelope("hi", 3))
    assert await door.count() == 2


async def test_who_was_let_in_may_write_directly_until_put_out(store: Store, clock: SetClock) -> None:
    """At once, without a restart; a group is not opened by it."""
    door = Door(store, clock, allowed=access("alice", groups=()), pairing=Pairing())
    await store.transaction(lambda repos: repos.people.allow("bob", account=ACCOUNT, by="alice", now=NOON))
    await door.take(envelope("hi", 1, author="bob"), envelope("Aldis, hi", 2, author="bob", chat="group:H"))
    assert await door.count() == 1
    await store.transaction(lambda repos: repos.people.deny("bob", account=ACCOUNT))
    await door.take(envelope("hi", 3, author="bob"))
    assert await door.count() == 1
    assert len(door.transport.sent) == 1  # a stranger again, who gets a code


async def test_who_is_let_in_by_other_settings_comes_in_with_what_they_wrote(store: Store, clock: SetClock) -> None:
    """The next run takes it before anything new, once; what others wrote, or another account heard, stays outside."""
    pairing, callers = Pairing(), Callers()
    callers.listen()
    before = Door(store, clock, pairing=pairing, callers=callers)
    await before.take(*(envelope("hello?", 1, author=author) for author in ("bob", "mallory")))
    await before.take(
        replace(envelope("hello?", 2, author="bob"), account="another"), envelope("/help", 4, author="bob")
    )
    assert await before.count() == 0
    await before.intake.aclose()
    transport = FakeTransport(streams=[[envelope("and now", 3, author="bob")], []])
    door = Door(store, clock, transport, allowed=access("bob"), pairing=pairing, callers=callers)
    await _run(door, lambda: transport.opened == 2)
    assert await store.read(lambda repos: repos.inbox.rows("SELECT sent_at FROM inbox ORDER BY id")) == [(1,), (3,)]
    assert await store.transaction(names_kept) == [("bob", None)] * 2
    assert pairing.release(PersonId("bob"), NOON) == callers.release(PersonId("bob"), NOON) == ()
    assert len(callers.release(PersonId("mallory"), NOON)) == 1


async def test_one_that_fails_takes_nothing_along_of_what_waited_with_it(store: Store, clock: SetClock) -> None:
    """A bug over one message costs neither the others of those who waited nor the command that lets them in."""

    class Stumbling(Quota):
        def has_room(self, envelope: Envelope, now: datetime, *, beside: int = 0) -> bool:
            if envelope.sent_at == 1:
                raise LookupError
            return super().has_room(envelope, now, beside=beside)

    door = Door(store, clock, quota=Stumbling(LimitsSettings()), pairing=Pairing())
    await door.take(envelope("hello?", 1, author="bob"), envelope("still there?", 2, author="bob"))
    door.intake.door.access = access("bob")
    await door.intake.admit()
    assert await store.read(lambda repos: repos.inbox.rows("SELECT sent_at FROM inbox")) == [(2,)]


# Members of listed groups


WELCOME = replace(access("alice"), group_members_may_write=True)


async def test_members_of_a_listed_group_may_write_from_the_first_message_on(store: Store, clock: SetClock) -> None:
    """Who is in is known before the first frame is taken from the stream."""
    transport = FakeTransport(streams=[[envelope("hi", 1, author="carol"), envelope("hi", 2, author="mallory")]])
    transport.known_groups = garden("carol", "alice")
    door = Door(store, clock, transport, allowed=WELCOME)
    await _run(door, lambda: transport.read == [1])
    assert await door.count() == 1


async def _run(door: Door, until: Callable[[], bool]) -> None:
    task = asyncio.create_task(door.intake.run())
    await door.transport.until(until)
    task.cancel()
    await asyncio.wait([task])
    await door.intake.aclose()


# Numbers


def called(author: str, sent_at: int = 1, *, number: str | None = NUMBER, chat: str | None = None) -> Envelope:
    return replace(envelope("Aldis, hi", sent_at, author=author, chat=chat), number=number)


async def test_a_listed_number_belongs_to_who_came_with_it_first(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Another account with the same number is a stranger; the operator is told once, and neither who nor which."""
    door = Door(store, clock, allowed=access(NUMBER))
    await door.take(called("alice", 1), called("mallory", 2), called("mallory", 3), called("alice", 4))
    assert await door.count() == 2
    assert door.counts.all() | {"unanswered_not_allowed": 2, "numbers_changed": 1} == door.counts.all()
    [told] = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert "put the account's uuid into the list" in told
    assert NUMBER not in caplog.text
    assert "mallory" not in caplog.text


async def test_who_hides_or_changes_a_listed_number_stays_who_they_are(store: Store, clock: SetClock) -> None:
    """The account is the person; and what is written down says so, for whoever asks for an admin later."""
    door = Door(store, clock, allowed=access(groups=(), admins=(NUMBER,)))
    await door.take(called("alice", 1), called("alice", 2, number=None), called("alice", 3, number="+15550109999"))
    assert await store.transaction(names_kept) == [("alice", NUMBER)] * 3


async def test_in_a_group_the_other_account_is_heard_without_its_number(store: Store, clock: SetClock) -> None:
    """The group is open to everybody in it, but the number that makes an admin is taken off the envelope."""
    door = Door(store, clock, allowed=access(admins=(NUMBER,)))
    await door.take(called("alice", 1), called("mallory", 2, chat="group:G"))
    assert await store.transaction(names_kept) == [("alice", NUMBER), ("mallory", None)]


async def test_the_operator_confirms_a_new_account_by_its_uuid(store: Store, clock: SetClock) -> None:
    """With the uuid on the list it is let in, and the number is its own from then on."""
    await Door(store, clock, allowed=access(NUMBER)).take(called("alice", 1))
    door = Door(store, clock, allowed=access(NUMBER, "mallory"))
    await door.take(called("mallory", 2), called("alice", 3), called("mallory", 4))
    assert await door.count() == 3
    assert door.counts.all()["unanswered_not_allowed"] == 1


# Too many


async def test_a_flood_leaves_a_bounded_number_of_rows_and_one_refusal(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """The first beyond the limit is kept to be refused, the others are gone; a minute later there is room again."""
    door = Door(store, clock, quota=Quota(LimitsSettings(messages_per_minute=5)))
    await door.take(*(envelope("hi", n) for n in range(100)))
    assert await door.refusals() == [None] * 5 + ["too_many"]
    assert door.counts.all()["unanswered_too_many"] == 95
    assert [record.message for record in caplog.records if "too many" in record.message] == [
        f"not answered: {REASONS['too_many'].words} (1 so far)"
    ]
    clock.move(60)
    await door.take(*(envelope("hi", 100 + n) for n in range(10)))
    assert await door.refusals() == ([None] * 5 + ["too_many"]) * 2


async def test_group_talk_is_no_reason_to_say_anything(store: Store, clock: SetClock) -> None:
    """Of what is too much in a group only what was meant for Aldis is refused aloud."""
    door = Door(store, clock, quota=Quota(LimitsSettings(conversation_messages_per_minute=3)))
    await door.take(*(envelope("among us", n, author=f"p{n}", chat="group:G") for n in range(50)))
    assert await door.refusals() == [None] * 3
    await door.take(*(envelope("Aldis, you?", n, author=f"p{n}", chat="group:G") for n in range(50, 60)))
    assert await door.refusals() == [None] * 3 + ["too_many"]


async def test_a_full_queue_is_told_once_and_takes_nothing_more(store: Store, clock: SetClock) -> None:
    """However slowly they come; what is urgent goes past it, and another conversation does not wait for it."""
    door = Door(store, clock, allowed=access("alice", "bob"), quota=Quota(LimitsSettings(max_waiting=3)))
    for n in range(10):
        await door.take(envelope("hi", n))
        clock.move(1)
    assert await door.refusals() == [None] * 3 + ["queue_full"]
    await door.take(replace(envelope("/stop", 20), is_command=True), envelope("hi", 21, author="bob"))
    assert await door.refusals() == [None] * 3 + ["queue_full", None, None]
    assert door.counts.all()["unanswered_queue_full"] == 7


# What is written down with it


async def test_a_message_with_a_timer_says_when_it_ends(store: Store, clock: SetClock) -> None:
    """From its arrival on; one without stays. A command is urgent."""
    door = Door(store, clock)
    await door.take(
        replace(envelope("hi", 1), expires_in_seconds=30),
        envelope("hi", 2),
        replace(envelope("/help", 3), is_command=True),
    )
    noon = int(NOON.timestamp() * 1000)
    assert [(urgent, ends) for _, _, urgent, ends in await door.rows()] == [(0, noon + 30_000), (0, None), (1, None)]
