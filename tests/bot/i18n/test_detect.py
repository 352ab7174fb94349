"""In which language a message is written, and that nothing is claimed where that is not sure."""

from bot.i18n.detect import detect_language, guess_language
from bot.i18n.language import Language

SURE: dict[Language, tuple[str, ...]] = {
    "en": (
        *("What's the weather like today?", "Can you remind me to call my sister tomorrow?"),
        *("How much is 20 euros in dollars?", "Please make it shorter and send it to me"),
        *("who won the match yesterday", "tell me about the history of Rome", "convert 5 miles to km"),
        *("list my reminders", "wake me at 7", "Remind me in 10 minutes to drink", "Help!", "what can you do?"),
        *("What is 17*23?",),
    ),
    "de": (
        *("zeichne eine Katze", "rechne 5 Meilen in km um", "zeige meine Erinnerungen"),
        *("Wie wird das Wetter morgen in Berlin?", "Kannst du mir bitte ein Rezept für Kürbissuppe geben?"),
        *("was ist die Hauptstadt von Peru", "Erinner mich heute Abend an den Müll"),
        *("Ich habe keine Ahnung, was das ist", "Und wann fährt der nächste Zug?", "Was kannst du?", "hilfe"),
        *("wie lösche ich meine Daten?", "Was ist 7/0?", "Weck mich um 7"),
    ),
    "fr": (
        *("raconte-moi une histoire", "convertis 5 miles en km", "Que sais-tu faire ?"),
        *("Quel temps fait-il demain à Lyon ?", "Peux-tu me donner une recette de tarte aux pommes ?"),
        *("c'est quoi la capitale du Pérou", "Rappelle-moi d'appeler ma sœur demain"),
        *("je ne sais pas où est la gare", "aide", "que peux-tu faire ?", "Combien font 2+2 ?"),
    ),
    "es": (
        *("cuéntame un chiste", "convierte 5 millas a km", "¿Qué tiempo hace mañana en Madrid?"),
        *("Puedes darme una receta de tortilla por favor", "cuál es la capital del Perú"),
        *("no sé dónde está la estación", "Recuérdame llamar a mi hermana mañana", "Ayuda", "¿qué puedes hacer?"),
        *("como borro mis datos", "¿Cuánto es 2+2?"),
    ),
}

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


def test_a_plain_sentence_is_told() -> None:
    """Short, with or without capitals and accents, as people write in a chat."""
    for language, texts in SURE.items():
        assert [text for text in texts if detect_language(text) != language] == []


def test_nothing_is_claimed_where_it_is_not_sure() -> None:
    """Too little, no words at all, code and addresses, or a language that is none of the four."""
    assert [text for text in UNSURE if detect_language(text) is not None] == []


GUESSED: tuple[tuple[Language | None, tuple[str, ...]], ...] = (
    ("en", ("Hello!",)),
    ("de", ("Guten Morgen 🙂", "Wetter Berlin?")),
    ("fr", ("Bonjour", "météo")),
    ("es", ("¡Hola!", "tiempo Madrid")),
    (None, ("ok", "Hi", "Berlin", "👍", "Hallo Welt ist ein altes kleines Programm")),
)


def test_a_greeting_is_a_guess() -> None:
    """So is a word or two; what friends of any language say is none."""
    for language, texts in GUESSED:
        assert [text for text in texts if guess_language(text) != language] == []
