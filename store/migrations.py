"""The schema: SQL files in `store/schema`, the whole of schema 36 and numbered steps after it. SQLite's `user_version`
holds the number of the last one. Earlier stores are carried over by `store.upgrade`.
"""

import re
import sqlite3
from importlib.resources import files
from itertools import takewhile

from store.errors import SchemaTooNew

BASE = 36
"""The schema that stands in one file."""

_STATISTICS = {
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1 ( tbl , idx , stat )"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4 ( tbl , idx , neq , nlt , ndlt , sample )"),
}
"""Tables that `ANALYZE` creates. Source: sqlite.org/fileformat2.html, 2.6 (2026-11-24)."""


_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\w+|\S)""", re.DOTALL
)
"""A comment, or in its group a token. Source: sqlite.org/lang_keywords.html and lang_comment.html (2026-11-24)."""


def _scripts() -> list[tuple[int, str]]:
    folder = files("store").joinpath("schema")
    scripts = [(int(file.name.partition("_")[0]), file.read_text("utf-8")) for file in folder.iterdir()]
    return sorted(scripts)


def newest() -> int:
    """Returns the number of the newest schema this Aldis knows."""
    return _scripts()[-1][0]


def steps_after(version: int) -> tuple[tuple[int, str], ...]:
    """Returns each later migration: its number, and the first sentence of its head comment."""
    return tuple((number, _purpose(script)) for number, script in _scripts() if number > version)


def _purpose(script: str) -> str:
    lines = takewhile(lambda line: line.startswith("--"), script.splitlines())
    return " ".join(line.removeprefix("--").strip() for line in lines).partition(". ")[0].rstrip(".")


def has_no_schema(connection: sqlite3.Connection) -> bool:
    """Whether the file is new: no migration has ever run in it."""
    return connection.execute("PRAGMA main.user_version").fetchone()[0] == 0


def build(connection: sqlite3.Connection, version: int) -> None:
    """Creates the tables of schema `version` (36 or later) in an empty file."""
    connection.executescript("".join(script for number, script in _scripts() if number <= version))


def definitions(connection: sqlite3.Connection, schema: str) -> set[tuple[str, str]]:
    """Returns the name and statement of each table and index, without what differs between versions of SQLite.

    Two files with equal definitions make SQLite compute the same while it checks them and writes to them
    (constraints, indexes on expressions, generated columns). Triggers and views are left out.
    Comments do not count: SQLite keeps those within a statement, and nothing may hide in one.
    """
    query = f"SELECT name, sql FROM {schema}.sqlite_master WHERE type IN ('table', 'index')"  # noqa: S608  (our own names)
    return {(name, _tokens(sql or "")) for name, sql in connection.execute(query)} - _STATISTICS


def _tokens(statement: str) -> str:
    """Returns the tokens of a statement with a space between them, without comments and quotes that are not needed."""
    tokens = (found[1] for found in _TOKEN.finditer(statement) if found[1])
    return " ".join(token[1:-1] if token[0] in '"`' and token[1:-1].isidentifier() else token for token in tokens)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings a new store or one of schema 36 or later up to date, in one transaction; does nothing to an earlier one.

    Raises:
        SchemaTooNew: a newer Aldis wrote this file; nothing has changed.
        sqlite3.Error: a migration failed; nothing has changed.
    """
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    scripts = _scripts()
    [*_, (last, _)] = scripts
    if version > last:
        raise SchemaTooNew(f"the store has schema {version}, this Aldis knows schemas up to {last}: start a newer one")
    missing = "\n".join(script for number, script in scripts if number > version)
    if not missing or 0 < version < BASE:
        return
    try:
        connection.executescript(f"BEGIN IMMEDIATE; {missing} PRAGMA main.user_version = {last}; COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
