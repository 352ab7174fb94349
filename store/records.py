"""What the store hands out and takes: rows as frozen values. Contents are bytes; their meaning belongs to `bot`."""

from collections.abc import Collection
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
"""How a turn ended: answered; answered with the telling of a failure; or without anything that is remembered (there
was nothing to answer, a command, a question that was taken back)."""
TurnState = Literal["running", "kept", "failed", "ignored"]


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
    urgent: bool = False
    """Whether it is taken up at once, also while a turn of its conversation runs."""
    expires_at: datetime | None = None
    """When the message disappears; None: it stays."""
    refusal: str | None = None
    """A word for why it will be refused with a sentence instead of being answered; None: it will be answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InboxItem:
    """One envelope that waits or is being answered."""

    id: InboxId
    author: bytes
    """A handle: the same for the same person, meaningless otherwise."""
    envelope: bytes
    received_at: datetime
    attempts: int
    """Which try this is, from 1."""
    expires_at: datetime | None
    refusal: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class UrgentItem:
    """An urgent item: something about the conversation, or about a message in it, rather than a question."""

    conversation: ConversationId
    item: InboxItem


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownMessage:
    """What the inbox knows of a message that somebody takes back or changes: its newest revision."""

    item: InboxId
    root: InboxId
    """Its first revision."""
    names: frozenset[int]
    """What Signal calls it: the sender's timestamps of all its revisions."""
    is_open: bool
    """Whether it still waits or is being answered."""
    turn: TurnId | None
    """The turn that answers or has answered it; None when it has not been taken up, or was never a question."""
    turn_state: TurnState | None


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
    replaces: TurnId | None = None
    """The turn that this one repeats after an edit; its answer is to be edited. None: it repeats none."""
    put_off: tuple[TurnId, ...] = ()
    """Other turns of the conversation, which wait for a person's word, and whose messages have not disappeared."""
    deaths: int = 0
    """How many processes died while it only waited, since it came further."""

    @property
    def attempt(self) -> int:
        """Which try of this turn it is, from 1."""
        return max(item.attempts for item in self.items)

    @property
    def expires_at(self) -> datetime | None:
        """When the first of the messages disappears, and all that was made of them with it; None: they stay."""
        return min((item.expires_at for item in self.items if item.expires_at is not None), default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredMessage:
    """One row of the history."""

    turn: TurnId
    role: Role
    call_id: str | None
    """Set for the role `tool`: the call that it answers."""
    message: bytes
    expires_at: datetime | None = None
    """When its turn disappears; None: it stays. Not looked at when it is written: the turn has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxItem:
    """One message to send."""

    id: OutboxId
    conversation: ConversationId
    turn: TurnId
    reply: bytes
    attempts: int
    """How many sends were begun before."""
    doubts: int
    """How many of those may have gone out."""
    was_unknown: bool
    """Whether the last attempt may have gone out: sending it now is a repetition."""
    edits: "SentMessage | None" = None
    """Our own message that this one is to take the place of; None: there is none, or it never went out."""
    is_status: bool = False
    """Whether it only says what is going on until something takes its place."""
    status: "SentMessage | None" = None
    """The status of its own turn that is in the chat: where it is not edited it has to go. None: there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirmation:
    """What somebody's phone says that it has received."""

    address: str
    """Of the direct chat with whoever it is."""
    names: Collection[int]
    """The times by which Signal calls our messages."""
    came_at: datetime
    """In own time."""
    stamped_at: datetime | None = None
    """What the machine's clock showed then, by which the bridge names what it sends; None: the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """What stands in a chat beside another send of the same item."""

    name: int
    """Its time, as Signal calls it."""
    conversation: ConversationId
    turn: TurnId
    removal: bytes
    """What was kept to remove it by (`Attempts.keep_removal`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidSince:
    """What was said between a message of ours and one that came."""

    turns: tuple[TurnId, ...]
    """The other turns that have said something."""
    is_repeated: bool
    """Whether ours was being said once more when it came: that could not be read yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SentMessage:
    """A message of ours that is in the chat. Times are in milliseconds since 1970: what Signal calls a message."""

    sent_at: int
    """The newest revision."""
    original_at: int
    """The first revision."""
    revision: int
    """How many edits lead to it; 0: none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptTime:
    """How the times stood at one moment (see `bot.clock`), in nanoseconds, the last two since 1970."""

    boot: str
    """Names the run of the machine; empty where nobody can tell one from another."""
    counted_ns: int
    """What the machine had counted since it was started."""
    wall_ns: int
    """What its clock showed, without a step that did not stand yet."""
    own_ns: int
    """Aldis's own time."""
