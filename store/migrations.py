"""Numbered SQL files that bring any older store to the present schema. The number is in SQLite's `user_version`."""

import sqlite3
from importlib.resources import files
from itertools import takewhile

from store.errors import SchemaTooNew


def _scripts() -> list[tuple[int, str]]:
    folder = files("store").joinpath("schema")
    scripts = [(int(file.name.partition("_")[0]), file.read_text("utf-8")) for file in folder.iterdir()]
    return sorted(scripts)


def newest() -> int:
    """The number of the newest schema this Aldis knows."""
    return _scripts()[-1][0]


def steps_after(version: int) -> tuple[tuple[int, str], ...]:
    """Returns each later step: its number, and the first sentence of what it is for."""
    return tuple((number, _purpose(script)) for number, script in _scripts() if number > version)


def _purpose(script: str) -> str:
    lines = takewhile(lambda line: line.startswith("--"), script.splitlines())
    return " ".join(line.removeprefix("--").strip() for line in lines).partition(". ")[0].rstrip(".")


def has_no_schema(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever written into this file."""
    return connection.execute("PRAGMA main.user_version").fetchone()[0] == 0


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, each step in a transaction of its own.

    Raises:
        SchemaTooNew: a newer Aldis wrote this file; nothing is touched.
        sqlite3.Error: a step failed; the schema is the one before it.
    """
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    if version > newest():
        raise SchemaTooNew(
            f"the store has schema {version}, this Aldis knows schemas up to {newest()}: start a newer one"
        )
    for number, script in _scripts():
        if number > version:
            _run(connection, f"BEGIN IMMEDIATE; {script} PRAGMA main.user_version = {number}; COMMIT;")


def _run(connection: sqlite3.Connection, script: str) -> None:
    try:
        connection.executescript(script)
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
