"""Pure: reads times as people write them, after `/remind` and where no model reads them; refuses what it does not know.

    in 2h30m TEXT · in half an hour TEXT      14:30 TEXT · today 14:30 TEXT · tomorrow evening at 8 TEXT
    monday 9:00 TEXT                          2026-11-23 9:00 TEXT · 3 December at 9 TEXT · am 3.12. um 9 TEXT
    every day at 8 TEXT · every weekday 8:00 TEXT · mondays at 18:30 TEXT · every monday, thursday at half past 6 TEXT

    next friday TEXT · december 31 TEXT · tomorrow evening TEXT, where an hour may be missing (`lacks_hour`)

The parts of a time can come in any order, and case does not matter. A bare hour needs its `at`, `Uhr` or `pm`: other
numbers belong to the text. A `TEXT` that begins with `ask:` is asked at that time instead of being told. The same works
in German, French and Spanish: "in 10 Minuten an den Tee", "demain à 9h", "cada día a las 8".
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tools import Every, Repeat, Weekday, Wish

_WEEKDAYS: tuple[Weekday, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")
_DAY_NAMES = (  # English, German, French, Spanish
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miércoles miercoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag sonnabend samedi sábado sabado",
    "sunday sonntag dimanche domingo",
)
_MONTH_NAMES = (
    "january jan januar jänner janvier enero",
    "february feb februar février fevrier febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août aout agosto",
    "september sept sep septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre",
)
_HOUR_NAMES = (
    "one ein eins une una",
    "two zwei deux dos",
    "three drei trois tres",
    "four vier quatre cuatro",
    "five fünf cinq cinco",
    "six sechs seis",
    "seven sieben sept siete",
    "eight acht huit ocho",
    "nine neun neuf nueve",
    "ten zehn dix diez",
    "eleven elf onze once",
    "twelve zwölf douze doce",
)
_MORE_NUMBERS = {
    15: "fifteen fünfzehn quinze quince",
    20: "twenty zwanzig vingt veinte",
    30: "thirty dreißig dreissig trente treinta",
    45: "fünfundvierzig quarante-cinq",
}
"""Other numbers that people spell out, besides those of the hours."""
_UNIT_NAMES: Mapping[int, str] = {
    1: "s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos",
    60: "m min mins minute minutes minuten minuto minutos",
    3600: "h hr hrs hour hours std stunde stunden heure heures hora horas",
    86_400: "d day days tag tage tagen jour jours día días dia dias",
    604_800: "w week weeks woche wochen semaine semaines semana semanas",
}
_ENGLISH_WORDS = (
    "in at on the of and an a one this coming next week weekend half past every each daily day days weekday month "
    "today tomorrow tonight quarter quarters to fifteen twenty thirty after morning afternoon evening night noon "
    "midday o'clock am pm p t h st nd rd th yesterday before last"
)
_ENGLISH = {*_ENGLISH_WORDS.split()} | {names.split()[0] for names in (*_DAY_NAMES, *_MONTH_NAMES, *_HOUR_NAMES)}
"""Together with the units, which look alike in several languages: a time with other words is not English."""


def _numbers(names: tuple[str, ...]) -> Mapping[str, int]:
    return {word: number for number, words in enumerate(names) for word in words.split()}


def _either(words: Mapping[str, int]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_DAYS, _HOURS = map(_numbers, (_DAY_NAMES, _HOUR_NAMES))
MONTHS = {name: number + 1 for name, number in _numbers(_MONTH_NAMES).items()}
"""The names of months in all languages, each with its number."""
_UNITS = {word: seconds for seconds, words in _UNIT_NAMES.items() for word in words.split()}

_DAY = rf"(?:{_either(_DAYS)})s?(?!\w)"
_MONTH = rf"(?P<month>{_either(MONTHS)})(?!\w)\.?"
_YEAR = r"(?:,?\s+(?:del?\s+)?(?P<year>\d{4})(?![\d:]))?"
_ON = r"(?:(?:on|this|coming|the|am|den|dem|diesen|kommenden|le|la|ce|el|este|para el|pour le)\s+){0,2}"
_AND = r"(?:\s*,\s*|\s+(?:and|und|et|y)\s+)"
_COUNTS = {word: number + 1 for word, number in _HOURS.items()} | {
    word: number for number, words in _MORE_NUMBERS.items() for word in words.split()
}
_LENGTH = (
    rf"(\d{{1,5}}(?:[.,]\d)?|(?<![^\W\d_])(?:an?|eine[mr]?|un|{_either(_COUNTS)})(?=\s))"
    rf"\s*({_either(_UNITS)})(?![^\W\d_])"
)
_LENGTHS = re.compile(_LENGTH, re.IGNORECASE)
_SOME = re.sub(r"\((?!\?)", "(?:", _LENGTH)
_PARTS_OF_AN_HOUR = {
    1800: r"half an hour|einer halben stunde|une demi[- ]heure|media hora",
    900: r"a quarter of an hour|einer viertelstunde|un quart d'heure|un cuarto de hora",
    2700: r"(?:a )?three[- ]quarters of an hour|einer dreiviertelstunde|trois quarts d'heure|tres cuartos de hora",
    5400: r"an hour and a half|one and a half hours|anderthalb stunden|eineinhalb stunden|une heure et demie"
    r"|una hora y media",
}
_PART_OF_AN_HOUR = "|".join(_PARTS_OF_AN_HOUR.values())

_O_CLOCK = r"(?:uhr|heures?|horas?|h|o'clock)"
_PAST_THE_HOUR = (
    rf"(?:(?:[:.]|\s?h\s?|\s*{_O_CLOCK}\s)(?P<minute>\d\d)(?!\d)(?:\s*{_O_CLOCK}(?!\w))?|\s*{_O_CLOCK}(?!\w))?"
    r"(?:\s*(?P<meridiem>[ap])\.?m\b\.?)?(?:\s+(?:(?P<half_more>y\s+media|et\s+demie)"
    r"|(?P<quarter_more>y\s+cuarto|et\s+quart)|(?P<quarter_less>menos\s+cuarto|moins\s+le\s+quart)))?(?!\w)"
)
_AT = r"(?:at|um|gegen|à|vers|a\s+las?|para\s+las?)\s+"
_PART = (
    r"(?:(?P<half_past>half past)|(?P<half_to>halb)|(?:a )?(?:(?P<quarter_past>quarter past|viertel nach)"
    r"|(?P<quarter_to>quarter to|viertel vor|dreiviertel)))\s+"
)
_CLOCKS = (
    rf"{_AT}(?:{_PART})?(?P<hour>\d{{1,2}}|{_either(_HOURS)})(?!\d){_PAST_THE_HOUR}",
    rf"(?=\d+(?::\d\d|\s?h\s?\d\d|(?:\.\d\d)?\s*uhr\b|\s*[ap]\.?m\b))(?P<hour>\d{{1,2}}){_PAST_THE_HOUR}",
    r"(?:at (?:noon|midday)|mittags|um mittag|à midi|al? mediodía)(?!\w)",
)

_EVERY = (
    r"(?:every|each|jede[nrms]?|chaque|cada|tous les|toutes les|todos los|todas las)\s+(?:"
    r"(?:day|tag|jours?|d[ií]as?)(?!\s+(?:de semaine|ouvrés?|laborables?|entre semana))"
    r"|(?P<month>month|monat|mois|mes(?:es)?)"
    r"|(?P<weekday>weekday|werktag|wochentag|jours? (?:de semaine|ouvrés?)|d[ií]as? (?:laborables?|entre semana))"
    r"|(?P<early>morning|morgen|matins?|mañanas?)|(?P<late>evening|abend|soirs?|tardes?|noches?)"
    rf"|(?P<days>{_DAY}(?:{_AND}{_DAY})*))(?!\w)"
)
_EACH_NAME = "|".join(word for names in _DAY_NAMES for word in names.split()[:2])
_EACH_DAY = rf"(?:(?:{_EACH_NAME}|sonnabend)s|(?:les|los)\s+{_DAY})"
_ON_DAYS = rf"(?:on\s+)?(?P<days>{_EACH_DAY}(?:{_AND}{_EACH_DAY})*)(?!\w)"
"""Recurring days: "mondays", "montags", "los lunes"."""
_PAST_DAY = (
    r"(?<!from )(?<!of )(?<!von )(?<!vom )(?<!de )"
    r"(?:(?P<eve>(?:the )?day before yesterday|vorgestern|avant-hier|anteayer)"
    r"|(?P<yesterday>yesterday|gestern|hier(?= (?:à|vers|matin|soir|midi)\b)|ayer)"
    rf"|(?:last|letzte[nr]?|vergangene[nr]?)\s+(?P<last>{_DAY})"
    rf"|(?:le |el )?(?P<passed>{_DAY})\s+(?:dernier|passé|pasado))(?!\w)"
)
"""A day in the past, which is refused; "the film of yesterday" is none, nor is the German "hier" (here)."""
_NEXT = r"(?:next|nächste[nrms]?|naechste[nrms]?|prochain|próximo|proximo)"
_NEXT_WEEK = (
    r"next week|nächste[rn]? woche|(?:la )?semaine prochaine|(?:la )?(?:próxima semana|semana (?:próxima|que viene))"
)
_WEEKEND = r"(?:this |at the |on the )?weekend|am wochenende|(?:ce|le) week-?end|(?:el|este) fin de semana"
_NEXT_DAY = (
    rf"{_ON}{_NEXT}\s+(?P<next>{_DAY})",
    rf"{_ON}(?P<next>{_DAY})\s+(?:prochain|próximo|proximo|que viene)(?!\w)",
    rf"(?P<week>{_NEXT_WEEK})(?!\w)",
    rf"(?P<weekend>{_WEEKEND})(?!\w)",
)
"""The next Friday is the coming one, in English, too, where some mean the one after it: a reminder should rather come
too early than too late, and its reply names the date."""
_LATER_TODAY = (
    r"tonight|this (?:afternoon|evening)|heute (?:nachmittag|abend)|ce soir|cet après-midi|esta (?:tarde|noche)"
)
_DATES = (
    rf"{_ON}(?P<iso>\d{{4}}-\d\d-\d\d)(?:t(?=\d)|(?!\w))",
    rf"{_ON}(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s*(?:of |de )?{_MONTH}{_YEAR}",
    rf"{_ON}{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:]){_YEAR}",
    rf"{_ON}(?P<day>\d{{1,2}})\.\s?(?P<number>\d{{1,2}})\.(?:\s?(?P<year>\d{{4}}|(?<=\.)\d\d(?!\.))(?![\d:]))?(?!\d)",
    r"(?:le|el)\s+(?P<day>\d{1,2})/(?P<number>\d{1,2})(?:/(?P<year>\d{4}))?(?![\d/])",
    _PAST_DAY,
    r"(?P<after>(?:the )?day after tomorrow|übermorgen|après-demain|pasado mañana)(?!\w)",
    rf"(?P<late>{_LATER_TODAY})(?!\w)",
    r"(?P<early>this morning|heute (?:früh|morgen|vormittag)|ce matin|esta mañana)(?!\w)",
    r"(?P<today>today|heute|aujourd'hui|hoy)(?!\w)",
    r"(?P<tomorrow>tomorrow|morgen|demain|mañana)(?!\w)",
    *_NEXT_DAY,
    rf"{_ON}(?P<weekday>{_DAY})",
)
_EARLY = r"(?:früh|morgens|vormittags?|am (?:morgen|vormittag)|du matin|(?:de|por) la mañana|in the morning)(?!\w)"
_LATE = (
    r"(?:nachmittags?|abends?|am (?:nachmittag|abend)|de l'après-midi|du soir|(?:de|por) la (?:tarde|noche)"
    r"|in the (?:afternoon|evening)|at night)(?!\w)"
)
_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, patterns in {
        "delay": [rf"(?:in|dans|en|dentro de)\s+(?:{_PART_OF_AN_HOUR}|{_SOME}(?:(?:{_AND}|\s*){_SOME})*)(?!\w)"],
        "every": [r"(?:täglich|daily)(?!\w)", _EVERY, _ON_DAYS],
        "day": _DATES,
        "clock": _CLOCKS,
        "early": [_EARLY],
        "late": [_LATE],
        # Only right after a day: elsewhere they belong to the text, as in "at 9 evening classes".
        "early of the day": [r"(?:morning|matin)(?!\w)"],
        "late of the day": [r"(?:afternoon|evening|night|après-midi|soir)(?!\w)"],
        "clock of the day": [rf"(?P<hour>\d{{1,2}})(?=\s?h(?!\w)){_PAST_THE_HOUR}"],
    }.items()
    for pattern in patterns
)
_BETWEEN = re.compile(r"[\s,]*")
_GAP = re.compile(r"[\s,]*(?:[:;.→–—-]+(?=\s)[\s,]*)*")
"""Between a time and its text."""
_COURTESY = re.compile(r"(?:(?:mich|me|moi|bitte|please|por favor)[\s,]+)*", re.IGNORECASE)
_JOINED = re.compile(r"(?:(?:ans?|daran|dass|zu|de|que|à|to)[\s,]+|(?:d|qu)')+", re.IGNORECASE)
"""Words that lead from a time to the text, and from the wish to either."""
_JOINED_IN_ENGLISH = re.compile(r"(?:(?:to|of|about|that)\s+)+", re.IGNORECASE)
_LAST_WORDS = re.compile(r"[\s,]*(?:bitte|please|por favor|s'il te plaît)?[\s,.!?]*", re.IGNORECASE)
_ASK = re.compile(r"ask:\s*(?=\S)", re.IGNORECASE)
_OVER = ("eve", "yesterday", "last", "passed")
_DAYS_AHEAD = {"eve": -2, "yesterday": -1, "tomorrow": 1, "after": 2}
_MAX_TIME_WORDS = 16
_USUAL, _AFTERNOON, _EVENING = time(9), time(15), time(19)
"""The hours of a day, and of its parts, where none is named."""
_BARE_HOUR = re.compile(r"(?:[01]?\d|2[0-4])(?![\d.:])")
"""What may be meant as the hour: "tomorrow 8 dentist"."""
_AFTERNOONS = re.compile("afternoon|nachmittag|après-midi|tarde", re.IGNORECASE)
_NOON = 12
_DAY_MINUTES = 24 * 60
_FRACTIONS: Mapping[str, int] = {
    **dict.fromkeys(["half_past", "half_more"], 30),
    **dict.fromkeys(["quarter_past", "quarter_more"], 15),
    **dict.fromkeys(["quarter_to", "quarter_less"], -15),
    "half_to": -30,
}
"""Minutes relative to the named hour, by the group that matches them."""
_CENTURY = 2000
_MAX_YEARS = 9
"""How far away the next 29 February can be, counting the present year."""

_Marks = dict[str, re.Match[str]]


def read(words: str, *, now: datetime, zone: str, lacks_hour: bool = False) -> Wish | None:
    """Returns the wish of somebody in this time zone, with the time first; None if it does not fit the grammar.

    `lacks_hour`: a day is enough, and a usual hour is taken.
    """
    words = words.strip().replace("’", "'")
    marks, end = _scan(words, _match_end(_COURTESY, words), {})
    text = words[_match_end(_GAP, words, end) :]
    if not text or len(text) == len(words) - end:
        return None
    if not _is_english(words[:end]):
        text = text[_match_end(_JOINED, text) :]
    return _wish(marks, text, now=now.astimezone(ZoneInfo(zone)).replace(tzinfo=None), lacks_hour=lacks_hour)


def find(words: str, *, now: datetime, zone: str, lacks_hour: bool = False) -> Wish | None:
    """Returns the wish in a sentence whose time can come, in whole or in part, after the text.

    Such as "to call Mum tomorrow at 9", "tomorrow to call Mum at 9"; None if it has no complete time, or nothing else.
    `lacks_hour` as for `read`.
    """
    words = _without_join(words.strip().replace("’", "'"))
    marks, end = _scan(words, _match_end(_COURTESY, words), {})
    text = words[end:]
    if not _is_whole(marks, lacks_hour=lacks_hour):
        for start in [found.start() for found in re.finditer(r"(?<=\s)\S", text)][-_MAX_TIME_WORDS:]:
            more, end = _scan(text, start, marks)
            if _is_whole(more, lacks_hour=lacks_hour) and _LAST_WORDS.fullmatch(text, end):
                marks, text = more, text[:start]
                break
    text = _without_join(text[_match_end(_GAP, text) :].strip(" ,"))
    local = now.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return _wish(marks, text, now=local, lacks_hour=lacks_hour) if text else None


def _without_join(text: str) -> str:
    text = text[_match_end(_JOINED, text) :]
    return text[_match_end(_JOINED_IN_ENGLISH, text) :].strip()


def _scan(text: str, at: int, known: _Marks) -> tuple[_Marks, int]:
    """The parts of a time that follow one another here, each once, besides the known ones; and where they end."""
    marks, last = dict(known), ""
    while found := next(_candidates(text, _match_end(_BETWEEN, text, at), marks, last), None):
        last, match = found
        marks[last.partition(" ")[0]] = match
        at = match.end()
    return marks, at


def _match_end(pattern: re.Pattern[str], text: str, at: int = 0) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _candidates(text: str, at: int, marks: _Marks, last: str) -> Iterator[tuple[str, re.Match[str]]]:
    for kind, pattern in _MARKS:
        is_known = kind.partition(" ")[0] in marks or ("every" in marks and kind == "day")
        if not is_known and (" " not in kind or last == "day") and (match := pattern.match(text, at)):
            yield kind, match


def _is_whole(marks: _Marks, *, lacks_hour: bool) -> bool:
    return "delay" in marks or "clock" in marks or (lacks_hour and not marks.keys().isdisjoint({"day", "every"}))


def _is_english(time: str) -> bool:
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", time.lower())
    return all(word in _ENGLISH or word in _UNITS for word in words)


def _wish(marks: _Marks, text: str, *, now: datetime, lacks_hour: bool) -> Wish | None:
    asked = _ASK.match(text)
    prompt = text[asked.end() :] if asked else None
    wish = Wish(text=prompt or text, prompt=prompt)
    if "delay" in marks:
        return replace(wish, delay_seconds=_delay(marks["delay"][0])) if len(marks) == 1 else None
    lacks_hour = lacks_hour and "clock" not in marks
    clock = _usual_hour(marks, now) if lacks_hour else _clock(marks)
    if clock is None or (lacks_hour and _BARE_HOUR.match(text)):
        return None
    if "every" in marks:
        return replace(wish, local=f"{now.date().isoformat()}T{clock:%H:%M}", repeat=_repeat(marks["every"]))
    day = _day(marks.get("day"), now, clock)
    return None if day is None else replace(wish, local=f"{day.isoformat()}T{clock:%H:%M}")


def _delay(words: str) -> int:
    for seconds, names in _PARTS_OF_AN_HOUR.items():
        if re.search(rf"(?:{names})$", words, re.IGNORECASE):
            return seconds
    return round(sum(_count(count.lower()) * _UNITS[unit.lower()] for count, unit in _LENGTHS.findall(words)))


def _count(word: str) -> float:
    return float(word.replace(",", ".")) if word[0].isdigit() else _COUNTS.get(word, 1)


def _clock(marks: _Marks) -> time | None:
    """The time of day; None if none was given, or there is no such time."""
    if "clock" not in marks:
        return None
    said = marks["clock"].groupdict()
    if said.get("hour") is None:
        return time(_NOON)
    hour = _HOURS[said["hour"].lower()] + 1 if said["hour"].isalpha() else int(said["hour"])
    minute, meridiem = int(said["minute"] or 0), (said["meridiem"] or "").lower()
    if not (hour < 24 and minute < 60) or (meridiem and not 1 <= hour <= _NOON):  # noqa: PLR2004  (those of a day)
        return None
    if meridiem:
        hour = hour % _NOON + (_NOON if meridiem == "p" else 0)
    at = hour * 60 + (minute or next((minutes for name, minutes in _FRACTIONS.items() if said.get(name)), 0))
    if not meridiem and at < _NOON * 60 and _is_late(marks):
        at += _NOON * 60
    return time(*divmod(at % _DAY_MINUTES, 60))


def _usual_hour(marks: _Marks, now: datetime) -> time | None:
    """The hour that is taken where none is named; None if no day is named either, or one that is over."""
    day = marks["day"].groupdict() if "day" in marks else {}
    if marks.keys().isdisjoint({"day", "every"}) or any(day.get(name) for name in _OVER):
        return None
    if _AFTERNOONS.search(" ".join(match[0] for match in marks.values())):
        return _AFTERNOON
    if _is_late(marks):
        return _EVENING
    if not day.get("today") or "early" in marks:
        return _USUAL
    return next((hour for hour in (_USUAL, _AFTERNOON, _EVENING) if hour > now.time()), _EVENING)


def _is_late(marks: _Marks) -> bool:
    return "late" in marks or any(
        marks[kind].groupdict().get("late") is not None for kind in ("day", "every") if kind in marks
    )


def _repeat(match: re.Match[str]) -> Repeat:
    said = match.groupdict()
    every: Every = "month" if said.get("month") else "week" if said.get("weekday") or said.get("days") else "day"
    if said.get("weekday"):
        return Repeat(every=every, weekdays=_WEEKDAYS[:5])
    named = {_weekday(word) for word in re.findall(r"[^\W\d_]+", said.get("days") or "") if _is_day(word)}
    return Repeat(every=every, weekdays=tuple(_WEEKDAYS[number] for number in sorted(named)))


def _is_day(word: str) -> bool:
    return re.fullmatch(_DAY, word, re.IGNORECASE) is not None


def _weekday(word: str) -> int:
    name = word.lower()
    return _DAYS[name if name in _DAYS else name.removesuffix("s")]


def _day(match: re.Match[str] | None, now: datetime, clock: time) -> date | None:
    """The day that is meant; if none is given, the next one with this time ahead. None if there is no such day."""
    today, is_over = now.date(), clock <= now.time().replace(second=0, microsecond=0)
    if match is None:
        return today + timedelta(days=is_over)
    said = match.groupdict()
    if named := next((name for name in _DAYS_AHEAD if said.get(name)), None):
        return today + timedelta(days=_DAYS_AHEAD[named])
    if passed := said.get("last") or said.get("passed"):
        return today - timedelta(days=(today.weekday() - _weekday(passed)) % 7 or 7)
    try:
        return _coming_day(said, today, is_over=is_over) or _date(said, today, is_over=is_over)
    except ValueError:
        return None


def _coming_day(said: Mapping[str, str | None], today: date, *, is_over: bool) -> date | None:
    """The next day of that name, the Monday of the next week, or the next Saturday; None if it is none of these."""
    if name := said.get("weekday"):
        ahead = (_weekday(name) - today.weekday()) % 7
        return today + timedelta(days=7 if ahead == 0 and is_over else ahead)
    if name := said.get("next"):
        return today + timedelta(days=(_weekday(name) - today.weekday()) % 7 or 7)
    if said.get("week"):
        return today + timedelta(days=7 - today.weekday())
    if said.get("weekend"):
        return today + timedelta(days=(_WEEKDAYS.index("sa") - today.weekday()) % 7 or 7)
    return None


def _date(said: Mapping[str, str | None], today: date, *, is_over: bool) -> date:
    """The date; without a year the next one. Today if none was given.

    Raises:
        ValueError: the calendar has no such day.
    """
    if iso := said.get("iso"):
        return date.fromisoformat(iso)
    day = said.get("day")
    if day is None:
        return today
    name = said.get("month")
    month = MONTHS[name.lower()] if name else int(said.get("number") or 0)
    if year := said.get("year"):
        return date(int(year) + _CENTURY * (len(year) == 2), month, int(day))  # noqa: PLR2004  (31.12.26)
    years = range(today.year, today.year + _MAX_YEARS)
    days = (date(year, month, int(day)) for year in years if int(day) <= monthrange(year, month)[1])
    return min(one for one in days if (one, not is_over) >= (today, True))
