"""Checks queries for X's post search before anybody pays for them. Pure functions.

    query --check_query--> the same, or an error that tells the model what to change
          '--in_words--> the words for a search engine

Source: docs.x.com, "Build a query" and the search operators of API v2, 2026-11-21; `min_likes`, `min_reposts` and
`min_replies` are back since 2026-05-04, the names that the web page has for them are refused, and reposts are no longer
found by words since 2026-05.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tools.errors import BadArguments

MAX_QUERY_CHARS = 512
"""The limit for pay-per-use customers."""

_NAME_OF_A_PERSON = r"[A-Za-z0-9_]{1,15}|[0-9]{1,19}"
_NUMBER = r"[0-9]{1,19}"
_VALUES = {
    "from": (_NAME_OF_A_PERSON, "from:name, the name without @"),
    "to": (_NAME_OF_A_PERSON, "to:name, the name without @"),
    "url": (r'"[^"]*\w[^"]*"|[^"]*\w[^"]*', 'url:"example.org/page"'),
    "conversation_id": (_NUMBER, "conversation_id:123"),
    "lang": (r"[a-z]{2,3}", "lang:en"),
    "is": ("reply|quote|verified", "is:reply, is:quote or is:verified; reposts are never found"),
    "has": ("links|images|video_link|mentions", "has:links, has:images, has:video_link or has:mentions"),
    "min_likes": (_NUMBER, "min_likes:100"),
    "min_reposts": (_NUMBER, "min_reposts:100"),
    "min_replies": (_NUMBER, "min_replies:100"),
}
"""The values of each operator, and how to write them."""

_STANDING_ALONE = frozenset({"from", "to", "url", "conversation_id"})
"""Operators that can be used without any other word."""

_BY_HOURS = "leave it out and give `hours`; X finds posts of the last seven days only"
_INSTEAD = {
    "min_faves": "write min_likes:",
    "min_retweets": "write min_reposts:",
    "since": _BY_HOURS,
    "until": _BY_HOURS,
    "since_time": _BY_HOURS,
    "until_time": _BY_HOURS,
    "within_time": _BY_HOURS,
    "filter": "write has:links, has:images or -is:reply",
    "http": 'write url:"example.org/page"',
    "https": 'write url:"example.org/page"',
}
"""What to write instead of operators of X's web page, and of what is no operator."""

_TOKEN = re.compile(
    r'(?P<minus>-?)(?:(?P<bracket>[()])|(?P<name>[A-Za-z_]+):(?P<value>"[^"]*"|[^\s()"]*)|(?P<word>"[^"]*"|[^\s()"]+))'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """A query for a search engine, which knows no operators."""

    text: str
    """The wanted words, perhaps none."""
    language: str | None
    """Two letters; None: any."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    is_negated: bool
    name: str | None = None
    """The operator's; None for a bracket, a word, a phrase, `OR`."""

    @property
    def finds(self) -> bool:
        """Whether it can find something by itself."""
        if self.is_negated or self.text in {"(", ")", "OR"}:
            return False
        return self.name is None or self.name in _STANDING_ALONE


def check_query(query: str) -> str:
    """The query as it is, if X takes it.

    Raises:
        BadArguments: it does not; the message says what to write instead.
    """
    if len(query) > MAX_QUERY_CHARS:
        raise BadArguments(f"The query has {len(query)} characters, X takes {MAX_QUERY_CHARS}: use fewer words.")
    tokens = _tokens(query)
    for token in tokens:
        _check(token)
    _check_brackets(tokens)
    _check_ors(tokens)
    if not any(token.finds for token in tokens):
        raise BadArguments("The query also needs a word, a #tag, a @name or from:name to search for.")
    return query


def in_words(query: str) -> Words:
    """Returns what is left of a checked query without X's operators."""
    tokens = [token for token in _tokens(query) if not token.is_negated]
    words = [token.text.lstrip("#@$") for token in tokens if token.finds]
    languages = [token.text for token in tokens if token.name == "lang" and len(token.text) == len("en")]
    return Words(text=" ".join(filter(None, words)), language=languages[0] if len(languages) == 1 else None)


def _tokens(query: str) -> list[_Token]:
    if query.count('"') % 2:
        raise BadArguments('A quotation mark (") in the query is not closed.')
    return [
        _Token(
            text=found["bracket"] or found["word"] or found["value"] or "",
            is_negated=bool(found["minus"]),
            name=found["name"].lower() if found["name"] else None,
        )
        for found in _TOKEN.finditer(query)
    ]


def _check(token: _Token) -> None:
    if token.name is not None:
        _check_operator(token.name, token.text)
    elif not token.text.strip('"# @$-'):
        raise BadArguments(f"{token.text} is empty: leave it out.")
    elif token.text == "AND":
        raise BadArguments("Leave out AND: adjacent words are all required anyway.")
    elif token.is_negated and token.text in {"(", "OR"}:
        raise BadArguments("A minus cannot precede brackets or OR: put it before each word to exclude.")
    elif not token.text.startswith('"') and (":" in token.text or token.text.endswith("-")):
        raise BadArguments(f'Put "{token.text[:40]}" in quotes: colons and minus signs make operators.')


def _check_operator(name: str, value: str) -> None:
    if name not in _VALUES:
        instead = _INSTEAD.get(name, "put it in quotes if it is a word, or leave it out")
        raise BadArguments(f"X has no operator {name[:40]}: here; {instead}.")
    pattern, example = _VALUES[name]
    if not re.fullmatch(pattern, value):
        raise BadArguments(f"Write {name}: like this: {example}.")


def _check_brackets(tokens: Sequence[_Token]) -> None:
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth < 0:
            break
    if depth != 0:
        raise BadArguments("The brackets in the query do not match.")
    if any((one.text, other.text) == ("(", ")") for one, other in pairwise(tokens)):
        raise BadArguments("A pair of brackets is empty.")


def _check_ors(tokens: Sequence[_Token]) -> None:
    """Checks that every OR stands between two terms."""
    texts = ["(", *(token.text for token in tokens), ")"]
    for before, text, behind in zip(texts, texts[1:], texts[2:], strict=False):
        if text == "OR" and (before in {"(", "OR"} or behind == ")"):
            raise BadArguments("OR has to stand between two words, phrases or groups in brackets.")
