"""Pure: when a reminder is due, the first time and each time after.

    local time + zone ---> instant     skipped by the clocks: as much later; twice on the clocks: the first of the two
    hour without its half > local time the next one from 7 to 22, or early in the day for what is done early
    delay ---------------> instant     elapsed time, whatever the clocks do
    repetition ----------> instants    computed on the zone's wall clock, each converted to an instant by itself

Source: the meaning of a skipped or repeated local time: RFC 5545, 3.3.5 (2009).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Literal, cast
from zoneinfo import ZoneInfo

from dateutil import rrule

from bot.settings.values import is_zone
from tools import NotFound, Repeat, Wish, zone_named

MAX_AHEAD = timedelta(days=5 * 366)
"""Nothing can be planned further ahead than five years."""

_FREQUENCIES: Mapping[str, Literal[0, 1, 2, 3]] = {
    "day": rrule.DAILY,
    "week": rrule.WEEKLY,
    "month": rrule.MONTHLY,
    "year": rrule.YEARLY,
}
_DAYS = {"mo": rrule.MO, "tu": rrule.TU, "we": rrule.WE, "th": rrule.TH, "fr": rrule.FR, "sa": rrule.SA, "su": rrule.SU}
_NOON = 12
_FIRST, _LAST = time(7), time(22)
"""Between them lies an hour that is named without its half of the day."""
_AT_DAWN = re.compile(
    r"\b(?:wak(?:e|ing)|woken|alarm|get(?:ting)? up|morning|sunrise|weck\w*|aufsteh\w*|aufwach\w*|morgen\w*|frühst\w*"
    r"|réveil\w*|me lever|matin\w*|despert\w*|despiert\w*|levant\w*|madrug\w*|por la mañana|breakfast|desayun\w*)\b",
    re.IGNORECASE,
)
"""What is done early, in four languages."""
_TRAVEL = re.compile(
    r"\b(?:flights?|flying|plane|airport|train(?! (?:the|my|our)\b)|flug\w*|flieger|zug|bahn\w*|vol|avion|aéroport"
    r"|vuelo|avión|aeropuerto|tren|gare)\b",
    re.IGNORECASE,
)
"""What is early, but may be late as well."""
_CLOCKS_CHANGE = timedelta(hours=26)
"""The most by which the order of two local times can differ from that of their instants."""


Reason = Literal["zone", "form", "over", "far", "many", "half"]
"""No such zone, no such time, in the past, too far away; too many reminders; or either half of the day may be meant."""


class UnfitWish(ValueError):
    """No such time, or none that can be planned; the message tells a model so in one sentence."""

    def __init__(self, reason: Reason, message: str, times: tuple[datetime, ...] = ()) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.times = times
        """By the wall clock: the time that is over, or the times between which the person has to choose."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The times of one reminder."""

    start_at: datetime
    """The first instant, aware, in UTC; a repetition is counted from it."""
    local: datetime
    """The same on the wall clock, without a zone: what was requested, even if the clocks skip it."""
    zone: str
    repeat: Repeat | None = None


def zone_meant(words: str) -> str | None:
    """Returns the time zone of this name, city or country; None if there is none."""
    try:
        _, zone = zone_named(words)
    except NotFound:
        return None
    # Abbreviations are zones of the database, too, some of them without summer time.
    return zone.key if isinstance(zone, ZoneInfo) and ("/" in zone.key or zone.key == "UTC") else None


def first_plan(wish: Wish, *, now: datetime, zone: str) -> tuple[Plan, datetime]:
    """The plan of a wish, and when it is first due; `zone` applies if the wish names none.

    Raises:
        UnfitWish: the wish cannot be planned; the message says why.
    """
    zone = wish.timezone or zone
    if not is_zone(zone):
        raise UnfitWish("zone", f"There is no time zone {zone[:60]!r}; use an IANA name such as Europe/Berlin.")
    if (wish.local is None) == (wish.delay_seconds is None):
        raise UnfitWish("form", "Give either a local time or a delay.")
    if wish.repeat is not None:
        _check(wish.repeat)
    if wish.local is not None:
        plan = _at(wish, wish.local, zone, now)
    else:
        at = now + timedelta(seconds=min(wish.delay_seconds or 0, 2 * MAX_AHEAD.total_seconds()))
        local = at.astimezone(ZoneInfo(zone)).replace(tzinfo=None, microsecond=0)
        plan = Plan(start_at=at, local=local, zone=zone, repeat=wish.repeat)
    due_at = plan.start_at if plan.repeat is None else next_after(plan, now)
    if due_at is None or due_at <= now:
        raise _over(plan.local, now, zone)
    if due_at > now + MAX_AHEAD:
        raise UnfitWish("far", "That is more than five years away.")
    return plan, due_at


