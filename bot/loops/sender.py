"""Sender: sends what stands in the outbox, and tells *sent*, *not sent* and *unknown* apart.

    begin --> send, edit, remove
                   |-went out---------> sent
                   |-surely not-------> again later, with growing pauses
                   |-without a name---> sent, and never again; it cannot be edited
                   |-nobody knows-----> unknown: a receipt proves it, or it is sent again after the grace period
                   |-not to this key--> held with its conversation until a new safety number is trusted
                   |-not its files----> the words alone, and a sentence that there should have been more
                   |-not its long text> in several messages
                   '-never will-------> dead, the operator is told; what is refused for its form is tried once without

An answer is begun in the commit that keeps it (`Sender._beginning`): the attempt stands on the disk before it is made,
and nothing ever happened between the two. That it went out may wait a moment for the commit of something else
(`_PATIENCE_SECONDS`), where nothing waits for it.
Sends of different conversations run side by side, those of one conversation one after the other. So that the bridge is
not overrun there are few places for them; a send that has not ended after a moment waits for something, and gives its
place to others. A reply that takes the place of an earlier one edits it as long as Signal's apps allow that, and is a
new message afterwards; a status that stands in its way then is removed, and so is an earlier answer where files alone
are why it cannot be edited. A status in doubt is given a moment for its receipt, and is never sent again.
Left to others: what is said (`bot.turn`), the proof by receipts (`bot.loops.intake`, `store.attempts`).
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot import events
from bot.clock import Clock, is_set_within
from bot.errors import NetworkFailed, NotSent, NotUploaded, SentUnnamed, TransportError, Undeliverable, Untrusted
from bot.events import ChatId, Outgoing, PersonId, Removal, Reply, SentId, Styled, UnreadableEvent
from bot.formatting.split import is_long, split
from bot.i18n import phrases
from bot.i18n.catalogues import say
from bot.i18n.language import Language, speaking
from bot.logs import describe_error
from bot.metrics import Counts
from bot.transports.base import Transport
from bot.turn.outgoing import add_message
from store import ConversationId, LedgerEntry, OutboxId, OutboxItem, Repositories, SentMessage, Store, StoreError

_log = logging.getLogger(__name__)

_PLACES = 16
_MAX_SENDING = 1000
"""Those included that have no place any more."""
_FIRST_PAUSE_SECONDS = 2.0
_LONGEST_PAUSE_SECONDS = 300.0
_LONGEST_WAIT_SECONDS = 86_400.0
"""However long Signal wants us to wait: once a day it is asked again."""
_STORE_PAUSE_SECONDS = 1.0
_PATIENCE_SECONDS = 0.05
"""How much longer it may take until it is written down that something went out, where a receipt can prove it. A kill in
this time leaves the send in doubt, as one during the send does: the bridge itself takes some tenths of a second."""
_SHORTEST_WAIT_SECONDS = 0.05
_LONGEST_NAP_SECONDS = 5.0
"""While something waits: so far the store may be behind in knowing how long receipts were listened for."""

_MAX_UPLOADS = 3
"""How often files are refused that may be taken the next time; the words do not wait for them any longer."""

_MAX_EDITS = 10
MAX_RESENDS = 3
_MAX_OUTAGE_RESENDS = 960
"""The same while nothing goes out at all: with the usual grace period that is a day."""
_PLACE_SECONDS = 2.0
"""After which a send gives its place away: a bridge that is well takes less for one."""
_PLAIN_FROM = 2
"""After how many tries of which nobody knows what became of them what stands around the words is left out."""

_EDITABLE = timedelta(days=1)
"""Source: MAX_EDIT_COUNT and the sending window of Signal-Android, MessageConstraintsUtil (2026)."""

_STATUS_GRACE = timedelta(seconds=10)
"""How long the answer waits for the receipt of a status in doubt, so that it can edit it. Phones that are on confirm
within a second or two; for the others the answer is a new message."""

_OUTCOMES: Mapping[type[TransportError], str] = {
    SentUnnamed: "sent",
    NotSent: "again_later",
    NotUploaded: "again_later",
    Untrusted: "held",
    Undeliverable: "undeliverable",
}
"""What a send that failed is called in the figures; of any other nobody knows what became of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Begun:
    """What was looked up in the outbox."""

    items: tuple[OutboxItem, ...] = ()
    """What is to be sent now."""
    seconds: float | None = None
    """In how many something will be due; None when nothing waits for a time."""
    settled: frozenset[OutboxId] = frozenset()
    """What was tried before, and nobody tries again."""


