"""What the store hands out and takes: rows as frozen values. Contents are bytes; their meaning belongs to `bot`."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, NewType

ConversationId = NewType("ConversationId", int)
InboxId = NewType("InboxId", int)
TurnId = NewType("TurnId", int)
OutboxId = NewType("OutboxId", int)

Role = Literal["user", "assistant", "tool"]
TurnEnd = Literal["kept", "failed", "ignored"]
"""How a turn ended: answered, answered with the telling of a failure, or nothing to answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """An envelope on its way into the inbox. Account, author, device, sent_at and kind make it unique."""

    conversation: ConversationId
    account: str
    author: str
    device: int
    sent_at: int
    """Milliseconds since 1970 on the sender's clock."""
    kind: str
    envelope: bytes
    received_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class InboxItem:
    """One envelope that waits or is being answered."""

    id: InboxId
    envelope: bytes
    received_at: datetime
    attempts: int
    """Which try this is, from 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The messages of one conversation that are taken together, oldest first, and the turn that answers them."""

    conversation: ConversationId
    turn: TurnId
    items: tuple[InboxItem, ...]
    started_at: datetime
    """When the turn was first begun; earlier than the claim after a crash."""
    is_new: bool
    """Whether this claim begins the turn, so that its journal is surely empty."""

    @property
    def attempt(self) -> int:
        """Which try of this turn it is, from 1."""
        return max(item.attempts for item in self.items)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredMessage:
    """One row of the history."""

    turn: TurnId
    role: Role
    call_id: str | None
    """Set for the role `tool`: the call that it answers."""
    message: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxItem:
    """One message to send."""

    id: OutboxId
    conversation: ConversationId
    turn: TurnId
    reply: bytes
    attempts: int
    """How many sends were begun before."""
    was_unknown: bool
    """Whether the last attempt may have gone out: sending it now is a repetition."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One row of the ledger: a model call, a tool call, or a send worth noting."""

    kind: Literal["model", "tool", "send"]
    name: str
    outcome: str
    latency_seconds: float
    provider: str | None = None
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal | None = None
    """None when the price is unknown."""
    details: bytes | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """The sum over rows of the ledger."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal
    unknown_costs: int
    """How many of the calls have no known price and are not in `cost_usd`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """How much of a queue is under way."""

    items: int
    oldest_at: datetime | None
    """None when nothing is under way."""
    dead: int
    """How many were given up and are still kept as such."""
