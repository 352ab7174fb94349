"""The settings `APPROVALS__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class ApprovalsSettings(SettingsGroup):
    """Tools that have an effect ask first if something that was read could have talked the model into it."""

    timeout: float = Field(default=600, ge=10, le=86_400)
    """How many seconds a tool waits for a yes; no reply by then counts as a no."""
