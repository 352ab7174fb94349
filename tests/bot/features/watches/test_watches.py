"""What people have watched: a number, a page, a claim; said once, with its sources, and gone when it has to be."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot import app
from bot.access.access import AccessList
from bot.clock import SetClock
from bot.errors import ConfigError
from bot.features.feeds import IntelSearch
from bot.features.reminders.tool import Remind
from bot.features.watches.report import Reports
from bot.settings import BudgetSettings, load_settings
from store import Article, Repositories, Store
from tests.bot.chat.turn_helpers import Echo, calls, contents, says
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import Harness, app_harness
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.servers.base import Server, answer_json, hang, redirect
from tests.servers.envelopes import ALICE, BOB, GROUP, delete, message, reaction
from tests.servers.frankfurter import Frankfurter
from tests.servers.searches import Tavily
from tests.tools.conftest import USER_AGENT
from tests.tools.evidence.test_tool import DAILY, DENIAL, Press, Reading
from tests.tools.sites import answer_bytes
from tools import Arguments, Http, Result, Tool, ToolContext, ToolSpec, Unavailable
from tools.conversion import Convert
from tools.evidence.sources import VerifyNewsOptions
from tools.evidence.tool import VerifyNews
from tools.search.options import SearchOptions
from tools.search.services import SearchService


class PageArguments(Arguments):
    url: str


@dataclass
class Pages:
    """Reads pages that are here, as `web_fetch` does."""

    text: str = "Opening hours of the harbour museum: ten to six."
    fails: bool = False
    cost_usd: Decimal = Decimal(0)
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    gate: asyncio.Event | None = None
    read: list[str] = field(default_factory=list[str])

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name="web_fetch", description="", arguments=PageArguments, fetches="url", cost_usd=self.cost_usd
        )

    async def run(self, arguments: PageArguments, context: ToolContext) -> Result:
        self.read.append(arguments.url)
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            raise Unavailable("The page cannot be read.")
        return Result(data={"url": arguments.url, "text": self.text, **self.more})


@dataclass
class Town:
    """The outside: rates, a page, the press; and the tools that ask it."""

    rates: Frankfurter
    press: Press
    http: Http
    store: Store
    pages: Pages = field(default_factory=Pages)

    @property
    def tools(self) -> tuple[Tool, ...]:
        options: Any = {"tavily_api_key": Tavily.KEY, "tavily_base_url": self.press.url}
        search = SearchService(SearchOptions(**options), self.http)
        convert = Convert(self.http, rates_url=self.rates.url)
        return convert, self.pages, IntelSearch(self.store), VerifyNews(VerifyNewsOptions(), search, Reading())

    async def publish(self, title: str, number: int) -> None:
        """Lets an article stand in a feed."""

        def keep(repos: Repositories) -> None:
            repos.feeds.add("https://feed.example/", now=NOON)
            url = f"https://feed.example/{number}"
            one = Article(key=str(number), url=url, title=title, summary="", published_at=NOON, is_dated=True)
            repos.feeds.keep(1, [one])

        await self.store.transaction(keep)


@pytest.fixture
async def town(store: Store) -> AsyncIterator[Town]:
    async with Frankfurter() as rates, Press() as press, Http(USER_AGENT) as http:
        yield Town(rates, press, http, store)


EURO = {
    "text": "the euro is over 1.20 dollars",
    "tool": "convert",
    "arguments": {"amount": 1, "unit": "EUR", "to": "USD"},
    "look_at": "rate",
    "when": "above",
    "value": "1.2",
}
BRIDGE = {
    "text": "the bridge in Larkhaven",
    "tool": "intel_search",
    "arguments": {"query": "Larkhaven bridge"},
    "look_at": "results",
    "when": "new",
}
MUSEUM = {
    "text": "the hours of the museum",
    "tool": "web_fetch",
    "arguments": {"url": "https://museum.example/"},
    "look_at": "text",
    "when": "new",
}
ASKED = "Tell me when the hours at https://museum.example/ change."
CLAIM = "A bridge in Larkhaven collapsed and 43 people died"


def news(claim: str = CLAIM) -> Any:
    return calls(("pick_news", {"items": [1] if claim else [], "claim": claim}))


async def watch(aldis: Harness, words: str = ASKED, *, group: str | None = None, **given: Any) -> dict[str, Any]:
    """Has the model watch something; gives what the tool answered."""
    aldis.model.script = [calls(("watch", given)), says("OK.")]
    await ask(aldis, words, group=group, mention=group is not None)
    await aldis.quiet()
    return json.loads(contents(aldis.model.requests[-1])[-1])


async def look(aldis: Harness, hours: float = 1) -> list[str]:
    """Lets time pass and what is due be looked at; gives what was said."""
    before = len(aldis.transport.sent)
    aldis.clock.move(hours * 3600)
    await aldis.watches.attend_all()
    await aldis.quiet()
    return [reply.content.text for reply in aldis.transport.sent[before:]]


def line(rate: str, before: str, at: str) -> str:
    now = f"Now 1 EUR = {rate} USD, before 1 EUR = {before} USD (Units and currencies, {at})."
    return f"🔔 the euro is over 1.20 dollars\n\n{now}"


async def test_a_number_is_said_once_when_it_crosses_the_value(store: Store, clock: SetClock, town: Town) -> None:
    """With what it was before, the source and the time; again only after it has gone back; and ❌ ends it."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        made = await watch(aldis, **EURO)
        assert made["untrusted_data"] == {"number": 1, "now": "1.1416", "every_minutes": 60, "ends": None}
        said: list[str] = []
        for rate in (1.19, 1.2034, 1.21, 1.15, 1.22):
            town.rates.rates["USD"] = rate
            said += await look(aldis)
        assert said == [line("1.2034", "1.19", "14:00"), line("1.22", "1.15", "17:00")]
        sent_at = await aldis.count("SELECT sent_at FROM outbox ORDER BY id DESC LIMIT 1")
        await aldis.process(reaction("❌", sent_at, author=BOB))
        await aldis.process(reaction("⏰", sent_at))
        await aldis.process(reaction("❌", sent_at))
        assert aldis.transport.sent[-1].content.text == "Cancelled: the euro is over 1.20 dollars"
        town.rates.rates["USD"] = 1.1
        assert [*await look(aldis), *await look(aldis)] == []
        assert await ask(aldis, "/watch") == "I watch nothing for you here. Just ask me: “Tell me when …”"


