"""Who may write: nobody who is not listed, and nobody by the way of a group that was not opened."""

import itertools
from dataclasses import replace

import pytest

from bot.access.access import AccessList, is_admin, may_write
from bot.events import ChatId, Envelope, Kind, PersonId, SentId

ANNA = PersonId("11111111-1111-4111-8111-111111111111")
ANNAS_NUMBER = "+15550000001"
BEN = PersonId("22222222-2222-4222-8222-222222222222")
GROUP = "Z3JvdXAgb25l+/=="
OTHER_GROUP = "z3jvdxagb25L+/=="  # the same letters in another case
DIRECT = "direct"


def envelope(author: PersonId | None, number: str | None, place: str = DIRECT, *, from_self: bool = False) -> Envelope:
    """A message in the author's direct chat, or in the group of that id."""
    chat = f"direct:{author}" if place == DIRECT else f"group:{place}"
    return Envelope(
        account="+15550000000",
        author=author,
        number=number,
        device=1,
        sent_at=SentId(1),
        kind=Kind.MESSAGE,
        chat=ChatId(chat) if author is not None or place != DIRECT else None,
        raw="{}",
        from_self=from_self,
    )


def access(persons: set[str] | None = None, groups: set[str] | None = None) -> AccessList:
    return AccessList(persons=frozenset(persons or ()), groups=frozenset(groups or ()))


NOBODY = access()


@pytest.mark.parametrize(
    ("allowed", "direct", "in_group", "in_other_group"),
    [
        (NOBODY, False, False, False),
        (access({ANNA}), True, False, False),
        (access({ANNAS_NUMBER}), True, False, False),
        (access({ANNAS_NUMBER + "0", ANNAS_NUMBER[1:]}), False, False, False),
        (access({"*"}), True, False, False),
        (access({BEN}), False, False, False),
        (access(groups={GROUP}), False, True, False),
        (access({BEN}, {GROUP}), False, True, False),
        (access({ANNA}, {GROUP}), True, True, False),
        (access({ANNA}, {"*"}), True, True, True),
        (access({ANNAS_NUMBER}, {"*"}), True, True, True),
        (access({BEN}, {"*"}), False, False, False),
        (access(groups={"*"}), False, False, False),
        (access({"*"}, {"*"}), True, True, True),
        (access({BEN}, {GROUP, "*"}), False, True, False),
        (access({GROUP}), False, False, False),
        (access(groups={ANNA}), False, False, False),
    ],
)
def test_who_may_write_where(allowed: AccessList, direct: bool, in_group: bool, in_other_group: bool) -> None:
    """Anna, whose number is known, in her direct chat, in a group, and in one whose id differs by case only."""
    places = (DIRECT, GROUP, OTHER_GROUP)
    told = tuple(may_write(envelope(ANNA, ANNAS_NUMBER, place), allowed) for place in places)
    assert told == (direct, in_group, in_other_group)


MEMBERS = replace(access(groups={GROUP}), members=frozenset({ANNA}))
WELCOME = replace(MEMBERS, group_members_may_write=True)


# Admins


def test_who_is_an_admin() -> None:
    """By uuid or by a number that is theirs; who may write is no admin for that."""
    listed = {ANNA: True, ANNAS_NUMBER: True, BEN: False, "+15550000002": False, "": False, "*": False}
    for place, (admin, expected) in itertools.product((DIRECT, GROUP), listed.items()):
        allowed = replace(access({"*", ANNA}, {GROUP}), admins=frozenset({admin} - {""}))
        assert is_admin(envelope(ANNA, ANNAS_NUMBER, place), allowed) == expected, admin


# Every kind of envelope, from everybody, everywhere


WHO = {
    "listed": (ANNA, access({ANNA}, {GROUP}), False),
    "unlisted": (ANNA, access({BEN}), False),
    "unknown": (None, access({"*"}, {"*", GROUP}), False),
    "paired": (ANNA, NOBODY, True),
    "member": (ANNA, MEMBERS, False),
    "welcome member": (ANNA, WELCOME, False),
    "not a member": (BEN, WELCOME, False),
    "welcome in every group": (ANNA, replace(WELCOME, groups=frozenset({GROUP, "*"})), False),
    "paired, a group": (ANNA, access(groups={GROUP}), True),
    "paired, every group": (ANNA, access({BEN}, {"*"}), True),
}
OPEN = {
    ("listed", DIRECT),
    ("listed", GROUP),
    ("paired", DIRECT),
    ("member", GROUP),
    ("welcome member", DIRECT),
    ("welcome member", GROUP),
    ("not a member", GROUP),
    ("welcome in every group", DIRECT),
    ("welcome in every group", GROUP),
    ("paired, a group", DIRECT),
    ("paired, a group", GROUP),
    ("paired, every group", DIRECT),
}


@pytest.mark.parametrize("who", WHO)
def test_every_kind_passes_the_same_gate(who: str) -> None:
    """Messages, edits, deletions, reactions, timers: no one gets in by another kind; what is not open is closed, also
    to the account itself on another device, and to an author who is not known.
    """
    author, allowed, is_approved = WHO[who]
    for place, kind in itertools.product((DIRECT, GROUP, OTHER_GROUP), Kind):
        given = replace(envelope(author, None, place), kind=kind)
        assert may_write(given, allowed, is_approved=is_approved) == ((who, place) in OPEN), (place, kind)
        assert not may_write(replace(given, from_self=True), allowed, is_approved=is_approved)
        assert not may_write(replace(given, chat=None), allowed, is_approved=is_approved)


OWN = AccessList(persons=frozenset({"*"}), groups=frozenset({GROUP, "*"}), admins=frozenset({ANNA}), note_to_self=True)


@pytest.mark.parametrize("kind", list(Kind))
def test_in_a_persons_own_account_only_notes_to_self_come_in(kind: Kind) -> None:
    """Whatever is listed besides; the owner is an admin there, and nobody else is one anywhere."""
    note = replace(envelope(BEN, None, from_self=True), kind=kind)
    assert may_write(note, OWN)
    assert is_admin(note, OWN)
    for other in (
        envelope(ANNA, ANNAS_NUMBER),
        envelope(ANNA, None, GROUP),
        replace(note, chat=ChatId(f"group:{GROUP}")),
        replace(note, chat=ChatId(f"direct:{ANNA}")),
        replace(note, author=None),
        replace(note, chat=None),
    ):
        assert not may_write(other, OWN, is_approved=True)
    assert not is_admin(envelope(ANNA, ANNAS_NUMBER), OWN)
    assert not is_admin(envelope(ANNA, None, from_self=True), replace(OWN, note_to_self=False))
