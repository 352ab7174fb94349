"""What pages say about a claim, counted by independent reports: who publishes them, when, and how sure that is. Pure.

The confidence says how well the findings support the claim. It is not the probability that the claim is true.

    support     = 0.7 x min(agreeing / needed, 1) + 0.3 if an official site says it
    opposition  = 0.7 x min(contradicting / needed, 1) + 0.3 if an official site or a fact-checker contradicts
    confidence  = support x (1 - opposition), at most 0.5 while data are incomplete; to two places

Reports are counted, not pages: those of one publisher, of one title, or with snippets that begin alike are one, which
contradicts if one of them does. A rewritten or translated text looks independent. Platforms and encyclopaedias are
shown but not counted. Words do not tell what a page says about a claim; a model does (`Judge`).
"""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import Field

from tools.base import CommaList, Options, ToolContext
from tools.search.base import Hit, lies_in
from tools.text import fold_name
from tools.web.addresses import Site

Stance = Literal["agrees", "contradicts", "mentions"]
"""What a report says about a claim: the same, the opposite, or neither."""

Tone = Literal["panic", "neutral", "optimistic"]

Kind = Literal["official", "fact_check", "site", "reference", "platform"]
"""An authority; a newsroom that checks claims; any other site; an encyclopaedia, which repeats what others found out; a
platform where everybody can write."""

BY_REPORTS = 0.7
BY_OFFICIALS = 0.3
MAX_INCOMPLETE = 0.5
"""The highest confidence while data are incomplete."""

ABOUT = 0.6
"""The minimum share of the claim's terms in a page about it."""
_MIN_TITLE_WORDS = 5
_MIN_TEXT_WORDS = 8  # that begin alike; fewer can do so by chance
_STEM_CHARS = 5

_STANCES: tuple[Stance, ...] = ("contradicts", "agrees", "mentions")
_KINDS: tuple[Kind, ...] = ("official", "fact_check", "site", "reference", "platform")
_WITNESSES: frozenset[Kind] = frozenset({"official", "fact_check", "site"})

_THOUSANDS = re.compile(r"(?<=[0-9])[.,\u00a0\u202f ](?=[0-9]{3}(?![0-9]))")
_TERM = re.compile(r"[0-9]|.{4}")

# After the last of these, a title names its site.
_SITE_IN_TITLE = re.compile(r"\s[|\u2013\u2014-]\s[^|\u2013\u2014]{1,40}$")

