"""The doubles stream as the services do: the vendors' own packages know every event, and the order is theirs."""

from collections.abc import AsyncIterator
from typing import Any, cast

import aiohttp
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import RawMessageStreamEvent
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.servers.anthropic import AnthropicServer
from tests.servers.openai import OpenAIServer
from tests.servers.script import Scripted, call, refuse, say, think

SAID = think("hm") + say("I look into it.") + call("f", {"place": "Zürich"}) + call("f", {})

_anthropic: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
_chunks: TypeAdapter[Any] = TypeAdapter(ChatCompletionChunk)
_responses: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)

TOOL = {"type": "object", "properties": {}}


async def _events(url: str, path: str, body: dict[str, Any], headers: dict[str, str]) -> AsyncIterator[bytes]:
    """The data of each event, as it stands on the wire."""
    async with aiohttp.ClientSession() as http, http.post(url + path, json=body, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for line in response.content:
            if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
                yield line.removeprefix(b"data: ")


@pytest.mark.parametrize("said", [SAID, say("Hi."), refuse("No."), think(redacted=True) + say("Hi.")])
async def test_anthropic_streams_what_its_package_reads(said: Scripted) -> None:
    """The package puts the same message together from the events as it reads without them."""
    asked: dict[str, Any] = {
        "model": "claude-haiku-5-5",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"name": "f", "description": "d", "input_schema": TOOL}],
    }
    async with AnthropicServer().scripted(said, said, said) as server:
        async with AsyncAnthropic(api_key=server.key, base_url=server.url) as client:
            whole = await client.messages.create(**asked)
            async with client.messages.stream(**asked) as stream:
                streamed = await stream.get_final_message()
        headers = {"authorization": "Bearer test-key", "anthropic-version": "2026-10-21"}
        events = _events(server.url, "/v1/messages", asked | {"stream": True}, headers)
        kinds = [_anthropic.validate_json(event).type async for event in events if b'"ping"' not in event]
    assert [_plain(block) for block in streamed.content] == [_plain(block) for block in whole.content]
    assert (streamed.stop_reason, streamed.usage.output_tokens) == (whole.stop_reason, whole.usage.output_tokens)
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])


def _plain(block: Any) -> dict[str, Any]:
    return {name: value for name, value in block.to_dict().items() if name not in {"id", "parsed_output"}}


@pytest.mark.parametrize("said", [SAID, say("Hi."), refuse("No.")])
async def test_chat_completions_stream_what_the_package_reads(said: Scripted) -> None:
    """Each chunk is one that the package knows; together they say what the answer in one piece says."""
    asked: dict[str, Any] = {
        "model": "gpt-4.1",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": TOOL}}],
    }
    async with OpenAIServer().scripted(said, said, said) as server:
        async with AsyncOpenAI(api_key=server.key, base_url=server.base_url) as client:
            whole = await client.chat.completions.create(**asked)
            async with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
                streamed = await stream.get_final_completion()
        events = _events(
            server.base_url, "/chat/completions", asked | {"stream": True}, {"authorization": "Bearer test-key"}
        )
        chunks = [_chunks.validate_json(event) async for event in events]
    one, other = whole.choices[0], streamed.choices[0]
    assert (one.message.content, one.message.refusal) == (other.message.content, other.message.refusal)
    assert _calls(one.message) == _calls(other.message)
    assert (one.finish_reason, whole.usage) == (other.finish_reason, streamed.usage)
    assert [chunk.usage for chunk in chunks] == [None] * len(chunks)


def _calls(message: Any) -> list[tuple[str, str]]:
    return [(asked.function.name, asked.function.arguments) for asked in message.tool_calls or []]


@pytest.mark.parametrize("said", [SAID, say("Hi."), refuse("No.")])
async def test_responses_stream_what_the_package_reads(said: Scripted) -> None:
    """Each event is one that the package knows, numbered in their order; the last holds the whole response."""
    asked: dict[str, Any] = {
        "model": "gpt-6-sol",
        "input": "Hi",
        "tools": [{"type": "function", "name": "f", "parameters": TOOL, "strict": False}],
    }
    async with OpenAIServer().scripted(said) as server:
        events = _events(server.base_url, "/responses", asked | {"stream": True}, {"authorization": "Bearer test-key"})
        read = [_responses.validate_json(event) async for event in events]
    assert [event.sequence_number for event in read] == list(range(len(read)))
    assert [event.type for event in read[:2]] == ["response.created", "response.in_progress"]
    added = [event for event in read if event.type == "response.output_item.added"]
    done = [event for event in read if event.type == "response.output_item.done"]
    final = cast("Any", read[-1])
    assert final.type == "response.completed"
    assert (
        [event.item.id for event in added] == [event.item.id for event in done] == [i.id for i in final.response.output]
    )
    deltas = "".join(
        event.delta for event in read if event.type in {"response.output_text.delta", "response.refusal.delta"}
    )
    assert deltas == "".join(
        getattr(part, "text", "") or getattr(part, "refusal", "")
        for item in final.response.output
        if item.type == "message"
        for part in item.content
    )
