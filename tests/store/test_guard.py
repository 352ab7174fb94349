"""Whoever writes the database without a key: whatever they change, copy, put in, take out or put back is named, and
lets nobody in.

The attacker is bare SQLite on the file, while Aldis is stopped.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from store import LedgerEntry, Repositories, StoreError, Tampering, open_store, restore
from store.guard import _TABLES, _encode
from store.ledger import FORGED_USD
from store.migrations import migrate
from tests.arrivals import arrive
from tests.conftest import NOON

T = TypeVar("T")

ACCOUNT, NUMBER = "+15550100001", "+15550100666"
ADMIN, ALICE, MALLORY = "ad000000", "a11ce000", "3a110000"
DAY = "2026-11-21"
DEAR = LedgerEntry(kind="model", name="m", outcome="ok", latency_seconds=1, provider="p", cost_usd=Decimal(7))
UNTOUCHED = Tampering()


async def on(path: Path, work: Callable[[Repositories], T]) -> T:
    async with open_store(path, realm="signal") as store:
        return await store.transaction(work)


async def found(path: Path) -> Tampering:
    async with open_store(path, realm="signal") as store:
        return await store.tampering()


def attack(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def let_in(repos: Repositories) -> None:
    repos.people.allow(ALICE, account=ACCOUNT, by=ADMIN, now=NOON)


def is_in(person: str) -> Callable[[Repositories], bool]:
    return lambda repos: repos.people.is_allowed(person, account=ACCOUNT)


def spent(repos: Repositories) -> Decimal:
    [total] = repos.ledger.totals(None, None, (DAY,))
    return total.spending.cost_usd


@pytest.fixture
async def kept(path: Path) -> Path:
    """A store in which Alice was let in and has a number, Mallory a safety number that is not trusted, 7 dollars
    were spent, Alice has allowed a tool for good, a service was asked once, and a server has a tool.
    """
    async with open_store(path, realm="signal") as store:
        conversation = await store.conversation("direct:alice", now=NOON)

        def work(repos: Repositories) -> None:
            let_in(repos)
            repos.people.pin(NUMBER, ALICE, now=NOON)
            repos.people.suspect(MALLORY, "new key", account=ACCOUNT, now=NOON)
            turn = repos.turns.newest(conversation)
            repos.ledger.add(conversation, turn, None, (DEAR,), now=NOON, periods=(DAY,))
            repos.grants.allow(conversation, ALICE, tool="post", shape="s", now=NOON)
            assert repos.quotas.take("search", "2026-11", amount=1, limit=3)
            repos.tool_shapes.keep("crm_post", "old", now=NOON)

        await store.transaction(work)
    assert await found(path) == UNTOUCHED
    return path


async def test_what_aldis_writes_holds(kept: Path) -> None:
    """Every way of writing these rows, over restarts; nothing is named."""

    def more(repos: Repositories) -> None:
        people = repos.people
        people.allow(MALLORY, account=ACCOUNT, by=ADMIN, now=NOON)
        people.deny(ALICE, account=ACCOUNT)
        people.pin(NUMBER, MALLORY, now=NOON)
        people.pin(NUMBER, MALLORY, now=NOON, is_confirmed=True)
        people.suspect(MALLORY, "newer key", account=ACCOUNT, now=NOON)
        people.identity_told(MALLORY, account=ACCOUNT, now=NOON)
        people.trust(people.label(MALLORY, account=ACCOUNT), is_verified=True)
        people.verify(ALICE, "key", account=ACCOUNT)
        people.prune(before=NOON)
        repos.ledger.prune(now=NOON)

    await on(kept, more)
    assert await found(kept) == UNTOUCHED
    assert await on(kept, is_in(MALLORY))
    assert await on(kept, spent) == 7


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE people SET allowed_by = x'00'",
        "INSERT INTO people VALUES (x'01', 0, x'02', NULL)",
        "INSERT INTO people SELECT x'01', allowed_at, allowed_by, mac FROM people",
        "INSERT INTO people SELECT number, pinned_at, person, mac FROM pins",
        "UPDATE people SET mac = NULL",
        "UPDATE people SET mac = zeroblob(32)",
        "UPDATE people SET person = x'77'",
    ],
)
async def test_nobody_lets_themselves_in(kept: Path, statement: str) -> None:
    """By a row of their own, a row of another's, or somebody else's MAC."""
    attack(kept, statement)
    tampering = await found(kept)
    assert tampering.forged == {"people": 1}
    label = await on(kept, lambda repos: repos.people.label(ALICE, account=ACCOUNT))
    assert [one.label for one in await on(kept, lambda repos: repos.people.approvals())] in ([], [label])
    assert (await found(kept)).forged == {"people": 1}  # until somebody has decided


async def test_nobody_allows_themselves_a_tool(kept: Path) -> None:
    """Neither another tool, nor the same one in another chat or for somebody else."""

    def allowed(repos: Repositories) -> list[str]:
        rows = repos.grants.rows("SELECT id FROM conversations")
        return [one.tool for (place,) in rows for who in (ALICE, MALLORY) for one in repos.grants.of(place, who)]

    assert await on(kept, allowed) == ["post"]
    mallory = await on(kept, lambda repos: repos.people.keyring.handle(MALLORY).hex())
    for change in ("tool = 'delete'", "shape = 't'", f"person = x'{mallory}'"):
        attack(kept, f"UPDATE grants SET {change}")
        assert await on(kept, allowed) == []
        assert (await found(kept)).forged == {"grants": 1}


async def test_nobody_gives_themselves_more_of_a_service(kept: Path) -> None:
    """What was taken cannot be written back; a service whose count was forged gives nothing until that is decided."""

    def take(repos: Repositories) -> bool:
        return repos.quotas.take("search", "2026-11", amount=1, limit=3)

    assert [await on(kept, take) for _ in range(3)] == [True, True, False]
    attack(kept, "UPDATE quotas SET used = 0")
    assert not await on(kept, take)
    assert (await found(kept)).forged == {"quotas": 1}
    attack(kept, "DELETE FROM quotas")
    assert (await found(kept)).is_incomplete


async def test_nobody_says_what_a_tool_was(kept: Path) -> None:
    """A shape that Aldis has not written is no tool's; one that is agreed to is written anew."""
    attack(kept, "UPDATE tool_shapes SET shape = 'new'")
    assert await on(kept, lambda repos: repos.tool_shapes.all()) == {"crm_post": ""}
    await on(kept, lambda repos: repos.tool_shapes.keep("crm_post", "new", now=NOON))
    assert await on(kept, lambda repos: repos.tool_shapes.all()) == {"crm_post": "new"}


