"""The assistant without a model: every request of a message is answered or named, in four languages."""

from typing import Any

import pytest

from bot.i18n.language import speaking
from bot.providers.offline.intents import OfflineIntent, intents, not_understood
from bot.providers.phrasebook import in_english
from tests.bot.providers.offline.test_provider import CALCULATED, answer, asking, found, words_for

ALL = ("calculate", "convert", "get_weather", "current_time", "web_search", "remind", "remember")


@pytest.mark.parametrize(
    ("sentence", "tool", "arguments"),
    [
        ("Wie spät ist es in Tokio?", "current_time", {"timezone": "Tokio"}),
        ("Quelle heure est-il à Lyon ?", "current_time", {"timezone": "Lyon"}),
        ("¿Qué hora es en Madrid?", "current_time", {"timezone": "Madrid"}),
        ("Wie wird das Wetter morgen in Köln?", "get_weather", {"place": "Köln", "days": 2}),
        ("Quel temps fait-il à Lyon ?", "get_weather", {"place": "Lyon"}),
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
        ("Remember that my cat is called Lux", "remember", {"fact": "my cat is called Lux"}),
        ("Merk dir, dass die Katze Lux heißt", "remember", {"fact": "die Katze Lux heißt"}),
    ],
)
def test_what_is_asked_in_four_languages(sentence: str, tool: str, arguments: dict[str, Any]) -> None:
    """By the form of the request, with the names in it as they are."""
    [intent] = intents(sentence)
    assert (intent.tool, {**arguments, **intent.arguments}) == (tool, dict(intent.arguments))


def test_what_is_planned_can_be_listed() -> None:
    """In each language."""
    expected = (OfflineIntent(tool="remind", arguments={"action": "list"}),)
    assert [intents(words) for words in ("show my reminders", "meine Erinnerungen", "mes rappels")] == [expected] * 3


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
        ("fr", "Écris-moi un poème", "Je n'ai pas compris « Écris-moi un poème ». Il faut pour cela"),
        ("es", "Escribe un poema corto", "No he entendido «Escribe un poema corto». Para eso hace falta"),
    ],
)
async def test_what_it_cannot_do_is_one_line_with_the_way_out(language: Any, sentence: str, begins: str) -> None:
    """In the language of whoever asks."""
    with speaking(language):
        text = await words_for(asking(sentence))
    assert text.startswith(begins)
    assert "\n" not in text


@pytest.mark.parametrize("text", ["a " * 50_000, "erinnere mich in " * 5000, "wetter " * 9000])
def test_no_text_takes_for_ever(text: str) -> None:
    """Whatever it is made of."""
    in_english(text[:2000])
    intents(text)
    not_understood(text)
