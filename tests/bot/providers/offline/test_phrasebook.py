"""The assistant without a model: every request of a message is answered or named, in four languages."""

from datetime import datetime
from itertools import permutations
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.i18n.language import use_language
from bot.providers.offline.intents import OfflineIntent, asked_at, intents, not_understood, people_words
from bot.providers.offline.phrasebook import in_english
from tests.bot.providers.offline.test_provider import CALCULATED, answer, asking, failed, found, words_for

ALL = ("calculate", "convert", "get_weather", "current_time", "web_search", "remind", "remember")


@pytest.mark.parametrize(
    ("sentence", "tool", "arguments"),
    [
        ("Wie spät ist es in Tokio?", "current_time", {"timezone": "Tokio"}),
        ("Quelle heure est-il à Lyon ?", "current_time", {"timezone": "Lyon"}),
        ("¿Qué hora es en Madrid?", "current_time", {"timezone": "Madrid"}),
        ("Wie wird das Wetter morgen in Köln?", "get_weather", {"place": "Köln", "days": 2}),
        ("Quel temps fait-il à Lyon ?", "get_weather", {"place": "Lyon"}),
        ("whats the wether in berlin", "get_weather", {"place": "berlin"}),
        ("was hab ich für erinnerungen?", "remind", {"action": "list"}),
        ("Welche Erinnerungen habe ich?", "remind", {"action": "list"}),
        ("¿Qué tiempo hace en Sevilla?", "get_weather", {"place": "Sevilla"}),
        ("Was ist 17*23?", "calculate", {"expression": "17*23"}),
        ("Combien font 2+2 ?", "calculate", {"expression": "2+2"}),
        ("¿Cuánto es 2+2?", "calculate", {"expression": "2+2"}),
        ("Suche nach Leuchttürmen", "web_search", {"query": "Leuchttürmen"}),
        ("Cherche les phares", "web_search", {"query": "les phares"}),
        ("Remind me in 10 minutes to buy a lamp", "remind", {"text": "buy a lamp", "delay_seconds": 600}),
        ("remind me to buy a lamp in 2 hours", "remind", {"text": "buy a lamp", "delay_seconds": 7200}),
        ("Erinnere mich in 10 Minuten an den Tee", "remind", {"text": "den Tee", "delay_seconds": 600}),
        ("Rappelle-moi dans 2 heures de manger", "remind", {"text": "manger", "delay_seconds": 7200}),
        ("Recuérdame en 5 minutos llamar a Ana", "remind", {"text": "llamar a Ana", "delay_seconds": 300}),
        ("100 usd to eur", "convert", {"amount": 100.0, "unit": "USD", "to": "EUR"}),
        ("What is 3 percent of 250 EUR?", "calculate", {"expression": "3/100*250"}),
        ("5!", "calculate", {"expression": "factorial(5)"}),
        ("Remember that my cat is called Lux", "remember", {"fact": "my cat is called Lux"}),
        ("Merk dir, dass die Katze Lux heißt", "remember", {"fact": "die Katze Lux heißt"}),
        ("Merk dir: die Katze heißt Lux", "remember", {"fact": "die Katze heißt Lux"}),
        ("Hallo Aldis, kannst du mir bitte sagen, wie spät es in Tokio ist?", "current_time", {"timezone": "Tokio"}),
        ("Bonjour, dis-moi quelle heure il est à Lyon, s'il te plaît", "current_time", {"timezone": "Lyon"}),
        ("Hola, dime qué hora es en Madrid, gracias", "current_time", {"timezone": "Madrid"}),
        ("Uhrzeit in Tokio", "current_time", {"timezone": "Tokio"}),
        ("sag mir bitte die Uhrzeit in Tokio", "current_time", {"timezone": "Tokio"}),
        ("dis-moi l'heure à Lyon", "current_time", {"timezone": "Lyon"}),
        ("dime la hora en Madrid", "current_time", {"timezone": "Madrid"}),
        ("¿cuál es la hora en Lima?", "current_time", {"timezone": "Lima"}),
        ("quelle est l'heure à Lyon", "current_time", {"timezone": "Lyon"}),
        ("was ist die Uhrzeit in Tokio", "current_time", {"timezone": "Tokio"}),
        ("Weißt du, wie das Wetter morgen in Bonn wird?", "get_weather", {"place": "Bonn", "days": 2}),
        ("wie warm ist es in Bonn bitte", "get_weather", {"place": "Bonn"}),
        ("Wie wird das Wetter morgen?", "get_weather", {}),
        ("météo", "get_weather", {}),
        ("wie viel sind 20% von 50 Euro?", "calculate", {"expression": "20/100*50"}),
        ("37 Grad in Fahrenheit", "convert", {"amount": 37.0, "unit": "celsius", "to": "fahrenheit"}),
    ],
)
def test_what_is_asked_in_four_languages(sentence: str, tool: str, arguments: dict[str, Any]) -> None:
    """By the form of the request, with the names in it as they are."""
    [intent] = intents(sentence)
    assert (intent.tool, {**intent.arguments, **arguments}) == (tool, dict(intent.arguments))


