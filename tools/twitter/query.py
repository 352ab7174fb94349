"""Queries for X's post search. Pure functions.

    query --check_query--> the same, or an error that tells the model what to change
          '--in_words--> the words for a search engine

X refuses what it does not understand before it charges anything, and says why; only what models know from X's web page
is answered here.

Source: docs.x.com, "Build a query" and the search operators of API v2, 2026-11-21; `min_likes`, `min_reposts` and
`min_replies` are back since 2026-05-04, the names that the web page has for them are refused.
"""

import re
from dataclasses import dataclass

from tools.errors import BadArguments

MAX_QUERY_CHARS = 512
"""The limit for pay-per-use customers."""

_FINDING = frozenset({"", "from", "to", "url", "conversation_id"})
"""The operators whose values are words to search for; empty: none."""

_BY_HOURS = "leave it out and give `hours`; X finds posts of the last seven days only"
_INSTEAD = {
    "min_faves": "write min_likes:",
    "min_retweets": "write min_reposts:",
    "filter": "write has:links, has:images or -is:reply",
    **dict.fromkeys(("since", "until", "since_time", "until_time", "within_time"), _BY_HOURS),
    **dict.fromkeys(("http", "https"), 'write url:"example.org/page"'),
}
"""What to write instead of operators of X's web page, and of what is no operator."""

_TOKEN = re.compile(r'(?P<minus>-?)(?:(?P<name>[A-Za-z_]+):)?(?P<value>"[^"]*"|[^\s()"]+)')


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """A query for a search engine, which knows no operators."""

    text: str
    """The wanted words, perhaps none."""
    language: str | None
    """Two letters; None: any."""


def check_query(query: str) -> str:
    """The query as it is, if X may take it.

    Raises:
        BadArguments: it does not; the message says what to write instead.
    """
    if len(query) > MAX_QUERY_CHARS:
        raise BadArguments(f"The query has {len(query)} characters, X takes {MAX_QUERY_CHARS}: use fewer words.")
    for found in _TOKEN.finditer(query):
        name = (found["name"] or "").lower()
        if instead := _INSTEAD.get(name):
            raise BadArguments(f"X has no operator {name}: here; {instead}.")
    return query


def in_words(query: str) -> Words:
    """Returns what is left of a query without X's operators."""
    tokens = [found for found in _TOKEN.finditer(query) if not found["minus"] and found["value"] not in {"OR", "AND"}]
    words = [found["value"].lstrip("#@$") for found in tokens if (found["name"] or "").lower() in _FINDING]
    languages = [found["value"] for found in tokens if found["name"] == "lang" and len(found["value"]) == len("en")]
    return Words(text=" ".join(filter(None, words)), language=languages[0] if len(languages) == 1 else None)
