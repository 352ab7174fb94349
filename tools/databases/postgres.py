"""Reads a PostgreSQL database of the operator, without ever writing to it.

    connect --> BEGIN READ ONLY, set limits --> read the catalogue --> run the statement --> ROLLBACK

Each query has its own connection. The limits apply to the transaction only, because behind a pooler others share the
session. Everything but integers and booleans is fetched as text and cut by the server, so types of columns and sizes of
cells do not matter here. Give Aldis a role that can select what is listed and no more.

asyncpg is an extra; this module is imported when such a database is first queried.

Source: postgresql.org/docs/18, "Client Connection Defaults", "System Catalogs"; asyncpg 0.32.0 (2026-11-22).
"""

import asyncio
import json
import math
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  (it has none)

from tools.databases.options import Access
from tools.databases.query import (
    MAX_CELL_CHARS,
    Answer,
    Bind,
    Cell,
    Column,
    Condition,
    Kind,
    Measure,
    Scalar,
    TableQuery,
    TableState,
    column_of,
    no_column,
    no_table,
    quote_identifier,
    rows_of,
)
from tools.errors import BadArguments, Denied, Disabled, TimedOut, ToolError, Unavailable

_QUESTIONS_AT_ONCE = 4  # connections, of which a server has few, and others need them, too
_GOODBYE_SECONDS = 1.0
_DEFAULT_SCHEMA = "public"
_BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    " SET LOCAL statement_timeout = {milliseconds:d}; SET LOCAL lock_timeout = {half:d};"
    " SET LOCAL idle_in_transaction_session_timeout = {milliseconds:d};"
    " SET LOCAL search_path = pg_catalog; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'"
)

# Tables, partitioned tables, views, materialised views and foreign tables, with their present columns. A domain counts
# as its base type.
_CATALOGUE = """
SELECT attribute.attname::text, base.typname::text, base.typcategory::text,
       base.typnamespace = 'pg_catalog'::regnamespace,
       format_type(attribute.atttypid, attribute.atttypmod)
  FROM pg_class AS relation
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  JOIN pg_attribute AS attribute ON attribute.attrelid = relation.oid
  JOIN pg_type AS declared ON declared.oid = attribute.atttypid
  JOIN pg_type AS base ON base.oid = CASE declared.typtype WHEN 'd' THEN declared.typbasetype ELSE declared.oid END
 WHERE namespace.nspname = $1::text AND relation.relname = $2::text AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND attribute.attnum > 0 AND NOT attribute.attisdropped
"""

# The kind of each built-in type, and the type to which texts of values are cast for comparisons.
_TYPES: Mapping[str, tuple[Kind, str]] = {
    **dict.fromkeys(("int2", "int4", "int8"), ("integer", "int8")),
    "numeric": ("number", "numeric"),
    **{name: ("float", name) for name in ("float4", "float8")},
    "bool": ("truth", "bool"),
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), ("text", "text")),
    **{name: ("time", name) for name in ("date", "time", "timetz", "timestamp", "timestamptz", "interval")},
    "uuid": ("uuid", "uuid"),
    **dict.fromkeys(("json", "jsonb"), ("json", "text")),
    "bytea": ("bytes", "text"),
}
_NUMBERS = frozenset({"integer", "number", "float"})
_AS_TEXT = frozenset({"json", "array", "other"})
_WITH_MINIMUM = frozenset({"integer", "number", "float", "text", "time"})
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")

# The first match by class counts. The server's own messages are left out, as they may quote data.
_TRANSLATIONS: tuple[tuple[type[BaseException], type[ToolError], str], ...] = (
    (asyncpg.QueryCanceledError, TimedOut, "The database did not answer in time; ask for less."),
    (asyncpg.LockNotAvailableError, Unavailable, "Another program has locked the table; try again later."),
    (
        asyncpg.InsufficientPrivilegeError,
        Disabled,
        "Aldis has no permission to read this in the database: the operator has to grant it.",
    ),
    (
        asyncpg.InvalidAuthorizationSpecificationError,
        Disabled,
        "The database refuses the login: the operator has to act.",
    ),
    (asyncpg.InvalidCatalogNameError, Disabled, "There is no such database: the operator has to check its address."),
    (asyncpg.ReadOnlySQLTransactionError, Denied, "This table cannot be read without writing."),
    (asyncpg.DataError, BadArguments, "A value does not fit the type of its column: see db_describe."),
    (asyncpg.PostgresError, Unavailable, "The database could not answer this."),
    (UnicodeDecodeError, Unavailable, "The database contains text in an unreadable encoding."),
    (asyncpg.InterfaceError, Unavailable, "The answer of the database cannot be read."),
    (asyncpg.InternalClientError, Unavailable, "The answer of the database cannot be read."),
    (OSError, Unavailable, "The database cannot be reached."),
)
_FAILURES: tuple[type[BaseException], ...] = tuple(foreign for foreign, _, _ in _TRANSLATIONS)