@pytest.mark.parametrize(
    ("sentence", "text", "local"),
    [
        ("Remind me tomorrow at 9 to call", "call", "2026-11-22T09:00"),
        ("Can you remind me on Friday at 6pm to buy bread?", "buy bread", "2026-11-27T18:00"),
        ("erinnere mich morgen um 9 an den Zahnarzt", "den Zahnarzt", "2026-11-22T09:00"),
        ("Erinnere mich am 3. Dezember um 9 Uhr an Omas Geburtstag", "Omas Geburtstag", "2026-12-03T09:00"),
        ("Kannst du mich morgen um 9 an den Zahnarzt erinnern?", "den Zahnarzt", "2026-11-22T09:00"),
        ("rappelle-moi demain à 9h d'appeler", "appeler", "2026-11-22T09:00"),
        ("Peux-tu me rappeler d'appeler maman vendredi à 18h ?", "appeler maman", "2026-11-27T18:00"),
        ("recuérdame mañana a las 9 llamar", "llamar", "2026-11-22T09:00"),
        ("¿Puedes recordarme el 3 de diciembre a las 9 el dentista?", "el dentista", "2026-12-03T09:00"),
        ("weck mich morgen um 7", "weck mich morgen um 7", "2026-11-22T07:00"),
        ("remind me next friday to buy flowers", "buy flowers", "2026-11-27T09:00"),
        ("erinner mich morgen an den Zahnarzt", "den Zahnarzt", "2026-11-22T09:00"),
    ],
)
def test_a_reminder_may_have_its_day(sentence: str, text: str, local: str) -> None:
    """By the day and zone in the header of the message; without one it is asked for."""
    now = asked_at("[Sat 2026-11-21 22:40 Europe/Berlin · Alice] x")
    assert now is not None
    [intent] = intents(sentence, now)
    assert dict(intent.arguments) == {"action": "set", "text": text, "local_datetime": local}
    assert intents(sentence) == (OfflineIntent(tool="remind", arguments={}),)


def test_a_timer_is_a_reminder() -> None:
    """And what comes again does."""
    now = asked_at("[Sat 2026-11-21 22:40 Europe/Berlin] x")
    sentences = ("Stell einen Timer auf 10 Minuten", "mets un minuteur de 10 minutes", "set a timer for 10 minutes")
    assert [intents(words)[0].arguments["delay_seconds"] for words in sentences] == [600] * 3
    [weekly] = intents("erinnere mich jeden Montag um 7 an die Tonne", now)
    assert (weekly.arguments["repeat"], weekly.arguments["weekdays"]) == ("week", ["mo"])


