"""The doubles of the models refuse what only several messages together break, so that they cannot become yes-men.

A rule that is one condition and its sentence is read where it stands.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Seen
from tests.servers.openai import CHAT, RESPONSES, OpenAIServer
from tests.servers.openai_rules import Carried
from tests.servers.script import Mistake, ModelServer, call, think

Json = dict[str, Any]
Change = Callable[[Json], object]

MESSAGES = "/v1/messages"


def refusal(server: ModelServer, path: str, body: Json) -> str:
    try:
        server.check(seen(path, body), body)
    except Mistake as mistake:
        return f"{mistake.status} {mistake.message}"
    return ""


def seen(path: str, body: Json) -> Seen:
    return Seen(method="POST", path=path, query={}, headers={}, body=json.dumps(body).encode())


def check_mistakes(server: ModelServer, path: str, right: Json, mistakes: list[tuple[Change, str]]) -> None:
    assert refusal(server, path, right) == ""
    for change, words in mistakes:
        body = copy.deepcopy(right)
        change(body)
        refused = refusal(server, path, body)
        assert refused, words
        assert words in refused


def _set(**values: Any) -> Change:
    return lambda body: body.update(values)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _use(call_id: str = "toolu_1") -> Json:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {}}


def _result(call_id: str = "toolu_1") -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "4"}


def _block(number: int, *blocks: Json) -> Change:
    return lambda body: body["messages"][number].update(content=list(blocks))


TOOL: Json = {"name": "f", "description": "d", "input_schema": {"type": "object"}}
MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
UNANSWERED = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after"

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
ANTHROPIC_MISTAKES: list[tuple[Change, str]] = [
    (_set(tools=[TOOL | MARK, TOOL | MARK | {"name": "g"}], system=[_text("a") | MARK] * 3), "A maximum of 4 blocks"),
    (_set(tools=[TOOL | MARK], system=[_text("a") | HOUR]), "a ttl='1h' cache_control block must not come after"),
    (_block(1, _use(), _use()), "messages.1.content.0: `tool_use` ids must be unique"),
    (_block(1, _use(), _use("toolu_2")), UNANSWERED),
    (_block(2, _text("Stop!"), _result()), UNANSWERED),
    (_block(2, _result(), _result()), "messages.2.content.0: each tool_use must have a single result."),
    (_block(2, _result(), _result("toolu_9")), "messages.2.content.1: unexpected `tool_use_id` found"),
    (_block(1, _text("Hm.")), "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks"),
    (lambda body: body.pop("tools"), "Requests which include `tool_use` or `tool_result` blocks must define tools."),
]
BOUND = "The block is bound to a different conversation."


def _third_round(body: Json) -> None:
    """A hole: the second of three thinking blocks is gone."""
    del body["messages"][3]["content"][0]
    body["messages"][1]["content"].insert(0, dict(body["messages"][1]["content"][0]))


THOUGHT_MISTAKES: list[tuple[Change, str]] = [
    (_set(tools=[TOOL | {"description": "changed"}]), BOUND),
    (lambda body: body["messages"][1]["content"][0].update(thinking="other"), BOUND),
    (lambda body: body["messages"][1]["content"].insert(0, _text("First.")), BOUND),
    (_third_round, BOUND),
    (lambda body: body["messages"][3]["content"][0].update(thinking="other"), "cannot be modified."),
    (lambda body: body["messages"][1]["content"][0].update(signature="made up"), "Invalid `signature` in `thinking`"),
    (lambda body: body["messages"][3]["content"].reverse(), "The final block in an assistant message cannot be"),
]


def test_anthropic_refuses() -> None:
    """Each mistake in the service's own words; a thought is taken back only where nothing before it has changed."""
    server = AnthropicServer()
    check_mistakes(server, MESSAGES, RIGHT, ANTHROPIC_MISTAKES)
    body: Json = copy.deepcopy(RIGHT) | {"messages": [{"role": "user", "content": "Hi"}]}
    for _ in range(2):
        answer = server.answer(seen(MESSAGES, body), body, think("hm") + call("f", {}))
        body["messages"].append({"role": "assistant", "content": answer["content"]})
        body["messages"].append({"role": "user", "content": [_result(answer["content"][-1]["id"])]})
    check_mistakes(server, MESSAGES, body, THOUGHT_MISTAKES)


def _function(parameters: Json) -> Json:
    return {"type": "function", "function": {"name": "f", "description": "d", "parameters": parameters}}


def _asked(call_id: str = "call00001", arguments: str = "{}") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def _left_out(*numbers: int) -> Change:
    return lambda body: body.update(messages=[m for n, m in enumerate(body["messages"]) if n not in numbers])


