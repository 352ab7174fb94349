"""The doubles of the models refuse what the real services refuse, so that they cannot degrade into yes-men."""

import copy
import io
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.servers.anthropic import VERSION, AnthropicServer
from tests.servers.base import answer_json
from tests.servers.openai import OpenAIServer
from tests.servers.openai_rules import Carried
from tests.servers.script import call, cut_connection, empty, think

pytestmark = pytest.mark.asyncio(loop_scope="module")

Json = dict[str, Any]
Change = Callable[[Json], object]

ANTHROPIC_HEADERS = {"authorization": "Bearer test-key", "anthropic-version": VERSION}
OPENAI_HEADERS = {"authorization": "Bearer test-key"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as http:
        yield http


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def anthropic() -> AsyncIterator[AnthropicServer]:
    async with AnthropicServer() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def openai() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(refuses=frozenset({"seed"})) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def local() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(local=True) as server:
        yield server


async def _post(http: aiohttp.ClientSession, url: str, body: Any, headers: dict[str, str]) -> tuple[int, Json]:
    data = io.BytesIO(json.dumps(body).encode())  # aiohttp warns of large bodies in any other form
    async with http.post(url, data=data, headers=headers | {"content-type": "application/json"}) as response:
        return response.status, await response.json()


async def _refuses(
    http: aiohttp.ClientSession, url: str, right: Json, change: Change, words: str, headers: dict[str, str]
) -> Json:
    """What is answered to a request that was right before the change: a 400 with these words."""
    body = copy.deepcopy(right)
    change(body)
    status, answer = await _post(http, url, body, headers)
    assert status == 400
    assert words in answer["error"]["message"]
    return answer


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _use(call_id: str = "toolu_1", **more: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {}} | more


def _result(call_id: str = "toolu_1", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "4"} | more


def _image(**source: Any) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/4A=="} | source}


TOOL = {"name": "f", "description": "d", "input_schema": {"type": "object"}}

RIGHT: Json = {
    "model": "claude-haiku-5-5",
    "max_tokens": 1000,
    "system": [_text("Be brief.")],
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [_text("Hm."), _use()]},
        {"role": "user", "content": [_result(), _text("Well?")]},
    ],
}


def _set(**values: Any) -> Change:
    return lambda body: body.update(values)


def _messages(*messages: tuple[str, Any]) -> Change:
    return _set(messages=[{"role": role, "content": content} for role, content in messages])


def _tool(**more: Any) -> Change:
    return _set(tools=[TOOL | more])


def _block(number: int, *blocks: Json) -> Change:
    return lambda body: body["messages"][number].update(content=list(blocks))


MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}