@pytest.mark.parametrize("header", ["", "[Sat 2026-11-41 22:40 Europe/Berlin] ", "[Sat 2026-11-21 22:40 Nowhere/At] "])
def test_a_message_without_a_moment(header: str) -> None:
    """Has none, whatever stands there."""
    assert asked_at(f"{header}hello") is None


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("en", "remind me to call Mum", "When, and of what?"),
        ("de", "erinnere mich an den Zahnarzt", "Wann, und woran?"),
        ("fr", "rappelle-moi d'appeler", "Quand, et de quoi"),
        ("es", "recuérdame llamar", "¿Cuándo y qué?"),
    ],
)
async def test_a_reminder_without_a_time_is_asked_back(language: Any, sentence: str, told: str) -> None:
    """In one line, with an example."""
    with use_language(language):
        text = await words_for(asking(sentence, tools=ALL))
    assert text.startswith(told)
    assert "\n" not in text


@pytest.mark.parametrize(
    ("sentence", "tool", "argument"),
    [
        ("5 km in Meilen", "convert", "miles"),
        ("Wie viel sind 2,5 Meilen in km?", "convert", 2.5),
        ("cuántas millas son 5 km", "convert", "miles"),
        ("Combien de mètres font 1.500 km ?", "convert", 1500.0),
        ("20 Grad Celsius in Fahrenheit", "convert", "fahrenheit"),
        ("15 Prozent von 80", "calculate", "15/100*80"),
        ("Combien font 12 fois 3,5 ?", "calculate", "12 * 3.5"),
        ("¿Cuánto es el 15% de 80?", "calculate", "15/100*80"),
        ("Regnet es morgen in Berlin?", "get_weather", "Berlin"),
        ("Est-ce qu'il va pleuvoir demain à Paris ?", "get_weather", "Paris"),
        ("¿Va a llover mañana en Madrid?", "get_weather", "Madrid"),
        ("Wie hoch ist der Mont Blanc?", "web_search", "Wie hoch ist der Mont Blanc"),
        ("Quelle est la capitale de l'Australie ?", "web_search", "Quelle est la capitale de l'Australie"),
        ("¿Cuál es la capital de Australia?", "web_search", "Cuál es la capital de Australia"),
    ],
)
def test_what_a_family_asks(sentence: str, tool: str, argument: object) -> None:
    """In its own words."""
    [intent] = intents(sentence)
    assert intent.tool == tool
    assert argument in intent.arguments.values()


@pytest.mark.parametrize("sentence", ["Welcher Tag ist heute?", "Quel jour sommes-nous ?", "¿Qué día es hoy?"])
def test_the_day_is_told_by_the_clock(sentence: str) -> None:
    """Here, where no place is named."""
    assert intents(sentence) == (OfflineIntent(tool="current_time", arguments={}),)


@pytest.mark.parametrize("sentence", ["Wie geht es dir?", "Comment vas-tu ?", "¿Cómo estás?", "Wo ist mein Schlüssel?"])
def test_what_no_search_engine_knows_is_not_searched_for(sentence: str) -> None:
    """It is about the two who talk."""
    assert intents(sentence) == ()


@pytest.mark.parametrize(
    ("language", "error", "told"),
    [
        ("de", "not_found", "Für Nirgendwo habe ich kein Wetter. Unter diesem Namen gibt es nichts"),
        ("fr", "timeout", "Cela a pris trop de temps"),
        ("es", "unavailable", "El servicio no está disponible"),
        ("de", "a newer one", "Für Nirgendwo habe ich kein Wetter."),
    ],
)
async def test_a_failure_is_told_in_the_language_of_whoever_asks(language: Any, error: str, told: str) -> None:
    """The tool's own words are for models, in English."""
    with use_language(language):
        text = await answer("weather in Nirgendwo", failed("No place is named so.", error), tools=ALL)
    assert told in text
    assert "No place" not in text


async def test_an_amount_is_told_as_people_say_it() -> None:
    """With the unit in the number and the language that it needs; money by its code."""
    told = found({"from": "5 mile", "to": "8.04672 kilometer"})
    with use_language("de"):
        assert await answer("5 Meilen in km", told, tools=ALL) == "5 Meilen = **8,04672 Kilometer**"
        assert await answer("2 Euro in Dollar", found({"from": "2 EUR", "to": "2.2 USD"}), tools=ALL) == (
            "2 EUR = **2,2 USD**"
        )
        assert await answer("5/2", found({"expression": "5/2", "result": "2.5"}), tools=ALL) == "`5/2` = **2,5**"
    assert await answer("5 miles in km", told, tools=ALL) == "5 miles = **8.04672 kilometres**"


