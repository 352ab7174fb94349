"""What was found in a file that came with a message, and what that cost."""

from dataclasses import dataclass
from decimal import Decimal

from bot.messages import Medium

TRANSCRIPT = "its transcript:"
"""The rest of a description whose text is the transcript of a recording."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileDescription:
    """One file as it is described to the model: `a PDF of 3 pages, which is attached`."""

    what: str
    """What it is, with its article: `a picture`."""
    rest: str
    """Its state: `which is attached`, `which cannot be opened: it is damaged`, `its transcript:`."""
    text: str = ""
    """Its content in words; empty if there is none. Words of the file's author: data."""
    medium: Medium | None = None
    """What the model can look at itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fee:
    """One call of a paid service other than the conversation's model: a row of the ledger."""

    name: str
    """The model that did it."""
    provider: str
    outcome: str
    """`ok`, or a word for what went wrong."""
    latency_seconds: float
    cost_usd: Decimal | None
    """None if unknown."""
