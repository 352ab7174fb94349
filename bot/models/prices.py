"""The cost of a completion: vendors' published prices, the operator's own, and the arithmetic.

A model that is in no table (a local one, one newer than the table) has no price (None), which is not the same as being
free. The operator can give it one (`BUDGET__PRICES`); without one, the ledger believes the server's own figures, and no
budget does.

Source: `prices.json` beside this file, which names its own source and date; `make prices` updates it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter

from bot.models.base import Usage

_MILLION = Decimal(1_000_000)
_DATED = re.compile(r"-([0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2})$")
_PUBLISHED = Path(__file__).with_name("prices.json")

_Dollars = Annotated[Decimal, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Price(BaseModel, frozen=True, extra="forbid"):
    """The price of a model: US dollars per million tokens of each kind; None: a cache's saving or cost is unknown."""

    input: _Dollars
    output: _Dollars
    cache_read: _Dollars | None = None
    cache_write: _Dollars | None = None
    """For a cache that lives a few minutes."""
    cache_write_hour: _Dollars | None = None
    long: "Price | None" = None
    """The rates for long prompts, for the whole prompt and its answer; None: prompts of any length cost the same."""
    beyond_tokens: Annotated[int, Field(ge=0)] = 0
    """The prompts with more tokens than this have these rates."""

    @property
    def is_free(self) -> bool:
        """Whether the model costs nothing, however much it is used."""
        return not (self.input or self.output)

    def cost(self, usage: Usage) -> Decimal | None:
        """US dollars, exact; None if no tokens were counted. A kind without its own rate costs like the prompt."""
        if self.is_free:
            return Decimal(0)
        if not (usage.input_tokens or usage.output_tokens):
            return None
        if self.long is not None and usage.input_tokens > self.long.beyond_tokens:
            return self.long.cost(usage)
        written_hour = min(usage.cache_write_hour_tokens, usage.cache_write_tokens)
        fresh = max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens)
        write = self.input if self.cache_write is None else self.cache_write
        millionths = (
            fresh * self.input
            + usage.cached_input_tokens * (self.input if self.cache_read is None else self.cache_read)
            + (usage.cache_write_tokens - written_hour) * write
            + written_hour * (write if self.cache_write_hour is None else self.cache_write_hour)
            + usage.output_tokens * self.output
        )
        return millionths / _MILLION


@dataclass(frozen=True, kw_only=True, slots=True)
class PricedModel:
    """A model with a known price."""

    provider: str
    name: str
    price: Price


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of models."""

    by_model: Mapping[str, Price]
    """By model name, without a date at its end."""

    def of(self, model: str) -> Price | None:
        """The price of the model; None if unknown. A dated name (`gpt-5.5-2026-04-23`) costs the same as its model."""
        return self.by_model.get(model) or self.by_model.get(_DATED.sub("", model))

    def with_own(self, own: Iterable[tuple[str, Decimal, Decimal]]) -> "Prices":
        """These prices with the operator's: a model, US dollars per million tokens in and out; caches in proportion."""
        added: dict[str, Price] = {}
        for model, dollars_in, dollars_out in own:
            known, share = self.of(model), dict[str, Any]()
            if known is not None and known.input:
                rates = known.model_dump(include={"cache_read", "cache_write", "cache_write_hour"}, exclude_none=True)
                share = {name: rate * dollars_in / known.input for name, rate in rates.items()}
            added[model] = Price(input=dollars_in, output=dollars_out, **share)
        return Prices({**self.by_model, **added})


@cache
def published_prices() -> Prices:
    """The prices that vendors publish, and the price of having no model at all."""
    models = json.loads(_PUBLISHED.read_bytes())["models"]
    free = Price(input=Decimal(0), output=Decimal(0))
    return Prices({**TypeAdapter(dict[str, Price]).validate_python(models), "offline": free})


def unknown_price(model: str) -> str:
    """Returns what the operator reads about a model without a price: one line that says what to do."""
    if not model:
        return "which model the server chooses is not known, and so is its price; name it in LLM__OPENAI__MODEL"
    wanted = f"BUDGET__PRICES={model}=input/output (US dollars for a million tokens; 0/0 for a model of your own)"
    return f"the price of model {model} is unknown, so no budget can count it; set {wanted}"


def unknown_cost(model: str, usage: Usage) -> str:
    """Returns what the operator reads about a completion whose cost is unknown, or an estimate."""
    if usage.input_tokens or usage.output_tokens:
        return unknown_price(model)
    return f"the server does not tell how many tokens model {model} used: its cost is an estimate, or not counted"
