"""In which language a message is written, and that nothing is claimed where that is not sure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.i18n.detect import detect_language, guess_language
from bot.i18n.language import LANGUAGES, Language

SURE: list[tuple[Language, str]] = [
    ("en", "What's the weather like today?"),
    ("en", "Can you remind me to call my sister tomorrow?"),
    ("en", "How much is 20 euros in dollars?"),
    ("en", "Please make it shorter and send it to me"),
    ("en", "who won the match yesterday"),
    ("en", "tell me about the history of Rome"),
    ("en", "convert 5 miles to km"),
    ("en", "list my reminders"),
    ("en", "wake me at 7"),
    ("de", "zeichne eine Katze"),
    ("fr", "raconte-moi une histoire"),
    ("es", "cuéntame un chiste"),
    ("de", "rechne 5 Meilen in km um"),
    ("de", "zeige meine Erinnerungen"),
    ("fr", "convertis 5 miles en km"),
    ("es", "convierte 5 millas a km"),
    ("de", "Wie wird das Wetter morgen in Berlin?"),
    ("de", "Kannst du mir bitte ein Rezept für Kürbissuppe geben?"),
    ("de", "was ist die Hauptstadt von Peru"),
    ("de", "Erinner mich heute Abend an den Müll"),
    ("de", "Ich habe keine Ahnung, was das ist"),
    ("de", "Und wann fährt der nächste Zug?"),
    ("de", "Was kannst du?"),
    ("en", "Remind me in 10 minutes to drink"),
    ("fr", "Que sais-tu faire ?"),
    ("fr", "Quel temps fait-il demain à Lyon ?"),
    ("fr", "Peux-tu me donner une recette de tarte aux pommes ?"),
    ("fr", "c'est quoi la capitale du Pérou"),
    ("fr", "Rappelle-moi d'appeler ma sœur demain"),
    ("fr", "je ne sais pas où est la gare"),
    ("es", "¿Qué tiempo hace mañana en Madrid?"),
    ("es", "Puedes darme una receta de tortilla por favor"),
    ("es", "cuál es la capital del Perú"),
    ("es", "no sé dónde está la estación"),
    ("es", "Recuérdame llamar a mi hermana mañana"),
    ("en", "Help!"),
    ("en", "what can you do?"),
    ("de", "hilfe"),
    ("de", "Was kannst du?"),
    ("de", "wie lösche ich meine Daten?"),
    ("fr", "aide"),
    ("fr", "que peux-tu faire ?"),
    ("es", "Ayuda"),
    ("es", "¿qué puedes hacer?"),
    ("es", "como borro mis datos"),
    ("de", "Was ist 7/0?"),
    ("de", "Weck mich um 7"),
    ("fr", "Combien font 2+2 ?"),
    ("es", "¿Cuánto es 2+2?"),
    ("en", "What is 17*23?"),
]

UNSURE = [
    "",
    "ok",
    "👍",
    "Berlin",
    "42",
    "https://example.org/the/and/is/you",
    "```\nfor the in is and\n```",
    "https://example.org/das-ist-nicht-der-die",
    "E7K4-MNPQ",
    "Pizza Hawaii?",
    "Che tempo fa domani a Roma? Puoi dirmi se piove?",
    "Wat is het weer morgen in Amsterdam?",
    "Qual é a capital do Peru? Você pode me dizer?",
    "Jaka jest dzisiaj pogoda w Warszawie?",
    "Какая сегодня погода?",
    "今日の天気は？",
    "die man is in Kaapstad",
]


@pytest.mark.parametrize(("language", "text"), SURE)
def test_a_plain_sentence_is_told(language: Language, text: str) -> None:
    """Short, with or without capitals and accents, as people write in a chat."""
    assert detect_language(text) == language


@pytest.mark.parametrize("text", UNSURE)
def test_nothing_is_claimed_where_it_is_not_sure(text: str) -> None:
    """Too little, no words at all, code and addresses, or a language that is none of the four."""
    assert detect_language(text) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Hello!"),
        ("de", "Guten Morgen 🙂"),
        ("de", "Wetter Berlin?"),
        ("fr", "Bonjour"),
        ("fr", "météo"),
        ("es", "¡Hola!"),
        ("es", "tiempo Madrid"),
        (None, "ok"),
        (None, "Hi"),
        (None, "Berlin"),
        (None, "👍"),
        (None, "Hallo Welt ist ein altes kleines Programm"),
    ],
)
def test_a_greeting_is_a_guess(language: Language | None, text: str) -> None:
    """So is a word or two; what friends of any language say is none."""
    assert guess_language(text) == language


@given(st.text())
def test_any_text_is_one_of_the_four_or_nothing(text: str) -> None:
    """Whatever people send."""
    assert detect_language(text) in {*LANGUAGES, None}
