"""Rows as frozen values, as the store takes and returns them. Contents are bytes; `bot` knows their meaning."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NewType

ConversationId = NewType("ConversationId", int)
InboxId = NewType("InboxId", int)
TurnId = NewType("TurnId", int)
OutboxId = NewType("OutboxId", int)

Role = Literal["user", "assistant", "tool"]
TurnEnd = Literal["kept", "failed", "ignored"]
"""How a turn ended: `kept` with an answer, `failed` with a report of it, or `ignored`, with nothing to remember."""
TurnState = Literal["running", "kept", "failed", "ignored"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """An envelope on its way into the inbox, unique by account, author, device, sent_at and kind."""

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
    """Whether it is handled at once, even while a turn of its conversation runs."""
    expires_at: datetime | None = None
    """When the message and what is made from it disappear; None: they stay."""
    refusal: str | None = None
    """Why it will be refused with a sentence, as one word; None: it will be answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InboxItem:
    """An envelope that waits or is being answered."""

    id: InboxId
    conversation: ConversationId
    turn: TurnId | None
    """The turn that took it up before."""
    author: bytes
    """The author's handle."""
    envelope: bytes
    received_at: datetime
    attempts: int
    """The number of this attempt, from 1."""
    expires_at: datetime | None
    refusal: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownMessage:
    """The newest revision of a message that its author takes back or changes, as the inbox knows it."""

    item: InboxId
    root: InboxId
    """Its first revision."""
    names: frozenset[int]
    """The timestamps that name all its revisions."""
    is_open: bool
    """Whether it waits or is being answered."""
    turn: TurnId | None
    """The turn that answers or answered it; None: it was not claimed yet, or is no question."""
    turn_state: TurnState | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Messages of one conversation that are answered together, oldest first, and the turn that answers them."""

    conversation: ConversationId
    turn: TurnId
    items: tuple[InboxItem, ...]
    started_at: datetime
    """When the turn first began; after a crash, earlier than the claim."""
    is_new: bool
    """Whether this claim begins the turn, so that its journal must be empty."""
    replaces: TurnId | None = None
    """The turn that this one repeats after an edit, and whose answer it edits."""
    put_off: tuple[TurnId, ...] = ()
    """Other turns of the conversation that wait for a person's word."""
    deaths: int = 0
    """How many processes died while it ran."""

    @property
    def attempt(self) -> int:
        """The number of this attempt at the turn, from 1."""
        return max(item.attempts for item in self.items)

    @property
    def expires_at(self) -> datetime | None:
        """When the first message disappears."""
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
    conversation: ConversationId | None = None
    """None: it is not kept yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SentMessage:
    """A message of ours that is in the chat, by the timestamps that name its newest and its first revision."""

    sent_at: int
    original_at: int
    revision: int
    """How many edits lead to it; 0: none."""

    @classmethod
    def of(cls, sent_at: int | None, original_at: int, revision: int) -> "SentMessage | None":
        """Makes one of these columns; None if it is not known to be in the chat."""
        return None if sent_at is None else cls(sent_at=sent_at, original_at=original_at, revision=revision)


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidSince:
    """What Aldis said between one of its messages and a message that came in."""

    turns: tuple[TurnId, ...]
    """The other turns that said something."""
    is_repeated: bool
    """Whether its own message was being sent again when the other came in, so no one had read that yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """The open items of a queue."""

    items: int
    oldest_at: datetime | None
    """None if there are no open items."""
    dead: int
    """How many items were given up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptTime:
    """The clock at one moment (see `bot.clock`), in nanoseconds, the last two since 1970."""

    boot: str
    """The boot id of the machine; empty where there is none."""
    counted_ns: int
    """The time since the machine was started."""
    wall_ns: int
    """What Aldis took the time to be, as it had followed the machine's clock."""
    believed_ns: int
    """The same without a step that was still in doubt."""
