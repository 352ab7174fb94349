"""Sender: sends what is in the outbox, and tells *sent*, *not sent* and *unknown* apart.

    begin --> send, edit, remove
                   |-went out------------> sent
                   |-certainly did not---> again later, with growing pauses
                   |-unknown-------------> unknown: a receipt proves it, or it is sent again after the grace period
                   |-not to this key-----> held with its conversation until a new safety number is trusted
                   |-not its files-------> the words alone, and behind them that there should have been files
                   |-not its long text---> in several messages
                   '-never will----------> dead; the operator reads it, and people once something reaches them. If its
                                           form was refused, it is tried once as plain text first

The attempt is on the disk before it is made. Sends of different conversations run side by side, up to a limit, those
of one conversation one after the other.
Left to others: what is said (`bot.chat`), the proof by receipts (`bot.loops.intake`, `store.attempts`).
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.chat.outgoing import add_message
from bot.clock import is_set_within
from bot.errors import NetworkFailed, NotSent, NotUploaded, SendUnknown, TransportError, Undeliverable, Untrusted
from bot.events import (
    ChatId,
    Outgoing,
    PersonId,
    Removal,
    Reply,
    SentId,
    Styled,
    UnreadableJson,
    dump_value,
    load_outgoing,
)
from bot.formatting.split import is_long, split
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import Language, use_language
from bot.logs import RepeatedWarning, describe_error
from bot.signal.protocol import Outside, Receipts
from store import ConversationId, LedgerEntry, OutboxItem, Repositories, SentMessage, StoreError

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
"""How many tries a message gets whose files are refused temporarily, before its words are sent without them."""
MAX_REMOVALS = 12
"""How often a removal is tried whose outcome stays unknown: for half an hour, while answers pass it."""
_MAX_PARTS = 5
"""How many messages a text is split into that cannot be sent as one."""
MAX_SENDING = 50
"""The limit of sends at once: enough that some that hang delay no one, and few enough for the bridge."""
_STORE_PAUSE_SECONDS = 1.0
_MIN_WAIT_SECONDS = 0.05
_MAX_NAP_SECONDS = 5.0
"""The longest sleep while something waits, so that sends in doubt are put off while no receipt can come."""
STATUS_GRACE = timedelta(seconds=10)
"""How long the answer waits for the receipt of a status in doubt in order to edit it. Phones that are on confirm within
a second or two; for all others the answer is a new message."""

Outcome = Callable[[Repositories], None]
"""Records what became of a send, within a transaction."""


@dataclass
class Sender(Outside):
    """The loop of departures."""

    _: KW_ONLY
    grace_seconds: float
    """How long an unknown send waits for its proof; without one it is sent again, a few times."""
    language: Callable[[Repositories, ConversationId], Language] = lambda _repos, _conversation: "en"
    """What Aldis speaks in a conversation, for its own few sentences."""
    on_untrusted: Callable[[PersonId], None] = lambda _: None
    """Called with a person whom a group message missed because of their safety number."""

    def __post_init__(self) -> None:
        self._grace = timedelta(seconds=self.grace_seconds if isinstance(self.transport, Receipts) else 0)
        self._sending: set[asyncio.Task[None]] = set()
        self._is_outage = False
        """Whether Signal could not be reached, and nothing went out since: a failure then says nothing of a message."""
        self._is_closing = False
        # A full disk fails each try, and logs are often on it.
        self._unread, self._unwritten = RepeatedWarning(_log), RepeatedWarning(_log)

    async def recover(self) -> None:
        """Runs at start: marks sends interrupted by a crash as unknown."""
        now, grace = self.clock.now(), self._grace
        count = await self.store.transaction(
            lambda repos: repos.outbox.mark_all_unknown(now=now, grace=grace, status_grace=STATUS_GRACE)
        )
        if count:
            self.counts.add("sends_unknown", count)
            _log.warning("%d sends were interrupted; waiting for receipts that prove they went out", count)

    async def run(self) -> None:
        """Sends until `drain` is called and nothing is due, or the task is cancelled."""
        wakeup = self.store.wakeups["outbox"]
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
        self.store.wakeups["outbox"].set()

    # What is due

    async def _begin_all(self, group: asyncio.TaskGroup) -> float | None:
        """Begins what is due, if there is room; returns when to look again, as `_begin`."""
        if len(self._sending) >= MAX_SENDING:
            return None
        items, seconds = await self.store.transaction(self._begin)
        for item in items:
            task = group.create_task(self._deliver(item), name=f"send-{item.id}")
            self._sending.add(task)
            task.add_done_callback(self._ended)
        return seconds

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._is_closing or len(self._sending) >= MAX_SENDING:
            self.store.wakeups["outbox"].set()
        self._sending.discard(task)

    def _begin(self, repos: Repositories) -> tuple[tuple[OutboxItem, ...], float | None]:
        """Begins what is due, within a transaction; also returns the seconds until something else is, or None."""
        now = self.clock.now()
        # While the stream is closed no receipt can arrive.
        unheard = self._grace if self._grace and not self.transport.stream.is_open else None
        items = repos.outbox.begin(now=now, limit=MAX_SENDING - len(self._sending), unheard=unheard)
        for item in items:
            if item.was_unknown:
                resent = LedgerEntry(kind="send", name="message", outcome="resent")
                repos.ledger.add(item.conversation, item.turn, None, (resent,), now=now)
        due_at = repos.outbox.next_due_at()
        if due_at is None:
            return items, None
        return items, min(max(_MIN_WAIT_SECONDS, (due_at - now).total_seconds()), _MAX_NAP_SECONDS)

    # One send

    async def _deliver(self, item: OutboxItem) -> None:
        """Makes one send, records its outcome however long that takes, and begins what that unblocks."""
        outcome = await self._attempt(item)

        def record(repos: Repositories) -> None:
            outcome(repos)
            if repos.outbox.next_due_at() is not None:
                repos.outbox.notify("outbox")  # for what it unblocks

        while True:  # an unrecorded send would count as unknown
            try:
                await self.store.transaction(record)
                break
            except StoreError as error:
                self._unwritten.tell(f"the outcome of a send cannot be written: {error}", logging.ERROR)
                await asyncio.sleep(_STORE_PAUSE_SECONDS)

    async def _attempt(self, item: OutboxItem) -> Outcome:
        try:
            outgoing = load_outgoing(item.reply)
        except UnreadableJson as error:
            return self._give_up(item, None, str(error), "unreadable")
        began = time.monotonic()
        try:
            sent_at, edited = await self._send(item, outgoing)
            self.counts.observe("send", time.monotonic() - began)
            outcome = self._mark_sent(item, outgoing, sent_at, edited)
        except TransportError as error:
            outcome = self._on_failure(item, outgoing, error)
        except Exception as error:  # noqa: BLE001  (a bug in one send must not end the others; it may have gone out)
            outcome = self._on_failure(item, outgoing, SendUnknown(describe_error(error)))
        # To people whom it has missed in a group it is not sent again: the others would read it twice.
        while isinstance(self.transport, Receipts) and self.transport.missed:
            self.on_untrusted(self.transport.missed.popleft())
        return outcome

    async def _send(self, item: OutboxItem, outgoing: Outgoing) -> tuple[SentId, SentMessage | None]:
        """Sends, and returns Signal's timestamp for it, which a removal has, too, and what was edited in the end.

        An edit that is refused is sent as a new message, and one that is refused without what stands around its words.
        """
        if not isinstance(outgoing, Reply):
            return await self.transport.remove(outgoing), None
        edits = None if outgoing.files else editable(item, self.clock.now())
        plain = replace(outgoing, content=Styled(text=outgoing.content.text), quote=None, mentions=())
        forms: list[tuple[Reply, SentMessage | None]] = [(outgoing, None)]
        if edits is not None:
            forms.insert(0, (replace(outgoing, edits=SentId(edits.sent_at)), edits))
        if plain != outgoing:
            forms.append((plain, None))
        while True:
            form, edited = forms.pop(0)
            try:
                return await self.transport.send(form), edited
            except Undeliverable as error:
                if error.reason != "refused" or not forms:
                    raise
                _log.warning("reply %d was refused (%s); sending it in a plainer form", item.id, error)

    def _on_failure(self, item: OutboxItem, outgoing: Outgoing, error: TransportError) -> Outcome:
        reply = outgoing if isinstance(outgoing, Reply) else None
        if reply is not None and isinstance(error, NotUploaded) and (reply.files or is_long(reply.content)):
            return self._without_files(item, reply, error)
        if isinstance(error, Undeliverable) or (isinstance(error, NotUploaded) and error.is_final):
            reason = error.reason if isinstance(error, Undeliverable) else "too_large"
            return self._give_up(item, outgoing, str(error), reason)
        if isinstance(error, Untrusted):
            return self._hold(item, error)
        is_in_doubt = not isinstance(error, NotUploaded | NotSent)
        if is_in_doubt and reply is not None:
            return self._mark_unknown(item, reply, str(error), is_network=isinstance(error, NetworkFailed))
        if is_in_doubt and item.doubts >= MAX_REMOVALS - 1:
            return self._give_up(item, outgoing, str(error), "refused")
        return self._postpone(item, error, is_in_doubt=is_in_doubt)  # removing it twice is the same as once

    def _without_files(self, item: OutboxItem, reply: Reply, error: NotUploaded) -> Outcome:
        """Leaves the words alone, at once or after some tries; of a long text its parts, which mention no one."""
        if not error.is_final and item.attempts + 1 < _MAX_UPLOADS:
            return self._postpone(item, error)
        _log.error("the files or the long text of reply %d cannot be sent: %s", item.id, error)
        self.counts.add("files_refused")

        def record(repos: Repositories) -> None:
            first = replace(reply, files=(), is_voice_note=False)
            others: list[Reply] = []
            if not reply.files:
                cut_mark = self._in_words(repos, item, phrases.CUT_PARTS)
                parts = split(reply.content, max_parts=_MAX_PARTS, cut_mark=cut_mark)
                first, *others = [replace(first, content=one, mentions=(), last=one is parts[-1]) for one in parts]
            if not first.content.text:
                repos.outbox.give_up(item.id, now=self.clock.now())
            elif not repos.outbox.rewrite(item.id, dump_value(first), now=self.clock.now()):
                return  # it was taken back
            self._add(repos, item, *(replace(one, quote=None) for one in others))
            if reply.files:
                self._say(repos, item, reply.chat, phrases.FILES_NOT_SENT)

        return record

    # What became of it

    def _mark_sent(self, item: OutboxItem, outgoing: Outgoing, sent_at: SentId, edits: SentMessage | None) -> Outcome:
        """It went out; a status that must not stay beside it is removed next."""
        self.counts.add("replies_sent")
        self._is_outage = False

        def record(repos: Repositories) -> None:
            now = self.clock.now()
            targets = [sent_at] if repos.outbox.mark_sent(item.id, sent_at, now=now, edited=edits) else []
            if isinstance(outgoing, Reply) and edits is None:
                status = item.status
                if status is None and outgoing.files:
                    status = editable(item, now)
                if status is not None:
                    targets.append(SentId(status.sent_at))
            self._add(repos, item, *(Removal(chat=outgoing.chat, target=target) for target in targets))
            # People whom something has not reached hear so now that something else has.
            if isinstance(outgoing, Removal) or item.is_status:
                return
            if repos.outbox.take_owed(item.id) and outgoing.notice_of is None:
                self._say(repos, item, outgoing.chat, phrases.MESSAGE_NOT_SENT, notice_of=item.id)

        return record

    def _postpone(self, item: OutboxItem, error: TransportError, *, is_in_doubt: bool = False) -> Outcome:
        """It did not go out, or can safely go out twice: it is tried again after a growing pause."""
        seconds = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(item.attempts, 10), MAX_PAUSE_SECONDS)
        seconds *= random.uniform(0.5, 1.0)  # noqa: S311  (it spreads load, it keeps no secret)
        pause = timedelta(seconds=min(max(seconds, error.retry_after_seconds or 0), MAX_WAIT_SECONDS))
        _log.warning("reply %d was not sent (%s); retrying in %.0f s", item.id, error, pause.total_seconds())

        def record(repos: Repositories) -> None:
            now = self.clock.now()
            repos.outbox.postpone(item.id, due_at=now + pause, now=now, is_in_doubt=is_in_doubt)

        return record

    def _hold(self, item: OutboxItem, error: Untrusted) -> Outcome:
        """It waits with its conversation until a new safety number is trusted."""
        self.counts.add("sends_held")
        _log.warning("reply %d is held: %s", item.id, error)

        def record(repos: Repositories) -> None:
            now = self.clock.now()
            repos.outbox.postpone(item.id, due_at=now, now=now)
            if (conversation := repos.outbox.conversation_of(item.id)) is not None:
                repos.outbox.hold(conversation, now=now)

        return record

    def _mark_unknown(self, item: OutboxItem, outgoing: Outgoing, reason: str, *, is_network: bool = False) -> Outcome:
        """It may have gone out; `is_network`: the bridge believes that Signal could not be reached."""
        self.counts.add("sends_unknown")
        is_over = item.doubts >= (_MAX_OUTAGE_RESENDS if is_network and self._is_outage else MAX_RESENDS)
        self._is_outage = self._is_outage or is_network
        what_next = "giving up" if is_over else "waiting for a receipt"
        level = logging.ERROR if is_over else logging.WARNING
        _log.log(level, "reply %d: it is unknown whether it went out (%s); %s", item.id, reason, what_next)
        grace = min(self._grace, STATUS_GRACE) if item.is_status else self._grace

        def record(repos: Repositories) -> None:
            # Read within the transaction: the next one may follow a step of the clock, and move what is written here.
            now = self.clock.now()
            if is_over:
                self._tell_of_unsent(repos, item, outgoing, at_once=False)
                repos.outbox.give_up(item.id, now=now, doubted_until=now + self._grace)
            else:
                repos.outbox.end_attempt(item.id, "unknown", due_at=now + grace)

        return record

    def _give_up(self, item: OutboxItem, outgoing: Outgoing | None, words: str, reason: str) -> Outcome:
        """It will never go out; `outgoing` is its content, None if unreadable."""
        self.counts.add(f"undeliverable_{reason}")
        _log.error("reply %d is undeliverable: %s", item.id, words)

        def record(repos: Repositories) -> None:
            self._tell_of_unsent(repos, item, outgoing, at_once=reason in _ABOUT_THE_MESSAGE)
            repos.outbox.give_up(item.id, now=self.clock.now())

        return record

    def _tell_of_unsent(
        self, repos: Repositories, item: OutboxItem, outgoing: Outgoing | None, *, at_once: bool
    ) -> None:
        """Tells people, once per turn, that something may not have arrived: `at_once`, or once another message has."""
        if item.is_status or isinstance(outgoing, Removal):
            return
        if outgoing is None or outgoing.notice_of is not None or not at_once:
            repos.outbox.owe_notice(item.id)
        elif repos.outbox.begin_notice(item.id, item.turn):
            self._say(repos, item, outgoing.chat, phrases.MESSAGE_NOT_SENT, notice_of=item.id)

    def _say(
        self, repos: Repositories, item: OutboxItem, chat: ChatId, sentence: Sentence, *, notice_of: int | None = None
    ) -> None:
        """Adds a sentence as a message of its own, as it might not fit into another; `notice_of` as in `Reply`."""
        content = Styled(text=self._in_words(repos, item, sentence))
        self._add(repos, item, Reply(chat=chat, content=content, ok=False, notice_of=notice_of))

    def _in_words(self, repos: Repositories, item: OutboxItem, sentence: Sentence) -> str:
        """The sentence in the language of the item's conversation."""
        with use_language(self.language(repos, item.conversation)):
            return say(sentence)

    def _add(self, repos: Repositories, item: OutboxItem, *messages: Outgoing) -> None:
        """Puts messages behind those of the item's turn, unless its conversation was forgotten."""
        conversation = repos.outbox.conversation_of(item.id) if messages else None
        if conversation is not None:
            for message in messages:
                add_message(repos, conversation, item.turn, message, self.clock.now())


def editable(item: OutboxItem, wall: datetime) -> SentMessage | None:
    """The message to edit; None if there is none, or Signal's apps would no longer show the edit."""
    old = item.edits
    if old is None or old.revision >= _MAX_EDITS:
        return None
    return old if wall - datetime.fromtimestamp(old.original_at / 1000, UTC) < _EDITABLE else None
