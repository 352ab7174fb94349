"""The people: let in and put out again, numbers that stay with their account, and a file that names nobody."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

import pytest

from store import Store
from store.people import People
from tests.conftest import NOON

T = TypeVar("T")

ACCOUNT, OTHER_ACCOUNT = "+15550100001", "+15550100009"
ADMIN = "ad000000-0000-4000-8000-000000000001"
MALLORY = "3a110000-0000-4000-8000-0000000000d1"
TRUDY = "72dd0000-0000-4000-8000-0000000000e1"
NUMBER, OTHER_NUMBER = "+15550100666", "+15550100777"
LATER = NOON + timedelta(days=1)


async def on(store: Store, work: Callable[[People], T]) -> T:
    return await store.transaction(lambda repos: work(repos.people))


@pytest.fixture
async def let_in(store: Store) -> Store:
    """A store in which Mallory was let in by the admin, at noon."""
    await on(store, lambda people: people.allow(MALLORY, account=ACCOUNT, by=ADMIN, now=NOON))
    return store


async def test_letting_in_again_keeps_the_first_time(let_in: Store) -> None:
    """When and by whom is kept with each person; the list is in the order of time."""
    await on(let_in, lambda people: people.allow(MALLORY, account=ACCOUNT, by=TRUDY, now=LATER))
    await on(let_in, lambda people: people.allow(TRUDY, account=ACCOUNT, by=MALLORY, now=LATER))
    first, second = await on(let_in, lambda people: people.approvals())
    labels = [await on(let_in, lambda people, who=who: people.label(who, account=ACCOUNT)) for who in (MALLORY, ADMIN)]
    assert [first.label, first.by] == labels
    assert (first.at, second.at, second.by) == (NOON, LATER, first.label)


@pytest.mark.parametrize("by_label", [False, True])
async def test_only_who_was_let_in_is_in(let_in: Store, by_label: bool) -> None:
    """No one else, not under another account of ours, and not once put out, by who it is or by the label."""

    async def is_in(who: str, account: str = ACCOUNT) -> bool:
        return await on(let_in, lambda people: people.is_allowed(who, account=account))

    assert [await is_in(MALLORY), await is_in(TRUDY), await is_in(MALLORY, OTHER_ACCOUNT)] == [True, False, False]
    await on(let_in, lambda people: people.allow(TRUDY, account=ACCOUNT, by=ADMIN, now=NOON))
    label = await on(let_in, lambda people: people.label(MALLORY, account=ACCOUNT))
    name = label.upper() if by_label else MALLORY
    assert [await on(let_in, lambda people: people.deny(name, account=ACCOUNT)) for _ in range(2)] == [True, False]
    assert [await is_in(MALLORY), await is_in(TRUDY)] == [False, True]


async def test_a_number_stays_with_the_account_that_came_with_it_first(store: Store) -> None:
    """Another account with the same number is refused until the operator confirms it; hidden, it is still theirs."""

    async def pin(who: str, now: datetime, *, is_confirmed: bool = False) -> bool:
        return await on(store, lambda people: people.pin(NUMBER, who, now=now, is_confirmed=is_confirmed))

    assert [await pin(*each) for each in ((MALLORY, NOON), (MALLORY, LATER), (TRUDY, LATER))] == [True, True, False]
    asked: list[tuple[str, set[str]]] = [
        *((MALLORY, {NUMBER, OTHER_NUMBER}), (MALLORY, {OTHER_NUMBER}), (TRUDY, {NUMBER}), (MALLORY, set())),
    ]
    told = [await on(store, lambda people, who=who, of=of: people.number_of(who, of)) for who, of in asked]
    assert told == [NUMBER, None, None, None]
    assert await pin(TRUDY, LATER, is_confirmed=True)
    assert not await pin(MALLORY, LATER)


async def test_a_new_key_is_known_until_it_is_trusted(store: Store) -> None:
    """The same one keeps its time, a second one is news; trusted, it comes back as known, but not as told."""
    await on(store, lambda people: people.suspect(MALLORY, "key-2", account=ACCOUNT, now=NOON))
    await on(store, lambda people: people.identity_told(MALLORY, account=ACCOUNT, now=NOON))
    await on(store, lambda people: people.suspect(MALLORY, "key-2", account=ACCOUNT, now=LATER))
    [found] = await on(store, lambda people: people.new_identities())
    assert (found.since, found.label) == (NOON, await on(store, lambda people: people.label(MALLORY, account=ACCOUNT)))
    assert await on(store, lambda people: people.is_identity_told(MALLORY, account=ACCOUNT))
    await on(store, lambda people: people.suspect(MALLORY, "key-3", account=ACCOUNT, now=LATER))
    [again] = await on(store, lambda people: people.new_identities())
    assert again.since == LATER
    assert not await on(store, lambda people: people.is_identity_told(MALLORY, account=ACCOUNT))
    await on(store, lambda people: people.trust(found.label))
    assert await on(store, lambda people: people.new_identities()) == ()


async def test_a_key_that_was_trusted_is_forgotten_in_time(store: Store) -> None:
    """One that is not trusted stays."""
    for person in (MALLORY, TRUDY):
        await on(store, lambda people, person=person: people.suspect(person, "key-1", account=ACCOUNT, now=NOON))
    label = await on(store, lambda people: people.label(TRUDY, account=ACCOUNT))
    await on(store, lambda people: people.trust(label))
    await on(store, lambda people: people.prune(before=LATER))
    assert await on(store, lambda people: people.rows("SELECT count(*) FROM identities")) == [(1,)]
