"""The ledger: one row per call, with its cost and none of its words. Beside it quotas of services, and what
models were found to accept.

Sums by day are kept beside the rows, per person, per group and for all. A budget is checked before each model call, and
adding up the rows of a month would take too long. The sums outlive the rows.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

from store.records import ConversationId, LedgerEntry, Spending, TurnId
from store.repository import Repository, dollars, millis, moment

Scope = Literal["person", "group", "all"]
"""Whose spending is added up; `all` is everything in this store."""

KEPT = timedelta(days=400)
"""How long the sums are kept: enough to look back a year."""

_ALL = b"all"


@dataclass(frozen=True, kw_only=True, slots=True)
class Total:
    """The spending of one scope in one period."""

    scope: Scope
    period: str
    """`2026-11-22` or `2026-11`."""
    spending: Spending


@dataclass(frozen=True, kw_only=True, slots=True)
class SpentUsage:
    """The usage of one model or tool by one person on one day."""

    day: date
    person: bytes | None
    """The handle of the person who asked, as returned by `Ledger.handle_of`; None if no one did."""
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
        entries: tuple[LedgerEntry, ...],
        *,
        now: datetime,
        group: str | bytes | None = None,
        day: str | None = None,
    ) -> int:
        """Writes calls of a turn in order and adds them to the sums; returns the row of the last one, or 0.

        `conversation` is None if it is gone. `group` is the address of the chat if that is a group; it and the person
        may be their handles. `day` is the one that contains `now`, as in `Total.period`; without it no sums are kept.
        """
        handle = self.keyring.handle(person) if isinstance(person, str) else person
        rows = [self._add(conversation, turn, handle, entry, now) for entry in entries]
        if rows and day is not None:
            self._sum_up(_spending(entries), handle, group, day)
        return max(rows, default=0)

    def settle(
        self,
        row: int,
        entries: tuple[LedgerEntry, ...],
        *,
        now: datetime,
        group: str | bytes | None,
        day: str,
    ) -> None:
        """Puts what was really called and paid in the place of the row of an estimate, and into its sums.

        Does nothing if the row is gone: it was settled before.
        """
        delete = "DELETE FROM ledger WHERE id = ? RETURNING conversation_id, turn_id, person, cost_usd"
        for conversation, turn, person, cost in self.rows(delete, (row,)):
            self.add(conversation, turn, person, entries, now=now)
            estimate = Spending(
                calls=-1, input_tokens=0, output_tokens=0, cost_usd=-dollars(cost), unknown_costs=-(cost is None)
            )
            self._sum_up(_spending(entries) + estimate, person, group, day)

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
            "SELECT at / 86400000, person, kind, name, count(*), sum(input_tokens), sum(output_tokens), "
            "json_group_array(cost_usd) FROM ledger WHERE at >= ? AND kind <> 'send' "
            "GROUP BY 1, person, kind, name ORDER BY 1, min(id)",
            (millis(since),),
        )
        return tuple(
            SpentUsage(
                day=moment(day * 86_400_000).date(),
                person=person,
                kind=kind,
                name=name,
                calls=calls,
                input_tokens=read,
                output_tokens=written,
                cost_usd=sum(map(dollars, json.loads(costs)), Decimal(0)),
            )
            for day, person, kind, name, calls, read, written, costs in rows
        )

    def totals(self, person: str | None, group: str | None, periods: Iterable[str]) -> tuple[Total, ...]:
        """Returns the sums of the person, the group and all, in this order, each for all periods, days or months; zero
        where missing. None leaves out the person or the group.
        """
        wanted = tuple(periods)
        whose = None if person is None else self.keyring.handle(person)
        where = None if group is None else self.chat_handle(group)
        return tuple(
            self._total(scope, handle, period) for scope, handle in _scopes(whose, where).items() for period in wanted
        )

    def handle_of(self, person: str) -> bytes:
        """Returns the handle by which the ledger knows a person."""
        return self.keyring.handle(person)

    def prune(self, *, now: datetime) -> None:
        """Deletes sums that are older than `KEPT`."""
        self.execute("DELETE FROM spent WHERE period < ?", ((now - KEPT).date().isoformat(),))

    def _sum_up(self, more: Spending, person: bytes | None, group: str | bytes | None, day: str) -> None:
        scopes = _scopes(person, self.chat_handle(group) if isinstance(group, str) else group)
        values = day, str(more.cost_usd), more.calls, more.unknown_costs, more.input_tokens, more.output_tokens
        self.execute_many(
            "INSERT INTO spent (scope, period, cost_usd, calls, unknown_costs, input_tokens, output_tokens) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scope, period) DO UPDATE SET "
            "cost_usd = add_decimals(cost_usd, excluded.cost_usd), "
            "calls = calls + excluded.calls, unknown_costs = unknown_costs + excluded.unknown_costs, "
            "input_tokens = input_tokens + excluded.input_tokens, "
            "output_tokens = output_tokens + excluded.output_tokens",
            [(scope, *values) for scope in scopes.values()],
        )

    def _total(self, scope: Scope, handle: bytes, period: str) -> Total:
        # A day, or the days of a month; earlier versions kept sums of months, too.
        days = self.records(
            Spending,
            "SELECT calls, input_tokens, output_tokens, cost_usd, unknown_costs FROM spent "
            "WHERE scope = ? AND period BETWEEN ? AND ? AND length(period) = 10",
            (handle, period, f"{period}-31"),
        )
        return Total(scope=scope, period=period, spending=sum(days, _spending(())))

    def _add(
        self,
        conversation: ConversationId | None,
        turn: TurnId,
        person: bytes | None,
        entry: LedgerEntry,
        now: datetime,
    ) -> int:
        added = self.execute(
            "INSERT INTO ledger (conversation_id, turn_id, person, at, kind, provider, name, outcome, input_tokens, "
            "cached_input_tokens, output_tokens, latency_ms, cost_usd) "
            # A conversation or turn that was forgotten meanwhile has its cost recorded all the same.
            "VALUES ((SELECT id FROM conversations WHERE id = ?), (SELECT id FROM turns WHERE id = ?), "
            "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                conversation,
                turn,
                person,
                millis(now),
                entry.kind,
                entry.provider,
                entry.name,
                entry.outcome,
                entry.input_tokens,
                entry.cached_input_tokens,
                entry.output_tokens,
                round(entry.latency_seconds * 1000),
                None if entry.cost_usd is None else str(entry.cost_usd),
            ),
        )
        return added.lastrowid or 0


def _scopes(person: bytes | None, group: bytes | None) -> Mapping[Scope, bytes]:
    """The handles of all whose spending includes that of this person in this group."""
    handles: tuple[tuple[Scope, bytes | None], ...] = (("person", person), ("group", group), ("all", _ALL))
    return {scope: handle for scope, handle in handles if handle is not None}


def _spending(entries: tuple[LedgerEntry, ...]) -> Spending:
    costs = [entry.cost_usd for entry in entries if entry.cost_usd is not None]
    return Spending(
        calls=len(entries),
        input_tokens=sum(entry.input_tokens for entry in entries),
        output_tokens=sum(entry.output_tokens for entry in entries),
        cost_usd=sum(costs, Decimal(0)),
        unknown_costs=len(entries) - len(costs),
    )


class Quotas(Repository):
    """Quotas: how much each service was used in the current day or month. Contains nothing about people."""

    def take(self, service: str, period: str, *, amount: int, limit: int) -> bool:
        """Counts `amount` more uses (at least 1) in the period, `2026-11` or `2026-11-21`; returns whether it did.

        It does not if the sum would exceed `limit`.
        """
        taken = self.execute(
            "INSERT INTO quotas (service, period, used) SELECT ?, ?, ? WHERE ? <= ? "
            "ON CONFLICT (service) DO UPDATE SET "
            "used = CASE WHEN period = excluded.period THEN used + excluded.used ELSE excluded.used END, "
            "period = excluded.period WHERE period <> excluded.period OR used + excluded.used <= ?",
            (service, period, amount, amount, limit, limit),
        )
        return taken.rowcount > 0

    def give_back(self, service: str, period: str, *, amount: int) -> None:
        """Counts `amount` fewer uses in the period; does nothing once another period has begun."""
        self.execute(
            "UPDATE quotas SET used = max(0, used - ?) WHERE service = ? AND period = ?", (amount, service, period)
        )
