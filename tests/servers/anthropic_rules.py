"""What Anthropic's Messages API refuses, with its error messages: pure checks of request bodies.

Source: docs.claude.com (Messages API, version 2026-10-21) and the messages quoted in public issue threads, 2026-11-21.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from tests.servers.script import Mistake

MODELS = (
    "claude-fable-5-2", "claude-mythos-5-2", "claude-haiku-5-5", "claude-sonnet-5-5", "claude-fable-5-1",
    "claude-opus-5-5", "claude-mythos-5-1", "claude-sonnet-5", "claude-fable-5", "claude-mythos-5", "claude-opus-5",
    "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6", "claude-haiku-4-5",
    "claude-haiku-4-5-20251001", "claude-opus-4-5", "claude-opus-4-5-20251101", "claude-sonnet-4-5",
    "claude-sonnet-4-5-20250929",
)  # fmt: skip
MAX_OUTPUT_TOKENS = 128_000

_KEYS = {"max_tokens", "messages", "model", "system", "tools", "tool_choice", "output_config", "metadata"}
_TOOL_KEYS = {"name", "description", "input_schema", "cache_control"}
"""What Aldis sends; the service knows more, and a double refuses that as unknown. `temperature` the service itself
refuses in these words, for each of its models and at any value. Source: blog posts and docs.memberjunction.org on API
version 2026-10-21, tried with Sonnet 4.6 and 5.5; read on 2026-11-30.
"""
_BLOCK_KEYS = {
    "text": {"text", "citations"},
    "image": {"source"},
    "document": {"source", "title", "context", "citations"},
    "tool_use": {"id", "name", "input", "caller"},
    "tool_result": {"tool_use_id", "content", "is_error"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "web_search_tool_result": {"tool_use_id", "content", "caller"},
}
_SOURCES = {
    "image": {
        "image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n", "image/gif": b"GIF8", "image/webp": b"RIFF",
    },
    "document": {"application/pdf": b"%PDF-"},
}  # fmt: skip
"""What may be shown, and how its bytes begin."""
_THOUGHTS = ("thinking", "redacted_thinking")
_UNMARKED = {kind: {"cache_control"} if kind in _THOUGHTS else set[str]() for kind in _BLOCK_KEYS}
"""Thoughts cannot be marked for the cache. Source: platform.claude.com, "Prompt caching", 2026-11-24."""
_NEWEST = re.compile(r"claude-((fable|mythos)-5-[1-9]|(opus|sonnet|haiku)-5-5)")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+?[0-9][0-9 ()-]{6,18}")

Block = dict[str, Any]
Turn = tuple[str, list[Block]]


def check(
    body: dict[str, Any], *, models: tuple[str, ...], window_tokens: int, size_bytes: int, samples: bool = False
) -> None:
    """Raise the first mistake; `samples`: it is another vendor's server of this API, which takes a temperature."""
    _check_keys("", body, _KEYS | ({"temperature"} if samples else set()))
    if not 0 <= body.get("temperature", 0) <= 1:
        raise Mistake("temperature: range: 0..1")
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise Mistake(f"{name}: Field required")
    if body["model"] not in models:
        raise Mistake(f"model: {body['model']}", status=404, kind="not_found_error")
    _check_options(body)
    _check_tools(body)
    _check_breakpoints(body)
    _check_messages(body)
    if size_bytes > 32 * 1024 * 1024:
        raise Mistake("Request exceeds the maximum size", status=413, kind="request_too_large")
    if size_bytes // 4 > window_tokens:
        raise Mistake(f"prompt is too long: {size_bytes // 4} tokens > {window_tokens} maximum")


def _check_keys(where: str, given: dict[str, Any], known: set[str]) -> None:
    for key in given:
        if key not in known:
            raise Mistake(f"{where}{key}: Extra inputs are not permitted")


