"""Reads a PostgreSQL database of the operator, without ever writing to it.

    connect --> BEGIN READ ONLY, set limits --> read the catalogue --> run the statement --> ROLLBACK

Each query has its own connection. The limits apply to the transaction only, because behind a pooler others share the
session. Every cell is fetched as text and cut by the server, so types of columns and sizes of cells do not matter here.
Give Aldis a role that can select what is listed and no more.

asyncpg is an extra; this module is imported when such a database is first queried.

Source: postgresql.org/docs/18, "Client Connection Defaults", "System Catalogs"; asyncpg 0.32.0 (2026-11-22).
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  (it has none)

from tools.databases.options import Access
from tools.databases.query import (
    MAX_CELL_CHARS,
    NOT_THERE,
    Dialect,
    Rows,
    TableQuery,
    quote_identifier,
    statement,
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

# The columns of tables, partitioned tables, views, materialised views and foreign tables: name, type without length,
# category.
_CATALOGUE = """
SELECT attribute.attname::text, format_type(attribute.atttypid, NULL), declared.typcategory::text
  FROM pg_class AS relation
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  JOIN pg_attribute AS attribute ON attribute.attrelid = relation.oid
  JOIN pg_type AS declared ON declared.oid = attribute.atttypid
 WHERE namespace.nspname = $1::text AND relation.relname = $2::text AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND attribute.attnum > 0 AND NOT attribute.attisdropped
"""
_COMPARABLE = frozenset("ABDENST")
"""Categories whose values are compared as such: array, truth, date, enumeration, number, text, interval."""
_NUMBER = "N"
_WHOLE = re.compile(r"-?[0-9]{1,15}")

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
    (asyncpg.DataError, BadArguments, "A value does not fit the type of its column."),
    (asyncpg.UndefinedFunctionError, BadArguments, "This cannot be asked of a column of this type."),
    (asyncpg.PostgresError, Unavailable, "The database could not answer this."),
    (UnicodeDecodeError, Unavailable, "The database contains text in an unreadable encoding."),
    (asyncpg.InterfaceError, Unavailable, "The answer of the database cannot be read."),
    (asyncpg.InternalClientError, Unavailable, "The answer of the database cannot be read."),
    (OSError, Unavailable, "The database cannot be reached."),
)
_FAILURES: tuple[type[BaseException], ...] = tuple(foreign for foreign, _, _ in _TRANSLATIONS)


_Connection = Any
"""asyncpg's connection, which has no types."""
_connect: Any = asyncpg.connect  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
_Columns = Mapping[str, Sequence[Any]]
"""The rows of the catalogue by the name of the column."""


class Postgres:
    """A database on a server."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._places = asyncio.Semaphore(_QUESTIONS_AT_ONCE)

    async def ask(self, question: TableQuery) -> Rows:
        """See `ReadableDatabase.ask`."""
        async with self._reading() as connection:
            columns = {row[0]: row for row in await connection.fetch(_CATALOGUE, *_split(question.table))}
            if not columns.keys() >= question.columns:
                raise Disabled(NOT_THERE)
            source = ".".join(map(quote_identifier, _split(question.table)))
            sql, values = statement(question, source, _dialect(columns))
            # Truth is written `true`, as in JSON.
            spelled = (str(value).lower() if isinstance(value, bool) else str(value) for value in values)
            rows = await connection.fetch(sql, *spelled)
            are_numbers = [
                figure.column is None
                or figure.function in {"count", "sum", "average"}
                or columns[figure.column][2] == _NUMBER
                for figure in question.shown
            ]
            # Whole numbers as such, fractions as texts, with every digit.
            return [
                tuple(
                    int(cell) if cell and is_number and _WHOLE.fullmatch(cell) else cell
                    for cell, is_number in zip(row, are_numbers, strict=True)
                )
                for row in rows
            ]

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


def _dialect(columns: _Columns) -> Dialect:
    """Returns the dialect. Values are sent as text and cast to the column's type; odd types compare as text."""

    def placeholder(number: int, column: str) -> str:
        is_cast = column and columns[column][2] in _COMPARABLE
        return f"CAST(${number:d}::text AS {columns[column][1]})" if is_cast else f"${number:d}::text"

    def spell(column: str) -> str:
        expression = f"t.{quote_identifier(column)}"
        return expression if columns[column][2] in _COMPARABLE else f"{expression}::text"

    return Dialect(
        placeholder=placeholder,
        column=spell,
        cell=f"left(({{x}})::text, {MAX_CELL_CHARS + 1})",
        numbers="{x}",
        average="avg({x})::float8",
        folded="lower(({x})::text)",
        position="strpos",
    )


def _split(name: str) -> tuple[str, str]:
    """Returns the schema and the table of a name such as `sales.orders`; the default schema is `public`."""
    schema, _, table = name.rpartition(".")
    return schema or _DEFAULT_SCHEMA, table
