"""The settings `LOCALE__...`."""

from typing import Annotated

from pydantic import Field

from bot.i18n.language import Language
from bot.settings.groups.base import SettingsGroup
from bot.settings.values import Zone
from tools import Lowered


class LocaleSettings(SettingsGroup):
    """Where the people are, and what they speak."""

    timezone: Zone = "UTC"
    """Their time zone, like Europe/Berlin; left out, the machine's `TZ` counts."""
    place: str | None = Field(default=None, max_length=100)
    """Where they are, like Lyon, for questions about the weather that name no place; none means that models ask."""
    language: Annotated[Language, Lowered] = "en"
    """What Aldis itself speaks until it is known what people write: en, de, fr or es; models answer as asked.
    Left out, the machine's `LC_ALL`, `LC_MESSAGES` or `LANG` counts."""
