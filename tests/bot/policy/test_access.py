"""Who may write: nobody who is not listed, and nobody by the way of a group that was not opened."""

from itertools import product

import pytest

from bot.events import ChatId, Envelope, Kind, PersonId, SentId
from bot.policy.access import AccessList, may_write

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
        (access({"*"}), True, False, False),
        (access({BEN}), False, False, False),
        (access({BEN, "+15550000002"}), False, False, False),
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
    ids=[
        "nobody is listed",
        "listed by uuid",
        "listed by number",
        "everybody",
        "somebody else is listed",
        "somebody else by number",
        "the group is listed",
        "the group is listed, somebody else too",
        "the group and the person are listed",
        "every group, for the listed",
        "every group, for those listed by number",
        "every group, somebody else listed",
        "every group, nobody listed",
        "everybody everywhere",
        "one group for all, every group for others",
        "a group's id among the persons",
        "a person's id among the groups",
    ],
)
def test_who_may_write_where(allowed: AccessList, direct: bool, in_group: bool, in_other_group: bool) -> None:
    """Anna, whose number is known, in her direct chat, in a group, and in one whose id differs by case only."""
    places = (DIRECT, GROUP, OTHER_GROUP)
    told = tuple(may_write(envelope(ANNA, ANNAS_NUMBER, place), allowed) for place in places)
    assert told == (direct, in_group, in_other_group)


@pytest.mark.parametrize("number", [None, "+15550000002", ANNAS_NUMBER + "0", ANNAS_NUMBER[1:]])
def test_a_number_on_the_list_means_that_number_only(number: str | None) -> None:
    """Not a hidden one, not another, not one that only looks like it."""
    assert not may_write(envelope(ANNA, number), access({ANNAS_NUMBER}))
    assert may_write(envelope(ANNA, number), access({ANNAS_NUMBER, ANNA}))


PERSONS: tuple[set[str], ...] = ({ANNA}, {ANNAS_NUMBER}, {"*"}, {ANNA, "*"})
GROUPS: tuple[set[str], ...] = (set(), {GROUP}, {"*"})
ALL_LISTS = [access(persons, groups) for persons, groups in product(PERSONS, GROUPS)]


@pytest.mark.parametrize("allowed", ALL_LISTS)
@pytest.mark.parametrize("place", [DIRECT, GROUP])
def test_aldis_itself_and_the_unknown_never_may(allowed: AccessList, place: str) -> None:
    """Whatever the list: own messages of another device are nobody's question, and an unknown author is nobody."""
    assert not may_write(envelope(ANNA, ANNAS_NUMBER, place, from_self=True), allowed)
    assert not may_write(envelope(None, None, place), allowed)


@pytest.mark.parametrize("allowed", ALL_LISTS)
def test_a_message_without_a_chat_is_refused(allowed: AccessList) -> None:
    """Where nobody knows where it came from, nobody could be answered."""
    homeless = Envelope(
        account="+15550000000",
        author=ANNA,
        number=ANNAS_NUMBER,
        device=1,
        sent_at=SentId(1),
        kind=Kind.MESSAGE,
        chat=None,
        raw="{}",
    )
    assert not may_write(homeless, allowed)


def test_an_empty_list_says_so() -> None:
    """So that the operator is told that nobody may write yet."""
    assert NOBODY.is_empty
    assert not access({ANNA}).is_empty
    assert not access(groups={GROUP}).is_empty