async def test_what_is_forgotten_leaves_nothing_that_looks_forged(kept: Path) -> None:
    """What was allowed goes with its conversation."""
    async with open_store(kept, realm="signal") as store:
        item = await arrive(store, author=ALICE)
        assert item is not None
        await store.forget("direct:alice", before=item, now=NOON, then=lambda *_: None)
        assert await store.read(lambda repos: repos.grants.rows("SELECT * FROM grants")) == []
    assert await found(kept) == UNTOUCHED


async def test_a_number_that_was_given_to_another_is_nobodys(kept: Path) -> None:
    """Neither the attacker's nor, until the bridge confirms it, anybody's: with it comes what its list allows."""
    mallory = await on(kept, lambda repos: repos.people.keyring.handle(MALLORY).hex())
    attack(kept, f"UPDATE pins SET person = x'{mallory}'")
    for person in (MALLORY, ALICE):
        assert not await on(kept, lambda repos, who=person: repos.people.pin(NUMBER, who, now=NOON))
        assert await on(kept, lambda repos, who=person: repos.people.number_of(who, [NUMBER])) is None
    assert await on(kept, lambda repos: repos.people.pin(NUMBER, ALICE, now=NOON, is_confirmed=True))
    assert not await on(kept, lambda repos: repos.people.pin(NUMBER, MALLORY, now=NOON))


