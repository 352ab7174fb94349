"""OpenAI, and every server that speaks its language, through OpenAI's own SDK.

OpenAI itself is asked through its Responses API, because its newest models refuse tools in chat completions; every
other server through chat completions, which all of them support. The body is sent as ready bytes and received as bytes
(see `wire.encode_json`). Answers come whole, never in pieces: pieces cost more work, and some servers' calls are better
so (vLLM's issue threads, 2026-11-26). A server at home, which may be slow, has more time instead (`adapter`).
Left to others: the formats (`openai_chat`, `openai_responses`), learning what a server does not take (`adapter`).

Source: platform.openai.com, issue threads of vLLM, Ollama, llama.cpp and OpenRouter, the package openai 3.54.0,
2026-11-21 to 2026-11-26.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

import openai
from aiohttp import ClientError
from httpx2 import TransportError

from bot.errors import ProviderError, Rejected
from bot.models import media, openai_chat, openai_responses, wire, words
from bot.models.adapter import TEMPERATURE, Adapter, PrivateClient, Quirks, http_options
from bot.models.base import Completion, Request
from bot.models.capabilities import ModelLessons, chat_models, entries
from bot.models.prices import Prices
from bot.models.tool_list import with_list
from bot.settings.groups import OpenAISettings

NAME: Final = "openai"
BASE_URL = "https://api.openai.com/v1"

_REASONING = re.compile(r"(o[0-9]|gpt-[5-9])")
"""Names of models that reason; they call the output limit `max_completion_tokens`, and take no temperature then."""

_CACHE_MARKS = re.compile(r"gpt-(5\.[6-9]|[6-9])")
"""Names of models whose cache keeps what a request names, and charges for it. Source: as for `caching`."""

_MISSES = r"missing [`'\"]?reasoning_content|reasoning_content[`'\"]? (?:is missing|in the thinking mode must)"
_QUIRKS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(words, re.IGNORECASE | re.DOTALL)
    for name, words in {
        "temperature": TEMPERATURE,
        # gpt-5.6 with tools, o1-pro always
        "responses": r"\buse (?:the )?`?/?v1/responses\b|\bonly supported in v1/responses\b",
        # Thoughts that led to a call, if they are another model's or gone: DeepSeek, Kimi, and Gemini's signature
        "reasoning_content": _MISSES,
        "thought_signature": r"missing a [`'\"]?thought_signature",
        # The same, where a server does not take back what it returned
        "carried": rf"^(?!.*(?:{_MISSES})).*(?:reasoning_content|reasoning_details|extra_content)",
        # The other name for the output limit
        "limit": r"^unsupported_parameter .*'max_(?:completion_)?tokens'",
        "effort": r"^(?:unsupported|unknown)_parameter .*'reasoning_effort'|does not support thinking",
        "prompt_cache": r"prompt_cache",
        # Ollama ("llama3:8b does not support tools"), vLLM (""auto" tool choice requires --enable-auto-tool-choice"),
        # llama.cpp (500 "tools param requires --jinja flag", 400 "Unable to generate parser for this template"), SGLang
        # ("Unsupported tool_call_parser: None"), OpenRouter (404), Groq ("`tool calling` is not supported with this
        # model"); templates without tool answers (Gemma 2's, Mistral's first) or with one call alone (Llama 3's)
        "tools": r"(?:not|n't) (?:yet )?support(?: native| any| the use of)? (?:tool(?!_choice)|function[ _-]?call)"
        r"|\b(?:tools?|(?:tool|function)[ _-]?(?:call(?:s|ing)?|use))[`'\"]{0,2} (?:is|are)"
        r" (?:currently )?(?:not |un)(?:supported|enabled|available)"
        r"|no endpoints found that support tool use|tool choice requires|tools param requires"
        r"|unsupported (?:param: tools|tool_call_parser)|unable to generate parser for this template"
        r"|^unsupported_parameter .*'tools'|conversation roles must alternate",
    }.items()
}
"""See `Adapter.quirks`. Source: issue threads; llama.cpp's build 0c1e570 and Ollama 0.17.4, observed, 2026-11-24."""


