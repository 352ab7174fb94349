"""Answers in pieces: what is heard meanwhile, and what becomes of a stream that does not come to its end."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected, TooSlow, Unavailable
from bot.models import openai_chat
from bot.models.adapter import MAX_CHARACTERS
from bot.models.base import Completion, Stop
from bot.models.fallback import Fallback
from bot.models.offline import Offline
from bot.models.openai import OpenAI
from bot.money.ledger import completion_entries
from tests.bot.models.vendors import NAMES, QUESTION, Vendor, listened, opened, texts
from tests.servers.openai import OpenAIServer
from tests.servers.script import Break, Scripted, Tokens, broken, call, cut_off, refuse, say, think
from tests.waiting import WAIT_SECONDS, with_enough_time

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORDS = "It is cold in Oslo, and 🌧️ is on its way."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_vendors() -> AsyncIterator[dict[str, Vendor]]:
    async with (
        opened("anthropic", streams=True) as anthropic,
        opened("chat", streams=True) as chat,
        opened("responses", streams=True) as responses,
        opened("local", streams=True) as local,
        opened("prompted", streams=True) as prompted,
    ):
        yield {"anthropic": anthropic, "chat": chat, "responses": responses, "local": local, "prompted": prompted}


@pytest.fixture(params=NAMES)
def vendor(request: pytest.FixtureRequest, open_vendors: dict[str, Vendor]) -> Iterator[Vendor]:
    yield from _begun(open_vendors[request.param])


@pytest.fixture
def anthropic(open_vendors: dict[str, Vendor]) -> Iterator[Vendor]:
    yield from _begun(open_vendors["anthropic"])


@pytest.fixture(params=[name for name in NAMES if name != "anthropic"])
def openai(request: pytest.FixtureRequest, open_vendors: dict[str, Vendor]) -> Iterator[Vendor]:
    """Each way of OpenAI, and of the servers that speak as it does."""
    yield from _begun(open_vendors[request.param])


@pytest.fixture
def chat(open_vendors: dict[str, Vendor]) -> Iterator[Vendor]:
    yield from _begun(open_vendors["chat"])


def _begun(vendor: Vendor) -> Iterator[Vendor]:
    vendor.begin()
    vendor.provider.is_slow = True
    yield vendor
    vendor.end()


def _comparable(completion: Completion) -> Completion:
    """Without what differs from one answer to the next, however it comes."""
    if completion.message is None:
        return replace(completion, latency_seconds=0)
    parts = tuple(
        replace(
            part, data={name: value for name, value in part.data.items() if name not in {"id", "encrypted_content"}}
        )
        if part.kind == "opaque"
        else part
        for part in completion.message.parts
    )
    return replace(completion, latency_seconds=0, message=replace(completion.message, parts=parts))


@pytest.mark.parametrize(
    "said",
    [
        think("hm") + say("I look.") + think("so") + call("get_weather", {"place": "Zürich 🌧️"}, call_id="toolu_1"),
        call("get_weather", {"place": "Oslo"}, call_id="a") + call("current_time", {}, call_id="b"),
        say("It is") + call("get_weather", '{"place": "Os', call_id="a") + cut_off(),
        refuse("I would rather not."),
        think("hm") + cut_off(),
        say(WORDS).using(Tokens(fresh=70, cache_read=20, cache_write=10, output=5)),
        say(WORDS).using(None),
    ],
)
async def test_the_completion_is_the_same_as_in_one_piece(vendor: Vendor, said: Scripted) -> None:
    """Parts, blocks of the vendor, stop, usage and cost are those of the answer in one piece."""
    vendor.server.scripted(said, said)
    streamed = await vendor.provider.complete(QUESTION)
    assert vendor.sent["stream"] is True
    vendor.provider.is_slow = False
    whole = await vendor.provider.complete(QUESTION)
    assert "stream" not in vendor.sent
    assert _comparable(streamed) == _comparable(whole)


BREAKS: list[tuple[Break, type[ProviderError]]] = [
    ("cut", Unavailable),
    ("garbage", Unavailable),
    ("end", Unavailable),
    ("error", Overloaded),
]


@pytest.mark.parametrize(("how", "kind"), BREAKS)
@pytest.mark.parametrize("events", [0, 3, 6])
async def test_a_stream_that_breaks_off(vendor: Vendor, how: Break, kind: type[ProviderError], events: int) -> None:
    """Wherever it breaks off it is no answer, however much was heard of it; the next request finds the service well."""
    code = "overloaded_error" if vendor.kind == "anthropic" else "rate_limit_exceeded"
    vendor.server.scripted(broken(say(WORDS), how, events=events, error=code))
    with pytest.raises(ProviderError) as raised:
        await vendor.provider.complete(QUESTION)
    assert type(raised.value) is kind
    assert "failed in the middle" not in str(raised.value)
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


async def test_a_stream_that_stalls(vendor: Vendor) -> None:
    """The deadline holds also when some of the answer came in time."""
    vendor.server.scripted(broken(say(WORDS), "stall", events=6))
    with pytest.raises(TooSlow, match=r"(gave no answer|did not come to an end) in 0\.2 s"):
        async with asyncio.timeout(
            WAIT_SECONDS
        ):  # so that a deadline that does not hold fails the test instead of hanging it
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.2))
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


async def test_a_stream_that_is_stopped(vendor: Vendor) -> None:
    """Cancelled in the middle it ends as cancelled, and the provider goes on."""
    vendor.server.broken.clear()
    vendor.server.scripted(broken(say(WORDS), "stall", events=6))
    asking = asyncio.create_task(vendor.provider.complete(QUESTION))
    await vendor.server.broken.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


@pytest.mark.parametrize(
    ("name", "code", "kind"),
    [
        ("anthropic", "rate_limit_error", Overloaded),
        ("anthropic", "api_error", Unavailable),
        ("anthropic", "authentication_error", BadKey),
        ("anthropic", "invalid_request_error", Rejected),
        ("anthropic", "request_too_large", ContextTooLong),
        ("anthropic", "of_tomorrow", Unavailable),
        ("chat", "insufficient_quota", BadKey),
        ("chat", "context_length_exceeded", ContextTooLong),
        ("chat", "server_error", Unavailable),
        ("chat", "502", Unavailable),
        ("chat", "429", Overloaded),
        ("chat", "invalid_request_error", Rejected),
        ("responses", "server_error", Unavailable),
        ("responses", "insufficient_quota", BadKey),
        ("responses", "account_deactivated", BadKey),
        ("responses", "context_length_exceeded", ContextTooLong),
        ("responses", "invalid_prompt", Rejected),
    ],
)  # fmt: skip
async def test_an_error_in_the_middle_is_told_apart(
    open_vendors: dict[str, Vendor], name: str, code: str, kind: type[ProviderError]
) -> None:
    """What a service says within a stream decides who must act, as its status does outside of one."""
    for vendor in _begun(open_vendors[name]):
        vendor.server.scripted(broken(say(WORDS), "error", error=code))
        with pytest.raises(ProviderError) as raised:
            await vendor.provider.complete(QUESTION)
        assert type(raised.value) is kind


async def test_a_server_that_does_not_stream(vendor: Vendor) -> None:
    """An answer in one piece is taken although pieces were asked for."""
    vendor.server.streams = False
    vendor.server.scripted(say(WORDS))
    completion = await vendor.provider.complete(QUESTION)
    vendor.server.streams = True
    assert texts(completion) == [WORDS]


async def test_usage_is_asked_for(chat: Vendor) -> None:
    """A stream of chat completions tells its usage only to those who want it; the whole answer always does."""
    chat.server.scripted(say("Hi.").using(Tokens(fresh=7)))
    assert (await chat.provider.complete(QUESTION)).usage.input_tokens == 7
    assert chat.sent["stream_options"] == {"include_usage": True}


async def test_a_server_that_knows_no_stream_options() -> None:
    """It is asked again without them, and from then on at once."""
    server = OpenAIServer(local=True, refuses=frozenset({"stream_options"}))
    async with server, aclosing(OpenAI(api_key=None, model="llama-4", base_url=server.base_url)) as provider:
        provider.is_slow = True
        completions = [await provider.complete(QUESTION) for _ in range(2)]
    assert ["stream_options" in seen.json() for seen in server.requests] == [True, False, False]
    assert [completion.usage.input_tokens for completion in completions] == [0, 0]


def _call(name: str, arguments: object, **more: Any) -> dict[str, Any]:
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
    ],
)
async def test_how_servers_cut_calls(chunks: list[dict[str, Any]]) -> None:
    """Numbered, whole, all of one number, or with the id in every piece: they are the same two calls."""
    gathered = openai_chat.PartialChat()
    for chunk in chunks:
        gathered.take(chunk)
    asked = openai_chat.read(gathered.body(), QUESTION)
    assert asked.message is not None
    assert [(one.id, one.name, dict(one.arguments)) for one in asked.message.calls] == [
        ("1", "a", {"x": 1}),
        ("2", "b", {}),
    ]


@pytest.mark.parametrize("more", [{}, {"index": 0}, {"index": 0, "id": ""}])
async def test_calls_without_ids_are_told_apart(more: dict[str, Any]) -> None:
    """By their names, once the one before is whole; a name that comes with every piece begins nothing."""
    gathered = openai_chat.PartialChat()
    for chunk in [_call("a", '{"x"', **more), _call("a", ": 1}", **more), _call("a", '{"x": 2}', **more), END]:
        gathered.take(chunk)
    asked = openai_chat.read(gathered.body(), QUESTION)
    assert asked.message is not None
    assert [dict(one.arguments) for one in asked.message.calls] == [{"x": 1}, {"x": 2}]
    assert len({one.id for one in asked.message.calls}) == 2


@pytest.mark.parametrize("how", ["cut", "garbage", "end", "error"])
async def test_what_a_broken_stream_has_cost_is_known(anthropic: Vendor, how: Break) -> None:
    """The prompt is paid for as soon as the service has counted it; the error says so, for the ledger."""
    told = say(WORDS).using(Tokens(fresh=1_000_000 // 100, output=50))
    anthropic.server.scripted(broken(told, how, events=6))
    with pytest.raises(ProviderError) as raised:
        await anthropic.provider.complete(QUESTION)
    assert raised.value.cost_usd == Decimal("0.10") / 100 + Decimal("0.50") / 1_000_000


@pytest.mark.parametrize("how", ["cut", "garbage", "end", "error"])
async def test_what_a_broken_stream_has_cost_may_be_unknown(openai: Vendor, how: Break) -> None:
    """Where the service counts at the end alone, what it was asked has cost something all the same."""
    openai.server.scripted(broken(say(WORDS), how, events=6))
    with pytest.raises(ProviderError) as raised:
        await openai.provider.complete(QUESTION)
    assert raised.value.cost_usd is None


async def test_what_was_never_counted_has_cost_nothing(vendor: Vendor) -> None:
    """A refusal, and a stream that ended before it began."""
    vendor.fails(500)
    vendor.server.scripted(broken(say(WORDS), "cut", events=0))
    for _ in range(2):
        with pytest.raises(ProviderError) as raised:
            await vendor.provider.complete(QUESTION)
        assert raised.value.cost_usd == 0


async def test_the_ledger_hears_of_it(anthropic: Vendor) -> None:
    """By the tries that a completion lists, also where the deadline itself ended one."""

    async def asked(seconds: float) -> Completion:
        anthropic.server.scripted(broken(say(WORDS), "stall", events=6))
        fallback = Fallback([anthropic.provider, Offline()])
        return await fallback.complete(replace(QUESTION, timeout_seconds=seconds))

    await anthropic.provider.complete(QUESTION)  # the SDK's first stream takes longer
    completion = await with_enough_time(asked, is_enough=lambda found: found.attempts and found.attempts[0].cost_usd)
    assert completion.provider == "offline"
    rows = completion_entries(completion)
    assert [(row.name, row.outcome, row.cost_usd) for row in rows] == [
        ("claude-haiku-5-5", "TooSlow", Decimal("0.0000105")),
        ("offline", "ok", 0),
    ]


async def _endless(words: str) -> AsyncIterator[object]:
    """Pieces that have all arrived already."""
    while True:
        yield {"choices": [{"delta": {"content": words}}]}


@pytest.mark.parametrize("depth", [300, 5_000, 200_000])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_nesting_that_nobody_can_read_is_no_answer(vendor: Vendor, kind: str, depth: int) -> None:
    """It is told like any other answer that cannot be read, whoever gives up first: the SDK, or what reads after it."""
    deep = b'{"type":"message_start","choices":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    data = deep if kind == "application/json" else b"event: message_start\ndata: " + deep + b"\n\n"
    vendor.server.faults.append(lambda _: web.Response(body=data, content_type=kind))
    with pytest.raises(Unavailable):
        await vendor.provider.complete(QUESTION)


async def test_a_server_that_never_ends_is_left() -> None:
    """Some models repeat themselves for ever; the words are no more than any answer can have."""
    pieces = MAX_CHARACTERS // 100_000
    taken = 0

    async def counted() -> AsyncIterator[object]:
        nonlocal taken
        async for piece in _endless("x" * 100_000):
            taken += 1
            yield piece

    with pytest.raises(ValueError, match="does not end"):
        await listened(counted())
    assert taken == pieces + 1


async def test_a_fast_server_leaves_others_their_turn() -> None:
    """The deadline comes through, though no piece is ever waited for."""
    listening = asyncio.create_task(listened(_endless(" ")))
    for _ in range(10):
        await asyncio.sleep(0)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
