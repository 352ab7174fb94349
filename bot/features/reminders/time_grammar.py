"""Pure: reads the plain forms of a time as people type them after `/remind`; refuses everything else.

    in 20 minutes TEXT · in half an hour TEXT           17:00 TEXT · tomorrow at 9 TEXT · today at 8 pm TEXT
    on friday at 9 TEXT · on 3 December at 9 TEXT       every day at 8 TEXT · every month on the 15th at 9 TEXT

The time stands whole before the text, in words of one language, and names an hour. Nothing is planned if a word is left
over that may be about time: what such a text means is for the model to find out. A `TEXT` that begins with
`ask:` is asked at that time instead of being said. Left to others: which half of the day an hour means
(`bot.features.reminders.schedules`).
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from tools import Repeat, Weekday, Wish

_WEEKDAYS: tuple[Weekday, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")
_NOON = 12
_HALF_HOUR = 1800
_GERMAN, _FRENCH, _SPANISH = 1, 2, 3
_MAX_MONTHLY_DAY = 28
"""Some months lack the days after it."""
_MAX_YEARS = 9
"""How far away the next 29 February can be, counting the present year."""
_PARTS = {"morning": (4, 11), "afternoon": (12, 20), "evening": (17, 23)}
"""The first and the last hour of each part of the day."""


_DATE = r"{on} (?P<day3>\d{{1,2}})/(?P<number>\d{{1,2}})(?:/(?P<year3>20\d\d))?(?![\d/])"
_GERMAN_DATE = r"(?P<day3>\d{1,2})\.\s?(?P<number>\d{1,2})\.(?:\s?(?P<year3>20\d\d)|(?P<short>\d\d)(?![\d.]))?"
_WORDS: Mapping[str, tuple[str, str, str, str]] = {
    # Before a time, and what leads from it to its text.
    "lead": (r"(?:me|please)[\s,]+", r"(?:mich|bitte)[\s,]+", r"(?:moi|stp)[\s,]+", r"(?:me|por favor)[\s,]+"),
    "join": (r"(?:to|of|about|that)\s+", r"(?:ans?|daran,?|dass)\s+", r"(?:de|que)\s+|(?:d|qu)'", r"(?:de|que)\s+"),
    "days": (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miercoles jueves viernes sabado domingo",
    ),
    "months": (
        (
            "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sept|sep"
            " october|oct november|nov december|dec"
        ),
        (
            "januar|janner|jan februar|feb marz april|apr mai juni|jun juli|jul august|aug september|sept|sep"
            " oktober|okt november|nov dezember|dez"
        ),
        "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    ),
    "units": (
        "seconds?|secs?|s minutes?|mins?|m hours?|hrs?|h days?|d weeks?",
        "sekunden?|sek minuten?|min stunden?|std|h tag(?:en?)? wochen?",
        "secondes?|sec minutes?|min|mn heures?|h jours?|j semaines?",
        "segundos?|seg minutos?|min horas?|h dias? semanas?",
    ),
    "into": ("in", "in", "dans", "dentro de|en"),
    "one": ("an?|one", "eine[mnr]?|ein", "une?", "una?|un"),
    "numbers": (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
        "deux trois quatre cinq six sept huit neuf dix onze douze",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    ),
    "half_hour": ("half an hour", "einer halben stunde", "une demi[- ]heure", "media hora"),
    "also": ("and", "und", "et", "y"),
    # Before a day, between its number and its month, and behind its number; a date in numbers that means one day.
    "on": ("on the|on|this|the", "am|den|diesen|an diesem", "ce|le|pour le", "el|este|para el"),
    "of": ("of", "(?!)", "(?!)", "de"),
    "ordinal": ("st|nd|rd|th", r"\.", "er", "(?!)"),
    "date": ("(?!)", _GERMAN_DATE, _DATE.format(on="le"), _DATE.format(on="el")),
    "today": ("today", "heute", "aujourd'hui", "hoy"),
    "tomorrow": ("tomorrow", "morgen", "demain", "manana"),
    "after": ("(?:the )?day after tomorrow", "ubermorgen", "apres[- ]demain", "pasado manana"),
    # The parts of today, of the day before them, and beside an hour; the last part is the evening.
    "this_morning": ("this morning", "heute (?:fruh|morgen|vormittag)", "ce matin", "esta manana"),
    "this_afternoon": ("this afternoon", "heute nachmittag", "cet apres[- ]midi", "(?!)"),
    "this_evening": ("this evening|tonight", "heute abend", "ce soir", "esta noche"),
    "bare_morning": ("morning", "fruh|vormittag", "matin", "por la manana"),
    "bare_afternoon": ("afternoon", "nachmittag", "apres[- ]midi", "(?!)"),
    "bare_evening": ("evening|night", "abend", "soir", "por la noche"),
    "morning": (
        "in the morning",
        "morgens|vormittags|in der fruh|am (?:morgen|vormittag)",
        "du matin",
        "(?:de|por) la manana",
    ),
    "afternoon": ("in the afternoon", "nachmittags|am nachmittag", "de l'apres[- ]midi", "de la tarde"),
    "evening": ("in the evening", "abends|am abend", "du soir", "(?:de|por) la noche"),
    # What returns; the last two stand before a day of the week, and before the number of a day of the month.
    "daily": ("every day|daily", "jeden tag|taglich", "tous les jours|chaque jour", "todos los dias|cada dia|a diario"),
    "weekdays": (
        "every weekday",
        "jeden werktag|werktags",
        "(?:tous les|chaque) jours? (?:de semaine|ouvres?)",
        "(?:todos los|cada) dias? (?:laborables?|entre semana)",
    ),
    "plural": ("(?:on )?{day}s", "{day}s", "les {day}s", "los {day}s?"),
    "every": ("every week on|every|each", "jede woche am|jeden", "chaque semaine le|chaque|tous les", "cada|todos los"),
    "month_on": (
        "every month on(?: the)?",
        "jeden monat am",
        "(?:chaque|tous les) mois le",
        "(?:cada mes|todos los meses) el(?: dia)?",
    ),
    # Before an hour, between it and its minutes, and behind it.
    "at": ("at", "um", "a|pour", "a las?"),
    "minutes": (":", "[:.]", r"\s?h\s?|:", ":"),
    "hours": (r"\s?o'?\s?clock", r"\s?uhr", r"\s?h(?:eures?)?", r"\s?h(?:oras?)?"),
    # What is about time in one of them alone: in German "hier" is here.
    "left": (
        "mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|hier",
        "mo|di|mi|fr|sa",
        "lun|ven|hier",
        "lun|mie|jue|vie|sab|hier",
    ),
    "noon": ("(?:at )?(?:noon|midday)", "(?:(?:um|am|zum) )?mittags?", "(?:a )?midi", "al? mediodia"),
}
"""What English, German, French and Spanish call the parts of a time: patterns without accents and capitals."""
_UNIT_SECONDS = (1, 60, 3600, 86_400, 604_800)
_MONTHS: Mapping[str, int] = {
    name: number
    for names in _WORDS["months"]
    for number, several in enumerate(names.split(), 1)
    for name in several.split("|")
}

_ABOUT_TIME = r"""
    today tomorrow tonight yesterday mornings? afternoons? evenings? nights? noon midday midnight weekdays? weekends?
    workdays? fortnight(?:ly)? daily weekly monthly yearly annual(?:ly)? hourly nightly months? years? times? twice
    thrice once until till except(?:ing)? excluding unless every each next last later earlier ago latest earliest soon
    now o'?clock since during within per starting beginning ending holidays? christmas xmas easter daytime lunchtime
    bedtime heute morgen ubermorgen gestern vorgestern fruhmorgens (?:vor|nach)?mittags? abends? nachts? nacht
    mitternacht fruh morgens wochenendes? werktag\w* wochentag\w* feiertag\w* ferien taglich stundlich
    wochentlich monatlich jahrlich monat(?:en?|s)? jahr(?:en?|s)? uhr zeit (?:ein|zwei|drei|vier|funf)mal au(?:ss|ß)er
    bis jede[nrms]? nachste[nrms]? kommende[nrms]? letzte[nrms]? spater fruher spatestens fruhestens jetzt bald seit
    wahrend halb viertel dreiviertel gleich sofort feierabend sonnen(?:auf|unter)gang
    weihnachten ostern silvester neujahr dez nov okt oct dec aug feb apr jun jul utc gmt ces?t mes?z
    a[ecw][sd]t [ecmp]dt [cmp]st nz[sd]t bst [ap]\.m
    half\spast quarter\s(?:to|past) and\sa\shalf et\sdemie? et\squart moins\sle\squart y\smedia y\scuarto
    menos\scuarto bi-?weekly vierzehntagig quinzaine quincena(?:l(?:mente)?)? enseguida (?:coucher|lever)\sdu\ssoleil
    aujourd'hui demain lendemain matins? matinee midi apres[-\s]midi soirs? soiree nuits? minuit week-?ends? mois
    quotidien(?:nement)? hebdomadaire mensuel(?:lement)? annees? ans? fois chaque prochaine?s? derniere?s? sauf excepte
    jusque? jusqu'\w* depuis pendant tot tard bientot maintenant (?:tous|toutes)\sles feries? vacances noel paques
    hoy manana ayer anteayer tardes? noches? mediodia medianoche madrugada fin\sde\ssemana cada (?:todos|todas)\sl[ao]s
    diari[oa](?:mente)? semanal(?:mente)? mensual(?:mente)? meses anos? vez veces proxim[oa]s? pasad[oa]s? siguientes?
    salvo excepto hasta durante luego ahora pronto temprano festivos vacaciones navidad again asap
    sun(?:set|rise) (?:before|after)\s(?:lunch|dinner|breakfast|work) (?:vor|nach)\sdem\s\w*essen (?:atard|aman)ecer
