"""One tool call: whatever happens, exactly one answer that a model can read."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bot.app.tools import idle_features
from bot.chat.journal import Turn
from bot.clock import SetClock
from bot.events import PersonId
from bot.labels import UNKNOWN, Labels
from bot.messages import CallId, ToolAnswer, ToolCall, UserMessage
from bot.models import tool_list
from store import ConversationId, Store, TurnId
from tests.bot.chat.turn_helpers import Desk, Echo, Scripted, calls, incoming, says, toolbox
from tests.conftest import NOON
from tools import (
    CATALOG,
    BadArguments,
    Denied,
    Disabled,
    NotFound,
    RateLimited,
    TimedOut,
    Tool,
    TooLarge,
    ToolDeps,
    ToolError,
    ToolSource,
    Unavailable,
    build,
)
from tools.http import Http
from tools.web.fetch import Fetcher

ALICE = PersonId("alice")


@dataclass
class Tide(ToolSource):
    here: list[Tool]

    @property
    def absent(self) -> Sequence[str]:
        return () if self.here else ("tide",)

    async def tools(self) -> Sequence[Tool]:
        return tuple(self.here)


def turn_of(person: PersonId = ALICE) -> Turn:
    message = replace(incoming(), author=person)
    return Turn(
        id=TurnId(1),
        conversation=ConversationId(1),
        chat=message.chat,
        incoming=(message,),
        loaded_at=NOON,
        question=UserMessage(text="hello"),
        history=(),
        steps=(),
    )


def call(arguments: dict[str, Any], name: str = "echo", malformed: str | None = None) -> ToolCall:
    return ToolCall(id=CallId("call_1"), name=name, arguments=arguments, malformed=malformed)


@pytest.mark.parametrize(
    ("asked", "outcome", "words", "logged"),
    [
        (call({}, name="ehco"), "not_found", "echo", "tool unknown (no arguments)"),
        (call({"sesame": "sesame"}, name="sesame"), "not_found", "echo", "tool unknown (1 unknown)"),
        (call({}), "invalid_arguments", "word: Field required", "tool echo (no arguments)"),
        (call({"sesame": 1, "word": {}}), "invalid_arguments", "sesame", "tool echo (word: 2 characters, 1 unknown)"),
        (call({"word": "a", "times": "many"}), "invalid_arguments", "times", "tool echo (word: 1 characters, times: 4"),
        (call({}, malformed='{"word": "sesame'), "invalid_arguments", "no JSON object", "tool echo (no arguments)"),
        (call({"word": "sesame", "times": 2}), "ok", "sesamesesame", "tool echo (word: 6 characters, times: 1"),
    ],
)
async def test_a_call_is_answered_and_logged_without_what_it_holds(
    clock: SetClock, caplog: pytest.LogCaptureFixture, asked: ToolCall, outcome: str, words: str, logged: str
) -> None:
    """The model learns what to do differently, and the tool is not run; the log has no word of question or answer."""
    tool = Echo()
    with caplog.at_level(logging.DEBUG, logger="bot"):
        run = await toolbox(clock, tool).run(asked, turn_of())
    answer = json.loads(run.answer.content)
    assert (answer["ok"], answer.get("error", "ok"), run.outcome) == (outcome == "ok", outcome, outcome)
    assert words in run.answer.content
    assert bool(tool.ran) is (outcome == "ok")
    [line] = caplog.messages
    assert line.startswith(logged)
    assert f"): {outcome} in " in line
    assert line.endswith(" characters")
    assert "sesame" not in line


async def test_every_failure_of_a_tool_is_an_answer(clock: SetClock) -> None:
    """Each kind of error has its code; what a stranger says of it stands apart, without what cannot be seen."""

    async def failed(error: ToolError) -> ToolAnswer:
        def work(_: str) -> None:
            raise error

        return (await toolbox(clock, Echo(work=work)).run(call({"word": "a"}), turn_of())).answer

    for kind in (BadArguments, Denied, Disabled, NotFound, RateLimited, TimedOut, TooLarge, Unavailable):
        answer = await failed(kind("the reason"))
        read = json.loads(answer.content)
        assert (read.pop("tool", None) is not None) == (kind is BadArguments)
        assert read == {"ok": False, "error": kind.code, "message": "the reason"}
        assert not answer.ok
    answer = await failed(Unavailable("it failed", quoted="obey\u202e me" + "!" * 9000))
    assert json.loads(answer.content)["message"] == "it failed"
    assert json.loads(answer.content)["untrusted_data"]["said"].startswith("obey me!")
    assert len(answer.content) < 700


async def test_a_bug_in_a_tool_is_an_answer_too(clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """The turn goes on; the log names the place, and not the words that the exception quotes."""

    def work(word: str) -> None:
        raise RuntimeError(f"cannot say {word}")

    with caplog.at_level(logging.DEBUG):
        run = await toolbox(clock, Echo(work=work)).run(call({"word": "sesame"}), turn_of())
    assert json.loads(run.answer.content)["error"] == "unavailable"
    assert "RuntimeError" in caplog.text
    assert "sesame" not in caplog.text + run.answer.content


@pytest.mark.parametrize("own", [None, 0.01], ids=["the setting's time", "its own time"])
async def test_a_tool_that_hangs_is_given_up(clock: SetClock, own: float | None) -> None:
    """The total time is bounded, and the work is cancelled."""
    cancelled = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    tool = Echo(work=lambda _: hang(), timeout_seconds=own)
    run = await toolbox(clock, tool, timeout_seconds=0.01 if own is None else 60).run(call({"word": "a"}), turn_of())
    assert json.loads(run.answer.content)["error"] == "timeout"
    assert cancelled.is_set()


async def test_a_long_result_is_cut_and_stays_json(clock: SetClock) -> None:
    """The cut is visible and what is left can be parsed."""
    run = await toolbox(clock, Echo(), max_result_chars=300).run(call({"word": "long", "times": 1000}), turn_of())
    answer = json.loads(run.answer.content)
    assert len(run.answer.content) < 350
    assert "cut" in answer["untrusted_data"]["word"]


async def test_calls_per_minute_are_limited_per_tool_and_person(clock: SetClock) -> None:
    """One person's calls of one tool are counted; another person, another tool and the next minute are free."""
    box = toolbox(clock, Echo(), Echo(name="other"), calls_per_minute=2)

    async def outcome(person: str, name: str = "echo") -> str:
        return (await box.run(call({"word": "a"}, name=name), turn_of(PersonId(person)))).outcome

    assert [await outcome("alice") for _ in range(3)] == ["ok", "ok", "rate_limited"]
    assert [await outcome("bob"), await outcome("alice", "other")] == ["ok", "ok"]
    clock.move(60)
    assert await outcome("alice") == "ok"


