"""Membership: the bridge is asked who is in its groups when something depends on it, and listed groups are joined."""

from dataclasses import replace

import pytest

from bot.access.access import AccessList, accepts
from bot.clock import SetClock
from bot.errors import Disconnected
from bot.events import ChatId, PersonId
from bot.loops.maintenance import Membership
from bot.signal.protocol import Group
from store import Store
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.store.sends import doubted, prove, states
from tests.waiting import eventually, eventually_found, running

LISTED = AccessList(persons=frozenset(), groups=frozenset({"G"}))


def group(id_: str, *people: str, is_complete: bool = True) -> Group:
    return Group(id=id_, name="", members=frozenset(map(PersonId, people)), is_complete=is_complete)


async def sent_in_doubt(store: Store, clock: SetClock) -> None:
    """It is not known what became of a send to the group G, and Alice confirms what may be that."""
    await store.transaction(lambda repos: doubted(repos, "group:G"))
    clock.move(1)
    await store.transaction(lambda repos: prove(repos, "direct:alice", clock.now()))


async def is_sent(store: Store) -> bool:
    return [state for state, _ in await store.read(states)] == ["sent"]


async def test_a_receipt_of_a_person_unknown_is_a_reason_to_ask(store: Store, clock: SetClock) -> None:
    """When the bridge has listed the group, the receipt proves the send; the intake learns of every list."""
    transport, learned = FakeTransport(), list[object]()
    membership = Membership(transport, store, clock, LISTED)
    membership.pause_seconds = 0.01
    membership.on_groups = learned.append
    async with running(membership.run()):
        await eventually(lambda: learned)
        transport.known_groups = (group("G", "alice"), group("elsewhere", "bob"))
        await sent_in_doubt(store, clock)
        await eventually_found(lambda: is_sent(store))
    assert learned == [(), *[transport.known_groups] * (len(learned) - 1)]


async def test_a_list_that_leaves_people_out_counts_for_nothing(store: Store, clock: SetClock) -> None:
    """Who is not named in it may be in the group all the same: it proves nothing, and disproves nothing."""
    transport = FakeTransport(known_groups=(group("G", "bob", is_complete=False),))
    await sent_in_doubt(store, clock)
    membership = Membership(transport, store, clock, LISTED)
    await membership.look()
    assert not await is_sent(store)
    assert await store.read(lambda repos: repos.outbox.rows("SELECT count(*) FROM receipts")) == [(1,)]
    transport.known_groups = (group("G", "alice"),)
    await membership.look()
    assert await is_sent(store)


# Invitations


@pytest.mark.parametrize(
    ("groups", "people", "is_note", "expected"),
    [
        ({"G"}, set(), False, True),
        ({"g"}, {"alice"}, False, False),
        (set(), {"alice"}, False, False),
        ({"*"}, set(), False, False),
        ({"*"}, {"alice"}, False, True),
        ({"*"}, {"carol"}, False, False),
        ({"*"}, {"*"}, False, False),
        ({"G"}, set(), True, False),
    ],
)
def test_which_invitation_is_accepted(groups: set[str], people: set[str], is_note: bool, expected: bool) -> None:
    """To a listed group; where every group is listed, only one with a person in it who is listed, too."""
    for persons, admins in ((people, set[str]()), (set[str](), people)):
        allowed = AccessList(
            persons=frozenset(persons), groups=frozenset(groups), admins=frozenset(admins), note_to_self=is_note
        )
        assert accepts(group("G", "alice", "bob"), allowed) is expected


async def test_a_bridge_that_lists_nothing_is_asked_again(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """An invitation that was withdrawn holds up no other one; no id of a group is logged."""
    transport = FakeTransport(directory_fails=Disconnected("gone"), closed_groups=frozenset({"secret"}))
    transport.known_invitations = [group("secret", "alice"), group("G", "alice")]
    allowed = replace(LISTED, groups=frozenset({"G", "secret"}))
    membership = Membership(transport, store, clock, allowed)
    membership.pause_seconds = 0.01
    async with running(membership.run()):
        await eventually(lambda: transport.invitations_asked == 1)
        transport.directory_fails = None
        membership.notice(ChatId("group:G"))
        await eventually(lambda: {one.id for one in transport.known_groups} == {"G"})
    assert "gone" in caplog.text
    assert "could not be accepted" in caplog.text
    assert "secret" not in caplog.text


async def test_where_no_group_is_listed_nothing_is_joined(store: Store, clock: SetClock) -> None:
    """Nor where the account is a person's own."""
    transport = FakeTransport(known_invitations=[group("G", "alice")])
    for allowed in (replace(LISTED, groups=frozenset()), replace(LISTED, note_to_self=True)):
        await Membership(transport, store, clock, allowed).look()
    assert (transport.invitations_asked, transport.known_groups) == (0, ())


async def test_nothing_that_was_planned_comes_in_a_group_that_aldis_has_left(store: Store, clock: SetClock) -> None:
    """Each time it would be paid for, and could not be sent."""
    await store.conversation("group:G", now=NOON)
    transport = FakeTransport(known_groups=(group("G", "alice"),))
    membership = Membership(transport, store, clock, LISTED)
    for has_left in (False, True):
        clock.move(60)
        await membership.look()
        assert has_left == await store.read(lambda repos: repos.members.has_left("group:G", "direct:alice", since=NOON))
        transport.known_groups, transport.former = (), frozenset({"G"})
