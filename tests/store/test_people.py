"""The people: let in, put out, with numbers, in a file that names no one and lets no one in without the key."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from store import Repositories, open_store
from store.people import People
from store.repository import millis
from store.sealing import _encrypt
from tests.conftest import NOON
from tests.store.earlier import CHANGES, NEWEST_UNSEALED, earlier_store
from tests.store.places import execute
from tests.store.sends import place

T = TypeVar("T")

ACCOUNT, OTHER_ACCOUNT = "+15550100001", "+15550100009"
ADMIN, ALICE, MALLORY, TRUDY = "ad000000", "a11ce000", "3a110000", "72dd0000"
NUMBER, OTHER_NUMBER = "+15550100666", "+15550100777"
LATER = NOON + timedelta(days=1)


@pytest.fixture
def people(repos: Repositories) -> People:
    return repos.people


@pytest.fixture
def let_in(people: People) -> People:
    people.allow(MALLORY, account=ACCOUNT, by=ADMIN, now=NOON)
    return people


def test_letting_in_again_keeps_the_first_time(let_in: People) -> None:
    """When and by whom is kept with each person; the list is in the order of time."""
    let_in.allow(MALLORY, account=ACCOUNT, by=TRUDY, now=LATER)
    let_in.allow(TRUDY, account=ACCOUNT, by=MALLORY, now=LATER)
    first, second = let_in.approvals()
    assert [first.label, first.by] == [let_in.label(who, account=ACCOUNT) for who in (MALLORY, ADMIN)]
    assert (first.at, second.at, second.by) == (NOON, LATER, first.label)


def test_only_who_was_let_in_is_in(let_in: People) -> None:
    """No one else, not under another account of ours, and not once put out."""

    def is_in(who: str, account: str = ACCOUNT) -> bool:
        return let_in.is_allowed(who, account=account)

    assert [is_in(MALLORY), is_in(TRUDY), is_in(MALLORY, OTHER_ACCOUNT)] == [True, False, False]
    let_in.allow(TRUDY, account=ACCOUNT, by=ADMIN, now=NOON)
    label = let_in.label(MALLORY, account=ACCOUNT).upper()
    assert [let_in.deny(label) for _ in range(2)] == [True, False]
    assert [is_in(MALLORY), is_in(TRUDY)] == [False, True]


def test_a_number_stays_with_the_account_that_came_with_it_first(people: People) -> None:
    """Another account with the same number is refused until the operator confirms it; hidden, it is still theirs."""
    pins = ((MALLORY, NOON), (MALLORY, LATER), (TRUDY, LATER))
    assert [people.pin(NUMBER, who, now=now) for who, now in pins] == [True, True, False]
    assert people.number_of(MALLORY, {NUMBER, OTHER_NUMBER}) == NUMBER
    for who, numbers in ((MALLORY, {OTHER_NUMBER}), (TRUDY, {NUMBER}), (MALLORY, ())):
        assert people.number_of(who, numbers) is None
    assert people.pin(NUMBER, TRUDY, now=LATER, is_confirmed=True)
    assert not people.pin(NUMBER, MALLORY, now=LATER)


def test_a_new_key_is_known_until_it_is_trusted(people: People) -> None:
    """The same one keeps its time, a second one is news; trusted, it is forgotten in time, else it stays."""
    people.suspect(MALLORY, "key-2", account=ACCOUNT, now=NOON)
    people.suspect(MALLORY, "key-2", account=ACCOUNT, now=LATER)
    label = people.label(MALLORY, account=ACCOUNT)
    assert people.new_identities() == {label: NOON}
    people.suspect(MALLORY, "key-3", account=ACCOUNT, now=LATER)
    assert people.new_identities() == {label: LATER}
    people.trust(label)
    assert people.new_identities() == {}
    for person in (MALLORY, TRUDY):
        people.suspect(person, "key-1", account=ACCOUNT, now=NOON)
    people.trust(people.label(TRUDY, account=ACCOUNT))
    people.prune(before=LATER)
    assert people.value("SELECT count(*) FROM identities") == 1


async def on(path: Path, work: Callable[[Repositories], T]) -> T:
    async with open_store(path, realm="signal") as store:
        return await store.transaction(work)


def seen(repos: Repositories) -> dict[str, object]:
    people = repos.people
    conversation = repos.conversations.at("direct:alice")
    assert conversation is not None
    return {
        "allowed": [who for who in (ALICE, MALLORY) if people.is_allowed(who, account=ACCOUNT)],
        "approvals": people.approvals(),
        "number": [who for who in (ALICE, MALLORY) if people.number_of(who, [NUMBER])],
        "untrusted": people.new_identities(),
        "suspects": [who for who in (ALICE, MALLORY) if people.label(who, account=ACCOUNT) in people.new_identities()],
        "grants": {who: repos.grants.of(conversation, who) for who in (ALICE, MALLORY)},
    }


@pytest.fixture
async def kept(path: Path) -> Path:
    """A store in which Alice was let in, has a number and has allowed a tool; Mallory has a new safety number."""

    def work(repos: Repositories) -> None:
        repos.people.allow(ALICE, account=ACCOUNT, by=ADMIN, now=NOON)
        assert repos.people.pin(NUMBER, ALICE, now=NOON)
        repos.people.suspect(MALLORY, "new key", account=ACCOUNT, now=NOON)
        repos.people.suspect(ALICE, "key", account=ACCOUNT, now=NOON)
        repos.people.trust(repos.people.label(ALICE, account=ACCOUNT))
        repos.grants.allow(place(repos, "direct:alice"), ALICE, tool="post", shape="s", now=NOON)

    await on(path, work)
    return path


async def test_no_one_lets_themselves_in(kept: Path, tmp_path: Path) -> None:
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
        (f"UPDATE identities SET sealed = ({of_alice}) WHERE handle = x'{mallory}'", "suspects", [MALLORY]),
        ("UPDATE grants SET tool = 'delete'", "grants", {ALICE: (), MALLORY: ()}),
        (f"UPDATE grants SET person = x'{person}'", "grants", {ALICE: (), MALLORY: ()}),
    )  # fmt: skip
    shutil.copytree(kept.parent, tmp_path / "before")
    for statement, what, wanted in attacks:
        execute(kept, statement)
        assert (await on(kept, seen))[what] == wanted, statement
        shutil.copytree(tmp_path / "before", kept.parent, dirs_exist_ok=True)


async def test_an_admins_word_writes_a_row_anew(kept: Path) -> None:
    """Until then a number belongs to none, a safety number is not trusted, and none of it is cleaned away."""
    execute(kept, *(f"UPDATE {table} SET sealed = x'00'" for table in ("people", "pins", "identities")))
    mallory = await on(kept, lambda repos: repos.people.label(MALLORY, account=ACCOUNT))

    def decide(repos: Repositories) -> None:
        people = repos.people
        assert not people.pin(NUMBER, ALICE, now=NOON)
        assert people.number_of(ALICE, {NUMBER}) is None
        people.prune(before=NOON.replace(year=2030))
        assert mallory in people.new_identities()
        assert people.pin(NUMBER, ALICE, now=NOON, is_confirmed=True)
        assert not people.pin(NUMBER, MALLORY, now=NOON)
        people.trust(mallory)
        people.trust(people.label(ALICE, account=ACCOUNT))
        people.allow(ALICE, account=ACCOUNT, by=ADMIN, now=NOON)
        assert people.new_identities() == {}

    await on(kept, decide)
    now = await on(kept, seen)
    assert (now["allowed"], now["number"]) == ([ALICE], [ALICE])


def former(path: Path) -> None:
    """A store of the last schema whose rows are not sealed, made as Aldis made it then."""
    with earlier_store(path, NEWEST_UNSEALED) as (connection, keyring):
        bound = _encrypt(keyring._master, b"key|index|guarded", keyring._index)
        connection.execute("UPDATE keys.wrapped SET key = ? WHERE name = ?", (bound, b"index"))

        def put(table: str, *values: int | str | bytes | None) -> None:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))}, NULL)", values)

        def guest(person: str) -> bytes:
            return keyring.handle(f"signal|{ACCOUNT}|{person}")

        noon, alice, handle = millis(NOON), keyring.handle(ALICE), keyring.handle("signal|direct:alice")
        keyring.make(handle)
        connection.execute(
            "INSERT INTO conversations (id, realm, handle, created_at) VALUES (1, 'signal', ?, 0)", (handle,)
        )
        put("people", guest(ALICE), noon, guest(ADMIN))
        put("pins", keyring.handle(NUMBER), alice, noon, None)
        put("identities", guest(MALLORY), keyring.handle("new key"), noon, 1, 0, None)
        put("identities", guest(ALICE), keyring.handle("key"), 0, 0, 1, noon)
        put("grants", 1, alice, "post", "s", noon)


async def test_what_an_earlier_aldis_has_written_is_carried_over(kept: Path, tmp_path: Path) -> None:
    """All of it; the second opening finds the same."""
    path = tmp_path / "former" / "aldis.db"
    former(path)
    wanted = await on(kept, seen)
    for _ in range(2):
        now = await on(path, seen)
        assert all(now[key] == wanted[key] for key in ("allowed", "number"))
        assert [len(now[key]) for key in ("approvals", "untrusted")] == [1, 1]  # type: ignore[arg-type]


async def test_what_schema_36_has_sealed_is_carried_over(kept: Path) -> None:
    """Row for row; only what nothing reads any more is left behind."""
    before = await on(kept, seen)
    changes = [
        statement for first, last, statement in CHANGES if first <= 36 <= last and "DROP COLUMN" not in statement
    ]
    execute(kept, *changes, "PRAGMA user_version = 36")
    assert await on(kept, seen) == before
