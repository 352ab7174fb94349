"""Dates and numbers follow the language."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from bot.i18n.language import Language, use_language
from bot.i18n.locale import day, dollars, moment, number

AT = datetime(2026, 3, 4, 9, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "date", "when", "amount"),
    [
        ("en", "4 Mar 2026", "Wed, 4 Mar 2026, 09:05", "1,234.50"),
        ("de", "04.03.2026", "Mi., 4. März 2026, 09:05", "1.234,50"),
        ("fr", "4 mars 2026", "mer. 4 mars 2026, 09:05", "1\u202f234,50"),
        ("es", "4 mar 2026", "mié, 4 mar 2026, 09:05", "1.234,50"),
    ],
)
def test_dates_and_numbers(language: Language, date: str, when: str, amount: str) -> None:
    """As people of the language write them, without a locale of the machine."""
    with use_language(language):
        assert day(AT) == date
        assert (moment(AT), number(Decimal("1234.50"))) == (when, amount)


@pytest.mark.parametrize(
    ("language", "amount", "small"),
    [
        ("en", "US$1,234.50", "US$0.0042"),
        ("de", "1.234,50\u00a0$", "0,0042\u00a0$"),
        ("fr", "1\u202f234,50\u00a0$US", "0,0042\u00a0$US"),
        ("es", "1.234,50\u00a0US$", "0,0042\u00a0US$"),
    ],
)
def test_money_is_written_as_the_language_does(language: Language, amount: str, small: str) -> None:
    """With its cents, and with more places where it has them."""
    with use_language(language):
        assert (dollars(Decimal("1234.5")), dollars(Decimal("0.0042"))) == (amount, small)
