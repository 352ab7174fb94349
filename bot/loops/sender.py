"""Sender: sends what is in the outbox, and tells *sent*, *not sent* and *unknown* apart.

    begin --> send, edit, remove
                   |-went out------------> sent
                   |-certainly did not---> again later, with growing pauses
                   |-without a timestamp-> sent, and never again; it cannot be edited
                   |-unknown-------------> unknown: a receipt proves it, or it is sent again after the grace period
                   |-not to this key-----> held with its conversation until a new safety number is trusted
                   |-not its files-------> the words alone, and a sentence that there should have been files
                   |-not its long text---> in several messages
                   '-never will----------> dead; the operator is told, and people once something reaches them. If its
                                           form was refused, it is tried once as plain text first

The attempt is on the disk before it is made. Sends of different conversations run side by side, up to a limit, those
of one conversation one after the other.
Left to others: what is said (`bot.chat`), the proof by receipts (`bot.loops.intake`, `store.attempts`).
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.chat.outgoing import add_message
from bot.clock import Clock, is_set_within
from bot.errors import NetworkFailed, NotSent, NotUploaded, SentUnnamed, TransportError, Undeliverable, Untrusted
from bot.event_json import UnreadableJson, dump_value, load_outgoing
from bot.events import ChatId, Outgoing, PersonId, Removal, Reply, SentId, Styled
from bot.formatting.split import is_long, split
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import Language, use_language
from bot.logs import RepeatedWarning, describe_error
from bot.metrics import Counts
from bot.signal.protocol import Receipts, Transport
from store import ConversationId, LedgerEntry, OutboxId, OutboxItem, Repositories, SentMessage, Store, StoreError

_log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 300.0
MAX_WAIT_SECONDS = 86_400.0
"""However long Signal wants us to wait, it is asked again once a day."""
MAX_RESENDS = 3
"""How often something that may have gone out is sent again."""
_MAX_OUTAGE_RESENDS = 960
"""The same while nothing goes out at all: a day with the usual grace period."""
_ABOUT_THE_MESSAGE = frozenset({"refused", "too_large"})
"""Reasons why one message does not go out although others may."""
_MAX_EDITS = 10
_EDITABLE = timedelta(days=1)
"""Source: MAX_EDIT_COUNT and the sending window of Signal-Android, MessageConstraintsUtil (2026)."""

_MAX_UPLOADS = 3
"""How often files may be refused temporarily before the words are sent without them."""
MAX_REMOVALS = 12
"""How often a removal is tried whose outcome stays unknown: for half an hour, while answers pass it."""
_PLAIN_FROM = 2
"""After how many tries with an unknown outcome everything but the words is left out."""
_MAX_PARTS = 5
"""How many messages a text is split into that cannot be sent as one."""
MAX_SENDING = 50
"""The limit of sends at once: enough that some that hang delay no one, and few enough for the bridge."""
_MAX_TRIES_KEPT = 1000
_STORE_PAUSE_SECONDS = 1.0
_MIN_WAIT_SECONDS = 0.05
_MAX_NAP_SECONDS = 5.0
"""The longest sleep while something waits, and so how far the store's record of listening for receipts can lag."""
_OUTCOMES: Mapping[type[TransportError], str] = {
    SentUnnamed: "sent",
    NotSent: "again_later",
    NotUploaded: "again_later",
    Untrusted: "held",
    Undeliverable: "undeliverable",
}
"""The metric's label for a failed send; all other errors have an unknown outcome."""

STATUS_GRACE = timedelta(seconds=10)
"""How long the answer waits for the receipt of a status in doubt in order to edit it. Phones that are on confirm within
a second or two; for all others the answer is a new message."""


Outcome = Callable[[Repositories], None]
"""Records what became of a send, within a transaction."""


