"""What both ways to Signal have in common, whichever bridge stands at its end, and what a request may name.

Signal calls a message by its sender's clock, which may say anything: what cannot be named is read and answered like
everything else, without a quote, a mark on it or a read receipt. And signal-cli misses people in a group to whom it has
never sent anything. Left to others: what a request looks like (`signal_cli`, `rest_api`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc.JsonRpcNamespace` (2026-11-22): a number below 2^31 is read as an
`Integer`, cast to a `Long`, and fails the whole request, each time.
"""

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


def is_group(chat: ChatId) -> bool:
    """Whether it is a group's chat."""
    return chat.startswith("group:")


class SignalBridge:
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
        self._reached: set[ChatId] = set()
        """The groups to everybody in which something has gone since the start.

        signal-cli throws its first session with a person away a moment after it has begun it. A message to a group that
        comes between the two misses that person and is answered with an error, after it has gone to the others; so an
        indicator that nobody sees goes before the first one.

        Source: signal-cli 0.14.6, `IdentityKeyStore.saveNewIdentity` and `ManagerImpl` ("Archiving old sessions"); seen
        with 0.13.14: 4 of 25 groups with two such people without the indicator, none of 25 with it (2026-11-23)."""
        self._reader = FrameReader(account, name, takes_notes=notes_of is not None, is_exclusive=is_exclusive)

    @property
    def unreadable_frames(self) -> int:
        """How many frames were no envelope, since the start."""
        return self._reader.unreadable

    def event(self, envelope: Envelope) -> Event | None:
        """What the envelope says; see `Transport.event`."""
        return self._reader.event(envelope)

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Nothing: Signal has no place for it but the typing indicator."""

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """To be overridden; see `Transport.typing`."""
        raise NotImplementedError

    async def discard(self, attachment: Attachment) -> None:
        """To be overridden; see `Transport.discard`."""
        raise NotImplementedError

    async def _discard_unseen(self, raw: str, envelope: Envelope) -> None:
        """What may be seen only once was left out of the envelope; the bridge's copy goes before anybody looks."""
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
        if is_group(reply.chat) and reply.chat not in self._reached:
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