async def test_news_of_feeds_start_the_evidence_run(store: Store, clock: SetClock, town: Town) -> None:
    """Said with the claim, the evidence and their pages; a repetition is not; one can ask for more, and labels hold."""
    town.press.findings = {"fact check": [DENIAL], "": [DAILY]}
    note = Echo(name="note", effects="repeatable")
    async with app_harness(store, clock, tools=(*town.tools, note), watches=True) as aldis:
        await town.publish("A bridge in Larkhaven is closed", 1)
        await watch(aldis, **BRIDGE)
        assert await look(aldis) == []
        await town.publish("43 people died as bridge in Larkhaven collapsed", 2)
        aldis.model.script = [news()]
        [said] = await look(aldis)
        assert said == (
            "🔔 the bridge in Larkhaven\n\n“A bridge in Larkhaven collapsed and 43 people died” [1]\n\n"
            "I've checked it. Independent reports for it: 1, against it: 1. Confidence: 11 %. [2] [3]\n\n"
            "[1] https://feed.example/2\n[2] https://snopes.com/6\n[3] https://daily.example/1"
        )
        await town.publish("Larkhaven mourns: bridge collapsed, 43 dead", 3)
        aldis.model.script = [news("")]
        assert await look(aldis) == []
        rows = [json.loads(one) for one in aldis.model.asked[-1].splitlines()]
        assert rows[:2] == [{"wish": "the bridge in Larkhaven"}, {"said_before": CLAIM}]
        assert await look(aldis) == []
        aldis.model.script = [calls(("note", {"word": "x"}))]
        assert (await ask(aldis, "Tell me more.")).startswith("May I use note?")
        assert [answer[:12] for answer in contents(aldis.model.requests[-1])[-2:]] == ['{"ok":true,"u'[:12]] * 2
        assert "daily.example" in contents(aldis.model.requests[-1])[-1]


