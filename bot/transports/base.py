"""The seam to where people write: envelopes come in, replies go out.

The double of this seam is `bot.transports.terminal.transport`, which ships.
"""

from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from bot.events import Account, Attachment, ChatId, Envelope, Event, PersonId, Removal, Reply, SentId
from bot.transports.bridge_versions import Release


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelAnswered:
    """Progress: one completion came."""

    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: str
    """In US dollars, or `unknown`."""
    latency_seconds: float
    instead_of: str = ""
    """The model that was to answer and did not, as `provider model`; empty: this is the one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolStarted:
    """Progress: a tool begins to run; `arguments` is JSON in short."""

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
    """The one that was asked last."""
    error: str
    """The kind of failure, as `bot.errors` calls it."""


Progress = ModelAnswered | ModelFailed | ToolStarted | ToolEnded


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A group that the account is in, or is invited to."""

    id: str
    """Base64, exact case: what stands behind `group:` in a `ChatId`."""
    name: str
    members: frozenset[PersonId]
    """Everybody in it, the account itself included; empty where the bridge does not tell."""
    is_complete: bool = True
    """Whether the bridge names everybody in it by their uuid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contact:
    """A person whom the account knows."""

    person: PersonId
    number: str | None
    """None where the person hides it."""
    name: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """The key by which somebody is known, as the bridge knows it."""

    person: PersonId
    is_trusted: bool
    key: str
    """Its fingerprint; the same for the same key, meaningless otherwise."""
    safety_number: str
    """Sixty digits in groups of five, to be compared with those that the person's own phone shows; may be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MissedRecipient:
    """Somebody whom a send to a group did not reach although it reached others."""

    person: PersonId | None
    """None where the bridge does not tell."""
    reason: str
    """`untrusted`, `unregistered`, `no_keys`, `rate_limit` or `network`."""


