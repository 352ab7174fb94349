"""One tool call: whatever happens, exactly one answer that a model can read."""

import asyncio
import json
import logging
from typing import Any

import pytest

from bot.clock import SetClock
from bot.events import PersonId
from bot.messages import CallId, ToolCall
from tests.bot.turn.talk import Echo, toolbox
from tools import BadArguments, Denied, Disabled, NotFound, RateLimited, TimedOut, TooLarge, ToolError, Unavailable

ALICE = PersonId("alice")


def call(arguments: dict[str, Any], name: str = "echo", malformed: str | None = None) -> ToolCall:
    return ToolCall(id=CallId("call_1"), name=name, arguments=arguments, malformed=malformed)


async def test_a_result_is_marked_as_untrusted_data(clock: SetClock) -> None:
    """What a tool found is data, under a name that says so."""
    run = await toolbox(clock, Echo()).run(call({"word": "hi", "times": 2}), ALICE)
    assert json.loads(run.answer.content) == {"ok": True, "untrusted_data": {"word": "hihi"}}
    assert (run.outcome, run.answer.ok, str(run.cost_usd)) == ("ok", True, "0.002")


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
    run = await toolbox(clock, tool).run(asked, ALICE)
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

    run = await toolbox(clock, Echo(work=work)).run(call({"word": "a"}), ALICE)
    assert json.loads(run.answer.content) == {"ok": False, "error": kind.code, "message": "the reason"}
    assert not run.answer.ok


async def test_a_bug_in_a_tool_is_an_answer_too(clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """The turn goes on; the log names the place, and not the words that the exception quotes."""

    def work(word: str) -> None:
        raise RuntimeError(f"cannot say {word}")

    with caplog.at_level(logging.DEBUG):
        run = await toolbox(clock, Echo(work=work)).run(call({"word": "sesame"}), ALICE)
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
    run = await toolbox(clock, tool, timeout_seconds=0.01 if own is None else 60).run(call({"word": "a"}), ALICE)
    assert json.loads(run.answer.content)["error"] == "timeout"
    assert cancelled.is_set()


async def test_a_long_result_is_cut_and_stays_json(clock: SetClock) -> None:
    """The cut is visible and what is left can be parsed."""
    run = await toolbox(clock, Echo(), max_result_chars=300).run(call({"word": "long", "times": 1000}), ALICE)
    answer = json.loads(run.answer.content)
    assert len(run.answer.content) < 350
    assert "cut" in answer["untrusted_data"]["word"]


async def test_calls_per_minute_are_limited_per_tool_and_person(clock: SetClock) -> None:
    """One person's calls of one tool are counted; another person, another tool and the next minute are free."""
    box = toolbox(clock, Echo(), Echo(name="other"), calls_per_minute=2)

    async def outcome(person: str, name: str = "echo") -> str:
        return (await box.run(call({"word": "a"}, name=name), PersonId(person))).outcome

    assert [await outcome("alice") for _ in range(3)] == ["ok", "ok", "rate_limited"]
    assert [await outcome("bob"), await outcome("alice", "other")] == ["ok", "ok"]
    clock.move(60)
    assert await outcome("alice") == "ok"


async def test_what_is_offered_is_what_there_is(clock: SetClock) -> None:
    """Names, descriptions and schemas come from the tools, in a stable order."""
    box = toolbox(clock, Echo(), Echo(name="other", effects="once"))
    assert [offer.name for offer in box.offers] == ["echo", "other"]
    properties = box.offers[0].parameters["properties"]
    assert isinstance(properties, dict)
    assert properties.keys() == {"word", "times"}
    assert not box.runs_once(call({}))
    assert box.runs_once(call({}, name="other"))
    assert not box.runs_once(call({}, name="unknown"))