async def test_a_page_says_what_is_new_in_it(store: Store, clock: SetClock, town: Town) -> None:
    """Lines that were not there and are news to a model; only an address that the person gave; without a check, too."""
    async with app_harness(store, clock, tools=town.tools[1:3], watches=True) as aldis:
        refused = await watch(aldis, "Watch the museum.", **MUSEUM)
        assert (refused["error"], refused["message"][:4]) == ("invalid_arguments", "url:")
        await watch(aldis, **MUSEUM)
        town.pages.text += "\nFrom December on the museum is open until eight."
        aldis.model.script = [news("The museum is open until eight from December on.")]
        words = "“The museum is open until eight from December on.” [1]\n\n[1] https://museum.example/"
        assert await look(aldis) == [f"🔔 the hours of the museum\n\n{words}"]
        assert await look(aldis) == []
        assert town.pages.read == ["https://museum.example/"] * 3


@pytest.mark.parametrize("step", ["call", "judge", "check", "said"])
async def test_a_kill_between_any_two_steps_loses_and_doubles_nothing(
    store: Store, clock: SetClock, town: Town, step: str
) -> None:
    """During the call, the question to the model, the evidence run, or right after all was kept: it is said once."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        await watch(aldis, **MUSEUM)
    town.pages.text += "\nFrom December on the museum is open until eight."
    clock.move(3600)
    if step == "call":
        town.pages.gate = asyncio.Event()
    elif step == "check":
        town.press.faults += [hang] * 9
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        aldis.model.script = [news()]
        if step == "judge":
            aldis.model.gates["wish"] = asyncio.Event()
        looking = asyncio.create_task(aldis.watches.attend_all())
        reached = {
            "call": lambda: len(town.pages.read) > 1,
            "judge": lambda: bool(aldis.model.asked),
            "check": lambda: bool(town.press.requests),
            "said": looking.done,
        }
        await aldis.until(reached[step])
        looking.cancel()
        await asyncio.wait([looking])
        before = len(aldis.transport.sent)
    town.pages.gate, town.press.faults = None, []
    async with app_harness(store, clock, tools=town.tools, watches=True, transport=aldis.transport) as again:
        again.model.script = [news()]
        await look(again)
        await look(again)
        said = [reply.content.text for reply in again.transport.sent[before if step != "said" else 0 :]]
        assert len([text for text in said if "🔔" in text]) == 1


async def test_they_are_listed_paused_and_cancelled(store: Store, clock: SetClock, town: Town) -> None:
    """By their person alone, under numbers that stay; what is paused is not looked at."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        await watch(aldis, **EURO)
        await watch(aldis, **MUSEUM)
        assert await ask(aldis, "/watch pause 1") == "Paused: the euro is over 1.20 dollars"
        shown = await ask(aldis, "/watch")
        assert set(shown.splitlines()) == {
            "• 1: the euro is over 1.20 dollars (paused)",
            "• 2: the hours of the museum",
        }
        assert (await ask(aldis, "/watch", author=BOB)).startswith("I watch nothing")
        assert (await ask(aldis, "/watch cancel 2", author=BOB)).startswith("I watch nothing")
        town.rates.rates["USD"] = 1.3
        assert await look(aldis) == []
        assert await ask(aldis, "/watch resume 1") == "I'm watching again: the euro is over 1.20 dollars"
        assert await look(aldis, 0) == [line("1.3", "1.1416", "13:00")]
        assert await ask(aldis, "/watch cancel 1") == "Cancelled: the euro is over 1.20 dollars"
        assert await ask(aldis, "/watch cancel all") == "Cancelled: the hours of the museum"
        assert "Please write it like this" in await ask(aldis, "/watch stop")
        await watch(aldis, **EURO)
        assert await ask(aldis, "/watch cancel 7") == "There's no watch 7 here. /watch shows yours."
        await ask(aldis, "/watch cancel 1")
        assert await look(aldis) == []


