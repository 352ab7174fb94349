"""Queries to the operator's databases: what a model may ask, and the SQL that it becomes. Pure.

    DbQueryArguments --names checked against the operator's list--> TableQuery: SQL and its values

Names in SQL are the operator's own, quoted; values are parameters, limit and offset are integers: no text from a model
becomes part of a statement. How a database is opened read-only stands in `sqlite` and `postgres`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol, Self, cast, get_args

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from tools.base import Arguments
from tools.databases.options import Access
from tools.errors import BadArguments
from tools.text import shorten

Function = Literal["count", "sum", "average", "min", "max"]

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "contains", "starts_with", "is_null", "is_not_null", "in", "between"
]

Scalar = str | int | float | bool

MAX_CELL_CHARS = 300
"""The length at which the database cuts the text of a cell."""
_MAX_CONDITIONS = 20
_MAX_VALUES = 50
_MAX_ROW = 1_000_000
_VALUE = "\x01"
"""Stands for a value in SQL; no name contains it."""
_FIGURE = re.compile(rf"({'|'.join(get_args(Function))})\((.*)\)")
_TAKES: Mapping[Operator, str] = {
    "is_null": "no value",
    "is_not_null": "no value",
    "in": "a list of values",
    "between": "a list of two values",
}
_SQL: Mapping[Operator, str] = {
    "is_null": "{column} IS NULL",
    "is_not_null": "{column} IS NOT NULL",
    "in": "{column} IN ({values})",
    "between": "{column} BETWEEN {value} AND {value}",
    "contains": "strpos(lower(CAST({column} AS text)), lower({value})) > 0",
    "starts_with": "strpos(lower(CAST({column} AS text)), lower({value})) = 1",
}
_JOINED = {"all": "AND", "any": "OR"}

_Text = Annotated[str, Field(max_length=500)]
_Integer = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Value = _Text | _Integer | Annotated[float, Field(allow_inf_nan=False)] | bool
Name = Annotated[str, Field(max_length=200)]
"""A name written by a model: of a database, table or column."""


class Condition(Arguments):
    """A condition on rows."""

    model_config = ConfigDict(str_strip_whitespace=False)

    column: Name
    op: Operator
    value: _Value | Annotated[list[_Value], Field(max_length=_MAX_VALUES)] | None = Field(
        default=None, description="A list for in and between; none for is_null and is_not_null."
    )

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The values: none, one, two for `between`, one or more for `in`."""
        given = self.value if isinstance(self.value, list) else () if self.value is None else (self.value,)
        return tuple(map(str, given)) if self.op in {"contains", "starts_with"} else tuple(given)

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        count = len(self.value) if isinstance(self.value, list) else None
        no_list = count is None and (self.value is None) == (self.op in {"is_null", "is_not_null"})
        if not {"in": bool(count), "between": count == len(("from", "to"))}.get(self.op, no_list):
            takes = _TAKES.get(self.op, "one value, not a list; for empty cells use is_null")
            raise ValueError(f"{self.op} takes {takes}")
        return self


@dataclass(frozen=True, kw_only=True, slots=True)
class TableQuery:
    """A query to one table: its rows, or with groups or functions one row for each group."""

    table: str
    shown: Mapping[str, str]
    """The SQL of each cell by what stands above it: `total`, `count`, `sum(total)`."""
    rest: str
    """The SQL behind the table, with one row more than `limit`, to see whether there are more."""
    values: tuple[Scalar, ...]
    limit: int
    offset: int

    def sql(self, source: str, *, cell: str, placeholders: Iterable[str]) -> str:
        """Returns the statement: `source` is the quoted table, `cell` fetches `{x}`, each value has a placeholder."""
        left = iter(placeholders)
        cells = ", ".join(cell.format(x=expression) for expression in self.shown.values())
        return f"SELECT {cells} FROM {source} AS t{re.sub(_VALUE, lambda _: next(left), self.rest)}"  # noqa: S608


Rows = Sequence[tuple[str | int | float | None, ...]]
"""The cells, as JSON types."""
NOT_THERE = "The database lacks a table or column of the operator's list: the operator has to check it."
TOO_SLOW = "The database did not answer in time; ask for less."


class ReadableDatabase(Protocol):
    """A database of the operator."""

    async def ask(self, question: TableQuery) -> Rows:
        """Returns the rows, one more than the limit if there are more. Cancellation stops the database, too."""
        ...


def _conditions(given: object) -> object:
    """Accepts an object of columns and values: each has to be equal, one of a list, or empty for null."""
    if not isinstance(given, dict):
        return given
    rows: list[dict[str, object]] = []
    for column, value in cast("dict[str, object]", given).items():
        op = "is_null" if value is None else "in" if isinstance(value, list) else "="
        rows.append({"column": column, "op": op, "value": cast("object", value)})
    return rows


