"""What completions cost."""

from collections.abc import Iterator
from decimal import Decimal
from typing import get_args

from anthropic.types import ModelParam
from openai.types.shared import ChatModel

from bot.models.base import Usage
from bot.models.prices import Prices, published_prices, unknown_cost, unknown_price

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
    """A price is never guessed from a name that is merely alike."""
    for model in ("claude-haiku-5-5-mini", "claude-haiku-5", "gpt-7-sol", "x/claude-haiku-5-5", "qwen4:8b", ""):
        assert published_prices().of(model) is None
        assert _cost(published_prices(), model, Usage(input_tokens=1)) is None


def test_every_model_of_the_sdks_that_has_a_published_price_has_one_here() -> None:
    """The table is as new as the SDKs; a model that neither has is for the operator to price."""
    unpriced = {name for name in (*get_args(ChatModel), *_names(ModelParam)) if published_prices().of(name) is None}
    known_to_lack = {"claude-mythos-5", "claude-mythos-5-1", "claude-mythos-preview", "gpt-6.2-astra", "gpt-6.2-sol"}
    assert unpriced == known_to_lack


def _names(literal: object) -> Iterator[str]:
    for argument in get_args(literal):
        yield from [argument] if isinstance(argument, str) else _names(argument)


def test_a_prompt_that_nobody_counted() -> None:
    """A server that tells no usage has not given its answer away: what it cost is not known."""
    assert _cost(published_prices(), "claude-haiku-5-5", Usage()) is None


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
