"""Weighs what was found about a claim: how many independent reports agree, which contradict, how sure that is. Pure.

The confidence says how well the findings support the claim. It is not the probability that the claim is true.

    support     = 0.7 x min(agreeing / needed, 1)
                + 0.3 if an official site says it, else 0.1 if a report says that an authority confirmed it
    opposition  = 0.7 x min(contradicting / needed, 1)
                + 0.3 if an official site or a fact-checker contradicts, else 0.1 if a report cites an official denial
    confidence  = support x (1 - opposition), at most 0.5 while data are incomplete; to two places

`agreeing` and `contradicting` count reports, not pages (`tools.evidence.independence`); `needed` is the operator's
threshold. A report with a contradicting page contradicts, whatever its other pages say. Platforms and encyclopaedias
are shown but not counted. A source that only mentions the claim counts for neither side. Left to others: what a page
says (`tools.ports.Judge`); without that there is neither support nor opposition.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from tools.evidence.dates import parse_age
from tools.evidence.independence import reports
from tools.evidence.options import VerifyNewsOptions
from tools.evidence.publishers import Kind, kind
from tools.ports import Judgement, Stance, Tone
from tools.search.base import Hit, lies_in

BY_REPORTS = 0.7
BY_OFFICIALS = 0.3
BY_HEARSAY = 0.1
"""The weight of a report that cites an authority, if no authority was found itself."""
MAX_INCOMPLETE = 0.5
"""The highest confidence while data are incomplete."""

_WITNESSES: frozenset[Kind] = frozenset({"official", "fact_check", "site"})
_AUTHORITIES: frozenset[Kind] = frozenset({"official"})
_EXAMINERS: frozenset[Kind] = frozenset({"official", "fact_check"})
_STANCES: tuple[Stance | None, ...] = ("contradicts", "agrees", "mentions", None)
_KINDS: tuple[Kind, ...] = ("official", "fact_check", "site", "reference", "platform")


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceSource:
    """A page about the claim."""

    hit: Hit
    kind: Kind
    judgement: Judgement | None
    """What it says about the claim; None: it was not read."""
    report: int
    """The number of its report; sources with the same number are not independent of each other."""
    day: date | None
    """When it was published, in UTC; None if the search service did not tell."""
    is_preferred: bool

    @property
    def is_witness(self) -> bool:
        """Whether it counts, being neither a platform nor an encyclopaedia."""
        return self.kind in _WITNESSES

    @property
    def stance(self) -> Stance | None:
        """What it says about the claim; None: it was not read."""
        return None if self.judgement is None else self.judgement.stance


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The sources' statements together."""

    agreeing: int
    """Independent reports that agree with the claim."""
    contradicting: int
    mentioning: int
    official_confirms: bool
    """Whether an official site agrees."""
    official_is_cited: bool
    """Whether an agreeing report says that an authority confirmed or told it."""
    official_contradicts: bool
    fact_check_contradicts: bool
    official_denial_is_cited: bool
    """Whether a contradicting report says that an authority denies it."""
    tones: tuple[tuple[Tone, int], ...]
    """The tones of the pages with their counts, the most frequent first."""
    days: tuple[date, ...]
    """The known dates of pages that do not contradict, in order."""

    has_official: bool
    """Whether the pages include an official site, whatever it says."""
    has_fact_check: bool

    @property
    def independent(self) -> int:
        """The number of independent reports about the claim, whatever they say."""
        return self.agreeing + self.contradicting + self.mentioning


def sources(
    hits: Sequence[Hit],
    options: VerifyNewsOptions,
    now: datetime,
    *,
    articles: Collection[str] = (),
    judgements: Mapping[Hit, Judgement] | None = None,
) -> tuple[EvidenceSource, ...]:
    """Returns the pages about the claim, the most significant first: contradiction, then agreement; officials first.

    `judgements` are those of the pages that were read; None: none was. `articles` are addresses of pages of an
    encyclopaedia, whatever their host.
    """
    numbers = reports(hits)
    told = [
        EvidenceSource(
            hit=hit,
            kind="reference" if hit.url in articles else kind(hit.site, official_sites=options.official_sites),
            judgement=(judgements or {}).get(hit),
            report=number,
            day=parse_age(hit.age, now),
            is_preferred=lies_in(hit.site, options.preferred_sites),
        )
        for hit, number in zip(hits, numbers, strict=True)
    ]
    return tuple(
        sorted(told, key=lambda one: (_STANCES.index(one.stance), not one.is_preferred, _KINDS.index(one.kind)))
    )


def weigh(found: Sequence[EvidenceSource]) -> Evidence:
    """Sums up the sources by independent reports."""
    witnesses = [source for source in found if source.is_witness]
    stances = Counter(_stances_by_report(witnesses).values())
    tones: Counter[Tone] = Counter(source.judgement.tone for source in found if source.judgement is not None)
    return Evidence(
        agreeing=stances["agrees"],
        contradicting=stances["contradicts"],
        mentioning=stances["mentions"] + stances[None],
        official_confirms=_says(witnesses, "agrees", _AUTHORITIES),
        official_is_cited=_cites(witnesses, "agrees"),
        official_contradicts=_says(witnesses, "contradicts", _AUTHORITIES),
        fact_check_contradicts=_says(witnesses, "contradicts", _EXAMINERS - _AUTHORITIES),
        official_denial_is_cited=_cites(witnesses, "contradicts"),
        tones=tuple(tones.most_common()),
        has_official=any(source.kind == "official" for source in found),
        has_fact_check=any(source.kind == "fact_check" for source in found),
        days=tuple(sorted(s.day for s in found if s.day is not None and s.stance != "contradicts")),
    )


def confidence(evidence: Evidence, *, needed: int, is_incomplete: bool) -> float:
    """Returns how well the findings support the claim, 0 to 1, by the formula at the head of this module."""
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


def _stances_by_report(witnesses: Sequence[EvidenceSource]) -> dict[int, Stance | None]:
    """Returns the stance of each report: that of a contradicting page, else of an agreeing one, else of any."""
    stances: dict[int, Stance | None] = {}
    for source in sorted(witnesses, key=lambda witness: _STANCES.index(witness.stance)):
        stances.setdefault(source.report, source.stance)
    return stances


def _says(witnesses: Sequence[EvidenceSource], stance: Stance, kinds: frozenset[Kind]) -> bool:
    return any(source.stance == stance and source.kind in kinds for source in witnesses)


def _cites(witnesses: Sequence[EvidenceSource], stance: Stance) -> bool:
    judged = (source.judgement for source in witnesses if source.judgement is not None)
    return any(judgement.stance == stance and judgement.cites_official for judgement in judged)
