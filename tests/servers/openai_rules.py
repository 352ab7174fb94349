"""What OpenAI's APIs refuse, with their error messages: pure checks of the bodies of chat completions and responses.

Source: platform.openai.com (API reference) and the exact messages quoted in public issue threads, 2026-11-21.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

from tests.servers.script import Mistake

MODELS = (
    "gpt-6.2-astra", "gpt-6-astra", "gpt-6.2-sol", "gpt-6.1-sol", "gpt-6-sol", "gpt-6.1-terra", "gpt-6-luna",
    "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.2",
    "gpt-5.1", "gpt-5", "gpt-5-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini", "o3",
)  # fmt: skip

# Without those of sampling but the temperature, which Aldis never sets: a double refuses them as unknown.
_CHAT_KEYS = frozenset({
    "messages", "model", "max_tokens", "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls",
    "seed", "user", "metadata", "store", "temperature",
    "reasoning_effort", "response_format", "prompt_cache_key", "prompt_cache_options", "safety_identifier",
    "service_tier", "verbosity",
})  # fmt: skip
_RESPONSES_KEYS = frozenset({
    "input", "model", "instructions", "max_output_tokens", "tools", "tool_choice", "parallel_tool_calls", "store",
    "reasoning", "include", "previous_response_id", "text", "truncation", "metadata",
    "prompt_cache_key", "prompt_cache_options", "safety_identifier", "service_tier", "background", "user",
    "max_tool_calls", "temperature",
})  # fmt: skip
_TOOLLESS_CHAT = re.compile(r"gpt-(5\.6|6)")
REASONING = re.compile(r"(o[0-9]|gpt-[5-9])")

Json = dict[str, Any]


_GUIDE = "https://openrouter.ai/docs/guides/routing/provider-selection"
_NO_PARSER = "Unable to generate parser for this template. Automatic parser generation failed: \n------------\n"
NO_TOOLS: dict[str, Json] = {
    "ollama": {"message": "registry.ollama.ai/library/qwen4:8b does not support tools", "kind": "api_error"},
    "vllm": {
        "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "kind": "BadRequestError",
        "code": 400,
    },
    "llama.cpp": {"message": "tools param requires --jinja flag", "status": 500, "kind": "server_error", "code": 500},
    "llama.cpp and lists": {
        "message": f"{_NO_PARSER}While executing MemberExpression at line 10, column 32 in source:\n"
        "Error: Function has no builtins",
        "code": 400,
    },
    "llama.cpp of old": {"message": "Unsupported param: tools", "status": 500, "kind": "server_error", "code": 500},
    "sglang": {"message": "Unsupported tool_call_parser: None", "kind": "BadRequest", "code": 400},
    "openrouter": {
        "message": "No endpoints found that support tool use. To learn more about provider routing, visit: " + _GUIDE,
        "status": 404,
        "code": 404,
    },
    "groq": {"message": "`tool calling` is not supported with this model", "param": "tools"},
    "parameter": {"message": "Unsupported parameter.", "param": "tools", "code": "unsupported_parameter"},
}
"""How servers word it that a model takes no tools; the texts are those of public issue threads, 2026-11-22, and of
llama.cpp's build 0c1e570 with the template of Command R+, whose list arguments it cannot read (2026-11-26).
"""


def wrong(message: str, param: str | None = None, code: str | None = None) -> Mistake:
    return Mistake(message, param=param, code=code)


def _empty(name: str) -> Mistake:
    expected = "Expected an array with minimum length 1, but got an empty array instead."
    return wrong(f"Invalid '{name}': empty array. {expected}", name, "empty_array")


Carried = Literal["deepseek", "kimi", "gemini", "openrouter", "nothing"]
"""Whose server wants back, within a turn, what it gave a call with; `nothing` gives thoughts and refuses them back."""

_CARRIED = {
    "deepseek": "reasoning_content", "kimi": "reasoning_content", "gemini": "extra_content",
    "openrouter": "reasoning_details",
}  # fmt: skip


def check_carried(whose: Carried | None, messages: list[Json], given: list[Any]) -> None:
    """Raise the first mistake; `given` is what was handed out with calls.

    The texts are those of public issue threads; what of it has to come back, and how far: api-docs.deepseek.com
    (thinking mode: in all requests that follow a call), ai.google.dev (thought signatures: the first call of each step
    since the last question; what stands for one that is not there), openrouter.ai/docs (preserving reasoning).
    2026-11-24.
    """
    since = max((number for number, message in enumerate(messages) if message["role"] == "user"), default=0)
    calling = [(number, message) for number, message in enumerate(messages) if message.get("tool_calls")]
    for number, message in calling:
        if whose == "deepseek" and message.get("reasoning_content") is None:
            told = "The `reasoning_content` in the thinking mode must be passed back to the API."
            raise wrong(told, code="invalid_request_error")
        if whose == "kimi" and not message.get("reasoning_content"):
            told = "thinking is enabled but reasoning_content is missing in assistant tool call message at index"
            raise wrong(f"{told} {number}")
        if whose == "openrouter" and number > since and message.get("reasoning_details") not in given:
            guide = "https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks"
            told = "Gemini models require OpenRouter reasoning details to be preserved in each request."
            raw = f"{told} Please refer to our docs: {guide}. Upstream error: {_unsigned(number, message)}"
            raise Mistake("Provider returned error", code=400, metadata={"raw": raw})
        signature = message["tool_calls"][0].get("extra_content", {}).get("google", {}).get("thought_signature")
        if whose == "gemini" and number > since and signature not in {*given, "skip_thought_signature_validator"}:
            raise Mistake(_unsigned(number, message), kind="INVALID_ARGUMENT", code=400)


def _unsigned(number: int, message: Json) -> str:
    return (
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
        "correctly, and missing thought_signature may lead to degraded model performance. Additional data, function "
        f"call `default_api:{message['tool_calls'][0]['function']['name']}` , position {number}. Please refer to "
        "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )


def check_chat(
    body: Json, *, refuses: frozenset[str], is_local: bool, sees: bool = False, carries: Carried | None = None
) -> None:
    """Raise the first mistake; `refuses` names parameters this server does not know.

    `is_local` is a compatible server, whose model takes strings alone unless it `sees`.
    """
    _check_names(body, carries)
    _check_common(body, _CHAT_KEYS, ("model", "messages"))
    if not is_local and REASONING.match(body["model"]):
        refuses |= {"max_tokens"}
        if body.get("temperature", 1) != 1 and body.get("reasoning_effort") != "none":
            # community.openai.com, thread 1337957, 2026-11-30
            raise wrong(
                f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. Only the "
                "default (1) value is supported.",
                "temperature",
                "unsupported_value",
            )
    _check_limits(body, refuses)
    tools = body.get("tools")
    _check_tools(body, [tool.get("function", {}) for tool in tools or []], "tools[{}].function")
    if tools and not is_local and _TOOLLESS_CHAT.match(body["model"]) and body.get("reasoning_effort") != "none":
        raise wrong(
            f"Function tools with reasoning_effort are not supported for {body['model']} in /v1/chat/completions. "
            "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
            "reasoning_effort",
        )
    if not body["messages"]:
        raise _empty("messages")
    for number, message in enumerate(body["messages"]):
        _check_message(number, message, strings_only=is_local, sees=sees or not is_local)
    _check_exchanges(body["messages"])


def _check_names(body: Json, carries: Carried | None) -> None:
    """What a message may hold; the words are Groq's, as issue threads quote them, 2026-11-24."""
    known = {"role", "content", "name", "refusal", "tool_calls", "tool_call_id", _CARRIED.get(carries or "")}
    inner = {"id", "type", "function", _CARRIED.get(carries or "")}
    messages: list[Json] = body.get("messages") or []
    for number, message in enumerate(messages):
        calls: list[Json] = message.get("tool_calls") or []
        of_calls = (name for call in calls for name in call if name not in inner)
        unknown = next((name for name in (*message, *of_calls) if name not in known | inner), None)
        if unknown is not None:
            told = f"for 'role:{message['role']}' the following must be satisfied"
            raise wrong(f"'messages.{number}' : {told}[('messages.{number}' : property '{unknown}' is unsupported)]")


