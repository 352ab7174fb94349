"""How a tool fails: always as an answer to the model, never as a crash.

    ToolError                   `code` is what the model sees as "error", the text as "message"
    |- BadArguments             invalid_arguments   the model: ask differently
    |- NotFound                 not_found           the model: nothing of that name
    |- RateLimited              rate_limited        again later
    |- Unavailable              unavailable         again later: the service is down or talks nonsense
    |- TooLarge                 too_large           the model: ask for less
    |- Disabled                 disabled            the operator: switched off, key missing or refused
    |- TimedOut                 timeout             again later, or for less
    |- Denied                   denied              nobody: policy forbids it
    '- UnknownOutcome           unknown_outcome     nobody: it may have happened, so it is not repeated unasked

The text is read by a model and may reach a person: plain words, no key, no address with a key in it.
"""

from decimal import Decimal
from typing import ClassVar


class ToolError(Exception):
    """The root: what a tool raises when it cannot answer."""

    code: ClassVar[str] = "unavailable"
    # Here and not in `__init__`, which an error of a third-party tool may not call.
    quoted: str | None = None
    cost_usd: Decimal = Decimal(0)
    """What the call cost all the same."""

    def __init__(self, message: str = "", *, quoted: str | None = None) -> None:
        """`quoted` is what a stranger says of it: handed on as data, apart from our own words."""
        super().__init__(message)
        self.quoted = quoted


class BadArguments(ToolError):
    """The arguments make no sense together; the message says what would."""

    code = "invalid_arguments"


class NotFound(ToolError):
    """There is nothing of that name; the message names what was looked for."""

    code = "not_found"


class RateLimited(ToolError):
    """The service or Aldis itself wants fewer calls."""

    code = "rate_limited"


class Unavailable(ToolError):
    """The service cannot be reached, fails, or answers what cannot be read."""

    code = "unavailable"


class TooLarge(ToolError):
    """The question or its answer is larger than the tool takes."""

    code = "too_large"


class Disabled(ToolError):
    """Switched off, or its key is missing or refused: the operator has to act."""

    code = "disabled"


class TimedOut(ToolError):
    """The tool did not finish in its time."""

    code = "timeout"


class Denied(ToolError):
    """A rule forbids it."""

    code = "denied"


class UnknownOutcome(ToolError):
    """What must not happen twice was begun, and nobody knows how it ended."""

    code = "unknown_outcome"
