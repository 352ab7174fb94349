"""What follows in the same commit: done with what gives reason to it, never at its cost; and patient units."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from store import Repositories, Store, StoreError, open_store
from tests.waiting import eventually

DEFERRED = "CREATE TABLE tied (word TEXT REFERENCES words (word) DEFERRABLE INITIALLY DEFERRED) STRICT"
TABLE = "CREATE TABLE words (word TEXT PRIMARY KEY) STRICT"


def says(word: str, *names: str) -> Callable[[Repositories], str]:
    """The work of keeping a word and waking loops; it gives the word."""

    def say(repos: Repositories) -> str:
        repos.inbox.execute("INSERT INTO words (word) VALUES (?)", (word,))
        for name in names:
            repos.inbox.notify(name)
        return word

    return say


@pytest.fixture
async def commits(store: Store) -> list[str]:
    """The commits from now on; there is a table of words."""
    await store.transaction(lambda repos: repos.inbox.execute(TABLE))
    statements: list[str] = []
    await store.read(lambda repos: repos.inbox._connection.set_trace_callback(statements.append))
    for wakeup in store.wakeups.values():
        wakeup.clear()
    return statements


async def words(store: Store) -> list[str]:
    rows = await store.read(lambda repos: repos.inbox.rows("SELECT word FROM words ORDER BY rowid"))
    return [word for (word,) in rows]


async def test_it_is_done_in_the_commit_that_would_wake_the_loop(store: Store, commits: list[str]) -> None:
    """One commit; whoever follows is told before the caller, and the loop is not woken besides."""
    told: list[str] = []
    async with store.following("inbox", lambda: says("claimed"), told.append):
        await store.transaction(says("arrived", "inbox", "urgent"))
        assert told == ["claimed"]
        assert (store.wakeups["inbox"].is_set(), store.wakeups["urgent"].is_set()) == (False, True)
        await store.transaction(says("other"))
    assert told == ["claimed"]
    assert await words(store) == ["arrived", "claimed", "other"]
    assert commits.count("COMMIT") == 2


async def test_it_is_done_once_for_units_that_share_a_commit(store: Store, commits: list[str]) -> None:
    """As one look at the queue finds all that waits."""
    told: list[str] = []
    async with store.following("inbox", lambda: says("claimed"), told.append):
        await asyncio.gather(*(store.transaction(says(word, "inbox")) for word in "abc"))
    assert (told, await words(store)) == (["claimed"], ["a", "b", "c", "claimed"])


@pytest.mark.parametrize("follow", [lambda: None, lambda: lambda _: None, lambda: lambda _: 1 // 0])
async def test_the_bell_rings_where_nothing_was_done(
    store: Store, commits: list[str], follow: Callable[[], Callable[[Repositories], str | None] | None]
) -> None:
    """Nobody follows just now, there was nothing to be done, or it failed: what it followed is kept all the same."""
    told: list[str] = []
    async with store.following("inbox", follow, told.append):
        assert await store.transaction(says("arrived", "inbox")) == "arrived"
        assert store.wakeups["inbox"].is_set()
    assert (told, await words(store)) == ([], ["arrived"])


async def test_what_fails_the_whole_commit_is_left_out_of_it(store: Store, commits: list[str]) -> None:
    """As where there is room for an arrival and none for its claim: the arrival is kept, and the loop is woken."""
    await store.transaction(lambda repos: repos.inbox.execute(DEFERRED))

    def fail(repos: Repositories) -> str:
        repos.inbox.execute("INSERT INTO tied (word) VALUES ('nowhere')")
        return "done"

    told: list[str] = []
    async with store.following("inbox", lambda: fail, told.append):
        assert await store.transaction(says("arrived", "inbox")) == "arrived"
        assert store.wakeups["inbox"].is_set()
    assert (told, await words(store)) == ([], ["arrived"])


async def test_nothing_follows_what_was_not_kept(store: Store, commits: list[str]) -> None:
    """A unit that failed gives no reason."""
    told: list[str] = []

    def fail(repos: Repositories) -> None:
        says("gone", "inbox")(repos)
        raise LookupError

    async with store.following("inbox", lambda: says("claimed"), told.append):
        with pytest.raises(LookupError):
            await store.transaction(fail)
    assert (told, await words(store)) == ([], [])


async def test_whoever_stops_following_is_told_of_the_last(store: Store, commits: list[str]) -> None:
    """A commit under way is waited for: what was claimed in it is not forgotten."""
    told: list[str] = []
    async with store.following("inbox", lambda: says("claimed"), told.append):
        arriving = asyncio.create_task(store.transaction(says("arrived", "inbox")))
        await eventually(lambda: bool(commits))
    assert told == ["claimed"]
    await arriving


async def test_a_patient_unit_goes_with_the_next(store: Store, commits: list[str]) -> None:
    """In the order in which they came, in one commit."""
    patient = asyncio.create_task(store.transaction(says("sent"), max_delay_seconds=3600))
    await asyncio.sleep(0)
    await store.transaction(says("arrived"))
    assert await patient == "sent"
    assert await words(store) == ["sent", "arrived"]
    assert commits.count("COMMIT") == 1


async def test_patience_ends(store: Store, commits: list[str]) -> None:
    """Where nothing else is written it has a commit of its own."""
    assert await store.transaction(says("sent"), max_delay_seconds=0.01) == "sent"
    assert await words(store) == ["sent"]


@pytest.mark.parametrize("comes_last", [True, False])
async def test_what_is_patient_is_kept_when_the_store_closes(path: Path, *, comes_last: bool) -> None:
    """Nothing that was handed over is lost by an orderly end, also behind a commit that is under way."""
    async with open_store(path, realm="signal") as store:
        await store.transaction(lambda repos: repos.inbox.execute(TABLE))
        arriving = [asyncio.create_task(store.transaction(says("arrived")))] if comes_last else []
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        patient = asyncio.create_task(store.transaction(says("sent"), max_delay_seconds=3600))
        await asyncio.sleep(0)
    assert await patient == "sent"
    await asyncio.gather(*arriving)
    async with open_store(path, realm="signal") as store:
        assert "sent" in await words(store)


async def test_a_closed_store_has_no_patience(path: Path) -> None:
    """It says so."""
    async with open_store(path, realm="signal") as store:
        pass
    with pytest.raises(StoreError):
        await store.transaction(says("late"), max_delay_seconds=1)
