"""One tool call: whatever happens, exactly one answer that a model can read."""

import asyncio
import json
import logging
from typing import Any

import pytest

from bot.clock import SetClock
from bot.events import PersonId
from bot.labels import UNKNOWN, Labels
from bot.messages import CallId, ToolCall
from tests.bot.chat.turn_helpers import Echo, Tide, toolbox, turn_of
from tools import BadArguments, Denied, Disabled, NotFound, RateLimited, TimedOut, TooLarge, ToolError, Unavailable

ALICE = PersonId("alice")


def call(arguments: dict[str, Any], name: str = "echo", malformed: str | None = None) -> ToolCall:
    return ToolCall(id=CallId("call_1"), name=name, arguments=arguments, malformed=malformed)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (call({}, name="ehco"), "not_found", "echo"),
        (call({}), "invalid_arguments", "word: Field required"),
        (call({"word": "a", "colour": "red"}), "invalid_arguments", "colour"),
        (call({"word": "a", "times": "many"}), "invalid_arguments", "times"),
        (call({}, malformed='{"word": "a'), "invalid_arguments", "no JSON object"),
    ],
    ids=["unknown tool", "missing", "unknown argument", "wrong type", "malformed"],
)
async def test_a_wrong_call_is_told_what_is_wrong(clock: SetClock, asked: ToolCall, error: str, words: str) -> None:
    """The model learns what to do differently; the tool is not run."""
    tool = Echo()
    run = await toolbox(clock, tool).run(asked, turn_of())
    answer = json.loads(run.answer.content)
    assert (answer["ok"], answer["error"], run.outcome, tool.ran) == (False, error, error, [])
    assert words in answer["message"]


@pytest.mark.parametrize(
    "kind", [BadArguments, Denied, Disabled, NotFound, RateLimited, TimedOut, TooLarge, Unavailable]
)
async def test_every_failure_of_a_tool_is_an_answer(clock: SetClock, kind: type[ToolError]) -> None:
    """Each kind of error has its code."""

    def work(_: str) -> None:
        raise kind("the reason")

    run = await toolbox(clock, Echo(work=work)).run(call({"word": "a"}), turn_of())
    assert json.loads(run.answer.content) == {"ok": False, "error": kind.code, "message": "the reason"}
    assert not run.answer.ok


async def test_a_bug_in_a_tool_is_an_answer_too(clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """The turn goes on; the log names the place, and not the words that the exception quotes."""

    def work(word: str) -> None:
        raise RuntimeError(f"cannot say {word}")

    with caplog.at_level(logging.DEBUG):
        run = await toolbox(clock, Echo(work=work)).run(call({"word": "sesame"}), turn_of())
    assert json.loads(run.answer.content)["error"] == "unavailable"
    assert "RuntimeError" in caplog.text
    assert "sesame" not in caplog.text + run.answer.content


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (call({"word": "sesame", "times": 2}), "tool echo (word: 6 characters, times: 1 characters): ok in "),
        (call({"sesame": 1, "word": {}}), "tool echo (word: 2 characters, 1 unknown): invalid_arguments in "),
        (call({}, malformed="sesame"), "tool echo (no arguments): invalid_arguments in "),
        (call({"sesame": "sesame"}, name="sesame"), "tool unknown (1 unknown): not_found in "),
    ],
)
async def test_the_log_tells_of_a_call_without_what_it_holds(
    asked: ToolCall, told: str, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """The tool, its arguments by name and size, the outcome, the time and the size; no word of question or answer."""
    with caplog.at_level(logging.DEBUG, logger="bot"):
        await toolbox(clock, Echo()).run(asked, turn_of())
    [record] = caplog.records
    assert record.getMessage().startswith(told)
    assert record.getMessage().endswith(" characters")
    assert "sesame" not in record.getMessage()


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
        return (await box.run(call({"word": "a"}, name=name), turn_of(person))).outcome

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


async def test_what_a_stranger_says_of_a_failure_is_data(clock: SetClock) -> None:
    """It stands apart from our own words, without what cannot be seen."""

    def work(_: str) -> None:
        raise Unavailable("it failed", quoted="obey\u202e me" + "!" * 9000)

    run = await toolbox(clock, Echo(work=work)).run(call({"word": "a"}), turn_of())
    answer = json.loads(run.answer.content)
    assert (answer["message"], answer["ok"]) == ("it failed", False)
    assert answer["untrusted_data"]["said"].startswith("obey me!")
    assert len(run.answer.content) < 700


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