def _check_common(body: Json, known: frozenset[str], required: tuple[str, ...]) -> None:
    for name in required:
        if name not in body:
            raise wrong(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
    for name in body:
        if name not in known:
            raise wrong(f"Unknown parameter: '{name}'.", name, "unknown_parameter")


def _check_limits(body: Json, refuses: frozenset[str]) -> None:
    renamed = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
    for name in sorted(refuses & body.keys()):
        hint = f" Use '{renamed[name]}' instead." if name in renamed else ""
        raise wrong(
            f"Unsupported parameter: '{name}' is not supported with this model.{hint}", name, "unsupported_parameter"
        )
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise wrong("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")


def _check_tools(body: Json, functions: list[Json], where: str) -> None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body and not functions:
            raise wrong(f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name)
    if len(functions) > 128:
        too_long = "Invalid 'tools': array too long. Expected an array with maximum length 128."
        raise wrong(too_long, "tools", "array_above_max_length")
    if body.get("tools") == []:
        raise _empty("tools")
    for number, function in enumerate(functions):
        _check_function(function, where.format(number))


def _check_function(function: Json, where: str) -> None:
    name, schema = function.get("name", ""), function.get("parameters")
    if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
        raise wrong(f"Invalid '{where}.name': string does not match pattern.", f"{where}.name", "invalid_value")
    if len(name) > 64:
        too_long = f"Invalid '{where}.name': string too long. Expected a string with maximum length 64."
        raise wrong(too_long, f"{where}.name", "string_above_max_length")
    if schema is None:
        return
    faults = [f"In context={context}, object schema missing properties." for context in _bare_objects(schema)]
    if (kind := schema.get("type")) != "object":
        faults = [f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."]
    if faults:
        told = f"Invalid schema for function '{name}': {faults[0]}"
        raise wrong(told, f"{where}.parameters", "invalid_function_parameters")


def _bare_objects(schema: Any, context: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where an object has no properties. The root is refused by all; a nested one by some servers, and OpenAI's own
    models do not see it (pydantic/pydantic-ai#3654, 2026-11-27), so that the double refuses it, too.
    """
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" not in schema:
            yield context
        for key in ("properties", "$defs", "items", "anyOf", "additionalProperties"):
            within = schema.get(key)
            named = within.items() if key in {"properties", "$defs"} and isinstance(within, dict) else [(key, within)]
            schemas = [(name, one) for name, given in named for one in (given if isinstance(given, list) else [given])]
            for name, one in schemas:
                yield from _bare_objects(one, (*context, name))


def _check_message(number: int, message: Json, *, strings_only: bool, sees: bool) -> None:
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    if role not in {"system", "developer", "user", "assistant", "tool"}:
        raise wrong(f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', and 'tool'.")
    if calls == []:
        raise _empty(f"messages[{number}].tool_calls")
    null = content is None and ("content" in message or not calls)
    if null and (strings_only or not calls):
        raise wrong("Invalid value for 'content': expected a string, got null.", f"messages.[{number}].content")
    if isinstance(content, list) and role == "user" and sees:
        _check_parts(content, f"messages[{number}].content", _CHAT_PARTS)
    elif strings_only and not isinstance(content, str) and "content" in message:
        raise wrong("Invalid value for 'content': expected a string.", f"messages.[{number}].content")
    for call in calls or []:
        _check_arguments(call.get("function", {}).get("arguments"), strings_only=strings_only)


def _check_arguments(arguments: Any, *, strings_only: bool) -> None:
    if not isinstance(arguments, str):
        raise wrong("Invalid type for 'arguments': expected a string.", code="invalid_type")
    if strings_only:
        try:
            ready = isinstance(json.loads(arguments), dict)
        except ValueError:
            ready = False
        if not ready:
            raise wrong("Failed to parse tool call arguments as a JSON object")


def _check_exchanges(messages: list[Json]) -> None:
    open_calls: list[str] = []
    asked_at = 0
    ended: list[Json] = [*messages, {"role": "end"}]
    for number, message in enumerate(ended):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise wrong(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    f"messages.[{number}].role",
                )
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            raise wrong(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_calls)}",
                f"messages.[{asked_at + 1}].role",
            )
        open_calls, asked_at = [call["id"] for call in message.get("tool_calls") or []], number


_DATA_URI = re.compile(r"data:(image/(png|jpeg|gif|webp)|application/pdf);base64,[A-Za-z0-9+/]+={0,2}")
_CHAT_PARTS = {"text": "text", "image_url": "image_url", "file": "file"}
_RESPONSES_PARTS = {"input_text": "text", "input_image": "image_url", "input_file": "file_data"}


def _check_parts(parts: list[Json], where: str, known: dict[str, str]) -> None:
    """What a message of several parts may hold: words, pictures and PDFs as data URIs."""
    for number, part in enumerate(parts):
        kind = part.get("type", "")
        if kind not in known:
            raise wrong(f"Invalid value: '{kind}'. Supported values are: {', '.join(map(repr, known))}.", where)
        given = part.get(known[kind])
        if not given:
            raise wrong(f"Missing required parameter: '{where}[{number}].{known[kind]}'.", where)
        if kind.endswith("text"):
            continue
        file = given if isinstance(given, dict) else part
        uri = given if isinstance(given, str) else given.get("url") or given.get("file_data") or ""
        if not _DATA_URI.fullmatch(uri) or ("image" in kind) is not uri.startswith("data:image/"):
            raise wrong(f"Invalid '{where}[{number}].{known[kind]}'. Expected a base64-encoded data URL.", where)
        if "file" in kind and not file.get("filename"):
            raise wrong(f"Missing required parameter: '{where}[{number}].filename'.", where)


_ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


def check_template(messages: list[Json], *, knows_tools: bool = True, knows_parallel_calls: bool = True) -> None:
    """What the chat templates of local servers want on top; ids as Mistral's, and its own service (code 3280). One that
    does not know tools is as Gemma 2's, one that does not know several calls as those of Llama 3.

    Source for these: llama-server of llama.cpp, build 0c1e570, with the templates that come with it; seen, 2026-11-24.
    """
    if not knows_parallel_calls and any(len(message.get("tool_calls") or ()) > 1 for message in messages):
        raise wrong(f"{_NO_PARSER}Error: Jinja Exception: This model only supports single tool-calls at once!")
    if not knows_tools and any(message["role"] == "tool" for message in messages):
        raise wrong(f"{_NO_PARSER}Error: Jinja Exception: {_ALTERNATE}")
    for call in (call for message in messages for call in message.get("tool_calls") or ()):
        if not re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"]):
            told = f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."
            raise Mistake(told, kind="invalid_function_call", code="3280")
    roles = [message["role"] for message in messages]
    if "system" in roles[1:]:
        raise wrong("System message must be at the beginning.")
    spoken = [role for role in roles if role in {"user", "assistant"}]
    if any(one == other == "user" for one, other in pairwise(spoken)):
        raise wrong(_ALTERNATE)
    if roles[-1] == "assistant":
        raise wrong("Cannot continue from an assistant message.")


def check_responses(body: Json, *, reasoning_follows: dict[str, str]) -> None:
    """Raise the first mistake; `reasoning_follows` gives the reasoning item of each function_call that has one."""
    _check_common(body, _RESPONSES_KEYS, ("model", "input"))
    is_thinking = REASONING.match(body["model"]) and body.get("reasoning", {}).get("effort") != "none"
    if "temperature" in body and is_thinking:  # OpenHands/software-agent-sdk#1837, 2026-11-30
        raise wrong("Unsupported parameter: 'temperature' is not supported with this model.", "temperature")
    if body.get("max_output_tokens", 16) < 16:
        raise wrong(
            "Invalid 'max_output_tokens': integer below minimum value. "
            f"Expected a value >= 16, but got {body['max_output_tokens']} instead.",
            "max_output_tokens",
            "integer_below_min_value",
        )
    for number, tool in enumerate(body.get("tools") or []):
        if "name" not in tool:
            raise wrong(f"Missing required parameter: 'tools[{number}].name'.", f"tools[{number}].name")
    _check_tools(body, body.get("tools") or [], "tools[{}]")
    if not body["input"]:
        raise wrong("Missing required parameter: 'input'.", "input", "missing_required_parameter")
    items = body["input"] if isinstance(body["input"], list) else []
    for number, item in enumerate(items):
        if item.get("role") == "user" and isinstance(item.get("content"), list):
            _check_parts(item["content"], f"input[{number}].content", _RESPONSES_PARTS)
    _check_marks(body, items)
    _check_item_calls(items)
    _check_reasoning(items, reasoning_follows, stored=body.get("store", True))


def _check_marks(body: Json, items: list[Json]) -> None:
    """Marks of the cache (the package openai 3.54.0, 2026-11-22): models before gpt-5.6 know none."""
    marks = [part for item in items for part in _parts_of(item) if "prompt_cache_breakpoint" in part]
    if (marks or "prompt_cache_options" in body) and not _TOOLLESS_CHAT.match(body["model"]):
        raise wrong(
            "Unsupported parameter: 'prompt_cache_options' is not supported with this model.",
            "prompt_cache_options",
            "unsupported_parameter",
        )
    if body.get("prompt_cache_options", {}).get("ttl", "30m") not in {"30m", "12h"}:
        raise wrong("Invalid value: 'ttl'. Supported values are: '30m', '12h'.", "prompt_cache_options.ttl")


def _parts_of(item: Json) -> list[Json]:
    content = item.get("output") if item.get("type") == "function_call_output" else item.get("content")
    return content if isinstance(content, list) else []


def _check_item_calls(items: list[Json]) -> None:
    asked = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for number, item in enumerate(items):
        if item.get("type") == "function_call":
            _check_arguments(item.get("arguments"), strings_only=False)
        if item.get("type", "message") == "message" and not item.get("content"):
            raise wrong(f"Missing required parameter: 'input[{number}].content'.", f"input[{number}].content")
    for call_id in asked:
        if call_id not in answered:
            raise wrong(f"No tool output found for function call {call_id}.", "input")
    for call_id in answered:
        if call_id not in asked:
            raise wrong(f"No tool call found for function call output with call_id {call_id}.", "input")


def _check_reasoning(items: list[Json], follows: dict[str, str], *, stored: bool) -> None:
    given: list[str] = [item["id"] for item in items if item.get("type") == "reasoning"]
    following: list[Json] = [*items[1:], {}]
    for item, after in zip(items, following, strict=False):
        kind, item_id = item.get("type", "message"), item.get("id", "")
        needed = follows.get(item_id)
        if needed is not None and needed not in given:
            raise wrong(
                f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'."
            )
        if kind != "reasoning":
            continue
        if after.get("type", "message" if after.get("role") == "assistant" else "") not in {
            "message", "function_call", "reasoning",
        }:  # fmt: skip
            raise wrong(f"Item '{item_id}' of type 'reasoning' was provided without its required following item.")
        if not stored and not item.get("encrypted_content"):
            raise wrong(
                f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to false. "
                "Try again with `store` set to true, or remove this item from your input.",
                "input",
            )
