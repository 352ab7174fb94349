"""Which language Aldis speaks now, what a sentence is in it, and how it writes dates and numbers.

The language belongs to whoever is answered, not to a sentence: it is set where an answer begins (`speak`, `speaking`),
and every sentence said from there on is in it. Sentences stand in English in `bot.i18n.phrases`, and by the names that
they have there in `de`, `fr` and `es`. Left to others: which language that is (`bot.turn.chats`, `bot.i18n.detect`).
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, get_args

from bot.i18n import de, es, fr

Language = Literal["en", "de", "fr", "es"]

LANGUAGES: tuple[Language, ...] = get_args(Language)

SENTENCES: Mapping[Language, Mapping[str, str]] = {"de": de.SENTENCES, "fr": fr.SENTENCES, "es": es.SENTENCES}
"""What a sentence of `bot.i18n.phrases` is in each language, by its name there without a leading underscore."""

_DAYS: Mapping[Language, str] = {
    "en": "Mon Tue Wed Thu Fri Sat Sun",
    "de": "Mo Di Mi Do Fr Sa So",
    "fr": "lun. mar. mer. jeu. ven. sam. dim.",
    "es": "lun mar mié jue vie sáb dom",
}
_LONG_DAYS: Mapping[Language, str] = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
}
_MONTHS: Mapping[Language, str] = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
_LONG_DATES: Mapping[Language, str] = {
    "en": "{day} {month} {year}",
    "de": "{day}. {month} {year}",
    "fr": "{day} {month} {year}",
    "es": "{day} de {month} de {year}",
}
_WITH_WEEKDAY: Mapping[Language, str] = {
    "en": "{weekday}, {date}",
    "de": "{weekday}, {date}",
    "fr": "{weekday} {date}",
    "es": "{weekday} {date}",
}
_QUOTES: Mapping[Language, str] = {"en": "“{}”", "de": "„{}“", "fr": "« {} »", "es": "«{}»"}
_DATES: Mapping[Language, str] = {"en": "%Y-%m-%d", "de": "%d.%m.%Y", "fr": "%d/%m/%Y", "es": "%d/%m/%Y"}

_spoken: ContextVar[Language] = ContextVar("spoken", default="en")


def speak(language: Language) -> None:
    """Speak this language for the rest of the task."""
    _spoken.set(language)


@contextmanager
def speaking(language: Language) -> Generator[None]:
    """Speak this language within the block."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def spoken() -> Language:
    """The language that is spoken now; English unless another one was chosen."""
    return _spoken.get()


def sentence(name: str) -> str | None:
    """The sentence of that name in the language that is spoken now; None in English, where `bot.i18n.phrases` has
    it.
    """
    return SENTENCES.get(_spoken.get(), {}).get(name)


def day(at: date) -> str:
    """A date, as it is written in the language."""
    return at.strftime(_DATES[_spoken.get()])


def weekday(number: int) -> str:
    """The name of a day of the week; Monday is 0."""
    return _LONG_DAYS[_spoken.get()].split()[number]


def long_day(at: date, *, with_weekday: bool = False) -> str:
    """A date in words: `24 December 2026`, with its weekday `Thursday, 24 December 2026`."""
    language = _spoken.get()
    number = "1er" if language == "fr" and at.day == 1 else at.day
    month = _MONTHS[language].split()[at.month - 1]
    words = _LONG_DATES[language].format(day=number, month=month, year=at.year)
    return _WITH_WEEKDAY[language].format(weekday=weekday(at.weekday()), date=words) if with_weekday else words


def quotation(words: str) -> str:
    """The words between quotation marks."""
    return _QUOTES[_spoken.get()].format(words)


def moment(at: datetime) -> str:
    """The day of the week, the date and the time to the minute: `Sat 2026-11-21 22:40`, in the value's own zone."""
    weekday = _DAYS[_spoken.get()].split()[at.weekday()]
    return f"{weekday} {day(at)} {at:%H:%M}"


def number(value: Decimal) -> str:
    """A number with the language's decimal sign, all its places as they are."""
    text = f"{value:f}"
    return text if _spoken.get() == "en" else text.replace(".", ",")
