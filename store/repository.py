"""What every repository stands on: the connection inside a transaction, the keys, the wakeups, and time in
milliseconds.
"""

import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_type_hints

from store.errors import Damaged
from store.sealing import Keyring

_log = logging.getLogger(__name__)

R = TypeVar("R")


AT_ONCE = 25
"""How many rows at most go in one transaction that deletes: nobody waits for it for longer than some milliseconds."""


class Repository:
    """A group of statements over the tables of one noun. Runs on the store's thread, inside a transaction.

    `notified` collects the names of what others wait for; the store wakes them after the commit.
    """

    def __init__(self, connection: sqlite3.Connection, keyring: Keyring, notified: set[str], realm: str) -> None:
        self._connection = connection
        self.keyring = keyring
        self.realm = realm
        """Whose queues these are: `signal` or `terminal`."""
        self._notified = notified

    def chat_handle(self, address: str) -> bytes:
        """The handle of the conversation at this address of the realm."""
        return self.keyring.handle(f"{self.realm}|{address}")

    def account_name(self, account: str) -> str:
        """What stands for an account in handles (see `store.accounts`); `account` is its id or its number."""
        handle = self.keyring.handle(account)
        known = self.rows("SELECT id FROM accounts WHERE realm = ?1 AND (id = ?2 OR number = ?2)", (self.realm, handle))
        return next((name for (id_,) in known if (name := self.name_of_account(id_))), account)

    def name_of_account(self, id_: bytes) -> str | None:
        """The name under which an account of this handle is kept; None: it is not known, or cannot be read."""
        rows = self.rows("SELECT name FROM accounts WHERE realm = ? AND id = ?", (self.realm, id_))
        try:
            return next((self.keyring.open_own(account_place(id_), name).decode() for (name,) in rows), None)
        except Damaged as error:
            _log.error("the name of an account is lost: %s", error)
            return None

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        return self._connection.execute(statement, values)

    def execute_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row of values; nothing where there is none."""
        if rows:
            self._connection.executemany(statement, rows)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of one query, as tuples in the order of its columns."""
        return self._connection.execute(statement, values).fetchall()

    def records(self, kind: type[R], statement: str, values: Sequence[object] = ()) -> tuple[R, ...]:
        """All rows of one query as values of this kind, whose fields its columns are named after.

        What is a time, a yes or no, or a sum of money there is read as such.
        """
        cursor = self._connection.execute(statement, values)
        readers = _readers(kind)
        columns = [(name, readers[name]) for name, *_ in cursor.description]
        return tuple(
            kind(**{name: read(value) for (name, read), value in zip(columns, row, strict=True)}) for row in cursor
        )

    def record(self, kind: type[R], statement: str, values: Sequence[object] = ()) -> R | None:
        """The first of `records`; None where there is none."""
        return next(iter(self.records(kind, statement, values)), None)

    def column(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...]:
        """The first column of all rows of one query."""
        return tuple(value for value, *_ in self._connection.execute(statement, values))

    def value(self, statement: str, values: Sequence[object] = ()) -> Any:
        """The first column of a query's first row; None where it has no row."""
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def exists(self, statement: str, values: Sequence[object] = ()) -> bool:
        """Whether a query has a row."""
        return self._connection.execute(statement, values).fetchone() is not None

    def count_dead(self, table: Literal["inbox", "outbox"]) -> int:
        """How many items of a queue were given up, over all conversations of the realm."""
        return self.value(
            f"SELECT count(*) FROM {table} JOIN conversations ON conversations.id = conversation_id "  # noqa: S608  (literals only)
            "WHERE state = 'dead' AND realm = ?",
            (self.realm,),
        )

    def notify(self, name: str) -> None:
        """Let those who wait for `name` look again once this is committed."""
        self._notified.add(name)


def millis(at: datetime) -> int:
    """An aware datetime as milliseconds since 1970."""
    return int(at.timestamp() * 1000)


def moment(at: int) -> datetime:
    """Milliseconds since 1970 as an aware datetime in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC)


def millis_if(at: datetime | None) -> int | None:
    """As `millis`; None stays None."""
    return None if at is None else millis(at)


def moment_if(at: int | None) -> datetime | None:
    """As `moment`; None stays None."""
    return None if at is None else moment(at)


@cache
def _readers(kind: type[object]) -> Mapping[str, Callable[[Any], object]]:
    """How the columns of a record are read, by the types of its fields."""
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: object) -> Callable[[Any], object]:
    known: Mapping[object, Callable[[Any], object]] = {datetime: moment, bool: bool, Decimal: Decimal}
    read = next((known[part] for part in (hint, *get_args(hint)) if part in known), None)
    return lambda value: value if value is None or read is None else read(value)


def account_place(id_: bytes) -> str:
    """Where the name of an account is sealed."""
    return f"accounts.name|{id_.hex()}"
