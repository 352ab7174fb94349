"""Queries to the operator's databases: what a model may ask, and the SQL that it becomes. Pure.

    DbQueryArguments --names checked--> TableQuery + the table's columns + Dialect --> Statement --> Answer

Everything that a model names is checked against the operator's list before a database is opened; errors list what can
be named instead. Names in SQL come from the catalogue of the database and are quoted, values are parameters, limit and
offset are integers: no text from a model becomes part of a statement. How a database is opened read-only is told in
`sqlite` and `postgres`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol, cast, get_args

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from tools.base import Arguments
from tools.databases.options import Access
from tools.errors import BadArguments, Disabled
from tools.text import shorten

Function = Literal["count", "sum", "average", "min", "max"]

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "contains", "starts_with", "is_null", "is_not_null", "in", "between"
]

Kind = Literal["any", "integer", "number", "float", "truth", "text", "time", "uuid", "json", "array", "bytes", "other"]
"""How a column behaves; `any` is for SQLite, where each cell has its own type."""

Scalar = str | int | float | bool

Cell = str | int | float | bool | list[object] | dict[str, object] | None
"""A value of an answer, as a JSON type."""

MAX_CELL_CHARS = 300
"""The length at which the database cuts the text of a cell."""


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
        """Makes the answer from the fetched rows, which include one more than the limit."""
        return Answer(rows=tuple(rows[: self.limit]), has_more=len(rows) > self.limit)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The rows of an answer."""

    rows: tuple[tuple[Cell, ...], ...]
    """At most `limit` rows, each with its columns, then its measures."""
    has_more: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class TableState:
    """The present state of a readable table."""

    name: str
    columns: tuple[Column, ...] = ()
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

    async def ask(self, question: TableQuery) -> Answer:
        """Answers a query. Cancellation stops the database, too.

        Raises:
            BadArguments: a value or function does not fit its column.
            Disabled: the operator has to act: address, login or list of tables do not fit the database.
            Denied: the database itself forbids it.
            TimedOut, TooLarge, Unavailable: no answer in time, one that is too large, or none.
        """
        ...

    async def describe(self) -> tuple[TableState, ...]:
        """Returns the readable tables, in the order of the access.

        Raises:
            Disabled, TimedOut, Unavailable: as `ask`, for the database as a whole.
        """
        ...


_MAX_CONDITIONS = 20
_MAX_VALUES = 50
_MAX_VALUE_CHARS = 500
_MAX_NAME_CHARS = 200
_MAX_ROW = 1_000_000
_MAX_INTEGER = 2**63 - 1
_MEASURE = re.compile(rf"({'|'.join(get_args(Function))})\((.*)\)")
_DIRECTION = re.compile(r"(.*?)(?: +(asc|desc))?", re.IGNORECASE)

_Text = Annotated[str, Field(max_length=_MAX_VALUE_CHARS)]
_Number = int | Annotated[float, Field(allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=_MAX_NAME_CHARS)]
"""A name written by a model: of a database, table or column."""


class ConditionArguments(Arguments):
    """A condition on rows."""

    model_config = ConfigDict(str_strip_whitespace=False)

    column: Name
    op: Operator
    value: _Text | _Number | bool | Annotated[list[_Text | _Number | bool], Field(max_length=_MAX_VALUES)] | None = (
        Field(default=None, description="A list for in and between; none for is_null and is_not_null.")
    )


def _conditions(given: object) -> object:
    """Accepts an object of columns and values: each has to be equal, one of a list, or empty for null."""
    if not isinstance(given, dict):
        return given
    columns = cast("dict[str, object]", given)
    rows: list[dict[str, object]] = []
    for column, value in columns.items():
        op = "is_null" if value is None else "in" if isinstance(value, list) else "="
        rows.append({"column": column, "op": op, "value": cast("object", value)})
    return rows


# Inlined because not every server with OpenAI's API follows references within a schema.
_Conditions = Annotated[
    tuple[ConditionArguments, ...],
    WithJsonSchema({"type": "array", "maxItems": _MAX_CONDITIONS, "items": ConditionArguments.model_json_schema()}),
    Field(max_length=_MAX_CONDITIONS),
    BeforeValidator(_conditions),
]


