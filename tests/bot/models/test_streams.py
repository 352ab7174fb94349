"""Answers in pieces, which chat completions alone give: what goes on is not cut by the clock, and what becomes of a
stream that does not come to its end.

Time passes by setting the loop's clock ahead whenever a piece has been heard, so the machine's speed changes nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected, TooSlow, Unavailable
from bot.models import openai_chat
from bot.models.base import Completion, Request, Stop
from bot.models.capabilities import LESSON, Capabilities, ModelLessons
from bot.models.fallback import Fallback
from bot.models.openai import OpenAI
from tests.bot.models.test_fallback import completion_of
from tests.bot.models.vendors import QUESTION, Vendor, calls, opened, texts
from tests.servers.base import Seen
from tests.servers.openai import OpenAIServer
from tests.servers.script import Break, Scripted, Tokens, broken, call, cut_off, event, refuse, say, think
from tests.waiting import WAIT_SECONDS, let_pass

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORDS = "It is cold in Oslo, and 🌧️ is on its way."
SILENT_SECONDS = 2 * WAIT_SECONDS
"""How long a model may be silent here: the next piece comes in the half of it that remains."""
LONG_SECONDS = 1_000_000.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_vendors() -> AsyncIterator[dict[str, Vendor]]:
    async with (
        opened("chat", streams=True) as chat,
        opened("local", streams=True) as local,
        opened("prompted", streams=True) as prompted,
    ):
        yield {"chat": chat, "local": local, "prompted": prompted}


@pytest.fixture(params=["chat", "local", "prompted"])
def vendor(request: pytest.FixtureRequest, open_vendors: dict[str, Vendor]) -> Iterator[Vendor]:
    vendor = open_vendors[request.param]
    vendor.begin()
    vendor.provider.is_slow = True
    yield vendor
    vendor.end()


@pytest.fixture
def chat(open_vendors: dict[str, Vendor]) -> Vendor:
    open_vendors["chat"].begin()
    return open_vendors["chat"]


@pytest.mark.parametrize(
    "said",
    [
        think("hm") + say("I look.") + think("so") + call("get_weather", {"place": "Zürich 🌧️"}, call_id="toolu_1"),
        call("get_weather", {"place": "Oslo"}, call_id="a") + call("current_time", {}, call_id="b"),
        say("It is") + call("get_weather", '{"place": "Os', call_id="a") + cut_off(),
        refuse("I would rather not."),
        say(WORDS).using(Tokens(fresh=70, cache_read=20, cache_write=10, output=5)),
        say(WORDS).using(None),
    ],
)
async def test_the_completion_is_the_same_as_in_one_piece(vendor: Vendor, said: Scripted) -> None:
    """Parts, stop, usage and cost are those of the answer in one piece."""
    vendor.server.scripted(said, said)
    streamed = await vendor.provider.complete(QUESTION)
    assert vendor.sent["stream"] is True
    assert vendor.sent["stream_options"] == {"include_usage": True}
    vendor.provider.is_slow = False
    whole = await vendor.provider.complete(QUESTION)
    assert "stream" not in vendor.sent
    assert replace(streamed, latency_seconds=0) == replace(whole, latency_seconds=0)


BREAKS: list[tuple[Break, type[ProviderError]]] = [
    ("cut", Unavailable),
    ("garbage", Unavailable),
    ("end", Unavailable),
    ("error", Overloaded),
]


@pytest.mark.parametrize(("how", "kind"), BREAKS)
@pytest.mark.parametrize("events", [0, 6])
async def test_a_stream_that_breaks_off(vendor: Vendor, how: Break, kind: type[ProviderError], events: int) -> None:
    """Wherever it breaks off it is no answer; if any was heard, it has cost nobody knows how much. The next request
    finds the service well.
    """
    vendor.server.scripted(broken(say(WORDS), how, events=events, error="rate_limit_exceeded"))
    with pytest.raises(ProviderError) as raised:
        await vendor.provider.complete(QUESTION)
    assert type(raised.value) is kind
    assert "failed in the middle" not in str(raised.value)
    assert raised.value.cost_usd is None or (how in {"cut", "error"} and not events)
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


async def test_a_stream_that_stalls_or_is_stopped(vendor: Vendor) -> None:
    """The deadline holds also when some of the answer came in time; cancelled in the middle it ends as cancelled."""
    vendor.server.scripted(broken(say(WORDS), "stall", events=6))
    with pytest.raises(TooSlow, match=r"(gave no answer|did not come to an end) in 0\.2 s"):
        async with asyncio.timeout(WAIT_SECONDS):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.2))
    vendor.server.broken.clear()
    vendor.server.scripted(broken(say(WORDS), "stall", events=6))
    asking = asyncio.create_task(vendor.provider.complete(QUESTION))
    await vendor.server.broken.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("insufficient_quota", BadKey),
        ("context_length_exceeded", ContextTooLong),
        ("server_error", Unavailable),
        ("shard_relocated", Unavailable),
        ("502", Unavailable),
        ("429", Overloaded),
        ("slow_down", Overloaded),
        ("invalid_request_error", Rejected),
    ],
)
async def test_an_error_in_the_middle_is_told_apart(chat: Vendor, code: str, kind: type[ProviderError]) -> None:
    """What a service says within a stream decides who must act, as its status does outside of one."""
    chat.server.scripted(broken(say(WORDS), "error", error=code))
    with pytest.raises(ProviderError) as raised:
        await chat.provider.complete(QUESTION)
    assert type(raised.value) is kind


async def test_a_server_that_does_not_stream(vendor: Vendor) -> None:
    """An answer in one piece is taken although pieces were asked for."""
    vendor.server.streams = False
    vendor.server.scripted(say(WORDS))
    completion = await vendor.provider.complete(QUESTION)
    vendor.server.streams = True
    assert texts(completion) == [WORDS]


def _call(name: str | None, arguments: object, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": [{"function": {"name": name, "arguments": arguments}, **more}]}}]}


END = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "chunks",
    [
        [_call("a", '{"x"', index=0, id="1"), _call("", ": 1}", index=0), _call("b", "{}", index=1, id="2"), END],
        [
            _call("a", '{"x"', index=0, id="1"),
            _call("a", ": 1}", index=0, id="1"),
            _call("b", "", index=1, id="2"),
            END,
        ],
        [_call("a", '{"x": 1}', index=0, id="1"), _call("b", "{}", index=0, id="2"), END],
        [_call("a", {"x": 1}, id="1"), _call("b", None, id="2"), END],
        [_call("a", '{"x"'), _call("a", ": 1}"), _call("b", "{}"), END],
        [_call("a", '{"x"', index=0), _call("a", ": 1}", index=0), _call("b", "{}", index=0, id=""), END],
    ],
)
async def test_how_servers_cut_calls(chunks: list[dict[str, Any]]) -> None:
    """Numbered, whole, all of one number, with the id in every piece or without any: they are the same two calls."""
    gathered = openai_chat.PartialChat()
    for chunk in chunks:
        gathered.take(chunk)
    asked = openai_chat.read(gathered.body())
    assert asked.message is not None
    assert [(one.name, dict(one.arguments)) for one in asked.message.calls] == [("a", {"x": 1}), ("b", {})]


@pytest.mark.parametrize("depth", [300, 200_000])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_nesting_that_nobody_can_read_is_no_answer(vendor: Vendor, kind: str, depth: int) -> None:
    """It is told like any other answer that cannot be read, whoever gives up first: the SDK, or what reads after it."""
    deep = b'{"choices":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    data = deep if kind == "application/json" else b"data: " + deep + b"\n\n"
    vendor.server.faults.append(lambda _: web.Response(body=data, content_type=kind))
    with pytest.raises(Unavailable):
        await vendor.provider.complete(QUESTION)


def slowly(*, total_seconds: float = LONG_SECONDS) -> Request:
    """The question to a model that takes minutes for each piece."""
    return replace(
        QUESTION,
        timeout_seconds=SILENT_SECONDS,
        total_seconds=total_seconds,
        on_piece=lambda: let_pass(SILENT_SECONDS / 2),
    )


@pytest.mark.parametrize(
    "said",
    [say(WORDS), think("Hm, let me see what there is.") + call("get_weather", {"place": "Oslo, and all around it"})],
    ids=["words", "thoughts and a call"],
)
async def test_what_goes_on_is_not_cut(said: Scripted) -> None:
    """However long it takes in all: each piece of words, thoughts and calls gives it time for the next, until the end
    of the whole.
    """
    async with opened("local", streams=True) as vendor:
        vendor.server.scripted(said, said)
        began_at = asyncio.get_running_loop().time()
        completion = await vendor.provider.complete(slowly())
        assert asyncio.get_running_loop().time() - began_at > 2 * SILENT_SECONDS
        with pytest.raises(TooSlow, match="did not come to an end in 1800 s") as raised:
            await vendor.provider.complete(slowly(total_seconds=3 * SILENT_SECONDS))
    assert raised.value.cost_usd is None
    assert [dict(one.arguments) for one in calls(completion)] == [one.arguments for one in said.calls]
    assert texts(completion) == ([] if said.calls else [WORDS])


async def test_pings_give_no_time() -> None:
    """A server that only shows that it is there is silent: comments, empty pieces."""
    empty = (
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": None, "tool_calls": []}}]},
        {"choices": []},
    )

    async def pinging(_: Seen) -> web.StreamResponse:
        async def pings() -> AsyncIterator[bytes]:
            while True:
                yield b": still there\n\n" + b"".join(map(event, empty))
                await asyncio.sleep(0.01)

        return web.Response(body=pings(), content_type="text/event-stream")

    async with opened("local", streams=True) as vendor, asyncio.timeout(WAIT_SECONDS):
        vendor.server.faults.append(pinging)
        with pytest.raises(TooSlow, match=r"gave no answer in 0\.2 s"):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.2, total_seconds=LONG_SECONDS))


async def test_a_fast_server_leaves_others_their_turn() -> None:
    """The deadline comes through, though no piece is ever waited for."""

    async def endless(_: Seen) -> web.StreamResponse:
        async def words() -> AsyncIterator[bytes]:
            while True:
                yield event({"choices": [{"delta": {"content": "x"}}]}) * 1000

        return web.Response(body=words(), content_type="text/event-stream")

    async with opened("local", streams=True) as vendor, asyncio.timeout(WAIT_SECONDS):
        vendor.server.faults.append(endless)
        with pytest.raises(TooSlow, match=r"did not come to an end in 0\.5 s"):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=LONG_SECONDS, total_seconds=0.5))


async def test_whoever_was_slow_is_streamed_from_then_on() -> None:
    """Nobody listens, and yet the next answer is not awaited as a whole; nor after one that did not come in time."""

    def answer_late(_: Any) -> Scripted:
        let_pass(31)
        return say("At last.")

    async with opened("local") as vendor:
        for reply in (vendor.server.reply, answer_late, answer_late):
            vendor.server.reply = reply
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=SILENT_SECONDS))
        assert [seen.json().get("stream", False) for seen in vendor.server.requests] == [False, False, True]
    async with opened("local") as vendor:
        vendor.server.latency_seconds = WAIT_SECONDS
        with pytest.raises(TooSlow):
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.2))
        vendor.server.latency_seconds = 0
        await vendor.provider.complete(QUESTION)
        assert vendor.sent["stream"] is True


async def test_claude_and_openai_are_never_streamed() -> None:
    """They are fast, and send nothing while they think."""
    for kind in ("anthropic", "responses"):
        async with opened(kind, streams=True) as vendor:
            assert texts(await vendor.provider.complete(QUESTION))
            assert "stream" not in vendor.sent


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


async def test_a_server_that_takes_no_stream() -> None:
    """It is asked again for the whole answer, and from then on at once."""
    server = OpenAIServer(local=True, refuses=frozenset({"stream_options"}))
    async with server, aclosing(at_home(server)) as provider:
        completions = [await provider.complete(QUESTION) for _ in range(2)]
        assert [seen.json().get("stream", False) for seen in server.requests] == [True, False, False]
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
            return completion_of(self.name)
        raise self.then

    async def aclose(self) -> None:
        """Nothing is open."""


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
    assert completion.provider == "b"
    assert [(attempt.provider, attempt.error) for attempt in completion.attempts] == [("a", "TooSlow")]
    assert first.asked[0].timeout_seconds == pytest.approx(30, abs=1)
    assert second.asked[0].timeout_seconds == pytest.approx(30, abs=1)
    assert second.asked[0].total_seconds == pytest.approx(600 - 8 * 25 - 30, abs=1)


def _chat(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


@pytest.mark.parametrize(
    ("pieces", "grows"),
    [
        ([_chat(content="Hi"), _chat(content=[{"type": "text", "text": "Hi"}])], True),
        ([_chat(refusal="No"), _chat(reasoning_content="Hm"), _chat(reasoning="Hm")], True),
        ([_chat(reasoning_details=[{"type": "reasoning.text", "text": "Hm", "index": 0}])] * 2, True),
        ([_call("f", None), _call(None, "{"), _call("f", "}")], True),
        ([_chat(), _chat(role="assistant", content=None), _chat(content=""), _chat(tool_calls=[])], False),
        ([{"choices": [], "usage": {"prompt_tokens": 7}}, {"choices": None}, {}], False),
        ([_call(None, ""), _call(None, None), _chat(reasoning_details=[{"index": 0}])], False),
    ],
)
async def test_what_counts_as_a_piece(pieces: list[Any], grows: bool) -> None:
    """Whatever brings more of words, thoughts and calls, and nothing else: that gives a model time."""
    answer = openai_chat.PartialChat()
    assert [answer.take(piece) for piece in pieces] == [grows] * len(pieces)
