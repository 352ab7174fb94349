"""An account is the same under its id as under the number by which an older file knows it."""

import pytest

from store import Repositories
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.sends import place

ID, OTHER_ID = "a1d15000-0000-4000-8000-000000000001", "a1d15000-0000-4000-8000-000000000002"
NUMBER, OTHER_NUMBER = "+15550100001", "+15550100009"
ADMIN, GUEST = "ad000000-0000-4000-8000-000000000001", "3a110000-0000-4000-8000-0000000000d1"


def meet(repos: Repositories, account: str, number: str | None) -> None:
    repos.people.meet(account, number=number)


def put(repos: Repositories, account: str, sent_at: int) -> bool:
    here = place(repos, "direct:anna")
    return repos.inbox.put(arrival(here, sent_at, b"hi", account=account, author="anna")) is not None


def is_in(repos: Repositories, account: str) -> bool:
    return repos.people.is_allowed(GUEST, account=account)


def let_in(repos: Repositories, account: str) -> None:
    repos.people.allow(GUEST, account=account, by=ADMIN, now=NOON)


@pytest.mark.parametrize("has_inbox", [True, False])
def test_what_was_kept_under_a_number_is_the_accounts(repos: Repositories, *, has_inbox: bool) -> None:
    """What came before comes no second time, and who was let in stays in, also when the names of people are all."""
    if has_inbox:
        put(repos, NUMBER, 1)
    let_in(repos, NUMBER)
    before = repos.people.label(GUEST, account=NUMBER)
    meet(repos, ID, NUMBER)
    assert put(repos, ID, 1) is not has_inbox
    assert put(repos, ID, 2)
    assert is_in(repos, ID)
    assert repos.people.label(GUEST, account=ID) == before
    claim = repos.inbox.claim(now=NOON, until=NOON, busy=())
    assert claim is not None
    assert [item.envelope for item in claim.items] == [b"hi", b"hi"]


@pytest.mark.parametrize("first", [NUMBER, None])
@pytest.mark.parametrize("numbers", [(OTHER_NUMBER,), (None,), (None, OTHER_NUMBER, NUMBER)])
def test_it_stays_the_same_with_another_number_or_none(
    repos: Repositories, first: str | None, numbers: tuple[str | None, ...]
) -> None:
    """Also after a restart, when a bridge does not tell the id for once, and when it gets its number later."""
    known = NUMBER if first else ID
    if first is None:
        meet(repos, ID, None)
    put(repos, known, 1)
    let_in(repos, known)
    if first is not None:
        meet(repos, ID, first)
    for number in numbers:
        meet(repos, ID, number)
        assert not put(repos, ID, 1)
        assert is_in(repos, ID)
        if number is not None:
            meet(repos, number, number)
            assert not put(repos, number, 1)
            assert is_in(repos, number)


def test_a_number_that_goes_to_another_account_opens_no_door(repos: Repositories) -> None:
    """A person let in to the one is not let in to the other, and what came for the one may come for the other."""
    put(repos, NUMBER, 1)
    let_in(repos, NUMBER)
    meet(repos, ID, NUMBER)
    assert is_in(repos, NUMBER)
    meet(repos, OTHER_ID, NUMBER)
    assert not is_in(repos, OTHER_ID)
    assert not is_in(repos, NUMBER)
    assert put(repos, OTHER_ID, 1)
    assert is_in(repos, ID)
    assert not put(repos, ID, 1)


def test_a_damaged_name_stops_no_one(repos: Repositories) -> None:
    """The account goes by its id."""
    meet(repos, ID, NUMBER)
    repos.people.execute("UPDATE accounts SET name = zeroblob(40)")
    assert put(repos, ID, 1)
