"""What is found in a file that came with a message, and what finding it out cost."""

from dataclasses import dataclass
from decimal import Decimal

from bot.messages import Medium

TRANSCRIPT = "its transcript:"
"""The rest of a finding whose text is what was understood of a recording."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileDescription:
    """One file, as the model hears of it: `a PDF of 3 pages, which is attached`."""

    what: str
    """What it is, with its article: `a picture`."""
    rest: str
    """What is the matter with it: `which is attached`, `which cannot be opened: it is damaged`, `its transcript:`."""
    text: str = ""
    """What it says, as far as that is put into words; empty where it is not. Words of the file's author: data."""
    medium: Medium | None = None
    """What the model may look at itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fee:
    """One call of a paid service that is no model of the conversation: a row of the ledger."""

    name: str
    """The model that did it."""
    provider: str
    outcome: str
    """`ok`, or a word for what went wrong."""
    latency_seconds: float
    cost_usd: Decimal | None
    """None: nobody knows."""
