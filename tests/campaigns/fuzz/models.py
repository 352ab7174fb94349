"""Answers of models: what a service, a gateway before it or a model of one's own may say with status 200.

An adapter gives a completion that keeps the promises of the seam, or raises one of its own errors. What it gives can
be journaled, and the conversation can go on: the double, which refuses what the real service refuses, takes it back.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from aiohttp import web

from bot.errors import ProviderError
from bot.messages import (
    AssistantMessage,
    CallId,
    Message,
    Opaque,
    Text,
    ToolCall,
    UserMessage,
    dump_messages,
    load_messages,
)
from bot.models.base import Completion, Request, Stop
from tests.bot.models.vendors import QUESTION, Vendor, answered, followed_by, opened, stripped
from tests.campaigns.fuzz.json_trees import Mutator
from tests.campaigns.fuzz.rounds import Round
from tests.invariants import is_sendable
from tests.servers.base import Seen
from tests.servers.script import (
    Tokens,
    call,
    cut_off,
    empty,
    filtered,
    parsed,
    refuse,
    say,
    think,
    window_full,
)

COUNT = 8_000
KINDS = ("anthropic", "chat", "responses", "local")

_MAX_TOKENS = 2**63 - 1
"""The largest number that the ledger can hold."""

_ANSWERS = (
    *(say(" \n"), say("") + call("current_time", {}), say(" ") + say("Words.")),
    *(say("It is cold."), say("Words.").using(None), empty(), refuse(), refuse("I would rather not."), filtered("I w")),
    *(cut_off("And th"), window_full("An"), call("get_weather", {"place": "Oslo"}) + cut_off()),
    *(say("Cheap.").using(Tokens(fresh=-7, output=-3)), say("Dear.").using(Tokens(output=10**30))),
    *(call("get_weather", '{"place": 1e999}'), call("get_weather", {"place": [float("inf")]})),
    say("Paid.").using(Tokens(fresh=70, cache_read=20, cache_write=10, output=5)),
    think("hm") + say("I look.") + call("get_weather", {"place": "Oslo"}) + call("current_time", {}),
    think(redacted=True) + call("get_weather", {"place": "Bergen"}, call_id="call_1"),
    call("no_such_tool", {"a": [1, {"b": None}]}) + call("get_weather", '{"place": "Os'),
)
_WORDS = (
    *("text", "tool_use", "thinking", "redacted_thinking", "server_tool_use", "message", "function_call", "reasoning"),
    *("end_turn", "max_tokens", "pause_turn", "refusal", "stop", "length", "content_filter", "completed", "failed"),
    *("incomplete", "max_output_tokens", "rate_limit_exceeded", "server_error", "output_text", "assistant", "user"),
    *("call_1", "", " ", "get_weather", "a b/ö.c", "x" * 70, "{}", "[]", "null", "{", '{"place": 7}', '{"a": NaN}'),
    *('{"a": 1e999}', '{"a": "\\ud800"}', "\x00", "\n\n", "functions.get_weather:0"),
)
_KEYS = (
    *("content", "choices", "output", "message", "delta", "tool_calls", "function", "arguments", "name", "id", "input"),
    *("type", "text", "stop_reason", "finish_reason", "usage", "input_tokens", "output_tokens", "status", "error"),
    *("incomplete_details", "call_id", "refusal", "prompt_tokens", "cache_read_input_tokens", "reason", "code"),
)


async def check(kind: str, round_: Round, _: Path) -> None:
    async with opened(kind) as vendor:
        for random in round_.randoms():
            answer = _Answer(vendor=vendor, random=random)
            with round_.trying(answer):
                round_.outcomes[await _outcome(vendor, answer)] += 1


@dataclass
class _Answer:
    vendor: Vendor
    random: Random
    sent: str = ""

    def __repr__(self) -> str:
        return self.sent

    async def __call__(self, seen: Seen) -> web.StreamResponse:
        scripted = self.random.choice(_ANSWERS)
        tree = self.vendor.server.answer(seen, parsed(seen.body), scripted)
        self.sent = _MUTATOR.written(self.random, _MUTATOR.mutated(self.random, tree))
        body = self.sent.encode("utf-8", "surrogatepass")
        return web.Response(body=body, content_type="application/json", headers={"request-id": "req_1"})


async def _outcome(vendor: Vendor, answer: _Answer) -> str:
    vendor.begin()
    vendor.server.script[:] = [answer] * 10
    try:
        completion = await vendor.provider.complete(QUESTION)
    except ProviderError as error:
        return _kind(error, vendor)
    judge(QUESTION, completion, vendor)
    if completion.message is not None:
        await _go_on(vendor, completion.message)
    return str(completion.stop)


def _kind(error: ProviderError, vendor: Vendor) -> str:
    assert str(error), "an error without a word"
    assert error.provider == vendor.provider.name
    assert error.retry_after_seconds is None
    return type(error).__name__


def judge(request: Request, completion: Completion, vendor: Vendor) -> None:
    usage = completion.usage
    for count in (usage.input_tokens, usage.cached_input_tokens, usage.cache_write_tokens, usage.output_tokens):
        assert isinstance(count, int)
        assert 0 <= count <= _MAX_TOKENS, f"{count} tokens"
    assert completion.cost_usd is None or completion.cost_usd >= 0, f"{completion.cost_usd} USD"
    assert completion.latency_seconds >= 0
    assert completion.provider == vendor.provider.name
    if completion.message is not None:
        _judge_message(request, completion.message, completion.stop)
    else:
        assert completion.stop is not Stop.TOOLS


def _judge_message(request: Request, message: AssistantMessage, stop: Stop) -> None:
    assert message.parts
    for part in message.parts:
        if isinstance(part, Text):
            assert part.text.strip(), "an empty text"
    for asked in message.calls:
        assert isinstance(asked.arguments, Mapping)
        json.dumps(asked.arguments, allow_nan=False).encode()
        assert asked.malformed is None or not asked.arguments
    if stop is Stop.TOOLS:
        assert message.calls
    assert not isinstance(message.parts[-1], Opaque), "a vendor's block that nothing follows"
    told = _told(message)
    assert is_sendable((*request.messages, *told)), "the message cannot be sent back"
    assert is_sendable((*request.messages, *stripped(told))), "the message cannot be kept"
    assert stripped(load_messages(dump_messages(told))) == stripped(told), "the journal changes it"


def _told(message: AssistantMessage) -> tuple[Message, ...]:
    """The message with an answer to each call, under the names that the agent gives to calls: vendors repeat theirs."""
    calls = iter(range(len(message.parts)))
    parts = tuple(
        replace(part, id=CallId(f"call_{next(calls)}")) if isinstance(part, ToolCall) else part
        for part in message.parts
    )
    named = AssistantMessage(parts=parts)
    return answered(named) if named.calls else (named,)


async def _go_on(vendor: Vendor, message: AssistantMessage) -> None:
    """Ask again with the message as the history keeps it: the service takes it back."""
    vendor.begin()
    going_on = followed_by(QUESTION, *stripped(_told(message)), UserMessage(text="And now?"))
    completion = await vendor.provider.complete(going_on)
    assert completion.stop is Stop.END
    assert vendor.server.refused == []


def _grown() -> tuple[Any, ...]:
    """Pieces of answers of all shapes, to be put where they do not belong."""
    usage = {"input_tokens": 5, "output_tokens": 3, "prompt_tokens": -4, "cache_read_input_tokens": 10**25}
    block = {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"place": "Oslo"}}
    chat_call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    item = {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": '{"place": "Oslo"}'}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    return (
        {"content": [block, block, thought], "stop_reason": "pause_turn", "usage": usage},
        {"choices": [{"message": {"content": None, "tool_calls": [chat_call, chat_call]}, "finish_reason": "length"}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": " "}], "refusal": ""}}], "usage": usage},
        {"output": [item, item, {"type": "reasoning"}], "status": "failed", "error": {"code": "rate_limit_exceeded"}},
        {"output": [{"type": "message", "content": [{"text": "", "refusal": ""}]}], "incomplete_details": {}},
        {"error": {"message": "upstream failed", "code": 502}},
    )


_TREES = _grown()
_MUTATOR = Mutator(keys=_KEYS, words=_WORDS, trees=_TREES, large_in=2_000)
