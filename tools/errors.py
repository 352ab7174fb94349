"""Errors of tools. Each becomes an answer to the model, never a crash.

    ToolError                   the model sees `code` as "error" and the text as "message"
    |- BadArguments             invalid_arguments   the model: ask differently
    |- NotFound                 not_found           the model: nothing of that name
    |- RateLimited              rate_limited        again later
    |- Unavailable              unavailable         again later: the service is down or talks nonsense
    |- TooLarge                 too_large           the model: ask for less
    |- Disabled                 disabled            the operator: switched off, key missing or refused
    |- TimedOut                 timeout             again later, or for less
    |- Denied                   denied              no one: policy forbids it
    '- UnknownOutcome           unknown_outcome     no one: it may have happened, so it is not repeated unasked

A model reads the text, and it may reach a person: plain words, no key, no address that contains a key.
"""

from decimal import Decimal
from typing import ClassVar


class ToolError(Exception):
    """The tool cannot answer. Base of all others."""

    code: ClassVar[str] = "unavailable"
    # On the class because errors of third-party tools may not call `__init__`.
    quoted: str | None = None
    cost_usd: Decimal = Decimal(0)
    """What the call cost all the same."""

    def __init__(self, message: str = "", *, quoted: str | None = None) -> None:
        """`quoted` is a stranger's text about it, passed on as data apart from our own words."""
        super().__init__(message)
        self.quoted = quoted


class BadArguments(ToolError):
    """The arguments make no sense together; the message says what would."""

    code = "invalid_arguments"


class NotFound(ToolError):
    """Nothing has that name; the message tells what was looked for."""

    code = "not_found"


class RateLimited(ToolError):
    """The service or Aldis itself wants fewer calls."""

    code = "rate_limited"


class Unavailable(ToolError):
    """The service cannot be reached, fails, or gives an unreadable answer."""


class Unreachable(Unavailable):
    """The connection failed; a retry may help."""


class BrokenOff(Unreachable):
    """An open connection failed: the service may have received and carried out the request."""


class TooLarge(ToolError):
    """The question or its answer is too large for the tool."""

    code = "too_large"


class Disabled(ToolError):
    """The tool is switched off, or its key is missing or refused; the operator has to act."""

    code = "disabled"


class TimedOut(ToolError):
    """The tool did not finish in time."""

    code = "timeout"


class Denied(ToolError):
    """A rule forbids it."""

    code = "denied"


class UnknownOutcome(ToolError):
    """Something that must not happen twice has begun, and its end is unknown."""

    code = "unknown_outcome"