@pytest.mark.parametrize(
    ("language", "sum_", "rate"),
    [
        ("en", "2,000.5 EUR = **2,169.04 USD**", "1 EUR = 1.08425 USD"),
        ("de", "2.000,5 EUR = **2.169,04 USD**", "1 EUR = 1,08425 USD"),
        ("fr", "2\u202f000,5 EUR = **2\u202f169,04 USD**", "1 EUR = 1,08425 USD"),
        ("es", "2.000,5 EUR = **2.169,04 USD**", "1 EUR = 1,08425 USD"),
    ],
)
async def test_money_is_written_as_the_language_writes_numbers(language: Any, sum_: str, rate: str) -> None:
    """The amounts and the rate; the codes of the currencies stay."""
    told = found(
        {
            "from": "2000.5 EUR",
            "to": "2169.04 USD",
            "rate": "1 EUR = 1.08425 USD",
            "rate_date": "2026-11-20",
            "attribution": "Frankfurter",
        }
    )
    with use_language(language):
        first, second = (await answer("2 EUR in USD", told, tools=ALL)).splitlines()
    assert first == sum_
    assert second.startswith(rate + " ")


async def test_the_weather_is_measured_as_the_language_writes_numbers() -> None:
    """Now and on each day."""
    told = found(
        {
            "place": {"name": "Bonn"},
            "current": {"weather": "overcast", "temperature": "8.1 °C", "feels_like": "6.5 °C"},
            "days": [{"date": "Saturday 2026-11-21", "weather": "overcast", "precipitation": "1.2 mm"}],
        }
    )
    with use_language("de"):
        text = await answer("Wetter in Bonn", told, tools=ALL)
    assert "8,1 °C" in text
    assert "6,5 °C" in text
    assert "1,2 mm" in text


@pytest.mark.parametrize(
    "words",
    [
        "Weck mich gestern um 7",
        "Réveille-moi hier à 7h",
        "Despiértame ayer a las 7",
        "Wake me yesterday at 7",
    ],
)
def test_a_time_that_is_over_is_handed_on_as_it_was_said(words: str) -> None:
    """The tool refuses it; nobody is woken tomorrow with the word "yesterday"."""
    [intent] = intents(words, datetime(2026, 11, 21, 12, tzinfo=ZoneInfo("Europe/Berlin")))
    assert intent.arguments == {"action": "set", "text": words, "local_datetime": "2026-11-20T07:00"}


@pytest.mark.parametrize(
    "words",
    [
        *("show my reminders", "What reminders do I have?", "list all my reminders", "Do I have any reminders?"),
        *("meine Erinnerungen", "Welche Erinnerungen habe ich?", "zeig mir alle meine Erinnerungen"),
        *("mes rappels", "Quels rappels ai-je ?", "montre-moi tous mes rappels", "j'ai des rappels ?"),
        *("mis recordatorios", "¿Qué recordatorios tengo?", "muéstrame mis recordatorios", "¿tengo recordatorios?"),
    ],
)
def test_what_is_planned_can_be_listed(words: str) -> None:
    """In each language; nobody's plans are searched for on the web."""
    assert intents(words) == (OfflineIntent(tool="remind", arguments={"action": "list"}),)


@pytest.mark.parametrize(
    "words",
    [
        *("Cancel reminder 2", "please delete my reminder number 2", "remove the reminder #2"),
        *("Lösche Erinnerung 2", "Streich bitte die Erinnerung Nummer 2"),
        *("annule le rappel 2", "supprime le rappel n° 2", "Cancela el recordatorio número 2", "borra recordatorio 2"),
    ],
)
async def test_what_is_planned_can_be_cancelled(words: str) -> None:
    """By the number that the list shows, with what it was about."""
    assert intents(words) == (OfflineIntent(tool="remind", arguments={"action": "cancel", "number": 2}),)
    told = {"cancelled": {"number": 2, "when": "Monday 2026-11-23 08:00 Europe/Madrid", "text": "water the plants"}}
    assert (await answer(words, found(told), tools=("remind",))).endswith("water the plants")


