"""Intake: reads the transport's stream and stores admitted messages before anything else happens to them.

    envelope --stranger---> counted, dropped; perhaps a pairing code (`bot.access.pairing`), and their question is held
             |              until they are let in (`bot.access.pairing`)
             |-echo-------> what Aldis itself wrote to the account's own chat: counted, dropped
             |-receipt----> proves an unknown send, if its author can have received one; otherwise it costs nothing
             |-other------> counted, dropped
             |-too much---> the first of a minute is stored, to be refused with a sentence; the others are dropped
             '-else-------> sealed in the inbox, committed; then the read receipt: "read" means "will be answered"

What arrives within a moment shares a commit, and nothing is made of it before that. If the inbox cannot be written, the
stream is closed, so that Signal's server keeps later messages; what is in hand is stored before the stream is reopened.
That is tried for ever, with pauses as long as the transport allows; any other sign that the bridge is back ends a pause
(`wake`). If the account is a person's own, only what the account writes to itself is admitted; nothing else is even
looked at.
Left to others: who an author is (`recognition`), what is done about strangers (`strangers`), what receipts confirm
(`receipts`), the inbox (`inbox_writer`), what to answer (`bot.loops.worker`).
"""

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from bot.access.access import AccessList
from bot.access.pairing import WaitingRoom
from bot.clock import Clock, is_set_within
from bot.errors import ConfigError, Disconnected
from bot.events import ChatId, Envelope, Kind, PersonId, Undecryptable
from bot.logs import RepeatedWarning, describe_error
from bot.loops.intake.aside import Aside
from bot.loops.intake.inbox_writer import Batch, InboxWriter
from bot.loops.intake.receipts import Receipts
from bot.loops.intake.recognition import MEMBERS_SECONDS, Recognition
from bot.loops.intake.strangers import Admission, Strangers
from bot.metrics import Counts
from bot.signal.protocol import Transport
from bot.unanswered import Unanswered
from store import Store, StoreError

_log = logging.getLogger(__name__)

_KEPT = {Kind.MESSAGE, Kind.EDIT, Kind.DELETE, Kind.REACTION, Kind.TIMER}
_FIRST_PAUSE_SECONDS = 0.5
_LASTING_SECONDS = 60.0
"""A stream that lasted this long was a good one, even if nothing arrived on it."""
_MAX_TOGETHER = 100
"""The limit of envelopes per commit."""
_QUIET_SHARE = 0.2
"""The share of that time in which nothing comes once a burst is over: signal-cli decrypts messages one by one, some
milliseconds apart.
"""
MAX_HOLD_SECONDS = 0.1
"""How long everything else waits for a burst at most."""
UNTRUSTED_IDENTITY = "UntrustedIdentityException"
"""The reason signal-cli gives for not decrypting messages of somebody with a new key."""


