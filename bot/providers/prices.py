"""What a completion costs: the prices that vendors publish, and the arithmetic.

A model that stands in no table has no price (None), which is not the same as costing nothing: a local model, a
reseller's name, a model newer than this file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from bot.providers.base import Usage

_MILLION = Decimal(1_000_000)
_DATED = re.compile(r"-[0-9]{8}$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars for a million tokens; the factors are of the input price."""

    input_usd: Decimal
    output_usd: Decimal
    cache_read_factor: Decimal = Decimal("0.1")
    cache_write_factor: Decimal = Decimal("1.25")
    """For the cache that lives five minutes, the one that Aldis asks for."""
    max_input_tokens: int | None = None
    """The longest prompt that this price is for; None means any."""


# Source: docs.claude.com, pages "Pricing" and "Prompt caching", 2026-11-21. Haiku's price is for prompts of up to
# 100,000 tokens; the price beyond is not in the source.
_PRICES: Mapping[str, Price] = {
    "claude-haiku-5-5": Price(input_usd=Decimal("0.10"), output_usd=Decimal("0.50"), max_input_tokens=100_000),
    "claude-sonnet-5-5": Price(input_usd=Decimal(2), output_usd=Decimal(10)),
    "claude-opus-5-5": Price(input_usd=Decimal(4), output_usd=Decimal(20), cache_read_factor=Decimal("0.05")),
    "claude-fable-5-1": Price(input_usd=Decimal(10), output_usd=Decimal(50)),
    "offline": Price(input_usd=Decimal(0), output_usd=Decimal(0)),
}


def cost(model: str, usage: Usage) -> Decimal | None:
    """US dollars, exact; None where the price of the model, or of a prompt so long, is unknown.

    A dated name (`claude-haiku-5-5-20260901`) costs what its model costs; any other ending is another model.
    """
    price = _PRICES.get(_DATED.sub("", model))
    if price is None or usage.input_tokens > (price.max_input_tokens or usage.input_tokens):
        return None
    fresh = max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens)
    input_tokens = (
        fresh
        + usage.cached_input_tokens * price.cache_read_factor
        + usage.cache_write_tokens * price.cache_write_factor
    )
    return (input_tokens * price.input_usd + usage.output_tokens * price.output_usd) / _MILLION
