"""Rows that decide access: what the file says without the key lets nobody in, and earlier stores are carried over.

The attacker is bare SQLite on the file, while Aldis is stopped.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from store import Repositories, open_store
from store.sealing import _encrypt, unlock
from tests.conftest import NOON
from tests.store.earlier import GONE_SINCE_36, NEWEST_EARLIER, build_earlier
from tests.store.places import keys_of, master_of

T = TypeVar("T")

ACCOUNT, NUMBER = "+15550100001", "+15550100666"
ADMIN, ALICE, MALLORY = "ad000000", "a11ce000", "3a110000"


async def on(path: Path, work: Callable[[Repositories], T]) -> T:
    async with open_store(path, realm="signal") as store:
        return await store.transaction(work)


def attack(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def seen(repos: Repositories) -> dict[str, object]:
    """Everything that access depends on, as its callers see it."""
    people = repos.people
    conversation = repos.conversations.at("direct:alice")
    assert conversation is not None
    return {
        "allowed": [who for who in (ALICE, MALLORY) if people.is_allowed(who, account=ACCOUNT)],
        "approvals": people.approvals(),
        "number": [who for who in (ALICE, MALLORY) if people.number_of(who, [NUMBER])],
        "untrusted": people.new_identities(),
        "told": [who for who in (ALICE, MALLORY) if people.is_identity_told(who, account=ACCOUNT)],
        "grants": {who: repos.grants.of(conversation, who) for who in (ALICE, MALLORY)},
    }


@pytest.fixture
async def kept(path: Path) -> Path:
    """A store in which Alice was let in, has a number and has allowed a tool; Mallory has a new safety number."""
    async with open_store(path, realm="signal") as store:
        conversation = await store.conversation("direct:alice", now=NOON)

        def work(repos: Repositories) -> None:
            repos.people.allow(ALICE, account=ACCOUNT, by=ADMIN, now=NOON)
            assert repos.people.pin(NUMBER, ALICE, now=NOON)
            repos.people.suspect(MALLORY, "new key", account=ACCOUNT, now=NOON)
            repos.people.suspect(ALICE, "key", account=ACCOUNT, now=NOON)
            repos.people.identity_told(ALICE, account=ACCOUNT, now=NOON)
            repos.people.trust(repos.people.label(ALICE, account=ACCOUNT))
            repos.grants.allow(conversation, ALICE, tool="post", shape="s", now=NOON)

        await store.transaction(work)
    return path


async def test_nobody_lets_themselves_in(kept: Path, tmp_path: Path) -> None:
    """Not by a row of their own, another's row under their name, or a row of another table."""
    mallory = await on(kept, lambda repos: repos.people._guest(ACCOUNT, MALLORY).hex())
    person = await on(kept, lambda repos: repos.people.keyring.handle(MALLORY).hex())
    [number] = await on(kept, lambda repos: repos.people.column("SELECT hex(handle) FROM pins"))
    allowed, of_alice = ("allowed", [ALICE]), f"SELECT sealed FROM identities WHERE handle != x'{mallory}'"
    attacks = (
        (f"INSERT INTO people VALUES (x'{mallory}', x'00')", *allowed),
        (f"INSERT INTO people SELECT x'{mallory}', sealed FROM people", *allowed),
        (f"INSERT INTO people SELECT x'{mallory}', sealed FROM pins", *allowed),
        (f"INSERT INTO people SELECT x'{mallory}', sealed FROM identities LIMIT 1", *allowed),
        ("UPDATE people SET sealed = x''", "allowed", []),
        (f"UPDATE people SET handle = x'{mallory}'", "allowed", []),
        (f"UPDATE pins SET sealed = (SELECT sealed FROM people) WHERE handle = x'{number}'", "number", []),
        (f"UPDATE identities SET sealed = ({of_alice}) WHERE handle = x'{mallory}'", "told", [ALICE]),
        ("UPDATE grants SET tool = 'delete'", "grants", {ALICE: (), MALLORY: ()}),
        (f"UPDATE grants SET person = x'{person}'", "grants", {ALICE: (), MALLORY: ()}),
    )  # fmt: skip
    shutil.copytree(kept.parent, tmp_path / "before")
    for statement, what, wanted in attacks:
        attack(kept, statement)
        assert (await on(kept, seen))[what] == wanted, statement
        shutil.copytree(tmp_path / "before", kept.parent, dirs_exist_ok=True)


