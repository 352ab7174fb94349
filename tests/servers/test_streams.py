"""The doubles stream as the services do: the vendors' own packages know every event, and the order is theirs."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk
from pydantic import TypeAdapter

from tests.servers.openai import OpenAIServer
from tests.servers.script import Scripted, call, refuse, say, think

SAID = think("hm") + say("I look into it.") + call("f", {"place": "Zürich"}) + call("f", {})

_chunks: TypeAdapter[Any] = TypeAdapter(ChatCompletionChunk)

TOOL = {"type": "object", "properties": {}}


async def _events(url: str, path: str, body: dict[str, Any], headers: dict[str, str]) -> AsyncIterator[bytes]:
    """The data of each event, as it stands on the wire."""
    async with aiohttp.ClientSession() as http, http.post(url + path, json=body, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for line in response.content:
            if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
                yield line.removeprefix(b"data: ")


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
