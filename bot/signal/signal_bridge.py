"""What both transports to Signal have in common, and which messages a request can refer to.

Signal identifies a message by its sender's clock, which can say anything: a message whose time no request can carry is
read and answered like any other, but without a quote, a reaction or a read receipt. And signal-cli misses people in a
group to whom it has never sent anything. Left to others: the form of a request (`signal_cli`, `rest_api`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc.JsonRpcNamespace` (2026-11-22): a number below 2^31 is read as an
`Integer`, cast to a `Long`, and fails the whole request, every time.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from bot.errors import ConfigError, Disconnected, Undeliverable
from bot.events import Account, Attachment, ChatId, Envelope, Event, Reply, SentId
from bot.signal.directory import device_named
from bot.signal.files import files_in
from bot.signal.frames import FrameReader
from bot.signal.protocol import Progress
from bot.signal.send_errors import no_misses

_NAMED = range(2**31, 253_402_300_800_000)
"""The times that a request can carry: from 25 January 1970 in milliseconds, as earlier ones come only from clocks that
were never set, to the end of the year 9999; many programs, Python among them, cannot read later ones as dates."""


R = TypeVar("R")

_MAX_GROUPS = 1000
"""How many groups' revisions are remembered: anybody can add Aldis to as many groups as they like."""


class GroupSessions:
    """The groups in which signal-cli has a session with everybody: something has been sent there since the start, and
    nobody has joined since.

    signal-cli drops its first session with a person a moment after it has begun it. A message to a group that falls
    between the two misses that person and returns an error, after it has gone to the others; so an invisible typing
    indicator is sent before the first message, and before the first one in another revision of the group: somebody who
    adds a person tells the others, and every message names the revision that its sender knows.

    Source: signal-cli 0.14.6, `IdentityKeyStore.saveNewIdentity` and `ManagerImpl` ("Archiving old sessions"); seen
    with 0.13.14 (2026-11-23): 4 of 25 groups with two such people without the indicator, none of 25 with it; 2 of 35
    when the two had joined later, none of 25 with it.
    """

    def __init__(self) -> None:
        self._heard: dict[ChatId, int] = {}
        self._complete: dict[ChatId, int | None] = {}

    def hear(self, envelope: Envelope) -> None:
        """Learns the revision of a group."""
        chat, revision = envelope.chat, envelope.group_revision
        if chat is None or revision is None:
            return
        _remember(self._heard, chat, revision)

    def may_lack(self, chat: ChatId) -> bool:
        """Whether the chat is a group in which somebody may lack a session."""
        return chat.is_group and (chat not in self._complete or self._complete[chat] != self._heard.get(chat))

    def revision(self, chat: ChatId) -> int | None:
        """Returns the revision of a group; None if the chat is none, or it is unknown."""
        return self._heard.get(chat)

    def complete(self, chat: ChatId, revision: int | None) -> None:
        """Notes that something was sent to everybody who was in the group in this revision."""
        if chat.is_group:
            _remember(self._complete, chat, revision)


def _remember(revisions: dict[ChatId, R], chat: ChatId, revision: R) -> None:
    """Keeps the revision of a group, and forgets the group that was kept longest ago where there are too many."""
    revisions.pop(chat, None)
    revisions[chat] = revision
    if len(revisions) > _MAX_GROUPS:
        del revisions[next(iter(revisions))]


class SignalBridge(ABC):
    """The part of a `Transport` to Signal that does not depend on the bridge.

    `name` is how Aldis's own mention is spelled out in a text. `notes_of` is set if the account is a person's own and
    Aldis another device with that name: notes to self are then messages. `is_exclusive` is as in `FrameReader`.
    """

    has_receipts = True

    def __init__(self, account: Account, *, name: str, notes_of: str | None, is_exclusive: bool = False) -> None:
        self.account = account.id or account.name
        """See `Transport.account`, and likewise for the others."""
        self.number = account.number
        self.has_next = False
        self.challenge: str | None = None
        self.missed = no_misses()
        self._account = account
        self._notes_of = notes_of
        self._sessions = GroupSessions()
        self._reader = FrameReader(account, name, takes_notes=notes_of is not None, is_exclusive=is_exclusive)

    @property
    def unreadable_frames(self) -> int:
        """How many frames were no envelope, since the start."""
        return self._reader.unreadable

    def event(self, envelope: Envelope) -> Event | None:
        """Returns the content of the envelope; see `Transport.event`."""
        return self._reader.event(envelope)

    async def progress(self, chat: ChatId, progress: Progress) -> None:  # noqa: B027  (Signal shows nothing of it)
        """Does nothing: Signal has no place for it but the typing indicator."""

    @abstractmethod
    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """See `Transport.typing`."""

    @abstractmethod
    async def discard(self, attachment: Attachment) -> None:
        """See `Transport.discard`."""

    async def _heard(self, raw: str, envelope: Envelope) -> None:
        """Takes note of an envelope that has arrived.

        View-once content was left out of it; the bridge's copy is deleted before anybody looks.
        """
        self._sessions.hear(envelope)
        for file in files_in(raw) if envelope.raw != raw else ():
            await self.discard(file)

    async def _learn_own_device(self, devices: Awaitable[object]) -> None:
        """Learns which device Aldis is; if unknown, its own notes are recognized by their time."""
        with suppress(Disconnected, ConfigError):
            self._reader.own_device = device_named(await devices, self._notes_of or "")

    async def _ready(self, reply: Reply) -> Reply:
        """The reply in a form that can be sent, once everybody in its group can be reached.

        Raises:
            Undeliverable: it goes where Aldis has no business, or edits a message that no request can refer to.
        """
        self._check_target(reply.chat, reply.edits)
        if self._sessions.may_lack(reply.chat):
            await self.typing(reply.chat, started=False)
        is_odd = reply.quote is not None and reply.quote.sent_at not in _NAMED
        return replace(reply, quote=None) if is_odd else reply

    def _check_target(self, chat: ChatId, sent_at: SentId | None) -> None:
        """Checks that our message in a chat can be edited or deleted; None means there is none. Raises as `_ready`."""
        self._reader.check_bounds(chat)
        if sent_at is not None and sent_at not in _NAMED:
            raise Undeliverable("a message of such a timestamp can be neither edited nor deleted")

    def _may_mark(self, chat: ChatId, sent_at: SentId) -> bool:
        """Whether an emoji can be put on the message of this time."""
        return sent_at in _NAMED and not self._reader.is_out_of_bounds(chat)

    def _shows_typing(self, chat: ChatId) -> bool:
        """Whether anybody sees that Aldis is typing; in the account's own chat nobody does."""
        return not (self._reader.is_own_chat(chat) or self._reader.is_out_of_bounds(chat))

    def _tells_reading(self, envelope: Envelope) -> bool:
        """Whether the author is told that the message was read."""
        return envelope.author is not None and not self._reader.takes_notes and envelope.sent_at in _NAMED
