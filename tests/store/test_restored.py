"""A backup that becomes the store: what was open in it is closed once."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from store import Repositories, Store, copy_closed, open_store, restore, schema_of
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.lives import LATER, asked, taken

HOUR = timedelta(hours=1)
EARLIER = 37
"""A schema with the same tables."""


async def is_copy(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM restored").fetchone() == (1,)


async def test_a_copy_is_marked_until_it_is_closed(path: Path, tmp_path: Path) -> None:
    """Both from its making, as files may be put in place by hand, and by a restore, whatever its schema."""
    async with open_store(path, realm="signal") as store:
        await asked(store, "direct:a", 1)
        copy = await store.backup(tmp_path / "copies", now=NOON)
    assert (await is_copy(path), await is_copy(copy)) == (False, True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {EARLIER}")
    copy = copy_closed(path, tmp_path / "copies", now=NOON)
    assert schema_of(copy) == EARLIER
    restore(copy, path, now=NOON + HOUR)
    assert await is_copy(path)
    async with open_store(path, realm="signal") as store:
        place = await store.conversation("direct:a", now=NOON)

        def close(repos: Repositories) -> int:
            repos.grants.allow(place, "alice", tool="post", shape="s", now=NOON)
            return repos.restored.close(besides=(), now=NOON)

        assert await store.transaction(close) == 1
        # It may have been taken back since the backup.
        assert await store.read(lambda repos: repos.grants.of(place, "alice")) == ()
    assert not await is_copy(path)


async def test_what_is_closed_is_neither_answered_nor_sent(store: Store) -> None:
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
    assert await store.transaction(lambda repos: repos.restored.close(besides=("delete",), now=LATER)) == 3

    def left(repos: Repositories) -> None:
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
