"""Whens: what may stand after `/remind`, and what is refused rather than guessed at."""

from datetime import UTC, datetime

import pytest

from bot.i18n.time_grammar import find, read
from tools import Repeat, Wish

SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
"""13:00 in Berlin."""

ONCE = [
    ("14:30 tea", "2026-11-21T14:30", "tea"),
    ("13:00 tea", "2026-11-22T13:00", "tea"),
    ("at 8 tea", "2026-11-22T08:00", "tea"),
    ("at 8pm tea", "2026-11-21T20:00", "tea"),
    ("at 12 am tea", "2026-11-22T00:00", "tea"),
    ("today 18:05 tea", "2026-11-21T18:05", "tea"),
    ("tomorrow 9:00 two  words\nand more", "2026-11-22T09:00", "two  words\nand more"),
    ("Tomorrow at 9.15 tea", "2026-11-22T09:15", "tea"),
    ("monday 9:00 tea", "2026-11-23T09:00", "tea"),
    ("saturday 14:00 tea", "2026-11-21T14:00", "tea"),
    ("saturday at 9 tea", "2026-11-28T09:00", "tea"),
    ("2026-12-24 18:00 tea", "2026-12-24T18:00", "tea"),
    ("2026-12-24T18:00 tea", "2026-12-24T18:00", "tea"),
    ("morgen 9:00 Tee", "2026-11-22T09:00", "Tee"),
    ("morgen um 9 Uhr den Müll", "2026-11-22T09:00", "den Müll"),
    ("am Montag um 9 Zahnarzt", "2026-11-23T09:00", "Zahnarzt"),
    ("demain à 9h30 d'appeler Paul", "2026-11-22T09:30", "appeler Paul"),
    ("demain à 8 heures du pain", "2026-11-22T08:00", "du pain"),
    ("mañana a las 9 comprar leche", "2026-11-22T09:00", "comprar leche"),
    ("next friday 9:00 tea", "2026-11-27T09:00", "tea"),
    ("3 December at 9 tea", "2026-12-03T09:00", "tea"),
    ("on the 3rd of december at 9 a.m. tea", "2026-12-03T09:00", "tea"),
    ("January 5, 2027 at noon tea", "2027-01-05T12:00", "tea"),
    ("21 November at 9 tea", "2027-11-21T09:00", "tea"),
    ("29 February at 9 tea", "2028-02-29T09:00", "tea"),
    ("at half past 8 tomorrow evening tea", "2026-11-22T20:30", "tea"),
    ("tomorrow morning at 9 evening classes", "2026-11-22T09:00", "evening classes"),
    ("am 3.12. um halb 9 Tee", "2026-12-03T08:30", "Tee"),
    ("übermorgen um neun Uhr an den Tee", "2026-11-23T09:00", "den Tee"),
    ("heute Abend um 8 Tee", "2026-11-21T20:00", "Tee"),
    ("um 9 Uhr 30 Tee", "2026-11-22T09:30", "Tee"),
    ("le 3 décembre à 9 heures et demie du thé", "2026-12-03T09:30", "du thé"),
    ("demain soir à 8h du thé", "2026-11-22T20:00", "du thé"),
    ("el 3/12 a las 9 y media té", "2026-12-03T09:30", "té"),
    ("mañana a las 9 de la noche té", "2026-11-22T21:00", "té"),
    ("um 18:00 Uhr Tee", "2026-11-21T18:00", "Tee"),
    ("20.30 Uhr Tee", "2026-11-21T20:30", "Tee"),
    ("tomorrow at 8: tea", "2026-11-22T08:00", "tea"),
    ("tomorrow at 8 - tea", "2026-11-22T08:00", "tea"),
    ("at 8 -5 °C", "2026-11-22T08:00", "-5 °C"),
    ("31.12.26 8:00 Tee", "2026-12-31T08:00", "Tee"),
    ("demain 9h du thé", "2026-11-22T09:00", "du thé"),
    ("tomorrow at quarter to 12 pm tea", "2026-11-22T11:45", "tea"),
    ("tonight at a quarter past eight tea", "2026-11-21T20:15", "tea"),
    ("morgen um viertel vor acht Tee", "2026-11-22T07:45", "Tee"),
    ("heute Abend um halb zwölf Tee", "2026-11-21T23:30", "Tee"),
    ("demain à huit heures moins le quart du thé", "2026-11-22T07:45", "du thé"),
    ("mañana a las ocho y cuarto té", "2026-11-22T08:15", "té"),
]