"""
"""Words about time besides the names of days, months and units, which are left over nowhere in a text."""
_NUMBERS = r"""
    two three four five six seven eight nine ten eleven twelve \w+teen (?:twenty|thirty|forty|fifty)\S*
    zwei drei vier funf sechs sieben acht neun zehn elf zwolf \w+(?:zehn|zig|ssig|ßig)
    deux trois quatre cinq sept huit neuf dix onze douze quinze vingt\S* trente\S* quarante\S* cinquante\S*
    dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta
"""
_ABUTTING = rf"""{_NUMBERS}
    a\. p [ap]\.?m h m s x before after by at on in from for but not and or plus minus past around sharp exactly
    precisely punctually then than if when whenever while as half quarters? hundred ish only again also instead
    vor nach ab um am im in gegen von vom fur aber nicht und oder wenn falls sobald genau punkt punktlich nur auch
    wieder etwa ca circa ungefahr avant apres des vers entre mais pas et ou si quand lorsque pile environ precises?
    moins encore antes despues desde sobre entre pero no y e o u cuando menos mas en media cuarto demie? quart
    est ct pt ist jst eastern central pacific mountain local approx approximately roughly nearly almost probably maybe
    perhaps even starting fast vielleicht wahrscheinlich schon erst peut-etre presque quizas casi