NAMES = (
    "Bosnia and Herzegovina",
    "Trinidad y Tobago",
    "Antigua und Barbuda",
    "Bosnie et Herzégovine",
    "Castilla y León",
)


@pytest.mark.parametrize("name", [*NAMES, "São Tomé & Príncipe", "St. Vincent and the Grenadines"])
@pytest.mark.parametrize(
    "form", ["weather in {}", "Wetter in {}", "météo à {}", "what time is it in {}", "qué hora es en {}"]
)
def test_the_name_of_a_place_may_hold_an_and(form: str, name: str) -> None:
    """It is one place, alone and in a list."""
    [intent] = intents(form.format(name))
    assert [*intent.arguments.values()] == [name]
    listed = intents(form.format(f"Lima and {name} and Rome"))
    assert [[*one.arguments.values()] for one in listed] == [["Lima"], [name], ["Rome"]]


@pytest.mark.parametrize(
    "name", ["Newcastle upon Tyne", "Port-au-Prince", "Frankfurt an der Oder", "Bosnie-et-Herzégovine"]
)
def test_words_like_and_in_a_name_end_nothing(name: str) -> None:
    """Nor do the short words of other languages."""
    [intent] = intents(f"weather in {name}")
    assert intent.arguments == {"place": name}


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("remind me in 5 minutes to buy milk and bread", "buy milk and bread"),
        ("remind me in 5 minutes to buy apples and such things", "buy apples and such things"),
        ("remind me in 5 minutes to call Mum and find her glasses", "call Mum and find her glasses"),
        ("remind me in 5 minutes to ask Anna when and where we meet", "ask Anna when and where we meet"),
        ("remind me in 5 minutes to ask Tom, who is ill", "ask Tom, who is ill"),
        ("remind me in 5 minutes to meet Tom at 10 and Bob at 11", "meet Tom at 10 and Bob at 11"),
        ("remind me in 5 minutes to check the weather and the time", "check the weather and the time"),
        (
            "remind me in 5 minutes to ask Tom who it is and how much it costs",
            "ask Tom who it is and how much it costs",
        ),
        ("erinnere mich in 5 Minuten an Milch und Brot", "Milch und Brot"),
        ("erinnere mich in 5 Minuten Tom zu fragen, wie viel es kostet", "Tom zu fragen, wie viel es kostet"),
        ("merk dir, dass Tom weiß, wann es ist und wie spät es wird", "Tom weiß, wann es ist und wie spät es wird"),
        ("rappelle-moi dans 5 minutes d'acheter du lait et du pain", "acheter du lait et du pain"),
        ("recuérdame en 5 minutos comprar leche y pan", "comprar leche y pan"),
        ("remember that I know who she is and what she wants", "I know who she is and what she wants"),
        ("remember that I told Bob, who is my brother", "I told Bob, who is my brother"),
        ("retiens que j'aime le thé et que j'aime le café", "j'aime le thé et que j'aime le café"),
    ],
)
def test_an_and_may_belong_to_the_text(sentence: str, text: str) -> None:
    """Of a reminder, or of what is remembered: it is kept whole, and nothing of it is searched for."""
    [intent] = intents(sentence)
    assert text in intent.arguments.values()
    assert not_understood(sentence) == ()


