"""What means yes or no is told from what may be a nod, and what asks for a yes from what only tells something."""

import pytest

from bot.access.routing import invites_yes, is_nod, parse_word


@pytest.mark.parametrize(
    "text", ["ok", "Okay, thanks!", "👍🏽", "Ok, danke", "klar", "d'accord, merci", "vale, gracias"]
)
def test_a_yes_that_may_be_a_nod_is_one(text: str) -> None:
    """To whatever was said last."""
    assert parse_word(text) == "yes"
    assert is_nod(text)


@pytest.mark.parametrize(
    "text", ["yes", "ok, do it", "ja klar", "Ja, danke", "oui merci", "sí, por favor", "gerne, mach"]
)
def test_a_yes_that_answers_a_question_is_no_nod(text: str) -> None:
    assert parse_word(text) == "yes"
    assert not is_nod(text)


@pytest.mark.parametrize("text", ["¡Sí!", "Si\u0301, por favor", "ja ja ja, mach das", "👍" * 9, "yes " * 30])
def test_a_yes_may_be_written_in_many_ways(text: str) -> None:
    """With a sign before it, in letters and accents apart, again and again."""
    assert parse_word(text) == "yes"


@pytest.mark.parametrize("count", [1, 5, 8, 29, 30, 31, 100])
@pytest.mark.parametrize(
    ("word", "more"),
    [("ja", "aber tu es nicht"), ("yes,", "I heard you, don't post it"), ("👍", "not"), ("no", "wait, yes, do it")],
)
def test_words_behind_a_word_that_is_repeated_are_read(word: str, more: str, count: int) -> None:
    """However often it is: they may say the contrary."""
    assert parse_word(f"{word} " * count + more) is None
    assert not is_nod(f"{word} " * count + more)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Shall I?",
            "¿Sigo",
            "続けますか？",
            "続けますか。",
            "هل أتابع؟",
            "Να συνεχίσω;",
            "Շարունակե՞մ",
            "Go on⁇",
            "❓",
            "‽",
        ),
        *("Say YES and I go on.", "Sag ja.", "Dis oui.", "Di sí.", "Put 👍 here.", "**Yes**: go on. No: stop."),
    ],
)
def test_what_may_ask_for_a_yes_is_found(text: str) -> None:
    """In any script, by its sign or by the word it wants."""
    assert invites_yes(text)


@pytest.mark.parametrize(
    "text", ["", "It is sunny, 20 °C.", "Es wird schön: 20 °C ☀️", "Eyes, jar, Ouida", "Il fait beau.", "No hay lluvia."]
)
def test_what_tells_something_asks_for_nothing(text: str) -> None:
    assert not invites_yes(text)
