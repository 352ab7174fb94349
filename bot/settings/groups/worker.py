"""The settings `WORKER__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class WorkerSettings(SettingsGroup):
    """How messages are worked off."""

    conversations_at_once: int = Field(default=1000, ge=1, le=10_000)
    """How many conversations are answered side by side, those included that only wait for a model, a tool or a person.
    A bound for the memory: as many that wait in vain keep everybody else waiting."""
    turn_timeout_seconds: float = Field(default=300, ge=1, le=3600)
    """How long one answer may take in all, tools included."""
    max_attempts: int = Field(default=3, ge=1, le=20)
    """How often a message is tried before the person is told that it failed; a try counts that failed by itself, or
    that may have killed Aldis."""
    shutdown_seconds: float = Field(default=5, ge=0, le=6)
    """How long a stop waits for running answers; what is left is continued after the next start."""