@pytest.mark.parametrize(("words", "local", "text"), ONCE)
def test_a_time_of_the_clock(words: str, local: str, text: str) -> None:
    """Without a day it is the next time that the person's clock shows it."""
    assert read(words, now=SATURDAY, zone="Europe/Berlin") == Wish(text=text, local=local)


@pytest.mark.parametrize(
    ("words", "seconds", "text"),
    [
        ("in 2h30m tea", 9000, "tea"),
        ("in 10 min tea", 600, "tea"),
        ("in 1 hour 5 minutes tea", 3900, "tea"),
        ("IN 2 weeks tea", 1_209_600, "tea"),
        ("in 1h buy 3 eggs", 3600, "buy 3 eggs"),
        ("in 1 d buy 2 kg of flour", 86_400, "buy 2 kg of flour"),
        ("mich in 10 Minuten an den Tee", 600, "den Tee"),
        ("in 2 Stunden 30 Minuten Kuchen", 9000, "Kuchen"),
        ("in 2 Stunden 3 Eier kaufen", 7200, "3 Eier kaufen"),
        ("in einer Stunde Wäsche", 3600, "Wäsche"),
        ("dans 2 heures le thé", 7200, "le thé"),
        ("en 10 minutos el té", 600, "el té"),
        ("in 10 min d'accord", 600, "d'accord"),
        ("in half an hour tea", 1800, "tea"),
        ("in einer halben Stunde Tee", 1800, "Tee"),
        ("in 5 min: tea", 300, "tea"),
        ("in 5 min. tea", 300, "tea"),
        ("in five minutes tea", 300, "tea"),
        ("in zwanzig Minuten Tee", 1200, "Tee"),
        ("in 90 seconds tea", 90, "tea"),
        ("in 1,5 Stunden Tee", 5400, "Tee"),
        ("in anderthalb Stunden Tee", 5400, "Tee"),
        ("dans un quart d'heure du thé", 900, "du thé"),
        ("in three quarters of an hour tea", 2700, "tea"),
        ("in 10 minutes and tea", 600, "and tea"),
        ("mich in 5 Minuten ans Atmen", 300, "Atmen"),
    ],
)
def test_a_delay(words: str, seconds: int, text: str) -> None:
    """Numbers that belong to the text stay in it."""
    assert read(words, now=SATURDAY, zone="UTC") == Wish(text=text, delay_seconds=seconds)


@pytest.mark.parametrize(
    ("words", "local", "repeat"),
    [
        ("every day at 8 tea", "08:00", Repeat(every="day")),
        ("every weekday 8:00 tea", "08:00", Repeat(every="week", weekdays=("mo", "tu", "we", "th", "fr"))),
        ("every Monday 9:00 tea", "09:00", Repeat(every="week", weekdays=("mo",))),
        ("every thursday, monday and sunday at 6:30pm tea", "18:30", Repeat(every="week", weekdays=("mo", "th", "su"))),
        ("every month at 9 tea", "09:00", Repeat(every="month")),
        ("jeden Tag um 8 Uhr tea", "08:00", Repeat(every="day")),
        ("täglich um 8 tea", "08:00", Repeat(every="day")),
        ("jeden Montag um 8 tea", "08:00", Repeat(every="week", weekdays=("mo",))),
        ("tous les jours à 8h tea", "08:00", Repeat(every="day")),
        ("cada día a las 8 tea", "08:00", Repeat(every="day")),
        ("jeden Abend um 8 tea", "20:00", Repeat(every="day")),
        ("mondays at 8 tea", "08:00", Repeat(every="week", weekdays=("mo",))),
        ("montags und freitags um 8 tea", "08:00", Repeat(every="week", weekdays=("mo", "fr"))),
        ("los lunes a las 8 tea", "08:00", Repeat(every="week", weekdays=("mo",))),
    ],
)
def test_again_and_again(words: str, local: str, repeat: Repeat) -> None:
    """It is counted from today."""
    assert read(words, now=SATURDAY, zone="UTC") == Wish(text="tea", local=f"2026-11-21T{local}", repeat=repeat)