def _check_options(body: dict[str, Any]) -> None:
    model, wanted = body["model"], body["max_tokens"]
    if not isinstance(wanted, int) or wanted < 1:
        raise Mistake("max_tokens: Input should be greater than or equal to 1")
    if wanted > MAX_OUTPUT_TOKENS:
        raise Mistake(
            f"max_tokens: {wanted} > {MAX_OUTPUT_TOKENS}, "
            f"which is the maximum allowed number of output tokens for {model}"
        )
    user = body.get("metadata", {}).get("user_id") or ""
    if _EMAIL.search(user):
        raise Mistake("metadata.user_id: user_id appears to contain an email address")
    if _PHONE.fullmatch(user):
        raise Mistake("metadata.user_id: user_id appears to contain a phone number")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools") or []
    for number, tool in enumerate(tools):
        _check_keys(f"tools.{number}.custom.", tool, _TOOL_KEYS)
        name = tool.get("name", "")
        if len(name) > 128:
            raise Mistake(f"tools.{number}.custom.name: String should have at most 128 characters")
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
            raise Mistake(f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if "type" not in tool.get("input_schema", {}):
            raise Mistake(f"tools.{number}.custom.input_schema.type: Field required")
        if tool["input_schema"]["type"] != "object":
            raise Mistake(f"tools.{number}.custom.input_schema.type: Input should be 'object'")
    names = [tool["name"] for tool in tools]
    if len(set(names)) != len(names):
        raise Mistake("tools: Tool names must be unique.")
    choice = body.get("tool_choice", {}).get("type", "auto")
    if choice not in {"auto", "none"}:
        raise Mistake('tool_choice: type "tool" and "any" are not supported for this model.')
    if "tool_choice" in body and not tools:
        raise Mistake("tool_choice: may only be specified while providing tools")


def _check_breakpoints(body: dict[str, Any]) -> None:
    system = body.get("system")
    marked = [*(body.get("tools") or []), *(system if isinstance(system, list) else [])]
    for message in body["messages"]:
        if isinstance(message.get("content"), list):
            marked.extend(message["content"])
    lives = [item["cache_control"].get("ttl", "5m") for item in marked if item.get("cache_control")]
    if len(lives) > 4:
        raise Mistake(f"A maximum of 4 blocks with cache_control may be provided. Found {len(lives)}.")
    if not set(lives) <= {"5m", "1h"}:
        raise Mistake("cache_control.ephemeral.ttl: Input should be '5m' or '1h'")
    if "5m" in lives and "1h" in lives[lives.index("5m") :]:
        raise Mistake("messages: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.")


def _check_messages(body: dict[str, Any]) -> None:
    if not body["messages"]:
        raise Mistake("messages: at least one message is required")
    for number, message in enumerate(body["messages"]):
        _check_message(number, message, last=number == len(body["messages"]) - 1)
    turns = merged(body["messages"])
    if turns[0][0] != "user":
        raise Mistake('messages: first message must use the "user" role')
    _check_pairs(turns)
    _check_thoughts(body, turns)
    if turns[-1][0] != "user":
        raise Mistake(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    used = any(block["type"] in {"tool_use", "tool_result"} for _, blocks in turns for block in blocks)
    if used and not body.get("tools"):
        raise Mistake("Requests which include `tool_use` or `tool_result` blocks must define tools.")


def _check_message(number: int, message: dict[str, Any], *, last: bool) -> None:
    _check_keys(f"messages.{number}.", message, {"role", "content"})
    role, content = message.get("role"), message.get("content")
    if role == "system" and number == 0:
        raise Mistake(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
            'not "system" as an input message role.'
        )
    if role == "system":
        raise Mistake("role 'system' is not supported on this model")
    if role not in {"user", "assistant"}:
        raise Mistake(f"messages.{number}.role: Input should be 'user' or 'assistant'")
    if not isinstance(content, str | list):
        raise Mistake(f"messages.{number}.content: Input should be a valid list")
    if not content and not (last and role == "assistant"):
        raise Mistake(
            f"messages.{number}: all messages must have non-empty content "
            "except for the optional final assistant message"
        )
    for place, block in enumerate(_blocks(content)):
        if role == "assistant" and block.get("type") in _SOURCES:
            raise Mistake(f"messages.{number}.content.{place}: `{block['type']}` blocks are not permitted in this role")
        _check_block(f"messages.{number}.content.{place}", block)


def _check_block(where: str, block: Block) -> None:
    kind = block.get("type")
    if kind not in _BLOCK_KEYS:
        raise Mistake(f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    _check_keys(f"{where}.{kind}.", block, {"type"} | ({"cache_control"} - _UNMARKED[kind]) | _BLOCK_KEYS[kind])
    if kind == "text" and not block.get("text"):
        raise Mistake("messages: text content blocks must be non-empty")
    if kind == "text" and not block["text"].strip():
        raise Mistake("messages: text content blocks must contain non-whitespace text")
    if kind in _SOURCES:
        _check_source(f"{where}.{kind}.source", block.get("source") or {}, _SOURCES[kind])
    if kind == "tool_use":
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", block.get("id", "")):
            raise Mistake(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if not isinstance(block.get("input"), dict):
            raise Mistake(f"{where}.tool_use.input: Input should be a valid dictionary")


def _check_source(where: str, source: Block, beginnings: dict[str, bytes]) -> None:
    if source.get("type") != "base64":
        raise Mistake(f"{where}: this double takes base64 alone")
    media_type = source.get("media_type")
    if media_type not in beginnings:
        raise Mistake(f"{where}.base64.media_type: Input should be {' or '.join(map(repr, beginnings))}")
    try:
        data = base64.b64decode(source.get("data", ""), validate=True)
    except binascii.Error as error:
        raise Mistake(f"{where}.base64: invalid base64 data") from error
    if not data:
        raise Mistake(f"{where}.base64.data: String should have at least 1 character")
    if not data.startswith(beginnings[media_type]):
        raise Mistake(f"{where}.base64.data: Image does not match the provided media type {media_type}")


def _blocks(content: Any) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def merged(messages: list[dict[str, Any]]) -> list[Turn]:
    """The messages as the model sees them: neighbours of one role are one message."""
    turns: list[Turn] = []
    for message in messages:
        blocks = _blocks(message["content"])
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], list(blocks)))
    return turns


def _ids(blocks: list[Block], kind: str, key: str) -> list[str]:
    return [block.get(key, "") for block in blocks if block["type"] == kind]


def _check_pairs(turns: list[Turn]) -> None:
    asked: set[str] = set()
    for number, (role, blocks) in enumerate(turns):
        calls = _ids(blocks, "tool_use", "id") if role == "assistant" else []
        for call_id in calls:
            if call_id in asked:
                raise Mistake(f"messages.{number}.content.{_place(blocks, call_id)}: `tool_use` ids must be unique")
            asked.add(call_id)
        before = _ids(turns[number - 1][1], "tool_use", "id") if number else []
        _check_results(number, blocks, before)
        after = turns[number + 1][1] if number + 1 < len(turns) else []
        _check_answered(number, calls, after)


def _place(blocks: list[Block], call_id: str) -> int:
    return next(place for place, block in enumerate(blocks) if call_id in {block.get("id"), block.get("tool_use_id")})


def _check_results(number: int, blocks: list[Block], before: list[str]) -> None:
    results = _ids(blocks, "tool_result", "tool_use_id")
    for call_id in results:
        if call_id not in before:
            raise Mistake(
                f"messages.{number}.content.{_place(blocks, call_id)}: unexpected `tool_use_id` found in `tool_result` "
                f"blocks: {call_id}. Each `tool_result` block must have a corresponding `tool_use` block in the "
                "previous message."
            )
        if results.count(call_id) > 1:
            raise Mistake(
                f"messages.{number}.content.{_place(blocks, call_id)}: each tool_use must have a single result. "
                f"Found multiple `tool_result` blocks with id: {call_id}"
            )


def _check_answered(number: int, calls: list[str], after: list[Block]) -> None:
    leading = [block for block in after[: len(calls)] if block["type"] == "tool_result"]
    missing = [call_id for call_id in calls if call_id not in _ids(leading, "tool_result", "tool_use_id")]
    if missing:
        raise Mistake(
            f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


# --- preserved thinking: a block is bound to everything before it, and only whole tails of blocks may come back


def seal(body: dict[str, Any], written: list[Block], text: str) -> str:
    """The signature of a thinking block that follows `written` in an answer to the body."""
    turns = merged(body["messages"])
    seen = [_unsealed(block) for _, blocks in turns for block in blocks if block["type"] in _THOUGHTS]
    rank = max((mark["rank"] for mark in seen if mark), default=-1) + 1
    rank += sum(1 for block in written if block["type"] in _THOUGHTS)
    mark = {"rank": rank, "text": _digest(text), "prefix": _prefix(body, turns, written)}
    return base64.b64encode(json.dumps(mark).encode()).decode()


def _unsealed(block: Block) -> dict[str, Any] | None:
    try:
        mark = json.loads(base64.b64decode(block.get("signature") or block.get("data") or "", validate=True))
    except (ValueError, binascii.Error):
        return None
    return mark if isinstance(mark, dict) and {"rank", "text", "prefix"} <= mark.keys() else None


def _digest(*things: Any) -> str:
    return hashlib.sha256(json.dumps(things, sort_keys=True).encode()).hexdigest()[:24]


def _prefix(body: dict[str, Any], turns: list[Turn], own: list[Block]) -> str:
    seen = [(role, _plain(blocks)) for role, blocks in turns]
    return _digest(body.get("system"), body.get("tools"), seen, _plain(own))


def _plain(blocks: list[Block]) -> list[Block]:
    return [
        {key: value for key, value in block.items() if key not in {"cache_control", "caller", "citations"}}
        for block in blocks
        if block["type"] not in _THOUGHTS
    ]


def _thoughts(turns: list[Turn]) -> Iterator[tuple[int, int, Block]]:
    for number, (_, blocks) in enumerate(turns):
        yield from ((number, place, block) for place, block in enumerate(blocks) if block["type"] in _THOUGHTS)


def _check_thoughts(body: dict[str, Any], turns: list[Turn]) -> None:
    newest = max((number for number, (role, _) in enumerate(turns) if role == "assistant"), default=-1)
    ranks: list[int] = []
    for number, (role, blocks) in enumerate(turns):
        if role == "assistant" and blocks and blocks[-1]["type"] in _THOUGHTS:
            raise Mistake(f"messages.{number}: The final block in an assistant message cannot be `thinking`.")
    for number, place, block in _thoughts(turns):
        invalid = f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block"
        mark = _unsealed(block)
        if mark is None:
            raise Mistake(invalid)
        if mark["text"] != _digest(block.get("thinking", "")) and number == newest:
            raise Mistake(
                "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
                "These blocks must remain as they were in the original response."
            )
        bound = _NEWEST.match(body["model"])
        moved = mark["prefix"] != _prefix(body, turns[:number], turns[number][1][:place])
        hole = bool(ranks) and mark["rank"] != ranks[-1] + 1
        if mark["text"] != _digest(block.get("thinking", "")) or (bound and (moved or hole)):
            raise Mistake(
                f"{invalid}. The block is bound to a different conversation. Remove the block, or set "
                '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
            )
        ranks.append(mark["rank"])