# Inlined because not every server with OpenAI's API follows references within a schema.
_Conditions = Annotated[
    tuple[Condition, ...],
    WithJsonSchema({"type": "array", "maxItems": _MAX_CONDITIONS, "items": Condition.model_json_schema()}),
    Field(max_length=_MAX_CONDITIONS),
    BeforeValidator(_conditions),
]


class DbQueryArguments(Arguments):
    """A query to one table."""

    model_config = ConfigDict(str_strip_whitespace=False)

    database: Name | None = Field(default=None, description="Its name from db_describe; default: the only one.")
    table: Name
    columns: tuple[Name, ...] = Field(default=(), max_length=30, description="To show; default: all readable ones.")
    where: _Conditions = Field(
        default=(), description="contains and starts_with ignore case. An empty cell matches is_null alone, not !=."
    )
    match: Literal["all", "any"] = Field(default="all", description="Of the conditions.")
    group_by: tuple[Name, ...] = Field(default=(), max_length=5, description="Alone: the distinct values.")
    compute: tuple[Name, ...] = Field(
        default=(), max_length=10, description="For each group, or all rows: count, sum(x), average(x), min(x), max(x)."
    )
    order_by: tuple[Name, ...] = Field(default=(), max_length=5, description="Such as: day, or sum(total) desc.")
    limit: int = Field(default=20, ge=1, description="The most rows; `truncated` says whether there are more.")
    offset: int = Field(default=0, ge=0, le=_MAX_ROW, description="Rows to skip; needs order_by.")


def question_of(arguments: DbQueryArguments, access: Access) -> TableQuery:
    """Returns the query, which names nothing but what can be read; raises `BadArguments` if that does not work."""
    if (allowed := access.tables.get(arguments.table)) is None:
        raise BadArguments(f"There is no table {quote_name(arguments.table)}; there are: {', '.join(access.tables)}.")
    is_grouped = bool(arguments.compute or arguments.group_by)
    if is_grouped and not set(arguments.columns) <= set(arguments.group_by):
        raise BadArguments("With group_by or compute, the columns are those of group_by: leave columns out.")
    named = arguments.group_by if is_grouped else arguments.columns or allowed
    columns = {name: _column(name, allowed) for name in named}
    figures = dict(_figure(text, allowed) for text in arguments.compute)
    keys = figures | (columns if is_grouped else {name: _column(name, allowed) for name in allowed})
    limit = min(arguments.limit, access.max_rows)
    conditions: list[str] = []  # none is true where its column has no value
    for condition in arguments.where:
        sql = _SQL.get(condition.op, f"{{column}} {condition.op} {{value}}")
        values = ", ".join(_VALUE for _ in condition.values)
        conditions.append(f"({sql.format(column=_column(condition.column, allowed), value=_VALUE, values=values)})")
    rest = f" WHERE {f' {_JOINED[arguments.match]} '.join(conditions)}" if conditions else ""
    rest += f" GROUP BY {', '.join(columns.values())}" if is_grouped and columns else ""
    rest += f" ORDER BY {', '.join(_order(text, keys) for text in arguments.order_by)}" if arguments.order_by else ""
    return TableQuery(
        table=arguments.table,
        shown=columns | figures,
        rest=f"{rest} LIMIT {limit + 1:d} OFFSET {arguments.offset:d}",
        values=tuple(value for condition in arguments.where for value in condition.values),
        limit=limit,
        offset=arguments.offset,
    )


def _column(name: str, allowed: Sequence[str]) -> str:
    if name not in allowed:
        raise BadArguments(f"There is no column {quote_name(name)} here; there are: {', '.join(allowed)}.")
    # With its table, as SQLite may read a quoted name alone as a string.
    return f"t.{quote_identifier(name)}"


def _figure(text: str, allowed: Sequence[str]) -> tuple[str, str]:
    if text in {"count", "count(*)"}:
        return "count", "count(*)"
    if (match := _FIGURE.fullmatch(text)) is None:
        functions = ", ".join(get_args(Function))
        raise BadArguments(f"{quote_name(text)} is no figure: use count, or {functions} with (column).")
    column = _column(match[2], allowed)
    return text, f"CAST(avg({column}) AS double precision)" if match[1] == "average" else f"{match[1]}({column})"


def _order(text: str, keys: Mapping[str, str]) -> str:
    """Returns a key to sort by; rows without a value come last in either direction."""
    is_named = text in keys  # a column may be called so
    by, direction = (text, "") if is_named else (text.rpartition(" ")[0].rstrip(), text.rpartition(" ")[2].lower())
    if by not in keys or direction not in {"", "asc", "desc"}:
        raise BadArguments(f"Rows cannot be ordered by {quote_name(text)}; they can by: {', '.join(keys)}.")
    return f"{keys[by]} {'DESC' if direction == 'desc' else 'ASC'} NULLS LAST"


def quote_name(name: str) -> str:
    """Returns a name from a model, shortened and quoted, for an answer."""
    return repr(shorten(name, 60))


def quote_identifier(name: str) -> str:
    """Quotes a name for SQL."""
    return '"' + name.replace('"', '""') + '"'