class DbQueryArguments(Arguments):
    """A query to one table."""

    model_config = ConfigDict(str_strip_whitespace=False)

    database: Name | None = Field(default=None, description="Its name from db_describe; default: the only one.")
    table: Name
    columns: tuple[Name, ...] = Field(
        default=(), max_length=30, description="The columns to show; default: all readable ones."
    )
    where: _Conditions = Field(
        default=(),
        description=(
            "contains and starts_with ignore case, the others do not. A row without a value in the column only matches"
            " is_null, not even !=."
        ),
    )
    match: Annotated[str, Field(pattern="^(all|any)$")] = Field(
        default="all", description="Whether all conditions have to match, or any of them."
    )
    group_by: tuple[Name, ...] = Field(
        default=(), max_length=5, description="One row per combination; alone: the distinct values."
    )
    compute: tuple[Name, ...] = Field(
        default=(),
        max_length=10,
        description="Figures for each group, or for all rows: count, count(x), sum(x), average(x), min(x), max(x).",
    )
    order_by: tuple[Name, ...] = Field(
        default=(), max_length=5, description="Columns or figures, such as: day, or sum(total) desc. Empty cells last."
    )
    limit: int = Field(default=20, ge=1, description="The most rows; `truncated` says whether there are more.")
    offset: int = Field(default=0, ge=0, le=_MAX_ROW, description="Rows to skip; needs order_by.")


def question_of(arguments: DbQueryArguments, access: Access) -> TableQuery:
    """Returns the query, which names nothing but what can be read.

    Raises:
        BadArguments: the arguments name something else, or do not fit together.
    """
    check_table(arguments.table, access)
    allowed = access.tables[arguments.table]
    measures = tuple(_measure(text, allowed) for text in arguments.compute)
    is_grouped = bool(measures or arguments.group_by)
    if is_grouped and not set(arguments.columns) <= set(arguments.group_by):
        raise BadArguments("With group_by or compute, the columns are those of group_by: leave columns out.")
    columns = arguments.group_by if is_grouped else arguments.columns or allowed
    for column in columns:
        _check(column, allowed)
    return TableQuery(
        table=arguments.table,
        columns=tuple(dict.fromkeys(columns)),
        where=tuple(_condition(condition, allowed) for condition in arguments.where),
        any_of=arguments.match == "any",
        is_grouped=is_grouped,
        measures=measures,
        order_by=tuple(_order(text, columns if is_grouped else allowed, measures) for text in arguments.order_by),
        limit=min(arguments.limit, access.max_rows),
        offset=arguments.offset,
    )


def check_table(table: str, access: Access) -> None:
    """Checks that the table can be read.

    Raises:
        BadArguments: it cannot.
    """
    if table not in access.tables:
        raise BadArguments(f"There is no table {quote_name(table)}; there are: {', '.join(access.tables)}.")


def _check(column: str, allowed: Sequence[str]) -> None:
    if column not in allowed:
        raise BadArguments(f"There is no column {quote_name(column)} here; there are: {', '.join(allowed)}.")


def _measure(text: str, allowed: Sequence[str]) -> Measure:
    match = _MEASURE.fullmatch(text if "(" in text else f"{text}(*)")
    if match is None:
        raise BadArguments(
            f"{quote_name(text)} is no figure: use count, or {', '.join(get_args(Function))} with (column)."
        )
    function, column = cast("Function", match[1]), match[2]
    if column == "*" and function == "count":
        return Measure(function="count", column=None)
    _check(column, allowed)
    return Measure(function=function, column=column)


def _order(text: str, columns: Sequence[str], measures: Sequence[Measure]) -> Order:
    keys: dict[str, str | Measure] = {heading(measure): measure for measure in measures}
    keys |= {column: column for column in columns}
    if text in keys:
        return Order(by=keys[text], descending=False)
    match = _DIRECTION.fullmatch(text)
    if match is None or match[1] not in keys:
        raise BadArguments(f"Rows cannot be ordered by {quote_name(text)}; they can by: {', '.join(keys)}.")
    return Order(by=keys[match[1]], descending=(match[2] or "").lower() == "desc")


def _condition(given: ConditionArguments, allowed: Sequence[str]) -> Condition:
    _check(given.column, allowed)
    value = given.value
    values: tuple[Scalar, ...] = tuple(value) if isinstance(value, list) else () if value is None else (value,)
    if (problem := _misfit(given, len(values))) is not None:
        raise BadArguments(f"{given.op} {problem}.")
    for value in values:
        if isinstance(value, str) and "\x00" in value:
            raise BadArguments("A value contains characters that no text in a database has.")
        if isinstance(value, int) and abs(value) > _MAX_INTEGER:
            raise BadArguments("A value is a number that no column can hold.")
    if given.op in {"contains", "starts_with"} and values == ("",):
        raise BadArguments(f"{given.op} needs a word.")
    return Condition(column=given.column, operator=given.op, values=values)


