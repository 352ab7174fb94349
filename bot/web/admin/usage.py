"""What was used: by day, person, model and tool, as plots with figures. People's names come from the bridge.

The plots are our own SVG: bars by day, and bars of the largest few. A table beside them has the numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from bot.web.admin.forms import AdminPage, Ask
from store import SpentUsage, StoreError

K = TypeVar("K")

_DAYS = 30
_WIDTH, _HEIGHT = 720, 212
_LEFT, _BOTTOM, _TOP = 104, 36, 10
_MAX_BARS = 8


async def _values(ask: Ask) -> dict[str, object]:
    used, names = await _read(ask)
    days = _days(ask, used)
    models = [one for one in used if one.kind == "model"]
    tools = [one for one in used if one.kind == "tool"]
    return {
        "plot": by_day(days),
        "days": days,
        "total": sum((one.cost_usd for one in used), Decimal(0)),
        "calls": sum(one.calls for one in models),
        "tokens": sum(one.input_tokens + one.output_tokens for one in models),
        "people": largest(_summed(used, lambda one: names.get(one.person or b"", "unknown"))),
        "models": largest(_summed(models, lambda one: one.name)),
        "tools": largest(_summed(tools, lambda one: one.name, lambda one: Decimal(one.calls))),
        "budgets": ask.settings.budget,
    }


async def _read(ask: Ask) -> tuple[Sequence[SpentUsage], dict[bytes, str]]:
    running = ask.world.running
    if running is None:
        return (), {}
    contacts = await running.audience.contacts() or ()
    since = running.clock.now() - timedelta(days=_DAYS)
    try:
        return await running.store.read(
            lambda repos: (
                repos.ledger.usage(since=since),
                {repos.ledger.handle_of(one.person): one.name or one.number or "?" for one in contacts},
            )
        )
    except StoreError:
        return (), {}


def _days(ask: Ask, used: Sequence[SpentUsage]) -> dict[date, Decimal]:
    """The spending on each of the last days, including days without any."""
    if ask.world.running is None:
        return {}
    today = ask.world.running.clock.now().date()
    spent = _summed(used, lambda one: one.day)
    days = [today - timedelta(days=back) for back in range(_DAYS - 1, -1, -1)]
    return {day: spent.get(day, Decimal(0)) for day in days}


def _summed(
    used: Sequence[SpentUsage],
    key: Callable[[SpentUsage], K],
    amount: Callable[[SpentUsage], Decimal] = lambda one: one.cost_usd,
) -> dict[K, Decimal]:
    """The sums by key: of the cost, unless another amount is given."""
    sums: dict[K, Decimal] = defaultdict(Decimal)
    for one in used:
        sums[key(one)] += amount(one)
    return sums


def by_day(values: Mapping[date, Decimal]) -> dict[str, Any]:
    """Returns a plot of bars for days in their order.

    `bars` have x, y, width, height, the day and its value; `grid` the position and amount of each line; `labels` the
    positions below the bars, and the day of each.
    """
    top = _round_up(max(values.values(), default=Decimal(0)))
    step, room = (_WIDTH - _LEFT) / max(1, len(values)), _HEIGHT - _TOP - _BOTTOM
    heights = [round(room * float(value / top), 1) for value in values.values()]
    bars = [
        (round(_LEFT + (number + 0.12) * step, 1), _TOP + room - height, round(step * 0.76, 1), height, day, value)
        for number, (height, (day, value)) in enumerate(zip(heights, values.items(), strict=True))
    ]
    days = list(values)
    marks = range(0, len(days), max(1, len(days) // 5))
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "bars": bars,
        "grid": [(round(_TOP + room * (1 - part / 2), 1), top * part / 2) for part in range(3)],
        "labels": [(round(_LEFT + (mark + 0.5) * step, 1), days[mark]) for mark in marks],
        "is_empty": not any(values.values()),
    }


def largest(values: Mapping[str, Decimal]) -> Sequence[tuple[str, Decimal, float]]:
    """Returns the largest few: name, value, and percentage of the largest; the largest first."""
    found = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:_MAX_BARS]
    top = max((value for _, value in found), default=Decimal(0)) or Decimal(1)
    return [(name, value, round(float(value / top * 100), 1)) for name, value in found]


def _round_up(value: Decimal) -> Decimal:
    """The next of 1, 2, 5 times a power of ten; at least 0.01."""
    size = Decimal("0.01")
    while True:
        for step in (1, 2, 5):
            if size * step >= value:
                return size * step
        size *= 10


PAGE = AdminPage(path="/usage", template="usage", values=_values)
