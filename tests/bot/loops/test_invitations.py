"""Invitations: Aldis joins the groups that the operator has listed, and no others."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
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
from tests.waiting import eventually

ALICE, BOB = PersonId("alice"), PersonId("bob")
LISTED = AccessList(persons=frozenset(), groups=frozenset({"G"}))


def group(id_: str, *people: PersonId) -> Group:
    return Group(id=id_, name="", members=frozenset(people))


@asynccontextmanager
async def running(
    transport: FakeTransport, store: Store, clock: SetClock, allowed: AccessList = LISTED
) -> AsyncGenerator[Membership]:
    invitations = Membership(transport, store, clock, allowed, pause_seconds=0.01)
    task = asyncio.create_task(invitations.run())
    try:
        yield invitations
    finally:
        task.cancel()
        await asyncio.wait([task])


def joined(transport: FakeTransport) -> set[str]:
    return {one.id for one in transport.known_groups}


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
    """To a listed group; where every group is listed, only one with somebody in it who is listed, too."""
    for persons, admins in ((people, set[str]()), (set[str](), people)):
        allowed = AccessList(
            persons=frozenset(persons), groups=frozenset(groups), admins=frozenset(admins), note_to_self=is_note
        )
        assert accepts(group("G", ALICE, BOB), allowed) is expected


async def test_a_bridge_that_tells_nothing_is_asked_again(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """An invitation that was withdrawn holds up no other one; no id of a group is logged."""
    transport = FakeTransport(directory_fails=Disconnected("gone"), closed_groups=frozenset({"secret"}))
    transport.known_invitations = [group("secret", ALICE), group("G", ALICE)]
    allowed = replace(LISTED, groups=frozenset({"G", "secret"}))
    async with running(transport, store, clock, allowed) as invitations:
        await eventually(lambda: transport.invitations_asked == 1)
        transport.directory_fails = None
        invitations.notice(ChatId("group:G"))
        await eventually(lambda: joined(transport) == {"G"})
    assert "gone" in caplog.text
    assert "could not be accepted" in caplog.text
    assert "secret" not in caplog.text


async def test_where_no_group_is_listed_nothing_is_joined(store: Store, clock: SetClock) -> None:
    """Nor where the account is a person's own."""
    transport = FakeTransport(known_invitations=[group("G", ALICE)])
    for allowed in (replace(LISTED, groups=frozenset()), replace(LISTED, note_to_self=True)):
        await Membership(transport, store, clock, allowed).look()
    assert (transport.invitations_asked, joined(transport)) == (0, set())
