"""The ledger: one row per call, with its cost and none of its words, and the quotas of services.

Sums by day are kept beside the rows, per person, per group and for all. A budget is checked before each model call, and
adding up the rows of a month would take too long. The sums outlive the rows.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

from store.records import ConversationId, TurnId
from store.repository import Repository, dollars, millis, moment

Scope = Literal["person", "group", "all"]
"""Whose spending is added up; `all` is everything in this store."""

KEPT = timedelta(days=400)
"""How long the sums are kept: enough to look back a year."""

_ALL = b"all"


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """One row of the ledger: a model call, a tool call, or a send worth noting."""

    kind: Literal["model", "tool", "send"]
    name: str
    outcome: str
    provider: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal | None = None
    """None when the price is unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Total:
    """What one scope has spent in one period."""

    scope: Scope
    period: str
    """`2026-11-22` or `2026-11`."""
    cost_usd: Decimal
    unknown_costs: int
    """How many calls have no known price, so that `cost_usd` leaves them out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SpentUsage:
    """The usage of one model or tool by one person on one day."""

    day: date
    person: bytes | None
    """The handle of the person who asked, as `Keyring.handle` gives it; None if no one did."""
    kind: str
    """`model` or `tool`."""
    name: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal
    """The cost, as far as it is known."""


class Ledger(Repository):
    """The repository of the ledger. All methods run inside a transaction."""

    def add(
        self,
        conversation: ConversationId | None,
        turn: TurnId,
        person: str | bytes | None,
        entries: Sequence[LedgerEntry],
        *,
        now: datetime,
        group: str | None = None,
        day: str | None = None,
    ) -> int:
        """Writes calls of a turn in order and adds them to the sums; returns the row of the last one, or 0.

        `conversation` is None if it is gone. `person` may be a handle. `group` is the address of the chat if that is a
        group. `day` is the one that contains `now`, as in `Total.period`; without it no sums are kept.
        """
        row, handle = 0, self.keyring.handle(person) if isinstance(person, str) else person
        for entry in entries:
            row = self.value(
                "INSERT INTO ledger (conversation_id, turn_id, person, at, kind, provider, name, outcome, "
                "input_tokens, output_tokens, cost_usd) "
                # A conversation or turn that was forgotten meanwhile has its cost recorded all the same.
                "VALUES ((SELECT id FROM conversations WHERE id = ?), (SELECT id FROM turns WHERE id = ?), "
                "?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                (
                    *(conversation, turn, handle, millis(now), entry.kind, entry.provider, entry.name, entry.outcome),
                    *(entry.input_tokens, entry.output_tokens),
                    None if entry.cost_usd is None else str(entry.cost_usd),
                ),
            )
        if row and day is not None:
            costs = [entry.cost_usd for entry in entries if entry.cost_usd is not None]
            self._sum_up(sum(costs, Decimal(0)), len(entries) - len(costs), handle, group, day)
        return row

    def settle(self, row: int, entries: Sequence[LedgerEntry], *, now: datetime, group: str | None, day: str) -> None:
        """Puts what was really paid in the place of the row of an estimate, and into its sums; once only."""
        delete = "DELETE FROM ledger WHERE id = ? RETURNING conversation_id, turn_id, person, cost_usd"
        for conversation, turn, person, cost in self.rows(delete, (row,)):
            self.add(conversation, turn, person, entries, now=now, group=group, day=day)
            self._sum_up(-dollars(cost), -(cost is None), person, group, day)

    def estimated_calls(self, conversation: ConversationId, *, since: datetime) -> int:
        """Counts the calls of a conversation whose usage is an estimate, because the provider reported none."""
        return self.value(
            "SELECT count(*) FROM ledger WHERE conversation_id = ? AND at >= ? AND kind = 'model' "
            "AND (outcome = 'estimated' OR (outcome NOT IN ('ok', 'empty', 'Lost') AND CAST(cost_usd AS REAL) > 0))",
            (conversation, millis(since)),
        )

    def usage(self, *, since: datetime) -> tuple[SpentUsage, ...]:
        """Returns the usage since then, one entry per day (UTC), person, kind and name, in order of days."""
        rows = self.rows(
            "SELECT at / 86400000, json_group_array(cost_usd), person, kind, name, count(*), sum(input_tokens), "
            "sum(output_tokens) FROM ledger WHERE at >= ? AND kind <> 'send' "
            "GROUP BY 1, person, kind, name ORDER BY 1, min(id)",
            (millis(since),),
        )
        names = ("person", "kind", "name", "calls", "input_tokens", "output_tokens")
        return tuple(
            SpentUsage(
                day=moment(day * 86_400_000).date(),
                cost_usd=sum(map(dollars, json.loads(costs)), Decimal(0)),
                **dict(zip(names, rest, strict=True)),
            )
            for day, costs, *rest in rows
        )

    def totals(self, person: str | None, group: str | None, periods: Collection[str]) -> tuple[Total, ...]:
        """Returns the sums of the person, the group and all, in this order, each for all periods, days or months; zero
        where missing. None leaves out the person or the group.
        """
        scopes = self._scopes(None if person is None else self.keyring.handle(person), group)
        days = self.rows(
            # Earlier versions kept sums of months, too.
            "SELECT scope, period, cost_usd, unknown_costs FROM spent "
            "WHERE scope IN (?, ?, ?) AND period BETWEEN ? AND ? AND length(period) = 10",
            (*(scopes.get(scope) for scope in ("person", "group", "all")), min(periods), f"{max(periods)[:7]}-31"),
        )
        totals: list[Total] = []
        for scope, handle in scopes.items():
            for period in periods:
                # The days of a month begin with it.
                spent = [row for row in days if row[0] == handle and row[1].startswith(period)]
                cost = sum((dollars(row[2]) for row in spent), Decimal(0))
                unknown = sum(row[3] for row in spent)
                totals.append(Total(scope=scope, period=period, cost_usd=cost, unknown_costs=unknown))
        return tuple(totals)

    def take(self, service: str, period: str, *, amount: int, limit: int) -> bool:
        """Counts `amount` more uses of a service in the day or month if `limit` allows; returns whether it did."""
        taken = self.execute(
            "INSERT INTO quotas (service, period, used) SELECT ?, ?, ? WHERE ? <= ? "
            "ON CONFLICT (service) DO UPDATE SET "
            "used = CASE WHEN period = excluded.period THEN used + excluded.used ELSE excluded.used END, "
            "period = excluded.period WHERE period <> excluded.period OR used + excluded.used <= ?",
            (service, period, amount, amount, limit, limit),
        )
        return taken.rowcount > 0

    def prune(self, *, now: datetime) -> None:
        """Deletes sums that are older than `KEPT`."""
        self.execute("DELETE FROM spent WHERE period < ?", ((now - KEPT).date().isoformat(),))

    def _sum_up(self, cost_usd: Decimal, unknown_costs: int, person: bytes | None, group: str | None, day: str) -> None:
        self.insert_all(
            "INSERT INTO spent (scope, period, cost_usd, unknown_costs) VALUES",
            [(scope, day, str(cost_usd), unknown_costs) for scope in self._scopes(person, group).values()],
            "ON CONFLICT (scope, period) DO UPDATE SET cost_usd = add_decimals(cost_usd, excluded.cost_usd), "
            "unknown_costs = unknown_costs + excluded.unknown_costs",
        )

    def _scopes(self, person: bytes | None, group: str | None) -> dict[Scope, bytes]:
        """Returns the handles of all whose spending includes that of this person in this group."""
        chat = None if group is None else self.chat_handle(group)
        handles: tuple[tuple[Scope, bytes | None], ...] = (("person", person), ("group", chat), ("all", _ALL))
        return {scope: handle for scope, handle in handles if handle is not None}
