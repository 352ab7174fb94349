"""A double of Anthropic's Messages API on loopback, which refuses what the real one refuses.

    async with AnthropicServer() as server:
        server.scripted(think() + call("get_weather", {"place": "Oslo"}), say("It is cold."))
        ... Anthropic(api_key=server.key, base_url=server.url, ...) ...

The rules are in `tests.servers.anthropic_rules`, the scripted answers in `tests.servers.script`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers import anthropic_rules as rules
from tests.servers.base import Seen
from tests.servers.script import Call, Heard, Mistake, ModelServer, Scripted, Think, Tokens

VERSION = "2026-10-21"

_STOP_REASONS = {
    "length": "max_tokens",
    "refusal": "refusal",
    "filter": "refusal",
    "window": "model_context_window_exceeded",
}


_ABILITIES = ("batch", "citations", "effort", "image_input", "pdf_input", "structured_outputs", "thinking")


@dataclass
class AnthropicServer(ModelServer):
    """`base_url` of a client is `server.url`, the key `server.key`."""

    aliases: dict[str, str] = field(default_factory=dict[str, str])
    """Other names of models, which are known and not listed."""
    lacks: frozenset[str] = frozenset()
    samples: bool = False
    """Whether it is another vendor's server of this API (Ollama, LM Studio), which takes a temperature."""

    retires: Mapping[str, str] = field(default_factory=lambda: {"claude-sonnet-4-5": "2026-11-30T00:00:00Z"})
    """When models end, by name: those are deprecated. Source: platform.claude.com (model deprecations), 2026-11-27."""

    @property
    def base_url(self) -> str:
        return self.url

    def check_key(self, seen: Seen) -> None:
        given = seen.headers.get("x-api-key") or seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self.key is not None and given != self.key:
            raise Mistake("invalid x-api-key", status=401, kind="authentication_error")
        version = seen.headers.get("anthropic-version")
        if version is None:
            raise Mistake("anthropic-version: header is required")
        if version != VERSION:
            raise Mistake(f'anthropic-version: "{version}" is not a valid version')

    def listed(self, seen: Seen) -> dict[str, Any]:
        """The models, or the one of that name or alias (platform.claude.com, "Get a Model", 2026-11-22; what it can do
        as `ModelInfo` of the package anthropic 2.12.0 has it, 2026-11-23).
        """
        models = [
            {
                "type": "model",
                "id": name,
                "display_name": name,
                "lifecycle": "deprecated" if name in self.retires else "active",
                "retires_at": self.retires.get(name),
                "max_input_tokens": 1_000_000,
                "max_tokens": 128_000,
                "capabilities": {ability: {"supported": ability not in self.lacks} for ability in _ABILITIES},
            }
            for name in self.models or rules.MODELS
        ]
        named = seen.path.removeprefix("/v1/models/")
        if named != seen.path:
            found = next((model for model in models if model["id"] == self.aliases.get(named, named)), None)
            if found is None:
                raise Mistake(f"model: {named}", status=404, kind="not_found_error")
            return found
        if seen.path != "/v1/models":
            raise Mistake("Not found", status=404, kind="not_found_error")
        return {"data": models, "has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}

    def check(self, seen: Seen, body: dict[str, Any]) -> None:
        if (seen.method, seen.path) != ("POST", "/v1/messages"):
            raise Mistake("Not found", status=404, kind="not_found_error")
        rules.check(
            body,
            models=self.models or rules.MODELS,
            window_tokens=self.window_tokens,
            size_bytes=len(seen.body),
            samples=self.samples,
        )

    def heard(self, seen: Seen, body: dict[str, Any]) -> Heard:
        text, answers, media = "", [], []
        for block in (block for role, blocks in rules.merged(body["messages"]) if role == "user" for block in blocks):
            if block["type"] == "text":
                text, answers = block["text"], []
            elif block["type"] == "tool_result":
                answers.append(_words(block.get("content", "")))
            elif block["type"] in {"image", "document"}:
                media.append(block["type"])
        tools = tuple(tool["name"] for tool in body.get("tools", ()))
        may_call = bool(tools) and body.get("tool_choice", {}).get("type") != "none"
        return Heard(text=text, answers=tuple(answers), tools=tools, may_call=may_call, media=tuple(media))

    def answer(self, seen: Seen, body: dict[str, Any], scripted: Scripted) -> dict[str, Any]:
        reason = _STOP_REASONS.get(scripted.ending) or ("tool_use" if scripted.calls else "end_turn")
        answer = {
            "id": self.new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": self._content(body, scripted),
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": _usage(scripted.tokens or Tokens(fresh=0, output=0)),
        }
        if reason == "refusal":
            answer["stop_details"] = {"type": "refusal", "category": "general_harms", "explanation": None}
        return answer

    def _content(self, body: dict[str, Any], scripted: Scripted) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = []
        for part in scripted.parts:
            if isinstance(part, Call):
                call_id = part.id or self.new_id("toolu")
                content.append({"type": "tool_use", "id": call_id, "name": part.name, "input": part.arguments})
            elif isinstance(part, Think):
                sealed = rules.seal(body, content, "" if part.redacted else part.text)
                thought = {"type": "thinking", "thinking": part.text, "signature": sealed}
                content.append({"type": "redacted_thinking", "data": sealed} if part.redacted else thought)
            else:
                content.append({"type": "text", "text": part.text})
        return content

    def refusal(self, mistake: Mistake) -> web.Response:
        return web.json_response(
            error_body(mistake.kind, mistake.message),
            status=mistake.status,
            headers={"x-should-retry": "false", "request-id": self.new_id("req")},
        )


def error_body(kind: str, message: str, **details: Any) -> dict[str, Any]:
    error = {"type": kind, "message": message}
    return {"type": "error", "error": {**error, "details": details} if details else error, "request_id": "req_0"}


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.fresh,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens.cache_write - tokens.cache_write_hour,
            "ephemeral_1h_input_tokens": tokens.cache_write_hour,
        },
        "output_tokens": tokens.output,
        "service_tier": "standard",
    }
