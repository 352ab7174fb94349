"""Pure: what was found about a claim, weighed: how many independent reports agree, who contradicts, how sure that is.

The confidence says how well what was found carries the claim. It is no probability that the claim is true.

    support     = 0.7 x min(agreeing / needed, 1)
                + 0.3 if an official site says it, else 0.1 if a report says that an authority confirmed it
    opposition  = 0.7 x min(contradicting / needed, 1)
                + 0.3 if an official site or a fact-checker contradicts, else 0.1 if a report cites an official denial
    confidence  = support x (1 - opposition), at most 0.5 while data are incomplete; to two places

`agreeing` and `contradicting` count reports, not pages (`tools.evidence.independence`); `needed` is the operator's
threshold. A report that has a contradicting page contradicts, whatever its other pages say. Platforms where everybody
writes and encyclopaedias are shown and not counted. A source that is unclear counts for neither side.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from tools.evidence.dates import dated
from tools.evidence.independence import reports
from tools.evidence.publishers import Kind, kind
from tools.evidence.stance import Claim, Reading, Stance, Tone, read
from tools.search.base import Hit, lies_in

BY_REPORTS = 0.7
BY_OFFICIALS = 0.3
BY_HEARSAY = 0.1
"""What a report that cites an authority adds where no authority speaks for itself."""
MAX_INCOMPLETE = 0.5
"""The highest confidence while data are incomplete."""

_WITNESSES: frozenset[Kind] = frozenset({"official", "fact_check", "site"})
_AUTHORITIES: frozenset[Kind] = frozenset({"official"})
_EXAMINERS: frozenset[Kind] = frozenset({"official", "fact_check"})
_STANCES: tuple[Stance, ...] = ("contradicts", "agrees", "unclear")
_KINDS: tuple[Kind, ...] = ("official", "fact_check", "site", "reference", "platform")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A page that is about the claim."""

    hit: Hit
    kind: Kind
    reading: Reading
    report: int
    """Sources of one number tell one report and are not independent of each other."""
    day: date | None
    """When it was published, in UTC; None where the search service did not tell."""
    is_preferred: bool

    @property
    def is_witness(self) -> bool:
        """Whether it counts: no platform, no encyclopaedia."""
        return self.kind in _WITNESSES


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What the operator wants of evidence."""

    needed: int = 3
    """How many independent reports are several."""
    preferred_sites: tuple[str, ...] = ()
    official_sites: tuple[str, ...] = ()
    """Authorities besides those that are known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What the sources say together."""

    agreeing: int
    """Independent reports that say the claim."""
    contradicting: int
    unclear: int
    official_confirms: bool
    """An official site says it."""
    official_is_cited: bool
    """A report that agrees says that an authority confirmed or told it."""
    official_contradicts: bool
    fact_check_contradicts: bool
    official_denial_is_cited: bool
    """A report that contradicts says that an authority denies it."""
    tones: tuple[tuple[Tone, int], ...]
    """How the pages are written, the most frequent tone first."""
    days: tuple[date, ...]
    """When pages that do not contradict were published, the first first; those of which it is known."""

    @property
    def independent(self) -> int:
        """Independent reports about the claim, whatever they say."""
        return self.agreeing + self.contradicting + self.unclear


class Reader:
    """Reads what pages say about one claim, each page once: that takes a moment."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._readings: dict[Hit, Reading | None] = {}

    def about(self, hits: Iterable[Hit]) -> tuple[tuple[Hit, Reading], ...]:
        """Those of the pages that are about the claim, with what they say."""
        read_so = ((hit, self._reading(hit)) for hit in hits)
        return tuple((hit, reading) for hit, reading in read_so if reading is not None)

    def _reading(self, hit: Hit) -> Reading | None:
        if hit not in self._readings:
            self._readings[hit] = read(self._claim, hit.title, hit.snippet)
        return self._readings[hit]


def sources(
    about: Sequence[tuple[Hit, Reading]], rules: Rules, now: datetime, *, articles: Collection[str] = ()
) -> tuple[Source, ...]:
    """The pages about the claim, those first that say most: contradiction, then agreement; officials first.

    `articles` are the addresses of pages that are an encyclopaedia's, wherever they lie.
    """
    numbers = reports([hit for hit, _ in about])
    told = [
        Source(
            hit=hit,
            kind="reference" if hit.url in articles else kind(hit.site, official_sites=rules.official_sites),
            reading=reading,
            report=number,
            day=dated(hit.age, now),
            is_preferred=lies_in(hit.site, rules.preferred_sites),
        )
        for (hit, reading), number in zip(about, numbers, strict=True)
    ]
    return tuple(sorted(told, key=_place))


def _place(source: Source) -> tuple[int, bool, int]:
    return _STANCES.index(source.reading.stance), not source.is_preferred, _KINDS.index(source.kind)


def weighed(found: Sequence[Source]) -> Evidence:
    """What the sources say together, by independent reports."""
    witnesses = [source for source in found if source.is_witness]
    stances = Counter(_stances_by_report(witnesses).values())
    tones: Counter[Tone] = Counter(source.reading.tone for source in found)
    return Evidence(
        agreeing=stances["agrees"],
        contradicting=stances["contradicts"],
        unclear=stances["unclear"],
        official_confirms=_says(witnesses, "agrees", _AUTHORITIES),
        official_is_cited=_cites(witnesses, "agrees"),
        official_contradicts=_says(witnesses, "contradicts", _AUTHORITIES),
        fact_check_contradicts=_says(witnesses, "contradicts", _EXAMINERS - _AUTHORITIES),
        official_denial_is_cited=_cites(witnesses, "contradicts"),
        tones=tuple(tones.most_common()),
        days=tuple(sorted(s.day for s in found if s.day is not None and s.reading.stance != "contradicts")),
    )


def confidence(evidence: Evidence, *, needed: int, is_incomplete: bool) -> float:
    """How well what was found carries the claim, 0 to 1, by the formula at the head of this module."""
    support = _weight(evidence.agreeing, needed, itself=evidence.official_confirms, cited=evidence.official_is_cited)
    opposition = _weight(
        evidence.contradicting,
        needed,
        itself=evidence.official_contradicts or evidence.fact_check_contradicts,
        cited=evidence.official_denial_is_cited,
    )
    carried = support * (1 - opposition)
    return round(min(carried, MAX_INCOMPLETE) if is_incomplete else carried, 2)


def _weight(independent: int, needed: int, *, itself: bool, cited: bool) -> float:
    official = BY_OFFICIALS if itself else BY_HEARSAY if cited else 0
    return BY_REPORTS * min(independent / needed, 1) + official


def _stances_by_report(witnesses: Sequence[Source]) -> dict[int, Stance]:
    """Of each report what its pages say; the one against the claim weighs most, then the one for it."""
    stances: dict[int, Stance] = {}
    for source in sorted(witnesses, key=lambda witness: _STANCES.index(witness.reading.stance)):
        stances.setdefault(source.report, source.reading.stance)
    return stances


def _says(witnesses: Sequence[Source], stance: Stance, kinds: frozenset[Kind]) -> bool:
    return any(source.reading.stance == stance and source.kind in kinds for source in witnesses)


def _cites(witnesses: Sequence[Source], stance: Stance) -> bool:
    return any(source.reading.stance == stance and source.reading.cites_official for source in witnesses)
