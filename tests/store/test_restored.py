"""A backup that is the store: it says so until somebody decides what becomes of what was open in it."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from store import (
    Repositories,
    Restoration,
    Store,
    StoreInUse,
    Waiting,
    copy_closed,
    is_undecided,
    open_store,
    restore,
    schema_of,
)
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.lives import LATER, asked, taken
from tests.store.places import keys_of
from tests.store.places import replace as replace_content

HOUR = timedelta(hours=1)
NOTHING = Waiting(items=0, oldest_at=None, dead=0)
EARLIER = 37
"""A schema with the same tables."""


async def restoration(path: Path) -> Restoration | None:
    async with open_store(path, realm="signal") as store:
        return await store.read(lambda repos: repos.restored.restoration())


async def copied(path: Path, folder: Path) -> Path:
    async with open_store(path, realm="signal") as store:
        await asked(store, "direct:a", 1)
        return await store.backup(folder, now=NOON)


class TestTheMark:
    async def test_a_backup_is_born_with_it_and_the_store_has_none(self, path: Path, tmp_path: Path) -> None:
        """Whoever puts the files in place by hand has the same question to answer."""
        copy = await copied(path, tmp_path / "copies")
        assert (await restoration(path), is_undecided(path)) == (None, False)
        for part, target in ((copy, path), (keys_of(copy), keys_of(path))):
            part.replace(target)
        assert is_undecided(path)
        assert await restoration(path) == Restoration(copied_at=NOON, restored_at=None)

    async def test_a_restored_store_has_it(self, path: Path, tmp_path: Path) -> None:
        """With the time when it was restored; a backup of such a store, too, until it is decided."""
        copy = await copied(path, tmp_path / "copies")
        restore(copy, path, now=NOON + HOUR)
        assert is_undecided(path)
        assert await restoration(path) == Restoration(copied_at=NOON, restored_at=NOON + HOUR)
        async with open_store(path, realm="signal") as store:
            again = await store.backup(tmp_path / "again", now=NOON + 2 * HOUR)
            place = await store.conversation("direct:a", now=NOON)

            def allow(repos: Repositories) -> None:
                repos.grants.allow(place, "alice", tool="post", shape="s", now=NOON)

            await store.transaction(allow)
            await store.transaction(lambda repos: repos.restored.decide())
            # It may have been taken back since the backup.
            assert await store.read(lambda repos: repos.grants.of(place, "alice")) == ()
        assert not is_undecided(path)
        assert is_undecided(again)

    async def test_a_copy_of_an_older_store_can_be_restored(self, path: Path, tmp_path: Path) -> None:
        """As `aldis upgrade-check` does before an upgrade: the copy is marked, whatever schema it has."""
        async with open_store(path, realm="signal") as store:
            await asked(store, "direct:a", 1)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {EARLIER}")
        copy = copy_closed(path, tmp_path / "copies", now=NOON)
        assert schema_of(copy) == EARLIER
        restore(copy, path, now=NOON + HOUR)
        assert await restoration(path) == Restoration(copied_at=NOON, restored_at=NOON + HOUR)

    async def test_there_is_none_where_there_is_no_store(self, path: Path) -> None:
        """A new one has nothing to decide; what is no database is told by whoever opens it; one in use is told."""
        assert not is_undecided(path)
        assert await restoration(path) is None
        broken = path.with_name("broken.db")
        replace_content(broken, b"no database" * 1000)
        assert not is_undecided(broken)
        async with open_store(path, realm="signal"):
            with pytest.raises(StoreInUse):
                is_undecided(path)


class TestWhatIsOpen:
    async def test_it_is_counted_with_its_age(self, store: Store) -> None:
        """In both realms; kinds that are carried out in any case are no part of it."""
        await asked(store, "direct:a", 1)
        await asked(store, "direct:b", 2)
        conversation = await store.conversation("direct:a", now=NOON)
        deletion = replace(arrival(conversation, 3, urgent=True), kind="delete", received_at=NOON - HOUR)
        await store.transaction(lambda repos: repos.inbox.put(deletion))
        await store.transaction(answer)

        def counted(repos: Repositories) -> tuple[Waiting, Waiting]:
            return repos.restored.messages(besides=("delete",)), repos.restored.replies()

        one = Waiting(items=1, oldest_at=NOON, dead=0)
        assert await store.read(counted) == (one, one)

    async def test_what_is_closed_is_neither_answered_nor_sent(self, store: Store) -> None:
        """Its words go, and the steps of a turn that was under way; a deletion stays to be carried out."""
        for number in (1, 2, 3):
            await asked(store, f"direct:{number}", number)
        conversation = await store.conversation("direct:a", now=NOON)
        deletion = replace(arrival(conversation, 4, urgent=True), kind="delete")
        await store.transaction(lambda repos: repos.inbox.put(deletion))

        def begin(repos: Repositories) -> None:
            answer(repos)
            place, turn = taken(repos)
            repos.journal.add(place, turn, 0, b"a step")

        await store.transaction(begin)
        await store.transaction(lambda repos: repos.outbox.begin(now=LATER, limit=1))
        await store.transaction(lambda repos: repos.restored.close(besides=("delete",), now=LATER))

        def left(repos: Repositories) -> None:
            assert repos.restored.messages(besides=("delete",)) == NOTHING
            assert repos.restored.replies() == NOTHING
            assert repos.inbox.claim(now=LATER, until=LATER, busy=()) is None
            assert len(repos.inbox.urgent_items(besides=())) == 1
            assert repos.outbox.begin(now=LATER + HOUR, limit=9) == ()
            assert repos.inbox.rows("SELECT count(*) FROM journal") == [(0,)]
            assert repos.inbox.rows("SELECT DISTINCT state FROM turns") == [("ignored",)]
            words = "SELECT count(*) FROM inbox WHERE envelope IS NOT NULL UNION ALL SELECT count(*) FROM outbox "
            assert repos.inbox.rows(words + "WHERE reply IS NOT NULL") == [(1,), (0,)]

        await store.transaction(left)


def answer(repos: Repositories) -> None:
    """A message is answered, and the answer waits to be sent."""
    place, turn = taken(repos)
    repos.outbox.put(place, turn, 0, b"an answer", in_group=False, now=NOON)
    repos.journal.close(turn, "ignored", now=NOON)
    repos.inbox.done(turn)