class Outcomes:
    """`grace` is how long a send in doubt waits for its proof; after `max_resends` repetitions it is given up."""

    def __init__(
        self,
        clock: Clock,
        counts: Counts,
        *,
        grace: timedelta,
        max_resends: int,
        language: Callable[[Repositories, ConversationId], Language],
    ) -> None:
        self._clock = clock
        self._counts = counts
        self._grace = grace
        self._max_resends = max_resends
        self._language = language

    def finish(
        self, item: OutboxItem, outgoing: Outgoing, sent_at: SentId, edits: SentMessage | None, *, lost_files: bool
    ) -> Outcome:
        """It went out; `lost_files`: a notice says that there should have been files."""

        def record(repos: Repositories) -> None:
            self._keep_sent(repos, item, outgoing, sent_at, edits)
            self._tell_what_is_owed(repos, item, outgoing)
            if lost_files:
                self._say(repos, item, outgoing.chat, phrases.FILES_NOT_SENT)

        return record

    def _keep_sent(
        self, repos: Repositories, item: OutboxItem, outgoing: Outgoing, sent_at: SentId, edits: SentMessage | None
    ) -> None:
        """Records what went out, within a transaction; a status that must not stay beside it is removed next."""
        now, wall = self._clock.now(), self._clock.wall()
        targets = [sent_at] if repos.outbox.mark_sent(item.id, sent_at, now=now, edited=edits) else []
        if item.status is not None and edits is None and isinstance(outgoing, Reply):
            targets.append(SentId(item.status.sent_at))
        elif isinstance(outgoing, Reply) and outgoing.files and (old := editable(item, wall)) is not None:
            targets.append(SentId(old.sent_at))
        self._add(repos, item, *(Removal(chat=outgoing.chat, target=target) for target in targets))

    def split(self, item: OutboxItem, reply: Reply) -> Outcome:
        """Splits a text that cannot be sent as one message into several, in which people are named without mentions."""
        self._counts.add("texts_split")
        _log.warning("reply %d cannot be sent as one message; splitting it", item.id)
        now = self._clock.now()

        def record(repos: Repositories) -> None:
            cut_mark = self._in_words(repos, item, phrases.CUT_PARTS)
            first, *others = split(reply.content, max_parts=_MAX_PARTS, cut_mark=cut_mark)
            begun = replace(reply, content=first, mentions=(), last=not others)
            if not repos.outbox.rewrite(item.id, dump_value(begun), now=now):
                return
            for place, content in enumerate(others, 1):
                self._add(repos, item, replace(begun, content=content, quote=None, last=place == len(others)))
            original = load_outgoing(item.reply)
            if isinstance(original, Reply) and original.files:
                self._say(repos, item, reply.chat, phrases.FILES_NOT_SENT)

        return record

    def _say(
        self, repos: Repositories, item: OutboxItem, chat: ChatId, sentence: Sentence, *, notice_of: int | None = None
    ) -> None:
        """Adds a sentence after the words of the item's turn, within a transaction; `notice_of` as in `Reply`.

        It is a message of its own, because it might not fit into another.
        """
        content = Styled(text=self._in_words(repos, item, sentence))
        self._add(repos, item, Reply(chat=chat, content=content, ok=False, notice_of=notice_of))

    def _in_words(self, repos: Repositories, item: OutboxItem, sentence: Sentence) -> str:
        """The sentence in the language of the item's conversation; empty if that was forgotten."""
        conversation = repos.outbox.conversation_of(item.id)
        if conversation is None:
            return ""
        with use_language(self._language(repos, conversation)):
            return say(sentence)

    def _add(self, repos: Repositories, item: OutboxItem, *messages: Outgoing) -> None:
        """Puts messages behind those of the item's turn, unless its conversation was forgotten."""
        conversation = repos.outbox.conversation_of(item.id)
        if conversation is None:
            return
        for message in messages:
            add_message(repos, conversation, item.turn, message, self._clock.now())

    def postpone(self, item: OutboxItem, error: TransportError, *, is_in_doubt: bool = False) -> Outcome:
        """It did not go out, or can safely go out twice: it is tried again after a growing pause."""
        seconds = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(item.attempts, 10), MAX_PAUSE_SECONDS)
        seconds *= random.uniform(0.5, 1.0)  # noqa: S311  (it spreads load, it keeps no secret)
        seconds = min(max(seconds, error.retry_after_seconds or 0), MAX_WAIT_SECONDS)
        _log.warning("reply %d was not sent (%s); retrying in %.0f s", item.id, error, seconds)
        pause = timedelta(seconds=seconds)

        def record(repos: Repositories) -> None:
            now = self._clock.now()
            repos.outbox.postpone(item.id, due_at=now + pause, now=now, is_in_doubt=is_in_doubt)

        return record

    def hold(self, item: OutboxItem, error: Untrusted) -> Outcome:
        """It waits with its conversation until a new safety number is trusted."""
        self._counts.add("sends_held")
        _log.warning("reply %d is held: %s", item.id, error)

        def record(repos: Repositories) -> None:
            now = self._clock.now()
            repos.outbox.postpone(item.id, due_at=now, now=now)
            if (conversation := repos.outbox.conversation_of(item.id)) is not None:
                repos.holds.add(conversation, now=now)

        return record

    def give_up(self, item: OutboxItem, outgoing: Outgoing | None, words: str, reason: str) -> Outcome:
        """It will never go out; `outgoing` is its content, None if unreadable."""
        self._counts.add(f"undeliverable_{reason}")
        _log.error("reply %d is undeliverable: %s", item.id, words)
        now = self._clock.now()

        def record(repos: Repositories) -> None:
            self._tell_of_unsent(repos, item, outgoing, at_once=reason in _ABOUT_THE_MESSAGE)
            repos.outbox.give_up(item.id, now=now)

        return record

    def _tell_of_unsent(
        self, repos: Repositories, item: OutboxItem, outgoing: Outgoing | None, *, at_once: bool
    ) -> None:
        """Tells people, once per turn, that something may not have arrived: `at_once` if another message can reach
        them, otherwise once one did.
        """
        if item.is_status or isinstance(outgoing, Removal):
            return
        if outgoing is None or outgoing.notice_of is not None or not at_once:
            repos.outbox.owe_notice(item.id)
        elif repos.outbox.begin_notice(item.id, item.turn):
            self._say(repos, item, outgoing.chat, phrases.MESSAGE_NOT_SENT, notice_of=item.id)

    def _tell_what_is_owed(self, repos: Repositories, item: OutboxItem, outgoing: Outgoing) -> None:
        """Tells people about what did not arrive, now that something went out in the chat."""
        if item.is_status or isinstance(outgoing, Removal):
            return
        if repos.outbox.take_owed(item.id) and outgoing.notice_of is None:
            self._say(repos, item, outgoing.chat, phrases.MESSAGE_NOT_SENT, notice_of=item.id)

    def give_up_files(self, item: OutboxItem, reply: Reply) -> Outcome:
        """It has no words, and its files cannot be sent: people are told so."""
        now = self._clock.now()

        def record(repos: Repositories) -> None:
            self._say(repos, item, reply.chat, phrases.FILES_NOT_SENT)
            repos.outbox.give_up(item.id, now=now)

        return record

    def settle_unnamed(self, item: OutboxItem, error: SentUnnamed) -> Outcome:
        """It went out: it is never sent again, whether or not a receipt tells its timestamp."""
        _log.error("reply %d: %s; without a receipt it cannot be edited or removed", item.id, error)
        now = self._clock.now()
        return lambda repos: repos.outbox.give_up(item.id, now=now, doubted_until=now + self._grace)

    def mark_unknown(
        self, item: OutboxItem, outgoing: Outgoing, reason: str, *, outages: int, is_outage: bool = False
    ) -> Outcome:
        """It may have gone out; `outages` is how many of its tries failed while nothing went out at all."""
        self._counts.add("sends_unknown")
        is_over = item.doubts >= (_MAX_OUTAGE_RESENDS if is_outage else self._max_resends + outages)
        what_next = "giving up" if is_over else "waiting for a receipt"
        level = logging.ERROR if is_over else logging.WARNING
        _log.log(level, "reply %d: it is unknown whether it went out (%s); %s", item.id, reason, what_next)
        grace = min(self._grace, STATUS_GRACE) if item.is_status else self._grace

        def record(repos: Repositories) -> None:
            # Own time is read within the transaction, because a step of the clock may start to count beside it.
            now = self._clock.now()
            if is_over:
                self._tell_of_unsent(repos, item, outgoing, at_once=False)
                repos.outbox.give_up(item.id, now=now, doubted_until=now + self._grace)
            else:
                repos.outbox.mark_unknown(item.id, due_at=now + grace, open_until=now + self._grace)

        return record


