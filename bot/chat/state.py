"""State: what one turn has accumulated so far, from its question to its outcome."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from bot.chat.citations import CitedPages
from bot.chat.files import enclosed_files
from bot.chat.journal import Journal, Outcome, Turn
from bot.chat.sources import Sources
from bot.chat.steps import ToolRun
from bot.labels import Labels
from bot.messages import AssistantMessage, CallId, Message
from bot.models.base import Completion, OnText, ToolOffer
from bot.signal.protocol import Progress
from tools import UnknownOutcome

OnProgress = Callable[[Progress], Awaitable[None]]
"""Called with each step as it happens."""

SETTLED = frozenset({"ok", UnknownOutcome.code})
"""Outcomes that settle a call for the rest of the turn."""


@dataclass
class TurnState:
    """The state that one turn has accumulated so far."""

    turn: Turn
    journal: Journal
    on_progress: OnProgress
    on_text: OnText | None
    ends_at: float
    """When the models must have come to an end, on the loop's clock."""
    all_offers: tuple[ToolOffer, ...]
    said: list[Message]
    labels: Labels
    """The labels of everything in any request of the turn."""
    words: str
    """The part of the question that the asker wrote themselves."""
    rounds_left: int
    size: int
    """The index of its requests' size."""
    pages: CitedPages
    """The pages the conversation knows."""
    sources: Sources = field(init=False)
    """The addresses the turn may fetch."""
    offers: tuple[ToolOffer, ...] = ()
    """The tools that fit."""
    history: tuple[Message, ...] = ()
    history_tokens: int = 0
    completions: list[Completion] = field(default_factory=list[Completion])
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    objections: dict[CallId, ToolRun] = field(default_factory=dict[CallId, ToolRun])
    """The answers to calls that cannot be done, about which no person is asked."""
    fresh_from: int = 0
    """The index of the first run since something was done: what earlier ones looked at may have changed."""

    @property
    def spent_usd(self) -> Decimal:
        """The cost of the turn so far, as far as known."""
        paid = (*self.journal.fees, *self.journal.discarded, *self.completions, *self.runs)
        return sum((item.cost_usd for item in paid if item.cost_usd is not None), Decimal(0))

    def outcome(self, text: str, *, ok: bool, keeps: AssistantMessage | None = None) -> Outcome:
        """The end of the turn; `keeps` is the answer with which it enters the history."""
        messages = () if keeps is None else (*self.said, replace(keeps, labels=self.labels))
        return Outcome(
            text=text,
            ok=ok,
            messages=messages,
            completions=(*self.journal.discarded, *self.completions),
            is_journaled=len(self.completions) <= len(self.journal.completions),
            runs=tuple(self.runs),
            fees=self.journal.fees,
            files=enclosed_files(self.runs) if ok else (),
        )
