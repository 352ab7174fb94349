"""The settings `BUDGET__...`."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import ModelPrice, model_price_of
from tools import CommaList


class BudgetSettings(SettingsGroup):
    """How much may be spent, in US dollars by the ledger's prices. None means without limit, 0 means nothing."""

    person_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one person in a day."""
    person_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one person in a month."""
    group_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one group in a day."""
    group_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one group in a month."""
    all_day_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together in a day."""
    all_month_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together in a month."""
    warn_at: Decimal = Field(default=Decimal("0.8"), gt=0, le=1)
    """From which part of a budget on the person is told once how much is used."""
    prices: Annotated[tuple[ModelPrice, ...], CommaList] = ()
    """Prices of models that Aldis does not know, or that you pay otherwise: a comma list of model=input/output in
    dollars per million tokens."""
    prices_file: Path | None = None
    """A file with newer prices, in the form of `bot/providers/prices.json`; `make prices` writes one."""

    @property
    def own_prices(self) -> tuple[tuple[str, Decimal, Decimal], ...]:
        """The model, the dollars for a million tokens in, and those for a million out, of each price."""
        return tuple(model_price_of(price) for price in self.prices)
