"""Units of work that share a commit, each under its own savepoint, and the followers' work at its end.

    BEGIN . savepoint, work, release . savepoint, work, release . followers . COMMIT

One unit can fail without the others; a full disk fails all of them, because SQLite then rolls everything back. If the
followers' work fails, the units are kept without it.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from store.connection import translate_error


@dataclass(eq=False, frozen=True)
class Follower:
    """Work done at the end of a commit if one of its units calls for it."""

    prepare: Callable[[], Callable[[sqlite3.Connection], Any] | None]
    """Returns the work for the commit that begins now; None: no work. Runs on the event loop."""
    is_due: Callable[[Sequence[Any]], bool]
    """Whether the work is to be done, given the results of the units. Runs on the store's thread."""
    on_kept: Callable[[Any], None]
    """Called with the result once it is on the disk, before the units return. Runs on the event loop."""


@dataclass
class _Work:
    """Work for the store's thread, and its result or error."""

    work: Callable[[sqlite3.Connection], Any]
    result: Any = None
    error: BaseException | None = None


@dataclass
class UnitOfWork(_Work):
    """A unit of work and its caller."""

    kept: Callable[[Any], None] | None = None
    done: asyncio.Future[Any] = field(kw_only=True)
    due_at: float = 0.0
    """Until when it waits for the commit of another, by the event loop's clock."""

    def settle(self) -> None:
        """Tells the caller, who may have been cancelled. Runs on the event loop."""
        if self.error is None and self.kept is not None:
            self.kept(self.result)
        if self.done.done():
            return
        if self.error is None:
            self.done.set_result(self.result)
        else:
            self.done.set_exception(self.error)


@dataclass
class FollowerWork(_Work):
    """The work of a follower in one commit."""

    follower: Follower = field(kw_only=True)
    is_kept: bool = False


def commit_units(
    connection: sqlite3.Connection, units: Sequence[UnitOfWork], following: Sequence[FollowerWork] = ()
) -> None:
    """Runs the units and then the followers, and commits. Raises nothing: each unit has its result or error."""
    try:
        # Not IMMEDIATE, which would lock the key file each time; no other process writes anyway.
        connection.execute("BEGIN")
        if len(units) == 1:
            # Most units come alone and need no savepoint: two statements less.
            _attempt(connection, units[0], undo="ROLLBACK")
        else:
            for unit in units:
                connection.execute("SAVEPOINT unit")
                _attempt(connection, unit, undo="ROLLBACK TO unit")
                connection.execute("RELEASE unit")
        if connection.in_transaction:
            _run_followers(connection, units, following)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        if any(one.is_kept for one in following):
            # There may be space for the units without the followers.
            for unit in units:
                unit.error = None
            for one in following:
                one.is_kept = False
            commit_units(connection, units)
            return
        for unit in units:
            unit.error = unit.error or translate_error(error)


def _run_followers(
    connection: sqlite3.Connection, units: Sequence[UnitOfWork], following: Sequence[FollowerWork]
) -> None:
    """Does the followers' work at the end of a commit. Work that fails is undone and reported to nobody."""
    results = [unit.result for unit in units if unit.error is None]
    for one in following:
        if not one.follower.is_due(results):
            continue
        connection.execute("SAVEPOINT unit")
        one.is_kept = True
        _attempt(connection, one, undo="ROLLBACK TO unit")
        connection.execute("RELEASE unit")
        one.is_kept = one.error is None


def _attempt(connection: sqlite3.Connection, unit: _Work, *, undo: str) -> None:
    try:
        unit.result = unit.work(connection)
    except BaseException as error:
        unit.error = translate_error(error) if isinstance(error, sqlite3.Error) else error
        if isinstance(error, sqlite3.Error) and not connection.in_transaction:
            # SQLite rolled everything back (a full disk), the units before this one included.
            raise
        connection.execute(undo)