@dataclass(frozen=True, slots=True)
class _WentOut:
    """Writes down that something went out; nothing of its answer follows where it `is_last`."""

    record: Callable[[Repositories], None]
    is_last: bool

    def __call__(self, repos: Repositories) -> None:
        self.record(repos)


@dataclass(slots=True)
class _Tries:
    """What this life has seen of the tries of an item that is not settled."""

    gone_out_before: int
    """How much this life had sent when the last of them failed, or the first began."""
    refused_uploads: int = 0
    """How often its files were refused that may be taken yet."""
    outages: int = 0
    """How many failed while nothing else went out either: they tell nothing about it."""


def _english(_: Repositories, __: ConversationId) -> Language:
    return "en"


class Sender:
    """The loop of departures. `language` tells what Aldis speaks in a conversation, for the few words of its own."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        *,
        grace_seconds: float,
        max_resends: int = MAX_RESENDS,
        place_seconds: float = _PLACE_SECONDS,
        language: Callable[[Repositories, ConversationId], Language] = _english,
        max_parts: int = 5,
        on_untrusted: Callable[[PersonId], None] | None = None,
        patience_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        """`grace_seconds` is how long an unknown send may wait for its proof; without one it is sent again, up to
        `max_resends` times. `max_parts` is into how many messages a text is split that cannot be sent as one.
        `patience_seconds` is how long it may take until it is written down that an answer went out, where nothing waits
        for that.

        `on_untrusted` is told whom a message to a group missed for their safety number.
        """
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._grace = timedelta(seconds=grace_seconds if transport.has_receipts else 0)
        self._max_resends = max_resends
        self._language = language
        self._place_seconds = place_seconds
        self._max_parts = max_parts
        self._on_untrusted = on_untrusted
        self._patience_seconds = patience_seconds if transport.has_receipts else 0.0
        self._sending: dict[asyncio.Task[None], OutboxId] = {}
        self._placed: set[asyncio.Task[None]] = set()
        """Those that have a place."""
        self._gone_out = 0
        """How much went out in this life."""
        self._tries: dict[OutboxId, _Tries] = {}
        self._is_closing = False

    async def recover(self) -> None:
        """At start: what a crash left under way is unknown."""
        now, grace = self._clock.now(), self._grace
        longest = max(grace, timedelta(seconds=_LONGEST_PAUSE_SECONDS))

        def transact(repos: Repositories) -> tuple[int, int]:
            pulled = repos.outbox.pull_in(until=now + longest)
            if pulled:
                _log.warning("%d messages waited for a time that is too far ahead; they do not any more", pulled)
            count = repos.outbox.doubt_all(now=now, grace=grace, status_grace=_STATUS_GRACE)
            return count, repos.outbox.most_attempts()

        count, most_attempts = await self._store.transaction(transact)
        if count:
            self._counts.add("sends_unknown", count)
            _log.warning("%d sends were interrupted; waiting for receipts that prove them", count)
        if count and most_attempts > self._max_resends:
            _log.error(
                "Aldis has died while it sent the same reply, %d times so far; people may have it as often, and it is "
                "tried ever less often",
                most_attempts,
            )

    async def run(self) -> None:
        """Send until `drain` is called and nothing is due, or the task is cancelled."""
        wakeup = self._store.wakeups["outbox"]
        async with (
            asyncio.TaskGroup() as group,
            self._store.following("outbox", self._beginning, lambda begun: self._on_begun(group, begun)),
        ):
            while True:
                wakeup.clear()
                try:
                    seconds = await self._begin_all(group)
                except StoreError as error:
                    _log.error("the outbox cannot be read: %s", error)
                    seconds = _STORE_PAUSE_SECONDS
                if self._is_closing and not self._sending:
                    return
                await is_set_within(wakeup, seconds)

    def drain(self) -> None:
        """Send what is due now; `run` returns after it. What is due later is sent after the next start."""
        self._is_closing = True
        self._store.wakeups["outbox"].set()

    async def _begin_all(self, group: asyncio.TaskGroup) -> float | None:
        """Begin what is due; gives the seconds until something will be, or None."""
        if self._room() == 0:
            return None
        return self._started(group, await self._store.transaction(self._begun))

    def _beginning(self) -> Callable[[Repositories], _Begun] | None:
        """Begins what is due in the commit that makes it so; None: no place is free."""
        return self._begun if self._room() else None

    def _on_begun(self, group: asyncio.TaskGroup, begun: _Begun) -> None:
        if self._started(group, begun) is not None:
            # The loop has to wait for less long.
            self._store.wakeups["outbox"].set()

    def _room(self) -> int:
        """How many sends may begin now."""
        return max(0, min(_PLACES - len(self._placed), _MAX_SENDING - len(self._sending)))

    def _begun(self, repos: Repositories) -> _Begun:
        """What is to be sent now, within a transaction; a repetition is noted in the ledger."""
        now = self._clock.now()
        self._remove_copies(repos, now)
        settled = self._settled(repos)
        if not repos.outbox.has_open():
            return _Begun(settled=settled)
        # While the stream is away no receipt can come: that is no time in which it could have.
        unheard = self._grace if self._transport.has_receipts and not self._transport.is_open else None
        items = repos.outbox.begin(now=now, most=self._room(), stamped_at=self._clock.wall(), unheard=unheard)
        for item in items:
            if item.is_status or (item.attempts and item.edits is None):
                self._keep_removal(repos, item)
            if item.was_unknown:
                resent = LedgerEntry(kind="send", name="message", outcome="resent", latency_seconds=0)
                repos.ledger.add(item.conversation, item.turn, None, (resent,), now=now)
        due_at = repos.outbox.next_due_at()
        if due_at is None:
            return _Begun(items=items, settled=settled)
        seconds = min(max(_SHORTEST_WAIT_SECONDS, (due_at - now).total_seconds()), _LONGEST_NAP_SECONDS)
        return _Begun(items=items, seconds=seconds, settled=settled)

    def _settled(self, repos: Repositories) -> frozenset[OutboxId]:
        """What was tried and is no longer open, within a transaction: a receipt has proved it, or it was taken back."""
        if len(self._tries) <= len(self._sending):
            return frozenset()
        tried = frozenset(self._tries.copy())
        return tried - repos.outbox.open_among(tried)

    def _keep_removal(self, repos: Repositories, item: OutboxItem) -> None:
        """How it is removed, should it show that it stands beside another; its words may be gone by then."""
        with suppress(UnreadableEvent):
            if isinstance(outgoing := events.outgoing(item.reply), Reply):
                removal = Removal(chat=outgoing.chat, target=SentId(0))
                repos.attempts.keep_removal(item.id, events.dump_value(removal))

    def _remove_copies(self, repos: Repositories, now: datetime) -> None:
        """Have removed what shows by now to stand in its chat twice."""
        for copy in repos.attempts.take_copies():
            removal = Removal(chat=events.outgoing(copy.removal).chat, target=SentId(copy.name))
            add_message(repos, copy.conversation, copy.turn, removal, now)
            self._counts.add("copies_removed")

    def _started(self, group: asyncio.TaskGroup, begun: _Begun) -> float | None:
        for id_ in begun.settled.difference(self._sending.values()):
            self._tries.pop(id_, None)
        for item in begun.items:
            task = group.create_task(self._deliver(item), name=f"send-{item.id}")
            self._sending[task] = item.id
            task.add_done_callback(lambda task: self._sending.pop(task, None))
            self._give_place(task)
        return begun.seconds

    def _give_place(self, task: asyncio.Task[None]) -> None:
        self._placed.add(task)
        task.add_done_callback(self._placed.discard)
        lapse = asyncio.get_running_loop().call_later(self._place_seconds, self._take_place, task)
        task.add_done_callback(lambda _: lapse.cancel())

    def _take_place(self, task: asyncio.Task[None]) -> None:
        self._placed.discard(task)
        self._store.wakeups["outbox"].set()

    async def _deliver(self, item: OutboxItem) -> None:
        """One send; what came of it is written down, and what that lets go is begun."""
        outcome = await self._attempt(item)
        self._placed -= {asyncio.current_task()}  # its place is free for what is begun next

        def record(repos: Repositories) -> None:
            outcome(repos)
            repos.outbox.notify("outbox")  # what it lets go is begun in the same commit

        may_wait = isinstance(outcome, _WentOut) and outcome.is_last and not self._is_closing
        await self._recorded(record, self._patience_seconds if may_wait else 0.0)
        if (task := asyncio.current_task()) is not None:
            self._sending.pop(task, None)
        if self._is_closing:
            self._store.wakeups["outbox"].set()

    async def _attempt(self, item: OutboxItem) -> Callable[[Repositories], None]:
        """Send; gives what has to be written down."""
        try:
            outgoing = events.outgoing(item.reply)
        except UnreadableEvent as error:
            return self._given_up(item, str(error), "unreadable")
        self._tries.setdefault(item.id, _Tries(self._gone_out))
        outcome = await self._tried(item, outgoing)
        self._count_missed()
        return outcome

    def _count_missed(self) -> None:
        """Count whom a send to a group has missed; it is not sent again, for the others would read it twice."""
        while self._transport.missed:
            missed = self._transport.missed.popleft()
            self._counts.add(f"missed_{missed.reason}")
            if missed.reason == "untrusted" and missed.person is not None and self._on_untrusted is not None:
                self._on_untrusted(missed.person)

    async def _tried(
        self, item: OutboxItem, outgoing: Outgoing, *, lost_files: bool = False
    ) -> Callable[[Repositories], None]:
        """Try to send it; `lost_files`: there should have been more, which people are told when it goes out."""
        if isinstance(outgoing, Reply) and item.doubts - self._tries[item.id].outages >= _PLAIN_FROM:
            outgoing, lost_files = _plain(outgoing), lost_files or bool(outgoing.files and outgoing.content.text)
        edits = _editable(item, self._clock.wall()) if isinstance(outgoing, Reply) and not outgoing.files else None
        try:
            sent_at, edits = await self._timed(outgoing, edits)
        except SentUnnamed as error:
            return self._unnamed(item, error)
        except TransportError as error:
            return await self._failed(item, outgoing, error)
        except Exception as error:  # noqa: BLE001  (a bug in one send must not end the others; it may have gone out)
            return self._in_doubt(item, describe_error(error))
        self._counts.add("replies_sent")
        self._gone_out += 1
        del self._tries[item.id]

        def went_out(repos: Repositories) -> None:
            self._went_out(repos, item, outgoing, sent_at, edits)
            if lost_files:
                self._tell_of_lost_files(repos, item, outgoing)

        is_last = isinstance(outgoing, Reply) and outgoing.last and not item.is_status
        return _WentOut(went_out, is_last=is_last)

    async def _timed(self, outgoing: Outgoing, edits: SentMessage | None) -> tuple[SentId, SentMessage | None]:
        """As `_sent_at`; how long it took is noted by how it ended."""
        began, outcome = time.monotonic(), "unknown"
        try:
            sent = await self._sent_at(outgoing, edits)
        except TransportError as error:
            outcome = next((word for kind, word in _OUTCOMES.items() if isinstance(error, kind)), outcome)
            raise
        else:
            outcome = "sent"
            return sent
        finally:
            self._counts.observe("send_seconds", time.monotonic() - began, outcome=outcome)

    async def _failed(
        self, item: OutboxItem, outgoing: Outgoing, error: TransportError
    ) -> Callable[[Repositories], None]:
        """What a failed send means for the item."""
        match error:
            case NotUploaded():
                return await self._without_files(item, outgoing, error)
            case Undeliverable():
                return self._given_up(item, str(error), error.reason)
            case Untrusted():
                return self._held(item, error)
            case NotSent():
                return self._later(item, error)
            case _ if isinstance(outgoing, Removal):  # one that is done twice is the same as one
                return self._later(item, error, is_in_doubt=True)
            case _:
                is_outage = isinstance(error, NetworkFailed) and self._is_outage(item)
                return self._in_doubt(item, str(error), is_outage=is_outage)

    def _is_outage(self, item: OutboxItem) -> bool:
        """Whether nothing else has gone out since its last try."""
        tries = self._tries[item.id]
        before, tries.gone_out_before = tries.gone_out_before, self._gone_out
        return before == self._gone_out

    async def _without_files(
        self, item: OutboxItem, outgoing: Outgoing, error: NotUploaded
    ) -> Callable[[Repositories], None]:
        """Send the words alone, at once or after some tries; a long text in parts. Nothing went out so far."""
        if not isinstance(outgoing, Reply) or not (outgoing.files or is_long(outgoing.content)):
            return self._given_up(item, str(error), "too_large") if error.is_final else self._later(item, error)
        self._tries[item.id].refused_uploads += 1
        if not error.is_final and self._tries[item.id].refused_uploads < _MAX_UPLOADS:
            return self._later(item, error)
        if not outgoing.files:
            return self._split(item, outgoing)
        self._counts.add("files_refused")
        _log.error("the files of reply %d cannot be sent: %s", item.id, error)
        if outgoing.content.text:
            words = replace(outgoing, files=(), is_voice_note=False)
            return await self._tried(item, words, lost_files=True)
        now = self._clock.now()

        def tell(repos: Repositories) -> None:
            self._tell_of_lost_files(repos, item, outgoing)
            repos.outbox.give_up(item.id, now=now)

        return tell

    def _split(self, item: OutboxItem, reply: Reply) -> Callable[[Repositories], None]:
        """Puts a text that cannot be sent as one message back as several; people are named in plain words there."""
        self._counts.add("texts_split")
        _log.warning("reply %d cannot be sent as one message; it is split", item.id)
        now = self._clock.now()

        def put(repos: Repositories) -> None:
            conversation = repos.outbox.conversation_of(item.id)
            if conversation is None:
                return
            with speaking(self._language(repos, conversation)):
                cut_mark = say(phrases.CUT_PARTS)
            contents = split(reply.content, max_parts=self._max_parts, cut_mark=cut_mark)
            parts = [
                replace(
                    reply,
                    content=content,
                    mentions=(),
                    quote=None if place else reply.quote,
                    last=place + 1 == len(contents),
                )
                for place, content in enumerate(contents)
            ]
            if not repos.outbox.rewrite(item.id, events.dump_value(parts[0]), now=now):
                return
            for part in parts[1:]:
                add_message(repos, conversation, item.turn, part, now)
            if _has_files(events.outgoing(item.reply)):
                self._tell_of_lost_files(repos, item, reply)

        return put

    def _tell_of_lost_files(self, repos: Repositories, item: OutboxItem, outgoing: Outgoing) -> None:
        """Tell the people, within a transaction, in a message of its own: with the words it might not fit one."""
        conversation = repos.outbox.conversation_of(item.id)
        if conversation is None:
            return
        with speaking(self._language(repos, conversation)):
            content = Styled(text=say(phrases.FILES_NOT_SENT))
        sentence = Reply(chat=outgoing.chat, content=content, ok=False)
        add_message(repos, conversation, item.turn, sentence, self._clock.now())

    def _went_out(
        self, repos: Repositories, item: OutboxItem, outgoing: Outgoing, sent_at: SentId, edits: SentMessage | None
    ) -> None:
        """Write down what went out, within a transaction; a status that must not stay beside it is removed next."""
        now, wall = self._clock.now(), self._clock.wall()
        targets = [sent_at] if repos.outbox.mark_sent(item.id, sent_at, now=now, edited=edits) else []
        if item.status is not None and edits is None and isinstance(outgoing, Reply):
            targets.append(SentId(item.status.sent_at))
        elif isinstance(outgoing, Reply) and outgoing.files and (old := _editable(item, wall)) is not None:
            targets.append(SentId(old.sent_at))
        self._remove(repos, item, outgoing.chat, targets)

    def _remove(self, repos: Repositories, item: OutboxItem, chat: ChatId, targets: Iterable[SentId]) -> None:
        """Have messages of ours removed from the chat, within a transaction."""
        conversation = repos.outbox.conversation_of(item.id)
        if conversation is None:
            return
        for target in targets:
            add_message(repos, conversation, item.turn, Removal(chat=chat, target=target), self._clock.now())

    async def _sent_at(self, outgoing: Outgoing, edits: SentMessage | None) -> tuple[SentId, SentMessage | None]:
        """Send, and give Signal's name for it: a removal has one too, which phones confirm like any other.

        Gives also what was edited in the end: where that is refused for good, it is a new message.
        """
        if not isinstance(outgoing, Reply):
            return await self._transport.remove(outgoing), None
        if edits is not None:
            try:
                return await self._transport.send(replace(outgoing, edits=SentId(edits.sent_at))), edits
            except Undeliverable as error:
                if error.reason != "refused":
                    raise
                _log.warning("an edit was refused (%s); it is sent as a new message", error)
        try:
            return await self._transport.send(outgoing), None
        except Undeliverable as error:
            plain = replace(_plain(outgoing), files=outgoing.files)
            if error.reason != "refused" or plain == outgoing:
                raise
            _log.warning("a message was refused (%s); it is sent without quote, mentions and styles", error)
            return await self._transport.send(plain), None

    def _later(
        self, item: OutboxItem, error: TransportError, *, is_in_doubt: bool = False
    ) -> Callable[[Repositories], None]:
        seconds = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(item.attempts, 10), _LONGEST_PAUSE_SECONDS)
        seconds *= random.uniform(0.5, 1.0)  # noqa: S311  (it spreads load, it keeps no secret)
        seconds = min(max(seconds, error.retry_after_seconds or 0), _LONGEST_WAIT_SECONDS)
        _log.warning("reply %d was not sent (%s); next try in %.0f s", item.id, error, seconds)
        pause = timedelta(seconds=seconds)

        def postpone(repos: Repositories) -> None:
            now = self._clock.now()
            repos.outbox.postpone(item.id, due_at=now + pause, now=now, is_in_doubt=is_in_doubt)

        return postpone

    def _held(self, item: OutboxItem, error: Untrusted) -> Callable[[Repositories], None]:
        self._counts.add("sends_held")
        _log.warning("reply %d is held: %s", item.id, error)

        def hold(repos: Repositories) -> None:
            now = self._clock.now()
            repos.outbox.postpone(item.id, due_at=now, now=now)
            if (conversation := repos.outbox.conversation_of(item.id)) is not None:
                repos.outbox.hold(conversation, now=now)

        return hold

    def _given_up(self, item: OutboxItem, words: str, reason: str) -> Callable[[Repositories], None]:
        self._tries.pop(item.id, None)
        self._counts.add(f"undeliverable_{reason}")
        _log.error("reply %d is undeliverable: %s", item.id, words)
        now = self._clock.now()
        return lambda repos: repos.outbox.give_up(item.id, now=now)

    def _unnamed(self, item: OutboxItem, error: SentUnnamed) -> Callable[[Repositories], None]:
        """It is there: never again, whether a receipt tells its timestamp or not."""
        _log.error("reply %d: %s; unless a receipt tells, it cannot be edited or removed", item.id, error)
        now = self._clock.now()
        return lambda repos: repos.outbox.give_up(item.id, now=now, doubted_until=now + self._grace)

    def _in_doubt(self, item: OutboxItem, reason: str, *, is_outage: bool = False) -> Callable[[Repositories], None]:
        # Own time is asked within the transactions: beside them, a step of the clock may just be made to count.
        self._counts.add("sends_unknown")
        tries = self._tries[item.id]
        tries.outages += is_outage
        if item.doubts >= (_MAX_OUTAGE_RESENDS if is_outage else self._max_resends + tries.outages):
            del self._tries[item.id]
            _log.error("reply %d: nobody knows whether it went out (%s); giving up", item.id, reason)
            return lambda repos: self._give_up_in_doubt(repos, item)
        _log.warning("reply %d: nobody knows whether it went out (%s); waiting for a receipt", item.id, reason)
        grace = min(self._grace, _STATUS_GRACE) if item.is_status else self._grace

        def doubt(repos: Repositories) -> None:
            repos.outbox.doubt(item.id, due_at=self._clock.now() + grace)

        return doubt

    def _give_up_in_doubt(self, repos: Repositories, item: OutboxItem) -> None:
        now = self._clock.now()
        repos.outbox.give_up(item.id, now=now, doubted_until=now + self._grace)

    async def _recorded(self, work: Callable[[Repositories], None], patience_seconds: float) -> None:
        """Write it down, however long that takes: a send that is not recorded would be taken for an unknown one."""
        while True:
            try:
                return await self._store.transaction(work, patience_seconds=patience_seconds)
            except StoreError as error:
                _log.error("the outcome of a send cannot be written: %s", error)
                await asyncio.sleep(_STORE_PAUSE_SECONDS)


def _has_files(outgoing: Outgoing) -> bool:
    return isinstance(outgoing, Reply) and bool(outgoing.files)


def _plain(reply: Reply) -> Reply:
    """The words alone, or the files where there are none: what stands around them may be what a bridge refuses."""
    files = () if reply.content.text else reply.files
    return replace(reply, content=Styled(text=reply.content.text), quote=None, mentions=(), files=files)


def _editable(item: OutboxItem, wall: datetime) -> SentMessage | None:
    """The message that is to be edited; None where there is none, or Signal's apps would not show the edit any more."""
    old = item.edits
    if old is None or old.revision >= _MAX_EDITS:
        return None
    age = wall - datetime.fromtimestamp(old.original_at / 1000, UTC)
    return old if age < _EDITABLE else None
