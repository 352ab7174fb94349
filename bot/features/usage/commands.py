"""`/usage`: what was spent for the person who asks, and what is left."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta

from bot.commands.admin import spent_line
from bot.commands.base import Call, CommandContext, CommandGroup, CommandReply, command
from bot.commands.phrases import SPENDERS
from bot.events import File
from bot.features.usage import phrases
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from bot.i18n.locale import decimal_point
from bot.money import ledger
from bot.settings import BudgetSettings
from store import Repositories, Total
from tools import PNG, Panel, bar_chart

_LOOKED_BACK = timedelta(days=30)
"""The period of the figures about this conversation alone."""
_MIN_DAYS = 2
"""With spending on one day only, a sentence says as much as a chart."""


class UsageCommands(CommandGroup):
    """The command about spending, for everybody."""

    def __init__(self, context: CommandContext, *, timezone: str, limits: BudgetSettings) -> None:
        self._context = context
        self._timezone = timezone
        self._limits = limits

    @command("/usage", phrases.ABOUT_USAGE, section="data")
    async def _usage(self, call: Call) -> None:
        """Shows what was spent for the person and for the group, today and this month, the limits and what is left of
        them, with a chart by day; admins also see the total for everybody.
        """
        periods = ledger.periods(self._context.clock.settled_now(), self._timezone)
        chart = await self._chart(call, periods.month)

        def reply(repos: Repositories) -> CommandReply:
            totals = _shown_totals(repos, call, periods)
            unknown = sum(total.spending.unknown_costs for total in totals if total.period == periods.month)
            lines = [
                spent_line(total, self._limits, say(SPENDERS[total.scope]), is_day=total.period == periods.day)
                for total in totals
            ]
            since = self._context.clock.now() - _LOOKED_BACK
            estimated = repos.ledger.estimated_calls(call.conversation, since=since)
            lines += [say(phrases.ESTIMATED, count=estimated)] if estimated else []
            return CommandReply(
                text="\n".join([*lines, say(phrases.UNPRICED, calls=unknown)] if unknown else lines), files=chart
            )

        await self._context.answer(call, reply)

    async def _chart(self, call: Call, month: str) -> tuple[File, ...]:
        """A chart of the spending per day of the month; drawn in a thread, because it takes a while."""
        days = ledger.days(month)
        totals = await self._context.store.read(lambda repos: _shown_totals(repos, call, days))
        with use_language(await self._context.language(call)):
            return await asyncio.to_thread(spending_chart, totals, days)


def _shown_totals(repos: Repositories, call: Call, periods: Sequence[str]) -> list[Total]:
    """The spending in these periods, as far as the person can see it, within a transaction."""
    group = call.message.chat if call.is_in_group else None
    totals = repos.ledger.totals(call.message.author, group, periods)
    return [total for total in totals if call.is_admin or total.scope != "all"]


def spending_chart(totals: Iterable[Total], days: Sequence[str]) -> tuple[File, ...]:
    """Returns a chart of these days (all of one month, `2026-11-01` and so on), with bars for each scope that spent.

    Empty if there is too little to show, or the machine cannot draw.
    """
    spent: dict[str, dict[str, float]] = {}
    for total in totals:
        if total.spending.cost_usd:
            spent.setdefault(total.scope, {})[total.period] = float(total.spending.cost_usd)
    if len({day for sums in spent.values() for day in sums}) < _MIN_DAYS:
        return ()
    panels = [
        Panel(name=say(SPENDERS[scope]), values=[sums.get(day, 0.0) for day in days]) for scope, sums in spent.items()
    ]
    month = days[0].rpartition("-")[0]
    labels = {place: str(place + 1) for place in range(len(days))}
    title = say(phrases.SPENT_BY_DAY, month=month)
    picture = bar_chart(title, labels, panels, decimal_point=decimal_point())
    return (File(name=f"spent-{month}.png", content_type=PNG, data=picture),) if picture else ()
