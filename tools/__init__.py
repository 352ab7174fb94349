"""What Aldis can do for a model. The front door: `bot` imports from here, only `bot.app` reaches inside.

Tools know neither the bot nor the store; no tool imports another.
"""

from tools.base import Arguments, Effects, Options, Result, Tool, ToolContext, ToolSpec
from tools.catalog import CATALOG, Entry, Surroundings, build
from tools.errors import (
    BadArguments,
    Denied,
    Disabled,
    NotFound,
    RateLimited,
    TimedOut,
    TooLarge,
    ToolError,
    Unavailable,
)
from tools.http import Http
from tools.text import cleaned, fitted

__all__ = [
    "CATALOG",
    "Arguments",
    "BadArguments",
    "Denied",
    "Disabled",
    "Effects",
    "Entry",
    "Http",
    "NotFound",
    "Options",
    "RateLimited",
    "Result",
    "Surroundings",
    "TimedOut",
    "TooLarge",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolSpec",
    "Unavailable",
    "build",
    "cleaned",
    "fitted",
]