"""
"""Words that change a time right beside which they stand."""
_NUMERIC = (
    r"\d\s?[:h]\s?\d|\d[./-]\d|\d\.(?=\s|$)|\b20\d\d\b|\d\s?(?:[ap]\.?\s?m?|h|d|w|x|st|nd|rd|th|er|eme|[oaº°])\b"
    r"|\b(?:at|by|before|after|from|since|around|about|on|the|past|half|um|bis|ab|vor|nach|gegen|von|vom|seit|am|den|dem|alle"
    rf"|a|a las?|le|el|desde|sobre|vers|des|avant|apres|entre|between|zwischen)"
    rf"\s+(?:\d|(?:{'|'.join(_NUMBERS.split())})\b)"
)
_ASK = re.compile(r"ask:\s*(?=\S)", re.IGNORECASE)
_GAP = re.compile(r"[:,;.]?\s+(?:[-–—→]+\s+)?")
"""Between a time and its text."""
_BETWEEN = re.compile(r"\s*,\s*|\s+")
"""Between two parts of a time."""

_Time = Mapping[str, re.Match[str]]


class _Unread(ValueError):
    """There is a time, and a word too many or no such hour or day."""


def read(words: str, *, now: datetime, zone: str) -> Wish | None:
    """Returns the wish of a person in this time zone; None if there is no time in it, or one not understood whole."""
    words = words.strip().replace("’", "'")
    today, folded = now.astimezone(ZoneInfo(zone)).date(), _folded(words)
    found = [(grammar, *grammar.scan(folded)) for grammar in _grammars()]
    longest = max(end for _, _, end in found)
    try:
        wishes = {
            grammar.wish(words, folded, end, time, today)
            for grammar, time, end in found
            if end == longest and ("clock" in time or "delay" in time)
        }
    except _Unread:
        return None
    # Languages that share the words of a time lead to its text in their own.
    is_one_time = len({replace(wish, text="", prompt=None) for wish in wishes}) == 1
    return min(wishes, key=lambda wish: len(wish.text)) if is_one_time else None


def _folded(words: str) -> str:
    """The words in lower case without accents, with every character in its place."""
    return "".join(unicodedata.normalize("NFKD", one)[0].lower()[:1] if one.isalpha() else one for one in words)


class _Grammar:
    """The forms of one language."""

    def __init__(self, language: int) -> None:
        words = {name: forms[language] for name, forms in _WORDS.items()}
        self._is_english = language == 0
        self._lead, self._join = re.compile(f"(?:{words['lead']})*"), re.compile(words["join"])
        self._days, self._units, self._numbers = (words[name].split() for name in ("days", "units", "numbers"))
        self._patterns = tuple(
            (kind, re.compile(rf"(?:{pattern})(?![\w'])")) for kind, pattern in _patterns(words, language) if pattern
        )
        self._left = re.compile(rf"\b(?:{'|'.join(_ABOUT_TIME.split())}|{words['left']}|{_names()})\b|{_NUMERIC}")

    def scan(self, text: str) -> tuple[_Time, int]:
        """The parts of the time with which the text begins, and where the last one ends; 0 if there is none."""
        at = _end(self._lead, text)
        time: dict[str, re.Match[str]] = {}
        last, end = "", 0
        while True:
            for kind, pattern in self._patterns:
                name, _, after = kind.partition(" after ")
                match = None if name in time or (after and last not in after.split("/")) else pattern.match(text, at)
                if match and not ("clock" in time and name == "day" and match.groupdict().get("on", "") is None):
                    time[name], last, end = match, name, match.end()
                    break
            else:
                return time, end
            between = _BETWEEN.match(text, end)
            if between is None:
                return time, end
            at = between.end()

    def wish(self, words: str, folded: str, end: int, time: _Time, today: date) -> Wish:
        """The wish with this time.

        Raises:
            _Unread: a word about time is left over, or there is no such time.
        """
        text = self._text_behind(words, folded, end)
        asked = _ASK.match(text)
        prompt = text[asked.end() :] if asked else None
        if prompt is None and self._left.search(_folded(text)):
            raise _Unread
        said = _said(time)
        if "every" in time and "day" in time:
            raise _Unread
        if "delay" in time:
            return Wish(text=prompt or text, prompt=prompt, delay_seconds=self._delay(time, said))
        hour, minute, names_half = _clock(said, is_english=self._is_english)
        repeat, day = (self._repeat(said, today)) if "every" in time else (None, self._day(said, today))
        return Wish(
            text=prompt or text,
            prompt=prompt,
            local=f"{(day or today).isoformat()}T{hour:02}:{minute:02}",
            repeat=repeat,
            names_half=names_half,
            names_day=day is not None,
        )

    def _text_behind(self, words: str, folded: str, end: int) -> str:
        gap = _GAP.match(folded, end)
        if gap is None:
            raise _Unread
        begin = _end(self._join, folded, gap.end())
        for at in (gap.end(), begin):
            if re.match(rf"[\W\d]*\d|\W*(?:{'|'.join(_ABUTTING.split())})(?![\w'])", folded[at:]):
                raise _Unread
        if not words[begin:].strip(" .!?"):
            raise _Unread
        return words[begin:]

    def _delay(self, time: _Time, said: Mapping[str, str]) -> int:
        if len(time) > 1:
            raise _Unread
        if "half_hour" in said:
            return _HALF_HOUR
        counted = [(said[f"count{n}"], self._unit(said[f"unit{n}"])) for n in (1, 2) if f"unit{n}" in said]
        if len(counted) > 1 and counted[0][1] <= counted[1][1]:
            raise _Unread
        return sum(self._count(count) * unit for count, unit in counted)

    def _count(self, word: str) -> int:
        if word.isdigit():
            return int(word)
        return self._numbers.index(word) + 2 if word in self._numbers else 1

    def _unit(self, name: str) -> int:
        return next(_UNIT_SECONDS[n] for n, names in enumerate(self._units) if re.fullmatch(names, name))

    def _weekday(self, name: str) -> int:
        return next(number for number, names in enumerate(self._days) if re.fullmatch(f"(?:{names})s?", name))

    def _repeat(self, said: Mapping[str, str], today: date) -> tuple[Repeat, date]:
        if "daily" in said:
            return Repeat(every="day"), today
        if "weekdays" in said:
            return Repeat(every="week", weekdays=_WEEKDAYS[:5]), today
        if "monthly" in said:
            if not 1 <= (day := int(said["monthly"])) <= _MAX_MONTHLY_DAY:
                raise _Unread
            return Repeat(every="month"), today.replace(day=day)
        named = {self._weekday(name) for name in re.findall("|".join(self._days), said["days"])}
        return Repeat(every="week", weekdays=tuple(_WEEKDAYS[number] for number in sorted(named))), today

    def _day(self, said: Mapping[str, str], today: date) -> date | None:
        """The day that is named; None if none is."""
        ahead = {"today": 0, "tomorrow": 1, "after": 2}
        if name := next((name for name in ahead if name in said), None):
            return today + timedelta(days=ahead[name])
        if "weekday" in said:
            if (days := (self._weekday(said["weekday"]) - today.weekday()) % 7) == 0:
                raise _Unread  # today, or in a week
            return today + timedelta(days=days)
        try:
            day = date.fromisoformat(said["iso"]) if "iso" in said else self._date(said, today)
        except ValueError:
            raise _Unread from None
        if day is not None and "named" in said and day.weekday() != self._weekday(said["named"]):
            raise _Unread
        return day

    def _date(self, said: Mapping[str, str], today: date) -> date | None:
        """The date; without a year the next one. None if there is none."""
        day = next((int(said[name]) for name in ("day1", "day3") if name in said), None)
        if day is None:
            return None
        month = _MONTHS[said["month"]] if "month" in said else int(said["number"])
        year = next((said[name] for name in ("year1", "year3", "short") if name in said), None)
        if year is not None:
            return date(int(year) + (0 if len(year) > len("26") else 2000), month, day)
        for ahead in range(_MAX_YEARS):
            try:
                if (found := date(today.year + ahead, month, day)) >= today:
                    return found
            except ValueError:
                continue
        raise _Unread


def _patterns(words: Mapping[str, str], language: int) -> tuple[tuple[str, str], ...]:
    """The parts of a time; "after" stands before the parts behind which alone one may stand."""
    day, on = f"(?:{words['days'].replace(' ', '|')})", rf"(?:(?P<on>{words['on']})\s+)?"
    names = words["months"].replace(" ", "|").split("|")
    month = rf"(?P<month>{'|'.join(sorted(names, key=len, reverse=True))})\.?"
    counts = f"{words['one']}|{words['numbers'].replace(' ', '|')}"
    first, second = (
        rf"(?P<count{n}>\d{{1,4}}|(?<![\w])(?:{counts})(?=\s))\s*(?P<unit{n}>{words['units'].replace(' ', '|')})"
        for n in (1, 2)
    )
    named = rf"{on}(?:(?P<named>{day}),?\s+(?:(?:{words['on']})\s+)?)?"
    year = r"(?:,?\s+(?:del?\s+)?(?P<year1>20\d\d)(?![\d:]))?"
    day_first = rf"(?P<day1>\d{{1,2}})(?:{words['ordinal']})?\s*(?:(?:{words['of']})\s+)?{month}{year}"
    month_first = rf"{month}\s+(?:the\s+)?(?P<day1>\d{{1,2}})(?:{words['ordinal']})?(?![\w:]){year}"
    half, minute = r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)", rf"(?:(?:{words['minutes']})(?P<minute>\d\d))"
    hour, hours = r"(?P<hour>\d{1,2})(?!\d)", f"(?:{words['hours']})"
    also, plural = rf"(?:\s*,\s*|\s+(?:{words['also']})\s+)", f"(?:{words['plural'].format(day=day)})"
    this, bare, part = (
        "|".join(f"(?P<{name}>{words[kind + name]})" for name in _PARTS) for kind in ("this_", "bare_", "")
    )
    return (
        ("delay", rf"(?:{words['into']})\s+(?P<half_hour>{words['half_hour']})"),
        ("delay", rf"(?:{words['into']})\s+{first}(?:(?:\s*|{also}){second})?"),
        ("every", f"(?P<weekdays>{words['weekdays']})"),
        ("every", rf"(?:{words['month_on']})\s+(?P<monthly>\d{{1,2}})(?:{words['ordinal']})?"),
        ("every", f"(?P<daily>{words['daily']})"),
        ("every", rf"(?:{words['every']})\s+(?P<days>{day}s?(?:{also}{day}s?)*)"),
        ("every", f"(?P<days>{plural}(?:{also}{plural})*)"),
        ("day", r"(?P<iso>20\d\d-\d\d-\d\d)"),
        ("day", named + day_first),
        ("day", named + month_first if language == 0 else ""),
        ("day", named + words["date"]),
        ("day", f"(?P<after>{words['after']})"),
        ("day", f"(?P<today>{this}|{words['today']})|(?P<tomorrow>{words['tomorrow']})"),
        ("day", f"{on}(?P<weekday>{day})"),
        ("part after day/every", bare),
        ("part", part),
        ("clock", f"(?P<noon>{words['noon']})"),
        ("clock", rf"(?:um\s+)?{hour}\s?uhr\s(?P<minute>[0-5]\d)(?!\d)" if language == _GERMAN else ""),
        ("clock", "a la (?P<one>una)" if language == _SPANISH else ""),
        ("clock", rf"(?P<at>{words['at']})\s+{hour}{minute}?{hours}?{half}?"),
        ("clock", rf"{hour}(?::(?P<minute>\d\d)){hours}?{half}?"),
        ("clock", hour + half),
        ("clock", hour + minute + "?" + hours if language == _GERMAN else ""),
        ("clock after day/every/part", rf"{hour}h(?P<minute>\d\d)?" if language == _FRENCH else ""),
    )


def _names() -> str:
    """The names of days, months and units in all languages; a day's name also as the beginning of another word."""
    names = [name for kind in ("months", "units") for names in _WORDS[kind] for name in re.split("[ |]", names)]
    days = "|".join(_WORDS["days"]).replace(" ", "|")
    return "|".join([*(name for name in names if len(name) > len("std")), "mins?", "std", rf"(?:{days})\w*"])


