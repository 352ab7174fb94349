"""The names of all settings, for tests that search for them in files and sentences."""

from bot.settings.load import NAMES


def known_names() -> tuple[str, ...]:
    """Every name that Aldis reads, those for files and the well-known ones included."""
    return tuple(NAMES)