async def test_nothing_is_said_at_night_nor_beyond_the_days_number(store: Store, clock: SetClock, town: Town) -> None:
    """By the person's clock; what still holds in the morning is said then, in one message."""
    settings = {"watches": {"messages_per_day": 2, "quiet_hours": "22-7", "least_minutes": 1}}
    async with app_harness(store, clock, tools=town.tools, watches=True, settings=settings) as aldis:
        await ask(aldis, "/timezone Asia/Tokyo")  # nine hours ahead: 21:00 now
        await watch(aldis, **EURO)
        await watch(aldis, **MUSEUM)
        town.rates.rates["USD"] = 1.3
        town.pages.text += "\nFrom December on the museum is open until eight.\nAnd from January on until ten at night."
        assert [*await look(aldis, 1), *await look(aldis, 4), *await look(aldis, 4.9)] == []
        assert not [asked for asked in aldis.model.asked if "wish" in asked]
        aldis.model.script = [calls(("pick_news", {"items": [1, 2], "claim": "Until eight, then until ten."}))]
        assert [text.splitlines()[0] for text in await look(aldis, 0.2)] == [
            "🔔 the euro is over 1.20 dollars",
            "🔔 the hours of the museum",
        ]
        town.pages.text += "\nOn Mondays the museum is closed until spring."
        aldis.model.script = [news("Closed on Mondays.")]
        assert [*await look(aldis, 1), *await look(aldis, 10)] == []
        assert len(await look(aldis, 13)) == 1


