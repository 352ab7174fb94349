# ruff: noqa: INP001  (a script beside the others of its folder, no part of a package)
"""Writes bot/models/prices.json: what the vendors' models cost today, by the tables of genai-prices (MIT).

For each name that the SDKs of both vendors know. A dated name is left out where it costs what its model costs. Run by
`make prices`, which installs the package where only this sees it; look at the difference before it is committed.
"""

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from anthropic.types import ModelParam
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import TieredPrices
from openai.types.shared import ChatModel

TABLE = Path(__file__).parents[1] / "bot/models/prices.json"
RATES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_hour": "cache_write_1h_mtok",
}
_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


def names(literal: Any) -> Iterator[str]:
    """The strings of a Literal, however deep it lies in a Union."""
    for argument in get_args(literal):
        if isinstance(argument, str):
            yield argument
        else:
            yield from names(argument)


def price(vendor: str, model: str, now: datetime) -> dict[str, Any] | None:
    """The rates of a model, and those of prompts that are longer than so many tokens."""
    try:
        _, found = get_snapshot().find_provider_model(model, None, vendor, None)
    except LookupError:
        return None
    prices = found.get_prices(now)
    given = {name: rate for name, field in RATES.items() if (rate := getattr(prices, field, None)) is not None}
    if not {"input", "output"} <= given.keys():
        return None
    tiers = [tier for rate in given.values() if isinstance(rate, TieredPrices) for tier in rate.tiers]
    starts = {tier.start for tier in tiers}
    if len(starts) > 1:
        raise SystemExit(f"{model} has several prices for long prompts: {sorted(starts)}")
    table: dict[str, Any] = {name: str(_base(rate)) for name, rate in given.items()}
    if starts:
        table["long"] = {"beyond_tokens": starts.pop()} | {name: str(_long(rate)) for name, rate in given.items()}
    return table


def _base(rate: Decimal | TieredPrices) -> Decimal:
    return rate.base if isinstance(rate, TieredPrices) else rate


def _long(rate: Decimal | TieredPrices) -> Decimal:
    return rate.tiers[0].price if isinstance(rate, TieredPrices) else rate


def main() -> None:
    """Write the table, and say of which names no price is known."""
    now = datetime.now(UTC)
    found = {
        name: known
        for vendor, literal in (("anthropic", ModelParam), ("openai", ChatModel))
        for name in names(literal)
        if (known := price(vendor, name, now)) is not None
    }
    models = {
        name: table
        for name, table in found.items()
        if found.get(_DATED.sub("", name)) != table or not _DATED.search(name)
    }
    source = f"genai-prices {version('genai-prices')}, github.com/pydantic/genai-prices"
    whole = {"source": source, "date": now.date().isoformat(), "models": dict(sorted(models.items()))}
    TABLE.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    missing = sorted({*names(ModelParam), *names(ChatModel)} - found.keys())
    sys.stdout.write(f"{len(models)} prices; none known of: {', '.join(missing)}\n")


if __name__ == "__main__":
    main()
