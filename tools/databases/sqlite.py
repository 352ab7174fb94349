"""Reads an SQLite file of the operator, without ever writing to it.

    in a thread: open (mode=ro) --> BEGIN --> read the catalogue --> run the statement --> close
                  '------- brake: stops it at the deadline, or when the caller has stopped waiting -------'

Each query opens the file again, as it may have been replaced, and holds nothing that another program waits for. A file
in write-ahead mode that nobody has open is read as immutable: SQLite would otherwise create the files of the log beside
it, which fails in a read-only folder, and elsewhere leaves files that the owner may be unable to write.

A view that the operator lists can read the tables it is made of.

Source: sqlite.org, "Defense Against The Dark Arts", "Datatypes In SQLite", "Write-Ahead Logging" (on
read-only databases), "Database File Format" (2026-11-22).
"""

import asyncio
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from tools.databases.options import Access, path_of
from tools.databases.query import (
    MAX_CELL_CHARS,
    Answer,
    Bind,
    Cell,
    Column,
    Condition,
    Kind,
    Measure,
    TableQuery,
    TableState,
    column_of,
    no_column,
    no_table,
    quote_identifier,
    rows_of,
)
from tools.errors import Disabled, TimedOut, TooLarge, ToolError, Unavailable

_T = TypeVar("_T")
_Work = Callable[[sqlite3.Connection], _T]

_QUESTIONS_AT_ONCE = 2
_STEPS_BETWEEN_LOOKS = 1000  # of SQLite's virtual machine: well under a millisecond
_MAX_LOCK_SECONDS = 1.0
_HEADER_BYTES = 100
_FORMATS = slice(18, 20)  # the write and read versions in the header
_WITH_LOG = b"\x02\x02"
_MAX_VALUE_BYTES = 16_000_000  # SQLite refuses to touch anything longer
_LIMITS: Mapping[int, int] = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_PRAGMAS = ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "cache_size = -8000")

_FINDS = "aldis_finds"

# By primary code. SQLite's own messages are left out, as they may quote data.
_TRANSLATIONS: Mapping[int, tuple[type[ToolError], str]] = {
    sqlite3.SQLITE_BUSY: (Unavailable, "Another program has locked the database; try again later."),
    sqlite3.SQLITE_LOCKED: (Unavailable, "Another program has locked the database; try again later."),
    sqlite3.SQLITE_INTERRUPT: (TimedOut, "The database did not answer in time; ask for less."),
    sqlite3.SQLITE_TOOBIG: (TooLarge, "A value in these rows is too large to read; ask for other columns or rows."),
    sqlite3.SQLITE_CANTOPEN: (Disabled, "The database cannot be opened: the operator has to check its address."),
    sqlite3.SQLITE_NOTADB: (Disabled, "The file is no SQLite database: the operator has to check its address."),
    sqlite3.SQLITE_CORRUPT: (Unavailable, "The database is damaged."),
    # It groups and sorts in temporary files, for which a container has little space.
    sqlite3.SQLITE_FULL: (TooLarge, "There is no space to group or sort so many rows; ask for less."),
    # Its program died while writing; undoing the unfinished transaction requires writing.
    sqlite3.SQLITE_READONLY: (
        Unavailable,
        "A program died while writing to the database: the operator has to let it open the database again.",
    ),
}
_OTHERWISE = (Unavailable, "The database could not answer this.")
_OVERFLOW = "integer overflow"

_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_SQL_FUNCTIONS = {"count": "count", "sum": "sum", "average": "avg", "min": "min", "max": "max"}


class Brake:
    """Stops SQLite at a deadline, or when nobody waits any longer."""

    def __init__(self, seconds: float) -> None:
        """Sets the deadline to `seconds` from now."""
        self._ends_at = time.monotonic() + seconds
        self._is_pulled = threading.Event()
        self._connection: sqlite3.Connection | None = None

    def attach(self, connection: sqlite3.Connection) -> None:
        """Attaches it to a connection, on which SQLite regularly asks whether to stop."""
        self._connection = connection
        connection.set_progress_handler(self.is_due, _STEPS_BETWEEN_LOOKS)

    def is_due(self) -> bool:
        """Whether SQLite has to stop."""
        return self._is_pulled.is_set() or time.monotonic() > self._ends_at

    def pull(self) -> None:
        """Stops it from another thread. Counting a whole table, for instance, is one long step without a check."""
        self._is_pulled.set()
        if self._connection is not None:
            try:
                self._connection.interrupt()
            except sqlite3.ProgrammingError:  # it is closed already
                return


