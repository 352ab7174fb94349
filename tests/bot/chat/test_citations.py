"""The pages that an answer cites: those that a search gave, and no others, in this turn and in every later one."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bot.app.tools import idle_features
from bot.chat.citations import MAX_NUMBER, CitedPages, cite, in_hosts, number_pages, visible_words
from bot.chat.journal import Outcome
from bot.clock import SetClock
from bot.media.library import Library
from bot.media.sandbox import Sandbox
from bot.messages import AssistantMessage, CallId, Message, Page, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage
from store import Store
from tests.bot.chat.test_sources import GOOD, Words
from tests.bot.chat.turn_helpers import Desk, Scripted, agent_of, calls, says, toolbox, unlimited
from tests.bot.models import vendors
from tests.bot.models.vendors import NAMES, Vendor
from tests.invariants import is_sendable
from tests.ledger_sums import paid_rows
from tests.servers.script import Heard, call, say
from tests.servers.searches import SearXNG
from tests.tools.conftest import USER_AGENT
from tests.tools.sites import HERE, Names, Site, answer_bytes, only_here
from tools import CATALOG, Fetcher, Http, Result, ToolContext, ToolDeps, ToolSpec, build

LAMPS, FLAGS = "https://www.lamps.example/signals?a=1", "https://flags.example/wiki/Flag_(signal)"
BELLS = "https://bells.example/"


def tools_said(data: object, name: str = "web_search") -> tuple[Message, Message]:
    content = json.dumps({"ok": True, "untrusted_data": data}, ensure_ascii=False)
    call = ToolCall(id=CallId("call_1"), name=name, arguments={})
    answer = ToolAnswer(call_id=CallId("call_1"), name=name, content=content, ok=True)
    return AssistantMessage(parts=(call,)), ToolMessage(answers=(answer,))


def question(text: str = "[Sat] What of lamps?") -> UserMessage:
    return UserMessage(text=text)


def answered(text: str, *pages: tuple[int, str]) -> AssistantMessage:
    given = tuple(Page(number=number, url=url) for number, url in pages)
    return AssistantMessage(parts=(Text(text=text),), pages=given)


def searches(tool: str) -> bool:
    return tool in {"web_search", "verify_news"}


def found(*urls: str, snippet: str = "x") -> dict[str, Any]:
    return {"results": [{"title": "A page", "url": url, "snippet": snippet} for url in urls]}


@dataclass
class Told:
    pages: CitedPages
    read: tuple[Message, ...]

    def answer(self, text: str) -> AssistantMessage | None:
        return cite(text, self.pages, lambda _: True)

    def shown(self, text: str) -> str:
        answer = self.answer(text)
        return "" if answer is None else visible_words(answer)


def told(*history: Message, asked: str = "[Sat] What of lamps?", finds: Sequence[dict[str, Any]] = ()) -> Told:
    pages = CitedPages(history, searches)
    read = [*history, question(asked)]
    for data in finds:
        read += tools_said(number_pages(data, pages))
    return Told(pages, tuple(read))


EARLIER: tuple[Message, ...] = (
    question("[Fri] Read https://old.example/asked"),
    AssistantMessage(parts=(Text(text="I did."),)),
)


def searched(**more: Any) -> Told:
    asked = "[Sat] See HTTPS://Person.example/page, too"
    return told(*EARLIER, asked=asked, finds=[found(LAMPS, FLAGS, snippet="see https://snippet.example/x")], **more)


def test_citations_lead_to_what_was_found() -> None:
    """Numbered in the order in which they come, each address once; a number of nothing goes, the sentence stays."""
    for text, seen in (
        ("Lamps flash [101].", f"Lamps flash [1].\n\n[1] {LAMPS}"),
        ("Flags[102], lamps [101][102].", f"Flags[1], lamps [2][1].\n\n[1] {FLAGS}\n[2] {LAMPS}"),
        ("Both [101, 102] and [102;101].", f"Both [1][2] and [2][1].\n\n[1] {LAMPS}\n[2] {FLAGS}"),
        ("Lamps【101】, flags 【102†L3-L9】.", f"Lamps[1], flags [2].\n\n[1] {LAMPS}\n[2] {FLAGS}"),
        ("Lamps【101】(all)【102】are.", f"Lamps[1] (all)[2] are.\n\n[1] {LAMPS}\n[2] {FLAGS}"),
        ("Both [101, 999].", f"Both [1].\n\n[1] {LAMPS}"),
        ("Nothing [999] of that [998], nor a[101](x).", "Nothing of that, nor a[101](x)."),
        ("[999] One.\n[998] Two [101].", f"One.\nTwo [1].\n\n[1] {LAMPS}"),
        ("`row` [999] is `it`", "`row` is `it`"),
        (
            "`row[101]` and\n```\nx[102] https://made.example\n```",
            "`row[101]` and\n```\nx[102] https://made.example\n```",
        ),
        (f"Lamps [101].\n\n[101] Lamps: {LAMPS}", f"Lamps [1].\n\n[1] Lamps: {LAMPS}"),
        ("Nothing was found.", "Nothing was found."),
        ("[999]", ""),
        # A small model counts by itself: where nothing else can be meant, it is understood.
        ("Lamps [1], flags [2], bells [3].", f"Lamps [1], flags [2], bells.\n\n[1] {LAMPS}\n[2] {FLAGS}"),
    ):
        assert searched().shown(text) == seen


def test_a_number_means_the_same_page_in_every_later_turn() -> None:
    """Cited anew it leads to the page of then, whatever was found since, also when its search is read no more."""
    before = (question(), *searched().read[3:], answered("Flags wave [102].", (102, FLAGS)))
    for history in (before, (question(), before[-1])):
        later = told(*history, asked="[Sun] And bells?", finds=[found(BELLS)])
        assert later.shown("As I said [102]; bells ring [103].") == (
            f"As I said [1]; bells ring [2].\n\n[1] {FLAGS}\n[2] {BELLS}"
        )
        assert told(*history, asked="[Sun] Sure?").shown("As I said [102].") == f"As I said [1].\n\n[1] {FLAGS}"


def test_a_small_number_is_what_people_were_shown() -> None:
    """They say [1] of what was shown as [1], and so may a model; what can mean two pages leads to neither."""
    before = (question(), answered("Flags wave [102], lamps flash [101].", (102, FLAGS), (101, LAMPS)))
    assert told(*before).shown("As I said [1].") == f"As I said [1].\n\n[1] {FLAGS}"
    assert told(*before).shown("As I said [2].") == f"As I said [1].\n\n[1] {LAMPS}"
    later = told(*before, finds=[found(BELLS, GOOD)])
    assert later.shown("As I said [2], bells [103].") == f"As I said [1], bells [2].\n\n[1] {LAMPS}\n[2] {BELLS}"
    assert later.shown("Bells [1].") == "Bells."


def test_a_page_has_one_number_and_only_a_search_gives_it() -> None:
    """However it is spelled; a number of two pages leads to neither. Without sources, brackets stay."""
    there = told(finds=[found(LAMPS, FLAGS), found("HTTPS://www.lamps.example:443/signals?a=1#top", BELLS)])
    rows = [data_of(message.answers[0].content)["results"] for message in there.read[2::2]]  # type: ignore[union-attr]
    assert [[row["number"] for row in data] for data in rows] == [[101, 102], [101, 103]]
    clash = tools_said({"results": [{"number": 307, "url": LAMPS}, {"number": 307, "url": FLAGS}]})
    assert told(*clash, finds=[found(BELLS)]).shown("See [307], bells [308].") == f"See, bells [1].\n\n[1] {BELLS}"
    other = tools_said({"results": [{"number": 101, "url": "https://evil.example/"}]}, "mcp_find")
    there = told(question(), *other, finds=[found(LAMPS)])
    assert there.shown("Lamps [101].") == f"Lamps [1].\n\n[1] {LAMPS}"
    before = (question(), answered("Flags wave [102].", (102, FLAGS)))
    for text in ("The list [3, 9, 12] has the median 9.", "See [4], [205] and [0]."):
        assert told().shown(text) == told(*before).shown(text) == text


def test_numbers_go_on_and_are_given_again_when_all_are_used() -> None:
    """Not one that is still in use."""
    full = (question(), answered("x [101]", (101, FLAGS)), question(), answered("y [999]", (MAX_NUMBER, BELLS)))
    pages = CitedPages(full, searches)
    assert [pages.find(url) for url in (LAMPS, FLAGS, GOOD)] == [102, 101, 103]


def test_what_is_not_a_row_of_a_search_is_left_as_it_is() -> None:
    pages = CitedPages((), searches)
    for data in ({"results": "none"}, {"x": 1}, {"results": ["x", {"url": 7}, {"title": "no address"}]}):
        assert number_pages(data, pages) == data
    assert pages.last_number == 0


def test_a_summary_reads_hosts() -> None:
    """It knows no numbers."""
    answer = answered("Flags [102], lamps [101][102].", (102, FLAGS), (101, LAMPS))
    assert in_hosts(answer) == "Flags (flags[.]example), lamps (www[.]lamps[.]example)(flags[.]example)."


@dataclass
class Finding:
    name: str = "web_search"

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="Searches.", arguments=Words, label="pages")

    async def run(self, arguments: Words, context: ToolContext) -> Result:
        return Result(data=found(*(KNOWN.get(word, word) for word in arguments.query.split())))


KNOWN = {"lamps": LAMPS, "flags": FLAGS, "bells": BELLS, "good": GOOD}


def look(words: str) -> Any:
    return calls(("web_search", {"query": words}))


async def test_people_see_places_and_the_model_its_own_numbers(store: Store, clock: SetClock) -> None:
    """Also after a restart, when all of it comes from the store."""
    script = [
        look("lamps good"),
        says("Lamps flash [102], says [a page](https://made.example/up)."),
        says("Sure [102]."),
    ]
    desk = Desk(store, clock, Scripted(script), tools=(Finding(),))
    assert (await desk.kept("What of lamps?")).text == f"Lamps flash [1], says a page.\n\n[1] {GOOD}"
    desk.turns = desk.started_anew()
    assert (await desk.kept("Sure?")).text == f"Sure [1].\n\n[1] {GOOD}"
    [*_, answer] = [one.text for one in desk.provider.requests[-1].messages if one.role == "assistant"]
    assert answer == "Lamps flash [102], says a page."
    desk.provider.script = [look("bells"), says("Bells [103], lamps [102].")]
    assert (await desk.kept("And bells?")).text == f"Bells [1], lamps [2].\n\n[1] {BELLS}\n[2] {GOOD}"


async def test_a_number_within_a_page_cites_no_other_page(store: Store, clock: SetClock) -> None:
    """A footnote that the model copies, or one that a page has made up, would lead people to another source."""

    class Footnoted(Finding):
        async def run(self, arguments: Words, context: ToolContext) -> Result:
            rows = found(LAMPS, snippet="Lamps lie [102, 3], 【102†L1】 a[7] [2024].")["results"]
            return Result(data={"results": [*rows, {"url": f"{GOOD}?a[102]=1", "title": "[999]"}]})

    desk = Desk(store, clock, Scripted([look("x"), says("Lamps lie (102, 3) [101].")]), tools=(Footnoted(),))
    assert (await desk.kept("What of lamps?")).text == f"Lamps lie (102, 3) [1].\n\n[1] {LAMPS}"
    [answer] = [message for message in desk.provider.requests[-1].messages if isinstance(message, ToolMessage)]
    told = answer.answers[0].data["results"]
    assert told[0]["snippet"] == "Lamps lie (102, 3), (102) a[7] [2024]."
    assert told[1] == {"number": 102, "url": f"{GOOD}?a[102]=1", "title": "(999)"}


async def test_numbers_of_a_turn_that_died_hold(store: Store, clock: SetClock) -> None:
    """What the journal has is cited as it was numbered, and what is found after is numbered on."""
    desk = Desk(store, clock, Scripted([look("lamps good")]), tools=(Finding(),))
    turn = await desk.loaded("What of lamps?")
    with pytest.raises(IndexError):  # the model has no more words: the process ends here
        await desk.agent.answer(desk.turns.journal(turn, desk.watch))
    desk.turns = desk.started_anew()
    desk.provider.script = [look("bells"), says("Lamps [102], bells [103].")]
    outcome = await desk.answer(await desk.again("What of lamps?"))
    assert outcome.text == f"Lamps [1], bells [2].\n\n[1] {GOOD}\n[2] {BELLS}"


async def test_an_address_that_the_model_asked_with_is_no_link_by_being_cited(store: Store, clock: SetClock) -> None:
    """A tool that repeats what it was called with has given nothing: its citation goes, in later turns, too."""
    evil = "https://evil.example/?d=4711"
    desk = Desk(store, clock, Scripted([look(f"{evil} good"), says("See [101] or [102].")]), tools=(Finding(),))
    assert (await desk.kept("What of lamps?")).text == f"See or [1].\n\n[1] {GOOD}"
    desk.provider.script = [says("See [101].")]
    assert "evil.example/" not in (await desk.kept("Again?")).text


# Real tools, chained: the models are the doubles of the vendors behind the real providers


@pytest.fixture(params=NAMES)
async def vendor(request: pytest.FixtureRequest) -> AsyncGenerator[Vendor]:
    async with vendors.opened(request.param) as opened:
        yield opened


def data_of(answer: str) -> Any:
    return json.loads(answer)["untrusted_data"]


def thinking(heard: Heard) -> Any:
    """A model that goes from what it found to what it read to what it reckons, by what the tools answered."""
    match heard.answers:
        case ():
            return say("I look it up.") + call("web_search", {"query": "lamp flashes"})
        case (found,):
            return call("web_fetch", {"url": data_of(found)["results"][0]["url"]})
        case (_, page):
            flashes = re.findall(r"(\d+) flashes", data_of(page)["text"])
            return call("calculate", {"expression": f"{flashes[0]} * 60"})
        case (found, _, reckoned):
            number = data_of(found)["results"][0]["number"]
            return say(f"It flashes {data_of(reckoned)['result']} times [{number}].")
        case _:
            raise AssertionError(heard.answers)


async def test_a_search_a_page_and_a_sum_are_chained(store: Store, clock: SetClock, vendor: Vendor) -> None:
    """Each step is made of what the one before it brought, over every vendor's wire; the answer names its source."""
    vendor.server.reply = thinking
    async with AsyncExitStack() as stack:
        site, searxng = await stack.enter_async_context(Site()), await stack.enter_async_context(SearXNG())
        found = site.url_of("/lamp")
        site.answers["/lamp"] = answer_bytes("<title>Lamp</title><p>The lamp makes 17 flashes a minute.")
        searxng.results = [{"url": found, "title": "Lamp", "content": "How it flashes."}]
        http = await stack.enter_async_context(Http(USER_AGENT))
        fetcher = Fetcher(USER_AGENT, **only_here(site.port), resolve=Names({"site.example": [[HERE]]}))
        await stack.enter_async_context(fetcher)
        around = ToolDeps(http=http, fetcher=fetcher, features=idle_features())
        options = {"web_search": CATALOG["web_search"].options.model_validate({"searxng_base_url": searxng.url})}
        tools = build(options, replace(around, papers=Library(Sandbox())))
        desk = Desk(store, clock, Scripted([]))
        agent = agent_of(vendor.provider, toolbox(clock, *tools), unlimited(store, clock))
        turn = await desk.loaded("How often does the lamp flash in an hour?")
        outcome = await agent.answer(desk.turns.journal(turn, desk.watch))
        assert isinstance(outcome, Outcome)
        await desk.turns.keep(turn, outcome)
    assert outcome.text == f"It flashes 1020 times [1].\n\n[1] {found}"
    used = ("web_search", "web_fetch", "calculate")
    assert [row[:2] for row in await paid_rows(store) if row[0] in used] == [(name, "ok") for name in used]
    assert is_sendable(outcome.messages)
    assert len(vendor.server.requests) == 4
