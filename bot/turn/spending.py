"""Pure: what was spent on each day of a month, as a picture.

Left to others: the sums (`store`), who may see whose (`bot.commands.chat`), the drawing (`tools`).
"""

from collections.abc import Iterable, Sequence

from bot.events import File
from bot.i18n.catalogues import say
from bot.turn import phrases
from store import Total
from tools import PNG, Panel, bar_chart

_FEWEST_DAYS = 2
"""With money spent on one day only, the sentence says as much as a picture."""


def chart(totals: Iterable[Total], days: Sequence[str]) -> tuple[File, ...]:
    """The sums of these days (all of one month, `2026-11-01` and so on), with bars for each scope that spent anything.

    Empty where there is too little to show, or the machine cannot draw.
    """
    spent: dict[str, dict[str, float]] = {}
    for total in totals:
        if total.spending.cost_usd:
            spent.setdefault(total.scope, {})[total.period] = float(total.spending.cost_usd)
    if len({day for sums in spent.values() for day in sums}) < _FEWEST_DAYS:
        return ()
    panels = [
        Panel(name=phrases.spender(scope), values=[sums.get(day, 0.0) for day in days]) for scope, sums in spent.items()
    ]
    month = days[0].rpartition("-")[0]
    labels = {place: str(place + 1) for place in range(len(days))}
    picture = bar_chart(say(phrases.SPENT_BY_DAY, month=month), labels, panels)
    return (File(name=f"spent-{month}.png", content_type=PNG, data=picture),) if picture else ()
