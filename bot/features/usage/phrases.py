"""The sentences about spending."""

from collections.abc import Mapping
from decimal import Decimal

from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import dollars
from bot.i18n.phrases import money

ABOUT_USAGE = Sentence("ABOUT_USAGE", "shows what has been spent, and what is left.")
SPENT_BY_DAY = Sentence("SPENT_BY_DAY", "Spent by day, {month} (USD)")
_SPENT_OF = Sentence("SPENT_OF", "{cost} of {limit}, {left} left")
ESTIMATED = Sentence(
    "ESTIMATED", "Estimated: the cost of {count} answer here.", "Estimated: the cost of {count} answers here."
)
UNPRICED = Sentence("UNPRICED", "{calls} calls this month have no known price and aren't included.")
SPENDERS: Mapping[str, Sentence] = {
    "person": Sentence("SPENT_PERSON", "You"),
    "group": Sentence("SPENT_GROUP", "This group"),
    "all": Sentence("SPENT_ALL", "Everyone"),
}
"""Whose spending a part of the chart of `/usage` shows."""
_SPENT: Mapping[tuple[str, str], Sentence] = {
    ("person", "day"): Sentence("SPENT_PERSON_DAY", "You today: {amount}"),
    ("person", "month"): Sentence("SPENT_PERSON_MONTH", "You this month: {amount}"),
    ("group", "day"): Sentence("SPENT_GROUP_DAY", "This group today: {amount}"),
    ("group", "month"): Sentence("SPENT_GROUP_MONTH", "This group this month: {amount}"),
    ("all", "day"): Sentence("SPENT_ALL_DAY", "Everyone today: {amount}"),
    ("all", "month"): Sentence("SPENT_ALL_MONTH", "Everyone this month: {amount}"),
}


def spent_line(scope: str, cost_usd: Decimal, limit_usd: Decimal | None = None, *, is_day: bool) -> str:
    """A line of `/usage`: what was spent and, if there is a limit, what is left of it."""
    if limit_usd is None:
        amount = money(cost_usd or Decimal("0.001"))  # nothing is less than a cent, too
    else:
        left = money(max(limit_usd - cost_usd, Decimal(0)))
        amount = say(_SPENT_OF, cost=money(cost_usd), limit=dollars(limit_usd), left=left)
    return say(_SPENT[scope, "day" if is_day else "month"], amount=amount)
