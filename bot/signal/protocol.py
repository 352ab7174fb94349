"""The seam to wherever people write: envelopes come in, replies go out.

`Transport` is what every way to people has; Signal's also have `Receipts`, `Groups` and `Identities`, which code asks
for by `isinstance`. The double that ships, `bot.terminal.transport`, has none of the three.
"""

from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import store as kept  # not its class, which would load SQLite before `chat` shows its prompt
from bot.clock import Clock
from bot.events import Account, Attachment, ChatId, Envelope, Event, PersonId, Removal, Reply, SentId
from bot.metrics import Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelAnswered:
    """Progress: a completion has arrived."""

    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: str
    """In US dollars, or `unknown`."""
    latency_seconds: float
    instead_of: str = ""
    """The model that should have answered, as `provider model`; empty if this is the one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolStarted:
    """Progress: a tool starts to run; `arguments` is shortened JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolEnded:
    """Progress: a tool has answered; `content` is the JSON that the model reads."""

    name: str
    content: str
    ok: bool
    latency_seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFailed:
    """Progress: no model answered, so the turn ends in a sentence that says so."""

    provider: str
    error: str
    """Its name in `bot.errors`."""


Progress = ModelAnswered | ModelFailed | ToolStarted | ToolEnded


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A group that the account is in, or is invited to."""

    id: str
    """What follows `group:` in a `ChatId`."""
    name: str
    members: frozenset[PersonId]
    """The account itself included."""
    is_complete: bool = True
    """Whether the bridge gives the UUID of every member."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contact:
    """A person that the account knows."""

    person: PersonId
    number: str | None
    """None if the person hides it."""
    name: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A person's identity key, as the bridge knows it."""

    person: PersonId
    is_trusted: bool
    key: str
    """Its fingerprint."""
    safety_number: str
    """Sixty digits in groups of five; can be empty."""


