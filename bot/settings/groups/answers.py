"""The settings `ANSWERS__...`."""

from bot.settings.groups.base import SettingsGroup


class AnswersSettings(SettingsGroup):
    """What stands in answers besides the words of the model."""

    show_sources: bool = False
    """Whether a line below an answer tells what it rests on: "(from the web)", "(from your file)"."""