def editable(item: OutboxItem, wall: datetime) -> SentMessage | None:
    """The message to edit; None if there is none, or Signal's apps would no longer show the edit."""
    old = item.edits
    if old is None or old.revision >= _MAX_EDITS:
        return None
    age = wall - datetime.fromtimestamp(old.original_at / 1000, UTC)
    return old if age < _EDITABLE else None


@dataclass(slots=True)
class Tries:
    """The tries of an unsettled item in this run."""

    gone_out_before: int
    """How many messages this run had sent when its last try failed, or its first began."""
    refused_uploads: int = 0
    """How often its files were refused temporarily."""
    outages: int = 0
    """How many tries failed while nothing else went out either: they say nothing about it."""


def _plain(reply: Reply) -> Reply:
    """The words alone, or the files if there are no words, because a bridge may refuse everything around them."""
    files = () if reply.content.text else reply.files
    return replace(reply, content=Styled(text=reply.content.text), quote=None, mentions=(), files=files)


class Sender:
    """The loop of departures. `language` tells what Aldis speaks in a conversation, for its own few sentences."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        *,
        grace_seconds: float,
        max_resends: int = MAX_RESENDS,
        language: Callable[[Repositories, ConversationId], Language] = lambda _repos, _conversation: "en",
        on_untrusted: Callable[[PersonId], None] = lambda _: None,
    ) -> None:
        """`grace_seconds` is how long an unknown send waits for its proof; without one it is sent again, up to
        `max_resends` times. `on_untrusted` is called with a person whom a group message missed because of their
        safety number.
        """
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._grace = timedelta(seconds=grace_seconds if isinstance(transport, Receipts) else 0)
        self._on_untrusted = on_untrusted
        self._sending: set[asyncio.Task[None]] = set()
        self._tries: dict[OutboxId, Tries] = {}
        """For the newest items that did not go out."""
        self._gone_out = 0
        """How many messages went out in this run."""
        self._outcomes = Outcomes(clock, counts, grace=self._grace, max_resends=max_resends, language=language)
        self._is_closing = False
        # A full disk fails each try, and logs are often on it.
        self._unread, self._unwritten = RepeatedWarning(_log), RepeatedWarning(_log)

    async def recover(self) -> None:
        """Runs at start: marks sends interrupted by a crash as unknown."""
        now, grace = self._clock.now(), self._grace
        count = await self._store.transaction(
            lambda repos: repos.outbox.mark_all_unknown(now=now, grace=grace, status_grace=STATUS_GRACE)
        )
        if count:
            self._counts.add("sends_unknown", count)
            _log.warning("%d sends were interrupted; waiting for receipts that prove they went out", count)

    async def run(self) -> None:
        """Sends until `drain` is called and nothing is due, or the task is cancelled."""
        wakeup = self._store.wakeups["outbox"]
        async with asyncio.TaskGroup() as group:
            while True:
                wakeup.clear()
                try:
                    seconds = await self._begin_all(group)
                except StoreError as error:
                    self._unread.tell(f"the outbox cannot be read: {error}", logging.ERROR)
                    seconds = _STORE_PAUSE_SECONDS
                if self._is_closing and not self._sending:
                    return
                await is_set_within(wakeup, seconds)

    def drain(self) -> None:
        """Sends what is due now, after which `run` returns. What is due later is sent after the next start."""
        self._is_closing = True
        self._store.wakeups["outbox"].set()

    async def _begin_all(self, group: asyncio.TaskGroup) -> float | None:
        """Begins what is due; returns the seconds until something will be, or None."""
        if len(self._sending) >= MAX_SENDING:
            return None
        items, seconds = await self._store.transaction(self._begun)
        for item in items:
            task = group.create_task(self._deliver(item), name=f"send-{item.id}")
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return seconds

    def _begun(self, repos: Repositories) -> tuple[tuple[OutboxItem, ...], float | None]:
        """Begins what is to be sent now, within a transaction; the ledger notes a repetition.

        Also returns the seconds until something is due; None if nothing waits for a time.
        """
        now = self._clock.now()
        self._remove_copies(repos, now)
        if not repos.outbox.has_open():
            return (), None
        # While the stream is closed no receipt can arrive, so that time does not count.
        unheard = self._grace if self._grace and not self._transport.stream.is_open else None
        room = MAX_SENDING - len(self._sending)
        items = repos.outbox.begin(now=now, limit=room, stamped_at=self._clock.wall(), unheard=unheard)
        for item in items:
            if item.is_status or (item.attempts and item.edits is None):
                self._keep_removal(repos, item)
            if item.was_unknown:
                resent = LedgerEntry(kind="send", name="message", outcome="resent", latency_seconds=0)
                repos.ledger.add(item.conversation, item.turn, None, (resent,), now=now)
        due_at = repos.outbox.next_due_at()
        if due_at is None:
            return items, None
        return items, min(max(_MIN_WAIT_SECONDS, (due_at - now).total_seconds()), _MAX_NAP_SECONDS)

    def _keep_removal(self, repos: Repositories, item: OutboxItem) -> None:
        """Stores the removal for the case that the item turns out to be a duplicate; its words may be gone by then."""
        with suppress(UnreadableJson):
            if isinstance(outgoing := load_outgoing(item.reply), Reply):
                removal = Removal(chat=outgoing.chat, target=SentId(0))
                repos.copies.keep_removal(item.id, dump_value(removal))

    def _remove_copies(self, repos: Repositories, now: datetime) -> None:
        """Removes messages that have turned out to be in their chat twice."""
        for copy in repos.copies.take():
            removal = Removal(chat=load_outgoing(copy.removal).chat, target=SentId(copy.name))
            add_message(repos, copy.conversation, copy.turn, removal, now)
            self._counts.add("copies_removed")

    async def _deliver(self, item: OutboxItem) -> None:
        """Makes one send, records its outcome, and begins what that unblocks."""
        outcome = await self._attempt(item)

        def record(repos: Repositories) -> None:
            outcome(repos)
            if repos.outbox.has_open():
                repos.outbox.notify("outbox")  # for what it unblocks

        await self._recorded(record)
        was_full = len(self._sending) >= MAX_SENDING
        self._sending -= {asyncio.current_task()}
        if self._is_closing or was_full:
            self._store.wakeups["outbox"].set()

    async def _recorded(self, work: Outcome) -> None:
        """Records it, however long that takes: an unrecorded send would count as unknown."""
        while True:
            try:
                return await self._store.transaction(work)
            except StoreError as error:
                self._unwritten.tell(f"the outcome of a send cannot be written: {error}", logging.ERROR)
                await asyncio.sleep(_STORE_PAUSE_SECONDS)

    async def _attempt(self, item: OutboxItem) -> Outcome:
        """Sends an item; returns what must be recorded."""
        try:
            outgoing = load_outgoing(item.reply)
        except UnreadableJson as error:
            return self._outcomes.give_up(item, None, str(error), "unreadable")
        tries = self._tries[item.id] = self._tries.pop(item.id, None) or Tries(self._gone_out)
        if len(self._tries) > _MAX_TRIES_KEPT:
            del self._tries[next(iter(self._tries))]
        outcome = await self._tried(item, outgoing, tries)
        # Whom a send to a group has missed is only counted: the others would read it twice.
        while isinstance(self._transport, Receipts) and self._transport.missed:
            missed = self._transport.missed.popleft()
            self._counts.add(f"missed_{missed.reason}")
            if missed.reason == "untrusted" and missed.person is not None:
                self._on_untrusted(missed.person)
        return outcome

    async def _tried(self, item: OutboxItem, outgoing: Outgoing, tries: Tries, *, lost_files: bool = False) -> Outcome:
        """Tries to send it; `lost_files`: once it goes out, a notice says that there should have been files."""
        if isinstance(outgoing, Reply) and item.doubts - tries.outages >= _PLAIN_FROM:
            outgoing, lost_files = _plain(outgoing), lost_files or bool(outgoing.files and outgoing.content.text)
        edits = editable(item, self._clock.wall()) if isinstance(outgoing, Reply) and not outgoing.files else None
        try:
            sent_at, edits = await self._timed(outgoing, edits)
        except SentUnnamed as error:
            return self._outcomes.settle_unnamed(item, error)
        except TransportError as error:
            return await self._failed(item, outgoing, error, tries)
        except Exception as error:  # noqa: BLE001  (a bug in one send must not end the others; it may have gone out)
            return self._outcomes.mark_unknown(item, outgoing, describe_error(error), outages=tries.outages)
        self._counts.add("replies_sent")
        self._gone_out += 1
        self._tries.pop(item.id, None)
        return self._outcomes.finish(item, outgoing, sent_at, edits, lost_files=lost_files)

    async def _timed(self, outgoing: Outgoing, edits: SentMessage | None) -> tuple[SentId, SentMessage | None]:
        """Does the same as `_sent_at`, and records the duration under its outcome."""
        began, outcome = time.monotonic(), "unknown"
        try:
            sent = await self._sent_at(outgoing, edits)
            outcome = "sent"
        except TransportError as error:
            outcome = next((word for kind, word in _OUTCOMES.items() if isinstance(error, kind)), outcome)
            raise
        finally:
            self._counts.observe("send_seconds", time.monotonic() - began, outcome=outcome)
        return sent

    async def _sent_at(self, outgoing: Outgoing, edits: SentMessage | None) -> tuple[SentId, SentMessage | None]:
        """Sends, and returns Signal's timestamp for it; a removal has one, too, which phones confirm like any other.

        Also returns what was edited in the end, which is None for a new message, even if one replaces a refused edit.
        """
        if not isinstance(outgoing, Reply):
            return await self._transport.remove(outgoing), None
        if edits is not None:
            try:
                return await self._transport.send(replace(outgoing, edits=SentId(edits.sent_at))), edits
            except Undeliverable as error:
                if error.reason != "refused":
                    raise
                _log.warning("an edit was refused (%s); sending it as a new message", error)
        try:
            return await self._transport.send(outgoing), None
        except Undeliverable as error:
            plain = replace(_plain(outgoing), files=outgoing.files)
            if error.reason != "refused" or plain == outgoing:
                raise
            _log.warning("a message was refused (%s); sending it without quote, mentions and styles", error)
            return await self._transport.send(plain), None

    async def _failed(self, item: OutboxItem, outgoing: Outgoing, error: TransportError, tries: Tries) -> Outcome:
        """Returns what a failed send means for the item."""
        match error:
            case NotUploaded():
                return await self._without_files(item, outgoing, error, tries)
            case Undeliverable():
                return self._outcomes.give_up(item, outgoing, str(error), error.reason)
            case Untrusted():
                return self._outcomes.hold(item, error)
            case NotSent():
                return self._outcomes.postpone(item, error)
            case _ if isinstance(outgoing, Removal):  # doing it twice is the same as doing it once
                return self._unremoved(item, outgoing, error)
            case _:
                # Where nothing else has gone out since its last try either, its failure says nothing about it.
                is_outage = isinstance(error, NetworkFailed) and tries.gone_out_before == self._gone_out
                tries.gone_out_before = self._gone_out
                tries.outages += is_outage
                return self._outcomes.mark_unknown(
                    item, outgoing, str(error), outages=tries.outages, is_outage=is_outage
                )

    def _unremoved(self, item: OutboxItem, outgoing: Removal, error: TransportError) -> Outcome:
        if item.doubts >= MAX_REMOVALS - 1:
            return self._outcomes.give_up(item, outgoing, str(error), "refused")
        return self._outcomes.postpone(item, error, is_in_doubt=True)

    async def _without_files(self, item: OutboxItem, outgoing: Outgoing, error: NotUploaded, tries: Tries) -> Outcome:
        """Sends the words alone, at once or after some tries; a long text in parts. Nothing went out so far."""
        if not isinstance(outgoing, Reply) or not (outgoing.files or is_long(outgoing.content)):
            if error.is_final:
                return self._outcomes.give_up(item, outgoing, str(error), "too_large")
            return self._outcomes.postpone(item, error)
        tries.refused_uploads += 1
        if not error.is_final and tries.refused_uploads < _MAX_UPLOADS:
            return self._outcomes.postpone(item, error)
        if not outgoing.files:
            return self._outcomes.split(item, outgoing)
        self._counts.add("files_refused")
        _log.error("the files of reply %d cannot be sent: %s", item.id, error)
        if outgoing.content.text:
            words = replace(outgoing, files=(), is_voice_note=False)
            return await self._tried(item, words, tries, lost_files=True)
        return self._outcomes.give_up_files(item, outgoing)