def next_after(plan: Plan, after: datetime) -> datetime | None:
    """The first time of a repetition after the instant; None if there are no more."""
    repeat = plan.repeat
    if repeat is None:
        return None
    if repeat.every == "hour":
        return _next_hour(plan, repeat, after)
    days = [_DAYS[day] if repeat.nth is None else _DAYS[day](repeat.nth) for day in repeat.weekdays]
    rule = rrule.rrule(
        _FREQUENCIES[repeat.every],
        dtstart=plan.local,
        interval=repeat.interval,
        byweekday=days or None,
        count=repeat.count,
        until=None if repeat.until is None else datetime.combine(repeat.until, time.max),
    )
    since = after.astimezone(ZoneInfo(plan.zone)).replace(tzinfo=None) - _CLOCKS_CHANGE
    # The library has no types; it yields local times in order.
    times = cast("Iterable[datetime]", rule.xafter(since, inc=True))
    return next((at for local in times if (at := instant(local, plan.zone)) > after), None)


def instant(local: datetime, zone: str) -> datetime:
    """The instant at which the wall clock shows this time.

    A time that the clocks skip is later by as much as they are put forward; of a repeated one it is the first.
    """
    return local.replace(tzinfo=ZoneInfo(zone), fold=0).astimezone(UTC)


def describe_moment(at: datetime, zone: str) -> str:
    """An instant in readable form: `Monday 2026-11-23 08:00 Europe/Berlin`."""
    return f"{at.astimezone(ZoneInfo(zone)):%A %Y-%m-%d %H:%M} {zone}"


def _over(local: datetime, now: datetime, zone: str) -> UnfitWish:
    message = f"That time is over already: it is {describe_moment(now, zone)}. Ask the person when they mean."
    return UnfitWish("over", message, (local,))


def _at(wish: Wish, text: str, zone: str, now: datetime) -> Plan:
    try:
        local = datetime.strptime(text, "%Y-%m-%dT%H:%M")  # noqa: DTZ007  (a wall clock has no zone)
        instant(local, zone)  # the first and the last day of the calendar have none in some zones
    except (ValueError, OverflowError) as error:
        raise UnfitWish("form", f"{text[:40]!r} is no time like 2026-11-23T08:00.") from error
    local = _settled(wish, local, now.astimezone(ZoneInfo(zone)).replace(tzinfo=None), zone)
    return Plan(start_at=instant(local, zone), local=local, zone=zone, repeat=wish.repeat)


def _settled(wish: Wish, said: datetime, now: datetime, zone: str) -> datetime:
    """The local time that is meant where the half of the day, or the day, was not said.

    An hour without its half is the next one from 7 to 22, or the early one for what is done early.

    Raises:
        UnfitWish: it may be either half, or is over.
    """
    if wish.names_half and wish.names_day:
        return said
    hours = [said.hour] if wish.names_half else [said.hour % _NOON, said.hour % _NOON + _NOON]
    days = [said.date()] if wish.names_day else [now.date(), now.date() + timedelta(days=1)]
    times = [datetime.combine(day, time(hour, said.minute)) for day in days for hour in hours]
    if wish.repeat is None:
        times = [one for one in times if one > now]
    if not wish.names_half:
        early = [one for one in times if one.hour < _NOON][:1]
        times = [one for one in times if _FIRST <= one.time() <= _LAST]
        is_journey = wish.repeat is None and bool(early) and _TRAVEL.search(wish.text) is not None
        if early and _AT_DAWN.search(wish.text):
            times = early
        elif is_journey and wish.names_day:
            times = times if len(times) > 1 else early
        elif is_journey:
            times = sorted({*early, *times[:1]})
        if not is_journey and not (wish.names_day and wish.repeat is None and said.date() == now.date()):
            times = times[:1]
    if not times:
        raise _over(said, instant(now, zone), zone)
    if not wish.names_half and len(times) > 1:
        choice = " or ".join(f"{one:%A %H:%M}" for one in times)
        raise UnfitWish("half", f"Either half of the day may be meant: ask the person, {choice}.", (*times,))
    return times[0]


def _check(repeat: Repeat) -> None:
    if repeat.every in {"hour", "year"} and repeat.weekdays:
        raise UnfitWish("form", "Weekdays go with every day, week or month only.")
    if (repeat.nth is not None) != (repeat.every == "month" and len(repeat.weekdays) == 1):
        raise UnfitWish(
            "form", "A weekday of the month needs exactly one weekday and which of them: 1 to 4, or -1 for the last."
        )


def _next_hour(plan: Plan, repeat: Repeat, after: datetime) -> datetime | None:
    step = timedelta(hours=repeat.interval)
    number = max(0, (after - plan.start_at) // step + 1)
    at = plan.start_at + number * step
    if repeat.count is not None and number >= repeat.count:
        return None
    is_over = repeat.until is not None and at.astimezone(ZoneInfo(plan.zone)).date() > repeat.until
    return None if is_over else at