class _Client(PrivateClient, openai.AsyncOpenAI):
    """The SDK's client."""


class OpenAI(Adapter):
    """A provider: one model of OpenAI, or of a compatible server."""

    name = NAME
    lost = (openai.APIConnectionError, TransportError, ClientError)  # one that does not speak HTTP is not wrapped
    failures = (ProviderError, openai.OpenAIError, *lost, ValueError, RecursionError)  # JSON can be too deep
    quirks = _QUIRKS

    def __init__(
        self,
        given: OpenAISettings,
        *,
        model: str = "",
        prices: Prices | None = None,
        lessons: ModelLessons | None = None,
    ) -> None:
        """Opens nothing yet. `model` is another than that of the settings. OpenAI itself alone gets PDFs."""
        model = model or given.chosen_model or ""
        super().__init__(given, model=model, official_url=BASE_URL, prices=prices, lessons=lessons)
        self._official = given.is_openai_itself
        in_responses = given.api == "responses" or (given.api == "auto" and self._official)
        demanded = {"responses": in_responses, "tools": given.tool_mode == "prompt", media.DOCUMENT: not self._official}
        demanded |= {"temperature": _REASONING.match(model) is not None and given.effort != "none"}
        self._set = frozenset(name for name, is_so in demanded.items() if is_so)
        self._never = frozenset(() if given.tool_mode == "auto" else ("tools",))
        self._client = _Client(
            api_key=given.api_key.get_secret_value() if given.api_key else "none",  # the SDK requires one
            # None and missing values would be looked up in the environment.
            base_url=self._base_url,
            admin_api_key="",
            webhook_secret="",
            http_client=openai.DefaultAioHttpClient(**http_options()),
        )
        self._client.organization = None
        self._client.project = None

    async def _ask(self, request: Request) -> Completion:
        if not self._model:  # the first in the server's list that can hold a conversation, judging by its name
            listed = json.loads(await self._client.get(f"{self._base_url}/models", cast_to=bytes))
            names = chat_models(str(model["id"]) for model in entries(listed) if model.get("id"))
            if not names:
                raise Rejected("the server lists no model: set LLM__OPENAI__MODEL", provider=NAME)
            self._model = names[0]
        return await super()._ask(request)

    def _learnable(self, request: Request) -> Quirks:
        has_tools = bool(request.tools) or any(message.role == "tool" for message in request.messages)
        is_fixed = "tools" in self._never or "responses" in self._set | self._lesson.quirks
        return frozenset(self.quirks) if has_tools and not is_fixed else frozenset(self.quirks) - {"tools"}

    async def _answered(self, request: Request, quirks: Quirks) -> Completion:
        effort = None if "effort" in quirks else self._effort
        model, in_words = self._model, "tools" in quirks and "responses" not in quirks
        reasons = _REASONING.match(model) is not None
        asked = words.in_words(request) if in_words else with_list(request)
        if "responses" in quirks:
            marks = _CACHE_MARKS.match(model) is not None and "prompt_cache" not in quirks
            body = openai_responses.body(asked, model=model, effort=effort, reasons=reasons, marks=marks, quirks=quirks)
            answer = openai_responses.read(await self._post("/responses", body), model=model)
            return words.clean(answer, request)
        limits = ("max_tokens", "max_completion_tokens")
        limit = limits[(self._official or reasons) != ("limit" in quirks)]
        body = openai_chat.body(asked, model=model, effort=effort, limit=limit, official=self._official, quirks=quirks)
        answer = openai_chat.read(await self._post("/chat/completions", body))
        return words.clean(answer, request, in_words=in_words)

    def _refusal(self, error: Exception) -> wire.Refusal | None:
        if not isinstance(error, openai.APIStatusError):
            return None
        code, headers = str(error.code or error.type or ""), error.response.headers
        return wire.Refusal(
            status=error.status_code, code=code, param=error.param or "", words=error.message, headers=headers
        )
