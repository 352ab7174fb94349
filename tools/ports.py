"""What tools need from the rest of Aldis, as small protocols: tools know neither the store nor the bot.

Who stands behind a port is handed over in `bot/app.py`. The names in a `ToolContext` are opaque: a tool hands the
context on and reads nothing out of it.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from tools.base import ToolContext

Every = Literal["hour", "day", "week", "month", "year"]
"""What a repetition counts. Seconds and minutes are no reminders."""

Weekday = Literal["mo", "tu", "we", "th", "fr", "sa", "su"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """How often something comes again, by the clock on the wall of its time zone (`hour`: by elapsed time)."""

    every: Every
    interval: int = 1
    """Every so many hours, days, ..."""
    weekdays: tuple[Weekday, ...] = ()
    """Only on these days; with `month` exactly one, together with `nth`."""
    nth: int | None = None
    """Which of these weekdays of the month: 1 to 4, or -1 for the last."""
    count: int | None = None
    """How often in all; None: without end."""
    until: date | None = None
    """The last day, by the time zone's calendar; None: without end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What somebody wants to be reminded of, and when: at a local time, or after a delay, perhaps again and again."""

    text: str
    prompt: str | None = None
    """What is to be asked then, as if the person asked it; None: they only hear `text`."""
    local: str | None = None
    """`YYYY-MM-DDTHH:MM` on the wall clock of the zone; with `repeat` the first time."""
    delay_seconds: int | None = None
    timezone: str | None = None
    """An IANA zone; None: the person's own."""
    repeat: Repeat | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """A reminder as it stands."""

    number: int
    """How its person calls it in this conversation, as long as it is planned."""
    text: str | None
    """None when its words have disappeared with the message that they came from."""
    prompt: str | None
    when: str
    """The next time: `Monday 2026-11-23 08:00 Europe/Berlin`."""
    due_at: datetime
    """The same, aware, in UTC."""
    timezone: str
    """The IANA zone by which it is reckoned."""
    repeat: Repeat | None
    is_shifted: bool = False
    """Whether the clocks skip the time that was wished for, so that it comes an hour later on that day."""
    loses_words: bool = False
    """Whether its words disappear before its time, with the message that they came from."""
    zone_is_known: bool = True
    """Whether the person has told their time zone, or named one now."""


class Reminders(Protocol):
    """The reminders of the person in the conversation of the context."""

    async def add(self, wish: Wish, context: ToolContext) -> Planned:
        """Plan one; the same call again, after a crash, plans nothing more.

        Raises:
            BadArguments: there is no such time, it is over, or it is too far away; the message says which.
            RateLimited: the person has as many as one may have.
            Denied: the question was taken back, or is itself a reminder that is run.
        """
        ...

    async def planned(self, context: ToolContext) -> tuple[Planned, ...]:
        """Those that are planned, the next one first."""
        ...

    async def cancel(self, number: int, context: ToolContext) -> Planned:
        """Cancel one; gives what it was.

        Raises:
            NotFound: there is none of this number.
        """
        ...

    async def keep_timezone(self, name: str, context: ToolContext) -> str:
        """The person lives in this zone from now on, everywhere; gives its name.

        Raises:
            BadArguments: there is no such zone.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """One fact that is remembered about a person."""

    number: int
    """How the person calls it, as long as it is remembered."""
    fact: str
    until: str | None = None
    """When it disappears with the message that told it: `2026-11-23T08:00Z`; None: it stays until it is forgotten."""


class Memory(Protocol):
    """What is remembered about the person of the context, in the conversation that they have with Aldis alone."""

    async def remember(self, fact: str, context: ToolContext) -> Remembered:
        """Remember a fact; the same call again, after a crash, and the same fact again remember nothing more.

        Raises:
            Denied: it was asked in a group, by a reminder that is run, or the question was taken back.
            RateLimited: as many are remembered as may be.
        """
        ...

    async def forget(self, number: int, context: ToolContext) -> None:
        """Forget one.

        Raises:
            Denied: as `remember`.
            NotFound: there is none of this number.
        """
        ...


class Quotas(Protocol):
    """How often services of the outside were asked in the running month, over all restarts."""

    async def take(self, service: str, *, most: int) -> bool:
        """Count one more request to the service, unless `most` were counted this month; whether it may be sent."""
        ...
