"""What Aldis can do for a model. The front door: `bot` imports from here, only `bot.app` reaches inside.

Tools know neither the bot nor the store; no tool imports another.
"""

from tools.addresses import canonical_url
from tools.base import Arguments, Effects, Options, Result, ResultFile, Tool, ToolContext, ToolSpec
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
from tools.http import BytesAnswer, FormFile, Http, JsonAnswer
from tools.ports import Every, Memory, Planned, Remembered, Reminders, Repeat, Weekday, Wish
from tools.text import cleaned, fitted

__all__ = [
    "CATALOG",
    "Arguments",
    "BadArguments",
    "BytesAnswer",
    "Denied",
    "Disabled",
    "Effects",
    "Entry",
    "Every",
    "Fetcher",
    "FormFile",
    "Http",
    "JsonAnswer",
    "Memory",
    "NotFound",
    "Options",
    "Page",
    "Planned",
    "RateLimited",
    "Remembered",
    "Reminders",
    "Repeat",
    "Result",
    "ResultFile",
    "Surroundings",
    "TimedOut",
    "TooLarge",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolSpec",
    "Unavailable",
    "Weekday",
    "Wish",
    "build",
    "canonical_url",
    "cleaned",
    "fitted",
]