ANTHROPIC_MISTAKES: list[tuple[Change, str]] = [
    (lambda body: body.pop("messages"), "messages: Field required"),
    (_set(max_tokens=200_000), "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens"),
    (_tool(name="a b"), "tools.0.custom.name: String should match pattern"),
    (_tool(input_schema={"type": "string"}), "tools.0.custom.input_schema.type: Input should be 'object'"),
    (_set(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
    (_set(tools=[TOOL | MARK, TOOL | MARK | {"name": "g"}], system=[_text("a") | MARK] * 3), "A maximum of 4 blocks"),
    (_block(0, _text("a") | MARK, _text("b") | HOUR), "a ttl='1h' cache_control block must not come after a ttl='5m'"),
    (_set(tools=[TOOL | MARK], system=[_text("a") | HOUR]), "a ttl='1h' cache_control block must not come after"),
    (_messages(), "messages: at least one message is required"),
    (_messages(("assistant", "Hi"), ("user", "Hi")), 'messages: first message must use the "user" role'),
    (_messages(("system", "Hi"), ("user", "Hi")), 'Unexpected role "system"'),
    (_messages(("user", "")), "messages.0: all messages must have non-empty content"),
    (_messages(("user", "Hi"), ("assistant", []), ("user", "Hi")), "messages.1: all messages must have non-empty"),
    (_messages(("user", "Hi"), ("assistant", "Well")), "does not support assistant message prefill"),
    (_block(0, _text("")), "messages: text content blocks must be non-empty"),
    (_block(0, _text(" \n")), "messages: text content blocks must contain non-whitespace text"),
    (
        _block(0, _image(media_type="image/heic")),
        "messages.0.content.0.image.source.base64.media_type: Input should be",
    ),
    (_block(0, _image(data="%%")), "messages.0.content.0.image.source.base64: invalid base64 data"),
    (_block(0, _image(media_type="image/png")), "Image does not match the provided media type image/png"),
    (_block(1, _use("toolu.1")), "messages.1.content.0.tool_use.id: String should match pattern"),
    (_block(1, _use(input="{}")), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    (_block(1, _use(), _use()), "messages.1.content.0: `tool_use` ids must be unique"),
    (_block(1, _use(), _use("toolu_2")), "messages.1: `tool_use` ids were found without `tool_result` blocks"),
    (_block(2, _text("Stop!")), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after"),
    (_block(2, _text("Stop!"), _result()), "messages.1: `tool_use` ids were found without `tool_result` blocks"),
    (_block(2, _result(), _result()), "messages.2.content.0: each tool_use must have a single result."),
    (_block(2, _result(), _result("toolu_9")), "messages.2.content.1: unexpected `tool_use_id` found"),
    (_block(1, _text("Hm.")), "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks"),
    (lambda body: body.pop("tools"), "Requests which include `tool_use` or `tool_result` blocks must define tools."),
    (_messages(("user", "Hi \ud83d")), "The request body is not valid JSON"),
    (_messages(("user", "x" * 5_000_000)), "prompt is too long: 1250"),
]


async def test_anthropic_refuses(anthropic: AnthropicServer, http: aiohttp.ClientSession) -> None:
    """Each mistake is a 400 in the service's own words; the same request without it is answered."""
    url = anthropic.url + "/v1/messages"
    for change, words in ANTHROPIC_MISTAKES:
        answer = await _refuses(http, url, RIGHT, change, words, ANTHROPIC_HEADERS)
        assert (answer["type"], answer["error"]["type"]) == ("error", "invalid_request_error")
    status, answer = await _post(http, url, RIGHT, ANTHROPIC_HEADERS)
    assert (status, answer["content"]) == (200, [_text("You said: Well?")])


@pytest.mark.parametrize(
    ("headers", "path", "change", "status", "words"),
    [
        ({"authorization": "Bearer wrong"}, "/v1/messages", {}, 401, "invalid x-api-key"),
        ({"anthropic-version": "2023-06-01"}, "/v1/messages", {}, 400, "is not a valid version"),
        ({}, "/v1/complete", {}, 404, "Not found"),
        ({}, "/v1/messages", {"model": "claude-3-opus"}, 404, "model: claude-3-opus"),
        ({}, "/v1/messages", {"system": "x" * (33 << 20)}, 413, "Request exceeds the maximum size"),
    ],
)
async def test_anthropic_refuses_with_its_status(
    anthropic: AnthropicServer,
    http: aiohttp.ClientSession,
    headers: dict[str, str],
    path: str,
    change: Json,
    status: int,
    words: str,
) -> None:
    """A wrong key, version, address, model and size have each their status."""
    given, answer = await _post(http, anthropic.url + path, RIGHT | change, ANTHROPIC_HEADERS | headers)
    assert given == status
    assert words in answer["error"]["message"]


async def _thought(anthropic: AnthropicServer, http: aiohttp.ClientSession) -> Json:
    """A request that carries two rounds of thinking back as they came."""
    body: Json = copy.deepcopy(RIGHT) | {"messages": [{"role": "user", "content": "Hi"}]}
    for _ in range(2):
        anthropic.scripted(think("hm") + call("f", {}))
        _, answer = await _post(http, anthropic.url + "/v1/messages", body, ANTHROPIC_HEADERS)
        body["messages"].append({"role": "assistant", "content": answer["content"]})
        body["messages"].append({"role": "user", "content": [_result(answer["content"][-1]["id"])]})
    return body


def _third_round(body: Json) -> None:
    """A hole: the second of three thinking blocks is gone."""
    del body["messages"][3]["content"][0]
    body["messages"][1]["content"].insert(0, dict(body["messages"][1]["content"][0]))


BOUND = "The block is bound to a different conversation."

THOUGHT_MISTAKES: list[tuple[Change, str]] = [
    (_set(system="Another."), BOUND),
    (_set(tools=[TOOL | {"description": "changed"}]), BOUND),
    (lambda body: body["messages"][0].update(content="Edited"), BOUND),
    (lambda body: body["messages"][1]["content"][0].update(thinking="other"), BOUND),
    (lambda body: body["messages"][1]["content"].insert(0, _text("First.")), BOUND),
    (_third_round, BOUND),
    (lambda body: body["messages"][3]["content"][0].update(thinking="other"), "cannot be modified."),
    (
        lambda body: body["messages"][1]["content"][0].update(signature="made up"),
        "Invalid `signature` in `thinking` block",
    ),
    (lambda body: body["messages"][3]["content"].reverse(), "The final block in an assistant message cannot be"),
]


@pytest.mark.parametrize(("change", "words"), THOUGHT_MISTAKES)
async def test_anthropic_binds_thinking_to_what_came_before(
    anthropic: AnthropicServer, http: aiohttp.ClientSession, change: Change, words: str
) -> None:
    """A thinking block is taken back only where nothing before it has changed."""
    body = await _thought(anthropic, http)
    status, _ = await _post(http, anthropic.url + "/v1/messages", body, ANTHROPIC_HEADERS)
    assert status == 200
    change(body)
    status, answer = await _post(http, anthropic.url + "/v1/messages", body, ANTHROPIC_HEADERS)
    assert status == 400
    assert words in answer["error"]["message"]


def _function(name: str = "f", **more: Any) -> Json:
    function = {"name": name, "description": "d", "parameters": {"type": "object", "properties": {}}} | more
    return {"type": "function", "function": function}


def _asked(call_id: str = "call00001", arguments: Any = "{}") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


CHAT: Json = {
    "model": "gpt-4.1",
    "max_tokens": 1000,
    "tools": [_function()],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [_asked()]},
        {"role": "tool", "tool_call_id": "call00001", "content": "4"},
        {"role": "assistant", "content": "Four."},
        {"role": "user", "content": "Well?"},
    ],
}


def _without(*numbers: int) -> Change:
    return lambda body: body.update(messages=[m for n, m in enumerate(body["messages"]) if n not in numbers])


def _message(number: int, **values: Any) -> Change:
    return lambda body: body["messages"][number].update(values)


CHAT_MISTAKES: list[tuple[Change, str]] = [
    (lambda body: body.pop("model"), "Missing required parameter: 'model'."),
    (_set(seed=1), "Unsupported parameter: 'seed' is not supported with this model."),
    (_message(1, content=[{"type": "image_url", "image_url": {"url": "data:application/pdf;base64,eA=="}}]),
     "Expected a base64-encoded data URL."),
    (_message(1, content=[{"type": "file", "file": {"file_data": "data:application/pdf;base64,eA=="}}]),
     "Missing required parameter: 'messages[1].content[0].filename'."),
    (_set(model="o3"), "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
    (lambda body: body.update(model="gpt-5.6-luna", max_completion_tokens=body.pop("max_tokens")),
     "Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions."),
    (_set(tools=[]), "Invalid 'tools': empty array."),
    (lambda body: (body.pop("tools"), body.update(tool_choice="none")), "only allowed when 'tools' are specified"),
    (_set(tools=[_function("a b")]), "Invalid 'tools[0].function.name': string does not match pattern."),
    (_set(tools=[_function(parameters={})]), "must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."),
    (_set(tools=[_function(parameters={"type": "object"})]), "In context=(), object schema missing properties."),
    (_set(messages=[]), "Invalid 'messages': empty array."),
    (_message(2, tool_calls=[]), "Invalid 'messages[2].tool_calls': empty array."),
    (_message(1, content=None), "Invalid value for 'content': expected a string, got null."),
    (_message(2, tool_calls=[_asked(arguments={})]), "Invalid type for 'arguments': expected a string."),
    (_without(2), "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
    (_without(3), "did not have response messages: call00001"),
    (_message(3, tool_call_id="call_2"), "messages with role 'tool' must be a response"),
    (_message(1, content="\ud83d"), "The request body is not valid JSON"),
    (_message(1, content="x" * 5_000_000), "maximum context length is 1000000 tokens"),
]  # fmt: skip


async def test_openai_chat_refuses(openai: OpenAIServer, http: aiohttp.ClientSession) -> None:
    """Each mistake is a 400 in the service's own words; the same request without it is answered."""
    url = openai.base_url + "/chat/completions"
    for change, words in CHAT_MISTAKES:
        await _refuses(http, url, CHAT, change, words, OPENAI_HEADERS)
    status, answer = await _post(http, url, CHAT, OPENAI_HEADERS)
    assert (status, answer["choices"][0]["message"]["content"]) == (200, "You said: Well?")


def _called(call_id: str) -> Change:
    def change(body: Json) -> None:
        body["messages"][2]["tool_calls"], body["messages"][3]["tool_call_id"] = [_asked(call_id)], call_id

    return change


LOCAL_MISTAKES: list[tuple[Change, str]] = [
    (_message(2, content=None), "expected a string, got null"),
    (_message(1, content=[{"type": "text", "text": "Hi"}]), "expected a string"),
    (_message(2, tool_calls=[_asked(arguments="{")]), "Failed to parse tool call arguments"),
    (_message(2, tool_calls=[_asked(arguments="[]")]), "Failed to parse tool call arguments"),
    (_message(4, role="system"), "System message must be at the beginning."),
    (_without(4, 2, 3), "Conversation roles must alternate"),
    (_without(5), "Cannot continue from an assistant message."),
    (_called("call_1"), "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
    (_message(2, reasoning_content="Hm."), "property 'reasoning_content' is unsupported"),
    (_message(2, tool_calls=[_asked() | {"extra_content": {}}]), "property 'extra_content' is unsupported"),
]


async def test_a_local_server_refuses(local: OpenAIServer, http: aiohttp.ClientSession) -> None:
    """A compatible server wants what its chat template wants."""
    url, right = local.base_url + "/chat/completions", CHAT | {"model": "qwen4:8b"}
    for change, words in LOCAL_MISTAKES:
        await _refuses(http, url, right, change, words, {})
    assert (await _post(http, url, right, {}))[0] == 200


@pytest.mark.parametrize(
    ("whose", "words"),
    [
        ("deepseek", "The `reasoning_content` in the thinking mode must be passed back to the API."),
        ("kimi", "reasoning_content is missing in assistant tool call message at index 2"),
        ("gemini", "Function call is missing a thought_signature in functionCall parts."),
        ("openrouter", "Provider returned error"),
    ],
)
async def test_what_came_with_a_call_has_to_come_back(http: aiohttp.ClientSession, whose: Carried, words: str) -> None:
    """Each server says so in its own words; what is a new question's is past for two of them."""
    async with OpenAIServer(local=True, carries=whose) as server:
        url, body = server.base_url + "/chat/completions", CHAT | {"model": "m", "messages": CHAT["messages"][:4]}
        status, answer = await _post(http, url, body, {})
        assert (status, words in answer["error"]["message"]) == (400, True)
        status, _ = await _post(http, url, CHAT | {"model": "m"}, {})
        assert status == (200 if whose in {"gemini", "openrouter"} else 400)


def _flat(**more: Any) -> Json:
    return {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False} | more


RESPONSES: Json = {
    "model": "gpt-6-sol",
    "store": False,
    "tools": [_flat()],
    "input": [
        {"role": "user", "content": "Hi"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "4"},
        {"role": "user", "content": "Well?"},
    ],
}


def _item(number: int, **values: Any) -> Change:
    return lambda body: body["input"][number].update(values)


RESPONSES_MISTAKES: list[tuple[Change, str]] = [
    (lambda body: body.pop("input"), "Missing required parameter: 'input'."),
    (_set(input=[]), "Missing required parameter: 'input'."),
    (_set(max_output_tokens=15), "Invalid 'max_output_tokens': integer below minimum value."),
    (_set(tools=[_function()]), "Missing required parameter: 'tools[0].name'."),
    (_set(tools=[_flat(parameters={})]), "schema must be a JSON Schema of 'type: \"object\"'"),
    (lambda body: body["input"].pop(1), "No tool call found for function call output with call_id call_1."),
    (lambda body: body["input"].pop(2), "No tool output found for function call call_1."),
    (_item(1, arguments={}), "Invalid type for 'arguments': expected a string."),
    (_item(0, content=""), "Missing required parameter: 'input[0].content'."),
    (_item(0, content=[{"type": "input_image", "image_url": "data:image/heic;base64,eA=="}]), "Expected a base64-"),
]


async def test_openai_responses_refuses(openai: OpenAIServer, http: aiohttp.ClientSession) -> None:
    """Each mistake is a 400 in the service's own words; the same request without it is answered."""
    url = openai.base_url + "/responses"
    for change, words in RESPONSES_MISTAKES:
        await _refuses(http, url, RESPONSES, change, words, OPENAI_HEADERS)
    status, answer = await _post(http, url, RESPONSES, OPENAI_HEADERS)
    assert (status, answer["output"][0]["content"][0]["text"]) == (200, "You said: Well?")


REASONING_MISTAKES: list[tuple[Change, str]] = [
    (
        lambda body: body["input"].pop(1),
        "of type 'function_call' was provided without its required 'reasoning' item: 'rs_",
    ),
    (
        lambda body: body["input"].insert(1, body["input"].pop(2)),
        "of type 'reasoning' was provided without its required",
    ),
    (lambda body: body["input"][1].pop("encrypted_content"), "Items are not persisted when `store` is set to false."),
]


@pytest.mark.parametrize(("change", "words"), REASONING_MISTAKES)
async def test_openai_keeps_reasoning_beside_its_call(
    openai: OpenAIServer, http: aiohttp.ClientSession, change: Change, words: str
) -> None:
    """A reasoning item and the call it led to come back together, sealed and in order."""
    openai.scripted(think("hm") + call("f", {}))
    body = copy.deepcopy(RESPONSES) | {"input": [{"role": "user", "content": "Hi"}]}
    _, answer = await _post(http, openai.base_url + "/responses", body, OPENAI_HEADERS)
    call_id = answer["output"][1]["call_id"]
    body["input"] += [*answer["output"], {"type": "function_call_output", "call_id": call_id, "output": "4"}]
    assert (await _post(http, openai.base_url + "/responses", body, OPENAI_HEADERS))[0] == 200
    await _refuses(http, openai.base_url + "/responses", body, change, words, OPENAI_HEADERS)


@pytest.mark.parametrize(
    ("headers", "path", "change", "status", "code"),
    [
        ({"authorization": "Bearer wrong"}, "/chat/completions", {}, 401, "invalid_api_key"),
        ({}, "/completions", {}, 404, None),
        ({}, "/chat/completions", {"model": "gpt-3.5-turbo"}, 404, "model_not_found"),
    ],
)
async def test_openai_refuses_with_its_status(
    openai: OpenAIServer,
    http: aiohttp.ClientSession,
    headers: dict[str, str],
    path: str,
    change: Json,
    status: int,
    code: str | None,
) -> None:
    """A wrong key, address and model have each their status and code."""
    given, answer = await _post(http, openai.base_url + path, CHAT | change, OPENAI_HEADERS | headers)
    assert (given, answer["error"].get("code")) == (status, code)


async def test_what_was_bought_is_counted(http: aiohttp.ClientSession) -> None:
    """Only an answer that was written whole is bought."""
    async with OpenAIServer(latency_seconds=0.001) as server:
        server.scripted(cut_connection, answer_json({}, 500), empty())
        url = server.base_url + "/chat/completions"
        with pytest.raises(aiohttp.ClientError):
            await _post(http, url, CHAT, OPENAI_HEADERS)
        await _post(http, url, CHAT, OPENAI_HEADERS)
        assert server.completed == []
        await _post(http, url, CHAT, OPENAI_HEADERS)
        await _post(http, url, CHAT, OPENAI_HEADERS)
        assert len(set(server.completed)) == 2
