"""The time: the machine's, or one that a test sets. Aware UTC datetimes; nothing else in `bot` asks the machine."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        ...


class MachineClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        return datetime.now(UTC)


class SetClock:
    """A clock that stands still until it is moved: the double of the machine's."""

    def __init__(self, at: datetime) -> None:
        self._at = at.astimezone(UTC)

    def now(self) -> datetime:
        """The instant that was set, aware, in UTC."""
        return self._at

    def move(self, seconds: float) -> None:
        """Go forward by so many seconds (back where negative)."""
        self._at += timedelta(seconds=seconds)
