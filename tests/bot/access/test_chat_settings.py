"""The settings of a conversation as a value: what is stored is read again, and what must go goes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.access.chat_settings import ChatSettings, Persona, dump_settings, parse_settings
from bot.events import PersonId

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ALICE, BOB = PersonId("alice"), PersonId("bob")
FULL = ChatSettings(
    persona=Persona(text="Be kind.", author=ALICE, sent_at=7, expires_at=NOW),
    model="openai/small",
    tools_off=("read", "weather"),
    language="de",
    heard="fr",
    answers_always=True,
    paused_at=NOW,
    told_paused=True,
    starts_after=42,
)


def test_what_is_stored_is_read_again() -> None:
    """As it was."""
    for settings in (ChatSettings(), FULL):
        assert parse_settings(dump_settings(settings)) == settings


def test_tools_are_switched_each_by_itself() -> None:
    """In a stable order, twice the same as once."""
    settings = ChatSettings().with_tool("b", is_on=False).with_tool("a", is_on=False).with_tool("b", is_on=False)
    assert settings.tools_off == ("a", "b")
    assert [settings.allows_tool(name) for name in ("a", "c")] == [False, True]
    assert settings.with_tool("a", is_on=True).with_tool("c", is_on=True).tools_off == ("b",)


def test_a_persona_goes_with_its_message() -> None:
    """Taken back by who wrote it; or disappeared. Nothing else goes with it."""
    assert FULL.without(ALICE, {6, 7}).persona is None
    assert FULL.without(ALICE, {6, 7}).model == FULL.model
    assert FULL.without(BOB, {7}) == FULL
    assert FULL.without(ALICE, {8}) == FULL
    assert FULL.as_of(NOW - timedelta(seconds=1)) == FULL
    assert FULL.as_of(NOW).persona is None
    assert ChatSettings().as_of(NOW) == ChatSettings()


def test_a_named_persona_goes_with_its_message() -> None:
    """Its name, too, if it was chosen; what stays longest decides nothing about when the first goes."""
    named = replace(FULL.persona or Persona(text=""), name="Cook", sent_at=8, expires_at=NOW - timedelta(seconds=9))
    settings = replace(FULL, personas=(named,), persona_name="cook")
    assert parse_settings(dump_settings(settings)) == settings
    assert (settings.expires_at, replace(FULL, persona=None).expires_at) == (named.expires_at, None)
    assert settings.without(ALICE, {8}) == replace(settings, personas=(), persona_name="")
    assert settings.as_of(NOW - timedelta(seconds=8)) == replace(settings, personas=(), persona_name="")


def test_what_a_persona_brings_counts_in_its_turn() -> None:
    """Where it brings nothing, the chat's own does; one that there is not is none."""
    coach = Persona(text="", name="Coach", model="openai/large", language="fr")
    for name, found, model, language in (
        ("COACH", coach, "openai/large", "fr"),
        ("", FULL.persona, "openai/small", "de"),
        ("cook", None, "openai/small", "de"),
    ):
        turn = FULL.for_turn(name, {"coach": coach})
        assert (turn.persona, turn.model, turn.language) == (found, model, language)
