"""Intake at the door: codes for strangers, members of groups, numbers that change hands, and too many messages."""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime

import pytest

from bot.access.limits import Quota
from bot.access.pairing import Pairing
from bot.clock import SetClock
from bot.errors import NotSent
from bot.events import Envelope, Kind, PersonId
from bot.metrics import REASONS
from bot.settings import LimitsSettings
from bot.signal.protocol import Group
from store import Store
from tests.bot.loops.doors import Door, access
from tests.bot.loops.fake_transport import ACCOUNT, FakeTransport, envelope
from tests.bot.loops.test_intake import commits_of
from tests.conftest import NOON

NUMBER = "+15550100002"


async def refusals(door: Door) -> list[str | None]:
    return [refusal for (refusal,) in await door.rows("refusal")]


async def names_kept(door: Door) -> list[tuple[str | None, str | None]]:
    return [(each.author, each.number) for each in await door.kept()]


# Strangers


async def test_a_stranger_is_given_one_code_and_leaves_no_row(store: Store, clock: SetClock) -> None:
    """One message with a code that an admin can use; nothing more, whatever they write; not a byte in the store."""
    door = Door(store, clock, pairing=(pairing := Pairing()))
    await door.take(envelope("let me in", 1, author="mallory"), envelope("please", 2, author="mallory"))
    [reply] = door.transport.sent
    assert reply.chat == "direct:mallory"
    code = next(word for word in reply.content.text.split() if "-" in word).strip(".")
    assert [one.person for one in pairing.find(code, NOON)] == ["mallory"]
    assert "let me in" not in reply.content.text
    for table in ("inbox", "conversations", "outbox", "people"):
        query = f"SELECT count(*) FROM {table}"
        assert await store.read(lambda repos, query=query: repos.inbox.rows(query)) == [(0,)]
    assert door.counts.all() | {"unanswered_not_allowed": 2, "codes_given": 1} == door.counts.all()
    assert door.transport.read == []


async def test_only_a_direct_message_with_words_gets_a_code(store: Store, clock: SetClock) -> None:
    """A stranger in a group gets nothing ever, and frames without words are no question."""
    door = Door(store, clock, pairing=Pairing())
    kinds = (Kind.EDIT, Kind.REACTION, Kind.DELETE, Kind.OTHER)
    await door.take(
        envelope("Aldis, hi", author="mallory", chat="group:H"),
        *(envelope("hi", author="mallory", kind=kind) for kind in kinds),
        envelope("", author="mallory"),
        envelope("unreadable", author="mallory"),
        envelope("hi", author="mallory", chat="direct:alice"),
        envelope("hi", author="mallory", from_self=True),
        envelope("hi", author=None),
    )
    assert (door.transport.sent, await door.count()) == ([], 0)


async def test_a_code_that_cannot_be_sent_holds_nobody_up(store: Store, clock: SetClock) -> None:
    """The stream goes on while it is being sent, and when it fails."""
    transport = FakeTransport(gate=asyncio.Event(), sends=[NotSent("no connection")])
    door = Door(store, clock, transport, pairing=Pairing())
    await door.intake.take(envelope("hi", 1, author="mallory"), envelope("hi", 2))
    assert await door.count() == 1
    assert transport.gate is not None
    transport.gate.set()
    await door.finished()
    assert transport.sent == []
    await door.take(envelope("hi", 3))
    assert await door.count() == 2


async def test_who_was_let_in_may_write_directly_until_put_out(store: Store, clock: SetClock) -> None:
    """At once, without a restart; a group is not opened by it."""
    door = Door(store, clock, allowed=access("alice", groups=()), pairing=Pairing())
    await store.transaction(lambda repos: repos.people.allow("bob", account=ACCOUNT, by="alice", now=NOON))
    await door.take(envelope("hi", 1, author="bob"), envelope("Aldis, hi", 2, author="bob", chat="group:H"))
    assert await door.count() == 1
    await store.transaction(lambda repos: repos.people.deny(repos.people.label("bob", account=ACCOUNT)))
    await door.take(envelope("hi", 3, author="bob"))
    assert await door.count() == 1
    assert len(door.transport.sent) == 1  # a stranger again, who gets a code


async def test_who_is_let_in_by_other_settings_comes_in_with_what_they_wrote(store: Store, clock: SetClock) -> None:
    """The next run takes it before anything new, once; what others wrote, or another account heard, stays outside."""
    pairing = Pairing()
    pairing.listen()
    before = Door(store, clock, pairing=pairing)
    await before.take(*(envelope("hello?", 1, author=author) for author in ("bob", "mallory")))
    await before.take(
        replace(envelope("hello?", 2, author="bob"), account="another"), envelope("/help", 4, author="bob")
    )
    assert await before.count() == 0
    await before.intake.aclose()
    transport = FakeTransport(streams=[[envelope("and now", 3, author="bob")], []])
    door = Door(store, clock, transport, allowed=access("bob"), pairing=pairing)
    async with door.running():
        await transport.until(lambda: transport.opened == 2)
    assert [(kept.author, kept.sent_at) for kept in await door.kept()] == [("bob", 1), ("bob", 3)]
    assert pairing.release(PersonId("bob"), NOON) == ()
    assert len(pairing.release(PersonId("mallory"), NOON)) == 1


