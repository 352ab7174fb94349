"""Reads a PostgreSQL database of the operator, without ever writing to it.

    connect --> BEGIN READ ONLY, set limits --> prepare, for the types --> run the statement --> ROLLBACK

Each query has its own connection. The limits apply to the transaction only, because behind a pooler others share the
session. Every cell is fetched as text and cut by the server, so types of columns and sizes of cells do not matter here.
Give Aldis a role that can select what is listed and no more. asyncpg is an extra, imported with the first query.

Source: postgresql.org/docs/18, "Client Connection Defaults", "Prepare"; asyncpg 0.32.0 (2026-11-22).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  (it has none)

from tools.databases.options import Access
from tools.databases.query import MAX_CELL_CHARS, NOT_THERE, TOO_SLOW, Rows, TableQuery, quote_identifier
from tools.errors import BadArguments, Disabled, TimedOut, ToolError, Unavailable

_QUESTIONS_AT_ONCE = 4  # connections, of which a server has few, and others need them, too
_GOODBYE_SECONDS = 1.0
_DEFAULT_SCHEMA = "public"
_BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {milliseconds:d};"
    " SET LOCAL search_path = pg_catalog; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'"
)

_TYPES = "SELECT format_type(oid, NULL) FROM unnest($1::oid[]) WITH ORDINALITY AS given (oid, number) ORDER BY number"

# The first match by class counts. The server's own messages are left out, as they may quote data.
_TRANSLATIONS: tuple[tuple[tuple[type[BaseException], ...], type[ToolError], str], ...] = (
    ((TimeoutError, asyncpg.QueryCanceledError), TimedOut, TOO_SLOW),
    (
        (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidAuthorizationSpecificationError),
        Disabled,
        "The database refuses Aldis: the operator has to check the login and what it may read.",
    ),
    ((asyncpg.InvalidCatalogNameError,), Disabled, "There is no such database: the operator has to check its address."),
    ((asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError), Disabled, NOT_THERE),
    ((asyncpg.DataError,), BadArguments, "A value does not fit the type of its column."),
    ((asyncpg.UndefinedFunctionError,), BadArguments, "This cannot be asked of a column of this type."),
    ((OSError,), Unavailable, "The database cannot be reached."),
    (
        (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, UnicodeDecodeError),
        Unavailable,
        "The database could not answer this.",
    ),
)
_FAILURES = tuple(foreign for kinds, _, _ in _TRANSLATIONS for foreign in kinds)

_Connection = Any
"""asyncpg's connection, which has no types."""
_connect: Any = asyncpg.connect  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


class Postgres:
    """A database on a server."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._places = asyncio.Semaphore(_QUESTIONS_AT_ONCE)

    async def ask(self, question: TableQuery) -> Rows:
        """See `ReadableDatabase.ask`."""
        seconds = self._access.timeout_seconds
        try:
            async with asyncio.timeout(seconds), self._places, self._connection() as connection:
                await connection.execute(_BEGIN.format(milliseconds=int(1000 * seconds)))
                rows = await _rows(connection, question)
                await connection.execute("ROLLBACK")
                return rows
        except _FAILURES as error:  # pyright: ignore[reportUnknownVariableType]
            raise next(kind(text) for kinds, kind, text in _TRANSLATIONS if isinstance(error, kinds)) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[_Connection]:
        """Opens a connection to the operator's address; at the end it is gone, whatever state the server is in."""
        # Without cached prepared statements, as poolers pass the session on.
        try:
            connection = await _connect(self._access.address.get_secret_value(), statement_cache_size=0)
        except ValueError:  # such as a port that is no number; the message repeats part of the address
            raise Disabled("The address cannot be read: the operator has to check it.") from None
        try:
            yield connection
        finally:
            try:
                await connection.close(timeout=_GOODBYE_SECONDS)
            except _FAILURES:
                connection.terminate()


async def _rows(connection: _Connection, question: TableQuery) -> Rows:
    schema, _, table = question.table.rpartition(".")
    source = f"{quote_identifier(schema or _DEFAULT_SCHEMA)}.{quote_identifier(table)}"
    # Prepared once, so that the server tells of which types the values are.
    plain = question.sql(source, cell="{x}", placeholders=map("${:d}".format, count(1)))
    prepared = await connection.prepare(plain, name="")
    types = [row[0] for row in await connection.fetch(_TYPES, [kind.oid for kind in prepared.get_parameters()])]
    casts = map("CAST(${:d}::text AS {})".format, count(1), types)
    sql = question.sql(source, cell=f"left(({{x}})::text, {MAX_CELL_CHARS + 1})", placeholders=casts)
    # Truth is written `true`, as in JSON.
    spelled = (str(value).lower() if isinstance(value, bool) else str(value) for value in question.values)
    return [tuple(row) for row in await connection.fetch(sql, *spelled)]
