"""The settings `BUDGET__...`."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.settings.groups.base import SettingsGroup
from bot.settings.values import ModelPrice, model_price_of
from tools import CommaList


class BudgetSettings(SettingsGroup):
    """Spending limits in US dollars, by the ledger's prices. Unset means no limit, 0 means nothing."""

    person_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one person per day. If this is set, questions that several people ask in a group at once are answered one by
    one, so that nobody pays for somebody else's."""
    person_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one person per month, with the same effect in groups."""
    group_day_usd: Decimal | None = Field(default=None, ge=0)
    """For one group per day."""
    group_month_usd: Decimal | None = Field(default=None, ge=0)
    """For one group per month."""
    all_day_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together per day."""
    all_month_usd: Decimal | None = Field(default=None, ge=0)
    """For everybody together per month."""
    warn_at: Decimal = Field(default=Decimal("0.8"), gt=0, le=1)
    """The share of a budget at which the person is told, once, how much is used."""
    prices: Annotated[tuple[ModelPrice, ...], CommaList] = ()
    """Prices of models that Aldis does not know, or that cost you something else: a comma-separated list of
    model=input/output in dollars per million tokens."""
    prices_file: Path | None = None
    """A file of newer prices, in the format of `bot/providers/prices.json`; `make prices` writes one."""

    @property
    def own_prices(self) -> tuple[tuple[str, Decimal, Decimal], ...]:
        """Each price as the model, and the dollars per million tokens in and out."""
        return tuple(model_price_of(price) for price in self.prices)