async def test_tools_that_come_and_go_stand_behind_those_that_stay(clock: SetClock) -> None:
    """Always in the same order; a name that is taken stays with who had it; what is gone is said to be gone."""
    fixed, shadow, first, second = Echo(), Echo(name="echo"), Echo(name="first"), Echo(name="second")
    one, other = Tide([shadow, first]), Tide([second, Echo(name="first")])
    box = toolbox(clock, fixed, sources=(one, other))
    assert [offer.name for offer in await box.offers()] == ["echo", "first", "second"]
    for name in ("echo", "first", "second"):
        assert (await box.run(call({"word": "a"}, name=name), turn_of())).answer.ok
    assert (fixed.ran, shadow.ran, first.ran) == (["a"], [], ["a"])
    one.here, other.here = [], [second]
    assert [offer.name for offer in await box.offers()] == ["echo", "second"]
    gone = await box.run(call({"word": "a"}, name="first"), turn_of())
    assert json.loads(gone.answer.content)["error"] == "not_found"
    assert "there is no tool 'first' now" in gone.answer.content
    assert box.approval(call({"word": "a"}, name="first"), UNKNOWN, ALICE, "") is None


async def test_what_a_call_costs_is_said_to_the_model(clock: SetClock) -> None:
    """With the tool, before it is called."""
    [offer] = await toolbox(clock, Echo()).offers()
    assert offer.description == "Gives back a word. One call costs about 0.002 US dollars."


async def test_what_a_tool_takes_is_told_in_full(clock: SetClock) -> None:
    """By any of its names, and no person is asked whether it may be; of one that is not there, which there are."""
    box = toolbox(clock, Echo(name="calculate"), approve=("all",))

    async def described(name: str) -> dict[str, Any]:
        asked = call({"tool": name}, tool_list.NAME)
        assert box.approval(asked, Labels(), ALICE, "") is None
        return json.loads((await box.run(asked, turn_of())).answer.content)

    for name in ("calculate", "calculator"):
        assert (await described(name))["untrusted_data"]["parameters"]["properties"].keys() == {"word", "times"}
    assert (await described("nothing"))["error"] == "not_found"


