"""The format of dates, lists and numbers in the current language (`bot.i18n.language`).

They follow Unicode's CLDR, by way of Babel; English is British, with the 24-hour clock and the day before the month.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from babel.core import Locale
from babel.dates import format_date, format_skeleton
from babel.lists import format_list
from babel.numbers import format_currency, format_decimal
from babel.units import format_unit

from bot.i18n.language import Language, current_language

_LOCALES: Mapping[Language, str] = {"en": "en_GB", "de": "de", "fr": "fr", "es": "es"}
_QUOTES: Mapping[Language, str] = {"en": "“{}”", "de": "„{}“", "fr": "«\u00a0{}\u00a0»", "es": "«{}»"}  # Babel has none


def day(at: date) -> str:
    """A date: `24 Dec 2026`."""
    return format_date(at, "medium", locale=_locale())


def long_day(at: date, *, with_weekday: bool = False, has_year: bool = True) -> str:
    """A date in words: `24 December 2026`, or with its weekday `Thursday, 24 December 2026`, or `24 December`."""
    whole = format_date(at, "full" if with_weekday else "long", locale=_locale())
    words = whole if has_year else format_skeleton("MMMMd", at, locale=_locale())
    # French says the first of a month in its own way, which CLDR leaves out.
    return words.replace("1 ", "1er ", 1) if current_language() == "fr" and at.day == 1 else words


def moment(at: datetime) -> str:
    """The weekday, the date and the time to the minute: `Sat, 21 Nov 2026, 22:40`, in the value's own zone."""
    return str(_locale().datetime_formats["medium"]).format(
        f"{at:%H:%M}", format_skeleton("yMMMEd", at.date(), locale=_locale())
    )


def weekday(number: int, *, is_short: bool = False) -> str:
    """The name of a weekday, or `Mon`; Monday is 0."""
    return _locale().days["format"]["abbreviated" if is_short else "wide"][number]


def amount(count: Decimal | int, unit: str, *, is_long: bool = False) -> str:
    """A number of units, named by CLDR's code (`duration-hour`): `2 hrs`, or `2 hours`."""
    return format_unit(count, unit, length="long" if is_long else "short", locale=_locale()).replace("\u202f", "\u00a0")


def join_list(words: Sequence[str], last: Literal["and", "or"] = "and") -> str:
    """Several things as one reads them out: `one, two and three`; empty if there are none."""
    return format_list(words, style="or" if last == "or" else "standard", locale=_locale())


def quotation(words: str) -> str:
    """The words between quotation marks."""
    return _QUOTES[current_language()].format(words)


def number(value: Decimal) -> str:
    """A number with all its decimal places: `1,234.50`."""
    places = len(f"{value:f}".partition(".")[2])
    return format_decimal(value, format=f"#,##0.{'0' * places}", locale=_locale())


def dollars(amount: Decimal) -> str:
    """An amount of US dollars with at least its cents: `US$1,234.50`."""
    return format_currency(amount, "USD", locale=_locale(), currency_digits=False, decimal_quantization=False)


def language_names(by: Language) -> Mapping[str, str]:
    """The names of all languages in this one, by their codes: `German` for `de`, `Brazilian Portuguese` for `pt_BR`."""
    return Locale(by).languages


def _locale() -> Locale:
    return Locale.parse(_LOCALES[current_language()])
