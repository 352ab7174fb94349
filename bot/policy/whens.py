"""Pure: how people write a time after `/remind`. A small grammar; what it does not know, it refuses.

    in 2h30m TEXT · in 10 min TEXT            14:30 TEXT · today 14:30 TEXT · tomorrow 9:00 TEXT
    monday 9:00 TEXT                          2026-11-23 9:00 TEXT · 2026-11-23T09:00 TEXT
    every day at 8 TEXT · every weekday 8:00 TEXT · every monday, thursday at 18:30 TEXT · every month at 9 TEXT

A `TEXT` that begins with `ask:` is asked at that time instead of being told. Case does not matter, nor does `at`; a
bare hour needs it. Left to others: which instant that is (`bot.policy.schedules`).
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from tools import Every, Repeat, Weekday, Wish

_WEEKDAYS: tuple[Weekday, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CLOCK = (
    r"(?:at\s+(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?|(?P<hour2>\d{1,2}):(?P<minute2>\d{2}))\s*(?P<half>[ap]m)?"
)
_TEXT = r"(?:\s+(?P<text>\S.*))"

_UNIT = "(?:m(?:in(?:ute)?s?)?|h(?:ou)?r?s?|d(?:ays?)?|w(?:eeks?)?)"
_DELAY = re.compile(
    rf"in\s+(?P<delay>\d{{1,5}}\s*{_UNIT}(?:\s*\d{{1,5}}\s*{_UNIT})*){_TEXT}", re.IGNORECASE | re.DOTALL
)
_PART = re.compile(r"(\d+)\s*([a-z])", re.IGNORECASE)
_ONCE = re.compile(
    rf"(?:(?P<day>today|tomorrow|{_DAY}|\d{{4}}-\d{{2}}-\d{{2}})(?:T|,?\s+))?{_CLOCK}{_TEXT}", re.IGNORECASE | re.DOTALL
)
_AGAIN = re.compile(
    rf"every\s+(?P<every>day|weekday|month|{_DAY}(?:(?:\s*,\s*|\s+and\s+){_DAY})*)\s+{_CLOCK}{_TEXT}",
    re.IGNORECASE | re.DOTALL,
)
_SECONDS: Mapping[str, int] = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_ASK = re.compile(r"ask:\s*(?=\S)", re.IGNORECASE)


def read(words: str, *, now: datetime, zone: str) -> Wish | None:
    """What somebody in this time zone wishes for; None where it is not in the grammar."""
    local = now.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    if match := _AGAIN.fullmatch(words):
        return _again(match, local)
    if match := _DELAY.fullmatch(words):
        return _delayed(match)
    if match := _ONCE.fullmatch(words):
        return _once(match, local)
    return None


def _delayed(match: re.Match[str]) -> Wish:
    seconds = sum(int(number) * _SECONDS[unit.lower()] for number, unit in _PART.findall(match["delay"]))
    return _wish(match, delay_seconds=seconds)


def _once(match: re.Match[str], local: datetime) -> Wish | None:
    clock = _clock(match)
    if clock is None:
        return None
    day = _day((match["day"] or "").lower(), local, clock)
    return None if day is None else _wish(match, local=f"{day.isoformat()}T{clock}")


def _again(match: re.Match[str], local: datetime) -> Wish | None:
    clock = _clock(match)
    if clock is None:
        return None
    words = match["every"].lower()
    every: Every = "month" if words == "month" else "day" if words == "day" else "week"
    days: tuple[Weekday, ...] = tuple(day for day in _WEEKDAYS if _names(day, words))
    if words == "weekday":
        days = _WEEKDAYS[:5]
    repeat = Repeat(every=every, weekdays=days if every == "week" else ())
    return _wish(match, local=f"{local.date().isoformat()}T{clock}", repeat=repeat)


def _names(day: Weekday, words: str) -> bool:
    return re.search(rf"\b{day}\w*day\b", words) is not None


def _wish(
    match: re.Match[str], *, local: str | None = None, delay_seconds: int | None = None, repeat: Repeat | None = None
) -> Wish:
    text = match["text"].strip()
    asked = _ASK.match(text)
    prompt = text[asked.end() :] if asked else None
    return Wish(text=prompt or text, prompt=prompt, local=local, delay_seconds=delay_seconds, repeat=repeat)


def _clock(match: re.Match[str]) -> str | None:
    """`HH:MM`; None where no clock shows that."""
    hour, minute = int(match["hour"] or match["hour2"]), int(match["minute"] or match["minute2"] or 0)
    half = (match["half"] or "").lower()
    if half and not 1 <= hour <= 12:  # noqa: PLR2004  (the hours of half a day)
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None  # noqa: PLR2004  (those of a day)


def _day(word: str, local: datetime, clock: str) -> date | None:
    """The day that is meant; without a word the next one on which the clock shows this time."""
    today = local.date()
    is_over = clock <= f"{local:%H:%M}"
    if word in {"today", "tomorrow"}:
        return today + timedelta(days=word == "tomorrow")
    if not word:
        return today + timedelta(days=is_over)
    if word.endswith("day"):
        ahead = (_WEEKDAYS.index(_weekday(word)) - today.weekday()) % 7
        return today + timedelta(days=7 if ahead == 0 and is_over else ahead)
    try:
        return date.fromisoformat(word)
    except ValueError:
        return None


def _weekday(word: str) -> Weekday:
    return next(day for day in _WEEKDAYS if word.startswith(day))