class _Connection(Protocol):
    """The used part of asyncpg's connection, with the types that it lacks."""

    async def execute(self, query: str) -> str: ...

    async def fetch(self, query: str, *args: Scalar) -> Sequence[Sequence[Any]]: ...

    async def close(self, *, timeout: float) -> None: ...  # noqa: ASYNC109  (its own name)

    def terminate(self) -> None: ...


_connect = cast("Callable[..., Awaitable[_Connection]]", asyncpg.connect)


class Postgres:
    """A database on a server."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._places = asyncio.Semaphore(_QUESTIONS_AT_ONCE)

    async def ask(self, question: TableQuery) -> Answer:
        """See `ReadableDatabase.ask`."""
        async with self._reading() as connection:
            table = await _table(connection, question.table, self._access.tables[question.table])
            select = rows_of(question, table.source, table.columns, _DIALECT)
            rows = await connection.fetch(select.sql, *select.parameters)
            return question.answer([tuple(map(_cell, row, select.kinds)) for row in rows])

    async def describe(self) -> tuple[TableState, ...]:
        """See `ReadableDatabase.describe`."""
        async with self._reading() as connection:
            return tuple([await _state(connection, name, self._access.tables[name]) for name in self._access.tables])

    @asynccontextmanager
    async def _reading(self) -> AsyncGenerator[_Connection]:
        """Yields a connection in a read-only transaction, all within the time limit of a query."""
        seconds = self._access.timeout_seconds
        try:
            async with (
                asyncio.timeout(seconds),
                self._places,
                _open_connection(self._access) as connection,
            ):
                await connection.execute(_BEGIN.format(milliseconds=int(1000 * seconds), half=int(500 * seconds)))
                yield connection
                await connection.execute("ROLLBACK")
        except TimeoutError as error:
            raise TimedOut("The database did not answer in time; ask for less.") from error
        except _FAILURES as error:
            raise next(kind(text) for foreign, kind, text in _TRANSLATIONS if isinstance(error, foreign)) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """A readable table as found in the database."""

    source: str
    """Its schema and name, quoted."""
    columns: Mapping[str, Column]
    """The columns by their name in the access."""


class _Dialect:
    """The dialect of PostgreSQL. Values are sent as text and cast to the column's type; odd types compare as text."""

    def placeholder(self, number: int) -> str:
        return f"${number:d}::text"

    def fetch_expression(self, expression: str, kind: Kind) -> str:
        if kind in {"integer", "truth"}:
            return expression
        if kind == "bytes":
            return f"octet_length({expression})"
        return f"left(({expression})::text, {MAX_CELL_CHARS + 1})"

    def plain(self, column: Column) -> str:
        return self.key(column)

    def key(self, column: Column) -> str:
        expression = column_of(column)
        if column.kind == "array":
            return f"array_to_json({expression})::text"
        return f"{expression}::text" if column.kind in _AS_TEXT else expression

    def measure_expression(self, measure: Measure, column: Column | None) -> tuple[str, Kind]:
        if column is None:
            return "count(*)", "integer"
        match measure.function:
            case "count":
                return f"count({column_of(column)})", "integer"
            case "sum" | "average":
                if column.kind not in _NUMBERS:
                    raise BadArguments(f"{measure.function} needs a column of numbers; {column.name} has none.")
                name = "avg" if measure.function == "average" else "sum"
                is_float = name == "avg" or column.kind == "float"
                return f"{name}({column_of(column)})", "float" if is_float else "number"
            case "min" | "max":
                if column.kind == "bytes":
                    raise BadArguments(f"{column.name} contains bytes, which have no {measure.function}.")
                if column.kind in _WITH_MINIMUM:
                    return f"{measure.function}({column_of(column)})", column.kind
                return f"{measure.function}(({self.key(column)})::text)", "text"

    def condition(self, column: Column, condition: Condition, bind: Bind) -> str:
        expression, operator = self.key(column), condition.operator
        if operator in {"is_null", "is_not_null"}:
            return f"{column_of(column)} IS {'NOT ' if operator == 'is_not_null' else ''}NULL"
        if column.kind == "bytes":
            raise BadArguments(f"{column.name} contains bytes: only is_null and is_not_null work for it.")
        if operator in {"contains", "starts_with"}:
            word = re.sub(r"[!%_]", r"!\g<0>", _spell_value(condition.values[0]))
            pattern = bind(f"{word}%" if operator == "starts_with" else f"%{word}%")
            return f"({expression})::text ILIKE {pattern} ESCAPE '!'"
        # Integer columns can be compared with any number.
        written = [_spell_value(value) for value in condition.values]
        is_fraction = [column.kind == "integer" and not _WHOLE.fullmatch(each) for each in written]
        casts = ["numeric" if each else column.cast for each in is_fraction]
        values = [f"CAST({bind(each)} AS {cast})" for each, cast in zip(written, casts, strict=True)]
        if operator == "in":
            return f"{expression} IN ({', '.join(values)})"
        if operator == "between":
            return f"{expression} BETWEEN {values[0]} AND {values[1]}"
        return f"{expression} {operator} {values[0]}"


