"""Budgets: the limits, compared with the ledger plus what running turns have spent so far.

    before each model call ----> used_up(_in)     sums of the ledger + bills of the running turns, against the limits
    after each model call -----> charge           the turn's bill grows
    an answer is abandoned ----> broken_off       what it has cost all the same
    with the final answer -----> nearly_used_up   is there something people should know?

A turn's cost reaches the ledger when the turn is kept. Until then it is on the turn's bill here, so that concurrent
turns cannot spend the same money. The bill is dropped in the same read that finds the turn finished, so that no cost
counts twice or not at all. The cost of calls in progress is unknown: a limit can be overrun by that much.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.chat.journal import Turn
from bot.clock import Clock
from bot.events import ChatId, PersonId
from bot.models.base import Attempt, Completion, Usage
from bot.models.prices import PricedModel, estimated_cost, unknown_cost
from bot.money import budgets
from bot.money.budgets import NearlyUsedUp, Scope, ScopeSpending, Span, UsedUp, limit_usd, limits_anything
from bot.settings import BudgetSettings
from store import Store, Total, TurnId

_log = logging.getLogger(__name__)

_WRITTEN_A_SECOND = 80
"""How many tokens a second a model is assumed to write of an answer nobody has seen; most write 40 to 120."""


@dataclass(eq=False, kw_only=True, slots=True)
class _Bill:
    """The amounts a running turn has spent and announced that the ledger does not know yet."""

    person: PersonId
    group: ChatId | None
    usd: Decimal = Decimal(0)
    others: tuple[ScopeSpending, ...] = ()
    """What everybody else had spent under each limit when this turn last checked."""
    told: NearlyUsedUp | None = None
    """The limit its answer tells people about."""

    def is_within(self, scope: Scope, asking: "_Bill") -> bool:
        """Whether this bill counts under the limit: same person, same group, or everybody."""
        if scope == "person":
            return self.person == asking.person
        return scope == "all" or self.group == asking.group

    def tells_of(self, total: Total) -> bool:
        """Whether its answer already tells people about this limit."""
        return self.told is not None and (self.told.scope, self.told.period) == (total.scope, total.period)


class Budget:
    """The budgets of one store as its running turns see them."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        limits: BudgetSettings,
        *,
        timezone: str,
        priced: Callable[[str | None], PricedModel | None] = lambda _: None,
    ) -> None:
        """`priced` returns the model a choice means, with its price; None if unknown."""
        self._store = store
        self._clock = clock
        self._limits = limits
        self._timezone = timezone
        self._priced = priced
        self._bills: dict[TurnId, _Bill] = {}
        self._complained_of: set[str] = set()
        """The models whose unknown or estimated costs were already logged."""

    async def used_up(self, turn: Turn, spent_usd: Decimal) -> UsedUp | None:
        """The limit that keeps the turn from asking a model now; None if it may. `spent_usd` is what it has spent so
        far.

        Raises:
            StoreError: the ledger could not be read; the turn can be tried again later.
        """
        return await self._used_up(turn.id, turn.person, turn.group, spent_usd)

    async def used_up_in(self, turn: TurnId, *, person: PersonId, group: ChatId | None) -> UsedUp | None:
        """The same for a tool that asks a model during the turn; its costs enter the ledger at once.

        Raises:
            StoreError: as above.
        """
        return await self._used_up(turn, person, group, None)

    async def _used_up(
        self, turn: TurnId, person: PersonId, group: ChatId | None, spent_usd: Decimal | None
    ) -> UsedUp | None:
        if not limits_anything(self._limits, in_group=group is not None):
            return None
        bill = self._bills.setdefault(turn, _Bill(person=person, group=group))
        bill.usd = bill.usd if spent_usd is None else spent_usd
        bill.others = await self._spent_by_others(turn, bill)
        return budgets.used_up(self._limits, _with_own(bill))

    def charge(self, turn: Turn, completion: Completion, spent_usd: Decimal) -> None:
        """Records that a model answered; `spent_usd` is the turn's spending including this completion."""
        bill = self._bills.get(turn.id)
        if bill is not None:
            bill.usd = spent_usd
        is_told = completion.cost_usd is not None and not completion.is_estimated
        if not is_told and completion.model not in self._complained_of:
            self._complained_of.add(completion.model)
            model, is_estimated = completion.model, completion.is_estimated
            _log.warning("%s", estimated_cost(model) if is_estimated else unknown_cost(model, completion.usage))

    def broken_off(
        self, model: str | None, *, input_tokens: int, seconds: float, max_output_tokens: int
    ) -> Attempt | None:
        """Returns what an abandoned question to a model has cost: it was stopped, taken back, or took too long. None if
        the model has no price.

        Vendors bill what was read and written by then, without telling. So the whole question counts, as if none of it
        were cached, and as much of the answer as can be written in that time: a budget should end early rather than
        late.
        """
        found = self._priced(model)
        if found is None:
            return None
        usage = Usage(input_tokens=input_tokens, output_tokens=_written(seconds, max_output_tokens))
        return Attempt(
            provider=found.provider,
            model=found.name,
            error=asyncio.CancelledError.__name__,
            latency_seconds=seconds,
            cost_usd=found.price.cost(usage),
        )

    def with_cost(self, attempt: Attempt, *, input_tokens: int, max_output_tokens: int) -> Attempt:
        """A failed try with its likely cost if nobody told it, estimated as for an abandoned answer."""
        if attempt.cost_usd is not None:
            return attempt
        found = self.broken_off(
            f"{attempt.provider}/{attempt.model}",
            input_tokens=input_tokens,
            seconds=attempt.latency_seconds,
            max_output_tokens=max_output_tokens,
        )
        return attempt if found is None else replace(attempt, cost_usd=found.cost_usd)

    def with_estimate(
        self, completion: Completion, *, input_tokens: int, written_tokens: int, max_output_tokens: int
    ) -> Completion:
        """An answer with an estimated cost, if its server does not report usage; unchanged if the model has no price or
        is free.

        Only the words are known of what was written; the thinking before them is estimated from the time it took.
        """
        found = self._priced(f"{completion.provider}/{completion.model}")
        if found is None or found.price.is_free:
            return completion
        told = completion.usage
        written = max(written_tokens, _written(completion.latency_seconds, max_output_tokens))
        usage = replace(told, input_tokens=input_tokens, output_tokens=told.output_tokens or written)
        return replace(completion, cost_usd=found.price.cost(usage), is_estimated=True)

    def nearly_used_up(self, turn: Turn) -> NearlyUsedUp | None:
        """The limit that the turn's answer has to report as nearly used up; None if there is none.

        After that no other turn reports it. Whoever keeps the turn records that in the ledger.
        """
        bill = self._bills.get(turn.id)
        if bill is None:
            return None
        bill.told = budgets.nearly_used_up(self._limits, _with_own(bill))
        return bill.told

    async def used_share(self) -> Mapping[str, float]:
        """The used share of the budgets that apply to everybody together, by the ledger; only those that are set.

        Raises:
            StoreError: the ledger could not be read.
        """
        now = budgets.periods(self._clock.settled_now(), self._timezone)
        limits: dict[Span, Decimal | None] = {span: limit_usd(self._limits, "all", span) for span in ("day", "month")}
        totals = await self._store.read(lambda repos: repos.ledger.totals(None, None, now))
        spent: dict[Span, Decimal] = {
            "day" if total.period == now.day else "month": total.spending.cost_usd for total in totals
        }
        return {
            span: float(spent[span] / limit) if limit else 1.0 for span, limit in limits.items() if limit is not None
        }

    async def _spent_by_others(self, turn: TurnId, asking: _Bill) -> tuple[ScopeSpending, ...]:
        now = budgets.periods(self._clock.settled_now(), self._timezone)
        running = {other: bill for other, bill in self._bills.items() if other != turn}
        totals, over = await self._store.read(
            lambda repos: (
                repos.ledger.totals(asking.person, asking.group, now),
                [other for other in running if not repos.journal.is_running(other)],
            )
        )
        for other in over:
            del running[other]
            self._bills.pop(other, None)
        spent: list[ScopeSpending] = []
        for total in totals:
            span: Span = "day" if total.period == now.day else "month"
            if limit_usd(self._limits, total.scope, span) is not None:
                bills = [bill for bill in running.values() if bill.is_within(total.scope, asking)]
                spent.append(_spent(total, span, bills))
        return tuple(spent)


def _spent(total: Total, span: Span, bills: Iterable[_Bill]) -> ScopeSpending:
    """The spending in the ledger plus that on the bills."""
    usd, warned = total.spending.cost_usd, total.warned
    for bill in bills:
        usd += bill.usd
        warned = warned or bill.tells_of(total)
    return ScopeSpending(scope=total.scope, span=span, period=total.period, usd=usd, warned=warned)


def _written(seconds: float, max_output_tokens: int) -> int:
    """Returns how many tokens of an answer are assumed to be written in that time."""
    return min(max_output_tokens, int(seconds * _WRITTEN_A_SECOND))


def _with_own(bill: _Bill) -> tuple[ScopeSpending, ...]:
    """The spending under each limit, including the turn's own bill."""
    return tuple(replace(spent, usd=spent.usd + bill.usd) for spent in bill.others)
