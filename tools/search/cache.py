"""What was found a moment ago, for whoever asks the same: in memory only, for ten minutes, never more than so much.

Shared by all conversations: what a service finds does not depend on who asks. The terms of several services forbid
keeping results for longer than that, and none of it is written down.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from tools.errors import ToolError
from tools.search.base import Hit, Query

KEPT = timedelta(minutes=10)
MOST = 128
"""Answers that are kept; the oldest goes first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedHits:
    """What one service found."""

    source: str
    """The service's name."""
    hits: tuple[Hit, ...]
    failures: tuple[ToolError, ...] = ()
    """Why the services before it in the order did not answer, in that order; empty where it was the first."""
    cost_usd: Decimal = field(default=Decimal(0))
    """What the search cost by the service's price list."""


class Recent:
    """The answers of the last minutes."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Query, tuple[datetime, CachedHits]] = OrderedDict()

    def get(self, query: Query, now: datetime) -> CachedHits | None:
        """What was found for the very same query; None where nobody asked it lately."""
        self._forget(now)
        kept = self._answers.get(query)
        return None if kept is None else kept[1]

    def put(self, query: Query, found: CachedHits, now: datetime) -> None:
        """Keep an answer."""
        self._answers.pop(query, None)
        self._answers[query] = (now, found)
        self._forget(now)

    def _forget(self, now: datetime) -> None:
        # They stand in the order in which they came.
        while self._answers and (len(self._answers) > MOST or self._oldest() <= now - KEPT):
            self._answers.popitem(last=False)

    def _oldest(self) -> datetime:
        at, _ = next(iter(self._answers.values()))
        return at