class Sqlite:
    """A database in a file."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._path = path_of(access)
        # Its own threads, so that an unresponsive disk holds up only this database.
        self._places = asyncio.Semaphore(_QUESTIONS_AT_ONCE)
        self._threads = ThreadPoolExecutor(_QUESTIONS_AT_ONCE, thread_name_prefix="database")

    async def ask(self, question: TableQuery) -> Answer:
        """See `ReadableDatabase.ask`."""
        return await self._in_thread(lambda connection: self._answer(connection, question))

    async def describe(self) -> tuple[TableState, ...]:
        """See `ReadableDatabase.describe`."""
        names = self._access.tables
        return await self._in_thread(lambda connection: tuple(self._state(connection, name) for name in names))

    async def _in_thread(self, work: _Work[_T]) -> _T:
        """Does the work in a thread with a connection. Cancelling the caller stops the work, too.

        Raises:
            ToolError: see `ReadableDatabase.ask`.
        """
        brake = Brake(self._access.timeout_seconds)
        try:
            async with asyncio.timeout(self._access.timeout_seconds), self._places:
                return await asyncio.get_running_loop().run_in_executor(self._threads, self._worked, brake, work)
        except TimeoutError as error:
            kind, text = _TRANSLATIONS[sqlite3.SQLITE_INTERRUPT]
            raise kind(text) from error
        finally:
            brake.pull()

    def _worked(self, brake: Brake, work: _Work[_T]) -> _T:
        if not _is_file(Path(self._path)):  # a pipe or terminal would block the thread for good
            raise Disabled("The database does not exist: the operator has to check its address.")
        rest = _rest(Path(self._path))
        try:
            with closing(self._open(brake, is_at_rest=rest is not None)) as connection:
                connection.execute("BEGIN")
                done = work(connection)
        except sqlite3.Error as error:
            raise _translated(error) from error
        if rest is not None and rest != _rest(Path(self._path)):  # the data read may be half old and half new
            raise Unavailable("Another program is writing to the database; try again.")
        return done

    def _open(self, brake: Brake, *, is_at_rest: bool) -> sqlite3.Connection:
        lock_seconds = min(_MAX_LOCK_SECONDS, self._access.timeout_seconds / 2)
        address = f"file:{quote(self._path)}?mode=ro{'&immutable=1' if is_at_rest else ''}"
        connection = sqlite3.connect(address, uri=True, timeout=lock_seconds, isolation_level=None, cached_statements=0)
        try:
            brake.attach(connection)
            _restrain(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _answer(self, connection: sqlite3.Connection, question: TableQuery) -> Answer:
        table = _table(connection, question.table, self._access.tables[question.table])
        select = rows_of(question, quote_identifier(table.name), table.columns, _DIALECT)
        return question.answer([tuple(map(_cell, row)) for row in connection.execute(select.sql, select.parameters)])

    def _state(self, connection: sqlite3.Connection, name: str) -> TableState:
        try:
            table = _table(connection, name, self._access.tables[name])
            connection.execute(f"SELECT 1 FROM {quote_identifier(table.name)} LIMIT 0")  # noqa: S608  (quoted)
        except Disabled as problem:
            return TableState(name=name, problem=str(problem))
        except sqlite3.OperationalError as error:  # such as a view of a table that is gone
            if _code(error) != sqlite3.SQLITE_ERROR:
                raise
            return TableState(name=name, problem=str(_translated(error)))
        return TableState(name=name, columns=tuple(table.columns.values()))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """A readable table as found in the file."""

    name: str
    columns: Mapping[str, Column]
    """The columns by their name in the access."""


class _Dialect:
    """The dialect of SQLite, where any column can have cells of any type.

    Texts are compared by their characters, whatever collation the column has. Searches ignore case, which is done here
    because SQLite only does it for ASCII.
    """

    def placeholder(self, number: int) -> str:
        return f"?{number:d}"

    def fetch_expression(self, expression: str, kind: Kind) -> str:
        """Cuts texts; of a blob, fetches only the length, as a blob."""
        if kind != "any":
            return expression
        return (
            f"CASE typeof({expression}) WHEN 'text' THEN substr({expression}, 1, {MAX_CELL_CHARS + 1})"
            f" WHEN 'blob' THEN CAST(length({expression}) AS BLOB) ELSE {expression} END"
        )

    def plain(self, column: Column) -> str:
        """Without a collation, so that the length of a blob is known without reading it."""
        return column_of(column)

    def key(self, column: Column) -> str:
        return f"{column_of(column)} COLLATE BINARY"

    def measure_expression(self, measure: Measure, column: Column | None) -> tuple[str, Kind]:
        """Sums and averages include only numbers."""
        if column is None:
            return "count(*)", "integer"
        expression, function = self.key(column), _SQL_FUNCTIONS[measure.function]
        if measure.function in {"sum", "average"}:
            numbers = f"CASE WHEN typeof({expression}) IN ('integer', 'real') THEN {expression} END"
            return f"{function}({numbers})", "number"
        return f"{function}({expression})", "integer" if function == "count" else "any"

    def condition(self, column: Column, condition: Condition, bind: Bind) -> str:
        expression, operator = self.key(column), condition.operator
        if operator in _COMPARISONS:
            return f"{expression} {operator} {bind(condition.values[0])}"
        match operator:
            case "is_null":
                return f"{expression} IS NULL"
            case "is_not_null":
                return f"{expression} IS NOT NULL"
            case "in":
                return f"{expression} IN ({', '.join(map(bind, condition.values))})"
            case "between":
                low, high = map(bind, condition.values)
                return f"{expression} >= {low} AND {expression} <= {high}"
            case _:
                word, at_start = bind(str(condition.values[0])), int(operator == "starts_with")
                return f"typeof({expression}) <> 'blob' AND {_FINDS}(CAST({expression} AS BLOB), {word}, {at_start:d})"


_DIALECT = _Dialect()


def _finds(cell: bytes | None, word: str, at_start: int) -> bool | None:
    """Whether the cell contains the word, ignoring case. The cell comes as bytes because it may be no valid text."""
    if cell is None:
        return None
    text, folded = cell.decode(errors="replace").casefold(), word.casefold()
    return text.startswith(folded) if at_start else folded in text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no permission to look
        return False


def _rest(path: Path) -> tuple[int, int, int] | None:
    """Identifies the state of a file in write-ahead mode that nobody has open; None for any other file."""
    log = Path(f"{os.path.realpath(path)}-wal")  # beside the file itself, not beside a link to it
    try:
        with path.open("rb") as file:
            header, state = file.read(_HEADER_BYTES), os.fstat(file.fileno())
        if header[_FORMATS] != _WITH_LOG or log.exists():
            return None
    except OSError:  # SQLite will say why
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns


def _restrain(connection: sqlite3.Connection) -> None:
    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    connection.create_function(_FINDS, 3, _finds, deterministic=True)


def _table(connection: sqlite3.Connection, name: str, columns: tuple[str, ...]) -> _Table:
    """Returns the table with its readable columns.

    Raises:
        Disabled: the file has no such table or column, or the table is a virtual one.
    """
    found = connection.execute(
        "SELECT name, type, coalesce(rootpage, 0) FROM sqlite_master"
        " WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
        (name,),
    ).fetchone()
    if found is None:
        raise no_table(name)
    stored_name, kind, root = found
    if kind == "table" and not root:
        raise Disabled(f"The table {name!r} is virtual and cannot be read here.")
    stored = connection.execute("SELECT name, type FROM pragma_table_xinfo(?1) WHERE hidden <> 1", (stored_name,))
    by_name = {_fold(each): (each, declared) for each, declared in stored}
    found_columns: dict[str, Column] = {}
    for column in columns:
        if (folded := _fold(column)) not in by_name:
            raise no_column(name, column)
        stored_column, declared = by_name[folded]
        type_ = declared[:60].lower() or "any"
        found_columns[column] = Column(name=column, stored_name=stored_column, type=type_, kind="any")
    return _Table(name=stored_name, columns=found_columns)


def _fold(name: str) -> str:
    """Lowers ASCII letters only, as SQLite does when it compares names."""
    return "".join(sign.lower() if sign.isascii() else sign for sign in name)


def _cell(stored: Any) -> Cell:
    if isinstance(stored, bytes):
        return f"[{stored.decode()} bytes]"
    if isinstance(stored, float) and not math.isfinite(stored):
        return str(stored)
    return stored


def _code(error: sqlite3.Error) -> int | None:
    """Returns the primary error code; None if the error is Python's own."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _translated(error: sqlite3.Error) -> ToolError:
    if str(error) == _OVERFLOW:
        return TooLarge("The sum is too large for the database; ask for the average.")
    kind, text = _TRANSLATIONS.get(_code(error) or 0, _OTHERWISE)
    return kind(text)