# Second-level labels under which names are registered in some countries, as in example.co.uk.
_SHARED = frozenset(
    str.split("ac asso co com edu go gob gouv gov govt gub gv info int ltd mil ne net nic nom or org plc sch web")
)
# Countries that reserve a label for the state. Elsewhere everybody can own such a name, such as gob.io.
_STATE_LABELS = {
    "gov": """ae al ar au az ba bd bh br by cl cn co cy cz dz eg ge gh gr hk hr hu ie il in iq ir it jo kw kz lb lk lt
        lv ma md mk mt my ng np ph pk pl pt qa ro rs ru sa sg si sk sy tn tr tt tw ua uk vn za zm zw""",
    "gob": "ar bo cl do ec es gt hn mx ni pa pe sv ve",
    "go": "cr id jp ke kr th tz ug",
    "gouv": "bj ci cd fr ht ml sn tg",
    "govt": "nz",
    "gub": "uy",
    "gv": "at",
}
_STATES = frozenset((label, country) for label, countries in _STATE_LABELS.items() for country in countries.split())
_HOSTS: Mapping[Kind, str] = {
    "fact_check": """
        snopes.com politifact.com factcheck.org fullfact.org leadstories.com checkyourfact.com science.feedback.org
        factcheck.afp.com factual.afp.com factuel.afp.com faktencheck.afp.com correctiv.org mimikama.org
        dpa-factchecking.com maldita.es newtral.es chequeado.com factchequeado.com africacheck.org boomlive.in
        altnews.in pesacheck.org euvsdisinfo.eu hoaxbuster.com
    """,
    "reference": "wikipedia.org wikimedia.org wiktionary.org wikidata.org britannica.com fandom.com",
    "platform": """
        x.com twitter.com facebook.com instagram.com threads.net threads.com tiktok.com youtube.com youtu.be
        reddit.com linkedin.com pinterest.com quora.com medium.com substack.com tumblr.com blogspot.com
        wordpress.com t.me telegram.org telegram.me vk.com bsky.app mastodon.social gab.com truthsocial.com
        rumble.com bitchute.com odysee.com 4chan.org weebly.com wixsite.com livejournal.com github.io discord.com
        twitch.tv
    """,
    "official": """
        europa.eu un.org imf.org worldbank.org icrc.org bund.de bundestag.de bundesregierung.de bundeskanzler.de
        bundespraesident.de bundesbank.de auswaertiges-amt.de bundesverfassungsgericht.de bka.de rki.de destatis.de
        dwd.de polizei.de polizei.nrw admin.ch parlament.ch snb.ch meteoschweiz.ch oenb.at elysee.fr senat.fr
        assemblee-nationale.fr service-public.fr conseil-constitutionnel.fr insee.fr meteofrance.fr banque-france.fr
        boe.es congreso.es senado.es policia.es guardiacivil.es bde.es casareal.es aemet.es police.uk parliament.uk
        nhs.uk royal.uk bankofengland.co.uk canada.ca gc.ca rijksoverheid.nl overheid.nl politie.nl knmi.nl
        regeringen.se regjeringen.no gov int mil
    """,
}
"""Hosts and endings that are not ordinary sites; the tables are short and our own."""

Sites = Annotated[tuple[Site, ...], CommaList, Field(max_length=30)]


class VerifyNewsOptions(Options):
    """The settings `TOOLS__VERIFY_NEWS__<FIELD>`. Searches use the services of `TOOLS__WEB_SEARCH__`."""

    known_to = ("those who see web_search: searches about the claim",)

    max_rounds: int = Field(default=3, ge=1, le=3)
    """The largest number of search rounds for one claim."""
    max_searches: int = Field(default=5, ge=1, le=9)
    """The largest number of searches for one claim, in all rounds; each may cost what the search service charges."""
    preferred_sites: Sites = ()
    """Sites that are searched separately if none of their pages was found, and listed first: a comma-separated list."""
    official_sites: Sites = ()
    """Further authorities whose statements count as official, besides those of known states: a comma-separated list."""
    timeout_seconds: float = Field(default=5, gt=0, le=300)
    """The time limit for all searches of one claim; after that it answers with what it has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A model's reading of what a report says about a claim."""

    stance: Stance
    tone: Tone


class Judge(Protocol):
    """Reads reports and tells what they say about a claim, never whether it is true."""

    async def recall(self, claim: str, context: ToolContext) -> tuple[Hit, ...]:
        """Returns pages of feeds and of earlier checks in the conversation, which may be about the claim."""
        ...

    async def judge(self, claim: str, reports: Sequence[Hit], context: ToolContext) -> tuple[Judgement, ...]:
        """Returns one judgement per report, in order, and records the cost; raises `Disabled` or `Unavailable`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceSource:
    """A page about the claim."""

    hit: Hit
    kind: Kind
    stance: Stance
    """What it says about the claim; `mentions` also if it was not read."""
    tone: Tone | None
    """None: it was not read."""
    report: int
    """The number of its report; sources with the same number are not independent of each other."""
    is_preferred: bool


class Evidence:
    """The sources' statements together. Platforms and encyclopaedias are no witnesses."""

    def __init__(self, found: Sequence[EvidenceSource]) -> None:
        """`found` as `sources` returns it."""
        self._witnesses = [source for source in found if source.kind in _WITNESSES]
        stances: dict[int, Stance] = {}
        for source in sorted(self._witnesses, key=lambda one: _STANCES.index(one.stance)):
            stances.setdefault(source.report, source.stance)
        self.reports = Counter(stances.values())
        """Independent reports about the claim by what they say."""
        self.has_official = any(source.kind == "official" for source in found)

    def says(self, stance: Stance, *kinds: Kind) -> bool:
        """Whether a site of one of these kinds says this."""
        return any(source.stance == stance and source.kind in kinds for source in self._witnesses)

    def confidence(self, *, needed: int, is_incomplete: bool) -> float:
        """Returns how well the findings support the claim, 0 to 1, by the formula at the head of this module."""
        support = self._weight("agrees", needed, "official")
        carried = support * (1 - self._weight("contradicts", needed, "official", "fact_check"))
        return round(min(carried, MAX_INCOMPLETE) if is_incomplete else carried, 2)

    def _weight(self, stance: Stance, needed: int, *authorities: Kind) -> float:
        official = BY_OFFICIALS if self.says(stance, *authorities) else 0
        return BY_REPORTS * min(self.reports[stance] / needed, 1) + official


