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

The attempt is on the disk before it is made. Sends of different conversations run side by side, those of one
conversation one after the other. To avoid overrunning the bridge there are only few places; a send that has not ended
after a moment is waiting for something, and gives its place to others.
Left to others: the try itself (`bot.loops.sender.delivery`) and what its end means (`bot.loops.sender.outcomes`), what
is said (`bot.chat`), the proof by receipts (`bot.loops.intake`, `store.attempts`).
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.chat.outgoing import add_message
from bot.clock import Clock, is_set_within
from bot.event_json import UnreadableEvent, dump_value, load_outgoing
from bot.events import PersonId, Removal, Reply, SentId
from bot.i18n.language import Language
from bot.logs import RepeatedWarning
from bot.loops.sender.delivery import Delivery
from bot.loops.sender.outcomes import (
    MAX_PAUSE_SECONDS,
    MAX_RESENDS,
    MAX_WAIT_SECONDS,
    STATUS_GRACE,
    Outcome,
    Outcomes,
)
from bot.metrics import Counts
from bot.signal.protocol import Transport
from store import ConversationId, LedgerEntry, OutboxId, OutboxItem, Repositories, Store, StoreError

_log = logging.getLogger(__name__)

_PLACES = 16
_MAX_SENDING = 1000
"""The limit including those that gave their place away."""
_STORE_PAUSE_SECONDS = 1.0
_MIN_WAIT_SECONDS = 0.05
_MAX_NAP_SECONDS = 5.0
"""The longest sleep while something waits, and so how far the store's record of listening for receipts can lag."""

_PLACE_SECONDS = 2.0
"""When a send gives its place away: a healthy bridge takes less for one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Begun:
    """The items found in the outbox."""

    items: tuple[OutboxItem, ...] = ()
    """The items to send now."""
    seconds: float | None = None
    """The time until something is due; None if nothing waits for a time."""
    settled: frozenset[OutboxId] = frozenset()
    """Items that were tried earlier and will not be tried again."""


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
        place_seconds: float = _PLACE_SECONDS,
        language: Callable[[Repositories, ConversationId], Language] = lambda _repos, _conversation: "en",
        max_parts: int = 5,
        on_untrusted: Callable[[PersonId], None] = lambda _: None,
    ) -> None:
        """`grace_seconds` is how long an unknown send waits for its proof; without one it is sent again, up to
        `max_resends` times. `max_parts` limits the messages into which a text is split that cannot be sent as one.

        `on_untrusted` is called with a person whom a group message missed because of their safety number.
        """
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._grace = timedelta(seconds=grace_seconds if transport.has_receipts else 0)
        self._place_seconds = place_seconds
        self._sending: dict[asyncio.Task[None], OutboxId] = {}
        self._placed: set[asyncio.Task[None]] = set()
        """The sends that have a place."""
        outcomes = Outcomes(
            clock, counts, grace=self._grace, max_resends=max_resends, language=language, max_parts=max_parts
        )
        self._delivery = Delivery(transport, clock, counts, outcomes, on_untrusted=on_untrusted)
        self._is_closing = False
        # A full disk fails each try, and logs are often on it.
        self._unread, self._unwritten = RepeatedWarning(_log), RepeatedWarning(_log)

    async def recover(self) -> None:
        """Runs at start: marks sends interrupted by a crash as unknown."""
        now, grace = self._clock.now(), self._grace
        until = now + max(grace, timedelta(seconds=MAX_PAUSE_SECONDS))
        longest = max(until, now + timedelta(seconds=MAX_WAIT_SECONDS))

        def transact(repos: Repositories) -> int:
            pulled = repos.outbox.pull_in(now=now, until=until, longest=longest)
            if pulled:
                _log.warning("%d messages were waiting for a time too far in the future; they no longer wait", pulled)
            return repos.outbox.mark_all_unknown(now=now, grace=grace, status_grace=STATUS_GRACE)

        count = await self._store.transaction(transact)
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
        if self._room() == 0:
            return None
        return self._started(group, await self._store.transaction(self._begun))

    def _room(self) -> int:
        """Returns how many sends may begin now."""
        return max(0, min(_PLACES - len(self._placed), _MAX_SENDING - len(self._sending)))

    def _begun(self, repos: Repositories) -> _Begun:
        """Begins what is to be sent now, within a transaction; the ledger notes a repetition."""
        now = self._clock.now()
        self._remove_copies(repos, now)
        settled = self._settled(repos)
        if not repos.outbox.has_open():
            return _Begun(settled=settled)
        # While the stream is closed no receipt can arrive, so that time does not count.
        unheard = self._grace if self._transport.has_receipts and not self._transport.is_open else None
        items = repos.outbox.begin(now=now, limit=self._room(), stamped_at=self._clock.wall(), unheard=unheard)
        for item in items:
            if item.is_status or (item.attempts and item.edits is None):
                self._keep_removal(repos, item)
            if item.was_unknown:
                resent = LedgerEntry(kind="send", name="message", outcome="resent", latency_seconds=0)
                repos.ledger.add(item.conversation, item.turn, None, (resent,), now=now)
        due_at = repos.outbox.next_due_at()
        if due_at is None:
            return _Begun(items=items, settled=settled)
        seconds = min(max(_MIN_WAIT_SECONDS, (due_at - now).total_seconds()), _MAX_NAP_SECONDS)
        return _Begun(items=items, seconds=seconds, settled=settled)

    def _settled(self, repos: Repositories) -> frozenset[OutboxId]:
        """Items that were tried and are no longer open, within a transaction: proved by a receipt, or taken back."""
        if len(self._delivery.tries) <= len(self._sending):
            return frozenset()
        tried = frozenset(self._delivery.tries.copy())
        return tried - repos.outbox.open_among(tried)

    def _keep_removal(self, repos: Repositories, item: OutboxItem) -> None:
        """Stores the removal for the case that the item turns out to be a duplicate; its words may be gone by then."""
        with suppress(UnreadableEvent):
            if isinstance(outgoing := load_outgoing(item.reply), Reply):
                removal = Removal(chat=outgoing.chat, target=SentId(0))
                repos.copies.keep_removal(item.id, dump_value(removal))

    def _remove_copies(self, repos: Repositories, now: datetime) -> None:
        """Removes messages that have turned out to be in their chat twice."""
        for copy in repos.copies.take():
            removal = Removal(chat=load_outgoing(copy.removal).chat, target=SentId(copy.name))
            add_message(repos, copy.conversation, copy.turn, removal, now)
            self._counts.add("copies_removed")

    def _started(self, group: asyncio.TaskGroup, begun: _Begun) -> float | None:
        for id_ in begun.settled.difference(self._sending.values()):
            self._delivery.tries.pop(id_, None)
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
        """Makes one send, records its outcome, and begins what that unblocks."""
        outcome = await self._delivery.attempt(item)
        self._placed -= {asyncio.current_task()}  # its place is free for whatever begins next

        def record(repos: Repositories) -> None:
            outcome(repos)
            repos.outbox.notify("outbox")  # for what it unblocks

        await self._recorded(record)
        if (task := asyncio.current_task()) is not None:
            self._sending.pop(task, None)
        if self._is_closing:
            self._store.wakeups["outbox"].set()

    async def _recorded(self, work: Outcome) -> None:
        """Records it, however long that takes: an unrecorded send would count as unknown."""
        while True:
            try:
                return await self._store.transaction(work)
            except StoreError as error:
                self._unwritten.tell(f"the outcome of a send cannot be written: {error}", logging.ERROR)
                await asyncio.sleep(_STORE_PAUSE_SECONDS)