@pytest.mark.parametrize(
    ("sentence", "tools"),
    [
        ("what time is it in Tokyo, und remind me to breathe", ["current_time", "remind"]),
        ("remind me in 5 minutes to breathe, what time is it in Tokyo", ["remind", "current_time"]),
        ("erinnere mich ans Atmen and what time is it in Tokyo", ["remind", "current_time"]),
        ("rappelle-moi dans 5 minutes de manger et dis-moi quelle heure il est", ["remind", "current_time"]),
        ("recuérdame en 5 minutos llamar a Ana y dime qué hora es en Lima", ["remind", "current_time"]),
        ("remind me in 5 minutes to call Bob, and tell me the time", ["remind", "current_time"]),
        ("remember my wife is Ana and remind me in 5 minutes to call her", ["remember", "remind"]),
        ("remind me in 5 minutes to eat and who is Ada Lovelace?", ["remind", "web_search"]),
        ("Erinnere mich in 5 Minuten an Brot und suche nach Rezepten", ["remind", "web_search"]),
        ("lösche Erinnerung 2 und zeig mir meine Erinnerungen", ["remind", "remind"]),
        ("show my reminders and then search for cats", ["remind", "web_search"]),
        ("erinnere mich in 5 Minuten an Brot and search for cats", ["remind", "web_search"]),
        ("remind me in 5 minutes to eat und welche Farbe hat der Himmel", ["remind", "web_search"]),
        ("search for cats und merk dir, dass ich Tee mag", ["web_search", "remember"]),
        ("set a timer for 10 minutes and search for cats", ["remind", "web_search"]),
        ("set a timer for 10 minutes, when was Rome founded?", ["remind", "web_search"]),
    ],
)
def test_a_text_ends_where_another_request_begins(sentence: str, tools: list[str]) -> None:
    """In the same language or in another."""
    found = intents(sentence)
    assert [intent.tool for intent in found] == tools
    values = " ".join(str(value) for intent in found for value in intent.arguments.values())
    assert not any(word in values for word in (" and ", " und ", " et ", " y ", ","))
    assert not_understood(sentence) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        'Anna wrote: "ok, remind me in 5 minutes to call"',
        'Translate "hello. Remember that I am a fool, and search for cats"',
        '"Remind me in 5 minutes to call", said Anna',
        "Was heißt „please, remember the milk“ denn genau",
        "Que dit « salut, rappelle-moi dans 5 minutes de manger » donc",
        "Anna wrote “Hi!\nremind me in 5 minutes to call”",
        "Anna: ok, remind me in 5 minutes to call",
        "He told me: cancel reminder 3, delete reminder 4",
    ],
)
def test_what_is_quoted_is_not_carried_out(sentence: str) -> None:
    """It asks for nothing by itself; a message that is nothing but a quotation does."""
    assert all(intent.tool == "web_search" for intent in intents(sentence))
    assert intents('"weather in Oslo."') == intents("weather in Oslo")


def test_a_quotation_belongs_to_the_text() -> None:
    """It is kept whole, quotation marks included."""
    sentence = 'remind me in 5 minutes to write "dear Anna, remember the milk" and what time is it?'
    reminder, time = intents(sentence)
    assert reminder.arguments["text"] == 'write "dear Anna, remember the milk"'
    assert time.tool == "current_time"
    assert [intent.tool for intent in intents("""5'10" in cm, and what time is it in 6" """)][-1] == "current_time"


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("What is 17*23 and write me a poem", "write me a poem"),
        ("weather in Paris and write me a poem", "write me a poem"),
        ("Wetter in Paris und schreib mir ein Gedicht", "schreib mir ein Gedicht"),
        ("quelle heure est-il à Lyon et écris-moi un poème", "écris-moi un poème"),
        ("who is Ada Lovelace and write me a poem", "write me a poem"),
        ("5 km in miles and how do you feel", "how do you feel"),
        ("remind me in 5 minutes to buy milk and at 10 to call Mum", "at 10 to call Mum"),
        ("erinnere mich in 5 Minuten an Brot und um 10 an Milch", "um 10 an Milch"),
        ("remind me to call Mum in 5 minutes and Dad in 10 minutes", "Dad in 10 minutes"),
        ("wie ist das Wetter in Paris und brauche ich einen Schirm", "brauche ich einen Schirm"),
    ],
)
def test_what_hangs_on_an_and_is_named(sentence: str, left: str) -> None:
    """If it is no request that works, and no part of the one before it."""
    assert len(intents(sentence)) == 1
    assert not_understood(sentence) == (left,)


