"""What a question to a database consists of, whatever kind of database it is, and what comes back.

    TableQuery (the model's)  --> ReadableDatabase.ask --> Answer
                                  ReadableDatabase.describe --> TableState ...

A question holds names only, and only such as the operator's list allows (`tools.databases.tool` sees to that). Left to
others: how the names become SQL (`tools.databases.sql`), and how a database is opened and kept from writing (one module
each).
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
"""How a column behaves; `any` is SQLite's, where each cell has a type of its own."""

Precision = Literal["exactly", "about", "more than"]

Scalar = str | int | float | bool

Cell = str | int | float | bool | list[object] | dict[str, object] | None
"""A value of an answer, in the types of JSON."""

MAX_CELL_CHARS = 300
"""Where the text of a cell is cut, by the database itself."""

MAX_COUNTED = 10_000
"""How far rows are counted: a table may have billions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column as the database has it."""

    name: str
    """As the access spells it."""
    stored_name: str
    """As the database spells it."""
    type: str
    """As the database declares it, for the model."""
    kind: Kind
    cast: str = "text"
    """The type that values are given before they are compared with it; only of the adapter's own list."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """One condition on the rows."""

    column: str
    operator: Operator
    values: tuple[Scalar, ...]
    """As many as the operator takes: none, one, two for `between`, one or more for `in`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One figure about all rows, or about each group of them."""

    function: Function
    column: str | None
    """None: the rows themselves are counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """By what rows are ordered; rows without a value come last either way."""

    by: str | Measure
    descending: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class TableQuery:
    """What is asked of one table. Without groups and measures: its rows; else one row for each group."""

    table: str
    columns: tuple[str, ...]
    """What is shown, in this order; with groups: the columns that the rows are grouped by."""
    where: tuple[Condition, ...]
    any_of: bool
    """Whether one of the conditions is enough."""
    is_grouped: bool
    measures: tuple[Measure, ...]
    order_by: tuple[Order, ...]
    limit: int
    offset: int

    def answer(self, rows: Sequence[tuple[Cell, ...]]) -> "Answer":
        """The answer of these rows, of which one more was fetched than is shown; how many there are is not counted."""
        has_more, is_beyond = len(rows) > self.limit, self.offset > 0 and not rows
        total = None if has_more or is_beyond else self.offset + len(rows)
        return Answer(rows=tuple(rows[: self.limit]), has_more=has_more, total=total)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The rows of an answer."""

    rows: tuple[tuple[Cell, ...], ...]
    """At most as many as asked for; each with its shown columns, then its measures."""
    has_more: bool
    total: int | None
    """How many rows there are without limit and offset; None where they were not counted to their end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableState:
    """One table that may be read, as it stands."""

    name: str
    columns: tuple[Column, ...] = ()
    rows: int | None = None
    """None where counting would take long."""
    precision: Precision = "exactly"
    """How many rows there are: as many, as many by the database's statistics, or more than were counted."""
    problem: str = ""
    """Why it cannot be read; "" where it can."""


def no_table(name: str) -> Disabled:
    """The error where a table of the operator's list is not in the database."""
    return Disabled(f"The operator lets the table {name!r} be read, but the database has none of that name.")


def no_column(table: str, column: str) -> Disabled:
    """The error where the table has no such column."""
    return Disabled(f"The operator lets {table}.{column} be read, but the table has no such column.")


class ReadableDatabase(Protocol):
    """One database of the operator."""

    async def ask(self, question: TableQuery) -> Answer:
        """Answer a question. Cancellation stops the database, too.

        Raises:
            BadArguments: a value does not fit its column, or the function does not.
            Disabled: the operator has to act: the address, the login or the list of tables does not fit the database.
            Denied: the database itself forbids it.
            TimedOut, TooLarge, Unavailable: no answer in time, one that is too large, or none.
        """
        ...

    async def describe(self) -> tuple[TableState, ...]:
        """The tables that may be read, in the order of the access.

        Raises:
            Disabled, TimedOut, Unavailable: as `ask`, for the database as a whole.
        """
        ...
