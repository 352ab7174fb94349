"""The ledger: one row per call, with its cost and none of its words, and the quotas of services.

Rows outlive the words that they paid for, so forgetting renews no budget.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from store.records import ConversationId, TurnId
from store.repository import Repository, moment

Scope = Literal["person", "group", "all"]
"""Whose spending is added up; `all` is everything in this store."""

Span = Literal["day", "month"]

_COST = "CAST(round(total(cost_usd), 10) AS TEXT) AS cost_usd"


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """One row of the ledger: a model call, a tool call, or a send worth noting."""

    kind: Literal["model", "tool", "send"] = "model"
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
    period: Span
    cost_usd: Decimal
    unknown_costs: int
    """How many calls have no known price, so that `cost_usd` leaves them out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SpentUsage:
    """The usage of one model or tool by one person (a handle) on one day, which begins at `day` (UTC)."""

    day: datetime
    person: bytes | None
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
    ) -> int:
        """Writes calls of a turn in order; returns the row of the last one, or 0. `person` may be a handle."""
        row, handle = 0, self.keyring.handle(person) if isinstance(person, str) else person
        for entry in entries:
            row = self.value(
                "INSERT INTO ledger (conversation_id, turn_id, person, at, kind, provider, name, outcome, "
                "input_tokens, output_tokens, cost_usd) "
                # A conversation or turn that was forgotten meanwhile has its cost recorded all the same.
                "VALUES ((SELECT id FROM conversations WHERE id = ?), (SELECT id FROM turns WHERE id = ?), "
                "?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                (
                    *(conversation, turn, handle, now, entry.kind, entry.provider, entry.name, entry.outcome),
                    *(entry.input_tokens, entry.output_tokens, entry.cost_usd),
                ),
            )
        return row

    def settle(self, row: int, entries: Sequence[LedgerEntry]) -> None:
        """Puts what was really paid in the place of the row of an estimate, at its time; once only."""
        delete = "DELETE FROM ledger WHERE id = ? RETURNING conversation_id, turn_id, person, at"
        for conversation, turn, person, at in self.rows(delete, (row,)):
            self.add(conversation, turn, person, entries, now=moment(at))

    def usage(self, *, since: datetime) -> tuple[SpentUsage, ...]:
        """Returns the usage since then, one entry per day, person, kind and name, in order of days."""
        return self.records(
            SpentUsage,
            f"SELECT at / 86400000 * 86400000 AS day, person, kind, name, count(*) AS calls, {_COST}, "  # noqa: S608
            "sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens FROM ledger "
            "WHERE at >= ? AND kind <> 'send' GROUP BY 1, person, kind, name ORDER BY 1, min(id)",
            (since,),
        )

    def totals(
        self, person: str | None, group: str | None, periods: Mapping[Span, tuple[datetime, datetime]]
    ) -> tuple[Total, ...]:
        """Returns what the person, the group (a chat's address; both can be None) and all have spent in each period."""
        scopes: list[tuple[Scope, str, object]] = [("all", "?", True)]
        if group is not None:
            chat = self.value("SELECT id FROM conversations WHERE handle = ?", (self.chat_handle(group),))
            scopes.insert(0, ("group", "+conversation_id = ?", chat))
        if person is not None:
            scopes.insert(0, ("person", "person = ?", self.keyring.handle(person)))
        totals: list[Total] = []
        for scope, condition, value in scopes:
            for period, (begin, end) in periods.items():
                totals += self.records(
                    Total,
                    f"SELECT ? AS scope, ? AS period, {_COST}, count(*) - count(cost_usd) AS unknown_costs FROM ledger "  # noqa: S608
                    f"WHERE at >= ? AND at < ? AND kind <> 'send' AND {condition}",
                    (scope, period, begin, end, value),
                )
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
