"""The settings `HISTORY__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class HistorySettings(SettingsGroup):
    """How much of a conversation the model reads again with each question."""

    max_turns: int = Field(default=20, ge=0, le=1000)
    """How many earlier questions with their answers."""
    max_tokens: int = Field(default=16_000, ge=0, le=1_000_000)
    """How many tokens of them, by estimate; the oldest turns are dropped first."""
    summaries: bool = True
    """Whether what no longer fits is summarized, at the cost of an extra model call now and then."""
    retention_days: int | None = Field(default=None, ge=1, le=36_500)
    """After how many days what was said is destroyed; unset, it stays until somebody has it forgotten."""
