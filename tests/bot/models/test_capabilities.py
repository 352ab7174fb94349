"""What servers say of their models is read, bounded, and followed where nothing else is set."""

import json
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

from anthropic.types import ModelParam
from openai.types.shared import ChatModel

from bot.chat.room import SIZES, ContextRoom
from bot.messages import Picture, UserMessage
from bot.models.base import Provider, Request, Usage
from bot.models.capabilities import NOTHING, Capabilities, ModelLessons, of_listed, of_ollama
from bot.models.prices import Price, Prices, published_prices, unknown_cost, unknown_price
from tests.bot.models.vendors import QUESTION, openai_of
from tests.servers.openai import OpenAIServer
from tests.servers.script import ModelServer, Tokens, say

PHOTO = Picture(data=b"\x89PNG\r\n a chart", content_type="image/png", width=10, height=10)
SEEN = replace(QUESTION, messages=(UserMessage(text="What is this?", media=(PHOTO,)),))
SOLD = Price(input=Decimal("0.3"), output=Decimal("1.2"), cache_read=Decimal("0.03"))


def test_a_window_or_price_that_makes_no_sense_is_none() -> None:
    """Too small, larger than any, no whole number, OpenRouter's -1 for what is unknown; half a price is none."""
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
        [body] = await sent(server, openai_of(api_key=None, model="m", base_url=server.base_url, lessons=lessons), SEEN)
        assert "tools" not in body
        assert "you cannot see" in json.dumps(body)
        assert not lessons.of(server.base_url, "m").quirks
    async with OpenAIServer(local=True, sees=True) as server:
        lessons = lessons_with(server.base_url, "m", blind)
        chosen = openai_of(api_key=None, model="m", base_url=server.base_url, lessons=lessons, tool_mode="native")
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
            shop = openai_of(api_key=None, model="vendor/m", base_url=server.base_url, lessons=lessons, prices=prices)
            async with aclosing(shop):
                assert (await shop.complete(QUESTION)).cost_usd == Decimal(cost_usd)


# What completions cost

MILLION = 1_000_000
HOUR = Usage(input_tokens=MILLION, cache_write_tokens=MILLION, cache_write_hour_tokens=MILLION // 2)


def _cost(prices: Prices, model: str, usage: Usage) -> Decimal | None:
    price = prices.of(model)
    return None if price is None else price.cost(usage)


def test_what_a_completion_costs() -> None:
    """The price is that of fresh, cached, written and answered tokens, exact to the last digit."""
    for model, usage, expected in (
        ("claude-sonnet-5-5", Usage(input_tokens=MILLION), "2"),
        ("claude-sonnet-5-5", Usage(output_tokens=MILLION), "10"),
        ("claude-sonnet-5-5", Usage(input_tokens=MILLION, cached_input_tokens=MILLION), "0.1"),
        ("claude-sonnet-5-5", Usage(input_tokens=MILLION, cache_write_tokens=MILLION), "2.5"),
        ("claude-sonnet-5-5", HOUR, "3.25"),
        ("gpt-4.1", HOUR, "2"),
        # The rates beyond the limit hold for all of a long prompt; at the limit itself they do not.
        ("claude-haiku-5-5", Usage(input_tokens=100_000), "0.01"),
        ("claude-haiku-5-5", Usage(input_tokens=100_001), "0.0500005"),
        ("gpt-5.5", Usage(input_tokens=MILLION, output_tokens=MILLION // 10), "14.5"),
        ("gpt-5.5-2026-04-23", Usage(output_tokens=MILLION), "30"),
        ("claude-haiku-5-5-20260901", Usage(input_tokens=1), "0.0000001"),
        ("offline", Usage(), "0"),
    ):
        assert _cost(published_prices(), model, usage) == Decimal(expected), (model, usage)


def test_an_unknown_model_has_no_price() -> None:
    """A price is never guessed from a name that is merely alike, nor a cost where a server tells no usage."""
    for model in ("claude-haiku-5-5-mini", "claude-haiku-5", "gpt-7-sol", "x/claude-haiku-5-5", "qwen4:8b", ""):
        assert published_prices().of(model) is None
        assert _cost(published_prices(), model, Usage(input_tokens=1)) is None
    assert _cost(published_prices(), "claude-haiku-5-5", Usage()) is None


def test_every_model_of_the_sdks_that_has_a_published_price_has_one_here() -> None:
    """The table is as new as the SDKs; a model that neither has is for the operator to price."""
    unpriced = {name for name in (*get_args(ChatModel), *_names(ModelParam)) if published_prices().of(name) is None}
    known_to_lack = {"claude-mythos-5", "claude-mythos-5-1", "claude-mythos-preview", "gpt-6.2-astra", "gpt-6.2-sol"}
    assert unpriced == known_to_lack


def _names(literal: object) -> Iterator[str]:
    for argument in get_args(literal):
        yield from [argument] if isinstance(argument, str) else _names(argument)


def test_the_operator_knows_more_prices() -> None:
    """A model of the operator's has its price, dated or not, and the published ones stay."""
    prices = published_prices().with_own(
        [("gpt-next", Decimal("0.25"), Decimal(2)), ("qwen4:8b", Decimal(0), Decimal(0))]
    )
    usage = Usage(input_tokens=MILLION, output_tokens=MILLION)
    costs = [_cost(prices, model, usage) for model in ("gpt-next", "gpt-next-20261101", "qwen4:8b", "gpt-nobody")]
    assert costs == [Decimal("2.25"), Decimal("2.25"), Decimal(0), None]
    assert _cost(prices, "claude-opus-5-5", usage) == Decimal(24)
    assert _cost(published_prices(), "gpt-next", usage) is None


def test_the_operator_knows_better() -> None:
    """Their price stands in the place of the published one, for any prompt; the cache saves as much as before."""
    prices = published_prices().with_own([("claude-haiku-5-5", Decimal(1), Decimal(5))])
    assert _cost(prices, "claude-haiku-5-5", Usage(input_tokens=MILLION, output_tokens=MILLION)) == Decimal(6)
    assert _cost(prices, "claude-haiku-5-5", Usage(input_tokens=MILLION, cached_input_tokens=MILLION)) == Decimal("0.1")


def test_the_operator_is_told_what_to_do() -> None:
    """One line that names the model, and the setting where a price is what is missing."""
    told = unknown_price("gpt-nobody")
    assert told.startswith("the price of model gpt-nobody is unknown")
    assert "BUDGET__PRICES=gpt-nobody=input/output" in told
    assert "\n" not in told
    assert unknown_cost("gpt-nobody", Usage(input_tokens=1)) == told
    assert "does not tell how many tokens model gpt-nobody used" in unknown_cost("gpt-nobody", Usage())