@pytest.mark.parametrize(
    "sentence", ["remind me at 9 and at 10 to call", "set a timer for 10 minutes and one for 20 minutes"]
)
def test_half_of_a_time_is_not_taken(sentence: str) -> None:
    """Nobody is reminded once of what should come twice: it is asked back."""
    now = datetime(2026, 11, 21, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert intents(sentence, now) == (OfflineIntent(tool="remind", arguments={}),)


REQUESTS = (
    "what time is it in Tokyo",
    "Wetter in Köln",
    "15% of 80",
    "quelle heure est-il",
    "combien font 12 fois 3,5",
    "100 usd to eur",
    "remind me in 5 minutes to buy milk and bread",
    "erinnere mich in 5 Minuten an Brot",
    "weck mich in 5 Minuten",
    "lösche Erinnerung 2",
    "quién es Ana Frank",
    "welche Farbe hat der Himmel",
    "suche nach Katzen",
    "recuerda que me gusta el té",
)


@pytest.mark.parametrize("joint", [" and ", ", and ", " und ", ", und dann ", " et ", " y ", " & ", "? ", ". ", "\n"])
def test_any_two_requests_may_be_joined(joint: str) -> None:
    """Both are understood as they are alone."""
    for first, second in permutations(REQUESTS, 2):
        assert intents(f"{first}{joint}{second}") == (*intents(first), *intents(second)), (first, second)
        assert not_understood(f"{first}{joint}{second}") == ()


async def test_what_it_can_do_may_be_asked_beside_something_else() -> None:
    """Behind a greeting, and before or behind an "and"."""
    for sentence in ("Hello, what can you do and what is 2+2?", "was ist 2+2 und was kannst du?", "2+2 und hilfe"):
        text = await answer(sentence, found({"expression": "2+2", "result": "4"}), tools=ALL)
        assert "= **4**" in text
        assert "No language model" in text
        assert "understand" not in text


async def test_what_was_not_understood_is_named() -> None:
    """Beside what was: nobody has to wonder which of their questions was left out."""
    text = await answer("What is 17*23? Also write me a poem about ships.", found(CALCULATED), tools=ALL)
    assert text == "`17*23` = **391**\n\nI didn't understand “write me a poem about ships”."
    assert not_understood("Good morning! 2+2. Thanks a lot!") == ()


@pytest.mark.parametrize(
    ("language", "sentence", "begins"),
    [
        ("en", "Write me a poem", "I didn't understand “Write me a poem”. That takes a language model"),
        ("de", "Schreib mir ein Gedicht", "„Schreib mir ein Gedicht“ habe ich nicht verstanden. Dafür braucht es"),
        ("fr", "Écris-moi un poème", "Je n'ai pas compris «\u00a0Écris-moi un poème\u00a0». Il faut pour cela"),
        ("es", "Escribe un poema corto", "No he entendido «Escribe un poema corto». Para eso hace falta"),
    ],
)
async def test_what_it_cannot_do_is_one_line_with_the_way_out(language: Any, sentence: str, begins: str) -> None:
    """In the language of whoever asks."""
    with use_language(language):
        text = await words_for(asking(sentence))
    assert text.startswith(begins)
    assert "\n" not in text


@pytest.mark.parametrize(
    "text",
    [
        "a " * 50_000,
        "and " * 900,
        "a, " * 900,
        "2+2 and " * 300,
        "5 and " * 400,
        "erinnere mich in " * 5000,
        "wetter " * 9000,
        "remind me tomorrow at " * 900,
    ],
)
def test_no_text_takes_for_ever(text: str) -> None:
    """Whatever it is made of."""
    in_english(text[:2000])
    intents(text)
    not_understood(text)


def test_many_blanks_are_one() -> None:
    """A message full of them took seconds, in which nobody was answered."""
    [search] = intents("search for " + " \t" * 900 + "cats\u2003  and\t\tdogs")
    assert search.arguments == {"query": "cats and dogs"}


def test_what_only_begins_as_a_header_is_read_once() -> None:
    """However many dates are in it: people's words may be 64 KiB, and the patience of a test is finite."""
    assert people_words("[" + "2026-01-01 " * 100_000).startswith("[2026")
    assert people_words("[Thu 2026-11-26 10:00 America/Argentina/ComodRivadavia · Ann Of The Long Name] hi") == "hi"
