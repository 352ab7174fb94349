"""The sentences about spending."""

from collections.abc import Mapping
from decimal import Decimal

from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import dollars
from bot.i18n.phrases import money

ABOUT_USAGE = Sentence("ABOUT_USAGE", "shows what has been spent, and what is left.")
ESTIMATED = Sentence(
    "ESTIMATED", "Estimated: the cost of {count} answer here.", "Estimated: the cost of {count} answers here."
)
UNPRICED = Sentence("UNPRICED", "{calls} calls this month have no known price and aren't included.")
_SPENT_DAY = Sentence("SPENT_DAY", "{who} today: {amount}")
_SPENT_MONTH = Sentence("SPENT_MONTH", "{who} this month: {amount}")
_NOTHING_SPENT = Sentence("NOTHING_SPENT", "nothing yet")
_SPENT_OF = Sentence("SPENT_OF", "{cost} of {limit}, {left} left")
_SPENDERS: Mapping[str, Sentence] = {
    "person": Sentence("SPENT_PERSON", "You"),
    "group": Sentence("SPENT_GROUP", "This group"),
    "all": Sentence("SPENT_ALL", "Everyone"),
}
"""Who has spent something."""


def spent_line(scope: str, cost_usd: Decimal, limit_usd: Decimal | None, *, is_day: bool) -> str:
    """A line of `/usage`: what was spent and, if there is a limit, what is left of it."""
    if limit_usd is None:
        amount = money(cost_usd) if cost_usd else say(_NOTHING_SPENT)
    else:
        left = money(max(limit_usd - cost_usd, Decimal(0)))
        amount = say(_SPENT_OF, cost=money(cost_usd), limit=dollars(limit_usd), left=left)
    return say(_SPENT_DAY if is_day else _SPENT_MONTH, who=say(_SPENDERS[scope]), amount=amount)
