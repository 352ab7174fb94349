"""The schema: a new file gets the newest, a newer one is refused, a step that fails leaves the one before it."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from store import KeptTime, Repositories, SchemaTooNew, open_store
from store.migrations import NEWEST, migrate, version_of
from tests.conftest import NOON
from tests.store.earlier import earlier_store
from tests.store.places import contents, execute

EARLIER_ROWS = """
    INSERT INTO conversations (id, realm, handle, created_at) VALUES (3, 'signal', x'01', 1);
    INSERT INTO turns (id, conversation_id, state, started_at) VALUES (8, 3, 'kept', 1), (9, 3, 'kept', 1);
    DELETE FROM turns WHERE id = 9;
    INSERT INTO outbox (conversation_id, turn_id, position, in_group, state, due_at, attempted_at, sent_at)
    VALUES (3, 8, 0, 0, 'sent', 4, 5, 6);
    INSERT INTO ledger (turn_id, at, kind, name, outcome, cost_usd) VALUES (8, 1, 'tool', 'x', 'ok', '2');
"""


@pytest.fixture
def connection() -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection


def definitions(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


async def test_every_earlier_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """With what was kept in it, under the same numbers, and to the same tables as a new store has."""
    with closing(sqlite3.connect(":memory:")) as model:
        migrate(model)
        wanted = definitions(model)
    for number in (*range(1, NEWEST, 4), 4, 14, 28, 35, 36, 38, 39, 40):
        path = tmp_path / f"{number}" / "aldis.db"
        with earlier_store(path, number) as (connection, _):
            connection.executescript(EARLIER_ROWS)

        def kept(repos: Repositories) -> tuple[object, ...]:
            return (
                repos.ledger.rows("SELECT name, cost_usd, turn_id FROM ledger"),
                repos.turns.rows("SELECT id, state FROM turns"),
                repos.turns.value("SELECT seq FROM sqlite_sequence WHERE name = 'turns'"),
                definitions(repos.turns._connection),
                repos.turns.rows("PRAGMA foreign_key_check"),
            )

        async with open_store(path, realm="signal") as store:
            assert await store.read(kept) == ([("x", "2", 8)], [(8, "kept")], 9, wanted, []), number


OWN_TIME = """
    INSERT INTO conversations (id, realm, handle, created_at) VALUES (3, 'signal', x'01', 1);
    INSERT INTO turns (id, conversation_id, state, started_at) VALUES (8, 3, 'kept', 1);
    INSERT INTO outbox (id, conversation_id, turn_id, position, in_group, state, due_at, reply)
    VALUES (1, 3, 8, 0, 0, 'unknown', 4, x'00'), (2, 3, 8, 1, 0, 'waiting', 4, x'00');
    INSERT INTO attempts (outbox_id, begun_at, ahead_ms) VALUES (1, 3, 3600000);
    INSERT INTO receipts (target, person, ahead_ms, came_at) VALUES (2, x'01', 3600000, 3);
    INSERT INTO own_time (id, boot, counted_ns, wall_ns, own_ns) VALUES (1, 'boot', 5, 100, 3600000000100);
"""


@pytest.mark.parametrize("number", [35, 38])
async def test_a_time_that_was_ahead_counts_as_a_clock_set_back(path: Path, number: int) -> None:
    """Own time, which earlier Aldis went by, becomes the last known time: what waits by it moves at the next look."""
    with earlier_store(path, number) as (connection, _):
        connection.executescript(OWN_TIME)

    def moved(repos: Repositories) -> list[list[tuple[object, ...]]]:
        assert repos.last_time.last() == KeptTime(
            boot="boot", counted_ns=5, wall_ns=3_600_000_000_100, believed_ns=3_600_000_000_100
        )
        repos.outbox.put_off_all(timedelta(hours=-1), now=NOON)
        return [
            repos.outbox.rows("SELECT due_at FROM outbox"),
            repos.outbox.rows("SELECT begun_at FROM attempts"),
            repos.outbox.rows("SELECT target, came_at FROM receipts"),
        ]

    hour = 3_600_000
    async with open_store(path, realm="signal") as store:
        rows = await store.transaction(moved)
    assert rows == [[(4 - hour,), (4 - hour,)], [(3 - hour,)], [(2, 3)]]


def test_every_table_is_strict(connection: sqlite3.Connection) -> None:
    """A value of the wrong type is refused instead of being kept as whatever it is."""
    migrate(connection)
    strict = {
        name: strict for _, name, kind, _, _, strict in connection.execute("PRAGMA main.table_list") if kind == "table"
    }
    assert {name for name, is_strict in strict.items() if not is_strict} <= {"sqlite_schema", "sqlite_sequence"}
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT"):
        connection.execute("INSERT INTO conversations (realm, handle, created_at) VALUES ('signal', x'00', 'noon')")


async def test_a_newer_store_is_left_as_it_is(path: Path) -> None:
    """Not a byte of its files is changed, so that the newer Aldis still opens it."""
    async with open_store(path, realm="signal"):
        pass
    execute(path, f"PRAGMA user_version = {NEWEST + 1}")
    before = contents(path)
    with pytest.raises(SchemaTooNew):
        async with open_store(path, realm="signal"):
            pass
    assert contents(path) == before


def test_a_step_that_fails_leaves_the_schema_before_it(connection: sqlite3.Connection) -> None:
    """Half a step is no schema: the number stays, the tables made until then are gone, no transaction is open."""
    connection.execute("CREATE TABLE ledger (something TEXT)")  # the step's last table stands in its way
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection)
    assert (version_of(connection), set(definitions(connection))) == (0, {"ledger"})
    assert not connection.in_transaction
    connection.execute("DROP TABLE ledger")
    migrate(connection)
    assert version_of(connection) == NEWEST


async def test_articles_of_an_earlier_schema_are_found(path: Path) -> None:
    """By the index, which is made anew."""
    index = (
        "CREATE VIRTUAL TABLE article_words USING fts5 (title, summary, content = 'articles', content_rowid = 'id', "
        "tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    with earlier_store(path, 40) as (connection, _):
        connection.executescript(f"""
            {index};
            INSERT INTO feeds (id, given, is_set, url) VALUES (2, 'a', 0, 'a');
            INSERT INTO articles (id, feed_id, key, title, summary, published_at, is_dated, is_listed)
            VALUES (7, 2, 'k', 'Lamps', 'They flash.', 5, 1, 1);
            INSERT INTO article_words (rowid, title, summary) VALUES (7, 'Lamps', 'They flash.');
        """)

    def found(repos: Repositories) -> list[str]:
        repos.feeds.execute("INSERT INTO article_words (article_words, rank) VALUES ('integrity-check', 1)")
        since = NOON - timedelta(days=99999)
        return [one.title for one in repos.feeds.search("lamp flashes", since=since, now=NOON, limit=2)[0]]

    for _ in range(2):
        async with open_store(path, realm="signal") as store:
            assert await store.transaction(found) == ["Lamps"]