@pytest.mark.parametrize("is_verified", [0, 1])
async def test_a_safety_number_is_not_trusted_by_a_statement(kept: Path, is_verified: int) -> None:
    """Nor called verified, nor forgotten in time; an admin's word makes the row anew."""
    attack(kept, f"UPDATE identities SET is_open = 0, is_verified = {is_verified}")
    [open_one] = await on(kept, lambda repos: repos.people.new_identities())
    assert open_one.label == await on(kept, lambda repos: repos.people.label(MALLORY, account=ACCOUNT))
    assert not await on(kept, lambda repos: repos.people.was_verified(MALLORY, account=ACCOUNT))
    await on(kept, lambda repos: repos.people.prune(before=NOON.replace(year=2030)))
    assert await on(kept, lambda repos: repos.people.new_identities())
    await on(kept, lambda repos: repos.people.trust(open_one.label))
    assert await on(kept, lambda repos: repos.people.new_identities()) == ()


@pytest.mark.parametrize("cost", ["0", "-100", "NaN", "no number"])
async def test_a_budget_is_not_renewed_by_a_statement(kept: Path, cost: str) -> None:
    """It is used up then, and a further call breaks nothing and mends nothing."""
    attack(kept, f"UPDATE spent SET cost_usd = '{cost}'")
    assert await on(kept, spent) == Decimal(FORGED_USD)
    async with open_store(kept, realm="signal") as store:
        conversation = await store.conversation("direct:alice", now=NOON)
        await store.transaction(
            lambda repos: repos.ledger.add(
                conversation,
                repos.turns.newest(conversation),
                None,
                (DEAR,),
                now=NOON,
                periods=(DAY,),
                warned=[("all", DAY)],
            )
        )
    assert await on(kept, spent) == Decimal(FORGED_USD)


@pytest.mark.parametrize("table", _TABLES)
async def test_a_row_that_was_taken_out_is_missed(kept: Path, table: str) -> None:
    """A suspicion, a pin or an amount that is gone allows something; it is named until somebody has decided."""
    attack(kept, f"DELETE FROM {table}")
    for _ in range(2):
        assert (await found(kept)).is_incomplete
    await on(kept, let_in)
    assert (await found(kept)).is_incomplete


async def test_a_row_that_was_put_back_is_named(kept: Path) -> None:
    """With the MAC that it had: what was forbidden since would be allowed again."""
    with closing(sqlite3.connect(kept)) as connection:
        [row] = connection.execute("SELECT * FROM people").fetchall()
    await on(kept, lambda repos: repos.people.deny(ALICE, account=ACCOUNT))
    with closing(sqlite3.connect(kept)) as connection, connection:
        connection.execute("INSERT INTO people VALUES (?, ?, ?, ?)", row)
    assert (await found(kept)).is_incomplete


async def test_who_repairs_the_sum_has_no_key_for_it(kept: Path) -> None:
    """The sum is no secret, its MAC is; and what Aldis writes later gives it none."""
    attack(kept, "DELETE FROM people")
    with closing(sqlite3.connect(kept)) as connection:
        macs = [mac for table in _TABLES for (mac,) in connection.execute(f"SELECT mac FROM {table}")]
    total = sum(int.from_bytes(mac, "big") for mac in macs) % 2**256
    attack(kept, f"UPDATE guard SET digest = x'{total:064x}', generation = 99")
    for _ in range(2):
        assert (await found(kept)).is_incomplete
        await on(kept, let_in)
    attack(kept, "UPDATE guard SET mac = NULL")
    assert (await found(kept)).is_incomplete


async def test_an_older_database_is_named_and_waits_for_a_decision(kept: Path, tmp_path: Path) -> None:
    """The whole file put back, with its own sum and MACs: its key file has seen more. It goes on as a restored one."""
    older = tmp_path / "older"
    shutil.copyfile(kept, older)
    await on(kept, lambda repos: repos.people.deny(ALICE, account=ACCOUNT))
    for companion in ("-wal", "-shm"):
        kept.with_name(kept.name + companion).unlink(missing_ok=True)
    shutil.copyfile(older, kept)
    tampering = await found(kept)
    assert tampering.is_older
    assert "older than its key file" in " ".join(tampering.sentences)
    assert await on(kept, lambda repos: repos.restored.restoration()) is not None
    assert (await found(kept)).is_incomplete


async def test_without_its_guard_a_database_counts_as_older(kept: Path) -> None:
    """As one would that was made before there was any."""
    attack(kept, "DELETE FROM guard")
    tampering = await found(kept)
    assert (tampering.is_older, tampering.is_incomplete) == (True, True)
    assert (await found(kept)).is_incomplete


