"""What both ways to Signal have in common, whichever bridge stands at its end, and what a request may name.

Signal calls a message by its sender's clock, which may say anything: what cannot be named is read and answered like
everything else, without a quote, a mark on it or a read receipt. And signal-cli misses people in a group to whom it has
never sent anything. Left to others: what a request looks like (`signal_cli`, `rest_api`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc.JsonRpcNamespace` (2026-11-22): a number below 2^31 is read as an
`Integer`, cast to a `Long`, and fails the whole request, each time.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace

from bot.errors import ConfigError, Disconnected, Undeliverable
from bot.events import Account, Attachment, ChatId, Envelope, Event, Reply, SentId
from bot.transports.base import Progress
from bot.transports.envelope.directory import device_named
from bot.transports.envelope.files import files_in
from bot.transports.envelope.frames import FrameReader
from bot.transports.envelope.send_errors import no_misses

_NAMED = range(2**31, 253_402_300_800_000)
"""Times that a request may name: from 25 January 1970 in milliseconds, before which there are only clocks that were
never set, to the end of the year 9999; later ones are no dates for many programs, Python among them."""


_MAX_GROUPS = 1000
"""Whose revisions are remembered: anybody can have Aldis in as many groups as they like."""


class GroupSessions:
    """In which groups signal-cli has a session with everybody, as far as anything has gone there since the start and
    nobody has joined since.

    It throws its first session with a person away a moment after it has begun it. A message to a group that comes
    between the two misses that person and is answered with an error, after it has gone to the others; so an indicator
    that nobody sees goes before the first one, and before the first one in another revision of the group: somebody
    who adds a person tells the others, and every message names the revision that its sender knows.

    Source: signal-cli 0.14.6, `IdentityKeyStore.saveNewIdentity` and `ManagerImpl` ("Archiving old sessions"); seen
    with 0.13.14 (2026-11-23): 4 of 25 groups with two such people without the indicator, none of 25 with it; 2 of 35
    when the two had joined later, none of 25 with it.
    """

    def __init__(self) -> None:
        self._heard: dict[ChatId, int] = {}
        self._complete: dict[ChatId, int | None] = {}

    def hear(self, envelope: Envelope) -> None:
        """Learn in which revision a group is."""
        chat, revision = envelope.chat, envelope.group_revision
        if chat is None or revision is None:
            return
        self._heard.pop(chat, None)
        self._heard[chat] = revision
        if len(self._heard) > _MAX_GROUPS:
            del self._heard[next(iter(self._heard))]

    def may_lack(self, chat: ChatId) -> bool:
        """Whether the chat is a group in which there may be somebody without one."""
        return chat.is_group and (chat not in self._complete or self._complete[chat] != self._heard.get(chat))

    def revision(self, chat: ChatId) -> int | None:
        """In which revision a group is; None where it is none, or nobody has told."""
        return self._heard.get(chat)

    def complete(self, chat: ChatId, revision: int | None) -> None:
        """Something has gone to everybody who was in it in this revision."""
        if chat.is_group:
            self._complete[chat] = revision


class SignalBridge(ABC):
    """The part of a `Transport` to Signal that does not depend on the bridge.

    `name` is how Aldis's own mention is written out within a text. `notes_of` is set where the account is a person's
    own and Aldis a further device of that name: then the notes to self are messages. `is_exclusive` is as in
    `FrameReader`.
    """

    has_receipts = True

    def __init__(self, account: Account, *, name: str, notes_of: str | None, is_exclusive: bool = False) -> None:
        self.account = account.id or account.name
        """See `Transport.account`; so below."""
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
        """What the envelope says; see `Transport.event`."""
        return self._reader.event(envelope)

    async def progress(self, chat: ChatId, progress: Progress) -> None:  # noqa: B027  (Signal shows nothing of it)
        """Nothing: Signal has no place for it but the typing indicator."""

    @abstractmethod
    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """See `Transport.typing`."""

    @abstractmethod
    async def discard(self, attachment: Attachment) -> None:
        """See `Transport.discard`."""

    async def _heard(self, raw: str, envelope: Envelope) -> None:
        """Take note of an envelope that has come.

        What may be seen only once was left out of it; the bridge's copy goes before anybody looks.
        """
        self._sessions.hear(envelope)
        for file in files_in(raw) if envelope.raw != raw else ():
            await self.discard(file)

    async def _learn_own_device(self, devices: Awaitable[object]) -> None:
        """Learn which device Aldis is; unknown, its own notes are known by their time."""
        with suppress(Disconnected, ConfigError):
            self._reader.own_device = device_named(await devices, self._notes_of or "")

    async def _ready(self, reply: Reply) -> Reply:
        """The reply as it can be sent, once everybody in its group can be reached.

        Raises:
            Undeliverable: it goes to where Aldis has no business, or edits what cannot be named.
        """
        self._check_target(reply.chat, reply.edits)
        if self._sessions.may_lack(reply.chat):
            await self.typing(reply.chat, started=False)
        is_odd = reply.quote is not None and reply.quote.sent_at not in _NAMED
        return replace(reply, quote=None) if is_odd else reply

    def _check_target(self, chat: ChatId, sent_at: SentId | None) -> None:
        """See that a message of ours in a chat can be edited or deleted; None: there is none. Raises as `_ready`."""
        self._reader.check_bounds(chat)
        if sent_at is not None and sent_at not in _NAMED:
            raise Undeliverable("a message of such a timestamp can be neither edited nor deleted")

    def _may_mark(self, chat: ChatId, sent_at: SentId) -> bool:
        """Whether an emoji can be put on the message of this time."""
        return sent_at in _NAMED and not self._reader.is_out_of_bounds(chat)

    def _shows_typing(self, chat: ChatId) -> bool:
        """Whether somebody sees that Aldis is writing: nobody does in the account's own chat."""
        return not (self._reader.is_own_chat(chat) or self._reader.is_out_of_bounds(chat))

    def _tells_reading(self, envelope: Envelope) -> bool:
        """Whether the author is told that the message was read."""
        return envelope.author is not None and not self._reader.takes_notes and envelope.sent_at in _NAMED
