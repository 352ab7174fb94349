"""Plans the next searches from what was found and searched before; none when that is enough. Pure functions.

    round 1   the claim in its own words, in the news and on the web
    then      what is missing: denials; an official statement, unless an official site was found; the operator's
              preferred sites, unless one is among the sources; and, while there are too few independent reports, other
              wordings of the claim, and finally fewer of its words

Pages are judged once, after all searches, so what they say plays no part here. Nothing is searched for twice. A check
with enough sources, an official statement and a search for denials ends early.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tools.evidence.claims import CheckedClaim, language
from tools.evidence.scoring import Evidence, EvidenceSource
from tools.evidence.word_lists import IDLE, LANGUAGES, words
from tools.search.base import Query, trim_query

Aim = Literal["reports", "denials", "official word", "preferred sites", "other words", "fewer words"]
"""The purpose of a search."""

SEARCHES_PER_ROUND = 3
HITS_PER_SEARCH = 10

_MAX_QUERY_CHARS = 300
_MAX_KEY_WORDS = 10
_FEWER_WORDS = 5
_MAX_SITES = 10  # in one query
_DENIALS = {"en": "fact check false", "de": "Faktencheck falsch", "fr": "fact-check faux", "es": "verificación bulo"}
_OFFICIAL = {
    "en": "official statement confirmed",
    "de": "offizielle Mitteilung bestätigt",
    "fr": "communiqué officiel confirmé",
    "es": "comunicado oficial confirmado",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A search and its purpose."""

    aim: Aim
    query: Query


@dataclass(frozen=True, kw_only=True, slots=True)
class Inquiry:
    """A claim to check, and the limits of the search."""

    claim: CheckedClaim
    needed: int
    """How many independent reports are enough."""
    preferred_sites: tuple[str, ...] = ()
    excluded_sites: tuple[str, ...] = ()
    language: str | None = None
    """The language of the pages, two letters; None: any."""

    def following(self, found: Sequence[EvidenceSource], evidence: Evidence, tried: Sequence[Step]) -> tuple[Step, ...]:
        """Returns the searches of the next round; empty if nothing is missing, or nothing is left to try."""
        if not tried:
            text = self.claim.wordings[0]
            return tuple(Step(aim="reports", query=self._query(text, is_news=is_news)) for is_news in (True, False))
        asked = {step.query for step in tried}
        looked_for: set[Aim] = {step.aim for step in tried}
        left = (step for step in self._missing(found, evidence, looked_for) if step.query not in asked)
        return tuple(dict.fromkeys(left))[:SEARCHES_PER_ROUND]

    def _missing(
        self, found: Sequence[EvidenceSource], evidence: Evidence, looked_for: Collection[Aim]
    ) -> Iterator[Step]:
        known = self.language if self.language in LANGUAGES else language(self.claim.wordings[0])
        spoken = known or LANGUAGES[0]
        if "denials" not in looked_for:
            yield Step(aim="denials", query=self._query(f"{self._key_words()} {_DENIALS[spoken]}"))
        if not evidence.has_official and "official word" not in looked_for:
            yield Step(aim="official word", query=self._query(f"{self._key_words()} {_OFFICIAL[spoken]}"))
        is_lacking = self.preferred_sites and not any(source.is_preferred for source in found)
        if is_lacking and "preferred sites" not in looked_for:
            yield Step(aim="preferred sites", query=self._query(self._key_words(), sites=self.preferred_sites))
        if evidence.independent < self.needed:
            yield from (Step(aim="other words", query=self._query(other)) for other in self.claim.wordings[1:])
            yield Step(aim="fewer words", query=self._query(self._fewer_words()))

    def _query(self, text: str, *, is_news: bool = False, sites: tuple[str, ...] = ()) -> Query:
        return Query(
            text=trim_query(text, max_chars=_MAX_QUERY_CHARS),
            count=HITS_PER_SEARCH,
            is_news=is_news,
            sites=sites[:_MAX_SITES],
            # Some services accept only one of the two; excluded sites are dropped from the results anyway.
            without_sites=() if sites else self.excluded_sites[:_MAX_SITES],
            language=self.language,
        )

    def _key_words(self) -> str:
        """Returns the claim's significant words as written, in order; the whole claim if there are none."""
        return " ".join(_telling(self.claim.wordings[0])[:_MAX_KEY_WORDS]) or self.claim.wordings[0]

    def _fewer_words(self) -> str:
        """Returns some names and numbers of the claim, or else its longest words, to find other wordings of it."""
        telling = _telling(self.claim.wordings[0])
        by_weight = sorted(telling, key=lambda word: (not (word[0].isupper() or word[0].isdigit()), -len(word)))
        kept = set(by_weight[:_FEWER_WORDS])
        return " ".join(word for word in telling if word in kept) or self.claim.wordings[0]


def _telling(text: str) -> tuple[str, ...]:
    said = (word.strip(".,;:!?\"'()[]\u201c\u201d\u201e\u00ab\u00bb") for word in text.split())
    return tuple(dict.fromkeys(word for word in said if set(words(word)) - IDLE))