@pytest.mark.parametrize(
    ("words", "local", "text"),
    [
        ("to call Mum tomorrow at 9", "2026-11-22T09:00", "call Mum"),
        ("tomorrow to call Mum at 9", "2026-11-22T09:00", "call Mum"),
        ("an den Zahnarzt am Dienstag um 10 Uhr", "2026-11-24T10:00", "den Zahnarzt"),
        ("daran, morgen um 9 den Müll rauszubringen", "2026-11-22T09:00", "den Müll rauszubringen"),
        ("d'appeler maman demain à 9h", "2026-11-22T09:00", "appeler maman"),
        ("llamar a mamá mañana a las 9, por favor", "2026-11-22T09:00", "llamar a mamá"),
    ],
)
def test_a_sentence_may_end_with_its_time(words: str, local: str, text: str) -> None:
    """Or have its day in front and its hour at the end."""
    assert find(words, now=SATURDAY, zone="Europe/Berlin") == Wish(text=text, local=local)
    assert find(text, now=SATURDAY, zone="Europe/Berlin") is None


@pytest.mark.parametrize(
    ("words", "local"),
    [
        ("yesterday at 7 tea", "2026-11-20T07:00"),
        ("gestern um 7 tea", "2026-11-20T07:00"),
        ("gestern Abend um 8 tea", "2026-11-20T20:00"),
        ("hier à 7h tea", "2026-11-20T07:00"),
        ("ayer a las 7 tea", "2026-11-20T07:00"),
        ("vorgestern um 7 tea", "2026-11-19T07:00"),
        ("last monday at 7 tea", "2026-11-16T07:00"),
        ("letzten Samstag um 7 tea", "2026-11-14T07:00"),
        ("lundi dernier à 7h tea", "2026-11-16T07:00"),
        ("el lunes pasado a las 7 tea", "2026-11-16T07:00"),
    ],
)
def test_a_day_that_is_over_is_that_day(words: str, local: str) -> None:
    """So that whoever plans can refuse it: as a part of the text it would come on another day."""
    assert read(words, now=SATURDAY, zone="UTC") == Wish(text="tea", local=local)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("an den Film von gestern um 9", "den Film von gestern"),
        ("to send the photos from yesterday at 9", "send the photos from yesterday"),
        ("hier um 9 an den Film", None),
    ],
)
def test_a_day_that_is_over_may_belong_to_the_text(words: str, text: str | None) -> None:
    """Behind "from", "von"; and "hier" is German for "here"."""
    wish = find(words, now=SATURDAY, zone="UTC")
    assert (wish and (wish.text, wish.local)) == (text and (text, "2026-11-22T09:00"))


def test_what_is_to_be_asked_then() -> None:
    """`ask:` makes a question of the text."""
    asked = read("every day at 8 Ask: weather in Oslo?", now=SATURDAY, zone="UTC")
    assert asked is not None
    assert (asked.text, asked.prompt) == ("weather in Oslo?", "weather in Oslo?")