Bridge = Literal["signal_cli", "rest_api"]
BRIDGE_NAMES: dict[Bridge, str] = {"signal_cli": "signal-cli", "rest_api": "signal-cli-rest-api"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A running bridge."""

    bridge: Bridge
    version: str
    """As it reports itself; empty or "unset" if it does not know."""

    @property
    def name(self) -> str:
        """Its name for people, with its version."""
        name = BRIDGE_NAMES[self.bridge]
        return f"{name} {self.version}" if self.version else f"{name} of unknown version"


@dataclass(kw_only=True, slots=True)
class StreamState:
    """How a transport's stream of envelopes is, as far as can be known; the transport keeps it up to date."""

    is_open: bool = False
    heard_at: float | None = None
    """When it last gave a sign of life, on `time.monotonic`'s clock; None before."""
    has_next: bool = False
    """Whether another envelope has been read together with the last one, and is lost if the stream is closed first."""
    unreadable: int = 0
    """How many frames were no envelope, since the start."""
    keeps_messages: bool = True
    """Whether Signal keeps what people send while no stream is open; if not, a stop ends the stream last."""
    pause_seconds: float = 1.0
    """Before a stream that has ended is opened again."""


class Transport(Protocol):
    """A way to people."""

    account: str
    """The id of the account that it receives for, or `terminal`; its number as long as the bridge gives no id."""
    number: str | None
    """The phone number of the account, if it has one."""
    stream: StreamState
    """The state of its stream of envelopes."""

    def envelopes(self) -> AsyncGenerator[Envelope]:
        """Yields the frames of one connection, each read when the caller asks for it; what is no envelope is counted.

        Raises:
            Disconnected: the connection cannot be opened, or broke; open a new one, as after its end.
            ConfigError: it will never work (unknown account, wrong mode).
        """
        ...

    def stop_receiving(self) -> None:
        """Has `envelopes` end in order within seconds, for good: what is under way is still handed out."""
        ...

    def event(self, envelope: Envelope) -> Event | None:
        """Returns the content of the envelope; None if it is nothing for Aldis or cannot be read. Never raises."""
        ...

    async def send(self, reply: Reply) -> SentId:
        """Sends one message, or edits the one that `reply.edits` names; returns its id, or that of the new revision.

        Raises:
            NotSent: it certainly did not go out; try again later.
            NotUploaded: it certainly did not go out, because its files were not accepted.
            Untrusted: it certainly did not go out; try again when the recipient's safety number is trusted.
            SendUnknown: it may have gone out.
            Undeliverable: it never will.
        """
        ...

    async def remove(self, removal: Removal) -> SentId:
        """Deletes one of our own messages for all; can be repeated. Returns the deletion's own id. Raises as `send`."""
        ...

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Shows or hides that Aldis is typing; failures are only logged."""
        ...

    async def react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        """Puts an emoji on a message, or removes it; a refusal is only logged. Returns the id of the reaction, which
        phones confirm like a message, if the bridge reports it. Raises `SendUnknown` if it may still go out.
        """
        ...

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:
        """Returns a file of a message. Raises `Disconnected`, or `Unfetchable` if there is none or it is too large."""
        ...

    async def discard(self, attachment: Attachment) -> None:
        """Deletes the bridge's copy of a file if the bridge can; failures are only logged."""
        ...

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Shows a step of the running turn, if the transport has a place for it."""
        ...

    async def aclose(self) -> None:
        """Closes the connections; the transport is not used afterwards."""
        ...


@dataclass
class Outside:
    """What most parts of a run stand on: the way to people, what is kept, the time, and the figures."""

    transport: Transport
    store: "kept.Store"
    clock: Clock
    counts: Counts


@runtime_checkable
class Receipts(Protocol):
    """What Signal says of messages after they were sent, and the account of those that it has read."""

    missed: deque[PersonId]
    """People whom sends to groups have missed, because their safety numbers have changed; the reader takes them out."""
    challenge: str | None
    """The token of the captcha that Signal wants solved before it sends more; None if none."""

    async def receipt(self, *envelopes: Envelope) -> None:
        """Shows the author that these messages of theirs were read; failures are only logged."""
        ...

    async def submit_challenge(self, captcha: str) -> None:
        """Hands in the captcha's solution. Raises `Disconnected`, or `CallRefused` if it is refused or not wanted."""
        ...


@runtime_checkable
class Groups(Protocol):
    """The groups of the account. All raise `Disconnected` if the bridge cannot be asked."""

    async def groups(self) -> tuple[Group, ...]:
        """Returns the groups that the account is in."""
        ...

    async def invitations(self) -> tuple[Group, ...]:
        """Returns the groups that the account is invited to, of which nothing arrives until it joins."""
        ...

    async def former_groups(self) -> frozenset[str]:
        """Returns the ids of groups that the account is in no more, as long as the bridge knows them."""
        ...

    async def join(self, group: str) -> None:
        """Accepts the invitation to the group of this id; raises `CallRefused` if it was withdrawn, for example."""
        ...


@runtime_checkable
class Identities(Protocol):
    """The account at its bridge, and the people it knows. All raise `Disconnected` if the bridge cannot be asked."""

    async def is_linked(self) -> bool:
        """Returns whether the bridge still has the account."""
        ...

    async def release(self) -> Release:
        """Returns the bridge and its version; raises `ConfigError` if it cannot be used as it runs."""
        ...

    async def contacts(self) -> tuple[Contact, ...]:
        """Returns the people that the account knows, with number and UUID."""
        ...

    async def identities(self) -> tuple[Identity, ...]:
        """Returns the keys of all people that the bridge knows."""
        ...

    async def trust(self, person: PersonId) -> None:
        """Trusts the key that this person has now; raises `CallRefused` if the bridge refuses it."""
        ...


@runtime_checkable
class SignalTransport(Transport, Receipts, Groups, Identities, Protocol):
    """A transport with all that Signal has."""


DEVICE_NAME = "Aldis"  # as people read it among their linked devices
MAX_LINK_CODES = 15  # each good for about a minute


class Linking(Protocol):
    """Links Aldis to an account, as another device of its phone. All raise `Disconnected` if the bridge failed."""

    async def accounts(self) -> tuple[Account, ...]:
        """Returns the accounts that the bridge already has, possibly without their ids."""
        ...

    async def identify(self, account: Account) -> Account:
        """Returns one of these accounts with its id; unchanged if the bridge answers but does not give it."""
        ...

    async def start_link(self) -> str:
        """Returns the address (`sgnl://linkdevice?...`) for the QR code; good for about a minute."""
        ...

    async def finish_link(self, uri: str) -> str:
        """Waits for the phone; returns the account's number or id, or "". Raises `NotScanned` or `CallRefused`."""
        ...
