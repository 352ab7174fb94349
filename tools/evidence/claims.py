"""Tells by its words what a claim is about, and whether a text is about the same. Pure functions.

Words alone cannot tell whether the text agrees: it may deny, doubt, mock or twist what it repeats. A model judges that
(`tools.ports.Judge`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from tools.evidence.word_lists import FUNCTION_WORDS, IDLE, words

ABOUT = 0.6
"""The minimum share of the claim's significant words in a text about it."""

_MAX_TERMS = 24
_MIN_STEM = 4  # characters; shorter words have to match exactly
_LONG = 7  # characters; from here on an ending may change two of them: collapsed, collapses
_MAX_ENDING = 3
_MIN_FUNCTION_WORDS = 2  # to tell the language of a text; one is enough for a headline
_HEADLINE_WORDS = 8
# Scripts without spaces between words are compared by pairs of characters.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
_THOUSANDS = re.compile(r"(?<=[0-9])[.,\u00a0\u202f ](?=[0-9]{3}(?![0-9]))")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedClaim:
    """A claim to check, in one or more wordings with the same meaning."""

    wordings: tuple[str, ...]
    """The first is the claim as given; others may be in other languages."""
    terms: tuple[tuple[str, ...], ...]
    """For each wording, the folded words that tell what it is about, each once."""

    @classmethod
    def of(cls, *wordings: str) -> Self:
        """Makes a claim from its wordings."""
        return cls(wordings=wordings, terms=tuple(filter(None, map(_terms, wordings))))

    def is_told_by(self, title: str, snippet: str) -> bool:
        """Whether the two are about the claim in the best matching wording, whatever they say about it."""
        said = frozenset(_pieces(f"{title} {snippet}"))
        shares = (sum(_stands(term, said) for term in terms) / len(terms) for terms in self.terms)
        return max(shares, default=0.0) >= ABOUT


def language(text: str) -> str | None:
    """Returns which of `LANGUAGES` a text is in, by its function words; None if unclear."""
    said = words(text)
    hits = {name: sum(word in listed for word in said) for name, listed in FUNCTION_WORDS.items()}
    best = max(hits, key=lambda name: hits[name])
    fewest = 1 if len(said) <= _HEADLINE_WORDS else _MIN_FUNCTION_WORDS
    return best if hits[best] >= fewest else None


def _stands(term: str, said: frozenset[str]) -> bool:
    if term in said:
        return True
    if len(term) < _MIN_STEM or term[0].isdigit():
        return False
    stem = term[: max(_MIN_STEM, len(term) - (1 if len(term) < _LONG else 2))]
    return any(word.startswith(stem) and len(word) <= len(term) + _MAX_ENDING for word in said)


def _terms(wording: str) -> tuple[str, ...]:
    said = dict.fromkeys(piece for piece in _pieces(wording) if piece not in IDLE)
    return tuple(said)[:_MAX_TERMS] or tuple(dict.fromkeys(_pieces(wording)))[:_MAX_TERMS]


def _pieces(text: str) -> Iterator[str]:
    """Yields the words, with numbers in one spelling and pairs of characters for scripts without spaces."""
    for word in words(_THOUSANDS.sub("", text)):
        if _UNSPACED.fullmatch(word) and len(word) > 2:  # noqa: PLR2004 - a pair is itself
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word.replace(",", ".") if word[0].isdigit() else word
