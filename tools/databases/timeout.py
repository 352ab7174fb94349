"""What ends a question to SQLite, which by itself ends when it is done.

SQLite --every so many steps--> is it due? <--deadline, or pulled-- whoever has stopped waiting, in another thread
"""

import sqlite3
import threading
import time

_STEPS_BETWEEN_LOOKS = 1000  # of SQLite's machine: well under a millisecond


class Brake:
    """Ends what SQLite does: at its deadline, or when nobody waits any longer."""

    def __init__(self, seconds: float) -> None:
        """`seconds` from now on it may take in all."""
        self._ends_at = time.monotonic() + seconds
        self._is_pulled = threading.Event()
        self._connection: sqlite3.Connection | None = None

    def attach(self, connection: sqlite3.Connection) -> None:
        """Act on this connection. SQLite asks every so many steps whether to stop."""
        self._connection = connection
        connection.set_progress_handler(self.is_due, _STEPS_BETWEEN_LOOKS)

    def halve(self) -> None:
        """From now on, take half of the time that is left at most."""
        now = time.monotonic()
        self._ends_at = now + (self._ends_at - now) / 2

    def is_due(self) -> bool:
        """Whether SQLite has to stop."""
        return self._is_pulled.is_set() or time.monotonic() > self._ends_at

    def pull(self) -> None:
        """Stop it from another thread; counting a whole table, say, is one long step that asks nobody."""
        self._is_pulled.set()
        if self._connection is not None:
            try:
                self._connection.interrupt()
            except sqlite3.ProgrammingError:  # it is closed already
                return