def _message(number: int, **values: Any) -> Change:
    return lambda body: body["messages"][number].update(values)


def _called(call_id: str) -> Change:
    def change(body: Json) -> None:
        body["messages"][2]["tool_calls"], body["messages"][3]["tool_call_id"] = [_asked(call_id)], call_id

    return change


CHAT_RIGHT: Json = {
    "model": "gpt-4.1",
    "max_tokens": 1000,
    "tools": [_function({"type": "object", "properties": {}})],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [_asked()]},
        {"role": "tool", "tool_call_id": "call00001", "content": "4"},
        {"role": "assistant", "content": "Four."},
        {"role": "user", "content": "Well?"},
    ],
}
CHAT_MISTAKES: list[tuple[Change, str]] = [
    (
        lambda body: body.update(model="gpt-5.6-luna", max_completion_tokens=body.pop("max_tokens")),
        "Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions.",
    ),
    (_set(tools=[_function({})]), "must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."),
    (_set(tools=[_function({"type": "object"})]), "In context=(), object schema missing properties."),
    (_left_out(2), "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
    (_left_out(3), "did not have response messages: call00001"),
    (_message(3, tool_call_id="call_2"), "messages with role 'tool' must be a response"),
]
LOCAL_MISTAKES: list[tuple[Change, str]] = [
    (_message(2, tool_calls=[_asked(arguments="{")]), "Failed to parse tool call arguments"),
    (_message(2, tool_calls=[_asked(arguments="[]")]), "Failed to parse tool call arguments"),
    (_message(4, role="system"), "System message must be at the beginning."),
    (_left_out(4, 2, 3), "Conversation roles must alternate"),
    (_left_out(5), "Cannot continue from an assistant message."),
    (_called("call_1"), "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
    (_message(2, reasoning_content="Hm."), "property 'reasoning_content' is unsupported"),
    (_message(2, tool_calls=[_asked() | {"extra_content": {}}]), "property 'extra_content' is unsupported"),
]
CARRIED: list[tuple[Carried, str, bool]] = [
    ("deepseek", "The `reasoning_content` in the thinking mode must be passed back to the API.", True),
    ("kimi", "reasoning_content is missing in assistant tool call message at index 2", True),
    ("gemini", "Function call is missing a thought_signature in functionCall parts.", False),
    ("openrouter", "Provider returned error", False),
]


def test_openai_chat_refuses() -> None:
    """OpenAI itself; a compatible server, which wants what its template wants; and those that want something back with
    a call, two of them also when a new question has come.
    """
    check_mistakes(OpenAIServer(), CHAT, CHAT_RIGHT, CHAT_MISTAKES)
    at_home = CHAT_RIGHT | {"model": "qwen4:8b"}
    check_mistakes(OpenAIServer(local=True), CHAT, at_home, LOCAL_MISTAKES)
    for whose, words, is_for_good in CARRIED:
        server = OpenAIServer(local=True, carries=whose)
        assert words in refusal(server, CHAT, at_home | {"messages": at_home["messages"][:4]})
        assert (refusal(server, CHAT, at_home) != "") == is_for_good


RESPONSES_RIGHT: Json = {
    "model": "gpt-6-sol",
    "store": False,
    "tools": [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False}],
    "input": [
        {"role": "user", "content": "Hi"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "4"},
        {"role": "user", "content": "Well?"},
    ],
}
RESPONSES_MISTAKES: list[tuple[Change, str]] = [
    (lambda body: body["input"].pop(1), "No tool call found for function call output with call_id call_1."),
    (lambda body: body["input"].pop(2), "No tool output found for function call call_1."),
]
REASONING_MISTAKES: list[tuple[Change, str]] = [
    (lambda body: body["input"].pop(1), "of type 'function_call' was provided without its required 'reasoning' item"),
    (lambda body: body["input"].insert(1, body["input"].pop(2)), "of type 'reasoning' was provided without its"),
    (lambda body: body["input"][1].pop("encrypted_content"), "Items are not persisted when `store` is set to false."),
]


def test_openai_responses_refuses() -> None:
    """A reasoning item and the call it led to come back together, sealed and in order."""
    server = OpenAIServer()
    check_mistakes(server, RESPONSES, RESPONSES_RIGHT, RESPONSES_MISTAKES)
    body = RESPONSES_RIGHT | {"input": [{"role": "user", "content": "Hi"}]}
    output = server.answer(seen(RESPONSES, body), body, think("hm") + call("f", {}))["output"]
    body["input"] += [*output, {"type": "function_call_output", "call_id": output[1]["call_id"], "output": "4"}]
    check_mistakes(server, RESPONSES, body, REASONING_MISTAKES)
