"""What Aldis can do for a model. The front door: `bot` imports from here, only `bot.app` reaches inside.

Tools know neither the bot nor the store; no tool imports another.
"""

from tools.addresses import canonical_url
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
from tools.fetch import Fetcher, Page
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
    "Fetcher",
    "Http",
    "NotFound",
    "Options",
    "Page",
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
    "canonical_url",
    "cleaned",
    "fitted",
]
