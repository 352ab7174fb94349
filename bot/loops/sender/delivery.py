"""Delivery of one outbox item: how it is sent, and what is tried if that is refused.

A reply that replaces an earlier one edits it as long as Signal's apps allow that; after that it is a new message. If
its form is refused, it is tried once more as plain text; a message that arrives without its files says so.
Left to others: what then becomes of the item (`bot.loops.sender.outcomes`).
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bot.clock import Clock
from bot.errors import NetworkFailed, NotSent, NotUploaded, SentUnnamed, TransportError, Undeliverable, Untrusted
from bot.event_json import UnreadableEvent, load_outgoing
from bot.events import Outgoing, PersonId, Removal, Reply, SentId, Styled
from bot.formatting.split import is_long
from bot.logs import describe_error
from bot.loops.sender.outcomes import Outcome, Outcomes, editable
from bot.metrics import Counts
from bot.signal.protocol import Transport
from store import OutboxId, OutboxItem, SentMessage

_log = logging.getLogger(__name__)

_MAX_UPLOADS = 3
"""How often files may be refused temporarily before the words are sent without them."""
MAX_REMOVALS = 12
"""How often a removal is tried whose outcome stays unknown: for half an hour, while answers pass it."""
_PLAIN_FROM = 2
"""After how many tries with an unknown outcome everything but the words is left out."""

_OUTCOMES: Mapping[type[TransportError], str] = {
    SentUnnamed: "sent",
    NotSent: "again_later",
    NotUploaded: "again_later",
    Untrusted: "held",
    Undeliverable: "undeliverable",
}
"""The metric's label for a failed send; all other errors have an unknown outcome."""


@dataclass(slots=True)
class Tries:
    """The tries of an unsettled item in this run."""

    gone_out_before: int
    """How many messages this run had sent when its last try failed, or its first began."""
    refused_uploads: int = 0
    """How often its files were refused temporarily."""
    outages: int = 0
    """How many tries failed while nothing else went out either: they say nothing about it."""


class Delivery:
    """Sends items, one by one, and remembers what this run has seen of the tries of each."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        counts: Counts,
        outcomes: Outcomes,
        *,
        on_untrusted: Callable[[PersonId], None],
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._counts = counts
        self._outcomes = outcomes
        self._on_untrusted = on_untrusted
        self.tries: dict[OutboxId, Tries] = {}
        """For items that did not go out; the loop removes the others once they are settled."""
        self._gone_out = 0
        """How many messages went out in this run."""

    async def attempt(self, item: OutboxItem) -> Outcome:
        """Sends an item; returns what must be recorded."""
        try:
            outgoing = load_outgoing(item.reply)
        except UnreadableEvent as error:
            return self._outcomes.give_up(item, None, str(error), "unreadable")
        self.tries.setdefault(item.id, Tries(self._gone_out))
        outcome = await self._tried(item, outgoing)
        self._count_missed()
        return outcome

    def _count_missed(self) -> None:
        """Counts the members a group send has missed; it is not repeated, because the others would read it twice."""
        while self._transport.missed:
            missed = self._transport.missed.popleft()
            self._counts.add(f"missed_{missed.reason}")
            if missed.reason == "untrusted" and missed.person is not None:
                self._on_untrusted(missed.person)

    async def _tried(self, item: OutboxItem, outgoing: Outgoing, *, lost_files: bool = False) -> Outcome:
        """Tries to send it; `lost_files`: people are told, once it goes out, that there should have been files."""
        if isinstance(outgoing, Reply) and item.doubts - self.tries[item.id].outages >= _PLAIN_FROM:
            outgoing, lost_files = _plain(outgoing), lost_files or bool(outgoing.files and outgoing.content.text)
        edits = editable(item, self._clock.wall()) if isinstance(outgoing, Reply) and not outgoing.files else None
        try:
            sent_at, edits = await self._timed(outgoing, edits)
        except SentUnnamed as error:
            return self._outcomes.settle_unnamed(item, error)
        except TransportError as error:
            return await self._failed(item, outgoing, error)
        except Exception as error:  # noqa: BLE001  (a bug in one send must not end the others; it may have gone out)
            outages = self.tries[item.id].outages
            return self._outcomes.mark_unknown(item, outgoing, describe_error(error), outages=outages)
        self._counts.add("replies_sent")
        self._gone_out += 1
        del self.tries[item.id]
        return self._outcomes.finish(item, outgoing, sent_at, edits, lost_files=lost_files)

    async def _timed(self, outgoing: Outgoing, edits: SentMessage | None) -> tuple[SentId, SentMessage | None]:
        """Does the same as `_sent_at`, and records the duration under its outcome."""
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

    async def _failed(self, item: OutboxItem, outgoing: Outgoing, error: TransportError) -> Outcome:
        """Returns what a failed send means for the item."""
        match error:
            case NotUploaded():
                return await self._without_files(item, outgoing, error)
            case Undeliverable():
                return self._outcomes.give_up(item, outgoing, str(error), error.reason)
            case Untrusted():
                return self._outcomes.hold(item, error)
            case NotSent():
                return self._outcomes.postpone(item, error)
            case _ if isinstance(outgoing, Removal):  # doing it twice is the same as doing it once
                return self._unremoved(item, outgoing, error)
            case _:
                is_outage = isinstance(error, NetworkFailed) and self._is_outage(item)
                tries = self.tries[item.id]
                tries.outages += is_outage
                return self._outcomes.mark_unknown(
                    item, outgoing, str(error), outages=tries.outages, is_outage=is_outage
                )

    def _unremoved(self, item: OutboxItem, outgoing: Removal, error: TransportError) -> Outcome:
        if item.doubts >= MAX_REMOVALS - 1:
            return self._outcomes.give_up(item, outgoing, str(error), "refused")
        return self._outcomes.postpone(item, error, is_in_doubt=True)

    def _is_outage(self, item: OutboxItem) -> bool:
        """Whether nothing else has gone out since its last try."""
        tries = self.tries[item.id]
        before, tries.gone_out_before = tries.gone_out_before, self._gone_out
        return before == self._gone_out

    async def _without_files(self, item: OutboxItem, outgoing: Outgoing, error: NotUploaded) -> Outcome:
        """Sends the words alone, at once or after some tries; a long text in parts. Nothing went out so far."""
        if not isinstance(outgoing, Reply) or not (outgoing.files or is_long(outgoing.content)):
            if error.is_final:
                return self._outcomes.give_up(item, outgoing, str(error), "too_large")
            return self._outcomes.postpone(item, error)
        self.tries[item.id].refused_uploads += 1
        if not error.is_final and self.tries[item.id].refused_uploads < _MAX_UPLOADS:
            return self._outcomes.postpone(item, error)
        if not outgoing.files:
            return self._outcomes.split(item, outgoing)
        self._counts.add("files_refused")
        _log.error("the files of reply %d cannot be sent: %s", item.id, error)
        if outgoing.content.text:
            words = replace(outgoing, files=(), is_voice_note=False)
            return await self._tried(item, words, lost_files=True)
        return self._outcomes.give_up_files(item, outgoing)


def _plain(reply: Reply) -> Reply:
    """The words alone, or the files if there are no words, because a bridge may refuse everything around them."""
    files = () if reply.content.text else reply.files
    return replace(reply, content=Styled(text=reply.content.text), quote=None, mentions=(), files=files)
