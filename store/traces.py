"""The trace of a turn, put together from the other tables: times, states, counts and costs, without words or names."""

from dataclasses import dataclass
from datetime import datetime

from store.records import ConversationId, LedgerEntry, TurnId
from store.repository import Repository, millis, moment, moment_if


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedMessage:
    """A message that a turn answers."""

    kind: str
    sent_at: datetime
    """By the sender's clock."""
    received_at: datetime
    state: str
    attempts: int
    refusal: str | None
    """Why it was refused instead of answered; None: it was not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedReply:
    """A part of the answer, or a status shown before it."""

    is_status: bool
    state: str
    attempts: int
    revision: int
    """How many edits lead to it."""
    attempted_at: datetime | None
    """When its last attempt began; None: there was none."""
    settled_at: datetime | None
    """When it was sent or given up; None: neither yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """What is kept of one turn. Messages and replies settled long ago are gone; the ledger stays."""

    turn: TurnId
    conversation: ConversationId
    realm: str
    state: str
    started_at: datetime
    ended_at: datetime | None
    """None while it runs."""
    expires_at: datetime | None
    """When it disappears; None: it stays."""
    replaces: TurnId | None
    """The turn that it repeats; None: none."""
    deaths: int
    """How many processes died while it waited, since its last progress."""
    messages: tuple[TracedMessage, ...]
    """The messages it answers, in the order of arrival."""
    entries: tuple[LedgerEntry, ...]
    """Its rows of the ledger in order, without details; written when the turn ends."""
    replies: tuple[TracedReply, ...]
    """What it sends, in order."""


class Traces(Repository):
    """The repository that reads across the others and writes nothing. All methods run inside a transaction."""

    def newest(self, limit: int) -> tuple[Trace, ...]:
        """Returns the `limit` newest turns of all realms, newest first."""
        return tuple(filter(None, map(self.of, self.column("SELECT id FROM turns ORDER BY id DESC LIMIT ?", (limit,)))))

    def count_since(self, at: datetime) -> int:
        """Returns how many turns began since then."""
        [[count]] = self.rows("SELECT count(*) FROM turns WHERE started_at >= ?", (millis(at),))
        return count

    def of(self, turn: TurnId) -> Trace | None:
        """Returns what is kept of the turn; None: nothing."""
        rows = self.rows(
            "SELECT conversation_id, realm, state, started_at, ended_at, expires_at, replaces, deaths FROM turns "
            "JOIN conversations ON conversations.id = conversation_id WHERE turns.id = ?",
            (turn,),
        )
        if not rows:
            return None
        conversation, realm, state, started_at, ended_at, expires_at, replaces, deaths = rows[0]
        return Trace(
            turn=turn,
            conversation=ConversationId(conversation),
            realm=realm,
            state=state,
            started_at=moment(started_at),
            ended_at=moment_if(ended_at),
            expires_at=moment_if(expires_at),
            replaces=replaces,
            deaths=deaths,
            messages=self.records(
                TracedMessage,
                "SELECT kind, sent_at, received_at, state, attempts, refusal FROM inbox WHERE turn_id = ? ORDER BY id",
                (turn,),
            ),
            entries=self.records(
                LedgerEntry,
                "SELECT kind, provider, name, outcome, input_tokens, cached_input_tokens, output_tokens, "
                "latency_ms / 1000.0 AS latency_seconds, cost_usd FROM ledger WHERE turn_id = ? ORDER BY id",
                (turn,),
            ),
            replies=self.records(
                TracedReply,
                "SELECT position < 0 AS is_status, state, attempts, revision, attempted_at, settled_at FROM outbox "
                "WHERE turn_id = ? ORDER BY id",
                (turn,),
            ),
        )

    def was_there(self, turn: TurnId) -> bool:
        """Whether there was ever a turn of this number, kept or not: numbers are never used twice."""
        return self.exists("SELECT 1 FROM sqlite_sequence WHERE name = 'turns' AND seq >= ?", (turn,))
