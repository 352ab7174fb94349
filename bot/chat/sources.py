"""The addresses that one running turn may fetch, depending on where they come from, as `bot.trust.rules` rules.

    the person's words --> Sources --no refusal--> the call runs --took--> more addresses that may be fetched
                              '--refusal--> the model is told why

Each attempt of a turn builds it anew and replays the same calls and answers, those of the journal first.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from bot.chat.journal import ToolRun, Turn
from bot.events import Incoming
from bot.labels import Labels
from bot.messages import AssistantMessage, ToolCall
from bot.trust.provenance import without_names
from bot.trust.rules import Provenance, may_fetch, private
from tools import ToolSpec, canonical_url

NOT_GIVEN = (
    "this address stands neither in the person's message, nor in a search result of this turn, nor under the last"
    " answer with sources, so it is not fetched;"
    " search for the page first, or ask the person to send its address, and do not change it"
)
"""What the model is told if it asks for an address that it was not given."""
ENOUGH_FOUND = (
    "as something private is in this conversation, no more of what searches found is fetched for this message;"
    " answer with what there is, or ask the person to send the address"
)
"""What the model is told if it asks for more results of searches than it may fetch beside something private."""


class Sources:
    """The addresses that one turn may fetch."""

    def __init__(self, turn: Turn, labels: Labels) -> None:
        """`labels` are those of everything in the request."""
        cited = frozenset(filter(None, map(canonical_url, _last_cited(turn))))
        self._provenance = Provenance(has_read_private=bool(private(labels)), found=cited)
        for message in turn.incoming:
            self._provenance = self._provenance.hearing(_own(message))

    def refusal(self, call: ToolCall, spec: ToolSpec | None) -> str | None:
        """Returns why the call may not run because of its address; None if it may, and it then counts as started.
        `spec` None: no such tool.

        Call this before awaiting anything: of calls side by side, each must know those before it.
        """
        if spec is None or spec.fetches is None:
            return None
        url = call.arguments.get(spec.fetches)
        if not isinstance(url, str):
            return None  # no address at all: the arguments will be rejected
        if not may_fetch(url, self._provenance):
            return ENOUGH_FOUND if canonical_url(url) in self._provenance.found else NOT_GIVEN
        self._provenance = self._provenance.fetching(url)
        return None

    def took(self, run: ToolRun, spec: ToolSpec | None) -> None:
        """Records what a call has brought into the turn."""
        if spec is None or not run.answer.ok:
            return
        data = run.answer.data
        if spec.is_private:
            self._provenance = self._provenance.reading_private()
        if spec.finds_pages:
            self._provenance = self._provenance.finding(urls_of(data, "results"))
        if spec.fetches is not None:
            asked, found_at = run.arguments.get(spec.fetches), data.get("url")
            if isinstance(asked, str) and isinstance(found_at, str):
                links = tuple(urls_of(data, "links"))
                self._provenance = self._provenance.reading(asked, found_at=found_at, links=links)


def _last_cited(turn: Turn) -> Iterator[str]:
    """The pages under the last answer that cited any: a search found them, and the person sees them."""
    answers = (message for past in reversed(turn.history) for message in reversed(past))
    cited = (message.pages for message in answers if isinstance(message, AssistantMessage) and message.pages)
    return (page.url for page in next(cited, ()))


def _own(message: Incoming) -> str:
    """The words in which a person gave addresses; for a prompt Aldis wrote, the addresses they gave at that time."""
    scheduled = message.scheduled
    return without_names(message) if scheduled is None or scheduled.is_own else "\n".join(scheduled.addresses)


def urls_of(data: Mapping[str, Any], name: str) -> Iterator[str]:
    """The `url` of each entry in that list."""
    entries = data.get(name)
    for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
        match entry:
            case {"url": str(url)}:
                yield url
            case _:
                continue
