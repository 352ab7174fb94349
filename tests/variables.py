"""The names of all settings, for tests that search for them in files and sentences."""

from bot.settings import known_variables


def known_names() -> tuple[str, ...]:
    """Every name that Aldis reads, those for files and the well-known ones included."""
    return tuple(name for variable in known_variables() for name in variable.names)