class Intake:
    """The loop of arrivals. Without `admission`, for the terminal, only the list decides and nothing is too much."""

    burst_seconds = 0.05
    """How long what has arrived waits for more of the same burst: all of it is on the disk before work begins."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        *,
        allowed: AccessList,
        name: str,
        pause_factor: float = 1.0,
        admission: Admission | None = None,
        members_seconds: float = MEMBERS_SECONDS,
        on_confirmation: Callable[[int], None] = lambda _: None,
        on_untrusted: Callable[[PersonId], None] = lambda _: None,
        on_group_change: Callable[[ChatId], None] = lambda _: None,
    ) -> None:
        """`on_confirmation` is called for each message of ours that a device confirms.

        `on_untrusted` is called with a person who wrote with a new key: nobody can read that until the key is trusted.
        `on_group_change` is called with a group that somebody changed, for example its members.
        """
        self._on_group_change = on_group_change
        self._on_untrusted = on_untrusted
        self._transport = transport
        self._clock = clock
        self._counts = counts
        self._unanswered = Unanswered(counts)
        self._pause_factor = pause_factor
        self._notes_to_self = allowed.note_to_self
        self._aside = Aside()
        self._recognition = Recognition(
            transport,
            store,
            clock,
            counts,
            allowed=allowed,
            asks_store=admission is not None,
            members_seconds=members_seconds,
        )
        self._strangers = Strangers(transport, clock, counts, self._aside, admission=admission, name=name)
        self._receipts = Receipts(
            transport, store, clock, counts, note_to_self=allowed.note_to_self, on_confirmation=on_confirmation
        )
        self._inbox = InboxWriter(
            transport,
            store,
            clock,
            counts,
            self._aside,
            self._unanswered,
            quota=admission.quota if admission else None,
            name=name,
        )
        self._outage = RepeatedWarning(_log)
        self._woken = asyncio.Event()
        self._quiet = asyncio.Event()
        """Cleared while a burst is being read."""
        self._quiet.set()
        self.pauses = False
        """Whether it is waiting before it reopens the stream."""
        self._stopping = False
        self._came = False
        """Whether anything has arrived on the current stream."""
        self._held: tuple[Envelope, ...] = ()
        """Taken from the stream but not stored yet: nobody else has them any longer."""

    @property
    def access(self) -> AccessList:
        """The access list, with the members of groups as far as the bridge has told them."""
        return self._recognition.allowed

    async def run(self) -> None:
        """Reads streams until it is stopped.

        Raises:
            ConfigError: the bridge says that it will never work.
        """
        pause_seconds = _FIRST_PAUSE_SECONDS
        looking = asyncio.create_task(self._recognition.keep_members(), name="members")
        try:
            while not self._stopping:
                self._counts.add("streams")
                began = time.monotonic()
                if await self._read() or time.monotonic() - began > _LASTING_SECONDS:
                    pause_seconds = _FIRST_PAUSE_SECONDS
                if self._stopping:
                    break
                pause_seconds = min(pause_seconds, self._transport.max_pause_seconds)
                await self._pause(pause_seconds * random.uniform(0.5, 1.0) * self._pause_factor)  # noqa: S311
                pause_seconds *= 2
            await self._take_held()
        except StoreError as error:
            _log.error("the inbox cannot be written: %s; %d envelopes are lost", error, len(self._held))
        finally:
            looking.cancel()
            await asyncio.wait([looking])

    @property
    def stops_last(self) -> bool:
        """Whether a shutdown must end the stream last: what arrives after its end is lost."""
        return not self._transport.keeps_messages

    def stop(self) -> None:
        """Ends the stream for good, in order: what the bridge has fetched is still taken, then `run` returns."""
        self._stopping = True
        self._transport.stop_receiving()
        self.wake()

    def wake(self) -> None:
        """Tries to open the stream at once: something else has just reached the bridge."""
        self._woken.set()

    async def wait_for_quiet(self) -> None:
        """Waits until no burst is being stored, at most a moment: whatever else begins would delay storing it."""
        await is_set_within(self._quiet, MAX_HOLD_SECONDS)

    async def _pause(self, seconds: float) -> None:
        self._woken.clear()
        self.pauses = True
        await is_set_within(self._woken, seconds)
        self.pauses = False

    async def read_once(self) -> None:
        """Reads one stream to its end, for a transport that ends for good, like the terminal."""
        await self._read_stream()

    async def take(self, *envelopes: Envelope) -> None:
        """Stores the admissible ones in one commit; if one of them fails, the others are stored nevertheless.

        Raises:
            StoreError: they could not be written, and must be delivered again.
        """
        self._held = envelopes
        for envelope in envelopes:
            self._counts.add(f"envelopes_{envelope.kind}")
        if not await self._take(*envelopes) and len(envelopes) > 1:
            for number, envelope in enumerate(envelopes):  # one of them always fails
                self._held = envelopes[number:]
                await self._take(envelope)
        self._held = ()

    async def _take(self, *envelopes: Envelope) -> bool:
        """Stores these in one commit; returns whether that succeeded. A single one that fails is skipped."""
        batch = Batch()
        try:
            gated = [envelope for envelope in envelopes if self._is_gated(envelope)]
            known = dict(zip(map(id, gated), await self._recognition.recognize(*gated), strict=True))
            for envelope in envelopes:
                if id(envelope) in known:
                    await self._gate(*known[id(envelope)], batch)
                else:
                    await self._sort(envelope, batch)
            await self._inbox.write(batch)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug must cost neither the others nor the stream)
            if len(envelopes) == 1:
                _log.error("an envelope failed and was skipped: %s", describe_error(error))
            return False
        return True

    def _is_gated(self, envelope: Envelope) -> bool:
        """Whether it is kept if its author may write: if notes to self are answered, they and nothing else."""
        return envelope.kind in _KEPT and envelope.from_self == self._notes_to_self

    async def _sort(self, envelope: Envelope, batch: Batch) -> None:
        """Handles an envelope that is not kept itself; what it proves is added to the batch."""
        if envelope.from_self:
            batch.receipts.extend(await self._receipts.from_self(envelope))
            self._inbox.pass_over(envelope, "own")
        elif self._notes_to_self:
            self._inbox.pass_over(envelope, "not_a_note" if envelope.kind in _KEPT else "other_kind")
        elif envelope.kind is Kind.RECEIPT:
            batch.receipts.extend(self._receipts.from_person(envelope))
        elif envelope.kind is Kind.UNDECRYPTABLE:
            self._unanswered.note("undecryptable")
            await self._suspect(envelope)
        else:
            self._inbox.pass_over(envelope, "other_kind")
            if envelope.chat and envelope.group_revision is not None:
                self._on_group_change(envelope.chat)

    async def aclose(self) -> None:
        """Cancels pending read receipts and codes."""
        await self._aside.aclose()

    async def _read(self) -> bool:
        """Reads one stream to its end, whatever ends it; returns whether anything arrived."""
        self._came = False
        try:
            await self._recognition.learn_members()
            await self._admit_all()
            await self._take_held()
            await self._read_stream()
            if self._stopping:
                return self._came
            self._outage.tell("the stream of messages ended; opening it again")
        except Disconnected as error:
            self._outage.tell(f"the stream of messages broke: {error}")
        except StoreError as error:
            self._outage.tell(f"the inbox cannot be written: {error}; nothing is read until it can", logging.ERROR)
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug must not make Aldis deaf)
            _log.error("the stream of messages failed: %s", describe_error(error))
            self._held = ()
        return self._came

    async def _read_stream(self) -> None:
        """Reads one stream to its end; what arrives within a moment is stored together, before anything else begins."""
        seconds = asyncio.get_running_loop().time
        due_at = 0.0
        coming: asyncio.Future[tuple[Envelope, ...]] | None = None
        async with aclosing(self._transport.envelopes()) as stream:
            try:
                while True:
                    coming = coming or asyncio.ensure_future(self._together(stream))
                    left = max(0.0, min(_QUIET_SHARE * self.burst_seconds, due_at - seconds())) if self._held else None
                    await asyncio.wait([coming], timeout=left)
                    is_over = coming.done() and (coming.exception() is not None or not coming.result())
                    if coming.done() and not is_over:
                        due_at = due_at if self._held else seconds() + self.burst_seconds
                        self._take_in(coming.result())
                        coming = None
                    if coming is not None or len(self._held) >= _MAX_TOGETHER or seconds() >= due_at:
                        await self._take_held()
                    if coming is not None and is_over:
                        coming.result()
                        return
                    if coming is not None:
                        self._quiet.set()
            finally:
                self._quiet.set()
                if coming is not None:
                    coming.cancel()
                    await asyncio.wait([coming])
                    if not coming.cancelled() and coming.exception() is None:
                        self._held += coming.result()  # it came while the disk refused the rest

    def _take_in(self, came: tuple[Envelope, ...]) -> None:
        self._came = True
        self._held += came
        self._quiet.clear()

    async def _together(self, stream: AsyncGenerator[Envelope]) -> tuple[Envelope, ...]:
        """The next envelopes that are there at once; none at the end of the stream."""
        came: list[Envelope] = []
        async for envelope in stream:
            came.append(envelope)
            if not self._transport.has_next or len(came) >= _MAX_TOGETHER:
                break
        return tuple(came)

    async def _take_held(self) -> None:
        if self._held:
            await self.take(*self._held)
            self._outage.end()

    # Who is there

    async def _gate(self, known: Envelope, may_write: bool, batch: Batch) -> None:  # noqa: FBT001
        """Admits it or turns it away."""
        if may_write:
            await self._inbox.keep(known, batch)
            return
        self._strangers.invite(known)
        self._strangers.hold(known)
        self._inbox.pass_over(known, "not_allowed")

    async def _suspect(self, envelope: Envelope) -> None:
        """Reports somebody who may write and has a new key."""
        event = self._transport.event(envelope)
        if not isinstance(event, Undecryptable) or event.reason != UNTRUSTED_IDENTITY:
            return
        if envelope.author is not None and not envelope.from_self:
            as_direct = replace(envelope, chat=ChatId.direct(envelope.author))
            [(_, may_write)] = await self._recognition.recognize(as_direct)
            if may_write:
                self._aside.begin(self._tell_untrusted(envelope, envelope.author), "key-probe")

    async def _tell_untrusted(self, envelope: Envelope, author: PersonId) -> None:
        """Reports a new key; signal-cli may learn it only by sending something to it, which does not arrive."""
        await self._transport.receipt(envelope)
        self._on_untrusted(author)

    async def admit(self, person: PersonId) -> None:
        """Stores what a person wrote while they waited, now that they were let in."""
        for room in self._strangers.rooms:
            await self._admit_from(room, person)

    async def _admit_from(self, room: WaitingRoom, person: PersonId) -> None:
        now = self._clock.now()
        ours = self._transport.account
        waiting = deque(one for one in room.release(person, now) if one.account == ours)
        try:
            while waiting:
                await self._take(waiting[0])
                waiting.popleft()
        except StoreError as error:
            _log.error("messages that somebody sent before being let in cannot be stored yet: %s", error)
        finally:
            for envelope in waiting:
                room.hold(person, envelope, now)

    async def _admit_all(self) -> None:
        """Lets in those whom the settings now admit: what they wrote has waited for this run."""
        for room in self._strangers.rooms:
            for person in room.people(self._clock.now()):
                newest = room.newest(person)
                if newest is None:
                    continue
                [(_, may_write)] = await self._recognition.recognize(newest)
                if may_write:
                    await self._admit_from(room, person)
