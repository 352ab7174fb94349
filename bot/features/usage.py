"""`/usage`: what was spent for the person who asks, and what is left."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from bot.commands.base import Answer, Call, CommandGroup, command
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import dollars
from bot.i18n.phrases import money
from bot.money import ledger
from bot.money.budgets import limit_usd
from bot.settings import BudgetSettings
from store import Repositories

ABOUT_USAGE = Sentence("ABOUT_USAGE", "shows what has been spent, and what is left.")
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


@dataclass
class UsageCommands(CommandGroup):
    """The command about spending, for everybody."""

    timezone: str
    limits: BudgetSettings

    @command("/usage", ABOUT_USAGE, section="data")
    async def _usage(self, call: Call) -> Answer:
        """Shows what was spent for the person and for the group, today and this month, the limits and what is left of
        them; admins also see the total for everybody.
        """
        periods = ledger.periods(self.context.clock.now(), self.timezone)

        def reply(repos: Repositories) -> str:
            group = call.message.chat if call.is_in_group else None
            totals = repos.ledger.totals(call.message.author, group, periods)
            shown = [total for total in totals if call.is_admin or total.scope != "all"]
            unknown = sum(total.unknown_costs for total in shown if total.period == "month")
            lines: list[str] = []
            for total in shown:
                limit, cost = limit_usd(self.limits, total.scope, total.period), total.cost_usd
                amount = money(cost) if cost else say(_NOTHING_SPENT)
                if limit is not None:
                    left = money(max(limit - cost, Decimal(0)))
                    amount = say(_SPENT_OF, cost=money(cost), limit=dollars(limit), left=left)
                sentence = _SPENT_DAY if total.period == "day" else _SPENT_MONTH
                lines.append(say(sentence, who=say(_SPENDERS[total.scope]), amount=amount))
            return "\n".join([*lines, say(UNPRICED, calls=unknown)] if unknown else lines)

        return reply
