"""An account is the same under its id as under the number by which an older file knows it."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from store import Repositories, Store, open_store
from tests.arrivals import arrive
from tests.conftest import NOON

ID, OTHER_ID = "a1d15000-0000-4000-8000-000000000001", "a1d15000-0000-4000-8000-000000000002"
NUMBER, OTHER_NUMBER = "+15550100001", "+15550100009"
ADMIN, GUEST = "ad000000-0000-4000-8000-000000000001", "3a110000-0000-4000-8000-0000000000d1"


async def meet(store: Store, account: str, number: str | None) -> None:
    await store.transaction(lambda repos: repos.accounts.meet(account, number=number))


async def put(store: Store, account: str, sent_at: int) -> bool:
    """Let a message for the account arrive; gives whether it is a new one."""
    return await arrive(store, "direct:anna", sent_at, b"hi", account=account, author="anna") is not None


async def is_in(store: Store, account: str) -> bool:
    return await store.read(lambda repos: repos.people.is_allowed(GUEST, account=account))


def let_in(repos: Repositories, account: str) -> None:
    repos.people.allow(GUEST, account=account, by=ADMIN, now=NOON)


@asynccontextmanager
async def older(path: Path, *, has_inbox: bool = True) -> AsyncGenerator[Store]:
    """A file of an Aldis that knew accounts by their numbers: a message came, and somebody was let in."""
    async with open_store(path, realm="signal") as store:
        if has_inbox:
            await put(store, NUMBER, 1)
        await store.transaction(lambda repos: let_in(repos, NUMBER))
    async with open_store(path, realm="signal") as store:
        yield store


@pytest.mark.parametrize("has_inbox", [True, False])
async def test_what_was_kept_under_a_number_is_the_accounts(path: Path, *, has_inbox: bool) -> None:
    """What came before comes no second time, whoever was let in stays in, also when the names of people are all."""
    async with older(path, has_inbox=has_inbox) as store:
        before = await store.read(lambda repos: repos.people.label(GUEST, account=NUMBER))
        await meet(store, ID, NUMBER)
        assert await put(store, ID, 1) is not has_inbox
        assert await put(store, ID, 2)
        assert await is_in(store, ID)
        assert await store.read(lambda repos: repos.people.label(GUEST, account=ID)) == before
        claim = await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=NOON, busy=()))
        assert claim is not None
        assert [item.envelope for item in claim.items] == [b"hi", b"hi"]


@pytest.mark.parametrize("first", [NUMBER, None])
@pytest.mark.parametrize("numbers", [(OTHER_NUMBER,), (None,), (None, OTHER_NUMBER, NUMBER)])
async def test_it_stays_the_same_with_another_number_or_none(
    path: Path, first: str | None, numbers: tuple[str | None, ...]
) -> None:
    """Also after a restart, when a bridge does not tell the id for once, and when it gets its number later."""
    if first is None:
        async with open_store(path, realm="signal") as store:
            await meet(store, ID, None)
            await store.transaction(lambda repos: let_in(repos, ID))
            assert await put(store, ID, 1)
    else:
        async with older(path) as store:
            await meet(store, ID, first)
    for number in numbers:
        async with open_store(path, realm="signal") as store:
            await meet(store, ID, number)
            assert not await put(store, ID, 1)
            assert await is_in(store, ID)
            if number is not None:
                await meet(store, number, number)
                assert not await put(store, number, 1)
                assert await is_in(store, number)


async def test_a_number_that_goes_to_another_account_opens_no_door(path: Path) -> None:
    """Who was let in to the one is not let in to the other, and what came for the one may come for the other."""
    async with older(path) as store:
        await meet(store, ID, NUMBER)
        assert await is_in(store, NUMBER)
        await meet(store, OTHER_ID, NUMBER)
        assert not await is_in(store, OTHER_ID)
        assert not await is_in(store, NUMBER)
        assert await put(store, OTHER_ID, 1)
        assert await is_in(store, ID)
        assert not await put(store, ID, 1)


async def test_a_damaged_name_or_zone_stops_no_one(path: Path) -> None:
    """The account goes by its id, the person by the usual zone; both can be set again."""
    async with open_store(path, realm="signal") as store:
        await meet(store, ID, NUMBER)
        direct = await store.conversation("direct:anna", now=NOON)
        await store.transaction(lambda repos: repos.reminders.keep_zone(direct, "Europe/Berlin"))
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE accounts SET name = zeroblob(40)")
        file.execute("UPDATE zones SET zone = zeroblob(40)")
    async with open_store(path, realm="signal") as store:
        assert await put(store, ID, 1)
        assert await store.read(lambda repos: repos.reminders.zone("direct:anna")) is None
        await store.transaction(lambda repos: repos.reminders.keep_zone(direct, "Europe/Lisbon"))
        assert await store.read(lambda repos: repos.reminders.zone("direct:anna")) == "Europe/Lisbon"