async def test_an_admins_word_writes_a_row_anew(kept: Path) -> None:
    """Until then a number belongs to none, a safety number is not trusted, and none of it is cleaned away."""
    attack(kept, *(f"UPDATE {table} SET sealed = x'00'" for table in ("people", "pins", "identities")))
    mallory = await on(kept, lambda repos: repos.people.label(MALLORY, account=ACCOUNT))

    def decide(repos: Repositories) -> None:
        people = repos.people
        assert not people.pin(NUMBER, ALICE, now=NOON)
        assert people.number_of(ALICE, {NUMBER}) is None
        people.prune(before=NOON.replace(year=2030))
        assert mallory in {one.label for one in people.new_identities()}
        assert people.pin(NUMBER, ALICE, now=NOON, is_confirmed=True)
        assert not people.pin(NUMBER, MALLORY, now=NOON)
        people.trust(mallory)
        people.trust(people.label(ALICE, account=ACCOUNT))
        people.allow(ALICE, account=ACCOUNT, by=ADMIN, now=NOON)
        assert people.new_identities() == ()

    await on(kept, decide)
    now = await on(kept, seen)
    assert (now["allowed"], now["number"]) == ([ALICE], [ALICE])


def former(path: Path) -> None:
    """A store of the last schema whose rows are not sealed, made as Aldis made it then."""
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ? AS keys", (str(keys_of(path)),))
        build_earlier(connection, NEWEST_EARLIER)
        keyring = unlock(connection, master_of(path))
        bound = _encrypt(keyring._master, b"key|index|guarded", keyring._index)
        connection.execute("UPDATE keys.wrapped SET key = ? WHERE name = ?", (bound, b"index"))

        def put(table: str, *values: int | str | bytes | None) -> None:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))}, NULL)", values)

        def guest(person: str) -> bytes:
            return keyring.handle(f"signal|{ACCOUNT}|{person}")

        noon = int(NOON.timestamp() * 1000)
        alice = keyring.handle(ALICE)
        handle = keyring.handle("signal|direct:alice")
        keyring.make(handle)
        connection.execute(
            "INSERT INTO conversations (id, realm, handle, created_at) VALUES (1, 'signal', ?, 0)", (handle,)
        )
        put("people", guest(ALICE), noon, guest(ADMIN))
        put("pins", keyring.handle(NUMBER), alice, noon, None)
        put("identities", guest(MALLORY), keyring.handle("new key"), noon, 1, 0, None)
        put("identities", guest(ALICE), keyring.handle("key"), 0, 0, 1, noon)
        put("grants", 1, alice, "post", "s", noon)
        for period in ("2026-11-21", "2026-11"):  # a month is the sum of its days now, and counts once
            row = f"VALUES (CAST('all' AS BLOB), '{period}', '7', 1, 0, 2, 3, 0, NULL)"
            connection.execute(f"INSERT INTO spent {row}")


async def test_what_an_earlier_aldis_has_written_is_carried_over(kept: Path, tmp_path: Path) -> None:
    """All of it; the second opening finds the same."""
    path = tmp_path / "former" / "aldis.db"
    former(path)
    wanted = await on(kept, seen)
    for _ in range(2):
        now = await on(path, seen)
        assert all(now[key] == wanted[key] for key in ("allowed", "number", "told"))
        assert [len(now[key]) for key in ("approvals", "untrusted")] == [1, 1]  # type: ignore[arg-type]
        totals = await on(path, lambda repos: repos.ledger.totals(None, None, ("2026-11",)))
        assert [str(total.cost_usd) for total in totals] == ["7"]


async def test_what_schema_36_has_sealed_is_carried_over(kept: Path) -> None:
    """Row for row; only what nothing reads any more is left behind."""
    before = await on(kept, seen)
    attack(kept, *GONE_SINCE_36.split(";"), "PRAGMA user_version = 36")
    assert await on(kept, seen) == before
