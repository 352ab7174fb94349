"""Pure: how people write a time after `/remind`. A small grammar; what it does not know, it refuses.

    in 2h30m TEXT · in 10 min TEXT            14:30 TEXT · today 14:30 TEXT · tomorrow 9:00 TEXT
    monday 9:00 TEXT                          2026-11-23 9:00 TEXT · 2026-11-23T09:00 TEXT
    every day at 8 TEXT · every weekday 8:00 TEXT · every monday, thursday at 18:30 TEXT · every month at 9 TEXT

A `TEXT` that begins with `ask:` is asked at that time instead of being told. Case does not matter, nor does `at`; a
bare hour needs it. The same in German, French and Spanish: "in 10 Minuten an den Tee", "demain à 9h", "cada día a las
8". Left to others: which instant that is (`bot.policy.schedules`).
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
_ENGLISH: Mapping[str, str] = {
    word: english
    for english, own in {
        "": "mich me moi bitte am le el las la les los de",
        "in": "dans en dentro",
        "at": "um à a",
        "every": "jeden jede jedes chaque cada tous toutes todos todas",
        "every day": "täglich",
        "today": "heute aujourd'hui hoy",
        "tomorrow": "morgen demain mañana",
        "1": "ein eine einem einer un une una",
        "min": "minute minuten minutes minuto minutos",
        "h": "stunde stunden std heure heures hora horas h uhr",
        "d": "tag tage tagen jour jours día días dia dias",
        "w": "woche wochen semaine semaines semana semanas",
        "month": "monat mois mes meses",
        "weekday": "werktag wochentag",
        "monday": "montag lundi lundis lunes",
        "tuesday": "dienstag mardi mardis martes",
        "wednesday": "mittwoch mercredi mercredis miércoles",
        "thursday": "donnerstag jeudi jeudis jueves",
        "friday": "freitag vendredi vendredis viernes",
        "saturday": "samstag sonnabend samedi samedis sábado sábados",
        "sunday": "sonntag dimanche dimanches domingo domingos",
    }.items()
    for word in own.split()
}
_UNITS = {"min", "h", "d", "w"}
_FRENCH_CLOCK = re.compile(r"(\d{1,2})h(\d{2})?", re.IGNORECASE)
_JOINED = re.compile(r"(?:(?:an|daran|dass|zu|de|que|à|to)[\s,]+|d['’])+", re.IGNORECASE)
"""What leads from a time to the text."""
_MAX_TIME_WORDS = 12
_SECONDS: Mapping[str, int] = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_ASK = re.compile(r"ask:\s*(?=\S)", re.IGNORECASE)


def read(words: str, *, now: datetime, zone: str) -> Wish | None:
    """What somebody in this time zone wishes for; None where it is not in the grammar."""
    local = now.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    words = _in_english(words)
    if match := _AGAIN.fullmatch(words):
        return _again(match, local)
    if match := _DELAY.fullmatch(words):
        return _delayed(match)
    if match := _ONCE.fullmatch(words):
        return _once(match, local)
    return None


def _in_english(words: str) -> str:
    """The words with a time in German, French or Spanish at their beginning in English; others as they are."""
    said: list[str] = []
    text, is_foreign, is_clock, is_whole = words.strip(), False, False, False
    for _ in range(_MAX_TIME_WORDS):
        word, _, rest = text.partition(" ")
        bare = word.lower().rstrip(",").replace("’", "'")
        clock = _FRENCH_CLOCK.fullmatch(bare)
        english = _ENGLISH.get(bare)
        if clock is not None and not is_whole and (is_clock or (clock[2] and said[-1:] != ["in"])):
            said.append(f"{clock[1]}:{clock[2] or '00'}")
            is_foreign = is_whole = is_clock = True
        elif bare.replace(":", "").isdigit() and not (is_whole and is_clock):
            said.append(word)
            is_whole = is_whole or is_clock or ":" in bare
        elif english == "d" and said[-1:] == ["every"]:
            said.append("day")
            is_foreign = True
        elif english in _UNITS and (is_whole or (said and said[-1].isdigit())):
            said += [] if is_clock else [english]  # "à 8 heures", "um 8 Uhr": the hour of a clock
            is_foreign = is_whole = is_foreign or bare != english
        elif english is not None and english not in _UNITS and not is_whole:
            said += [english] if english else []
            is_foreign, is_clock = True, english == "at"
        elif bare in {"in", "at"} and not is_whole:
            said.append(bare)
            is_clock = bare == "at"
        else:
            break
        text = rest.lstrip()
    joined = _JOINED.match(text)
    return " ".join([*said, text[joined.end() :] if joined else text]) if is_foreign else words


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
