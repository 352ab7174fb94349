"""Pure: what a claim is about, by its own words, and whether a text is about the same.

Whether that text agrees is not for words to tell: it may deny, doubt, mock or turn round what it repeats. That is asked
of a model (`tools.ports.Judge`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from tools.evidence.word_lists import FUNCTION_WORDS, IDLE, words

ABOUT = 0.6
"""The share of the claim's telling words that a text about it has at least."""

_MAX_TERMS = 24
_MIN_STEM = 4  # characters; shorter words count only as they stand
_LONG = 7  # characters, from which on an ending may change two: collapsed, collapses
_MAX_ENDING = 3
_MIN_FUNCTION_WORDS = 2  # to know the language of a text by; one is enough for a headline
_HEADLINE_WORDS = 8
# Scripts that put no spaces between words are compared by pairs of signs.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
_THOUSANDS = re.compile(r"(?<=[0-9])[.,\u00a0\u202f ](?=[0-9]{3}(?![0-9]))")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedClaim:
    """What is to be checked, in one or several wordings of the same meaning."""

    wordings: tuple[str, ...]
    """The first is the claim as it was given; others may be in other languages."""
    terms: tuple[tuple[str, ...], ...]
    """Of each wording the folded words that tell what it is about, each once."""

    @classmethod
    def of(cls, *wordings: str) -> Self:
        """The claim in these words."""
        return cls(wordings=wordings, terms=tuple(filter(None, map(_terms, wordings))))

    def is_told_by(self, title: str, snippet: str) -> bool:
        """Whether the two are about the claim, by the wording that fits best; whatever they say of it."""
        said = frozenset(_pieces(f"{title} {snippet}"))
        shares = (sum(_stands(term, said) for term in terms) / len(terms) for terms in self.terms)
        return max(shares, default=0.0) >= ABOUT


def language(text: str) -> str | None:
    """Which of `LANGUAGES` a text is in, by its small words; None where that cannot be told."""
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
    """Its words; numbers in one spelling; pairs of signs where a script puts no spaces."""
    for word in words(_THOUSANDS.sub("", text)):
        if _UNSPACED.fullmatch(word) and len(word) > 2:  # noqa: PLR2004 - a pair is itself
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word.replace(",", ".") if word[0].isdigit() else word