def _misfit(given: ConditionArguments, count: int) -> str | None:
    """Returns what is wrong with the number of values; None if nothing is."""
    match given.op:
        case "is_null" | "is_not_null":
            return "takes no value" if given.value is not None else None
        case "between":
            return None if isinstance(given.value, list) and count == 2 else "takes a list of two values"  # noqa: PLR2004
        case "in":
            return None if isinstance(given.value, list) and count else "takes a list of values"
        case _:
            is_one = given.value is not None and not isinstance(given.value, list)
            return None if is_one else "takes one value, not a list; for empty cells use is_null"


def heading(measure: Measure) -> str:
    """Returns the name of a measure in queries and above its column: `count`, `sum(total)`."""
    return measure.function if measure.column is None else f"{measure.function}({measure.column})"


def quote_name(name: str) -> str:
    """Returns a name from a model, shortened and quoted, for an answer."""
    return repr(shorten(name, 60))


Bind = Callable[[Scalar], str]
"""Adds a value as a parameter and returns its placeholder."""


class Dialect(Protocol):
    """The differences between databases."""

    def placeholder(self, number: int) -> str:
        """Returns the placeholder of the parameter with this number, from 1."""
        ...

    def fetch_expression(self, expression: str, kind: Kind) -> str:
        """Returns the expression as it is fetched, bounded in size."""
        ...

    def plain(self, column: Column) -> str:
        """Returns the column for display."""
        ...

    def key(self, column: Column) -> str:
        """Returns the column for comparisons: grouping and ordering."""
        ...

    def measure_expression(self, measure: Measure, column: Column | None) -> tuple[str, Kind]:
        """Returns the measure as an expression, and how it behaves.

        Raises:
            BadArguments: the column does not support this measure.
        """
        ...

    def condition(self, column: Column, condition: Condition, bind: Bind) -> str:
        """Returns the condition on the column, which is never true where the column has no value.

        Raises:
            BadArguments: the column does not support this condition.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """SQL with its parameters."""

    sql: str
    parameters: tuple[Scalar, ...]
    kinds: tuple[Kind, ...]
    """How each column of the result behaves."""


def quote_identifier(name: str) -> str:
    """Quotes a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def column_of(column: Column) -> str:
    """Returns the column as an expression, with its table: SQLite may read a quoted name alone as a string."""
    return f"t.{quote_identifier(column.stored_name)}"


def rows_of(question: TableQuery, source: str, columns: Mapping[str, Column], dialect: Dialect) -> Statement:
    """Returns the statement for the rows, plus one more to see whether there are more. `source` is the quoted table.

    Raises:
        BadArguments: as the dialect says.
    """
    expressed = dialect.key if question.is_grouped else dialect.plain
    shown: list[tuple[str, Kind]] = [(expressed(columns[name]), columns[name].kind) for name in question.columns]
    shown += [_express_measure(measure, columns, dialect) for measure in question.measures]
    tail, parameters = _tail(question, source, columns, dialect)
    order = ", ".join(_order_key(order, columns, dialect) for order in question.order_by)
    return Statement(
        sql=(
            f"SELECT {', '.join(dialect.fetch_expression(*each) for each in shown)} {tail}"
            + (f" ORDER BY {order}" if order else "")
            + f" LIMIT {question.limit + 1:d} OFFSET {question.offset:d}"
        ),
        parameters=parameters,
        kinds=tuple(kind for _, kind in shown),
    )


def _tail(
    question: TableQuery, source: str, columns: Mapping[str, Column], dialect: Dialect
) -> tuple[str, tuple[Scalar, ...]]:
    """Returns the FROM, WHERE and GROUP BY clauses with their parameters."""
    parameters: list[Scalar] = []

    def bind(value: Scalar) -> str:
        parameters.append(value)
        return dialect.placeholder(len(parameters))

    conditions = [dialect.condition(columns[each.column], each, bind) for each in question.where]
    where = (" OR " if question.any_of else " AND ").join(f"({condition})" for condition in conditions)
    groups = ", ".join(dialect.key(columns[name]) for name in question.columns) if question.is_grouped else ""
    tail = f"FROM {source} AS t" + (f" WHERE {where}" if where else "") + (f" GROUP BY {groups}" if groups else "")
    return tail, tuple(parameters)


def _express_measure(measure: Measure, columns: Mapping[str, Column], dialect: Dialect) -> tuple[str, Kind]:
    return dialect.measure_expression(measure, None if measure.column is None else columns[measure.column])


def _order_key(order: Order, columns: Mapping[str, Column], dialect: Dialect) -> str:
    by = order.by
    key = _express_measure(by, columns, dialect)[0] if isinstance(by, Measure) else dialect.key(columns[by])
    return f"{key} {'DESC' if order.descending else 'ASC'} NULLS LAST"
