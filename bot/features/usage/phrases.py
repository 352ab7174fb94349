"""The sentences about spending."""

from collections.abc import Mapping
from decimal import Decimal

from bot.commands.phrases import usd
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import number

ABOUT_USAGE = Sentence("ABOUT_USAGE", "shows what has been spent, and what is left.")
SPENT_BY_DAY = Sentence("SPENT_BY_DAY", "Spent by day, {month} (USD)")
_SPENT_FREELY = Sentence("SPENT_FREELY", "{cost} USD")
_SPENT_OF = Sentence("SPENT_OF", "{cost} of {limit} USD, {left} left")
_FROM_CACHE = Sentence("FROM_CACHE", "{percent} % of what the model read here in the last 30 days came from its cache.")
ESTIMATED = Sentence(
    "ESTIMATED", "Estimated: the cost of {count} answer here.", "Estimated: the cost of {count} answers here."
)
UNPRICED = Sentence("UNPRICED", "{calls} calls this month have no known price and aren't included.")
SPENDERS: Mapping[str, Sentence] = {
    "person": Sentence("SPENT_PERSON", "You"),
    "group": Sentence("SPENT_GROUP", "This group"),
    "all": Sentence("SPENT_ALL", "Everybody"),
}
"""Whose spending a part of the chart of `/usage` shows."""
_SPENT: Mapping[tuple[str, str], Sentence] = {
    ("person", "day"): Sentence("SPENT_PERSON_DAY", "You, today: {amount}"),
    ("person", "month"): Sentence("SPENT_PERSON_MONTH", "You, this month: {amount}"),
    ("group", "day"): Sentence("SPENT_GROUP_DAY", "This group, today: {amount}"),
    ("group", "month"): Sentence("SPENT_GROUP_MONTH", "This group, this month: {amount}"),
    ("all", "day"): Sentence("SPENT_ALL_DAY", "Everybody, today: {amount}"),
    ("all", "month"): Sentence("SPENT_ALL_MONTH", "Everybody, this month: {amount}"),
}


def spent_line(scope: str, cost_usd: Decimal, limit_usd: Decimal | None = None, *, is_day: bool) -> str:
    """A line of `/usage`: what was spent and, if there is a limit, what is left of it."""
    if limit_usd is None:
        amount = say(_SPENT_FREELY, cost=usd(cost_usd))
    else:
        left = usd(max(limit_usd - cost_usd, Decimal(0)))
        amount = say(_SPENT_OF, cost=usd(cost_usd), limit=number(limit_usd), left=left)
    return say(_SPENT[scope, "day" if is_day else "month"], amount=amount)


def from_cache(share: float) -> str:
    """The line of `/usage` about what did not have to be paid in full; `share` is 0 to 1."""
    return say(_FROM_CACHE, percent=round(100 * share))
