"""What servers say of their models is read, bounded, and followed where nothing else is set."""

import json
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any

from bot.chat.room import SIZES, ContextRoom
from bot.messages import Picture, UserMessage
from bot.models.base import Provider, Request
from bot.models.capabilities import NOTHING, Capabilities, ModelLessons, of_listed, of_ollama
from bot.models.openai import OpenAI
from bot.models.prices import Price, published_prices
from tests.bot.models.vendors import QUESTION
from tests.servers.openai import OpenAIServer
from tests.servers.script import ModelServer, Tokens, say

PHOTO = Picture(data=b"\x89PNG\r\n a chart", content_type="image/png", width=10, height=10)
SEEN = replace(QUESTION, messages=(UserMessage(text="What is this?", media=(PHOTO,)),))
SOLD = Price(input=Decimal("0.3"), output=Decimal("1.2"), cache_read=Decimal("0.03"))


def test_a_window_or_price_that_makes_no_sense_is_none() -> None:
    """Too small for a question, larger than any, or no whole number: as if it had not been said. -1 is how OpenRouter
    says that nobody can know; half a price is none.
    """
    for wrong in (3, 10**30, 8192.5, True, "8192", None, [8192]):
        assert of_listed({"max_model_len": wrong}) == NOTHING
        assert of_listed({"context_length": wrong, "top_provider": {"max_completion_tokens": wrong}}) == NOTHING
        assert Capabilities.model_validate({"window_tokens": wrong, "max_output_tokens": wrong}) == NOTHING
        shown = {"model_info": {"general.architecture": "llama", "llama.context_length": wrong}}
        assert of_ollama(shown, {"models": [{"name": "m", "context_length": wrong}]}, "m") == NOTHING
    for prompt in ("-1", "NaN", "1e9", 0.1, "", None, "1" * 50):
        assert of_listed({"pricing": {"prompt": prompt, "completion": "1"}}).price is None


def lessons_with(server: str, model: str, told: Capabilities) -> ModelLessons:
    lessons = ModelLessons()
    lessons.of(server, model).capabilities = told
    return lessons


async def sent(server: ModelServer, provider: Provider, request: Request) -> list[dict[str, Any]]:
    """The bodies with which a question was asked."""
    server.scripted(say("Fine."))
    try:
        await provider.complete(request)
    finally:
        await provider.aclose()
    return [seen.json() for seen in server.requests]


async def test_a_model_without_tools_or_eyes_is_not_tried_first() -> None:
    """By what its server said; what is set counts more, and no lesson is made of what was only said."""
    blind = Capabilities(tools=False, pictures=False)
    async with OpenAIServer(local=True, takes_tools=False) as server:
        lessons = lessons_with(server.base_url, "m", blind)
        [body] = await sent(server, OpenAI(api_key=None, model="m", base_url=server.base_url, lessons=lessons), SEEN)
        assert "tools" not in body
        assert "you cannot see" in json.dumps(body)
        assert not lessons.of(server.base_url, "m").quirks
    async with OpenAIServer(local=True, sees=True) as server:
        lessons = lessons_with(server.base_url, "m", blind)
        chosen = OpenAI(api_key=None, model="m", base_url=server.base_url, lessons=lessons, tool_mode="native")
        [body] = await sent(server, chosen, SEEN)
        assert "tools" in body


def test_the_smallest_window_that_is_known_counts() -> None:
    """That of a refusal, or what the server said; the longest answer has its share, and its own limit."""
    lessons = lessons_with("http://gpu", "m", Capabilities(window_tokens=32_768, max_output_tokens=1024))
    room = ContextRoom(lambda _: lessons.of("http://gpu", "m"))
    assert room.window_tokens(None) == 32_768
    assert room.output_tokens(4096, SIZES[0], None) == 1024
    room.on_refusal(None, 8192)
    assert room.window_tokens(None) == 8192
    room.on_refusal(None, 100_000)
    assert room.window_tokens(None) == 32_768


async def test_a_reseller_says_its_price() -> None:
    """It counts where no other is known; the operator's own counts more."""
    async with OpenAIServer(local=True) as server:
        server.reply = lambda _: say("Fine.").using(Tokens(fresh=1_000_000, output=1_000_000))
        lessons = lessons_with(server.base_url, "vendor/m", Capabilities(price=SOLD))
        for own, cost_usd in (([], "1.5"), ([("vendor/m", Decimal(1), Decimal(1))], "2")):
            prices = published_prices().with_own(own)
            shop = OpenAI(api_key=None, model="vendor/m", base_url=server.base_url, lessons=lessons, prices=prices)
            async with aclosing(shop):
                assert (await shop.complete(QUESTION)).cost_usd == Decimal(cost_usd)
