"""The real providers with their doubles, so that one suite can tell the same story to all of them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import SecretStr

from bot.messages import AssistantMessage, Message, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage, without_opaque
from bot.models.anthropic import Anthropic
from bot.models.base import Completion, Request, ToolOffer
from bot.models.capabilities import ModelLessons
from bot.models.openai import OpenAI
from bot.models.prices import Prices
from bot.settings.groups import AnthropicSettings, OpenAISettings
from tests.servers import anthropic as anthropic_server
from tests.servers import openai as openai_server
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Answer, answer_json
from tests.servers.openai import OpenAIServer
from tests.servers.script import ModelServer, echo
from tests.waiting import DEADLINE_SECONDS

NAMES = ("anthropic", "chat", "responses", "local", "prompted")
"""Of the vendors; `prompted` is a model that knows no tools."""

WEATHER = ToolOffer(
    name="get_weather",
    description="The weather at a place.",
    parameters={"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
)
TIME = ToolOffer(name="current_time", description="The time.", parameters={"type": "object"})

QUESTION = Request(
    system="You are Aldis.",
    messages=(UserMessage(text="What is the weather in Oslo?"),),
    tools=(WEATHER, TIME),
    may_call_tools=True,
    max_output_tokens=4096,
    timeout_seconds=DEADLINE_SECONDS,
    conversation="direct:7f0c",
)


@dataclass
class Vendor:
    """One of `NAMES`. `mistakes` says whether the test means the double to refuse something."""

    kind: str
    server: ModelServer
    provider: Anthropic | OpenAI
    mistakes: bool = False

    @property
    def opaque_name(self) -> str:
        return "anthropic" if self.kind == "anthropic" else "openai"

    def begin(self) -> None:
        server = self.server
        for told in (server.requests, server.faults, server.script, server.completed, server.refused):
            told.clear()
        server.reply, server.window_tokens, self.mistakes = echo, 1_000_000, False

    def end(self) -> None:
        assert self.mistakes or self.server.refused == []

    def fails(self, status: int, words: str = "No.", code: str = "", **headers: str) -> None:
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        self.server.faults.append(self._failure(status, words, code, told))

    def _failure(self, status: int, words: str, code: str, headers: dict[str, str]) -> Answer:
        if self.kind == "anthropic":
            return answer_json(anthropic_server.error_body(code or "api_error", words), status, headers)
        return answer_json(openai_server.error_body(words, code=code or None), status, headers)

    @property
    def sent(self) -> dict[str, Any]:
        return self.server.requests[-1].json()


def server_of(kind: str) -> AnthropicServer | OpenAIServer:
    if kind == "prompted":
        return OpenAIServer(local=True, takes_tools=False, writes_calls=True)
    return AnthropicServer() if kind == "anthropic" else OpenAIServer(local=kind == "local")


def provider_of(kind: str, server: AnthropicServer | OpenAIServer, key: str | None = None) -> Anthropic | OpenAI:
    key = key or server.key
    if kind == "anthropic":
        secret = SecretStr(key) if key else None
        return Anthropic(AnthropicSettings(api_key=secret, model="claude-haiku-5-5", base_url=server.base_url))
    if kind == "responses":
        return openai_of(api_key=key, model="gpt-6-sol", base_url=server.base_url, api="responses")
    tool_mode = "prompt" if kind == "prompted" else "auto"
    model = "gpt-4.1" if kind == "chat" else "qwen4:8b"
    return openai_of(api_key=key, model=model, base_url=server.base_url, tool_mode=tool_mode)


def openai_of(*, lessons: ModelLessons | None = None, prices: Prices | None = None, **given: Any) -> OpenAI:
    return OpenAI(OpenAISettings(**given), lessons=lessons, prices=prices)


@asynccontextmanager
async def opened(kind: str) -> AsyncGenerator[Vendor]:
    async with server_of(kind) as server:
        vendor = Vendor(kind=kind, server=server, provider=provider_of(kind, server))
        try:
            yield vendor
        finally:
            await vendor.provider.aclose()
        vendor.end()


def answered(
    message: AssistantMessage | None, content: str = '{"ok": true}', *, ok: bool = True
) -> tuple[Message, ...]:
    assert message is not None
    answers = tuple(ToolAnswer(call_id=call.id, name=call.name, content=content, ok=ok) for call in message.calls)
    return message, ToolMessage(answers=answers)


def followed_by(request: Request, *messages: Message) -> Request:
    return replace(request, messages=request.messages + messages)


def stripped(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(map(without_opaque, messages))


def texts(completion: Completion) -> list[str]:
    parts = completion.message.parts if completion.message else ()
    return [part.text for part in parts if isinstance(part, Text)]


def calls(completion: Completion) -> tuple[ToolCall, ...]:
    return completion.message.calls if completion.message else ()