async def test_several_say_no_more_than_the_days_number(store: Store, clock: SetClock, town: Town, path: Path) -> None:
    """What one of them says counts for those that were looked at beside it; they are looked at again tomorrow."""
    settings = {"watches": {"messages_per_day": 2, "quiet_hours": "22-7", "report": "https://host"}}
    async with app_harness(store, clock, tools=town.tools, watches=True, settings=settings) as aldis:
        aldis.watches.reports = Reports(place=str(path.with_suffix(".jsonl")), http=town.http)
        for number in range(3):
            await watch(aldis, **{**EURO, "text": f"euro {number}"})
        town.rates.rates["USD"] = 1.3
        assert [len(await look(aldis, hours)) for hours in (1, 5, 13, 12)] == [2, 0, 1, 0]
    assert len(path.with_suffix(".jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize("how", ["forget", "delete", "timer", "downtime", "gone"])
async def test_it_ends_with_what_it_came_from(store: Store, clock: SetClock, town: Town, path: Path, how: str) -> None:
    """What the person wants forgotten, deletes, or lets disappear, and what they may not read any more."""
    access = AccessList(persons=frozenset({ALICE.uuid}), groups=frozenset())
    async with app_harness(store, clock, tools=town.tools, watches=True, access=access) as aldis:
        aldis.model.script = [calls(("watch", {**EURO, "text": "tulips"})), says("OK.")]
        asked = await aldis.process(message(ASKED, expires_in_seconds=5000 if how in {"timer", "downtime"} else 0))
        town.rates.rates["USD"] = 1.3
        assert (await look(aldis))[0].startswith("🔔 tulips")
        if how == "forget":
            assert "1 watch" in await ask(aldis, "/forget")
            await ask(aldis, "/forget yes")
        elif how == "delete":
            await aldis.process(delete(asked))
        elif how == "timer":
            clock.move(5000)
            await aldis.maintenance.expire()
        elif how == "downtime":
            clock.move(5000)
        else:
            aldis.watches.allowed = lambda: AccessList(persons=frozenset(), groups=frozenset())
        town.rates.rates["USD"] = 1.1
        await look(aldis)
        town.rates.rates["USD"] = 1.3
        assert await look(aldis) == []
        assert await aldis.count("SELECT count(*) FROM watches WHERE watch IS NOT NULL") == 0
        if how not in {"gone", "downtime"}:
            assert await aldis.count("SELECT count(*) FROM history WHERE role = 'tool'") == 0


async def test_one_that_fails_for_a_day_says_so_once(store: Store, clock: SetClock, town: Town) -> None:
    """And goes on; after a success it may say so again. Nothing is lost of what was seen."""
    settings = {"watches": {"quiet_hours": "0-0"}}
    async with app_harness(store, clock, tools=town.tools, watches=True, settings=settings) as aldis:
        await watch(aldis, **{**MUSEUM, "when": "changes"})
        for _ in range(2):
            town.pages.fails = True
            assert [text for _ in range(4) for text in await look(aldis, 6)] == []
            said = [text for _ in range(3) for text in await look(aldis, 6)]
            words = (
                "For a day now I haven't been able to look; I'll keep trying. "
                "The service can't be reached at the moment."
            )
            assert said == [f"🔔 the hours of the museum\n\n{words}"]
            town.pages.fails = False
            assert await look(aldis, 1) == []
        town.pages.text = "It is closed."
        assert "Now “It is closed.”, before “Opening hours" in (await look(aldis, 1))[0]


@pytest.mark.parametrize(("wanted", "bound"), [("0.5", "1"), ("9", "0.5")])
async def test_a_watch_has_a_month_of_its_own(
    store: Store, clock: SetClock, town: Town, wanted: str, bound: str
) -> None:
    """Paid calls count for it, for the budgets and in `/watch`; once it is used up, nothing is paid until the next."""
    town.pages.cost_usd = Decimal("0.3")
    settings = {"watches": {"quiet_hours": "0-0", "month_usd": Decimal(bound)}}
    async with app_harness(store, clock, tools=town.tools, watches=True, settings=settings) as aldis:
        await watch(aldis, **MUSEUM, month_usd=wanted, minutes=1)
        assert await ask(aldis, "/watch") == "• 1: the hours of the museum"
        said: list[str] = []
        for hour, count in ((1, 2), (0.1, 2), (1, 3), (1, 3), (20, 3), (4, 3)):
            said += await look(aldis, hour)
            assert len(town.pages.read) == count
        assert [text.rpartition("trying. ")[2] for text in said] == ["The budget for it is used up."]
        assert await ask(aldis, "/watch") == "• 1: the hours of the museum (US$0.60 this month)"
        assert "US$0.9" in await ask(aldis, "/usage")
        assert await aldis.count("SELECT count(*) FROM ledger WHERE outcome = 'reserved'") == 0
        clock.move(9 * 24 * 3600)
        await look(aldis)
        assert len(town.pages.read) == 4


async def test_a_decided_market_and_a_last_day_end_it_with_a_word(store: Store, clock: SetClock, town: Town) -> None:
    """Once."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        await watch(aldis, **{**MUSEUM, "when": "changes"})
        await watch(aldis, **{**EURO, "until": "2026-11-22"})
        town.pages.more = {"came_out": "Yes"}
        heard = [text for _ in range(6) for text in await look(aldis, 12)]
        assert heard == [
            "🔔 the hours of the museum\n\nIt's decided: “Yes”. I've stopped watching.",
            "🔔 the euro is over 1.20 dollars\n\nThe time is up, so I've stopped watching.",
        ]


async def test_what_cannot_be_watched_is_said_at_once(store: Store, clock: SetClock, town: Town) -> None:
    """To the model: a place that is not there, several numbers, a tool that is off; and nothing is kept."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        await ask(aldis, "/tools off verify_news")
        for given, said in (
            ({**EURO, "look_at": "price"}, "there is no 'price' in"),
            ({**MUSEUM, "when": "above", "value": 1}, "is not one number"),
            ({**EURO, "when": "new", "look_at": ""}, "name a list or a text"),
            ({**EURO, "arguments": {"amount": 1}}, "unit: Field required"),
            ({**EURO, "tool": "market_get"}, "market_get is switched off here"),
            ({**EURO, "tool": "verify_news", "arguments": {"claim": "x"}}, "verify_news is switched off here"),
            ({**EURO, "tool": "remind"}, "tool: Input should be"),
        ):
            assert said in (await watch(aldis, **given))["message"]
        here = await store.conversation(ALICE.chat, now=NOON)
        await store.transaction(
            lambda repos: [repos.watches.put(here, ALICE.uuid, f"{n}", due_at=NOON) for n in range(20)]
        )
        assert "has 20 watches" in (await watch(aldis, **EURO))["message"]
        assert await aldis.count("SELECT count(*) FROM watches WHERE watch IS NOT NULL") == 0


async def test_what_a_stranger_may_have_caused_is_asked_about(store: Store, clock: SetClock, town: Town) -> None:
    """Each time, with all that it would do."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        aldis.model.script = [calls(("web_fetch", {"url": "https://museum.example/"})), calls(("watch", EURO))]
        heard = await ask(aldis, "Read https://museum.example/ and do what it says.")
        assert heard.startswith(
            "May I look again and again, and write to you when it happens: “the euro is over 1.20 doll"
        )
        assert ("to: “USD”" in heard, "always" in heard) == (True, False)


async def test_no_reminder_makes_a_watch(store: Store, clock: SetClock, town: Town) -> None:
    """Or one could go on for ever, at its person's cost."""
    async with app_harness(store, clock, tools=town.tools, watches=True, ported=(Remind,)) as aldis:
        await ask(aldis, "/remind in 1h ask: watch the euro")
        aldis.model.script = [calls(("watch", EURO)), says("No.")]
        clock.move(3600)
        await aldis.reminders.attend_all()
        await aldis.quiet()
        assert "denied" in contents(aldis.model.requests[-1])[-1]
        assert await aldis.count("SELECT count(*) FROM watches") == 0


async def test_a_restored_store_says_nothing_of_the_past(store: Store, clock: SetClock, town: Town) -> None:
    """What was said since the copy is unknown: the first look is the baseline again. And what there is is exported."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        await watch(aldis, **EURO)
        await store.transaction(lambda repos: repos.restored.close(besides=(), now=clock.now()))
        for rate, count in ((1.3, 0), (1.1, 0), (1.3, 1)):
            town.rates.rates["USD"] = rate
            assert len(await look(aldis)) == count
        await ask(aldis, "/export")
        [exported] = json.loads(aldis.transport.sent[-1].files[-1].data)["watches"]
        assert (exported["text"], exported["tool"]) == ("the euro is over 1.20 dollars", "convert")


@pytest.mark.parametrize("command", ["/watch cancel 1", "/watch pause 1", "/forget yes"])
async def test_what_is_changed_during_a_look_counts(store: Store, clock: SetClock, town: Town, command: str) -> None:
    """The look was for a watch that is not there any more, or paused: nothing is said, nor reported anywhere."""
    settings = {"watches": {"report": "https://host"}}  # without a way to get there
    async with app_harness(store, clock, tools=town.tools, watches=True, settings=settings) as aldis:
        await watch(aldis, **{**MUSEUM, "when": "changes"})
        town.pages.text, town.pages.gate = "It is closed.", asyncio.Event()
        clock.move(3600)
        looking = asyncio.create_task(aldis.watches.attend_all())
        await aldis.until(lambda: len(town.pages.read) > 1)
        await ask(aldis, command)
        town.pages.gate.set()
        await looking
        await aldis.quiet()
        assert "🔔" not in aldis.transport.sent[-1].content.text


async def test_the_operator_and_the_budgets_decide(store: Store, clock: SetClock, town: Town) -> None:
    """What has to be agreed to each time cannot be watched; without money nothing is called."""
    settings: Any = {"tools": {"approve": ("convert",)}, "watches": {"quiet_hours": "0-0"}}
    town.pages.cost_usd = Decimal("0.3")
    few = BudgetSettings(all_day_usd=Decimal("0.5"))
    async with app_harness(store, clock, tools=town.tools, watches=True, settings=settings, budgets=few) as aldis:
        assert "agreed to each time" in (await watch(aldis, **EURO))["message"]
        await watch(aldis, **MUSEUM)
        for hours, count in ((1, 2), (1, 2), (23, 3)):
            await look(aldis, hours)
            assert len(town.pages.read) == count


async def test_in_a_group_the_asker_is_quoted(store: Store, clock: SetClock, town: Town) -> None:
    """So that they are notified; what one person forgets there goes with what was said of it."""
    async with app_harness(store, clock, tools=town.tools, watches=True) as aldis:
        await watch(aldis, group=GROUP, **EURO)
        town.rates.rates["USD"] = 1.3
        aldis.clock.move(3600 + timedelta(minutes=1).total_seconds())
        await aldis.watches.attend_all()
        await aldis.quiet()
        reply = aldis.transport.sent[-1]
        assert reply.quote is not None
        assert (reply.chat.is_group, reply.quote.author) == (True, ALICE.uuid)
        await ask(aldis, "/forget yes", group=GROUP)
        assert (
            await aldis.count("SELECT count(*) FROM watches") == await aldis.count("SELECT count(*) FROM history") == 0
        )


async def test_programs_read_what_is_said(store: Store, clock: SetClock, town: Town, tmp_path: Path) -> None:
    """A line of the operator's own file for each message, that others cannot read; nothing for a look without news."""
    town.press.findings = {"fact check": [DENIAL], "": [DAILY]}
    file = tmp_path / "found.jsonl"
    settings = {"watches": {"report": str(file)}}
    async with app_harness(store, clock, tools=town.tools, watches=True, settings=settings) as aldis:
        aldis.watches.reports = Reports(place=str(file), http=town.http)
        await town.publish("A bridge in Larkhaven is closed", 1)
        await watch(aldis, **EURO)
        await watch(aldis, **BRIDGE)
        assert await look(aldis) == []
        town.rates.rates["USD"] = 1.3
        await look(aldis)
        await town.publish("43 people died as bridge in Larkhaven collapsed", 2)
        aldis.model.script = [news()]
        await look(aldis)
        assert await look(aldis) == []
        await ask(aldis, "/tools off verify_news")
        await town.publish("Larkhaven bridge: the mayor resigns", 3)
        aldis.model.script = [news("The mayor resigns.")]
        await look(aldis)
    number, claim, unchecked = map(json.loads, file.read_text("utf-8").splitlines())
    assert file.stat().st_mode & 0o777 == 0o600
    given = {**EURO, "minutes": 60, "until": None, "month_usd": None}
    assert number.pop("watch") == {"number": 1, "made_at": "2026-11-21T12:00:00+00:00", **given}
    absent = dict.fromkeys(("error", "claim", "items", "confidence", "tone", "evidence"))
    values = {"value": "1 EUR = 1.3 USD", "before": "1 EUR = 1.1416 USD", "sources": []}
    assert number == {"at": "2026-11-21T14:00:00+00:00", "triggered": True, "success": True, **values, **absent}
    assert (claim["claim"], claim["confidence"], claim["tone"], claim["value"]) == (CLAIM, 0.11, "neutral", None)
    url = "https://feed.example/2"
    assert claim["items"] == [{"text": "43 people died as bridge in Larkhaven collapsed", "url": url}]
    assert claim["sources"] == [url, "https://snopes.com/6", "https://daily.example/1"]
    first = claim["evidence"]["searched"][0]
    assert (first["round"], first["at"][:10], first["for"], first["triggered"]) == (1, "2026-11-21", "reports", False)
    assert (unchecked["success"], unchecked["error"], unchecked["confidence"]) == (False, "disabled", None)


async def test_a_program_that_does_not_listen_holds_up_nothing(
    store: Store, clock: SetClock, town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    """Two failures are tried again; after three, or when time is up, the JSON alone is lost, as the log says."""
    program = Server()  # which answers with status 404 unless a story says otherwise
    settings = {"watches": {"quiet_hours": "0-0", "report": "https://host"}}
    async with program, app_harness(store, clock, tools=town.tools, watches=True, settings=settings) as aldis:
        aldis.watches.reports = Reports(place=f"{program.url}/found?key=x", http=town.http, pause_seconds=0)
        await watch(aldis, **{**MUSEUM, "when": "changes"})
        for number, faults in ((3, [answer_json({}, 500), redirect("/"), answer_bytes(b"Thanks")]), (6, [])):
            assert "404" not in caplog.text
            program.faults += faults
            town.pages.text = f"It is closed until {number}."
            assert len(await look(aldis)) == 1
            assert len(program.requests) == number
        assert "404" in caplog.text
        assert "closed" not in caplog.text
        program.faults += [hang]
        town.pages.text = "It is open."
        looking = asyncio.create_task(look(aldis))
        await aldis.until(lambda: len(program.requests) == 7 and "open" in aldis.transport.sent[-1].content.text)
        looking.cancel()
        await asyncio.wait([looking])
        assert await look(aldis) == []
        program.faults += [hang]
        aldis.watches.reports = Reports(place=program.url, http=town.http, timeout_seconds=0.05)
        town.pages.text = "It is sold."
        assert len(await look(aldis)) == 1
        assert "TimeoutError" in caplog.text
        program.faults.clear()  # that request may not have come so far
        aldis.watches.reports = Reports(place=program.url, http=town.http, pause_seconds=0)
        town.pages.fails = True
        assert len([text for _ in range(5) for text in await look(aldis, 6)]) == 1
        failed = program.requests[-1].json()
        assert (failed["triggered"], failed["success"], failed["error"]) == (False, False, "unavailable")
        town.pages.fails, town.pages.more = False, {"came_out": "Yes"}
        assert len(await look(aldis, 6)) == 1
    last = program.requests[-1]
    assert (last.method, last.headers["content-type"], last.json()["value"]) == ("POST", "application/json", "Yes")


async def test_a_place_that_takes_nothing_is_refused_at_the_start(path: Path, tmp_path: Path) -> None:
    """Before anything is lost; one that is named well is used."""
    (tmp_path / "plain").touch()
    for place in (tmp_path, tmp_path / "no" / "file", tmp_path / "plain" / "file", "https:///x", "htps://host"):
        with pytest.raises(ConfigError, match=r"^WATCHES__REPORT: must be an http"):
            app.check_settings(load_settings({"WATCHES__REPORT": str(place)}, None))
    for place in ("", "https://u:p@host/path?key=x", str(tmp_path / "plain"), "found.jsonl"):
        app.check_settings(load_settings({"WATCHES__REPORT": place}, None))
    environ = {"ACCESS__ALLOWED": "*", "STORE__PATH": str(path), "LLM__PROVIDERS": "offline"}
    settings = load_settings({**environ, "WATCHES__REPORT": "found.jsonl"}, None)
    async with app.build_service(settings, FakeTransport(), realm="signal") as aldis:
        assert aldis.watches.reports.place == "found.jsonl"