_DIALECT = _Dialect()


@asynccontextmanager
async def _open_connection(access: Access) -> AsyncGenerator[_Connection]:
    """Opens a connection to the operator's address; at the end it is gone, whatever state the server is in."""
    # Without cached prepared statements, as poolers pass the session on.
    try:
        connection = await _connect(access.address.get_secret_value(), statement_cache_size=0)
    except ValueError:  # such as a port that is no number; the message repeats part of the address
        raise Disabled("The address cannot be read: the operator has to check it.") from None
    try:
        yield connection
    finally:
        try:
            await connection.close(timeout=_GOODBYE_SECONDS)
        except (TimeoutError, *_FAILURES):
            connection.terminate()


async def _state(connection: _Connection, name: str, allowed: Sequence[str]) -> TableState:
    try:
        table = await _table(connection, name, allowed)
    except Disabled as problem:
        return TableState(name=name, problem=str(problem))
    return TableState(name=name, columns=tuple(table.columns.values()))


async def _table(connection: _Connection, name: str, allowed: Sequence[str]) -> _Table:
    """Returns the table with its readable columns.

    Raises:
        Disabled: the database has no such table or column.
    """
    found = {row[0]: row for row in await connection.fetch(_CATALOGUE, *_split(name))}
    if not found:
        raise no_table(name)
    for column in allowed:
        if column not in found:
            raise no_column(name, column)
    return _Table(
        source=".".join(map(quote_identifier, _split(name))),
        columns={column: _column(found[column]) for column in allowed},
    )


def _split(name: str) -> tuple[str, str]:
    """Returns the schema and the table of a name such as `sales.orders`; the default schema is `public`."""
    schema, _, table = name.rpartition(".")
    return schema or _DEFAULT_SCHEMA, table


def _column(row: Sequence[Any]) -> Column:
    name, type_name, category, is_built_in, declared, *_ = row
    kind, cast = _TYPES.get(type_name, ("other", "text")) if is_built_in else ("other", "text")
    if category == "A":
        kind = "array"
    return Column(name=name, stored_name=name, type=str(declared)[:60], kind=kind, cast=cast)


def _spell_value(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cell(value: Any, kind: Kind) -> Cell:
    if value is None:
        return None
    match kind:
        case "bytes":
            return f"[{value} bytes]"
        case "float":
            number = float(value)
            return number if math.isfinite(number) else str(value)
        case "number":  # keeps every digit: a fraction stays a text
            return int(value) if _WHOLE.fullmatch(value) else value
        case "json" | "array":
            return _of_json(value)
        case _:
            return value


def _of_json(text: str) -> Cell:
    """Parses the JSON if it is complete; otherwise returns what there is of it as text."""
    try:
        return json.loads(text) if len(text) <= MAX_CELL_CHARS else text
    except (ValueError, RecursionError):
        return text