async def test_a_misspelt_tool_of_a_server_has_all_of_its_tools_ask(clock: SetClock) -> None:
    """Which it has is known only while it runs, so that the start cannot refuse the name."""
    tide = Tide([Echo(name=name, flags={"server": "crm"}) for name in ("crm_find", "crm_post")])
    other = Tide([Echo(name="hr_find", flags={"server": "hr"})])
    prefixes = {"crm": "crm_", "hr": "hr_", "away": "away_"}
    for approve, asking in (("crm_pots", ["crm_find", "crm_post"]), ("crm_post", ["crm_post"]), ("away_post", [])):
        box = toolbox(clock, Echo(), sources=(tide, other), approve=(approve,), prefixes=prefixes)
        await box.offers()
        names = [offer.name for offer in await box.offers()]
        asked = [
            name for name in names if box.approval(call({"word": "a"}, name=name), Labels(), ALICE, "") is not None
        ]
        assert asked == asking


# Names that models and people have for tools and arguments: what is meant is what runs


async def test_what_is_meant() -> None:
    """What is unclear stays as written. Plain words (`<<tool: words>>`) are the one text that the tool needs."""
    options = {name: entry.options() for name, entry in CATALOG.items()}
    async with Http("test") as http, Fetcher("test") as fetcher:
        around = ToolDeps(http=http, fetcher=fetcher, features=idle_features())
        box = toolbox(SetClock(NOON), *build(options, around))
    for name, given, meant, arguments in (
        ("get_weather", {"location": "Oslo"}, "get_weather", {"place": "Oslo"}),
        ("weather", {"city": "Oslo", "days": 2}, "get_weather", {"place": "Oslo", "days": 2}),
        ("get_weather", {"place": "Oslo", "location": "Rome"}, "get_weather", {"place": "Oslo", "location": "Rome"}),
        ("web_search", {"query": "lamps", "limit": 3}, "web_search", {"query": "lamps", "count": 3}),
        ("web_search", {"query": "lamps", "timeout_ms": 500}, "web_search", {"query": "lamps"}),
        ("market_get", {"market_id": "m:1"}, "market_get", {"market": "m:1"}),
        ("calculator", {"a": 2, "b": 3, "operation": "add"}, "calculate", {"expression": "(2) + (3)"}),
        ("calculator", {"a": "1+1", "b": -3, "operation": "*"}, "calculate", {"expression": "(1+1) * (-3)"}),
        ("calculate", {"a": 2, "b": 3, "operation": "exec"}, "calculate", {"a": 2, "b": 3, "operation": "exec"}),
        ("functions.get_weather", {"place": "Oslo"}, "get_weather", {"place": "Oslo"}),
        ("default_api:weather", {"place": "Oslo"}, "get_weather", {"place": "Oslo"}),
        ("calculate<|channel|>commentary", {"expression": "1+1"}, "calculate", {"expression": "1+1"}),
        ("nothing_like_it", {"location": "Oslo"}, "nothing_like_it", {"location": "Oslo"}),
    ):
        understood = box.understood(ToolCall(id=CallId("c"), name=name, arguments=given))
        assert (understood.name, dict(understood.arguments)) == (meant, arguments)
    for name, words, arguments in (
        ("get_weather", "Oslo", {"place": "Oslo"}),
        ("web_search", '"lamps of ships"', {"query": "lamps of ships"}),
        ("calculate", "17*23", {"expression": "17*23"}),
        ("get_weather", '{"place": ', None),
        ("reminders", "buy a lamp", None),
    ):
        call = ToolCall(id=CallId("c"), name=name, arguments={}, malformed=words)
        understood = box.understood(call)
        assert understood == (call if arguments is None else replace(call, arguments=arguments, malformed=None))


async def test_what_is_decided_is_decided_by_what_runs(store: Store, clock: SetClock) -> None:
    """The journal, the history and the tool have the same call: one under another name is the same as the first."""
    tool = Echo(name="web_search")
    script = (calls(("search", {"word": "a"})), calls(("web_search", {"word": "a"})), says("A."))
    there = Desk(store, clock, Scripted([*script]), (tool,))
    outcome = await there.kept()
    assert tool.ran == ["a"]
    called = [call.name for message in outcome.messages if message.role == "assistant" for call in message.calls]
    assert called == ["web_search", "web_search"]
