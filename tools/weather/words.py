"""The words, dates and decimal points of the chart, in each language that Aldis speaks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartWords:
    """The words of one language."""

    temperature: str
    chance: str
    amount: str
    """Of rain and snow; has a place for its `unit`."""
    now: str
    inch: str
    """Open-Meteo's `inch`; its other units on the chart are the same everywhere."""
    weekdays: tuple[str, str, str, str, str, str, str]
    """In short, from Monday on."""
    day: str
    """A day below the chart; has places for `weekday` and `at`."""
    date: str
    """A day in the title; has the same places."""
    decimal_point: str

    def day_of(self, at: datetime) -> str:
        """Returns the day as it stands below the chart: `Sat 21`."""
        return self.day.format(weekday=self.weekdays[at.weekday()], at=at)

    def date_of(self, at: datetime) -> str:
        """Returns the day as it stands in the title: `Sat 21 Nov`."""
        return self.date.format(weekday=self.weekdays[at.weekday()], at=at)

    def unit(self, unit: str) -> str:
        """Returns a unit of Open-Meteo as people write it."""
        return self.inch if unit == "inch" else unit


CHART_WORDS: Mapping[str, ChartWords] = {
    "en": ChartWords(
        temperature="Temperature",
        chance="Chance of rain",
        amount="Rain and snow ({unit} an hour)",
        now="now",
        inch="inch",
        weekdays=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
        day="{weekday} {at:%d}",
        date="{weekday} {at:%d %b}",
        decimal_point=".",
    ),
    "de": ChartWords(
        temperature="Temperatur",
        chance="Regenwahrscheinlichkeit",
        amount="Regen und Schnee ({unit} pro Stunde)",
        now="jetzt",
        inch="Zoll",
        weekdays=("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"),
        day="{weekday} {at.day}.",
        date="{weekday} {at.day}.{at.month}.",
        decimal_point=",",
    ),
    "fr": ChartWords(
        temperature="Température",
        chance="Risque de pluie",
        amount="Pluie et neige ({unit} par heure)",
        now="maintenant",
        inch="pouce",
        weekdays=("lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."),
        day="{weekday} {at.day}",
        date="{weekday} {at:%d/%m}",
        decimal_point=",",
    ),
    "es": ChartWords(
        temperature="Temperatura",
        chance="Probabilidad de lluvia",
        amount="Lluvia y nieve ({unit} por hora)",
        now="ahora",
        inch="pulgadas",
        weekdays=("lun", "mar", "mié", "jue", "vie", "sáb", "dom"),
        day="{weekday} {at.day}",
        date="{weekday} {at.day}/{at.month}",
        decimal_point=",",
    ),
}


def chart_words(language: str) -> ChartWords:
    """Returns the words of a language, by its ISO code; English for one without."""
    return CHART_WORDS.get(language, CHART_WORDS["en"])