@pytest.mark.parametrize(
    "words",
    [
        *(
            "tea",
            "8 tea",
            "25:00 tea",
            "12:60 tea",
            "at 13pm tea",
            "14:30",
            "in 10 min",
            "in 3 moons tea",
            "in 10 months x",
        ),
        *(
            "2026-02-30 9:00 tea",
            "31 February at 9 tea",
            "in 2 h at 9 tea",
            "friday tea",
            "every fortnight at 8 tea",
            "every day tea",
        ),
        *(
            "every blursday at 8 tea",
            "tomorrow tea",
            "",
            "cancel",
            "in h tea",
            "morgen tee",
            "jeden tee",
            "in 2h30 tee",
        ),
    ],
)
def test_what_is_not_in_the_grammar_is_refused(words: str) -> None:
    """Better no reminder than one at a time that nobody meant."""
    assert read(words, now=SATURDAY, zone="UTC") is None


USUAL = [
    ("next friday tea", "2026-11-27T09:00", "tea"),
    ("next saturday tea", "2026-11-28T09:00", "tea"),
    ("friday tea", "2026-11-27T09:00", "tea"),
    ("saturday tea", "2026-11-28T09:00", "tea"),
    ("saturday evening tea", "2026-11-21T19:00", "tea"),
    ("December 31 tea", "2026-12-31T09:00", "tea"),
    ("tomorrow tea", "2026-11-22T09:00", "tea"),
    ("tomorrow afternoon tea", "2026-11-22T15:00", "tea"),
    ("tonight tea", "2026-11-21T19:00", "tea"),
    ("today tea", "2026-11-21T15:00", "tea"),
    ("next week tea", "2026-11-23T09:00", "tea"),
    ("nächsten Freitag den Müll", "2026-11-27T09:00", "den Müll"),
    ("31.12. Feuerwerk", "2026-12-31T09:00", "Feuerwerk"),
    ("morgen Abend Tee", "2026-11-22T19:00", "Tee"),
    ("am Wochenende Rasen mähen", "2026-11-28T09:00", "Rasen mähen"),
    ("nächste Woche Tee", "2026-11-23T09:00", "Tee"),
    ("vendredi prochain du thé", "2026-11-27T09:00", "du thé"),
    ("le 31 décembre du thé", "2026-12-31T09:00", "du thé"),
    ("la semaine prochaine du thé", "2026-11-23T09:00", "du thé"),
    ("el próximo viernes té", "2026-11-27T09:00", "té"),
    ("el viernes por la tarde té", "2026-11-27T15:00", "té"),
    ("el 31 de diciembre té", "2026-12-31T09:00", "té"),
]


@pytest.mark.parametrize(("words", "local", "text"), USUAL)
def test_a_day_alone_means_a_usual_hour(words: str, local: str, text: str) -> None:
    """Where that is wanted; the time can come behind the text as well."""
    assert read(words, now=SATURDAY, zone="Europe/Berlin", lacks_hour=True) == Wish(text=text, local=local)
    assert read(words, now=SATURDAY, zone="Europe/Berlin") is None
    day = words.removesuffix(text).strip()
    assert find(f"call Mum {day}", now=SATURDAY, zone="Europe/Berlin", lacks_hour=True) == Wish(
        text="call Mum", local=local
    )


def test_a_day_again_and_again_means_a_usual_hour() -> None:
    """Each day, or its evening."""
    for words, hour in (("every day tea", 9), ("jeden Abend tea", 19)):
        wish = read(words, now=SATURDAY, zone="UTC", lacks_hour=True)
        assert wish == Wish(text="tea", local=f"2026-11-21T{hour:02}:00", repeat=Repeat(every="day"))


@pytest.mark.parametrize(
    "words",
    ["tea", "8 tea", "tomorrow 8 tea", "tomorrow 25:00 tea", "yesterday tea", "last friday tea", "jeden tee", "friday"],
)
def test_a_usual_hour_is_for_a_day_that_is_to_come(words: str) -> None:
    """And for none that may have been named in a way that is not understood."""
    assert read(words, now=SATURDAY, zone="UTC", lacks_hour=True) is None
