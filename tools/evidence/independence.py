"""Pure: which sources tell the same report, so that ten sites that print one text are not taken for ten witnesses.

Sources belong to one report when they are of one publisher, when their titles or their snippets are nearly the same
words, or when they name the same news agency as their source; and whatever belongs to one of them belongs to it too.
A text that was rewritten or translated without saying where it is from looks independent, and so do two publishers of
one house: that cannot be seen here.
"""

import re
from collections.abc import Hashable, Iterator, Sequence

from tools.evidence.publishers import publisher
from tools.evidence.word_lists import CREDITS, fold, words
from tools.search.base import Hit

SAME = 0.6
"""The share of the shorter text's runs of three words that stands in the other one when they are the same text."""

_RUN_WORDS = 3
_MIN_RUNS = 6  # shorter texts say the same by chance
_MIN_TITLE_WORDS = 5
# Behind the last of these a title names its site.
_SITE_IN_TITLE = re.compile(r"\s[|\u2013\u2014-]\s[^|\u2013\u2014]{1,40}$")
_AGENCY_SITES = {"reuters": "reuters", "apnews": "ap", "afp": "afp", "dpa": "dpa", "efe": "efe", "ansa": "ansa"}
_LONG_NAMES = {"associated press": "ap", "keystone-sda": "sda"}


def reports(hits: Sequence[Hit]) -> tuple[int, ...]:
    """Of each source the number of its report, from 1 in the order in which reports first appear."""
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
    """The pairs, by place, that tell one report."""
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
    """What a source shares with others only if they tell one report."""
    name = publisher(hit.site)
    yield "publisher", name
    if len(title := words(_SITE_IN_TITLE.sub("", hit.title))) >= _MIN_TITLE_WORDS:
        yield "title", title
    credit = CREDITS.search(fold(f"{hit.title} {hit.snippet}"))
    agency = _AGENCY_SITES.get(name) if credit is None else credit[1] or credit[2]
    if agency is not None:
        yield "agency", _LONG_NAMES.get(agency, agency)
