"""Reads an SQLite file of the operator, without ever writing to it.

Each query opens the file again, as it may have been replaced, and holds nothing that another program waits for. A file
in write-ahead mode that no program has open is read as immutable: SQLite would otherwise create the files of the log
beside it, which fails in a read-only folder, and elsewhere leaves files that the owner may be unable to write.

A view that the operator lists can read the tables it is made of.

Source: sqlite.org, "Write-Ahead Logging" (on read-only databases), "Database File Format" (2026-11-22).
"""

import asyncio
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from itertools import repeat
from pathlib import Path
from urllib.parse import quote

from tools.databases.options import Access
from tools.databases.query import MAX_CELL_CHARS, NOT_THERE, TOO_SLOW, Rows, TableQuery, quote_identifier
from tools.errors import Disabled, TimedOut, Unavailable

_QUESTIONS_AT_ONCE = 2
_STEPS_BETWEEN_LOOKS = 1000  # of SQLite's virtual machine: well under a millisecond
_MAX_LOCK_SECONDS = 1.0
_FORMATS = slice(18, 20)  # the write and read versions in the header
_WITH_LOG = b"\x02\x02"
_MAX_VALUE_BYTES = 16_000_000  # SQLite refuses to touch anything longer

_CELL = (
    f"CASE typeof({{x}}) WHEN 'text' THEN substr({{x}}, 1, {MAX_CELL_CHARS + 1})"
    " WHEN 'blob' THEN '[' || length({x}) || ' bytes]' ELSE {x} END"
)


class Sqlite:
    """A database in a file."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._path = access.sqlite_file
        # Its own threads, so that an unresponsive disk holds up only this database.
        self._threads = ThreadPoolExecutor(_QUESTIONS_AT_ONCE, thread_name_prefix="database")

    async def ask(self, question: TableQuery) -> Rows:
        """See `ReadableDatabase.ask`. Who no longer waits is read for until the time limit at most."""
        seconds = self._access.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                run = asyncio.get_running_loop().run_in_executor
                return await run(self._threads, self._read, question, time.monotonic() + seconds)
        except TimeoutError as error:
            raise TimedOut(TOO_SLOW) from error

    def _read(self, question: TableQuery, ends_at: float) -> Rows:
        address = f"file:{quote(str(self._path))}?mode=ro{'&immutable=1' if _rests(self._path) else ''}"
        lock_seconds = min(_MAX_LOCK_SECONDS, self._access.timeout_seconds / 2)
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=lock_seconds, isolation_level=None)) as connection:
                connection.set_progress_handler(lambda: time.monotonic() > ends_at, _STEPS_BETWEEN_LOOKS)
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
                connection.text_factory = partial(str, encoding="utf-8", errors="replace")
                # As in PostgreSQL: SQLite's own `lower` knows the letters of ASCII alone.
                connection.create_function("lower", 1, _lower)
                connection.create_function("strpos", 2, _strpos)
                sql = question.sql(quote_identifier(question.table), cell=_CELL, placeholders=repeat("?"))
                return connection.execute(sql, question.values).fetchall()
        except sqlite3.Error as error:
            # SQLite's own message is left out, as it may quote data.
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            if str(error).startswith("no such "):
                raise Disabled(NOT_THERE) from error
            if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB}:
                raise Disabled("The database cannot be opened: the operator has to check its address.") from error
            if code == sqlite3.SQLITE_INTERRUPT:
                raise TimedOut(TOO_SLOW) from error
            raise Unavailable("The database is locked, or could not answer this; ask later, or for less.") from error


def _rests(path: Path) -> bool:
    """Whether the file is in write-ahead mode and no program has it open."""
    log = Path(f"{os.path.realpath(path)}-wal")  # beside the file itself, not beside a link to it
    with suppress(OSError), path.open("rb") as file:  # SQLite will say why
        return file.read(_FORMATS.stop)[_FORMATS] == _WITH_LOG and not log.exists()
    return False


def _lower(text: str | None) -> str | None:
    return None if text is None else text.casefold()


def _strpos(text: str | None, part: str) -> int:
    return 0 if text is None else text.find(part) + 1
