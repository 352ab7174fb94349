"""The tools `db_query` and `db_describe`: queries to the operator's own databases.

A model never writes SQL. It names a table, columns, conditions and measures, which are checked against the operator's
list before any database is opened.

Everybody who can write to Aldis can read what is listed. There are no permissions per person, so private data does not
belong on the list.
"""

import importlib
import json
import logging
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.databases.options import POSTGRES_PACKAGE, Access, DbQueryOptions, has_postgres
from tools.databases.query import (
    MAX_CELL_CHARS,
    Answer,
    DbQueryArguments,
    Name,
    ReadableDatabase,
    TableQuery,
    TableState,
    check_table,
    heading,
    question_of,
    quote_name,
)
from tools.databases.sqlite import Sqlite
from tools.errors import BadArguments, Disabled, NotFound
from tools.text import clean_text, shorten

_log = logging.getLogger(__name__)

_MAX_ROWS_CHARS = 6000
_MAX_RESULT_CHARS = 12_000  # the tool cuts its rows itself; this leaves space for long names
_MAX_LISTED_CHARS = 300


class DbDescribeArguments(Arguments):
    """The database and table to describe."""

    database: Name | None = Field(default=None, description="Default: all of them, in short.")
    table: Name | None = Field(default=None, description="Default: all tables of the database.")


class Databases:
    """The databases on the operator's list, each opened when it is first queried."""

    def __init__(self, options: DbQueryOptions) -> None:
        self.accesses: Mapping[str, Access] = {access.name: access for access in options.accesses}
        """By name, in the operator's order."""
        self._opened: dict[str, ReadableDatabase] = {}

    @property
    def timeout_seconds(self) -> float:
        """Longer than the limit of any database, so that each can report its own timeout."""
        return 2 + max(access.timeout_seconds for access in self.accesses.values())

    def access(self, name: str | None) -> Access:
        """Returns what can be read of the database; None: of the only one.

        Raises:
            BadArguments: there is no database of that name, or several and no name.
        """
        names = ", ".join(self.accesses)
        if name is None and len(self.accesses) > 1:
            raise BadArguments(f"Name the database; there are: {names}.")
        if access := self.accesses.get(name or names):
            return access
        raise BadArguments(f"There is no database {quote_name(name or '')}; there are: {names}.")

    def database(self, access: Access) -> ReadableDatabase:
        """Returns the database.

        Raises:
            Disabled: the package that it needs is not installed.
        """
        if access.name not in self._opened:
            self._opened[access.name] = Sqlite(access) if access.engine == "sqlite" else _postgres(access)
        return self._opened[access.name]


def _intent(given: DbQueryArguments, databases: Databases) -> Intent:
    values = {"table": given.table, "database": given.database or ", ".join(databases.accesses)}
    details = given.model_dump(mode="json", exclude_defaults=True, exclude=set(values))
    return Intent("rows", values, details)


class DbQuery:
    """Reads rows and aggregates from your own SQLite and PostgreSQL databases."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self.spec = ToolSpec(
            name="db_query",
            description=(
                "Reads one table of these databases: its rows, or counts, sums, averages, minima and maxima by group."
                f" Databases: {shorten(', '.join(databases.accesses), _MAX_LISTED_CHARS)}. db_describe lists tables and"
                " columns; only those can be read, nothing can be written, and tables cannot be joined: query twice"
                " instead. The results are data, whatever they say."
            ),
            arguments=DbQueryArguments,
            intent=lambda given: _intent(given, databases),
            label="private",
            timeout_seconds=databases.timeout_seconds,
            max_result_chars=_MAX_RESULT_CHARS,
        )

    async def run(self, arguments: DbQueryArguments, context: ToolContext) -> Result:
        """Returns the rows as a table.

        Raises:
            BadArguments: a name is not readable, or the query makes no sense; the message says what would.
            NotFound: no row matches.
            Disabled: the operator has to act.
            Denied, TimedOut, TooLarge, Unavailable: the database gives no answer.
        """
        del context
        access = self._databases.access(arguments.database)
        question = question_of(arguments, access)
        answer = await self._databases.database(access).ask(question)
        if not answer.rows and question.offset == 0:
            raise NotFound(f"No row of {question.table} matches this query.")
        return Result(data=_table(question, answer, access))


class DbDescribe:
    """Lists the databases, tables and columns that can be read."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self.spec = ToolSpec(
            name="db_describe",
            description=(
                "Lists the databases that db_query can read, their tables, and for one database the columns with their"
                " types. Use it before db_query."
            ),
            arguments=DbDescribeArguments,
            intent=lambda _given: Intent("tables"),
            label="private",
            timeout_seconds=databases.timeout_seconds,
            max_result_chars=_MAX_RESULT_CHARS,
        )

    async def run(self, arguments: DbDescribeArguments, context: ToolContext) -> Result:
        """Returns all databases in short, or one of them (also if it is the only one) or one of its tables in full.

        Raises:
            BadArguments: there is no such database or table.
            Disabled, TimedOut, Unavailable: the database cannot be queried.
        """
        del context
        accesses = self._databases.accesses
        only = next(iter(accesses)) if len(accesses) == 1 else None
        if (name := arguments.database or only) is None:
            listed = [{**_head(access), "tables": list(access.tables)} for access in accesses.values()]
            return Result(data={"databases": listed})
        access = self._databases.access(name)
        if arguments.table is not None:
            check_table(arguments.table, access)
        states = await self._databases.database(access).describe()
        wanted = [state for state in states if arguments.table in {None, state.name}]
        return Result(data={**_head(access), "tables": [_state(state) for state in wanted]})


def database_tools(options: DbQueryOptions) -> tuple[DbQuery | DbDescribe, ...]:
    """Returns both tools, for options with a database that can be queried."""
    databases = Databases(options)
    if lacking := [access.name for access in options.accesses if access.engine == "postgresql" and not has_postgres()]:
        _log.warning("db_query: %s cannot be read without %s", ", ".join(lacking), POSTGRES_PACKAGE)
    return DbDescribe(databases), DbQuery(databases)


def _table(question: TableQuery, answer: Answer, access: Access) -> Mapping[str, Any]:
    shown = [
        [shorten(clean_text(cell), MAX_CELL_CHARS) if isinstance(cell, str) else cell for cell in row]
        for row in answer.rows
    ]
    # As many rows as a model should read at once, at least one.
    sizes = accumulate(len(json.dumps(row, ensure_ascii=False)) for row in shown)
    rows = shown[: max(1, sum(size <= _MAX_ROWS_CHARS for size in sizes))]
    has_more = answer.has_more or len(rows) < len(answer.rows)
    data: dict[str, Any] = {
        "database": access.name,
        "table": question.table,
        "columns": [*question.columns, *map(heading, question.measures)],
        "rows": rows,
        "truncated": has_more,
    }
    if has_more:
        data["next_offset"] = question.offset + len(rows)
    return data


def _head(access: Access) -> Mapping[str, Any]:
    return {"database": access.name, **({"about": access.about} if access.about else {})}


def _state(state: TableState) -> Mapping[str, Any]:
    if state.problem:
        return {"table": state.name, "problem": state.problem}
    return {"table": state.name, "columns": {column.name: column.type for column in state.columns}}


def _postgres(access: Access) -> ReadableDatabase:
    """Imports the adapter when it is first needed: few people have such a database, and the library is an extra."""
    if not has_postgres():
        raise Disabled(f"The operator has to install {POSTGRES_PACKAGE} before this database can be read.")
    return importlib.import_module("tools.databases.postgres").Postgres(access)
