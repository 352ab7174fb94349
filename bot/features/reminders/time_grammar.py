"""Pure: reads the plain forms of a time as people type them after `/remind`; refuses everything else.

    in 20 minutes TEXT · in half an hour TEXT       17:00 TEXT · tomorrow at 9 TEXT · today at 8 pm TEXT
    on friday at 9 TEXT · on 3 December at 9 TEXT   every day at 8 TEXT · every month on the 15th at 9 TEXT

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
_MAX_MONTHLY_DAY = 28
"""Some months lack the days after it."""
_UNIT_SECONDS = (1, 60, 3600, 86_400, 604_800)

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
    "half_hour": ("half an hour", "einer halben stunde", "une demi[- ]heure", "media hora"),
    "also": ("and", "und", "et", "y"),
    # Before a day, and between its number and its month.
    "on": ("on the|on|this|the", "am|den|diesen|an diesem", "ce|le|pour le", "el|este|para el"),
    "of": (r"(?:st|nd|rd|th)?\s+(?:of\s+)?", r"\.?\s*", r"(?:er)?\s+", r"\s+(?:de\s+)?"),
    "today": ("today", "heute", "aujourd'hui", "hoy"),
    "tomorrow": ("tomorrow", "morgen", "demain", "manana"),
    "after": ("(?:the )?day after tomorrow", "ubermorgen", "apres[- ]demain", "pasado manana"),
    # What returns; the last two stand before a day of the week, and before the number of a day of the month.
    "daily": ("every day|daily", "jeden tag|taglich", "tous les jours|chaque jour", "todos los dias|cada dia|a diario"),
    "weekdays": (
        "every weekday",
        "jeden werktag|werktags",
        "(?:tous les|chaque) jours? (?:de semaine|ouvres?)",
        "(?:todos los|cada) dias? (?:laborables?|entre semana)",
    ),
    "every": ("every", "jeden", "chaque|tous les", "cada|todos los"),
    "monthly": (
        "every month on(?: the)?",
        "jeden monat am",
        "(?:chaque|tous les) mois le",
        "(?:cada mes|todos los meses) el(?: dia)?",
    ),
    # Before an hour, between it and its minutes, and behind it.
    "at": ("at", "um", "a|pour", "a las?"),
    "minutes": (":", "[:.]", r"\s?h\s?|:", ":"),
    "hours": (r"\s?o'?\s?clock", r"\s?uhr", r"\s?h(?:eures?)?", r"\s?h(?:oras?)?"),
    "noon": ("(?:at )?(?:noon|midday)", "(?:(?:um|am|zum) )?mittags?", "(?:a )?midi", "al? mediodia"),
    # What is about time in one of them alone: in German "hier" is here.
    "left": (
        "mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|hier",
        "mo|di|mi|fr|sa",
        "lun|ven|hier",
        "lun|mie|jue|vie|sab|hier",
    ),
}
"""What English, German, French and Spanish call the parts of a time: patterns without accents and capitals."""
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


class _Unread(ValueError):
    """There is a time, and a word too many or no such hour or day."""


def read(words: str, *, now: datetime, zone: str) -> Wish | None:
    """Returns the wish of a person in this time zone; None if there is no time in it, or one not understood whole."""
    words = words.strip().replace("’", "'")
    today = now.astimezone(ZoneInfo(zone)).date()
    # In lower case without accents, with every character in its place.
    folded = "".join(unicodedata.normalize("NFKD", one)[0].lower()[:1] if one.isalpha() else one for one in words)
    found = [(grammar, match) for grammar in _grammars() if (match := grammar.time.match(folded))]
    longest = max((match.end("time") for _, match in found), default=0)
    try:
        wishes = [grammar.wish(words, match, today) for grammar, match in found if match.end("time") == longest]
    except ValueError:
        return None
    # Languages that share the words of a time lead to its text in their own.
    is_one_time = len({replace(wish, text="", prompt=None) for wish in wishes}) == 1
    return min(wishes, key=lambda wish: len(wish.text)) if is_one_time else None


class _Grammar:
    """The forms of one language."""

    def __init__(self, language: int) -> None:
        words = {name: forms[language] for name, forms in _WORDS.items()}
        self._is_english = language == 0
        self._days, self._units = words["days"].split(), words["units"].split()
        self.time = re.compile(_pattern(words))
        self._left = re.compile(rf"\b(?:{'|'.join(_ABOUT_TIME.split())}|{words['left']}|{_names()})\b|{_NUMERIC}")

    def wish(self, words: str, time: re.Match[str], today: date) -> Wish:
        """The wish with this time.

        Raises:
            ValueError: a word about time is left over, or there is no such time.
        """
        for name in ("text", "joined"):
            if re.match(rf"[\W\d]*\d|\W*(?:{'|'.join(_ABUTTING.split())})(?![\w'])", time[name]):
                raise _Unread
        text = words[time.start("text") :]
        asked = _ASK.match(text)
        prompt = text[asked.end() :] if asked else None
        if not text.strip(" .!?") or (prompt is None and self._left.search(time["text"])):
            raise _Unread
        said = {name: value for name, value in time.groupdict().items() if value}
        if "half_hour" in said or "unit" in said:
            return Wish(text=prompt or text, prompt=prompt, delay_seconds=self._delay(said))
        hour, minute, names_half = self._clock(said)
        repeat, day = self._repeat(said), self._day(said, today)
        return Wish(
            text=prompt or text,
            prompt=prompt,
            local=f"{(day or today).isoformat()}T{hour:02}:{minute:02}",
            repeat=repeat,
            names_half=names_half,
            names_day=day is not None or repeat is not None,
        )

    def _delay(self, said: Mapping[str, str]) -> int:
        if "half_hour" in said:
            return _HALF_HOUR
        unit = next(_UNIT_SECONDS[n] for n, names in enumerate(self._units) if re.fullmatch(names, said["unit"]))
        return unit * (int(said["count"]) if said["count"].isdigit() else 1)

    def _weekday(self, name: str) -> int:
        return next(number for number, names in enumerate(self._days) if re.fullmatch(f"(?:{names})s?", name))

    def _repeat(self, said: Mapping[str, str]) -> Repeat | None:
        if "daily" in said:
            return Repeat(every="day")
        if "monthly" in said:
            return Repeat(every="month")
        if "weekdays" in said:
            return Repeat(every="week", weekdays=_WEEKDAYS[:5])
        named = {self._weekday(name) for name in re.findall("|".join(self._days), said.get("days", ""))}
        return Repeat(every="week", weekdays=tuple(_WEEKDAYS[one] for one in sorted(named))) if named else None

    def _day(self, said: Mapping[str, str], today: date) -> date | None:
        """The day that is named; None if none is. Raises ValueError if there is no such day."""
        for ahead, name in enumerate(("today", "tomorrow", "after")):
            if name in said:
                return today + timedelta(days=ahead)
        if "weekday" in said:
            if (days := (self._weekday(said["weekday"]) - today.weekday()) % 7) == 0:
                raise _Unread  # today, or in a week
            return today + timedelta(days=days)
        if "monthly" in said:
            if int(said["monthly"]) > _MAX_MONTHLY_DAY:
                raise _Unread
            return today.replace(day=int(said["monthly"]))
        if "iso" in said:
            return date.fromisoformat(said["iso"])
        for name in ("1", "2"):
            if f"month{name}" in said:
                day = today.replace(month=_MONTHS[said[f"month{name}"]], day=int(said[f"day{name}"]))
                return day if day >= today else day.replace(year=today.year + 1)
        return None

    def _clock(self, said: Mapping[str, str]) -> tuple[int, int, bool]:
        """The hour, the minute, and whether the half of the day is certain."""
        digits, minutes, half = (said.get(name, "") for name in ("hour", "minute", "half"))
        hour, minute = int(digits or _NOON), int(minutes or 0)
        if hour > 23 or minute > 59 or (half and not 1 <= hour <= _NOON):  # noqa: PLR2004  (those of a day)
            raise _Unread
        if half:
            return hour % _NOON + (_NOON if half == "p" else 0), minute, True
        is_digital = digits.startswith("0") or (bool(minutes) and not self._is_english)
        return hour, minute, "noon" in said or is_digital or not 1 <= hour < _NOON


def _pattern(words: Mapping[str, str]) -> str:
    """The pattern of a whole reminder in one language, from the time to the text behind it."""
    day, on = f"(?:{words['days'].replace(' ', '|')})", rf"(?:(?:{words['on']})\s+)?"
    month = "|".join(sorted(words["months"].replace(" ", "|").split("|"), key=len, reverse=True))
    also, end = rf"(?:\s*,\s*|\s+(?:{words['also']})\s+)", r"(?![\w'])"
    delay = (
        rf"(?:{words['into']})\s+(?:(?P<half_hour>{words['half_hour']})"
        rf"|(?P<count>\d{{1,4}}|(?:{words['one']})(?=\s))\s*(?P<unit>{words['units'].replace(' ', '|')}))"
    )
    when = "|".join(
        (
            f"(?P<weekdays>{words['weekdays']})",
            f"(?P<daily>{words['daily']})",
            rf"(?:{words['monthly']})\s+(?P<monthly>\d{{1,2}})(?:st|nd|rd|th|\.|er)?",
            rf"(?:{words['every']})\s+(?P<days>{day}s?(?:{also}{day}s?)*)",
            r"(?P<iso>20\d\d-\d\d-\d\d)",
            rf"{on}(?P<day1>\d{{1,2}}){words['of']}(?P<month1>{month})\.?",
            rf"{on}(?P<month2>{month})\s+(?:the\s+)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])",
            *(f"(?P<{name}>{words[name]})" for name in ("after", "tomorrow", "today")),
            f"{on}(?P<weekday>{day})",
        )
    )
    # An hour alone is none: it has a word before it, minutes, a word behind it, or its half.
    clock = (
        rf"(?P<noon>{words['noon']})|(?:(?P<at>{words['at']})\s+)?(?P<hour>\d{{1,2}})(?!\d)"
        rf"(?:(?:{words['minutes']})(?P<minute>\d\d))?(?P<hours>{words['hours']})?(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?"
        r"(?(at)|(?(minute)|(?(hours)|(?(half)|(?!)))))"
    )
    time = rf"(?P<time>(?:{delay}|(?:(?:{when}){end}(?:\s*,\s*|\s+))?(?:{clock})){end})"
    # Between a time and its text.
    gap = r"[:,;.]?\s+(?:[-–—→]+\s+)?"
    return rf"(?:{words['lead']})*{time}{gap}(?P<joined>(?:{words['join']})?(?P<text>(?s:.+)))"


def _names() -> str:
    """The names of days, months and units in all languages; a day's name also as the beginning of another word."""
    names = [name for kind in ("months", "units") for names in _WORDS[kind] for name in re.split("[ |]", names)]
    days = "|".join(_WORDS["days"]).replace(" ", "|")
    return "|".join([*(name for name in names if len(name) > len("std")), "mins?", "std", rf"(?:{days})\w*"])


@cache
def _grammars() -> tuple[_Grammar, ...]:
    return tuple(map(_Grammar, range(len(_WORDS["days"]))))
