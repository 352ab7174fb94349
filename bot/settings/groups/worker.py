"""The settings `WORKER__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class WorkerSettings(SettingsGroup):
    """How messages are processed."""

    conversations_at_once: int = Field(default=1000, ge=1, le=10_000)
    """How many conversations are answered side by side, including those that only wait for a model, a tool or a person.
    Bounds the memory used; if that many wait in vain, everybody else waits too."""
    turn_timeout_seconds: float = Field(default=900, ge=1, le=3600)
    """How many seconds one answer can take in all, tools included. What a model has written of it by then is sent."""
    max_attempts: int = Field(default=3, ge=1, le=20)
    """How often a message is tried before the person is told that it failed; only tries that failed by themselves, or
    that may have killed Aldis, count."""
    shutdown_seconds: float = Field(default=5, ge=0, le=6)
    """How many seconds a stop waits for running answers; the rest continue after the next start."""