async def test_one_that_fails_takes_nothing_along_of_what_waited_with_it(store: Store, clock: SetClock) -> None:
    """A bug over one message costs neither the others of those who waited nor the command that lets them in."""

    class Stumbling(Quota):
        def admits(self, envelope: Envelope, now: datetime) -> bool:
            if envelope.sent_at == 1:
                raise LookupError
            return super().admits(envelope, now)

    door = Door(store, clock, quota=Stumbling(LimitsSettings()), pairing=Pairing())
    await door.take(envelope("hello?", 1, author="bob"), envelope("still there?", 2, author="bob"))
    door.intake.door.access = access("bob")
    await door.intake.admit()
    assert await door.rows("sent_at") == [(2,)]


# Members of listed groups


async def test_members_of_a_listed_group_may_write_from_the_first_message_on(store: Store, clock: SetClock) -> None:
    """Who is in is known before the first frame is taken from the stream."""
    transport = FakeTransport(streams=[[envelope("hi", 1, author="carol"), envelope("hi", 2, author="mallory")]])
    transport.known_groups = (Group(id="G", name="garden", members=frozenset({PersonId("carol"), PersonId("alice")})),)
    door = Door(store, clock, transport, allowed=replace(access("alice"), group_members_may_write=True))
    async with door.running():
        await transport.until(lambda: transport.read == [1])
    assert await door.count() == 1


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


async def test_the_account_is_the_person_whatever_its_number(store: Store, clock: SetClock) -> None:
    """Who hides or changes a listed number stays who they are; in a group another with it is heard, but no admin."""
    door = Door(store, clock, allowed=access(admins=(NUMBER,)))
    await door.take(called("alice", 1), called("alice", 2, number=None), called("alice", 3, number="+15550109999"))
    await door.take(called("mallory", 4, chat="group:G"))
    assert await names_kept(door) == [*[("alice", NUMBER)] * 3, ("mallory", None)]


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
    caplog.set_level(logging.INFO)
    door = Door(store, clock, quota=Quota(LimitsSettings(messages_per_minute=5)))
    await door.take(*(envelope("hi", n) for n in range(100)))
    assert await refusals(door) == [None] * 5 + ["too_many"]
    assert door.counts.all()["unanswered_too_many"] == 95
    assert [record.message for record in caplog.records if "too many" in record.message] == [
        f"not answered: {REASONS['too_many']} (1 so far)"
    ]
    clock.move(60)
    await door.take(*(envelope("hi", 100 + n) for n in range(10)))
    assert await refusals(door) == ([None] * 5 + ["too_many"]) * 2


async def test_group_talk_is_no_reason_to_say_anything(store: Store, clock: SetClock) -> None:
    """Of what is too much in a group only what was meant for Aldis is refused aloud."""
    door = Door(store, clock, quota=Quota(LimitsSettings(conversation_messages_per_minute=3)))
    await door.take(*(envelope("among us", n, author=f"p{n}", chat="group:G") for n in range(50)))
    assert await refusals(door) == [None] * 3
    await door.take(*(envelope("Aldis, you?", n, author=f"p{n}", chat="group:G") for n in range(50, 60)))
    assert await refusals(door) == [None] * 3 + ["too_many"]


async def test_a_full_queue_is_told_once_and_takes_nothing_more(store: Store, clock: SetClock) -> None:
    """What is urgent goes past it. Another conversation waits for neither, or a mark could come after its answer."""
    door = Door(store, clock, allowed=access("alice", "bob"), quota=Quota(LimitsSettings(max_waiting=3)))
    for n in range(10):
        await door.take(envelope("hi", n))
        clock.move(1)
    assert await refusals(door) == [None] * 3 + ["queue_full"]
    await door.take(replace(envelope("/stop", 20), is_command=True), envelope("hi", 21, author="bob"))
    assert await refusals(door) == [None] * 3 + ["queue_full", None, None]
    assert door.counts.all()["unanswered_queue_full"] == 7
    commits, marked = commits_of(store), list[int]()
    door.intake.on_question = lambda _: marked.append(len(commits))
    clock.move(60)
    await door.take(envelope("hi", 22), envelope("hi", 23, author="bob"))
    assert (marked, len(commits)) == ([1], 2)


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
    assert await door.rows("urgent, expires_at") == [(0, noon + 30_000), (0, None), (1, None)]
