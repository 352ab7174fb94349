"""Who may write: nobody who is not listed, and nobody by the way of a group that was not opened."""

import itertools
from dataclasses import replace

from bot.access.access import AccessList, is_admin, may_write
from bot.events import ChatId, Envelope, Kind, PersonId, SentId

ANNA = PersonId("11111111-1111-4111-8111-111111111111")
ANNAS_NUMBER = "+15550000001"
BEN = PersonId("22222222-2222-4222-8222-222222222222")
GROUP = "Z3JvdXAgb25l+/=="
OTHER_GROUP = "z3jvdxagb25L+/=="  # the same letters in another case
DIRECT = "direct"


def envelope(author: PersonId | None, number: str | None, place: str = DIRECT, *, from_self: bool = False) -> Envelope:
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


MEMBERS = replace(access(groups={GROUP}), members=frozenset({ANNA}))
WELCOME = replace(MEMBERS, group_members_may_write=True)
WHO: tuple[tuple[PersonId | None, AccessList, set[str]], ...] = (
    (ANNA, access(), set()),
    (ANNA, access({ANNA}), {DIRECT}),
    (ANNA, access({ANNAS_NUMBER}), {DIRECT}),
    (ANNA, access({ANNAS_NUMBER + "0", ANNAS_NUMBER[1:]}), set()),
    (ANNA, access({"*"}), {DIRECT}),
    (ANNA, access({BEN}), set()),
    (ANNA, access(groups={GROUP}), {GROUP}),
    (ANNA, access({BEN}, {GROUP}), {GROUP}),
    (ANNA, access({ANNA}, {GROUP}), {DIRECT, GROUP}),
    (ANNA, access({ANNA}, {"*"}), {DIRECT, GROUP, OTHER_GROUP}),
    (ANNA, access({ANNAS_NUMBER}, {"*"}), {DIRECT, GROUP, OTHER_GROUP}),
    (ANNA, access({BEN}, {"*"}), set()),
    (ANNA, access(groups={"*"}), set()),
    (ANNA, access({"*"}, {"*"}), {DIRECT, GROUP, OTHER_GROUP}),
    (ANNA, access({BEN}, {GROUP, "*"}), {GROUP}),
    (ANNA, access({GROUP}), set()),
    (ANNA, access(groups={ANNA}), set()),
    (None, access({"*"}, {"*", GROUP}), set()),
    (ANNA, MEMBERS, {GROUP}),
    (ANNA, WELCOME, {DIRECT, GROUP}),
    (BEN, WELCOME, {GROUP}),
    (ANNA, replace(WELCOME, groups=frozenset({GROUP, "*"})), {DIRECT, GROUP}),
)
LET_IN: tuple[tuple[PersonId | None, AccessList, set[str]], ...] = (
    (ANNA, access(), {DIRECT}),
    (ANNA, access(groups={GROUP}), {DIRECT, GROUP}),
    (ANNA, access({BEN}, {"*"}), {DIRECT}),
)


def test_who_may_write_where() -> None:
    """Whatever the kind of envelope: what is not open is closed, also to the account itself and to unknown authors."""
    for kind in list(Kind):
        for rows, is_approved in ((WHO, False), (LET_IN, True)):
            for author, allowed, places in rows:
                for place in (DIRECT, GROUP, OTHER_GROUP):
                    number = ANNAS_NUMBER if author == ANNA else None
                    given = replace(envelope(author, number, place), kind=kind)
                    is_open = may_write(given, allowed, is_approved=is_approved)
                    assert is_open == (place in places), (author, allowed, place)
                    assert not may_write(replace(given, from_self=True), allowed, is_approved=is_approved)
                    assert not may_write(replace(given, chat=None), allowed, is_approved=is_approved)


def test_who_is_an_admin() -> None:
    """By uuid or by a number that is theirs; who may write is no admin for that."""
    listed = {ANNA: True, ANNAS_NUMBER: True, BEN: False, "+15550000002": False, "": False, "*": False}
    for place, (admin, expected) in itertools.product((DIRECT, GROUP), listed.items()):
        allowed = replace(access({"*", ANNA}, {GROUP}), admins=frozenset({admin} - {""}))
        assert is_admin(envelope(ANNA, ANNAS_NUMBER, place), allowed) == expected, admin


OWN = AccessList(persons=frozenset({"*"}), groups=frozenset({GROUP, "*"}), admins=frozenset({ANNA}), note_to_self=True)


def test_in_a_persons_own_account_only_notes_to_self_come_in() -> None:
    """Whatever is listed besides; the owner is an admin there, and nobody else is one anywhere."""
    for kind in list(Kind):
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
