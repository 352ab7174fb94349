"""What was used: by day, person, model and tool, as bars with figures. People's names come from the bridge."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

from bot.i18n.locale import day
from bot.web.admin.forms import AdminPage, Ask
from store import SpentUsage, StoreError

_DAYS = 30
_MAX_BARS = 8


async def _values(ask: Ask) -> dict[str, object]:
    used, names = await _read(ask)
    models = [one for one in used if one.kind == "model"]
    tools = [one for one in used if one.kind == "tool"]
    spent = sorted((one for one in used if one.cost_usd), key=lambda one: one.day, reverse=True)
    return {
        "days": bars(spent, lambda one: day(one.day)),
        "total": sum((one.cost_usd for one in used), Decimal(0)),
        "calls": sum(one.calls for one in models),
        "tokens": sum(one.input_tokens + one.output_tokens for one in models),
        "people": _largest(bars(used, lambda one: names.get(one.person or b"", "unknown"))),
        "models": _largest(bars(models, lambda one: one.name)),
        "tools": _largest(bars(tools, lambda one: one.name, lambda one: Decimal(one.calls))),
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


Bar = tuple[str, Decimal, float]
"""Its name, its value, and that as a percentage of the largest one."""


def bars(
    used: Sequence[SpentUsage],
    key: Callable[[SpentUsage], str],
    amount: Callable[[SpentUsage], Decimal] = lambda one: one.cost_usd,
) -> list[Bar]:
    """Returns the sums by key, in the order in which they come: of the cost, unless another amount is given."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for one in used:
        sums[key(one)] += amount(one)
    top = max(sums.values(), default=Decimal(0)) or Decimal(1)
    return [(name, value, round(float(value / top * 100), 1)) for name, value in sums.items()]


def _largest(found: Sequence[Bar]) -> Sequence[Bar]:
    return sorted(found, key=lambda bar: (-bar[1], bar[0]))[:_MAX_BARS]


PAGE = AdminPage(path="/usage", template="usage", values=_values)
