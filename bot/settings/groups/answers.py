"""The settings `ANSWERS__...`."""

from bot.settings.groups.base import SettingsGroup


class AnswersSettings(SettingsGroup):
    """What answers show besides the model's words."""

    show_sources: bool = False
    """Whether a line below each answer names its sources: "(from the web)", "(from your file)"."""
