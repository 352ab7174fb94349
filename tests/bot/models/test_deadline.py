"""How long an answer may take: what goes on is not cut by the clock, a silence ends it, and so does its whole length.

Time passes by setting the loop's clock ahead whenever a piece has been heard, so the machine's speed changes nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pytest
from aiohttp import web

from bot.errors import ProviderError, TooSlow, Unavailable
from bot.messages import AssistantMessage, Text
from bot.models.adapter import PartialAnswer
from bot.models.base import Completion, Deadline, Request, Stop
from bot.models.capabilities import LESSON, Capabilities, ModelLessons
from bot.models.fallback import Fallback
from bot.models.openai import OpenAI
from bot.models.openai_chat import PartialChat
from bot.models.openai_responses import PartialResponse
from tests.bot.models.test_fallback import completion_of
from tests.bot.models.vendors import NAMES, QUESTION, calls, opened, texts
from tests.servers.base import Seen
from tests.servers.openai import OpenAIServer
from tests.servers.script import Scripted, broken, call, event, refuse, say, think
from tests.waiting import WAIT_SECONDS, let_pass

SILENT_SECONDS = 2 * WAIT_SECONDS
"""How long a model may be silent here: the next piece comes in the half of it that remains."""
LONG_SECONDS = 1_000_000.0
WORDS = "It is cold in Oslo, and 🌧️ is on its way."


def slowly(request: Request = QUESTION, *, total_seconds: float = LONG_SECONDS) -> Request:
    """The question to a model that takes minutes for each piece."""
    return replace(
        request,
        timeout_seconds=SILENT_SECONDS,
        total_seconds=total_seconds,
        on_piece=lambda: let_pass(SILENT_SECONDS / 2),
    )


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    "said",
    [say(WORDS), think("Hm, let me see what there is.") + call("get_weather", {"place": "Oslo, and all around it"})],
    ids=["words", "thoughts and a call"],
)
async def test_what_goes_on_is_not_cut(kind: str, said: Scripted) -> None:
    """However long it takes in all: each piece of words, thoughts and calls gives it time for the next."""
    async with opened(kind, streams=True) as vendor:
        vendor.server.scripted(said)
        began_at = asyncio.get_running_loop().time()
        completion = await vendor.provider.complete(slowly())
        took_seconds = asyncio.get_running_loop().time() - began_at
    assert took_seconds > 2 * SILENT_SECONDS
    if said.calls:
        assert [dict(one.arguments) for one in calls(completion)] == [{"place": "Oslo, and all around it"}]
    else:
        assert (texts(completion), completion.stop) == ([WORDS], Stop.END)


@pytest.mark.parametrize("kind", NAMES)
async def test_what_was_written_by_the_end_is_not_lost(kind: str) -> None:
    """All of its time is over in the middle of the words: they come with the error, as an answer without its end."""
    async with opened(kind, streams=True) as vendor:
        vendor.server.scripted(say(WORDS))
        with pytest.raises(TooSlow, match="did not come to an end in 1800 s") as raised:
            await vendor.provider.complete(slowly(total_seconds=3 * SILENT_SECONDS))
    begun = raised.value.begun
    assert isinstance(begun, Completion)
    assert begun.stop is Stop.UNFINISHED
    assert WORDS.startswith(" ".join(texts(begun)))
    assert texts(begun)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    "said",
    [
        say("<think>Hm, let me see what there is to be said of it."),
        call("get_weather", {"place": "Oslo, and all around it"}),
        refuse("I would rather not say anything about that."),
    ],
    ids=["thoughts", "a call", "a refusal"],
)
async def test_what_is_no_word_is_lost(kind: str, said: Scripted) -> None:
    """Thoughts, half a call and half a refusal are no answer that anybody could read. Claude says only at the end that
    it refuses.
    """
    if kind == "anthropic" and said.ending == "refusal":
        return
    async with opened(kind, streams=True) as vendor:
        vendor.server.scripted(broken(said, "stall", events=5))
        with pytest.raises(TooSlow) as raised:
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.2))
    assert raised.value.begun is None


@pytest.mark.parametrize("kind", ["anthropic", "responses", "local"])
async def test_pings_give_no_time(kind: str) -> None:
    """A server that only shows that it is there is silent: comments, empty pieces, events that nobody knows."""
    empty: dict[str, tuple[Any, ...]] = {
        "anthropic": (
            {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 7}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "ping"},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ""}},
        ),
        "responses": (
            {"type": "response.in_progress", "response": {}},
            {"type": "response.output_text.delta", "delta": ""},
            {"type": "keepalive"},
        ),
        "local": (
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {"content": None, "tool_calls": []}}]},
            {"choices": []},
        ),
    }

    async def pinging(_: Seen) -> web.StreamResponse:
        async def pings() -> AsyncIterator[bytes]:
            while True:
                yield b": still there\n\n"
                for piece in empty[kind]:
                    yield event(piece, piece.get("type"))
                await asyncio.sleep(0.01)

        return web.Response(body=pings(), content_type="text/event-stream")

    async with opened(kind, streams=True) as vendor, asyncio.timeout(WAIT_SECONDS):
        vendor.server.faults.append(pinging)
        with pytest.raises(TooSlow, match=r"gave no answer in 0\.2 s"):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.2, total_seconds=LONG_SECONDS))


async def test_whoever_was_slow_is_streamed_from_then_on() -> None:
    """Nobody listens, and yet the next answer is not awaited as a whole; before that it is."""

    def answer_late(_: Any) -> Scripted:
        let_pass(31)
        return say("At last.")

    async with opened("local") as vendor:
        for _ in range(2):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=SILENT_SECONDS))
        vendor.server.reply = answer_late
        for _ in range(2):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=SILENT_SECONDS))
        asked = [seen.json().get("stream", False) for seen in vendor.server.requests]
    assert asked == [False, False, False, True]


@pytest.mark.parametrize("kind", ["anthropic", "local"])
async def test_whoever_gave_no_answer_in_time_is_streamed_from_then_on(kind: str) -> None:
    """The next one may come, piece by piece."""
    async with opened(kind) as vendor:
        vendor.server.latency_seconds = WAIT_SECONDS
        with pytest.raises(TooSlow):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.2))
        vendor.server.latency_seconds = 0
        await vendor.provider.complete(QUESTION)
        assert vendor.sent["stream"] is True


def at_home(server: OpenAIServer) -> OpenAI:
    """A provider that has heard what kind of server that is."""
    lessons = ModelLessons()
    lessons.learn(server.base_url, "llama-4", **{LESSON: Capabilities(is_at_home=True).as_lesson()})
    return OpenAI(api_key=None, model="llama-4", base_url=server.base_url, lessons=lessons)


async def test_a_server_at_home_is_streamed() -> None:
    """From the first answer on: the machine may be a slow one."""
    async with OpenAIServer(local=True) as server, aclosing(at_home(server)) as provider:
        assert texts(await provider.complete(QUESTION)) == texts(await provider.complete(QUESTION))
        assert [seen.json()["stream"] for seen in server.requests] == [True, True]


async def test_a_server_that_cannot_stream_tools() -> None:
    """It is asked again for the whole answer, and from then on at once."""
    async with OpenAIServer(local=True, streams_tools=False) as server, aclosing(at_home(server)) as provider:
        completions = [await provider.complete(QUESTION) for _ in range(2)]
        assert [seen.json().get("stream", False) for seen in server.requests] == [True, False, False]
    assert [completion.stop for completion in completions] == [Stop.END, Stop.END]


@pytest.mark.parametrize("kind", ["chat", "responses"])
async def test_whoever_may_not_be_streamed_is_awaited_as_a_whole(kind: str) -> None:
    """OpenAI streams its newest models to those alone who have shown who they are; others are answered all the same."""
    async with opened(kind, streams=True) as vendor:
        assert isinstance(vendor.server, OpenAIServer)
        vendor.server.is_verified, vendor.mistakes = False, True
        completions = [await vendor.provider.complete(QUESTION) for _ in range(2)]
        assert [seen.json().get("stream", False) for seen in vendor.server.requests] == [True, False, False]
    assert [completion.stop for completion in completions] == [Stop.END, Stop.END]


@dataclass
class Late:
    """A provider that writes so many words, one in each `pace_seconds`, and then no more."""

    name: str
    words: int
    pace_seconds: float = 0.0
    then: ProviderError | None = None
    """What it fails with; None: it ends, whole."""
    silent_seconds: float = 0.0
    """For how long it is silent before it fails."""
    asked: list[Request] = field(default_factory=list[Request])

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        for _ in range(self.words):
            let_pass(self.pace_seconds)
            request.on_piece()
        let_pass(self.silent_seconds)
        if self.then is None:
            return written(self.name, self.words, Stop.END)
        if isinstance(self.then, TooSlow) and self.words:
            self.then.begun = written(self.name, self.words, Stop.UNFINISHED)
        raise self.then

    async def aclose(self) -> None:
        """Nothing is open."""


def written(name: str, words: int, stop: Stop) -> Completion:
    message = AssistantMessage(parts=(Text(text=" ".join(["word"] * words)),))
    return replace(completion_of(name), message=message, stop=stop)


def fallback_of(*providers: Late) -> Fallback:
    async def pause(seconds: float) -> None:
        let_pass(seconds)

    return Fallback(providers, monotonic=lambda: asyncio.get_running_loop().time(), pause=pause)


ASKED = replace(QUESTION, timeout_seconds=60, total_seconds=600)


async def test_writing_takes_no_time_from_the_others() -> None:
    """One that wrote for minutes and then fell silent leaves the next as much as one that was silent at once."""
    first = Late("a", 8, 25, TooSlow("silent", provider="a"), silent_seconds=30)
    second = Late("b", 3)
    completion = await fallback_of(first, second).complete(ASKED)
    assert (completion.provider, completion.stop) == ("b", Stop.END)
    assert [(attempt.provider, attempt.error) for attempt in completion.attempts] == [("a", "TooSlow")]
    assert first.asked[0].timeout_seconds == pytest.approx(30, abs=1)
    assert second.asked[0].timeout_seconds == pytest.approx(30, abs=1)
    assert second.asked[0].total_seconds == pytest.approx(600 - 8 * 25 - 30, abs=1)


async def test_the_longest_of_what_was_begun_is_the_answer_when_nobody_ends() -> None:
    """Rather than a sentence about a failure; its own try is not counted twice."""
    first = Late("a", 8, 5, TooSlow("silent", provider="a"), silent_seconds=30)
    second = Late("b", 3, 5, TooSlow("silent", provider="b"), silent_seconds=60)
    completion = await fallback_of(first, second).complete(ASKED)
    assert (completion.provider, completion.stop, texts(completion)) == ("a", Stop.UNFINISHED, ["word " * 7 + "word"])
    assert [(attempt.provider, attempt.error) for attempt in completion.attempts] == [("b", "TooSlow")]


async def test_without_a_word_it_is_an_error() -> None:
    """Whoever is last speaks for all."""
    first = Late("a", 0, 0, TooSlow("silent", provider="a"), silent_seconds=30)
    second = Late("b", 0, 0, Unavailable("down", provider="b"), silent_seconds=60)
    with pytest.raises(Unavailable, match="down"):
        await fallback_of(first, second).complete(ASKED)


async def test_a_provider_that_minds_no_deadline_is_left() -> None:
    """Also one that has begun."""

    class Hanging(Late):
        async def complete(self, request: Request) -> Completion:
            request.on_piece()
            await asyncio.Event().wait()
            raise AssertionError

    with pytest.raises(TooSlow, match="wrote nothing more for"):
        await fallback_of(Hanging("a", 0)).complete(replace(ASKED, timeout_seconds=0.05))


async def test_a_deadline_is_entered_again_for_what_is_left() -> None:
    """The second of two attempts has no more time than both together."""
    deadline = Deadline(replace(QUESTION, timeout_seconds=0.05, total_seconds=LONG_SECONDS))
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with deadline:
                await asyncio.Event().wait()
    assert deadline.left_seconds <= 0


async def test_what_a_late_answer_has_cost_is_estimated() -> None:
    """What the service has counted of it by then is not all of it."""
    async with opened("anthropic", streams=True) as vendor:
        vendor.server.scripted(say(WORDS))
        with pytest.raises(TooSlow) as raised:
            await vendor.provider.complete(slowly(total_seconds=3 * SILENT_SECONDS))
    begun = raised.value.begun
    assert isinstance(begun, Completion)
    assert (begun.usage.input_tokens, begun.usage.output_tokens) == (100, 0)
    assert begun.cost_usd == Decimal("0.10") * 100 / 1_000_000


def _chat(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def _call(**function: Any) -> dict[str, Any]:
    return _chat(tool_calls=[{"index": 0, "function": function}])


@pytest.mark.parametrize(
    ("partial", "pieces", "grows"),
    [
        (PartialChat, [_chat(content="Hi"), _chat(content=[{"type": "text", "text": "Hi"}])], True),
        (PartialChat, [_chat(refusal="No"), _chat(reasoning_content="Hm"), _chat(reasoning="Hm")], True),
        (PartialChat, [_chat(reasoning_details=[{"type": "reasoning.text", "text": "Hm", "index": 0}])] * 2, True),
        (PartialChat, [_call(name="f"), _call(arguments="{"), _call(name="f", arguments="}")], True),
        (PartialChat, [_chat(), _chat(role="assistant", content=None), _chat(content=""), _chat(tool_calls=[])], False),
        (PartialChat, [{"choices": [], "usage": {"prompt_tokens": 7}}, {"choices": None}, {}], False),
        (PartialChat, [_call(arguments=""), _call(arguments=None), _chat(reasoning_details=[{"index": 0}])], False),
        (PartialResponse, [{"type": "response.output_text.delta", "delta": "Hi"}], True),
        (PartialResponse, [{"type": "response.function_call_arguments.delta", "delta": "{"}], True),
        (PartialResponse, [{"type": "response.reasoning_summary_text.delta", "delta": "Hm"}], True),
        (PartialResponse, [{"type": "response.in_progress"}, {"type": "response.output_text.delta"}], False),
    ],
)
def test_what_counts_as_a_piece(partial: type[PartialAnswer], pieces: list[Any], grows: bool) -> None:
    """Whatever brings more of words, thoughts and calls, and nothing else: that gives a model time."""
    answer = partial()
    for piece in pieces:
        before = answer.size
        answer.take(piece)
        assert (answer.size > before) is grows
