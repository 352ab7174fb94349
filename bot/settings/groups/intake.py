"""The settings `INTAKE__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class IntakeSettings(SettingsGroup):
    """What is taken in."""

    max_age: float = Field(default=86_400, ge=1)
    """How many seconds a message may have waited before it is not answered as if it were new, but told so."""
