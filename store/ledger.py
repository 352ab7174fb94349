"""The ledger: what was done and what it cost, a row a call. What a tool was asked and answered is sealed in it."""

from datetime import datetime
from decimal import Decimal

from store.records import ConversationId, Entry, Spending, TurnId
from store.shelf import Shelf, millis


class Ledger(Shelf):
    """The shelf of costs. All methods run inside a transaction."""

    def add(
        self,
        conversation: ConversationId,
        turn: TurnId,
        person: str | None,
        entries: tuple[Entry, ...],
        *,
        now: datetime,
    ) -> None:
        """Write what a turn did, in order."""
        handle = None if person is None else self.keyring.handle(person)
        for position, entry in enumerate(entries):
            self._add(conversation, turn, handle, position, entry, now)

    def spending(self, conversation: ConversationId | None = None) -> Spending:
        """The sum over one conversation, or over all."""
        columns = "SELECT input_tokens, output_tokens, cost_usd FROM ledger"
        if conversation is None:
            rows = self.rows(columns)
        else:
            rows = self.rows(f"{columns} WHERE conversation_id = ?", (conversation,))
        costs = [Decimal(cost) for _, _, cost in rows if cost is not None]
        return Spending(
            calls=len(rows),
            input_tokens=sum(row[0] for row in rows),
            output_tokens=sum(row[1] for row in rows),
            cost_usd=sum(costs, Decimal(0)),
            unknown_costs=len(rows) - len(costs),
        )

    def _add(
        self,
        conversation: ConversationId,
        turn: TurnId,
        person: bytes | None,
        position: int,
        entry: Entry,
        now: datetime,
    ) -> None:
        details = entry.details
        if details is not None:
            details = self.keyring.seal(conversation, f"ledger.details|{turn}|{position}", details)
        self.execute(
            "INSERT INTO ledger (conversation_id, turn_id, person, at, kind, provider, name, outcome, input_tokens, "
            "cached_input_tokens, output_tokens, latency_ms, cost_usd, details) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
                details,
            ),
        )
