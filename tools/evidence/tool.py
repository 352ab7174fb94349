"""The tool `verify_news`: gathers evidence for and against a claim, and never gives a verdict.

    claim --> recall --> plan --> parallel searches --> group by report --something is missing--> plan, up to 3 rounds
                                                        '--nothing more, or time is up--> judge --> evidence

Before any search, the feeds and earlier checks of the conversation give what they hold about such a claim: sources like
all others. The first round searches the claim's own words in the news and on the web, the next what is missing:
denials, an official statement, the operator's preferred sites, and other wordings. `tools.evidence.sources` says how
pages are counted. A model judges once, at the end, what the reports say. A failed search makes the data incomplete, no
more. With usual delays a claim takes 6.6 s and 0.032 USD (`make bench`).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import RateLimited, ToolError
from tools.evidence.sources import (
    Evidence,
    EvidenceSource,
    Judge,
    Judgement,
    VerifyNewsOptions,
    is_about,
    sources,
    terms,
)
from tools.search.base import Hit, Language, Query, SearchResult, trim_query
from tools.search.services import WIKIPEDIA, SearchService, clean_query, row
from tools.text import shorten
from tools.web.addresses import canonical_url

NOTE = (
    "This is evidence, not a verdict. A model has read only titles and snippets and may be wrong; a rewritten copy"
    " counts as a separate report. Before you rely on a source, fetch it; say what agrees, what contradicts and what is"
    " missing."
)
INDEPENDENT_SOURCES = 3
"""How many independent reports have to agree for full weight."""
SEARCHES_PER_ROUND = 3
HITS_PER_SEARCH = 10

_MAX_SOURCES = 10  # pages in the result; all pages found are counted
_MAX_CLAIM_CHARS = 400
_MAX_QUERY_CHARS = 300
_MAX_KEY_WORDS = 10
_MAX_SITES = 10  # in one query
_MAX_SNIPPET_CHARS = 300
_MAX_RESULT_CHARS = 14_000  # ten sources of usual length in full, as a citation needs the whole address
_MAX_READ = 12  # pages: what a model writes about each takes it a quarter of a second
_SECONDS_TO_READ = 22.0
_SECONDS_TO_ANSWER = 2.0  # between the end of the searches and the end of the call
_DENIALS = {"en": "fact check false", "de": "Faktencheck falsch", "fr": "fact-check faux", "es": "verificación bulo"}
_OFFICIAL = {
    "en": "official statement confirmed",
    "de": "offizielle Mitteilung bestätigt",
    "fr": "communiqué officiel confirmé",
    "es": "comunicado oficial confirmado",
}

Wording = Annotated[str, StringConstraints(min_length=1, max_length=_MAX_CLAIM_CHARS)]
Aim = Literal["reports", "denials", "official word", "preferred sites", "other words"]
"""The purpose of a search."""


class VerifyNewsArguments(Arguments):
    """The claim to check."""

    claim: Wording = Field(description="One short plain sentence with names, places and numbers. Not a question.")
    other_words: Annotated[tuple[Wording, ...], Field(max_length=2)] = Field(
        default=(), description="The same claim in other words, or in the language of the place (en, de, fr, es)."
    )
    language: Language | None = Field(default=None, description="Of the pages, two letters; default: any.")


def plan(
    wordings: Sequence[str],
    language: str | None,
    options: VerifyNewsOptions,
    found: Sequence[EvidenceSource],
    tried: Mapping[Query, Aim],
) -> Mapping[Query, Aim]:
    """Returns the searches of the next round; empty if nothing is missing, or nothing is left to try."""

    def asking(text: str, *, is_news: bool = False, sites: tuple[str, ...] = ()) -> Query:
        text = trim_query(text, max_chars=_MAX_QUERY_CHARS)
        return Query(text=text, count=HITS_PER_SEARCH, is_news=is_news, sites=sites[:_MAX_SITES], language=language)

    if not tried:
        return {asking(wordings[0], is_news=True): "reports", asking(wordings[0]): "reports"}
    key = " ".join([word for word in wordings[0].split() if terms(word)][:_MAX_KEY_WORDS])
    wanted: dict[Query, Aim] = {asking(f"{key} {_DENIALS.get(language or '', _DENIALS['en'])}"): "denials"}
    evidence = Evidence(found)
    if not evidence.has_official:
        wanted[asking(f"{key} {_OFFICIAL.get(language or '', _OFFICIAL['en'])}")] = "official word"
    if options.preferred_sites and not any(source.is_preferred for source in found):
        wanted[asking(key, sites=options.preferred_sites)] = "preferred sites"
    if evidence.reports.total() < INDEPENDENT_SOURCES:
        wanted |= {asking(other): "other words" for other in wordings[1:]}
    new = [query for query in wanted if query not in tried]
    return {query: wanted[query] for query in new[:SEARCHES_PER_ROUND]}


class VerifyNews:
    """Gathers evidence for and against a claim by several searches and one call of the model."""

    def __init__(self, options: VerifyNewsOptions, search: SearchService, judge: Judge) -> None:
        self._options = options
        self._search = search
        self._judge = judge
        self.spec = ToolSpec(
            name="verify_news",
            seldom="evidence on whether a claim in the news is true",
            description=(
                "Gathers evidence on a claim about the world by several rounds of web searches: how many independent"
                " reports agree, which contradict, whether an official source confirms or denies it, tone, a"
                " confidence from 0 to 1 that says how well the evidence supports the claim (not how true it is), and"
                " `data_incomplete` if the search fell short. Use it when somebody asks whether something is true, real"
                " or happened. It gives no verdict: explain the evidence with its dates, name what contradicts and what"
                " is missing, and fetch important pages. Sources of one `report` count once."
            ),
            arguments=VerifyNewsArguments,
            intent=lambda given: Intent("verify", {"claim": given.claim}),
            label="pages",
            timeout_seconds=options.timeout_seconds + _SECONDS_TO_READ + _SECONDS_TO_ANSWER,
            cost_usd=options.max_searches * search.usual_usd,
            max_result_chars=_MAX_RESULT_CHARS,
        )

    async def run(self, arguments: VerifyNewsArguments, context: ToolContext) -> Result:
        """Returns the evidence, with its sources as `results`. Failed searches make it incomplete, not an error."""
        check = _Check(arguments, self._options, self._search, context.now)
        check.recalled = await self._judge.recall(check.wordings[0], context)
        try:
            async with asyncio.timeout(self._options.timeout_seconds):
                await check.search()
        except TimeoutError:
            check.lacking.append("time_ran_out")
        hits = _to_read(check.sources())
        cost_usd = sum((found.cost_usd for found in check.found), Decimal(0))
        try:
            judged = await self._judge.judge(check.wordings[0], hits, context) if hits else ()
        except ToolError as error:
            error.cost_usd = cost_usd
            raise
        check.judgements = dict(zip(hits, judged, strict=True))
        return Result(data=check.answer(), cost_usd=cost_usd)


def evidence_tools(options: VerifyNewsOptions, search: SearchService, judge: Judge) -> tuple[VerifyNews, ...]:
    """Returns the tool; none if no search service is available."""
    return (VerifyNews(options, search, judge),) if search.is_open else ()


class _Check:
    def __init__(
        self, arguments: VerifyNewsArguments, options: VerifyNewsOptions, search: SearchService, now: datetime
    ) -> None:
        self.wordings = tuple(map(clean_query, (arguments.claim, *arguments.other_words)))
        self.lacking: list[str] = []
        self.judgements: Mapping[Hit, Judgement] = {}
        self._language = arguments.language
        self._options, self._search, self._now = options, search, now
        self.recalled: tuple[Hit, ...] = ()
        """What is known of similar events without a search."""
        self._began = time.monotonic()
        self._rounds = 0
        self._searched: list[Mapping[str, Any]] = []
        self._tried: dict[Query, Aim] = {}
        self._answers: dict[Query, SearchResult | ToolError] = {}

    async def search(self) -> None:
        """Searches in rounds until nothing is missing, or nothing is left to try."""
        for _ in range(self._options.max_rounds):
            planned = plan(self.wordings, self._language, self._options, self.sources(), self._tried)
            able = [query for query in planned if self._search.takes(query)]
            queries = able[: self._options.max_searches - len(self._tried)]
            if not queries:
                return
            self._rounds += 1
            self._tried |= {query: planned[query] for query in queries}
            async with asyncio.TaskGroup() as searches:
                for query in queries:
                    searches.create_task(self._take(query, self._rounds))

    async def _take(self, query: Query, number: int) -> None:
        began = time.monotonic() - self._began
        try:
            self._answers[query] = await self._search.search(query, self._now)
        except ToolError as error:
            self._answers[query] = error
        finally:
            answer = self._answers.get(query)
            row = {
                "round": number,
                "at": (self._now + timedelta(seconds=began)).isoformat(timespec="seconds"),
                "seconds": round(time.monotonic() - self._began - began, 1),
                "for": self._tried[query],
                "in": "news" if query.is_news else "web",
                "words": query.text,
                # Whether it found a page about the claim.
                "triggered": isinstance(answer, SearchResult) and any(map(self._is_about, answer.hits)),
            }
            self._searched.append(row)

    @property
    def found(self) -> list[SearchResult]:
        answers = map(self._answers.get, self._tried)
        return [answer for answer in answers if isinstance(answer, SearchResult)]

    @property
    def _failures(self) -> Iterator[ToolError]:
        """Yields why no service answered, or the encyclopaedia in place of another."""
        for answer in map(self._answers.get, self._tried):
            if isinstance(answer, ToolError):
                yield answer
            elif answer is not None and answer.source == WIKIPEDIA:
                yield from answer.failures

    def sources(self) -> tuple[EvidenceSource, ...]:
        """Returns the pages about the claim that were found so far, each address once."""
        by_address: dict[str, Hit] = {}
        for hit in (*self.recalled, *(hit for found in self.found for hit in found.hits)):
            if self._is_about(hit):
                by_address.setdefault(canonical_url(hit.url) or hit.url, hit)
        return sources(tuple(by_address.values()), self._options, self.judgements)

    def _is_about(self, hit: Hit) -> bool:
        return is_about(self.wordings, hit.title, hit.snippet)

    def answer(self) -> Mapping[str, Any]:
        found = self.sources()
        evidence = Evidence(found)
        was_limited = {isinstance(failure, RateLimited) for failure in self._failures}
        reasons = {
            "quota_used_up": True in was_limited,
            "searches_failed": False in was_limited,
            "only_the_encyclopaedia_answered": {found.source for found in self.found} == {WIKIPEDIA},
            "too_few_sources": evidence.reports.total() < INDEPENDENT_SOURCES,
        }
        self.lacking += [reason for reason, is_so in reasons.items() if is_so]
        more: dict[str, Any] = {
            "incomplete_because": self.lacking,
            "failed": list(dict.fromkeys(map(str, self._failures))),
            "more_pages": len(found[_MAX_SOURCES:]),
            "from_feeds_and_earlier_checks": sum(map(self._is_about, self.recalled)),
        }
        return {
            "claim": self.wordings[0],
            "asked_at": self._now.isoformat(timespec="seconds"),
            "triggered": evidence.reports.total() > evidence.reports["mentions"],
            "evidence": {
                "independent_agreeing": evidence.reports["agrees"],
                "independent_contradicting": evidence.reports["contradicts"],
                "independent_mentioning": evidence.reports["mentions"],
                "independent_needed": INDEPENDENT_SOURCES,
                "several_agree": evidence.reports["agrees"] >= INDEPENDENT_SOURCES,
                "official_confirms": evidence.says("agrees", "official"),
                "official_contradicts": evidence.says("contradicts", "official"),
                "fact_check_contradicts": evidence.says("contradicts", "fact_check"),
                "tone": Counter(source.tone for source in found if source.tone is not None),
                "confidence": evidence.confidence(needed=INDEPENDENT_SOURCES, is_incomplete=bool(self.lacking)),
            },
            "data_incomplete": bool(self.lacking),
            **{name: item for name, item in more.items() if item},
            "rounds": self._rounds,
            "searched": self._searched,
            "note": NOTE,
            "results": list(map(_row, found[:_MAX_SOURCES])),
        }


def _to_read(found: Sequence[EvidenceSource]) -> list[Hit]:
    """Returns the pages for the model: the first of each report, then the others."""
    firsts = {source.report: source.hit for source in reversed(found)}
    ordered = [source.hit for source in found]
    return sorted(ordered, key=lambda hit: hit not in firsts.values())[:_MAX_READ]


def _row(source: EvidenceSource) -> Mapping[str, Any]:
    more = {"tone": source.tone, "preferred": source.is_preferred}
    found = row(replace(source.hit, snippet=shorten(source.hit.snippet, _MAX_SNIPPET_CHARS)))
    counted = {"kind": source.kind, "report": source.report, "stance": source.stance}
    return {**found, **counted, **{name: value for name, value in more.items() if value}}
