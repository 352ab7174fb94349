"""The addresses that one running turn may fetch, by where they come from: the rule of `bot.policy.trust` at work.

    the person's words --> Sources --admits--> the call runs --took--> more addresses that may be asked for
                              '--says no--> the model is told why

It is built again for each attempt of a turn and sees the same calls and answers again, those of the journal first.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from bot.events import Incoming
from bot.labels import Labels
from bot.messages import ToolCall
from bot.policy.trust import Provenance, may_fetch, private
from bot.turn.journal import ToolRun, Turn
from bot.turn.provenance import without_names
from tools import ToolSpec

NOT_GIVEN = (
    "this address stands neither in the person's message nor in a search result of this turn, so it is not fetched;"
    " search for the page first, or ask the person to send its address, and do not change it"
)
"""What a model is told that asks for an address which it was not given."""


class Sources:
    """The addresses that one turn may fetch."""

    def __init__(self, turn: Turn, labels: Labels) -> None:
        """`labels` are those of everything in the request."""
        self._provenance = Provenance(has_read_private=bool(private(labels)))
        for message in turn.incoming:
            self._provenance = self._provenance.hearing(_own(message))

    def admits(self, call: ToolCall, spec: ToolSpec | None) -> bool:
        """Whether the call may run as far as its address goes; it counts as begun then. `spec` None: no such tool.

        To be asked before anything is waited for: of calls side by side each must see those before it.
        """
        if spec is None or spec.fetches is None:
            return True
        url = call.arguments.get(spec.fetches)
        if not isinstance(url, str):
            return True  # no address at all: the arguments will not be valid
        if not may_fetch(url, self._provenance):
            return False
        self._provenance = self._provenance.fetching(url)
        return True

    def took(self, run: ToolRun, spec: ToolSpec | None) -> None:
        """Take up what a call has brought into the turn."""
        if spec is None or not run.answer.ok:
            return
        data = run.answer.data
        if spec.reads_private:
            self._provenance = self._provenance.reading_private()
        if spec.finds_pages:
            self._provenance = self._provenance.finding(urls_of(data, "results"))
        if spec.fetches is not None:
            asked, found_at = run.arguments.get(spec.fetches), data.get("url")
            if isinstance(asked, str) and isinstance(found_at, str):
                links = tuple(urls_of(data, "links"))
                self._provenance = self._provenance.reading(asked, found_at=found_at, links=links)


def _own(message: Incoming) -> str:
    """The words in which a person gave addresses; of a prompt that Aldis wrote, the addresses that they gave then."""
    scheduled = message.scheduled
    return without_names(message) if scheduled is None or scheduled.is_own else "\n".join(scheduled.addresses)


def urls_of(data: Mapping[str, Any], name: str) -> Iterator[str]:
    """The `url` of each entry of that list."""
    entries = data.get(name)
    for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
        match entry:
            case {"url": str(url)}:
                yield url
            case _:
                continue
