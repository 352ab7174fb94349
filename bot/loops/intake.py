"""Intake: reads the transport's stream and stores admitted messages before anything else happens to them.

    envelope --stranger---> counted, dropped (`bot.loops.doorkeeper`)
             |-echo-------> what Aldis itself wrote to the account's own chat: counted, dropped
             |-receipt----> proves an unknown send, if its author can have received one; otherwise it costs nothing
             |-other------> counted, dropped
             |-too much---> the first of a minute is stored, to be refused with a sentence; the others are dropped
             '-else-------> sealed in the inbox, committed; then the read receipt: "read" means "will be answered"

What arrives within a moment shares a commit, and nothing is made of it before that. If the inbox cannot be written, the
stream is closed, so that Signal's server keeps later messages; what is in hand is stored before the stream is reopened.
If the account is a person's own, only what the account writes to itself is admitted.
Left to others: who may write (`bot.loops.doorkeeper`), what is too much (`bot.access.limits`), what to answer
(`bot.loops.worker`).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing, suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime, timedelta

from bot.access import chat_settings
from bot.access.access import is_direct
from bot.access.limits import Quota, Refusal
from bot.access.routing import Ignore, Question, Route, route, unanswered_message
from bot.clock import is_set_within
from bot.errors import ConfigError, Disconnected
from bot.events import (
    ChatId,
    Edited,
    Envelope,
    Incoming,
    Kind,
    PersonId,
    Receipt,
    Reply,
    SentId,
    Undecryptable,
    UnreadableJson,
    dump_value,
    load_outgoing,
)
from bot.logs import RepeatedWarning, describe_error
from bot.loops.doorkeeper import Doorkeeper
from bot.signal.files import files_in
from bot.signal.protocol import Outside, Receipts
from store import Arrival, Confirmation, ConversationId, Repositories, StoreError

_log = logging.getLogger(__name__)

_KEPT = {Kind.MESSAGE, Kind.EDIT, Kind.DELETE, Kind.REACTION}
_MAX_TOGETHER = 100
"""The limit of envelopes per commit."""
_QUIET_SHARE = 0.2
"""The share of `burst_seconds` in which nothing comes once a burst is over."""
_UNTRUSTED_IDENTITY = "UntrustedIdentityException"
"""The reason signal-cli gives for not decrypting messages of a person with a new key."""


@dataclass(frozen=True, slots=True)
class _Entry:
    envelope: Envelope
    received_at: datetime
    refusal: Refusal | None = None


@dataclass
class Intake(Outside):
    """The loop of arrivals."""

    burst_seconds = 0.05
    """How long what has arrived waits for more of the same burst: all of it is on the disk before work begins."""

    _: KW_ONLY
    door: Doorkeeper
    quota: Quota
    on_untrusted: Callable[[PersonId], None] = lambda _: None
    """Called with a person who wrote with a new key: none of it can be read until the key is trusted."""
    on_question: Callable[[Incoming], None] = lambda _: None
    """Called with each message that will be answered and waits for its turn."""

    def __post_init__(self) -> None:
        self._aside = self.door.aside
        self._outage = RepeatedWarning(_log)
        self._stopping = asyncio.Event()
        self._held: list[Envelope] = []
        """Taken from the stream but not stored yet: no other program has them any longer."""

    # The stream

    async def run(self) -> None:
        """Reads streams until it is stopped.

        Raises:
            ConfigError: the bridge says that it will never work.
        """
        try:
            while not self._stopping.is_set():
                self.counts.add("streams")
                await self._read()
                await is_set_within(self._stopping, self.transport.stream.pause_seconds)
            await self._take_held()
        except StoreError as error:
            _log.error("the inbox cannot be written: %s; %d envelopes are lost", error, len(self._held))

    def stop(self) -> None:
        """Ends the stream for good, in order: what the bridge has fetched is still taken, then `run` returns."""
        self._stopping.set()
        self.transport.stop_receiving()

    async def aclose(self) -> None:
        """Cancels pending read receipts and codes."""
        await self._aside.aclose()

    async def _read(self) -> None:
        """Reads one stream to its end, whatever ends it; what is in hand is stored before."""
        try:
            await self.door.learn_members()
            await self.admit()
            await self._take_held()
            await self.read_once()
            if not self._stopping.is_set():
                self._outage.tell("the stream of messages ended; opening it again")
        except Disconnected as error:
            self._outage.tell(f"the stream of messages broke: {error}")
        except StoreError as error:
            self._outage.tell(f"the inbox cannot be written: {error}; nothing is read until it can", logging.ERROR)
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug must not make Aldis deaf)
            _log.error("the stream of messages failed: %s", describe_error(error))
            self._held = []

    async def read_once(self) -> None:
        """Reads one stream to its end; what arrives within a moment is stored together, before anything else begins."""
        due_at = 0.0
        coming: asyncio.Future[Envelope | None] | None = None
        async with aclosing(self.transport.envelopes()) as stream:
            try:
                while True:
                    coming = coming or asyncio.ensure_future(anext(stream, None))
                    left = min(_QUIET_SHARE * self.burst_seconds, due_at - time.monotonic()) if self._held else None
                    await asyncio.wait([coming], timeout=left)
                    if (envelope := _taken(coming)) is not None:
                        due_at = due_at if self._held else time.monotonic() + self.burst_seconds
                        coming = None
                        self._held.append(envelope)
                        is_more_due = self.transport.stream.has_next or time.monotonic() < due_at
                        if is_more_due and len(self._held) < _MAX_TOGETHER:
                            continue
                    await self._take_held()
                    if coming is not None and coming.done() and coming.result() is None:
                        return
            finally:
                if coming is not None:
                    coming.cancel()
                    await asyncio.wait([coming])
                    if (envelope := _taken(coming)) is not None:
                        self._held.append(envelope)  # it came while the disk refused the rest

    async def _take_held(self) -> None:
        if self._held:
            await self.take(*self._held)
            self._outage.end()

    async def take(self, *envelopes: Envelope) -> None:
        """Stores the admissible ones in one commit; if one of them fails, the others are stored nevertheless.

        Raises:
            StoreError: they could not be written, and must be delivered again.
        """
        self._held = [*envelopes]
        for envelope in envelopes:
            self.counts.add(f"envelopes_{envelope.kind}")
        try:
            await self._take(*envelopes)
        except StoreError:
            raise
        except Exception:  # noqa: BLE001  (a bug must cost neither the others nor the stream)
            for number, envelope in enumerate(envelopes):
                self._held = [*envelopes[number:]]
                await self._take_alone(envelope)
        self._held = []

    async def _take_alone(self, envelope: Envelope) -> None:
        try:
            await self._take(envelope)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001  (see `take`)
            _log.error("an envelope failed and was skipped: %s", describe_error(error))

    async def _take(self, *envelopes: Envelope) -> None:
        entries = list[_Entry]()
        receipts = list[Confirmation]()
        now = self.clock.now()
        # If notes to self are answered, they are kept, and nothing else.
        gated = [one for one in envelopes if one.kind in _KEPT and one.from_self == self.door.access.note_to_self]
        known = dict(zip(map(id, gated), await self.door.recognize(*gated), strict=True))
        for envelope in envelopes:
            recognized, is_admitted = known.get(id(envelope), (None, False))
            if recognized is None:
                receipts += await self._sort(envelope)
            elif not is_admitted:
                self.door.turn_away(recognized)
                self._pass_over(recognized, "not_allowed")
            elif self.quota.admits(recognized, now):
                entries.append(_Entry(recognized, now))
            elif self._is_told(recognized, now, "too_many"):
                entries.append(_Entry(recognized, now, "too_many"))
        await self._write(entries, receipts)

    async def _sort(self, envelope: Envelope) -> Sequence[Confirmation]:
        """Handles an envelope that is not kept itself; returns what it proves."""
        if envelope.from_self:
            self._pass_over(envelope, "own")
            return await self._shown(envelope)
        if self.door.access.note_to_self:
            self._pass_over(envelope, "not_a_note" if envelope.kind in _KEPT else "other_kind")
        elif envelope.kind is Kind.RECEIPT:
            receipt = self.transport.event(envelope)
            return [self._confirmation(receipt, receipt.targets)] if isinstance(receipt, Receipt) else []
        elif envelope.kind is Kind.UNDECRYPTABLE:
            self.counts.note_unanswered("undecryptable")
            await self._suspect(envelope)
        else:
            self._pass_over(envelope, "other_kind")
        return []

    async def _shown(self, envelope: Envelope) -> Sequence[Confirmation]:
        """What the owner's phone showed in the account's own chat, which went out unless the owner wrote it."""
        receipt = self.transport.event(envelope)
        if not self.door.access.note_to_self or not isinstance(receipt, Receipt):
            return []
        author = receipt.author
        own = await self.store.conversation(ChatId.direct(author), now=self.clock.now())
        shown = await self.store.read(
            lambda repos: [at for at in receipt.targets if repos.inbox.find(own, author, at) is None]
        )
        return [self._confirmation(receipt, shown)]

    def _confirmation(self, receipt: Receipt, names: Collection[SentId]) -> Confirmation:
        """The confirmation that the author has received the messages with these names."""
        # Just after the clock was set a name may have been given before that or after.
        sure = () if self.clock.new_step() else names
        return Confirmation(address=ChatId.direct(receipt.author), names=sure, came_at=self.clock.now())

    async def _suspect(self, envelope: Envelope) -> None:
        """Reports a person who may write and has a new key."""
        event, author = self.transport.event(envelope), envelope.author
        if author is None or not isinstance(event, Undecryptable) or event.reason != _UNTRUSTED_IDENTITY:
            return
        [(_, is_allowed)] = await self.door.recognize(replace(envelope, chat=ChatId.direct(author)))
        if is_allowed:
            self._aside.begin(self._report_untrusted(envelope, author), "key-probe")

    async def _report_untrusted(self, envelope: Envelope, author: PersonId) -> None:
        """Reports a new key; signal-cli may learn it only by sending something to it, which does not arrive."""
        if isinstance(self.transport, Receipts):
            await self.transport.receipt(envelope)
        self.on_untrusted(author)

    async def admit(self, _person: PersonId | None = None) -> None:
        """Stores what people wrote while they waited who may write by now: an admin, or new settings, let them in."""
        now = self.clock.now()
        for envelope in await self.door.let_in(now):
            if envelope.account != self.transport.account or envelope.author is None:
                continue
            try:
                await self._take_alone(envelope)
            except StoreError as error:
                _log.error("a message that waited for its author to be let in cannot be stored yet: %s", error)
                self.door.pairing.hold(envelope.author, envelope, now)

    # The inbox

    async def _write(self, entries: Sequence[_Entry], receipts: Sequence[Confirmation] = ()) -> None:
        outcomes, count = await self._commit(entries, receipts) if entries or receipts else ([], 0)
        if count:
            self.counts.add("sends_proved", count)
            _log.debug("receipts proved %d sends whose outcome was not known yet", count)
        read: dict[PersonId | None, list[Envelope]] = {}
        refused: list[_Entry] = []
        for entry, (reason, answers_always) in zip(entries, outcomes, strict=True):
            envelope = entry.envelope
            if reason == "queue_full":
                refused += [replace(entry, refusal=reason)] * self._is_told(envelope, entry.received_at, reason)
            elif reason is not None:
                self.counts.note_unanswered(reason)
            elif entry.refusal is None and self._is_wanted(envelope, answers_always=answers_always):
                read.setdefault(envelope.author, []).append(envelope)
        if isinstance(self.transport, Receipts):
            for envelopes in read.values():
                self._aside.begin(self.transport.receipt(*envelopes), "read-receipt")
        if refused:  # last: meanwhile others may have been answered, and it may fail
            await self._write(refused)

    async def _commit(
        self, entries: Sequence[_Entry], receipts: Sequence[Confirmation]
    ) -> tuple[list[tuple[str | None, bool]], int]:
        """Commits these or nothing; returns what became of each entry, and how many sends were proved."""
        chats = {str(entry.envelope.chat) for entry in entries}

        def commit(repos: Repositories) -> tuple[list[tuple[str | None, bool]], int] | None:
            known = {chat: place for chat in chats if (place := repos.conversations.at(chat)) is not None}
            if len(known) < len(chats):
                return None
            outcomes = [self._put(repos, known[str(entry.envelope.chat)], entry) for entry in entries]
            return outcomes, repos.outbox.prove_all(receipts, now=self.clock.now())

        while (done := await self.store.transaction(commit)) is None:
            for chat in sorted(chats):  # some are new, or were forgotten a moment ago
                await self.store.conversation(chat, now=self.clock.now())
        return done

    def _put(self, repos: Repositories, conversation: ConversationId, entry: _Entry) -> tuple[str | None, bool]:
        """Stores one entry; returns why it was not stored, and whether its group wants everything answered."""
        envelope = entry.envelope
        if envelope.from_self and self._is_echo(repos, conversation, envelope, entry.received_at):
            return "echo", False
        # Each kind by itself: a flood of edits or deletions must not keep out the messages of others.
        waiting = repos.inbox.waiting(conversation, urgent=envelope.is_urgent)
        if entry.refusal is None and waiting >= self.quota.max_waiting(envelope):
            return "queue_full", False
        seconds = envelope.expires_in_seconds
        arrival = Arrival(
            conversation=conversation,
            account=envelope.account,
            author=envelope.author or "",
            device=envelope.device,
            sent_at=envelope.sent_at,
            kind=envelope.kind,
            envelope=dump_value(envelope),
            received_at=entry.received_at,
            urgent=envelope.is_urgent and entry.refusal is None,
            expires_at=entry.received_at + timedelta(seconds=seconds) if seconds > 0 else None,
            refusal=entry.refusal,
        )
        if repos.inbox.put(arrival) is None:
            return "duplicate", False
        if is_direct(envelope):
            return None, False
        return None, chat_settings.settings_of(repos, conversation, entry.received_at).answers_always

    def _is_echo(self, repos: Repositories, conversation: ConversationId, envelope: Envelope, now: datetime) -> bool:
        """Whether Aldis itself wrote it: recognised by its timestamp or, while that is unknown, by its words."""
        if repos.outbox.is_ours(conversation, envelope.sent_at):
            return True
        event = self.transport.event(envelope)
        message = event.message if isinstance(event, Edited) else event
        words = message.text.strip() if isinstance(message, Incoming) else None
        for item, stored in repos.outbox.doubtful(conversation):
            with suppress(UnreadableJson):
                outgoing = load_outgoing(stored)
                if isinstance(outgoing, Reply) and outgoing.content.text.strip() == words:
                    repos.outbox.recognize(item, envelope.sent_at, now=now)
                    return True
        return False

    def _is_told(self, envelope: Envelope, now: datetime, refusal: Refusal) -> bool:
        """Whether the sender of a refused message hears of it: the first of a minute that wants an answer."""
        if unanswered_message(self._routed(envelope)) is None or not self.quota.tells(envelope, now):
            self._pass_over(envelope, refusal)
            return False
        self.counts.note_unanswered(refusal)
        return True

    def _is_wanted(self, envelope: Envelope, *, answers_always: bool) -> bool:
        """Whether its author reads that it was read, as it will be answered; a question waits from now on."""
        found = self._routed(envelope, answers_always=answers_always)
        if isinstance(found, Question) and envelope.kind is Kind.MESSAGE and not envelope.is_urgent:
            self.on_question(found.message)
        return unanswered_message(found) is not None and not envelope.from_self

    def _routed(self, envelope: Envelope, *, answers_always: bool = False) -> Route:
        """Where it goes; nowhere if it cannot be read, which the worker reports."""
        try:
            return route(self.transport.event(envelope), name=self.door.name, answers_always=answers_always)
        except Exception as error:  # noqa: BLE001  (the others that came with it are confirmed)
            _log.error("a message cannot be read: %s", describe_error(error))
            return Ignore(reason="unreadable")

    def _pass_over(self, envelope: Envelope, reason: str) -> None:
        """Drops a message that is not admitted, and makes the bridge delete its files."""
        self.counts.note_unanswered(reason)
        for file in files_in(envelope.raw):
            self._aside.begin(self.transport.discard(file), "discard")


def _taken(coming: asyncio.Future[Envelope | None]) -> Envelope | None:
    """What has come; None if nothing has yet, or the stream has ended in whatever way."""
    is_there = coming.done() and not coming.cancelled() and coming.exception() is None
    return coming.result() if is_there else None