def sources(
    hits: Sequence[Hit], options: VerifyNewsOptions, judgements: Mapping[Hit, Judgement]
) -> tuple[EvidenceSource, ...]:
    """Returns the pages about the claim, the most significant first: contradiction, then agreement; officials first."""
    found = [
        EvidenceSource(
            hit=hit,
            kind=kind(hit.site, official_sites=options.official_sites),
            stance=judgements[hit].stance if hit in judgements else "mentions",
            tone=judgements[hit].tone if hit in judgements else None,
            report=report,
            is_preferred=lies_in(hit.site, options.preferred_sites),
        )
        for hit, report in zip(hits, reports(hits), strict=True)
    ]
    return tuple(
        sorted(found, key=lambda one: (_STANCES.index(one.stance), not one.is_preferred, _KINDS.index(one.kind)))
    )


def terms(text: str) -> frozenset[str]:
    """Returns what tells what a text is about: numbers, and the beginnings of long words, as their endings differ."""
    return frozenset(word[:_STEM_CHARS] for word in _words(_THOUSANDS.sub("", text)) if _TERM.match(word))


def is_about(wordings: Sequence[str], title: str, snippet: str) -> bool:
    """Whether a page is about the claim in one of its wordings, whatever it says about it."""
    said = terms(f"{title} {snippet}")
    return any(len(every & said) >= ABOUT * len(every) > 0 for every in map(terms, wordings))


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", fold_name(text)))


def reports(hits: Sequence[Hit]) -> tuple[int, ...]:
    """Returns the number of each page's report, counted from 1 in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    found: list[int] = []
    for hit in hits:
        marks: list[Hashable] = [publisher(hit.site)]  # which pages share only if they tell the same report
        title, text = _words(_SITE_IN_TITLE.sub("", hit.title)), _words(hit.snippet)
        marks += [("title", title)] if len(title) >= _MIN_TITLE_WORDS else []
        marks += [("text", text[:_MIN_TEXT_WORDS])] if len(text) >= _MIN_TEXT_WORDS else []
        found.append(next((numbers[mark] for mark in marks if mark in numbers), max(found, default=0) + 1))
        numbers = dict.fromkeys(marks, found[-1]) | numbers
    return tuple(found)


def publisher(host: str) -> str:
    """Returns the registered name without its ending: `bbc.com` and `news.bbc.co.uk` are both `bbc`."""
    labels = host.lower().rstrip(".").split(".")
    is_shared = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SHARED  # noqa: PLR2004 - a.b.cc
    return labels[-3 if is_shared else -2] if len(labels) > 1 else host


def kind(host: str, *, official_sites: Sequence[str] = ()) -> Kind:
    """Returns the kind of a host by its name; `official_sites` are authorities besides those in the table."""
    host = host.lower().rstrip(".")
    if lies_in(host, official_sites) or tuple(host.split(".")[-2:]) in _STATES:
        return "official"
    for named, hosts in _HOSTS.items():
        if lies_in(host, hosts.split()):
            return named
    return "site"
