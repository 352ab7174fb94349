"""Budgets: how much money may be spent, by whom and in which period, and how much of that is left.

A limit applies to one person, one group, or everybody together, for a day or a month of people's own calendar. A limit
that is not set does not apply; one of 0 is used up before anything is spent.

    before each paid call --> reserve           the sums of the ledger against the limits, and the estimate is in them
    with its answer --------> settle            the real cost takes its place

Checking and reserving is one transaction, so turns side by side cannot spend the same money twice.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import product
from typing import get_args

from bot.clock import Clock
from bot.models.base import Completion, Usage
from bot.models.prices import PricedModel, unknown_cost
from bot.money.ledger import RESERVED, Bill, Payer, Reservation, periods
from bot.settings import BudgetSettings
from store import LedgerEntry, Repositories, Scope, Span, Store

_log = logging.getLogger(__name__)

_USUAL_TOKENS = 1000
"""The assumed length of an answer that did not arrive: most are shorter, and a budget should end early, not late."""

_ALL: tuple[tuple[Scope, Span], ...] = tuple(product(get_args(Scope), get_args(Span)))
_WIDTHS: tuple[Scope, ...] = ("all", "group", "person")


def limit_usd(limits: BudgetSettings, scope: Scope, span: Span) -> Decimal | None:
    """The limit for this scope and span; None if there is none."""
    return getattr(limits, f"{scope}_{span}_usd")


def limits_anything(limits: BudgetSettings, *, in_group: bool) -> bool:
    """Whether any limit applies in such a conversation."""
    return any(limit_usd(limits, scope, span) is not None for scope, span in _ALL if in_group or scope != "group")


@dataclass(frozen=True, kw_only=True, slots=True)
class UsedUp:
    """The limit of this scope and span is reached: nothing more may be spent."""

    scope: Scope
    span: Span
    renews: bool
    """Whether it renews at the end of the span: at midnight, or on the first of the month. False: the limit is 0."""


def used_up(limits: BudgetSettings, spent: Mapping[tuple[Scope, Span], Decimal]) -> UsedUp | None:
    """The limit that is reached by this spending, of several the one that makes people wait longest; None: none is."""
    reached: list[tuple[Scope, Span, Decimal]] = [
        (scope, span, limit)
        for (scope, span), usd in spent.items()
        if (limit := limit_usd(limits, scope, span)) is not None and usd >= limit
    ]
    if not reached:
        return None
    scope, span, limit = max(reached, key=lambda one: (one[2] == 0, one[1] == "month", _WIDTHS.index(one[0])))
    return UsedUp(scope=scope, span=span, renews=limit > 0)


@dataclass(frozen=True, slots=True)
class Budget:
    """The budgets of one store, and what is written into its ledger."""

    store: Store
    clock: Clock
    limits: BudgetSettings
    timezone: str
    priced: Callable[[str | None], PricedModel | None] = lambda _: None
    """Returns the model a choice means, with its price; None if unknown."""
    complained_of: set[str] = field(default_factory=set[str])
    """The models whose unknown or estimated costs were already logged."""

    def reserve(
        self,
        repos: Repositories,
        payer: Payer,
        entry: LedgerEntry,
        *,
        is_limited: bool = True,
        fee_usd: Decimal = Decimal(0),
    ) -> Reservation | UsedUp:
        """Writes, within a transaction, what is about to be asked for money, or returns the limit that forbids it.

        With `fee_usd`, which is no estimate, no limit may be reached either. Not `is_limited`: it may in any case.
        """
        limit = self.used_up(repos, payer, fee_usd) if is_limited else None
        if limit is not None:
            return limit
        return Reservation(self._add(repos, payer, (replace(entry, outcome=RESERVED),)))

    def settle(self, repos: Repositories, payer: Payer, bills: Iterable[Bill]) -> None:
        """Writes, within a transaction, what was paid; what was settled before is left alone."""
        for bill in bills:
            if bill.reservation is None:
                self._add(repos, payer, bill.entries)
            else:
                repos.ledger.settle(bill.reservation, bill.entries)

    def used_up(self, repos: Repositories, payer: Payer, more_usd: Decimal = Decimal(0)) -> UsedUp | None:
        """The limit that is reached, or would be with so much more, within a transaction; None: there is money left."""
        if not limits_anything(self.limits, in_group=payer.group is not None):
            return None
        totals = repos.ledger.totals(payer.person, payer.group, periods(self.clock.now(), self.timezone))
        return used_up(self.limits, {(one.scope, one.period): one.cost_usd + more_usd for one in totals})

    async def used_share(self) -> Mapping[str, float]:
        """The used share of the limits that apply to everybody together; raises StoreError if it cannot be read."""
        now = periods(self.clock.now(), self.timezone)
        totals = await self.store.read(lambda repos: repos.ledger.totals(None, None, now))
        shares: dict[str, float] = {}
        for total in totals:
            limit = limit_usd(self.limits, "all", total.period)
            if limit is not None:
                shares[total.period] = float(total.cost_usd / limit) if limit else 1.0
        return shares

    def question(self, model: str | None, *, input_tokens: int, max_output_tokens: int) -> LedgerEntry:
        """The row of a question to a model, with the estimate of its cost; without one if its price is unknown."""
        found = self.priced(model)
        return LedgerEntry(
            kind="model",
            name=found.name if found else model or "model",
            outcome=RESERVED,
            provider=found.provider if found else None,
            cost_usd=_estimate(found, input_tokens, max_output_tokens) if found else None,
        )

    def with_cost(self, attempt: LedgerEntry, *, input_tokens: int, max_output_tokens: int) -> LedgerEntry:
        """A failed try with the estimate of its cost if the vendor gave none: vendors bill what was written by then."""
        found = self.priced(f"{attempt.provider}/{attempt.name}") if attempt.cost_usd is None else None
        return replace(attempt, cost_usd=_estimate(found, input_tokens, max_output_tokens)) if found else attempt

    def with_estimate(self, completion: Completion, *, input_tokens: int, written_tokens: int) -> Completion:
        """An answer whose server does not report usage, with an estimated cost if the model has a price."""
        found = self.priced(f"{completion.provider}/{completion.model}")
        if found is None or found.price.is_free:
            return completion
        usage = completion.usage
        usage = replace(usage, input_tokens=input_tokens, output_tokens=usage.output_tokens or written_tokens)
        return replace(completion, cost_usd=found.price.cost(usage), is_estimated=True)

    def complain(self, completion: Completion) -> None:
        """Logs once that the cost of a model's answers is unknown, or an estimate."""
        model = completion.model
        if (completion.cost_usd is None or completion.is_estimated) and model not in self.complained_of:
            self.complained_of.add(model)
            _log.warning("%s", unknown_cost(model, completion.usage))

    def _add(self, repos: Repositories, payer: Payer, entries: tuple[LedgerEntry, ...]) -> int:
        return repos.ledger.add(payer.conversation, payer.turn, payer.person, entries, now=self.clock.now())


def _estimate(found: PricedModel, input_tokens: int, max_output_tokens: int) -> Decimal | None:
    """The whole question, as if none of it were cached, and an answer of the usual length."""
    usage = Usage(input_tokens=input_tokens, output_tokens=min(max_output_tokens, _USUAL_TOKENS))
    return found.price.cost(usage)
