"""The settings `GROUPS__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class GroupsSettings(SettingsGroup):
    """What Aldis reads in groups besides the messages addressed to it."""

    context_messages: int = Field(default=0, ge=0, le=100)
    """How many messages of others since its last answer go along with a question; 0 means none. Kept in memory only."""
