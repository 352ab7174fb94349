"""Numbered SQL files that bring any older store to the present schema. The number is in SQLite's `user_version`."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
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


def lacks_tables(connection: sqlite3.Connection, version: int) -> bool:
    """Whether this is no store of that schema, which this Aldis knows: a table is missing, or a column of one."""
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript("".join(script for number, script in _scripts() if number <= version))
        return version <= 0 or not _columns(model) <= _columns(connection)


def _columns(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    found = connection.execute(
        "SELECT tables.name, columns.name FROM main.sqlite_master AS tables, pragma_table_info(tables.name, 'main') "
        "AS columns WHERE tables.type = 'table'"
    )
    return set(found)


@contextmanager
def without_triggers(connection: sqlite3.Connection) -> Generator[None]:
    """Within it nothing in the file runs by itself: the schema has no trigger, so whatever there is somebody else has
    put in. Afterwards it is there again, for whoever looks the file through and says so (`store.guard`).
    """
    found = connection.execute("SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in found:
        quoted = name.replace('"', '""')
        connection.execute(f'DROP TRIGGER main."{quoted}"')
    try:
        yield
    finally:
        for _, sql in found:
            with suppress(sqlite3.Error):  # what it was about may be gone
                connection.execute(sql)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, whole or not at all: all missing steps are one transaction.

    Raises:
        SchemaTooNew: a newer Aldis wrote this file; nothing is touched.
        sqlite3.Error: a step failed; the schema is the one from before.
    """
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    scripts = _scripts()
    [*_, (last, _)] = scripts
    if version > last:
        raise SchemaTooNew(f"the store has schema {version}, this Aldis knows schemas up to {last}: start a newer one")
    missing = "\n".join(script for number, script in scripts if number > version)
    if not missing:
        return
    try:
        with without_triggers(connection):
            connection.executescript(f"BEGIN IMMEDIATE; {missing} PRAGMA main.user_version = {last}; COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
