"""Reads an SQLite file of the operator, without ever writing to it.

Each query opens the file again, as it may have been replaced, and holds nothing that another program waits for. A file
in write-ahead mode that no program has open is read as immutable: SQLite would otherwise create the files of the log
beside it, which fails in a read-only folder, and elsewhere leaves files that the owner may be unable to write.

A view that the operator lists can read the tables it is made of.

Source: sqlite.org, "Defense Against The Dark Arts", "Write-Ahead Logging" (on read-only databases), "Database File
Format" (2026-11-22).
"""

import asyncio
import math
import os
import sqlite3
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tools.databases.options import Access, path_of
from tools.databases.query import (
    MAX_CELL_CHARS,
    NOT_THERE,
    Cell,
    Dialect,
    Rows,
    TableQuery,
    quote_identifier,
    statement,
)
from tools.errors import Disabled, TimedOut, TooLarge, ToolError, Unavailable

_QUESTIONS_AT_ONCE = 2
_STEPS_BETWEEN_LOOKS = 1000  # of SQLite's virtual machine: well under a millisecond
_MAX_LOCK_SECONDS = 1.0
_FORMATS = slice(18, 20)  # the write and read versions in the header
_WITH_LOG = b"\x02\x02"
_MAX_VALUE_BYTES = 16_000_000  # SQLite refuses to touch anything longer
_PRAGMAS = ("query_only = ON", "trusted_schema = OFF", "mmap_size = 0", "cache_size = -8000")
_TOO_SLOW = "The database did not answer in time; ask for less."
_LOCKED = "Another program has locked the database; try again later."

# By primary code. SQLite's own messages are left out, as they may quote data.
_TRANSLATIONS: Mapping[int, tuple[type[ToolError], str]] = {
    sqlite3.SQLITE_BUSY: (Unavailable, _LOCKED),
    sqlite3.SQLITE_LOCKED: (Unavailable, _LOCKED),
    sqlite3.SQLITE_INTERRUPT: (TimedOut, _TOO_SLOW),
    sqlite3.SQLITE_TOOBIG: (TooLarge, "A value in these rows is too large to read; ask for other columns or rows."),
    sqlite3.SQLITE_CANTOPEN: (Disabled, "The database cannot be opened: the operator has to check its address."),
    sqlite3.SQLITE_NOTADB: (Disabled, "The file is no SQLite database: the operator has to check its address."),
    # It groups and sorts in temporary files, for which a container has little space.
    sqlite3.SQLITE_FULL: (TooLarge, "There is no space to group or sort so many rows; ask for less."),
}
_OTHERWISE = (Unavailable, "The database could not answer this.")

_DIALECT = Dialect(
    placeholder=lambda number, _column: f"?{number:d}",
    # With its table, as SQLite may read a quoted name alone as a string; by characters, whatever its collation.
    column=lambda name: f"t.{quote_identifier(name)} COLLATE BINARY",
    cell=(
        f"CASE typeof({{x}}) WHEN 'text' THEN substr({{x}}, 1, {MAX_CELL_CHARS + 1})"
        " WHEN 'blob' THEN '[' || length({x}) || ' bytes]' ELSE {x} END"
    ),
    numbers="CASE WHEN typeof({x}) IN ('integer', 'real') THEN {x} END",
    average="avg({x})",
    folded="aldis_fold(CAST({x} AS BLOB))",
    position="instr",
)


class Sqlite:
    """A database in a file."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._path = Path(path_of(access))
        # Its own threads, so that an unresponsive disk holds up only this database.
        self._places = asyncio.Semaphore(_QUESTIONS_AT_ONCE)
        self._threads = ThreadPoolExecutor(_QUESTIONS_AT_ONCE, thread_name_prefix="database")

    async def ask(self, question: TableQuery) -> Rows:
        """See `ReadableDatabase.ask`. Who no longer waits is read for until the time limit at most."""
        seconds = self._access.timeout_seconds
        try:
            async with asyncio.timeout(seconds), self._places:
                run = asyncio.get_running_loop().run_in_executor
                return await run(self._threads, self._read, question, time.monotonic() + seconds)
        except TimeoutError as error:
            raise TimedOut(_TOO_SLOW) from error

    def _read(self, question: TableQuery, ends_at: float) -> Rows:
        if not self._path.is_file():  # a pipe or terminal would block the thread for good
            raise Disabled("The database does not exist: the operator has to check its address.")
        address = f"file:{quote(str(self._path))}?mode=ro{'&immutable=1' if _rests(self._path) else ''}"
        lock_seconds = min(_MAX_LOCK_SECONDS, self._access.timeout_seconds / 2)
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=lock_seconds, isolation_level=None)) as connection:
                connection.set_progress_handler(lambda: time.monotonic() > ends_at, _STEPS_BETWEEN_LOOKS)
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
                for pragma in _PRAGMAS:
                    connection.execute(f"PRAGMA {pragma}").close()
                connection.text_factory = partial(str, encoding="utf-8", errors="replace")
                connection.create_function("aldis_fold", 1, _fold, deterministic=True)
                found = connection.execute(*statement(question, quote_identifier(question.table), _DIALECT))
                return [tuple(map(_cell, row)) for row in found]
        except sqlite3.Error as error:
            if str(error).startswith("no such "):
                raise Disabled(NOT_THERE) from error
            code = getattr(error, "sqlite_errorcode", None) or 0
            kind, text = _TRANSLATIONS.get(code & 0xFF, _OTHERWISE)
            raise kind(text) from error


def _fold(cell: bytes | None) -> str | None:
    """Returns the text as it is searched. It comes as bytes because it may be no valid text."""
    return None if cell is None else cell.decode(errors="replace").casefold()


def _rests(path: Path) -> bool:
    """Whether the file is in write-ahead mode and no program has it open."""
    log = Path(f"{os.path.realpath(path)}-wal")  # beside the file itself, not beside a link to it
    with suppress(OSError), path.open("rb") as file:  # SQLite will say why
        return file.read(_FORMATS.stop)[_FORMATS] == _WITH_LOG and not log.exists()
    return False


def _cell(stored: Any) -> Cell:
    return str(stored) if isinstance(stored, float) and not math.isfinite(stored) else stored
