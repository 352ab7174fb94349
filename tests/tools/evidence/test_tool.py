"""Checking a claim: rounds of searches over doubles of the services, to evidence and never to a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from aiohttp import web

from tests.servers.base import Seen, answer_json, hang
from tests.servers.fixtures import fixture_of
from tests.servers.searches import Tavily
from tests.servers.wikipedia import Wikipedia
from tests.tools.conftest import Asked
from tests.waiting import DEADLINE_SECONDS, with_enough_time
from tools import Disabled, Hit, Http, Judgement, Result, Stance, Tone, ToolContext, ToolError
from tools.evidence.sources import VerifyNewsOptions
from tools.evidence.tool import VerifyNews
from tools.search.options import SearchOptions
from tools.search.services import SearchService

PRICE = Decimal("0.008")  # of a search
CLAIM = "A bridge in Larkhaven collapsed and 43 people died"
STORY = "The middle of the bridge gave way in the night while forty cars were crossing the river, witnesses say"
AGO = "2 days ago"


def page(title: str, url: str, content: str, published: str | None = None) -> dict[str, Any]:
    return {"title": title, "url": url, "content": content, "published_date": published, "score": 0.5}


DAILY = page("Larkhaven bridge collapse: 43 people dead", "https://daily.example/1", "In the words of the daily.", AGO)
EVENING = page("43 people died as bridge in Larkhaven collapsed", "https://evening.example/2", "The evening's words.")
REPRINT = page("Larkhaven: 43 people dead in bridge collapse", "https://reprint.example/3", STORY, "2026-11-18")
ORIGINAL = page("Bridge in Larkhaven collapses, 43 people dead", "https://www.original.example/4", STORY)
OFFICIAL = page("Statement on Larkhaven", "https://interior.gov.uk/5", "The bridge collapsed and 43 people died.")
DENIAL = page("Larkhaven bridge collapse is a hoax", "https://snopes.com/6", "It stands, and no 43 people died.")
OTHER = page("Lamps of the harbour", "https://lamps.example/7", "The lamps are lit.")


@dataclass
class Press(Tavily):
    """Finds the pages of the first entry whose words stand in the query or its sites; `news` in the news only."""

    findings: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    news: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        body = seen.json()
        asked = " ".join((body["query"], *body.get("include_domains", ())))
        found = next((pages for words, pages in self.findings.items() if words in asked), [])
        self.results = self.news if body["topic"] == "news" else found
        return super().respond(seen, request)

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [seen.json() for seen in self.requests]


press = fixture_of(Press)
wikipedia = fixture_of(Wikipedia)


@dataclass
class Reading:
    """Stands behind the port `Judge`: reads by a word that stands in the title, and remembers what it was asked."""

    fails: ToolError | None = None
    recalled: tuple[Hit, ...] = ()
    asked: list[tuple[str, tuple[Hit, ...]]] = field(default_factory=list[tuple[str, tuple[Hit, ...]]])

    async def recall(self, claim: str, context: ToolContext) -> tuple[Hit, ...]:
        return self.recalled

    async def judge(self, claim: str, reports: Sequence[Hit], context: ToolContext) -> tuple[Judgement, ...]:
        self.asked.append((claim, tuple(reports)))
        if self.fails is not None:
            raise self.fails
        return tuple(map(self._judgement, reports))

    def _judgement(self, report: Hit) -> Judgement:
        stance: Stance = "contradicts" if "hoax" in report.title else "agrees"
        tone: Tone = "panic" if "!" in report.title else "neutral"
        return Judgement(stance=stance, tone=tone)


class Newsroom:
    def __init__(self, press: Press, wikipedia: Wikipedia, http: Http, context: ToolContext) -> None:
        self._urls = {"tavily_base_url": press.url, "wikipedia_base_url": wikipedia.url}
        self._http, self.context = http, context
        self.search = self.opened()
        self.reading = Reading()

    def opened(self, key: str | None = Tavily.KEY) -> SearchService:
        given: dict[str, Any] = {"tavily_api_key": key, "timeout_seconds": DEADLINE_SECONDS, **self._urls}
        return SearchService(SearchOptions(**given), self._http)

    async def check(self, claim: str = CLAIM, **options: Any) -> Result:
        tool = VerifyNews(VerifyNewsOptions(**options), self.search, self.reading)
        return await Asked(tool, self.context).result(claim)


@pytest.fixture
def newsroom(press: Press, wikipedia: Wikipedia, http: Http, context: ToolContext) -> Newsroom:
    return Newsroom(press, wikipedia, http, context)


async def test_a_claim_that_many_tell(press: Press, newsroom: Newsroom) -> None:
    """Three independent reports, of which one stands on two sites; an official word is found when it is looked for."""
    press.news = [DAILY, OTHER]
    press.findings = {"official statement": [OFFICIAL], "fact check": [], "": [EVENING, REPRINT, ORIGINAL, DAILY]}
    result = await newsroom.check()
    data: Any = result.data
    assert data["evidence"] == {
        "independent_agreeing": 4,
        "independent_contradicting": 0,
        "independent_mentioning": 0,
        "independent_needed": 3,
        "several_agree": True,
        "official_confirms": True,
        "official_contradicts": False,
        "fact_check_contradicts": False,
        "tone": {"neutral": 5},
        "confidence": 1.0,
    }
    assert (data["data_incomplete"], data["rounds"], result.cost_usd) == (False, 2, 4 * PRICE)
    assert "incomplete_because" not in data
    found = [(row["site"].partition(".")[0], row["report"]) for row in data["results"]]
    assert found == [("interior", 4), ("daily", 1), ("evening", 2), ("reprint", 3), ("original", 3)]
    row, known = data["results"][1], {"site": "daily.example", "kind": "site", "report": 1}
    known |= {"title": DAILY["title"], "url": DAILY["url"], "age": AGO, "snippet": DAILY["content"]}
    assert row == {**known, "stance": "agrees", "tone": "neutral"}


async def test_a_claim_that_is_debunked(press: Press, newsroom: Newsroom) -> None:
    """Denials are looked for although several agree, and come first; a check without a model has its price, too."""
    press.findings = {"official statement": [], "fact check": [DENIAL], "": [DAILY, EVENING, ORIGINAL]}
    data: Any = (await newsroom.check()).data
    assert data["evidence"]["several_agree"]
    assert (data["evidence"]["independent_contradicting"], data["evidence"]["fact_check_contradicts"]) == (1, True)
    assert data["evidence"]["confidence"] == 0.33
    first = data["results"][0]
    assert (first["site"], first["stance"]) == ("snopes.com", "contradicts")
    assert not data["data_incomplete"]
    newsroom.reading.fails, newsroom.search = Disabled("no model is set up"), newsroom.opened()
    with pytest.raises(Disabled, match="no model is set up") as failed:
        await newsroom.check(max_rounds=1)
    assert failed.value.cost_usd == 2 * PRICE


async def test_a_model_reads_all_pages_once_and_no_more_than_its_share(press: Press, newsroom: Newsroom) -> None:
    """After the last round, the claim as it was given; nor is more searched and paid than the operator wants."""
    pages = [page(f"Larkhaven bridge collapse: 43 people dead {n}{n}", f"https://p{n}.example/", "") for n in range(30)]
    press.findings, press.news = {"fact check": pages[20:], "": pages[:10]}, pages[10:20]
    data: Any = (await newsroom.check()).data
    [(claim, read)] = newsroom.reading.asked
    assert (claim, len(read)) == (CLAIM, 12)
    assert (data["evidence"]["independent_agreeing"], data["evidence"]["independent_mentioning"]) == (12, 18)
    press.findings, press.news = {}, []
    cases: list[tuple[dict[str, Any], int, int]] = [({"max_rounds": 1}, 2, 1), ({"max_searches": 3}, 3, 2)]
    for number, (options, searches, rounds) in enumerate(cases):
        press.requests.clear()
        result = await newsroom.check(f"{CLAIM} {number}", **options)
        assert (len(press.requests), result.data["rounds"]) == (searches, rounds)
        assert result.cost_usd == searches * PRICE


async def test_the_operator_prefers_sites(press: Press, newsroom: Newsroom) -> None:
    """They are searched by themselves and come first; other sites count as authorities because the operator says so."""
    press.findings = {"original.example": [ORIGINAL], "": [DAILY, EVENING]}
    preferred: Any = "https://www.Original.example/, daily2.example"
    data: Any = (await newsroom.check(preferred_sites=preferred, official_sites="daily.example")).data
    assert [row["site"] for row in data["results"]][:2] == ["original.example", "daily.example"]
    assert (data["results"][0]["preferred"], "preferred" in data["results"][1]) == (True, False)
    assert data["evidence"]["official_confirms"]
    [domains] = [body["include_domains"] for body in press.asked if "include_domains" in body]
    assert domains == ["original.example", "daily2.example"]


async def test_the_encyclopaedia_alone_is_incomplete(newsroom: Newsroom, press: Press, wikipedia: Wikipedia) -> None:
    """It has no news, and an article is no witness; where every search fails that is the answer, without a key."""
    newsroom.search = newsroom.opened(None)
    result = await newsroom.check("The Aldis lamp is a signal lamp")
    assert result.data["incomplete_because"] == ["only_the_encyclopaedia_answered", "too_few_sources"]
    assert "failed" not in result.data
    assert result.data["evidence"]["independent_agreeing"] == 0
    assert {row["kind"] for row in result.data["results"]} <= {"reference"}
    assert (press.requests, result.cost_usd) == ([], 0)
    assert len(wikipedia.requests) == len(result.data["searched"])
    newsroom.search = newsroom.opened("wrong-key")
    wikipedia.faults += [answer_json({"error": {"code": "internal"}})] * 20
    result = await newsroom.check()
    data: Any = result.data
    assert (data["results"], result.cost_usd) == ([], 0)
    assert data["incomplete_because"] == ["searches_failed", "too_few_sources"]
    assert any("TOOLS__WEB_SEARCH__TAVILY_API_KEY" in failure for failure in data["failed"])
    assert "wrong-key" not in str(data)


async def test_when_time_is_up_it_answers_with_what_it_has(newsroom: Newsroom, press: Press) -> None:
    """The first round is known from a moment ago; the second never ends."""
    press.findings = {"": [DAILY, EVENING, ORIGINAL]}
    await newsroom.check(max_rounds=1)

    async def checked(seconds: float) -> Any:
        press.faults[:] = [hang] * 9
        return (await newsroom.check(timeout_seconds=seconds)).data

    data = await with_enough_time(checked, is_enough=lambda data: data["results"])
    assert (data["data_incomplete"], data["incomplete_because"]) == (True, ["time_ran_out"])
    assert (len(data["results"]), data["evidence"]["confidence"]) == (3, 0.5)


async def test_feeds_and_earlier_checks_are_sources(newsroom: Newsroom, press: Press, context: ToolContext) -> None:
    """Of such an event only, and read like all others; each search says when, how long, why and if it found any."""
    press.findings, press.news = {"fact check": [DENIAL], "": [DAILY]}, [OTHER]
    fed, old, elsewhere = (
        Hit(title=one["title"], url=one["url"], site=one["url"][8:], snippet="") for one in (EVENING, ORIGINAL, OTHER)
    )
    newsroom.reading.recalled = (fed, old, elsewhere)
    data: Any = (await newsroom.check(max_searches=3)).data
    assert {row["url"] for row in data["results"]} == {one["url"] for one in (EVENING, ORIGINAL, DAILY, DENIAL)}
    assert (data["evidence"]["independent_agreeing"], data["from_feeds_and_earlier_checks"]) == (3, 2)
    assert data["triggered"]
    assert sorted((one["round"], one["for"], one["in"], one["triggered"]) for one in data["searched"]) == [
        (1, "reports", "news", False),
        (1, "reports", "web", True),
        (2, "denials", "web", True),
    ]
    assert all(
        one["at"] >= context.now.isoformat(timespec="seconds") and one["seconds"] >= 0 for one in data["searched"]
    )
