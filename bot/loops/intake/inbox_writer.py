"""Writes admitted messages into the inbox, in one commit with what receipts prove, and acts on the result.

    keep --too much------> the first of a minute is stored, to be refused with a sentence; the others are dropped
      '--else--> batch --write--> committed; then the read receipt: "read" means "will be answered"

Left to others: who may write (`recognition`), what is too much (`bot.access.limits`).
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.access.access import is_direct
from bot.access.limits import Quota, Refusal
from bot.access.routing import route, unanswered_message
from bot.chat import chats
from bot.clock import Clock
from bot.event_json import UnreadableEvent, dump_value, load_outgoing
from bot.events import Attachment, Edited, Envelope, Event, Incoming, Kind, PersonId, Reply
from bot.logs import describe_error
from bot.loops.intake.aside import Aside
from bot.metrics import Counts
from bot.signal.files import files_in
from bot.signal.protocol import Transport
from bot.unanswered import Unanswered
from store import Arrival, Confirmation, ConversationId, OutboxId, Repositories, Store, StoreError

_log = logging.getLogger(__name__)


_UNKNOWN = "other_kind"
"""The reason for an edit of a message that is not known here: nobody can tell what it was about. signal-cli hands on
those of anybody who has a group's link, so they must not take anything from its members."""

_MAX_TRIES = 5
"""The limit of attempts to store something while its conversation is being forgotten."""


class _Unborn(Exception):
    """A conversation is new, or was forgotten a moment ago."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    """Something to be stored."""

    envelope: Envelope
    received_at: datetime
    refusal: Refusal | None = None
    max_waiting: int | None = None
    """How many messages may wait in its conversation before it; None: no limit."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything to be stored in one commit."""

    entries: list[_Entry] = field(default_factory=list[_Entry])
    receipts: list[Confirmation] = field(default_factory=list[Confirmation])


