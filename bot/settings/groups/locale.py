"""The settings `LOCALE__...`."""

from typing import Annotated

from pydantic import Field

from bot.i18n.language import Language
from bot.settings.groups.base import SettingsGroup
from bot.settings.values import Zone
from tools import Lowered


class LocaleSettings(SettingsGroup):
    """Where people are, and what they speak."""

    timezone: Zone = "UTC"
    """Their time zone, like Europe/Berlin; defaults to the machine's `TZ`."""
    place: str | None = Field(default=None, max_length=100)
    """Where they are, like Lyon, for weather questions that name no place; unset means that models ask."""
    language: Annotated[Language, Lowered] = "en"
    """The language of Aldis's own sentences until it knows what somebody writes: en, de, fr or es; models answer in the
    language of the question. Defaults to the machine's `LC_ALL`, `LC_MESSAGES` or `LANG`."""
