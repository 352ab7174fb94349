"""What was used: by day, person, model and tool, as plots with figures. People's names come from the bridge."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

from aiohttp import web

from bot.web.admin.context import AdminContext
from bot.web.admin.plots import by_day, largest
from store import SpentUsage, StoreError

_DAYS = 30


class UsagePage:
    """The page about usage."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context

    def routes(self) -> list[web.RouteDef]:
        """Returns its paths."""
        return [web.get("/usage", self._show)]

    async def _show(self, request: web.Request) -> web.Response:
        used, names = await self._read()
        days = self._days(used)
        models = [one for one in used if one.kind == "model"]
        tools = [one for one in used if one.kind == "tool"]
        return self._context.page(
            request,
            "usage",
            plot=by_day(days),
            days=days,
            total=sum((one.cost_usd for one in used), Decimal(0)),
            calls=sum(one.calls for one in models),
            tokens=sum(one.input_tokens + one.output_tokens for one in models),
            people=largest(_summed(used, lambda one: names.get(one.person or b"", "somebody"))),
            models=largest(_summed(models, lambda one: one.name)),
            tools=largest(_summed(tools, lambda one: one.name, lambda one: Decimal(one.calls))),
            budgets=self._context.world.settings.budget,
        )

    async def _read(self) -> tuple[Sequence[SpentUsage], dict[bytes, str]]:
        running = self._context.world.running
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

    def _days(self, used: Sequence[SpentUsage]) -> dict[str, Decimal]:
        """The spending on each of the last days, including days without any."""
        running = self._context.world.running
        if running is None:
            return {}
        today = running.clock.now().date()
        spent = _summed(used, lambda one: one.day.isoformat())
        days = [(today - timedelta(days=back)).isoformat() for back in range(_DAYS - 1, -1, -1)]
        return {day: spent.get(day, Decimal(0)) for day in days}


def _summed(
    used: Sequence[SpentUsage],
    key: Callable[[SpentUsage], str],
    amount: Callable[[SpentUsage], Decimal] = lambda one: one.cost_usd,
) -> dict[str, Decimal]:
    """The sums by key: of the cost, unless another amount is given."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for one in used:
        sums[key(one)] += amount(one)
    return sums
