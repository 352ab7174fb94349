"""The settings `LIMITS__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class LimitsSettings(SettingsGroup):
    """How much people can write."""

    messages_per_minute: int = Field(default=60, ge=1, le=10_000)
    """How many messages of one person are accepted per minute; the first one beyond gets a notice. As many edits of
    theirs ask a model again or are carried out as commands; others only change the words.
    """
    conversation_messages_per_minute: int = Field(default=120, ge=1, le=10_000)
    """How many messages of one conversation are accepted per minute."""
    max_waiting: int = Field(default=200, ge=1, le=100_000)
    """How many messages of one conversation can wait at a time."""
    turns_at_once: int = Field(default=3, ge=1, le=1000)
    """In how many conversations one person is answered at a time."""
