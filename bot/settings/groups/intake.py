"""The settings `INTAKE__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class IntakeSettings(SettingsGroup):
    """Which messages are answered."""

    max_age: float = Field(default=86_400, ge=1)
    """How many seconds a message can have waited and still be answered; the sender of an older one is told that it came
    too late."""
