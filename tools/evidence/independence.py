"""Groups sources that tell the same report, so that ten sites with one text do not count as ten witnesses. Pure.

Sources belong to one report if they have the same publisher, nearly the same title or snippet, or name the same news
agency; this is transitive. A text that was rewritten or translated without naming its origin looks independent, and so
do two publishers of one company: that cannot be detected here.
"""

import re
from collections.abc import Hashable, Iterator, Sequence

from tools.evidence.publishers import publisher
from tools.evidence.word_lists import CREDITS, fold, words
from tools.search.base import Hit

SAME = 0.6
"""The minimum share of the shorter text's three-word runs in the other text for both to count as the same."""

_RUN_WORDS = 3
_MIN_RUNS = 6  # shorter texts can match by chance
_MIN_TITLE_WORDS = 5
# After the last of these, a title names its site.
_SITE_IN_TITLE = re.compile(r"\s[|\u2013\u2014-]\s[^|\u2013\u2014]{1,40}$")
_AGENCY_SITES = {"reuters": "reuters", "apnews": "ap", "afp": "afp", "dpa": "dpa", "efe": "efe", "ansa": "ansa"}
_LONG_NAMES = {"associated press": "ap", "keystone-sda": "sda"}


def reports(hits: Sequence[Hit]) -> tuple[int, ...]:
    """Returns the number of each source's report, counted from 1 in order of first appearance."""
    leaders = list(range(len(hits)))
    for one, other in _same_reports(hits):
        first, second = sorted((_leader(leaders, one), _leader(leaders, other)))
        leaders[second] = first
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(_leader(leaders, at), len(numbers) + 1) for at in range(len(hits)))


def _leader(leaders: Sequence[int], at: int) -> int:
    while leaders[at] != at:
        at = leaders[at]
    return at


def _same_reports(hits: Sequence[Hit]) -> Iterator[tuple[int, int]]:
    """Yields pairs of sources, by index, that tell the same report."""
    first_of: dict[Hashable, int] = {}
    for at, hit in enumerate(hits):
        for mark in _marks(hit):
            yield first_of.setdefault(mark, at), at
    snippets = [words(hit.snippet) for hit in hits]
    runs = [frozenset(said[at : at + _RUN_WORDS] for at in range(len(said) - _RUN_WORDS + 1)) for said in snippets]
    for at, text in enumerate(runs):
        for before in range(at):
            fewest = min(len(runs[before]), len(text))
            if fewest >= _MIN_RUNS and len(runs[before] & text) >= SAME * fewest:
                yield before, at


def _marks(hit: Hit) -> Iterator[tuple[str, Hashable]]:
    """Yields marks that sources share only if they tell the same report."""
    name = publisher(hit.site)
    yield "publisher", name
    if len(title := words(_SITE_IN_TITLE.sub("", hit.title))) >= _MIN_TITLE_WORDS:
        yield "title", title
    credit = CREDITS.search(fold(f"{hit.title} {hit.snippet}"))
    agency = _AGENCY_SITES.get(name) if credit is None else credit[1] or credit[2]
    if agency is not None:
        yield "agency", _LONG_NAMES.get(agency, agency)
