"""Whether a person's own words name what a tool is about to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.policy.own_words import asks_for, names
from tools import ToolSpec
from tools.memory import Remember
from tools.predictions.tool import ResolvePrediction
from tools.reminders import Remind


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("Remind me to buy a lamp tomorrow at nine", "buy a lamp"),
        ("remind me tomorrow: BUY the Lamps!", "Buy lamps."),
        ("Remember that I am a vegetarian", "is vegetarian"),
        ("Remember that I don't eat meat", "don't eat meat"),
        ("Merk dir, dass ich Vegetarier bin", "ist Vegetarier"),
        ("Rappelle-moi d'acheter une lampe à midi", "acheter une lampe"),
        ("Recuérdame mañana comprar una lámpara", "Comprar lámpara"),
        ("Pay 50 to Ben", 50),
        ("I am 70 % sure that it rains", 0.7),
        ("Send it to Ben and to Clara", ["Ben", "Clara"]),
        ("Look up who built the Eddystone lighthouse", "who built Eddystone lighthouse"),
        ("Invite ben@lamps.example, please", ["ben@lamps.example"]),
        ("Invite Ben <Ben@lamps.example>.", "ben@lamps.example"),
        ("Pay 20 to DE02120300000000202051", "DE02120300000000202051"),
        ("Create 'packing-list.docx'", "packing-list.docx"),
        ("Read (www.dora-website.com) and tell me", "www.dora-website.com"),
        ("Set the password to '1j1l-2k3j'.", "1j1l-2k3j"),
        ("Delete file 13", "13"),
        ("It came true", "came_true"),
        ("Pay 12,50€ to Ben", 12.5),
        ("Book a room from January 11th to January 15th 2025", ["2025-01-11", "2025-01-15"]),
        ("Meet Sarah at 12:00 on 2024-05-19 for one hour", ["2024-05-19 12:00", "2024-05-19T13:00:00"]),
    ],
)
def test_what_stands_in_the_message_is_named(words: str, value: object) -> None:
    """In this order, with other endings and small words, in every language that Aldis speaks."""
    assert names(words, {"value": value})


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("Remind me to buy a lamp", "buy a lamp and send the key to Mallory"),
        ("Remind me to buy a lamp", "lamp buy"),
        ("Remember that I am not a vegetarian", "is a vegetarian"),
        ("Remember that I am a vegetarian", "is not a vegetarian"),
        ("Merk dir, dass ich kein Vegetarier bin", "ist Vegetarier"),
        ("Je ne mange pas de viande, retiens-le", "mange de la viande"),
        ("Pay 50 to Ben", 500),
        ("Pay 50 to Ben", 5),
        ("Pay 0.5 to Ben", 50),
        ("Meet me at 18:00", "18:30"),
        ("Remember this", "it is"),
        ("Remember this", ""),
        ("", "anything"),
        ("Do it with force", True),
        ("Send it to Ben", ["Ben", "Mallory"]),
        ("Send it to Ben", {"to": "Ben", "copy": {"to": "Mallory"}}),
        ("Look at the lamp", "http://evil.example/lamp"),
        ("提醒我明天买灯", "买灯"),
        ("Write to Alice", "Alicia"),
        ("Invite john.doe@client.example and maria.garcia@lamps.example", "john.garcia@lamps.example"),
        ("Invite ben@lamps.com", "ben@lamps.co"),
        ("Invite ben@lamps.com", "ben@lamps.comm"),
        ("Tell ben@lamps.com about the new lamps", "ben@lamps.co about new lamps"),
        ("Invite ben@lamps.example", "ben@lamps.example, mallory@evil.example"),
        ("Visit www.dora-website.com and www.eve-blog.com", "www.dora-blog.com"),
        ("Pay 20 to DE02120300000000202051", "AT02120300000000202051"),
        ("Pay DE02120300000000202051", 2120300000000202051),
        ("Delete the event on June 13", "13"),
        ("Delete the event on 2024-06-13", 13),
        ("Delete the event at 10:13", "13"),
        ("Delete docs", "docs/*"),
        ("Delete notes", "~/notes"),
        ("Meet on 2024-05-15 at 10:00, and bring 19 lamps", "2024-05-19"),
        ("Meet on 2024-05-15 at 10:00", "2024-05-15 11:00"),
    ],
)
def test_what_does_not_stand_there_is_not(words: str, value: object) -> None:
    """More than was said, another order, another number, the contrary; nothing at all; what nobody can tell."""
    assert not names(words, {"value": value})


@pytest.mark.parametrize("count", [1000, 1900, 1999, 2001, 20_000])
def test_a_not_behind_many_words_is_one(count: int) -> None:
    """A message in which nobody looks for it to its end names nothing."""
    long = f"Send it to Ben {'lamp ' * count}"
    assert names(long, {"to": "Ben"}) is (count < 1999)
    assert not names(f"{long} but do not", {"to": "Ben"})


def test_some_arguments_need_no_name() -> None:
    """But where there are no others, nothing was named."""
    call = {"action": "set", "text": "buy a lamp", "repeat": None}
    assert not names("Buy a lamp", call)
    assert names("Buy a lamp", call, besides=frozenset({"action"}))
    assert not names("Buy a lamp", {"action": "set"}, besides=frozenset({"action"}))


@pytest.mark.parametrize(
    ("words", "spec", "arguments", "is_named"),
    [
        ("Delete reminder 1", Remind.spec, {"action": "cancel", "number": 1}, True),
        ("Lösche die Erinnerung 1", Remind.spec, {"action": "cancel", "number": 1}, True),
        ("Supprime le rappel 1", Remind.spec, {"action": "cancel", "number": 1}, True),
        ("Borra el recordatorio 1", Remind.spec, {"action": "cancel", "number": 1}, True),
        ("Delete reminder 2", Remind.spec, {"action": "cancel", "number": 1}, False),
        ("Remind me of room 1", Remind.spec, {"action": "cancel", "number": 1}, False),
        ("Don't delete reminder 1", Remind.spec, {"action": "cancel", "number": 1}, False),
        ("Lösche die Erinnerung 1 nicht", Remind.spec, {"action": "cancel", "number": 1}, False),
        ("Vergiss, was du dir als Nummer 3 gemerkt hast", Remember.spec, {"action": "forget", "number": 3}, True),
        ("Merk dir: Zimmer 3", Remember.spec, {"action": "forget", "number": 3}, False),
        ("Prediction 2 came true", ResolvePrediction.spec, {"number": 2, "outcome": "came_true"}, True),
        ("Vorhersage 2 ist eingetreten", ResolvePrediction.spec, {"number": 2, "outcome": "came_true"}, True),
        ("Vorhersage 2 ist nicht eingetreten", ResolvePrediction.spec, {"number": 2, "outcome": "came_true"}, False),
        ("Vorhersage 2 ist nicht eingetreten", ResolvePrediction.spec, {"number": 2, "outcome": "did_not"}, True),
        ("La prévision 2 ne s'est pas réalisée", ResolvePrediction.spec, {"number": 2, "outcome": "did_not"}, True),
        ("La predicción 2 no se cumplió", ResolvePrediction.spec, {"number": 2, "outcome": "did_not"}, True),
        ("La predicción 2 se cumplió", ResolvePrediction.spec, {"number": 2, "outcome": "did_not"}, False),
    ],
)
def test_a_value_is_named_by_what_people_call_it(
    words: str, spec: ToolSpec, arguments: dict[str, object], is_named: bool
) -> None:
    """In every language, and by nothing that says the contrary."""
    assert names(words, arguments, besides=spec.minor_arguments, value_words=spec.value_words) is is_named
    assert asks_for(words, spec.deeds) or not is_named


@pytest.mark.parametrize(
    ("words", "deeds", "asks"),
    [
        ("Please remind me", ("remind",), True),
        ("Set a timer for 5 minutes", Remind.spec.deeds, True),
        ("Mets un minuteur de 5 minutes", Remind.spec.deeds, True),
        ("Erinnere mich", ("remind", "erinner"), True),
        ("Rappelle-moi", ("rappel",), True),
        ("Create an event in my calendar", ("create calendar event",), True),
        ("Show my calendar event", ("create calendar event",), False),
        ("Read report.pdf", ("delete file",), False),
        ("Read report.pdf", (), False),
        ("Read report.pdf", ("",), False),
    ],
)
def test_the_deed_is_asked_for_by_its_words(words: str, deeds: tuple[str, ...], asks: bool) -> None:
    """All words of one of them, each at least begun."""
    assert asks_for(words, deeds) is asks


@given(st.text(), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_anything_may_be_asked(words: str, value: object) -> None:
    """Nothing raises, and nothing is named by silence."""
    assert names(words, {"value": value}) in {True, False}
    assert not names("", {"value": value})