@cache
def _grammars() -> tuple[_Grammar, ...]:
    return tuple(map(_Grammar, range(len(_WORDS["days"]))))


def _said(time: _Time) -> Mapping[str, str]:
    return {name: value for match in time.values() for name, value in match.groupdict().items() if value}


def _end(pattern: re.Pattern[str], text: str, at: int = 0) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _clock(said: Mapping[str, str], *, is_english: bool) -> tuple[int, int, bool]:
    """The hour, the minute, and whether the half of the day is certain."""
    part = next((hours for name, hours in _PARTS.items() if name in said), None)
    hour, minute = int(said.get("hour") or (1 if "one" in said else _NOON)), int(said.get("minute") or 0)
    if hour > 23 or minute > 59:  # noqa: PLR2004  (those of a day)
        raise _Unread
    if half := said.get("half"):
        if not 1 <= hour <= _NOON:
            raise _Unread
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    if part is None:
        is_digital = "minute" in said and not is_english
        names_half = (
            "noon" in said or bool(half) or not 1 <= hour < _NOON or is_digital or said.get("hour", "")[:1] == "0"
        )
        return hour, minute, names_half
    is_settled = bool(half) or "noon" in said or not 1 <= hour <= _NOON
    hours = {hour} if is_settled else {hour % _NOON, hour % _NOON + _NOON}
    fitting = [one for one in hours if part[0] <= one <= part[1]]
    if len(fitting) != 1:
        raise _Unread
    return fitting[0], minute, True