class Transport(Protocol):
    """A way to people."""

    @property
    def account(self) -> str:
        """The id of the account that it receives for, or `terminal`; its number as long as the bridge tells no id."""
        ...

    @property
    def number(self) -> str | None:
        """The phone number of the account, where it has one."""
        ...

    @property
    def has_receipts(self) -> bool:
        """Whether delivery receipts come back, so that an unknown send can be reconciled by waiting for one."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether a stream of envelopes is open, as far as one can tell."""
        ...

    @property
    def heard_at(self) -> float | None:
        """When the stream last gave a sign of life (a frame, a keep-alive, a pong), on `time.monotonic`'s clock.

        None before the first sign of this run.
        """
        ...

    @property
    def unreadable_frames(self) -> int:
        """How many frames were no envelope for this account, since the start."""
        ...

    @property
    def has_next(self) -> bool:
        """Whether a further envelope has come together with the last: asking for it means no waiting for anybody.

        What has come together is written down together.
        """
        ...

    @property
    def keeps_messages(self) -> bool:
        """Whether what people send while no stream is open is kept by Signal.

        If it is lost, the stream is the last thing to end at a stop, for it is the first that people miss.
        """
        ...

    @property
    def max_pause_seconds(self) -> float:
        """How long one may wait at most before a stream that broke is opened again.

        Short where what comes meanwhile is lost; trying costs the bridge next to nothing.
        """
        ...

    @property
    def problem(self) -> str | None:
        """What keeps it from hearing everything although a stream is open, as a sentence for the operator; or None."""
        ...

    @property
    def challenge(self) -> str | None:
        """The token of the captcha that Signal wants solved before it sends more; None while it wants none.

        It belongs before the operator's eyes, never into a log.
        """
        ...

    @property
    def missed(self) -> deque[MissedRecipient]:
        """Whom sends have missed, oldest first, the last few; the reader takes them out."""
        ...

    def envelopes(self) -> AsyncGenerator[Envelope]:
        """The frames as they come, in order, from one connection; the next is read when the caller asks for it.

        Frames that are no envelope are counted, logged without their text and passed over. Ends or raises when the
        connection is gone; the caller opens a new one.

        Raises:
            Disconnected: the connection cannot be opened or broke.
            ConfigError: the server answers that it will never work (unknown account, wrong mode).
        """
        ...

    async def check_receiving(self) -> None:
        """See that `envelopes` would open a stream, without opening one: what came over it would be lost.

        Raises:
            Disconnected, ConfigError: as `envelopes`.
        """
        ...

    def stop_receiving(self) -> None:
        """Let `envelopes` end in order, for good: nothing more is fetched, what is under way is still handed out.

        Returns at once; `envelopes` ends within a few seconds, as far as the bridge knows how to stop.
        """
        ...

    def event(self, envelope: Envelope) -> Event | None:
        """What the envelope says, or None where that is nothing for Aldis or cannot be read. Never raises.

        Of what the account itself did on another device only this is told: a `Receipt` for messages of our own.
        """
        ...

    async def send(self, reply: Reply) -> SentId:
        """Send one message and give its id, within a deadline of the transport's own.

        Where `reply.edits` is set, that message of ours is edited; the id given is that of the new revision.

        Raises:
            NotSent: it surely did not go out; try again later.
            NotUploaded: it surely did not, for its files were not taken.
            Untrusted: it surely did not; try again when the recipient's safety number is trusted.
            SendUnknown: it may have gone out.
            SentUnnamed: it went out, and nobody knows its id.
            Undeliverable: it never will.
        """
        ...

    async def remove(self, removal: Removal) -> SentId:
        """Delete one of our own messages for everybody. Once more does no harm.

        Gives the id of the deletion itself: phones confirm it like a message, and a receipt for it must not be taken
        for one of another send.

        Raises:
            NotSent, SendUnknown: try again later.
            Untrusted: as for a message.
            Undeliverable: it never will be deleted.
        """
        ...

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Show or hide that Aldis is writing; failures are swallowed (and logged), for nobody waits for it."""
        ...

    async def react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        """Put an emoji on a message of somebody, or take it off; a refusal is swallowed (and logged).

        Gives Signal's name for the reaction, which phones confirm like a message; None: the bridge does not tell it.

        Raises:
            SendUnknown: it may still go out.
        """
        ...

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:
        """The bytes of a file that came with a message in this chat, within a deadline of the transport's own.

        Raises:
            Disconnected: the bridge cannot be asked; try again later.
            Unfetchable: there is no such file, or it is larger than `max_bytes`.
        """
        ...

    async def discard(self, attachment: Attachment) -> None:
        """Delete the bridge's copy of a file where the bridge can; failures are swallowed (and logged)."""
        ...

    async def receipt(self, envelope: Envelope) -> None:
        """Tell the author that the message was read; failures are swallowed (and logged)."""
        ...

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Show a step of the running turn where the transport has a place for it; else nothing."""
        ...

    async def is_linked(self) -> bool:
        """Whether the bridge still has the account.

        Raises:
            Disconnected: the bridge cannot be asked.
        """
        ...

    async def release(self) -> Release | None:
        """Which bridge it is, and in which version; None where there is none.

        Raises:
            Disconnected: the bridge cannot be asked.
        """
        ...

    async def groups(self) -> tuple[Group, ...]:
        """The groups that the account is in.

        Raises:
            Disconnected: the bridge cannot be asked.
        """
        ...

    async def invitations(self) -> tuple[Group, ...]:
        """The groups that the account is invited to and has not joined; until it does, nothing of them arrives.

        Raises:
            Disconnected: the bridge cannot be asked.
        """
        ...

    async def join(self, group: str) -> None:
        """Accept the invitation to the group of this id; its members see that.

        Raises:
            CallRefused: the bridge refuses it, as where the invitation was withdrawn.
            Disconnected: the bridge cannot be asked.
        """
        ...

    async def contacts(self) -> tuple[Contact, ...]:
        """The people whom the account knows, with number and uuid.

        Raises:
            Disconnected: the bridge cannot be asked.
        """
        ...

    async def identities(self) -> tuple[Identity, ...]:
        """The keys of everybody whom the bridge knows.

        Raises:
            Disconnected: the bridge cannot be asked.
        """
        ...

    async def trust(self, person: PersonId, *, safety_number: str | None = None) -> None:
        """Trust the key that this person has now; with a safety number only if it is that key's, and as compared.

        Raises:
            Disconnected: the bridge cannot be asked.
            CallRefused: it refuses, and says why.
        """
        ...

    async def submit_challenge(self, captcha: str) -> None:
        """Hand in the solution of the captcha that is wanted (see `challenge`), so that Signal sends again.

        Raises:
            Disconnected: the bridge cannot be asked.
            CallRefused: Signal refuses it, or wants none.
        """
        ...

    async def note_to_self(self, text: str) -> SentId:
        """Send a message to the account itself, to see whether anything of it comes back on the stream.

        Raises:
            NotSent, SendUnknown, Undeliverable: as `send`.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; the transport is not used afterwards."""
        ...


NOT_SCANNED = "the code was not scanned in time"
MAX_LINK_CODES = 15
"""Each is good for about a minute: somebody who has not scanned one by then has gone away."""


class Linking(Protocol):
    """A bridge's way to link Aldis to a Signal account, as a further device of the phone that has it."""

    async def accounts(self) -> tuple[Account, ...]:
        """The accounts that the bridge has already, perhaps without their ids; empty when there is none.

        Raises:
            Disconnected: the bridge cannot be reached or did not succeed; try again.
        """
        ...

    async def identify(self, account: Account) -> Account:
        """One of these accounts with its id; without, where the bridge answers and does not tell.

        Raises:
            Disconnected: as `accounts`.
        """
        ...

    async def start_link(self, device_name: str) -> str:
        """The address (`sgnl://linkdevice?...`) that the QR code shows; good for about a minute.

        Raises:
            Disconnected: as `accounts`.
        """
        ...

    async def finish_link(self, uri: str, device_name: str) -> str:
        """Wait until the phone has scanned the code and give the account's number, or its id where it has none.

        Empty where it has no number and the bridge tells no ids.

        Raises:
            Disconnected: the code was not scanned in time, or something failed on the way; start again with a new one.
            LinkRefused: the bridge says that this account cannot be linked, as one that is linked already.
        """
        ...

    async def register(self, number: str, *, captcha: str | None, by_call: bool) -> None:
        """Have Signal send a code to a number that is to become an account of its own; by a call instead of an SMS.

        Raises:
            Disconnected: the bridge cannot be reached or did not succeed; try again.
            CallRefused: Signal wants a captcha first, or refuses; the message is the bridge's own sentence.
        """
        ...

    async def verify(self, number: str, code: str, *, pin: str | None) -> None:
        """Make the number an account by the code that came; `pin` is that of its registration lock.

        Raises:
            Disconnected, CallRefused: as `register`.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; it is not used afterwards."""
        ...
