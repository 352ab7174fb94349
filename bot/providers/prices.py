"""What a completion costs: the prices that vendors publish, those that the operator knows better, the arithmetic.

A model that stands in no table has no price (None), which is not the same as costing nothing: a local model, a
reseller's name, a model newer than this file. The operator can give it one (`BUDGET__PRICES`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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

    @property
    def is_free(self) -> bool:
        """Whether the model costs nothing, however much it is asked."""
        return not (self.input_usd or self.output_usd)

    def cost(self, usage: Usage) -> Decimal | None:
        """US dollars, exact; None where the price does not say, or nobody told what was used.

        Every prompt has tokens: a server that counts none at all has not counted. To take that for free would be a
        way around every budget.
        """
        if self.is_free:
            return Decimal(0)
        is_told = usage.input_tokens or usage.output_tokens
        if not is_told or usage.input_tokens > (self.max_input_tokens or usage.input_tokens):
            return None
        fresh = max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens)
        input_tokens = (
            fresh
            + usage.cached_input_tokens * self.cache_read_factor
            + usage.cache_write_tokens * self.cache_write_factor
        )
        return (input_tokens * self.input_usd + usage.output_tokens * self.output_usd) / _MILLION


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """The prices of models."""

    by_model: Mapping[str, Price]
    """By the model's name, without the date at its end."""

    def cost(self, model: str, usage: Usage) -> Decimal | None:
        """US dollars, exact; None where it is unknown: the price of the model or of such a prompt, or the usage."""
        price = self.of(model)
        return None if price is None else price.cost(usage)

    def of(self, model: str) -> Price | None:
        """The price of the model; None where it is unknown.

        A dated name (`claude-haiku-5-5-20260901`) costs what its model costs; any other ending is another model.
        """
        return self.by_model.get(model) or self.by_model.get(_DATED.sub("", model))

    def with_own(self, own: Iterable[tuple[str, Decimal, Decimal]]) -> "Prices":
        """These prices and the operator's: a model, the US dollars for a million tokens in, and those out.

        They hold for prompts of any length. What a cache saves stays in proportion to the input; where nothing is
        known of that, all tokens count in full, for a budget should rather end early than late.
        """
        return Prices(by_model={**self.by_model, **{model: self._own(model, *usd) for model, *usd in own}})

    def _own(self, model: str, input_usd: Decimal, output_usd: Decimal) -> Price:
        known = self.of(model)
        if known is not None:
            return replace(known, input_usd=input_usd, output_usd=output_usd, max_input_tokens=None)
        full = Decimal(1)
        return Price(input_usd=input_usd, output_usd=output_usd, cache_read_factor=full, cache_write_factor=full)


# Source: docs.claude.com, pages "Pricing" and "Prompt caching", 2026-11-21. Haiku's price is for prompts of up to
# 100,000 tokens; the price beyond is not in the source.
PUBLISHED = Prices(
    by_model={
        "claude-haiku-5-5": Price(input_usd=Decimal("0.10"), output_usd=Decimal("0.50"), max_input_tokens=100_000),
        "claude-sonnet-5-5": Price(input_usd=Decimal(2), output_usd=Decimal(10)),
        "claude-opus-5-5": Price(input_usd=Decimal(4), output_usd=Decimal(20), cache_read_factor=Decimal("0.05")),
        "claude-fable-5-1": Price(input_usd=Decimal(10), output_usd=Decimal(50)),
        "offline": Price(input_usd=Decimal(0), output_usd=Decimal(0)),
    }
)
"""The prices that vendors publish."""


def unknown_price(model: str) -> str:
    """What the operator is told of a model without a price: one line that says what to do."""
    return (
        f"the price of model {model} is unknown: its cost is not counted against the budgets; "
        f"set BUDGET__PRICES={model}=input/output (US dollars for a million tokens)"
    )


def unknown_cost(model: str, usage: Usage) -> str:
    """What the operator is told of a completion whose cost is unknown."""
    if not (usage.input_tokens or usage.output_tokens):
        return f"the server does not tell how many tokens model {model} used: its cost is not counted"
    return unknown_price(model)
