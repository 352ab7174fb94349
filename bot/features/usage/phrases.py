"""The sentences about spending."""

from bot.i18n.catalogues import Sentence

ABOUT_USAGE = Sentence("ABOUT_USAGE", "shows what has been spent, and what is left.")
SPENT_BY_DAY = Sentence("SPENT_BY_DAY", "Spent by day, {month} (USD)")
ESTIMATED = Sentence(
    "ESTIMATED", "Estimated: the cost of {count} answer here.", "Estimated: the cost of {count} answers here."
)
UNPRICED = Sentence("UNPRICED", "{calls} calls this month have no known price and aren't included.")
