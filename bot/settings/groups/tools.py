"""The settings `TOOLS__...`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import Contact
from tools import CommaList, Extensions, Options


class ToolsSettings(SettingsGroup):
    """What the model can do besides answering. Each tool has a sub-group of its own."""

    extensions: ClassVar[Extensions] = Extensions()
    """The tools of other distributions installed here; each one found also has a sub-group."""

    enabled: bool = True
    """Whether the model is offered any tools at all."""
    max_tool_calls: int = Field(default=5, ge=0, le=50)
    """How often the model can call tools for one message; after that it answers with what it has."""
    max_calls_per_round: int = Field(default=8, ge=1, le=64)
    """How many tools it can call each time, side by side."""
    timeout_seconds: float = Field(default=20, ge=0.1, le=600)
    """How many seconds one tool call can take in all."""
    max_result_chars: int = Field(default=8000, ge=200, le=200_000)
    """The number of characters at which a tool's result is cut before the model reads it."""
    calls_per_minute: int = Field(default=30, ge=1, le=10_000)
    """How often one person can cause calls of one tool per minute."""
    approve: Annotated[tuple[str, ...], CommaList] = ()
    """Tools that ask in the conversation before they run: a comma-separated list of their names as models see them, or
    all."""
    contact: Contact | None = None
    """How the services that tools query can reach you: an e-mail address, or the address of a page about you. Wikipedia
    answers 200 requests a minute with it and 10 without. Strangers' pages and feeds are not told."""

    @property
    def options_by_name(self) -> Mapping[str, Options]:
        """The options of each tool by its name in the catalogue, as `tools.build` takes them."""
        return {name: value for name, value in self if isinstance(value, Options)}
