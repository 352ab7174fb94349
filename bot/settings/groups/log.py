"""The settings `LOG__...`."""

from typing import Annotated, Literal

from bot.settings.groups.base import SettingsGroup
from tools import Lowered


class LogSettings(SettingsGroup):
    """What is written to standard error. Never anything that somebody wrote."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Lowered] = "info"
    """The lowest level that is logged."""
    format: Annotated[Literal["text", "json"], Lowered] = "text"
    """One line of text, or one line of JSON, per entry."""
