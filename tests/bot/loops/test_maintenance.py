"""Maintenance: what is left behind is taken up, what is settled forgotten; and who is in the groups of the account."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.access.access import AccessList, accepts
from bot.access.pairing import Pairing
from bot.chat.edits import Revisions
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.errors import Disconnected
from bot.events import PersonId
from bot.loops.doorkeeper import Doorkeeper
from bot.loops.maintenance import Maintenance
from bot.metrics import Counts
from bot.signal.protocol import Group
from store import Store, TurnId
from tests.arrivals import arrive
from tests.bot.chat.turn_helpers import settings_with, unlimited
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.store.sends import doubted, prove, states
from tests.waiting import eventually, eventually_found, running


def maintenance_of(store: Store, clock: SetClock, **places: Any) -> Maintenance:
    settings = settings_with(store=places, locale={"timezone": "Europe/Berlin"})
    turns = Turns(store, clock, settings, unlimited(store, clock))
    return Maintenance(store, clock, Revisions(store, clock, turns, settings), settings)


def doorkeeper(transport: FakeTransport, store: Store, clock: SetClock, allowed: AccessList) -> Doorkeeper:
    return Doorkeeper(transport, store, clock, Counts(), allowed, "Aldis", Pairing(), invites=False)


async def claim(store: Store) -> int | None:
    until = NOON + timedelta(minutes=5)
    claim = await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=until, busy=()))
    return None if claim is None else claim.turn


async def test_settled_messages_are_forgotten_after_the_time_a_redelivery_may_take(
    store: Store, clock: SetClock
) -> None:
    """Within 45 days their names are kept."""
    await arrive(store)
    turn = await claim(store)
    assert turn
    await store.transaction(lambda repos: repos.inbox.done(TurnId(turn)))
    maintenance = maintenance_of(store, clock)
    for days, left in ((44, 1), (2, 0)):
        clock.move(days * 86400)
        await maintenance.tidy()
        assert await store.read(lambda repos: repos.inbox.rows("SELECT count(*) FROM inbox")) == [(left,)]


async def test_it_folds_the_write_ahead_log_again_and_again(store: Store, clock: SetClock, path: Path) -> None:
    """The log does not grow for ever, and a failure in between ends nothing."""
    log = path.with_name(path.name + "-wal")
    maintenance = maintenance_of(store, clock)
    maintenance.every_seconds = maintenance.expiry_every_seconds = 0.01
    async with running(maintenance.run()):
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
        await asyncio.sleep(0.05)
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE away RENAME TO inbox"))
        await arrive(store)
        await eventually(lambda: not log.stat().st_size)


# Nightly backups


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def test_one_copy_a_night_and_the_old_ones_go(store: Store, tmp_path: Path) -> None:
    """Made up for where the machine was off; a copy is both files; what is not a nightly copy stays."""
    folder = tmp_path / "here" / "backups" / "nightly"
    clock = SetClock(datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    tidy = maintenance_of(store, clock, path=tmp_path / "here" / "aldis.db", backup_days=3).tidy
    await tidy()
    await tidy()
    assert names(folder) == ["aldis-20261121T120000Z.db", "aldis-20261121T120000Z.db-keys"]
    for other in (folder / "aldis-20200101T000000Z-2.db", folder.parent / "aldis-20200101T000000Z.db"):
        other.write_bytes(b"by an earlier Aldis, and by hand")
    clock.move(timedelta(hours=13, minutes=59).total_seconds())  # 02:59 in Berlin
    await tidy()
    assert len(names(folder)) == 2
    clock.move(60)
    await tidy()
    assert names(folder)[2:] == ["aldis-20261122T020000Z.db", "aldis-20261122T020000Z.db-keys"]
    clock.move(timedelta(days=3).total_seconds())
    await tidy()
    copies = [name for name in names(folder) if not name.endswith("-keys")]
    assert copies == ["aldis-20261122T020000Z.db", "aldis-20261125T020000Z.db"]
    assert other.exists()


# Who is in a group

LISTED = AccessList(persons=frozenset(), groups=frozenset({"G"}))


def group(id_: str, *people: str, is_complete: bool = True) -> Group:
    return Group(id=id_, name="", members=frozenset(map(PersonId, people)), is_complete=is_complete)


async def sent_in_doubt(store: Store, clock: SetClock) -> None:
    await store.transaction(lambda repos: doubted(repos, "group:G"))
    clock.move(1)
    await store.transaction(lambda repos: prove(repos, "direct:alice", clock.now()))


async def is_sent(store: Store) -> bool:
    return [state for state, _ in await store.read(states)] == ["sent"]


async def test_a_receipt_of_a_person_unknown_is_a_reason_to_ask(store: Store, clock: SetClock) -> None:
    """When the bridge has listed the group, the receipt proves the send; members of listed groups are learnt."""
    transport = FakeTransport()
    door = doorkeeper(transport, store, clock, replace(LISTED, group_members_may_write=True))
    door.pause_seconds = 0.01
    async with running(door.run()):
        transport.known_groups = (group("G", "alice"), group("elsewhere", "bob"))
        await sent_in_doubt(store, clock)
        await eventually_found(lambda: is_sent(store))
    assert door.access.members == {"alice"}


async def test_a_list_that_leaves_people_out_counts_for_nothing(store: Store, clock: SetClock) -> None:
    """Who is not named in it may be in the group all the same: it proves nothing, and disproves nothing."""
    transport = FakeTransport(known_groups=(group("G", "bob", is_complete=False),))
    await sent_in_doubt(store, clock)
    door = doorkeeper(transport, store, clock, LISTED)
    await door.look()
    assert not await is_sent(store)
    assert await store.read(lambda repos: repos.outbox.rows("SELECT count(*) FROM receipts")) == [(1,)]
    transport.known_groups = (group("G", "alice"),)
    await door.look()
    assert await is_sent(store)


# Invitations


def test_which_invitation_is_accepted() -> None:
    """To a listed group; where every group is listed, only one with a person in it who is listed, too."""
    for groups, people, is_note, expected in (
        ("G", "", False, True),
        ("g", "alice", False, False),
        ("", "alice", False, False),
        ("*", "", False, False),
        ("*", "alice", False, True),
        ("*", "carol", False, False),
        ("*", "*", False, False),
        ("G", "", True, False),
    ):
        listed, none = frozenset(filter(None, (people,))), frozenset[str]()
        for persons, admins in ((listed, none), (none, listed)):
            allowed = AccessList(
                persons=persons, groups=frozenset(filter(None, (groups,))), admins=admins, note_to_self=is_note
            )
            assert accepts(group("G", "alice", "bob"), allowed) is expected


async def test_a_bridge_that_lists_nothing_is_asked_again(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """An invitation that cannot be accepted holds up no other one; no id of a group is logged."""
    transport = FakeTransport(directory_fails=Disconnected("gone"), closed_groups=frozenset({"secret"}))
    transport.known_invitations = [group("secret", "alice"), group("G", "alice")]
    allowed = replace(LISTED, groups=frozenset({"G", "secret"}))
    door = doorkeeper(transport, store, clock, allowed)
    door.every_seconds = door.pause_seconds = 0.01
    async with running(door.run()):
        await eventually(lambda: transport.invitations_asked > 0)
        transport.directory_fails = None
        await eventually(lambda: {one.id for one in transport.known_groups} == {"G"})
    assert "gone" in caplog.text
    assert "could not be accepted" in caplog.text
    assert "secret" not in caplog.text


async def test_where_no_group_is_listed_nothing_is_joined(store: Store, clock: SetClock) -> None:
    """Nor where the account is a person's own."""
    transport = FakeTransport(known_invitations=[group("G", "alice")])
    for allowed in (replace(LISTED, groups=frozenset()), replace(LISTED, note_to_self=True)):
        await doorkeeper(transport, store, clock, allowed).look()
    assert (transport.invitations_asked, transport.known_groups) == (0, ())


async def test_nothing_that_was_planned_comes_in_a_group_that_aldis_has_left(store: Store, clock: SetClock) -> None:
    """Each time it would be paid for, and could not be sent."""
    await store.conversation("group:G", now=NOON)
    transport = FakeTransport(known_groups=(group("G", "alice"),))
    door = doorkeeper(transport, store, clock, LISTED)
    for has_left in (False, True):
        clock.move(60)
        await door.look()
        assert has_left == await store.read(lambda repos: repos.members.has_left("group:G", "direct:alice", since=NOON))
        transport.known_groups, transport.former = (), frozenset({"G"})