async def test_who_takes_the_mark_out_of_the_key_file_gains_nothing(kept: Path) -> None:
    """The rows are not taken as they are a second time."""
    attack(kept.with_name(kept.name + "-keys"), "DELETE FROM generation")
    attack(kept, "INSERT INTO people VALUES (x'01', 0, x'02', NULL)")
    assert (await found(kept)).forged == {"people": 1}


async def test_who_takes_every_mark_out_of_both_files_gains_nothing(kept: Path) -> None:
    """That rows have MACs is known by the index key itself, also after it was wrapped anew."""
    async with open_store(kept, realm="signal") as store:
        await store.rotate_key()
    attack(kept, "DELETE FROM guard", "UPDATE people SET mac = NULL", "UPDATE people SET person = x'77'")
    attack(kept.with_name(kept.name + "-keys"), "DROP TABLE generation")
    tampering = await found(kept)
    assert (tampering.forged, tampering.is_older, tampering.is_incomplete) == ({"people": 1}, True, True)
    assert not await on(kept, is_in(ALICE))


async def test_a_database_that_is_ahead_of_its_key_file_is_nothing(kept: Path) -> None:
    """A crash between the two commits leaves it so."""
    keys = kept.with_name(kept.name + "-keys")
    before = keys.read_bytes()
    assert await found(kept) == UNTOUCHED
    keys.write_bytes(before)
    assert await found(kept) == UNTOUCHED


@pytest.mark.parametrize(
    "intruder",
    [
        "CREATE TRIGGER t AFTER UPDATE ON guard BEGIN UPDATE pins SET pinned_at = 0; END",
        "CREATE TRIGGER t AFTER INSERT ON turns BEGIN UPDATE people SET allowed_at = 0; END",
        "CREATE VIEW true_people AS SELECT x'01' AS person, 0 AS allowed_at, x'02' AS allowed_by",
    ],
)
async def test_what_the_file_would_run_by_itself_is_taken_out(kept: Path, intruder: str) -> None:
    """It would run with Aldis's keys: the rows that it writes would hold."""
    attack(kept, intruder)
    tampering = await found(kept)
    assert (tampering.intruders, tampering.forged, tampering.is_incomplete) == (1, {}, False)
    assert await found(kept) == UNTOUCHED


@pytest.mark.parametrize("name", ["t", "true_people", "people_insert"])
async def test_what_comes_into_the_schema_later_does_not_run(kept: Path, name: str) -> None:
    """A trigger that is put in while Aldis runs would write rows that hold; what would run it fails instead."""
    async with open_store(kept, realm="signal") as store:
        attack(kept, f"CREATE TRIGGER {name} AFTER INSERT ON quotas BEGIN UPDATE people SET allowed_at = 7; END")
        with pytest.raises(StoreError):
            await store.transaction(lambda repos: repos.quotas.take("s", "2026", amount=1, limit=9))
    attack(kept, f"DROP TRIGGER {name}")
    assert await on(kept, lambda repos: repos.quotas.take("s", "2026", amount=1, limit=9))
    assert await found(kept) == UNTOUCHED


@pytest.mark.parametrize(
    "lure",
    [
        "ALTER TABLE people ADD COLUMN lure BLOB AS (row_mac('people', x'01', 0, x'02')) VIRTUAL",
        "CREATE INDEX lure ON people (row_mac('people', x'01', 0, x'02', person))",
    ],
)
async def test_no_schema_makes_aldis_compute_a_mac(kept: Path, lure: str) -> None:
    """What the file has computed at each use would be written into it, or read: the store refuses to work with it."""
    with closing(sqlite3.connect(kept)) as connection, connection:
        connection.create_function("row_mac", -1, lambda *_: b"", deterministic=True)
        connection.execute(lure)
    with pytest.raises(StoreError):
        await on(kept, lambda repos: repos.people.allow(MALLORY, account=ACCOUNT, by=ADMIN, now=NOON))


