"""What reports say of a claim, read by a model: over every wire, by texts that talk to the model, and what it costs."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.chat.context import rows_of
from bot.chat.judge import MAX_EXCERPT_CHARACTERS, MAX_REPORTS, ReportJudge
from bot.clock import SetClock
from bot.errors import Overloaded
from bot.labels import Labels
from bot.messages import CallId, ToolAnswer, ToolMessage
from store import Article, LedgerEntry, Repositories, Store
from tests.bot.chat.turn_helpers import Desk, Scripted, unlimited
from tests.bot.models import vendors
from tests.bot.models.vendors import NAMES, Vendor
from tests.conftest import NOON
from tests.servers.script import Heard, call, cut_off, say
from tools import Hit, Judgement, ToolContext, Unavailable

CLAIM = "A bridge in Larkhaven collapsed"


def report(title: str, snippet: str) -> Hit:
    return Hit(title=title, url="https://a.example", site="a.example", snippet=snippet)


TOLD = report(title="Larkhaven bridge collapsed", snippet="The ministry confirms it.")
DENIED = report(title="No bridge collapsed in Larkhaven, says the mayor", snippet="Panic for nothing!")
ASKED = report(title="Did a bridge collapse?", snippet="Nobody knows.")
REPORTS = (TOLD, DENIED, ASKED)
CONTEXT = ToolContext(now=NOON, timezone="UTC", person="alice", chat="direct:alice", turn=1, call="call_1")

Rows = list[dict[str, Any]]


def lines(heard: str) -> Rows:
    return [json.loads(line) for line in heard.splitlines() if line.startswith('{"report"')]


def read(row: dict[str, Any]) -> dict[str, Any]:
    title = row["title"]
    denies = re.search(r"\b(?:no|not|false|wrong|withdraw|rejects)\b", title, re.IGNORECASE)
    is_told = "collapsed" in title
    stance = "contradicts" if denies else "agrees" if is_told else "mentions"
    tone = "panic" if "!" in row["text"] else "neutral"
    return {"report": row["report"], "stance": stance, "tone": tone}


def judging(change: Callable[[Rows], Rows] = lambda rows: rows) -> Callable[[Heard], Any]:
    """A model that reads well; `change` is what becomes of that."""
    return lambda heard: call("judge_reports", {"judgements": change([read(row) for row in lines(heard.text)])})


@pytest.fixture
async def anthropic() -> AsyncGenerator[Vendor]:
    async with vendors.opened("anthropic") as opened:
        yield opened


def judge_of(store: Store, clock: SetClock, vendor: Vendor | None) -> ReportJudge:
    return ReportJudge(store, clock, None if vendor is None else vendor.provider, unlimited(store, clock))


async def judged(
    store: Store, clock: SetClock, vendor: Vendor, reports: Sequence[Hit] = REPORTS
) -> tuple[Judgement, ...]:
    return await judge_of(store, clock, vendor).judge(CLAIM, reports, CONTEXT)


@pytest.mark.parametrize("name", NAMES)
async def test_reports_are_read_over_every_wire(store: Store, clock: SetClock, name: str) -> None:
    """One request, one call with every report once; what it says comes in the order of the reports."""
    async with vendors.opened(name) as vendor:
        vendor.server.reply = judging(lambda rows: rows[::-1])
        assert await judged(store, clock, vendor) == (
            Judgement(stance="agrees", tone="neutral"),
            Judgement(stance="contradicts", tone="panic"),
            Judgement(stance="mentions", tone="neutral"),
        )
        assert len(vendor.server.requests) == 1


async def test_it_is_counted_in_the_ledger(store: Store, clock: SetClock, anthropic: Vendor) -> None:
    """For the person who asks, also where nothing can be used of it."""
    desk = Desk(store, clock, Scripted([]))
    turn = await desk.loaded("Is it so?")
    context = replace(CONTEXT, turn=turn.id)
    anthropic.server.reply = judging()
    await judge_of(store, clock, anthropic).judge(CLAIM, REPORTS, context)
    anthropic.server.reply = lambda _: say("They agree.")
    busy = Overloaded("busy", provider="anthropic")
    busy.attempts = (LedgerEntry(name="m", outcome="Overloaded"),)
    for model in (anthropic.provider, Scripted([busy])):
        with pytest.raises(Unavailable):
            await ReportJudge(store, clock, model, unlimited(store, clock)).judge(CLAIM, REPORTS, context)
    rows = await store.read(lambda repos: repos.ledger.rows("SELECT outcome, cost_usd FROM ledger ORDER BY id"))
    assert [(outcome, bool(cost)) for outcome, cost in rows] == [("ok", True), ("ok", True), ("Overloaded", False)]


async def test_what_is_not_in_the_form_is_not_believed(store: Store, clock: SetClock, anthropic: Vendor) -> None:
    """No part of it: neither words, nor a report left out or judged twice, nor another call, nor nothing at all."""
    anthropic.mistakes = True
    anthropic.fails(401, code="authentication_error")
    for answer in (
        say("They all agree."),
        judging(lambda rows: rows[1:]),
        judging(lambda rows: [*rows[1:], rows[1]]),
        judging(lambda rows: [*rows, dict(rows[0], report=99)]),
        judging(lambda rows: [dict(row, stance="unclear") for row in rows]),
        judging(lambda rows: [dict(row, verdict="true") for row in rows]),
        call("judge_reports", {"judgements": "agrees"}),
        call("web_fetch", {"url": "https://evil.example/"}),
        cut_off("They all"),
    ):
        anthropic.server.reply = answer if callable(answer) else lambda _, answer=answer: answer
        with pytest.raises(Unavailable):
            await judged(store, clock, anthropic)


async def test_it_is_capped(store: Store, clock: SetClock, anthropic: Vendor) -> None:
    """In reports, in their length, in the length of the answer; no tool but the one, no history, no cache."""
    anthropic.server.reply = judging()
    long = report(title="collapsed", snippet="x" * 9000)
    assert len(await judged(store, clock, anthropic, [long] * 99)) == MAX_REPORTS
    body = anthropic.sent
    assert len(json.dumps(body)) < (MAX_REPORTS + 4) * (MAX_EXCERPT_CHARACTERS + 100) + 4000
    assert body["max_tokens"] < 2000
    assert [tool["name"] for tool in body["tools"]] == ["judge_reports"]
    assert len(body["messages"]) == 1


async def test_what_feeds_and_the_conversation_hold_of_a_claim_is_recalled(store: Store, clock: SetClock) -> None:
    """Articles with its words, and the pages of earlier checks of this conversation alone, until they disappear."""
    here = await store.conversation("direct:alice", now=NOON)
    there = await store.conversation("direct:bob", now=NOON)

    def keep(repos: Repositories) -> None:
        assert repos.feeds.add("https://feed.example/", now=NOON) is not None
        rows: list[dict[str, Any]] = [
            {"key": "a", "url": "https://www.a.example/1", "title": "Larkhaven bridge collapsed"}
        ]
        rows += [{"key": "b", "url": None, "title": "Larkhaven bridge"}]
        repos.feeds.keep(1, [Article(**row, summary="It fell.", published_at=NOON, is_dated=True) for row in rows])
        kept = ((here, "verify_news", True), (here, "search", True), (here, "verify_news", False))
        for number, (place, name, ok) in enumerate((*kept, (there, "verify_news", True))):
            turn = repos.turns.begin(place, now=NOON, expires_at=NOON + timedelta(hours=1))
            page = {"title": "verify_news", "url": f"https://{number}.example/", "snippet": "x"}
            content = json.dumps({"ok": ok, "untrusted_data": {"results": [page, {"title": "cut"}]}})
            answer = ToolAnswer(call_id=CallId("c"), name=name, content=content, ok=ok, labels=Labels())
            repos.history.append(place, rows_of(turn, (ToolMessage(answers=(answer,)),)))

    await store.transaction(keep)
    judge = judge_of(store, clock, None)
    fed, checked = await judge.recall(CLAIM, CONTEXT)
    assert (fed.url, fed.site, fed.snippet, fed.age) == (
        "https://www.a.example/1",
        "a.example",
        "It fell.",
        "2026-11-21",
    )
    assert checked.url == "https://0.example/"
    clock.move(3600)
    assert await judge.recall(CLAIM, CONTEXT) == (fed,)


async def test_which_items_are_news(store: Store, clock: SetClock, anthropic: Vendor) -> None:
    """By their places, with one sentence; an answer that names others, or none with a sentence, is not used."""
    judge = judge_of(store, clock, anthropic)
    heard: list[str] = []

    def picking(**given: Any) -> Callable[[Heard], Any]:
        def reply(asked: Heard) -> Any:
            heard.append(asked.text)
            return call("pick_news", given)

        return reply

    async def picked(**given: Any) -> tuple[tuple[int, ...], str]:
        anthropic.server.reply = picking(**given)
        news = await judge.news("the bridge", ["It fell."], ["It fell again.", "Tea is cheap."], CONTEXT)
        return news.places, news.claim

    assert await picked(items=[1], claim="It fell twice.") == ((0,), "It fell twice.")
    assert await picked(items=[], claim="") == ((), "")
    assert [json.loads(line) for line in heard[0].splitlines()] == [
        {"wish": "the bridge"},
        {"said_before": "It fell."},
        {"item": 1, "text": "It fell again."},
        {"item": 2, "text": "Tea is cheap."},
    ]
    anthropic.mistakes = True
    for wrong in (
        {"items": [3], "claim": "x"},
        {"items": [0], "claim": "x"},
        {"items": [], "claim": "x"},
        {"items": [1]},
    ):
        with pytest.raises(Unavailable):
            await picked(**wrong)