class InboxWriter:
    """Stores admitted messages. `quota` None: nothing is too much. `name` is what people call Aldis in groups."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        aside: Aside,
        unanswered: Unanswered,
        *,
        quota: Quota | None,
        name: str,
    ) -> None:
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._aside = aside
        self._quota = quota
        self._name = name
        self._unanswered = unanswered

    async def keep(self, envelope: Envelope, batch: Batch) -> None:
        """Adds a message to the batch if there is room for it, to be answered or refused."""
        now = self._clock.now()
        quota = self._quota
        if quota is not None and not quota.has_room(envelope, now, beside=len(batch.entries)):
            # Only what is stored counts, so store the batch before deciding whether this is one too many.
            await self.write(batch)
            if not quota.has_room(envelope, now):
                await self._refuse(envelope, now, quota, "too_many")
                return
        max_waiting = quota.max_waiting(envelope) if quota else None
        batch.entries.append(_Entry(envelope=envelope, received_at=now, max_waiting=max_waiting))

    async def write(self, batch: Batch) -> None:
        """Commits a batch, entries in their order, acts on the result, and empties the batch."""
        receipts = await self._provable(batch.receipts)
        outcomes, count = [], 0
        if batch.entries or receipts:
            outcomes, count = await self._kept(batch, receipts)
        if count:
            self._counts.add("sends_proved", count)
            _log.debug("receipts proved %d sends whose outcome was not known yet", count)
        written = [*batch.entries]
        batch.entries.clear()
        batch.receipts.clear()
        quota = self._quota
        read: dict[PersonId | None, list[Envelope]] = {}
        for entry, (reason, answers_always) in zip(written, outcomes, strict=True):
            now = entry.received_at
            if reason == "queue_full" and quota is not None:
                await self._refuse(entry.envelope, now, quota, "queue_full")
            elif reason is not None:
                self._unanswered.note(reason)
            elif self._is_confirmed(entry, answers_always=answers_always):
                read.setdefault(entry.envelope.author, []).append(entry.envelope)
            if quota is not None and reason not in {"queue_full", _UNKNOWN} and entry.refusal is None:
                quota.count(entry.envelope, now)
        for envelopes in read.values():
            self._aside.begin(self._transport.receipt(*envelopes), "read-receipt")

    async def _kept(self, batch: Batch, receipts: list[Confirmation]) -> tuple[list[tuple[str | None, bool]], int]:
        """Commits a batch; returns what became of each entry, and how many sends were proved.

        Raises:
            StoreError: nothing was written.
        """
        for _ in range(_MAX_TRIES):
            now = self._clock.now()
            with suppress(_Unborn):
                return await self._store.transaction(
                    lambda repos, now=now: (
                        [self._put(repos, entry) for entry in batch.entries],
                        repos.attempts.prove_all(receipts, now=now),
                    )
                )
            chats = {str(entry.envelope.chat) for entry in batch.entries}
            await asyncio.gather(*(self._store.conversation(chat, now=now) for chat in sorted(chats)))
        raise StoreError("a conversation is forgotten again and again")

    def _put(self, repos: Repositories, entry: _Entry) -> tuple[str | None, bool]:
        """Stores one entry; returns why it was not stored, and whether its group wants everything answered.

        Raises:
            _Unborn: its conversation must be created again first.
        """
        envelope = entry.envelope
        conversation = repos.conversations.at(str(envelope.chat))
        if conversation is None:
            raise _Unborn
        arrival = self._arrival(entry, conversation)
        if envelope.from_self and self._is_echo(repos, arrival, envelope):
            return "echo", False
        if envelope.kind is Kind.EDIT and not self._is_known(repos, arrival, envelope):
            return _UNKNOWN, False
        # Each kind by itself: a flood of edits or deletions must not keep out the messages of others.
        waiting = repos.inbox.waiting(arrival.conversation, urgent=envelope.is_urgent)
        if entry.max_waiting is not None and waiting >= entry.max_waiting:
            return "queue_full", False
        if repos.inbox.put(arrival) is None:
            return "duplicate", False
        if is_direct(envelope):
            return None, False
        return None, chats.settings_of(repos, arrival.conversation, arrival.received_at).answers_always

    def _is_confirmed(self, entry: _Entry, *, answers_always: bool) -> bool:
        """Whether its author expects a read receipt, now that it is stored."""
        if entry.refusal is not None or entry.envelope.from_self:
            return False
        try:
            return self._is_for_us(entry.envelope, answers_always=answers_always)
        except Exception as error:  # noqa: BLE001  (the worker will report the failure; the others are confirmed)
            _log.error("a stored message cannot be read: %s", describe_error(error))
            return False

    def _is_known(self, repos: Repositories, arrival: Arrival, envelope: Envelope) -> bool:
        """Whether an edit changes a message of its author that came earlier."""
        event = self._transport.event(envelope)
        return (
            isinstance(event, Edited)
            and repos.revisions.find(arrival.conversation, arrival.author, event.target) is not None
        )

    def _is_echo(self, repos: Repositories, arrival: Arrival, envelope: Envelope) -> bool:
        """Whether Aldis itself wrote it: recognised by its timestamp or, while that is unknown, by its words.

        The sender records what it sends before it does so, so nothing of ours comes back unknown.
        """
        if repos.attempts.is_ours(arrival.conversation, envelope.sent_at):
            return True
        item = _underway(self._transport.event(envelope), repos.outbox.doubtful(arrival.conversation))
        if item is None:
            return False
        repos.attempts.recognize(item, envelope.sent_at, now=arrival.received_at)
        return True

    async def _refuse(self, envelope: Envelope, now: datetime, quota: Quota, refusal: Refusal) -> None:
        """Stores the first refused message of a minute if somebody awaits an answer; drops the others."""
        self._unanswered.note(refusal)
        if quota.may_tell(envelope, now) and self._is_for_us(envelope):
            await self.write(Batch([_Entry(envelope=envelope, received_at=now, refusal=refusal)]))
            quota.on_refusal(envelope, now)
        else:
            self._leave(envelope)

    def _arrival(self, entry: _Entry, conversation: ConversationId) -> Arrival:
        envelope = entry.envelope
        assert envelope.author is not None  # noqa: S101  (may_write saw to it)
        seconds = envelope.expires_in_seconds
        return Arrival(
            conversation=conversation,
            account=envelope.account,
            author=envelope.author,
            device=envelope.device,
            sent_at=envelope.sent_at,
            kind=envelope.kind,
            envelope=dump_value(self._with_wait(envelope)),
            received_at=entry.received_at,
            urgent=envelope.is_urgent and entry.refusal is None,
            expires_at=entry.received_at + timedelta(seconds=seconds) if seconds > 0 else None,
            refusal=entry.refusal,
        )

    def _with_wait(self, envelope: Envelope) -> Envelope:
        """The envelope with its waiting time, computed from two clocks if the bridge did not tell it."""
        if envelope.waited_ms is not None or envelope.server_at is None:
            return envelope
        wall_ms = int(self._clock.wall().timestamp() * 1000)
        return replace(envelope, waited_ms=max(0, wall_ms - envelope.server_at))

    def _is_for_us(self, envelope: Envelope, *, answers_always: bool = False) -> bool:
        """Whether somebody awaits an answer to it."""
        event = self._transport.event(envelope)
        return unanswered_message(route(event, name=self._name, answers_always=answers_always)) is not None

    def pass_over(self, envelope: Envelope, reason: str) -> None:
        """Drops a message that is not admitted."""
        self._unanswered.note(reason)
        self._leave(envelope)

    def _leave(self, envelope: Envelope) -> None:
        """Makes the bridge delete the files it fetched for something that is not admitted."""
        if files := files_in(envelope.raw):
            self._aside.begin(self._discard(files), "discard")

    async def _discard(self, files: tuple[Attachment, ...]) -> None:
        for file in files:
            await self._transport.discard(file)

    async def _provable(self, receipts: list[Confirmation]) -> list[Confirmation]:
        """The receipts that can prove something; the others should not cost a commit."""
        if not receipts:
            return []
        now = self._clock.now()
        return await self._store.read(lambda repos: repos.attempts.provable(receipts, now=now))


def _underway(event: Event | None, doubtful: Iterable[tuple[OutboxId, bytes]]) -> OutboxId | None:
    """Returns the message in doubt that has the same words as the event; None if there is none."""
    message = event.message if isinstance(event, Edited) else event
    words = message.text.strip() if isinstance(message, Incoming) else None
    return next((item for item, stored in doubtful if words is not None and _words(stored) == words), None)


def _words(stored: bytes) -> str | None:
    """The words of a message in the outbox; None if it has none or cannot be read."""
    try:
        outgoing = load_outgoing(stored)
    except UnreadableEvent:
        return None
    return outgoing.content.text.strip() if isinstance(outgoing, Reply) else None