def unmark(path: Path) -> None:
    """Bind the index key as before there were MACs, which nobody can without the master key."""
    master = AESGCM(bytes.fromhex(path.with_name(path.name + "-master-key").read_text()))
    with closing(sqlite3.connect(path.with_name(path.name + "-keys"))) as connection, connection:
        [wrapped] = connection.execute("SELECT key FROM wrapped WHERE name = x'696e646578'").fetchone()
        key = master.decrypt(wrapped[:12], wrapped[12:], b"key|index|guarded")
        former = wrapped[:12] + master.encrypt(wrapped[:12], key, b"key|index")
        connection.execute("UPDATE wrapped SET key = ? WHERE name = x'696e646578'", (former,))


async def test_rows_from_before_are_taken_as_they_are_once(kept: Path) -> None:
    """As by the migration: the database and its key file knew nothing of a guard."""
    unmark(kept)
    attack(kept.with_name(kept.name + "-keys"), "DROP TABLE generation")
    attack(kept, *(f"UPDATE {table} SET mac = NULL" for table in _TABLES), "DELETE FROM guard")
    assert await found(kept) == UNTOUCHED
    assert await on(kept, is_in(ALICE))
    attack(kept, *(f"UPDATE {table} SET mac = NULL" for table in _TABLES), "DELETE FROM guard")
    assert (await found(kept)).forged == dict.fromkeys(_TABLES, 1)
    assert not await on(kept, is_in(ALICE))


async def test_a_forged_row_that_came_while_aldis_runs_is_named_when_it_is_met(kept: Path) -> None:
    """Not before: the tables are looked through at the start."""
    async with open_store(kept, realm="signal") as store:
        attack(kept, "UPDATE people SET allowed_at = 0")
        assert not await store.read(is_in(ALICE))
        assert (await store.tampering()).forged == {"people": 1}


async def test_after_a_look_the_operator_takes_the_rest(kept: Path) -> None:
    """What is forged is struck out, and everything else holds again."""
    attack(kept, "DELETE FROM spent", "INSERT INTO people VALUES (x'01', 0, x'02', NULL)")
    async with open_store(kept, realm="signal") as store:
        before = await store.reseal()
        assert (before.forged, before.is_incomplete) == ({"people": 1}, True)
        assert await store.tampering() == UNTOUCHED
    assert await found(kept) == UNTOUCHED
    assert await on(kept, is_in(ALICE))
    assert len(await on(kept, lambda repos: repos.people.approvals())) == 1


async def test_a_backup_that_is_restored_holds(kept: Path, tmp_path: Path) -> None:
    """It is announced, and both its files are of one moment."""
    async with open_store(kept, realm="signal") as store:
        copy = await store.backup(tmp_path / "backups", now=NOON)
    for _ in range(3):
        assert await found(kept) == UNTOUCHED
    restore(copy, kept, now=NOON)
    assert await found(kept) == UNTOUCHED
    assert await on(kept, is_in(ALICE))


async def test_a_new_master_key_changes_nothing(kept: Path) -> None:
    """What the rows are kept by hangs on the store's own key."""
    async with open_store(kept, realm="signal") as store:
        await store.rotate_key()
    assert await found(kept) == UNTOUCHED


async def test_every_guarded_column_is_known() -> None:
    """One that a migration adds and nobody guards could be changed unseen."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ':memory:' AS keys")
        migrate(connection)
        for table, (key, more) in _TABLES.items():
            columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
            assert set(columns) == {*key, *more, "mac"}


async def test_a_mac_is_of_one_table(kept: Path) -> None:
    """Rows of two tables may come to look the same."""
    async with open_store(kept, realm="signal") as store:
        assert len({store._guard._mac(table, b"a", 1) for table in (*_TABLES, "guard", "key file")}) == len(_TABLES) + 2


def test_no_row_can_pass_for_another() -> None:
    """Values are told apart by kind and length, wherever one ends and the next begins."""
    rows = [("ab", "c"), ("a", "bc"), (b"ab", "c"), (1, 11), (11, 1), ("1", 11), (None, ""), ("", None), ("None", "")]
    assert len({b"".join(map(_encode, row)) for row in rows}) == len(rows)


async def test_it_is_said_in_the_log_without_words(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    """How many of what; nobody's name."""
    attack(kept, "UPDATE people SET allowed_by = x'00'")
    await found(kept)
    assert caplog.messages == ["the database was changed: 1 row about who was let in not written by Aldis"]
