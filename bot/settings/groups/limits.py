"""The settings `LIMITS__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class LimitsSettings(SettingsGroup):
    """How much people may write."""

    messages_per_minute: int = Field(default=60, ge=1, le=10_000)
    """How many messages of one person are taken in a minute; of those beyond, the first is told so."""
    conversation_messages_per_minute: int = Field(default=120, ge=1, le=10_000)
    """How many messages of one conversation are taken in a minute."""
    max_waiting: int = Field(default=200, ge=1, le=100_000)
    """How many messages of one conversation may wait at the same time."""
    turns_at_once: int = Field(default=3, ge=1, le=1000)
    """In how many conversations one person is answered at the same time."""
