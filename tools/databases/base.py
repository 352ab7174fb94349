"""Queries to a database of any kind, and their answers.

    TableQuery (the model's)  --> ReadableDatabase.ask --> Answer
                                  ReadableDatabase.describe --> TableState ...

A query contains only names, and only those that the operator's list allows (`tools.databases.query` checks that). Left
to others: how the names become SQL (`tools.databases.sql`), and how a database is opened read-only (one module each).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from tools.errors import Disabled

Function = Literal["count", "sum", "average", "min", "max"]

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "contains", "starts_with", "is_null", "is_not_null", "in", "between"
]

Kind = Literal["any", "integer", "number", "float", "truth", "text", "time", "uuid", "json", "array", "bytes", "other"]
"""How a column behaves; `any` is for SQLite, where each cell has its own type."""

Precision = Literal["exactly", "about", "more than"]

Scalar = str | int | float | bool

Cell = str | int | float | bool | list[object] | dict[str, object] | None
"""A value of an answer, as a JSON type."""

MAX_CELL_CHARS = 300
"""The length at which the database cuts the text of a cell."""

MAX_COUNTED = 10_000
"""The most rows that are counted, as a table can have billions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column as found in the database."""

    name: str
    """Its name as spelled in the access."""
    stored_name: str
    """Its name as spelled in the database."""
    type: str
    """Its declared type, for the model."""
    kind: Kind
    cast: str = "text"
    """The type to which values are cast for comparisons; always from the adapter's own list."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """A condition on rows."""

    column: str
    operator: Operator
    values: tuple[Scalar, ...]
    """As many as the operator takes: none, one, two for `between`, one or more for `in`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """An aggregate over all rows or each group of them."""

    function: Function
    column: str | None
    """None: counts the rows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A sort key; rows without a value come last in either direction."""

    by: str | Measure
    descending: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class TableQuery:
    """A query to one table: its rows, or with groups or measures one row for each group."""

    table: str
    columns: tuple[str, ...]
    """The columns to show, in this order; with groups, the columns to group by."""
    where: tuple[Condition, ...]
    any_of: bool
    """Whether one matching condition is enough."""
    is_grouped: bool
    measures: tuple[Measure, ...]
    order_by: tuple[Order, ...]
    limit: int
    offset: int

    def answer(self, rows: Sequence[tuple[Cell, ...]]) -> "Answer":
        """Makes the answer from the fetched rows, which include one more than the limit; counts no further rows."""
        has_more, is_beyond = len(rows) > self.limit, self.offset > 0 and not rows
        total = None if has_more or is_beyond else self.offset + len(rows)
        return Answer(rows=tuple(rows[: self.limit]), has_more=has_more, total=total)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The rows of an answer."""

    rows: tuple[tuple[Cell, ...], ...]
    """At most `limit` rows, each with its columns, then its measures."""
    has_more: bool
    total: int | None
    """The number of rows without limit and offset; None if they were not all counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableState:
    """The present state of a readable table."""

    name: str
    columns: tuple[Column, ...] = ()
    rows: int | None = None
    """The number of rows; None if counting would take long."""
    precision: Precision = "exactly"
    """Whether `rows` is exact, an estimate by the database, or the limit of counting."""
    problem: str = ""
    """Why it cannot be read; "" if it can."""


def no_table(name: str) -> Disabled:
    """Returns the error for a table on the operator's list that the database does not have."""
    return Disabled(f"The operator's list has the table {name!r}, but the database does not.")


def no_column(table: str, column: str) -> Disabled:
    """Returns the error for a column on the operator's list that the table does not have."""
    return Disabled(f"The operator's list has {table}.{column}, but the table has no such column.")


class ReadableDatabase(Protocol):
    """A database of the operator."""

    async def ask(self, question: TableQuery, *, person: str) -> Answer:
        """Answers a query of this person, whose queries leave places to others. Cancellation stops the database, too.

        Raises:
            BadArguments: a value or function does not fit its column.
            Disabled: the operator has to act: address, login or list of tables do not fit the database.
            Denied: the database itself forbids it.
            TimedOut, TooLarge, Unavailable: no answer in time, one that is too large, or none.
        """
        ...

    async def describe(self, *, person: str) -> tuple[TableState, ...]:
        """Returns the readable tables, in the order of the access.

        Raises:
            Disabled, TimedOut, Unavailable: as `ask`, for the database as a whole.
        """
        ...
