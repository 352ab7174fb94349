"""Pure: what a title and a snippet say about a claim, judged by the words that stand there and by nothing else.

    the claim's words --enough of them there?--> no: it is about something else
                                           '--> agrees        says them, and nothing against them
                                                contradicts   calls it false, or its title says that it is denied
                                                unclear       hedged, asked, turned round, other numbers, both at once,
                                                              or in a language whose denials are not known

What this cannot see: meaning, irony, other words for the same thing, who denies what, numbers that are written as
words, and what stands elsewhere on the page. So it is careful one way only: what it is not sure of does not agree.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from tools.evidence.word_lists import (
    ALARMING,
    AUTHORITIES,
    CONFIRMED,
    DENIED,
    FALSE,
    FUNCTION_WORDS,
    HEDGED,
    IDLE,
    LANGUAGES,
    NEGATED,
    WordList,
    folded,
    words,
)

Stance = Literal["agrees", "contradicts", "unclear"]
Tone = Literal["matter_of_fact", "hedged", "alarming"]

ABOUT = 0.6
"""The share of the claim's telling words that a text about it has at least."""
ENOUGH = 0.7
"""The share that a text which agrees has at least."""

_MAX_TERMS = 24
_SHORTEST_STEM = 4  # characters; shorter words count only as they stand
_LONG = 7  # characters, from which on an ending may change two: collapsed, collapses
_LONGEST_ENDING = 3
_TURNED = 16  # characters before a word in which a negation turns it round
_FEWEST_FUNCTION_WORDS = 2  # to know the language of a text by; one is enough for a headline
_HEADLINE_WORDS = 8
_LEAST_SHOUTED = 4  # words; fewer may be acronyms
_MAX_SHOWN = 4
# Scripts that put no spaces between words are compared by pairs of signs.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_THOUSANDS = re.compile(r"(?<=[0-9])[.,\u00a0\u202f ](?=[0-9]{3}(?![0-9]))")


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What is to be checked, in one or several wordings of the same meaning."""

    wordings: tuple[str, ...]
    """The first is the claim as it was given; others may be in other languages."""
    terms: tuple[tuple[str, ...], ...]
    """Of each wording the folded words that tell what it is about, each once."""
    numbers: frozenset[str]
    own_words: frozenset[str]
    """Words of denial and doubt that the claim itself uses: in a source they are no denial of it."""
    denies: bool
    """Whether it says of something that it is false, denied or not so."""

    @classmethod
    def of(cls, *wordings: str) -> Self:
        """The claim in these words."""
        text = " ; ".join(map(folded, wordings))
        own = frozenset(found for listed in (FALSE, DENIED, HEDGED) for found in listed.found(text))
        return cls(
            wordings=wordings,
            terms=tuple(filter(None, map(_terms, wordings))),
            numbers=_numbers(wordings[0]),
            own_words=own,
            denies=any(listed.stands(text) for listed in (FALSE, DENIED, NEGATED)),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What one source's words say about the claim."""

    stance: Stance
    tone: Tone
    language: str | None
    """One of `LANGUAGES`; None: another one, or nothing to tell it by."""
    because: tuple[str, ...] = ()
    """What kept it from agreeing: the words, folded, as they stand there, or a short reason."""
    cites_official: bool = False
    """Whether it says that an authority confirmed or told something, or, where it contradicts, denied it."""


def read(claim: Claim, title: str, snippet: str) -> Reading | None:
    """What the two say about the claim; None where they are about something else."""
    whole, text = f"{title} {snippet}", folded(f"{title} . {snippet}")
    share, spoken = _share(claim, whole), language(whole)
    if share < ABOUT:
        return None
    reasons = {"few of its words": share < ENOUGH, "language not read": spoken is None}
    stance, because = _stance(claim, folded(title), text, [reason for reason, holds in reasons.items() if holds])
    witness = DENIED if stance == "contradicts" else CONFIRMED
    return Reading(
        stance=stance,
        tone=_tone(title, text),
        language=spoken,
        because=because[:_MAX_SHOWN],
        cites_official=AUTHORITIES.stands(text) and witness.stands(text),
    )


def language(text: str) -> str | None:
    """Which of `LANGUAGES` a text is in, by its small words; None where it is another or cannot be told."""
    said = words(text)
    hits = {name: sum(word in listed for word in said) for name, listed in FUNCTION_WORDS.items()}
    best = max(hits, key=lambda name: hits[name])
    fewest = 1 if len(said) <= _HEADLINE_WORDS else _FEWEST_FUNCTION_WORDS
    return best if hits[best] >= fewest and best in LANGUAGES else None


def _stance(claim: Claim, title: str, text: str, reasons: Sequence[str]) -> tuple[Stance, tuple[str, ...]]:
    false, denied_in_title = _against(FALSE, text), _against(DENIED, title)
    against = false or (() if CONFIRMED.stands(text) else denied_in_title)
    if against and not claim.denies:  # what a claim about a denial is denied by cannot be told from what it says
        return "contradicts", against
    doubts = tuple(dict.fromkeys([*_doubts(claim, title, text), *reasons]))
    return ("unclear", doubts) if doubts else ("agrees", ())


def _doubts(claim: Claim, title: str, text: str) -> Iterator[str]:
    """Whatever keeps a text that has the claim's words from saying the same."""
    yield from _strange(claim, HEDGED, text)
    yield from _strange(claim, FALSE, text)
    if title.rstrip().endswith("?"):
        yield "asks"
    if not claim.denies:
        yield from _strange(claim, DENIED, text)
        yield from NEGATED.found(title)
    elif not any(listed.stands(text) for listed in (FALSE, DENIED, NEGATED)):
        yield "says nothing of a denial"
    yield from (f"without {number}" for number in sorted(claim.numbers - _numbers(text)))


def _against(listed: WordList, text: str) -> tuple[str, ...]:
    """What the list finds and nothing before it turns round: `is no hoax` is no denial."""
    found = listed.pattern.finditer(text)
    return tuple(
        match[0] for match in found if not NEGATED.stands(text, max(0, match.start() - _TURNED), match.start())
    )


def _strange(claim: Claim, listed: WordList, text: str) -> Iterator[str]:
    """What the list finds in a text, but for the claim's own words."""
    return (found for found in listed.found(text) if found not in claim.own_words)


def _tone(title: str, text: str) -> Tone:
    shouted = [word for word in re.findall(r"[^\W\d_]{4,}", title) if word.isupper()]
    if ALARMING.stands(text) or "!" in title or len(shouted) >= _LEAST_SHOUTED:
        return "alarming"
    return "hedged" if HEDGED.stands(text) else "matter_of_fact"


def _share(claim: Claim, text: str) -> float:
    """How much of the claim's telling words stands in the text, 0 to 1, by the wording that fits best."""
    said = frozenset(_pieces(text))
    return max((sum(_stands(term, said) for term in terms) / len(terms) for terms in claim.terms), default=0.0)


def _stands(term: str, said: frozenset[str]) -> bool:
    if term in said:
        return True
    if len(term) < _SHORTEST_STEM or term[0].isdigit():
        return False
    stem = term[: max(_SHORTEST_STEM, len(term) - (1 if len(term) < _LONG else 2))]
    return any(word.startswith(stem) and len(word) <= len(term) + _LONGEST_ENDING for word in said)


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


def _numbers(text: str) -> frozenset[str]:
    return frozenset(found.replace(",", ".") for found in _NUMBER.findall(_THOUSANDS.sub("", text)))
