"""How freely a model chooses its words: what each vendor is sent, and what is learnt where one does not take it."""

from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from bot.errors import Rejected
from bot.models.anthropic import Anthropic
from bot.models.capabilities import ModelLessons
from bot.models.openai import OpenAI
from bot.settings.groups import AnthropicSettings
from tests.bot.models.vendors import QUESTION, openai_of
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import answer_json
from tests.servers.openai import OpenAIServer, error_body

WARM = replace(QUESTION, temperature=0.7)
Server = AnthropicServer | OpenAIServer


def provider_of(server: Server, lessons: ModelLessons | None = None, **given: Any) -> Anthropic | OpenAI:
    if isinstance(server, AnthropicServer):
        key = SecretStr(server.key or "")
        return Anthropic(AnthropicSettings(api_key=key, base_url=server.base_url, **given), lessons=lessons)
    return openai_of(api_key=server.key, base_url=server.base_url, lessons=lessons, **given)


KNOWN: tuple[tuple[Server, dict[str, Any], bool], ...] = (
    (AnthropicServer(samples=True), {}, True),
    (OpenAIServer(), {"model": "gpt-4.1", "api": "chat"}, True),
    (OpenAIServer(), {"model": "gpt-4.1", "api": "responses"}, True),
    (OpenAIServer(), {"model": "gpt-5.5", "api": "chat"}, False),
    (OpenAIServer(), {"model": "gpt-5.5", "api": "chat", "effort": "none"}, True),
    (OpenAIServer(), {"model": "gpt-6-sol", "api": "responses", "effort": "low"}, False),
    (OpenAIServer(local=True), {"model": "qwen4:8b"}, True),
)


async def test_it_is_sent_where_a_model_takes_it() -> None:
    """Without a request that is refused, and to those alone; where none is wanted none is sent, and nothing else of the
    request differs, so that a cache keeps its beginning.
    """
    for server, given, is_sent in KNOWN:
        async with server, aclosing(provider_of(server, **given)) as provider:
            for request in (WARM, replace(WARM, temperature=0.2), QUESTION):
                await provider.complete(request)
            sent = [seen.json() for seen in server.requests]
            assert [one.pop("temperature", None) for one in sent] == ([0.7, 0.2, None] if is_sent else [None] * 3), (
                given
            )
            assert sent[0] == sent[1] == sent[2]
            assert server.refused == []


async def test_anthropic_itself_is_never_sent_any() -> None:
    """Its API refuses it for each model, at its own address."""
    for address, is_known in ((None, True), ("https://api.anthropic.com/", True), ("https://llm.example.org", False)):
        given = AnthropicSettings(api_key=SecretStr("k"), base_url=address)
        async with aclosing(Anthropic(given)) as provider:
            assert ("temperature" in provider._set) is is_known


REFUSED = (
    AnthropicServer(),  # a gateway to Anthropic's own
    OpenAIServer(local=True, refuses=frozenset({"temperature"})),
)
WORDS = (
    error_body("`temperature` is deprecated for this model."),  # OpenRouter, Bedrock
    error_body("`temperature` may only be set to 1 when thinking is enabled."),  # gateways whose Claude thinks
    error_body("invalid temperature: only 1 is allowed for this model"),  # Moonshot's Kimi
    error_body("Only the default (1) value is supported.", param="temperature"),  # one that reasons under another name
)


async def test_a_refusal_is_learnt() -> None:
    """The request goes out once more without it, and so does every later one, also of a provider made anew."""
    for server in REFUSED:
        lessons = ModelLessons()
        async with server:
            for _ in range(2):
                async with aclosing(provider_of(server, lessons, model="claude-haiku-4-5")) as provider:
                    assert (await provider.complete(WARM)).message is not None
            sent = ["temperature" in seen.json() for seen in server.requests]
            assert (sent, len(server.refused)) == ([True, False, False], 1)
    for words in WORDS:
        server = OpenAIServer(local=True)
        server.scripted(answer_json(words, 400))
        async with server, aclosing(provider_of(server, model="m")) as provider:
            await provider.complete(WARM)
            assert ["temperature" in seen.json() for seen in server.requests] == [True, False]


async def test_what_is_refused_for_another_reason_is_not_asked_again() -> None:
    """Nor what had no temperature that could be left out."""
    for request, words in ((WARM, "messages: the temperature in Oslo, Invalid"), (QUESTION, "invalid temperature")):
        server = OpenAIServer(local=True)
        server.scripted(answer_json(error_body(words), 400))
        async with server, aclosing(provider_of(server, model="m")) as provider:
            with pytest.raises(Rejected):
                await provider.complete(request)
            assert len(server.requests) == 1
