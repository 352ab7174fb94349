"""The base of all repositories: queries on the store's connection, the keys, wakeups, and times in milliseconds."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from store.records import ConversationId, Waiting
from store.sealing import Keyring

R = TypeVar("R")

ACCOUNT_NAME = "opened(NULL, 'accounts.name|' || lower(hex(id)), name)"
"""The name of an account, in SQL."""
ENVELOPE = (
    "opened(inbox.conversation_id, 'inbox.envelope|' || lower(hex(account)) || '|' || lower(hex(author)) || '|' || "
    "device || '|' || sent_at || '|' || kind, envelope)"
)
"""The envelope of a message in the inbox, in SQL; sealed for its `envelope_place`."""
_MAX_INTEGER = 2**63 - 1
"""The largest whole number of a column. Source: https://sqlite.org/datatype3.html (2026-11)."""

AT_ONCE = 25
"""The most rows that one deleting transaction removes, so that it holds others up for a few milliseconds only."""


@dataclass(frozen=True, slots=True)
class Context:
    """What all repositories of an open store share."""

    keyring: Keyring
    realm: str
    """The realm whose queues these are: `signal` or `terminal`."""
    notified: set[str] = field(default_factory=set[str])
    """Collects the wakeups of a unit of work; the store sends them after the commit."""


class Repository:
    """Statements on a group of related tables. Runs on the store's thread, inside a transaction."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.keyring = context.keyring
        self.realm = context.realm
        self._connection = context.keyring.connection

    def chat_handle(self, address: str) -> bytes:
        """Returns the handle of the conversation at this address in the realm."""
        return self.keyring.handle(f"{self.realm}|{address}")

    def account_name(self, account: str) -> str:
        """Returns the name that handles use for an account, given its id or its number (see `store.people`)."""
        names = self.column(
            f"SELECT {ACCOUNT_NAME} FROM accounts WHERE realm = ?1 AND (id = ?2 OR number = ?2)",  # noqa: S608
            (self.realm, self.keyring.handle(account)),
        )
        return next((name.decode() for name in names if name is not None), account)

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Runs one statement. A whole number too large for any column becomes the nearest that fits."""
        try:
            return self._connection.execute(statement, values)
        except OverflowError:
            fitting = [min(max(one, -_MAX_INTEGER), _MAX_INTEGER) if isinstance(one, int) else one for one in values]
            return self._connection.execute(statement, fitting)

    def put_row(self, table: str, **row: object) -> None:
        """Inserts a row in place of the one with its key. Nothing may refer to rows of that table."""
        self.insert_all(f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES", [tuple(row.values())])

    def insert(self, table: str, *, unless: str = "", **row: object) -> Any:
        """Inserts a row and returns its id; None if a row with the same values in the columns `unless` exists."""
        conflict = f"ON CONFLICT ({unless}) DO NOTHING" if unless else ""
        marks = ", ".join("?" * len(row))
        statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks}) {conflict} RETURNING id"  # noqa: S608
        return self.value(statement, tuple(row.values()))

    def insert_all(self, statement: str, rows: Sequence[Sequence[object]], rest: str = "") -> None:
        """Runs one `INSERT ... VALUES` for these rows, with `rest` after them; does nothing without rows."""
        if rows:
            marks = ", ".join(f"({', '.join('?' * len(row))})" for row in rows)
            self.execute(f"{statement} {marks} {rest}", [value for row in rows for value in row])

    def execute_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Runs one statement for each row of values."""
        self._connection.executemany(statement, rows)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows of a query as tuples."""
        return self.execute(statement, values).fetchall()

    def records(self, kind: type[R], statement: str, values: Sequence[object] = ()) -> tuple[R, ...]:
        """Returns all rows as instances of `kind`: each column becomes the field of that name, in its type."""
        cursor = self.execute(statement, values)
        readers = _readers(kind)
        columns = [(name, readers[name]) for name, *_ in cursor.description]
        return tuple(
            kind(**{name: read(value) for (name, read), value in zip(columns, row, strict=True)}) for row in cursor
        )

    def seal(self, conversation: ConversationId, place: str, value: bytes | None) -> bytes | None:
        """Seals a value for its place (`Keyring.seal`); None stays None."""
        return None if value is None else self.keyring.seal(conversation, place, value)

    def record(self, kind: type[R], statement: str, values: Sequence[object] = ()) -> R | None:
        """Returns the first of `records`; None if there is none."""
        return next(iter(self.records(kind, statement, values)), None)

    def column(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...]:
        """Returns the first column of all rows of a query."""
        return tuple(value for value, *_ in self.execute(statement, values))

    def value(self, statement: str, values: Sequence[object] = ()) -> Any:
        """Returns the first column of a query's first row; None if it has no rows."""
        row = self.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def exists(self, statement: str, values: Sequence[object] = ()) -> bool:
        """Whether a query returns any row."""
        return self.execute(statement, values).fetchone() is not None

    def queue(self, table: str, is_open: str, oldest_at: str) -> Waiting:
        """Counts the open items and the dead ones of a queue in the realm, by conditions on its columns."""
        here = f"FROM {table} JOIN conversations ON conversations.id = conversation_id WHERE realm = ?1 AND"
        query = f"SELECT count(*) AS items, {oldest_at} AS oldest_at, (SELECT count(*) {here} state = 'dead') AS dead"
        [waiting] = self.records(Waiting, f"{query} {here} {is_open}", (self.realm,))
        return waiting

    def notify(self, *names: str) -> None:
        """Wakes what waits for these names once the transaction is committed."""
        self.context.notified.update(names)


def millis(at: datetime) -> int:
    """Converts an aware datetime to milliseconds since 1970."""
    return int(at.timestamp() * 1000)


def moment(at: int) -> datetime:
    """Converts milliseconds since 1970 to an aware datetime in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC)


def dollars(cost: str | None) -> Decimal:
    """Converts an amount in US dollars as it is stored; None: zero."""
    return Decimal(cost or 0)


def moment_if(at: int | None) -> datetime | None:
    """Like `moment`; None stays None."""
    return None if at is None else moment(at)


# Times and spans are bound in milliseconds, amounts as text.
sqlite3.register_adapter(datetime, millis)
sqlite3.register_adapter(timedelta, lambda span: span // timedelta(milliseconds=1))
sqlite3.register_adapter(Decimal, str)


@cache
def _readers(kind: type[object]) -> Mapping[str, Callable[[Any], object]]:
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: object) -> Callable[[Any], object]:
    known: Mapping[object, Callable[[Any], object]] = {datetime: moment, bool: bool, Decimal: dollars}
    read = next((known[part] for part in (hint, *get_args(hint)) if part in known), None)
    return lambda value: value if value is None or read is None else read(value)


def envelope_place(account: bytes, author: bytes, device: int, sent_at: int, kind: str) -> str:
    """Returns the place to which the sealed envelope of a message in the inbox is bound."""
    return f"inbox.envelope|{account.hex()}|{author.hex()}|{device}|{sent_at}|{kind}"


def account_place(id_: bytes) -> str:
    """Returns the place to which the sealed name of an account is bound."""
    return f"accounts.name|{id_.hex()}"
