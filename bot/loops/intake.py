"""Intake: reads the transport's stream and writes down what may come in, before anything else happens to it.

    envelope --stranger---> counted, gone; perhaps a code to be let in with (`bot.policy.pairing`), and what they ask is
             |              held until they are (`bot.policy.waiting`)
             |-echo-------> what Aldis itself wrote to the account's own chat: counted, gone
             |-receipt----> proves an unknown send, if its author can have received one; else it costs nothing
             |-other------> counted, gone
             |-too much---> the first of a minute is written down to be refused with a sentence, the others are gone
             '-else-------> sealed in the inbox, committed; then the read receipt: "read" means "will be answered"

The next envelope is read only after the commit. If the inbox cannot be written, the stream is closed, so that
Signal's server keeps what comes meanwhile; the envelope in hand is written down before the stream is opened again.
That is tried for ever, with pauses as long as the transport can bear; what shows elsewhere that the bridge is back ends
one (`wake`).
Where the account is a person's own, only what the account writes to itself comes in; nothing else is even looked at.
Left to others: what to answer (`bot.loops.worker`), what is too much (`bot.policy.limits`).
"""

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot import events
from bot.clock import Clock, is_set_within
from bot.errors import ConfigError, Disconnected, TransportError
from bot.events import (
    Attachment,
    ChatId,
    Deleted,
    Edited,
    Envelope,
    Event,
    Incoming,
    Kind,
    PersonId,
    Receipt,
    Reply,
    SentId,
    Styled,
    Undecryptable,
    UnreadableEvent,
)
from bot.i18n import phrases
from bot.i18n.catalogues import say
from bot.logs import RepeatedWarning, describe_error
from bot.metrics import Counts
from bot.policy.access import AccessList, is_direct, may_write, members_of
from bot.policy.callers import Callers
from bot.policy.limits import CallRate, Quota, Refusal, taken_at
from bot.policy.pairing import GOOD_FOR, Pairing
from bot.policy.routing import Command, Correction, Question, Verdict, route
from bot.policy.waiting import WaitingRoom
from bot.transports.base import Transport
from bot.transports.envelope.files import files_in
from bot.turn import chats
from bot.unanswered import Unanswered
from store import Arrival, Confirmation, Repositories, Store, StoreError

_log = logging.getLogger(__name__)

_KEPT = {Kind.MESSAGE, Kind.EDIT, Kind.DELETE, Kind.REACTION, Kind.TIMER}
_FIRST_PAUSE_SECONDS = 0.5
_LASTING_SECONDS = 60.0
"""A stream that lasted so long was a good one, also when nothing came over it."""
_MAX_TOGETHER = 100
"""So many envelopes are written down in one commit at most."""
_MAX_ASIDE = 64
"""Read receipts and codes under way at once; beyond that they are left out, for nothing depends on them."""
_MAX_RECEIPTS_A_MINUTE = 240
"""Of one person: a phone confirms each message and each revision of one twice, as delivered and as read."""
UNTRUSTED_IDENTITY = "UntrustedIdentityException"
"""Why signal-cli does not decrypt what somebody with a new key writes."""
_MEMBERS_SECONDS = 600.0
_MAX_LOOKS = 5
"""How often the members of groups are asked for before the first stream is opened without them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """Who is let in beyond the list of names, and how much is too much."""

    quota: Quota
    pairing: Pairing | None = None
    """None: strangers are told nothing at all."""
    callers: Callers | None = None
    """None: no page waits for anybody."""

    @property
    def rooms(self) -> tuple[WaitingRoom, ...]:
        """Where strangers wait to be let in."""
        return tuple(room for room in (self.pairing, self.callers) if room is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    """Something that is to be written down."""

    envelope: Envelope
    arrival: Arrival
    max_waiting: int | None = None
    """How many may wait in its conversation before it; None: it is written down in any case."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """What is written down in one commit."""

    entries: list[_Entry] = field(default_factory=list[_Entry])
    receipts: list[Confirmation] = field(default_factory=list[Confirmation])


class Intake:
    """The loop of arrivals. Without `admission` the list alone decides, and nothing is too much: for the terminal."""

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
        members_seconds: float = _MEMBERS_SECONDS,
        on_confirmation: Callable[[int], None] | None = None,
        on_untrusted: Callable[[PersonId], None] | None = None,
    ) -> None:
        """`on_confirmation` is told each time of a message of ours that a device confirms.

        `on_untrusted` is told who has written with a new key: nobody can read it before that is trusted.
        """
        self._on_confirmation = on_confirmation
        self._on_untrusted = on_untrusted
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self._unanswered = Unanswered(counts)
        self._allowed = allowed
        self._name = name
        self._pause_factor = pause_factor
        self._admission = admission
        self._rooms = admission.rooms if admission else ()
        self._members_seconds = members_seconds
        self._numbers = allowed.numbers if admission else frozenset[str]()
        self._holders: dict[str, PersonId] = {}
        """Who has a listed number, as far as they wrote since the start."""
        self._changed_numbers: set[str] = set()
        self._receipts = CallRate(_MAX_RECEIPTS_A_MINUTE)
        self._aside: set[asyncio.Task[None]] = set()
        self._outage = RepeatedWarning(_log)
        self._woken = asyncio.Event()
        self.pauses = False
        """Whether it waits before it opens the stream again."""
        self._stopping = False
        self._held: tuple[Envelope, ...] = ()
        """Taken from the stream and not written down yet: nobody else has them any more."""

    @property
    def access(self) -> AccessList:
        """Who may write, with the members of the groups as far as the bridge has told them."""
        return self._allowed

    async def run(self) -> None:
        """Read streams until it is stopped.

        Raises:
            ConfigError: the bridge says that it will never work.
        """
        pause_seconds = _FIRST_PAUSE_SECONDS
        looking = asyncio.create_task(self._keep_members(), name="members")
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
        """Whether at a stop everything else ends before the stream: what comes after that is lost."""
        return not self._transport.keeps_messages

    def stop(self) -> None:
        """Let the stream end in order, for good: what the bridge has fetched still comes in, then `run` ends."""
        self._stopping = True
        self._transport.stop_receiving()
        self.wake()

    def wake(self) -> None:
        """Try at once to open the stream: something else has just reached the bridge."""
        self._woken.set()

    async def _pause(self, seconds: float) -> None:
        self._woken.clear()
        self.pauses = True
        await is_set_within(self._woken, seconds)
        self.pauses = False

    async def read_once(self) -> None:
        """Read one stream to its end: for a transport that ends for good, like the terminal."""
        await self._read_stream()

    async def take(self, *envelopes: Envelope) -> None:
        """Write down those that may come in, in one commit; where one of them fails, the others come in all the same.

        Raises:
            StoreError: they could not be written; they must be delivered again.
        """
        self._held = envelopes
        for envelope in envelopes:
            self._counts.add(f"envelopes_{envelope.kind}")
        if not await self._take(*envelopes) and len(envelopes) > 1:
            for number, envelope in enumerate(envelopes):  # one of them fails, whatever is done about it
                self._held = envelopes[number:]
                await self._take(envelope)
        self._held = ()

    async def _take(self, *envelopes: Envelope) -> bool:
        """Write these down in one commit; gives whether that succeeded. One that fails alone is passed over."""
        batch = _Batch()
        try:
            for envelope in envelopes:
                await self._sort(envelope, batch)
            await self._write(batch)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug must not cost the others, nor the stream)
            if len(envelopes) == 1:
                _log.error("an envelope was passed over, for it failed: %s", describe_error(error))
            return False
        return True

    async def _sort(self, envelope: Envelope, batch: _Batch) -> None:
        """Do what is to be done about an envelope; what is to be written down becomes part of the batch."""
        if envelope.from_self and not (self._allowed.note_to_self and envelope.kind in _KEPT):
            await self._notice(envelope, batch)
            self._pass_over(envelope, "own")
        elif self._allowed.note_to_self and not envelope.from_self:
            self._pass_over(envelope, "not_a_note" if envelope.kind in _KEPT else "other_kind")
        elif envelope.kind is Kind.RECEIPT:
            self._hear(envelope, batch)
        elif envelope.kind is Kind.UNDECRYPTABLE:
            self._unanswered.note("undecryptable")
            await self._suspect(envelope)
        elif envelope.kind in _KEPT:
            await self._gate(envelope, batch)
        else:
            self._pass_over(envelope, "other_kind")

    async def aclose(self) -> None:
        """Give the read receipts and codes under way up."""
        for task in self._aside:
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)

    async def _read(self) -> bool:
        """Read one stream to its end, whatever ends it; gives whether anything came."""
        came = False
        try:
            await self._learn_members()
            await self._admit_all()
            await self._take_held()
            came = await self._read_stream()
            if self._stopping:
                return came
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
        return came

    async def _read_stream(self) -> bool:
        """Read one stream to its end; what has come together is taken together. Gives whether anything came."""
        came = False
        async with aclosing(self._transport.envelopes()) as stream:
            async for envelope in stream:
                came = True
                self._held += (envelope,)
                if not self._transport.has_next or len(self._held) >= _MAX_TOGETHER:
                    await self._take_held()
                    self._outage.end()
        return came

    async def _take_held(self) -> None:
        if self._held:
            await self.take(*self._held)

    # Who is there

    async def _gate(self, envelope: Envelope, batch: _Batch) -> None:
        """Keep it or turn it away."""
        known, is_approved = await self._recognized(envelope)
        if may_write(known, self._allowed, is_approved=is_approved):
            await self._keep(known, batch)
            return
        self._invite(known)
        self._hold(known)
        self._pass_over(known, "not_allowed")

    async def _suspect(self, envelope: Envelope) -> None:
        """Tell of somebody who may write and has a new key."""
        event = self._transport.event(envelope)
        if self._on_untrusted is None or not isinstance(event, Undecryptable) or event.reason != UNTRUSTED_IDENTITY:
            return
        if envelope.author is not None and not envelope.from_self:
            known, is_approved = await self._recognized(replace(envelope, chat=ChatId.direct(envelope.author)))
            if may_write(known, self._allowed, is_approved=is_approved):
                self._do_aside(self._tell_untrusted(envelope, envelope.author, self._on_untrusted), "key-probe")

    async def _tell_untrusted(
        self, envelope: Envelope, author: PersonId, on_untrusted: Callable[[PersonId], None]
    ) -> None:
        """signal-cli may know of a new key only once it has tried to send something to it; so that does not arrive."""
        await self._transport.receipt(envelope)
        on_untrusted(author)

    async def _recognized(self, envelope: Envelope) -> tuple[Envelope, bool]:
        """The envelope with the listed number that is surely the author's (or none), and whether they were let in."""
        author, account, number = envelope.author, envelope.account, envelope.number
        if self._admission is None or author is None or envelope.from_self:
            return envelope, False
        if number and number in self._numbers:
            if await self._has(number, author):
                return envelope, False
            envelope = replace(envelope, number=None)
        elif not self._numbers and may_write(envelope, self._allowed):
            return envelope, False
        pinned, is_approved = await self._store.read(
            lambda repos: (
                repos.people.number_of(author, self._numbers),
                repos.people.is_allowed(author, account=account),
            )
        )
        return (replace(envelope, number=pinned) if pinned else envelope), is_approved

    async def _has(self, number: str, author: PersonId) -> bool:
        """Whether a listed number is the author's: pinned to them, to nobody yet, or their uuid is listed, too."""
        if self._holders.get(number) == author:
            return True
        now, is_confirmed = self._clock.wall(), author in self._allowed.persons | self._allowed.admins
        if await self._store.transaction(
            lambda repos: repos.people.pin(number, author, now=now, is_confirmed=is_confirmed)
        ):
            self._holders[number] = author
            return True
        if number not in self._changed_numbers:
            self._changed_numbers.add(number)
            self._counts.add("numbers_changed")
            _log.error(
                "a phone number on the access list now belongs to another account, which is refused; see `python -m "
                "bot doctor`. If that is right, put the account's uuid into the list"
            )
        return False

    async def _keep_members(self) -> None:
        """Learn again and again who is in the listed groups; while the bridge does not tell, what was known holds."""
        while self._allowed.needs_members:
            await asyncio.sleep(self._members_seconds)
            with suppress(Disconnected, ConfigError):
                await self._look_up_members()

    async def _learn_members(self) -> None:
        """Learn who is in the listed groups before anything is taken: a member who writes must not pass for a stranger.

        Raises:
            Disconnected: the bridge did not tell; one that answers everything but this is taken as it is in the end.
        """
        if not self._allowed.needs_members or self._allowed.members:
            return
        try:
            await self._look_up_members()
        except (Disconnected, ConfigError) as error:
            if self._counts.add("members_unknown") < _MAX_LOOKS:
                raise Disconnected(f"the members of the listed groups are not known: {error}") from error
            _log.error("the members of the listed groups are not known (%s): for now they are strangers", error)

    async def _look_up_members(self) -> None:
        groups = await self._transport.groups()
        self._allowed = replace(self._allowed, members=members_of(groups, self._allowed))

    def _invite(self, envelope: Envelope) -> None:
        """Give a stranger who wrote directly a code, if it is their turn."""
        pairing, author, chat = self._admission and self._admission.pairing, envelope.author, envelope.chat
        if pairing is None or author is None or chat is None or not is_direct(envelope):
            return
        now = self._clock.now()
        # A phone also sends frames without a word in them; nobody waits for an answer to those.
        if envelope.kind is not Kind.MESSAGE or not pairing.has_room(author, now) or not self._is_for_us(envelope):
            return
        code = pairing.code(author, now)
        if code is not None:
            self._counts.add("codes_given")
            # Perhaps nobody asks for it any more; what the stranger wrote goes with it all the same.
            asyncio.get_running_loop().call_later(GOOD_FOR.total_seconds(), pairing.forget, now + GOOD_FOR)
            self._do_aside(
                self._sent(Reply(chat=chat, content=Styled(text=say(phrases.INVITATION, code=code)))), "pairing-code"
            )

    def _hold(self, envelope: Envelope) -> None:
        """What a stranger asks who waits to be let in is answered then; until then nothing of it is written."""
        author, now = envelope.author, self._clock.now()
        if author is None or not is_direct(envelope):
            return
        if self._admission is not None and self._admission.callers is not None and envelope.kind is Kind.MESSAGE:
            self._admission.callers.note(envelope)
        rooms = [room for room in self._rooms if author in room.people(now)]
        event = self._transport.event(envelope) if rooms else None
        # A command that was not carried out when it was given is not carried out later.
        is_asked = isinstance(route(event, name=self._name), Question | Correction)
        for room in rooms:
            if isinstance(event, Deleted):
                room.take_back(author, event.target)
            elif is_asked:
                room.hold(author, envelope, now)

    async def admit(self, person: PersonId) -> None:
        """Somebody was let in: what they wrote while they waited comes in."""
        for room in self._rooms:
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
            _log.error("what somebody wrote before they were let in waits: it cannot be written down: %s", error)
        finally:
            for envelope in waiting:
                room.hold(person, envelope, now)

    async def _admit_all(self) -> None:
        """Admit those who were let in by other settings: what they wrote has waited for this run."""
        for room in self._rooms:
            for person in room.people(self._clock.now()):
                newest = room.newest(person)
                if newest is None:
                    continue
                known, is_approved = await self._recognized(newest)
                if may_write(known, self._allowed, is_approved=is_approved):
                    await self._admit_from(room, person)

    async def _sent(self, reply: Reply) -> None:
        try:
            await self._transport.send(reply)
        except TransportError as error:
            _log.info("a code for a stranger was not sent: %s", error)

    # What is written down

    async def _keep(self, envelope: Envelope, batch: _Batch) -> None:
        """Let it be written down if there is room for it, to be answered or to be refused."""
        now = self._clock.now()
        quota = self._admission and self._admission.quota
        if quota is not None and not quota.has_room(envelope, now, beside=len(batch.entries)):
            # Only what is written down counts, so that is done first where it might be one too many.
            await self._write(batch)
            if not quota.has_room(envelope, now):
                await self._refuse(envelope, now, quota, "too_many")
                return
        max_waiting = quota.max_waiting(envelope) if quota else None
        arrival = await self._arrival(envelope, now, refusal=None)
        batch.entries.append(_Entry(envelope=envelope, arrival=arrival, max_waiting=max_waiting))

    async def _write(self, batch: _Batch) -> None:
        """Commit a batch, entries to the inbox in their order, and do what follows; nothing is left in it."""
        receipts = await self._provable(batch.receipts)
        outcomes, count = [], 0
        if batch.entries or receipts:
            now = self._clock.now()
            outcomes, count = await self._store.transaction(
                lambda repos: (
                    [self._put(repos, entry) for entry in batch.entries],
                    repos.attempts.prove_all(receipts, now=now),
                )
            )
        if count:
            self._counts.add("sends_proved", count)
            _log.debug("receipts proved %d sends whose outcome was not known yet", count)
        written = [*batch.entries]
        batch.entries.clear()
        batch.receipts.clear()
        quota = self._admission and self._admission.quota
        for entry, (reason, answers_always) in zip(written, outcomes, strict=True):
            now = entry.arrival.received_at
            if reason == "queue_full" and quota is not None:
                await self._refuse(entry.envelope, now, quota, "queue_full")
            elif reason is not None:
                self._unanswered.note(reason)
            elif self._is_confirmed(entry, answers_always=answers_always):
                self._do_aside(self._transport.receipt(entry.envelope), "read-receipt")
            if quota is not None and reason != "queue_full" and entry.arrival.refusal is None:
                quota.count(entry.envelope, now)

    def _put(self, repos: Repositories, entry: _Entry) -> tuple[str | None, bool]:
        """Write one down; gives why it was not, and whether its group wants everything to be answered."""
        envelope, arrival = entry.envelope, entry.arrival
        if envelope.from_self and self._is_echo(repos, arrival, envelope):
            return "echo", False
        if entry.max_waiting is not None and repos.inbox.waiting(arrival.conversation) >= entry.max_waiting:
            return "queue_full", False
        if repos.inbox.put(arrival) is None:
            return "duplicate", False
        if is_direct(envelope):
            return None, False
        return None, chats.settings_of(repos, arrival.conversation, arrival.received_at).answers_always

    def _is_confirmed(self, entry: _Entry, *, answers_always: bool) -> bool:
        """Whether its author waits to see that it was read, now that it is written down."""
        if entry.arrival.refusal is not None or entry.envelope.from_self:
            return False
        try:
            return self._is_for_us(entry.envelope, answers_always=answers_always)
        except Exception as error:  # noqa: BLE001  (the worker will say that it failed; the others are confirmed)
            _log.error("a message that was written down cannot be read: %s", describe_error(error))
            return False

    def _is_echo(self, repos: Repositories, arrival: Arrival, envelope: Envelope) -> bool:
        """Whether Aldis itself has written it, known by its time, or by its words while nobody knows the time yet.

        The sender writes down what it sends before it does, so nothing of ours comes back unknown.
        """
        if repos.attempts.is_ours(arrival.conversation, envelope.sent_at):
            return True
        if not _is_underway(self._transport.event(envelope), repos.outbox.doubtful(arrival.conversation)):
            return False
        repos.attempts.prove(
            str(envelope.chat), (envelope.sent_at,), now=arrival.received_at, stamped_at=self._clock.wall()
        )
        return True

    async def _refuse(self, envelope: Envelope, now: datetime, quota: Quota, refusal: Refusal) -> None:
        """Write the first of a minute down to be refused, where somebody waits for an answer; drop the others."""
        self._unanswered.note(refusal)
        if quota.may_tell(envelope, now) and self._is_for_us(envelope):
            arrival = await self._arrival(envelope, now, refusal)
            await self._write(_Batch([_Entry(envelope=envelope, arrival=arrival)]))
            quota.on_refusal(envelope, now)
        else:
            self._leave(envelope)

    async def _arrival(self, envelope: Envelope, now: datetime, refusal: Refusal | None) -> Arrival:
        assert envelope.author is not None and envelope.chat is not None  # noqa: S101, PT018  (may_write saw to it)
        seconds = envelope.expires_in_seconds
        return Arrival(
            conversation=await self._store.conversation(envelope.chat, now=now),
            account=envelope.account,
            author=envelope.author,
            device=envelope.device,
            sent_at=envelope.sent_at,
            kind=envelope.kind,
            envelope=events.dump_value(self._with_wait(envelope)),
            received_at=now,
            urgent=envelope.is_urgent and refusal is None,
            expires_at=now + timedelta(seconds=seconds) if seconds > 0 else None,
            refusal=refusal,
        )

    def _with_wait(self, envelope: Envelope) -> Envelope:
        """The envelope with how long it had waited, where the bridge has not told that: by two clocks, then."""
        if envelope.waited_ms is not None or envelope.server_at is None:
            return envelope
        wall_ms = int(self._clock.wall().timestamp() * 1000)
        return replace(envelope, waited_ms=max(0, wall_ms - envelope.server_at))

    def _is_for_us(self, envelope: Envelope, *, answers_always: bool = False) -> bool:
        """Whether somebody waits for an answer to it."""
        match route(self._transport.event(envelope), name=self._name, answers_always=answers_always):
            case Question() | Verdict(target=None, instead=Question()):
                return True
            case Command(is_addressed=is_addressed):
                return is_addressed
            case _:
                return False

    def _do_aside(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Do something that nobody waits for, beside the stream."""
        if len(self._aside) >= _MAX_ASIDE:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    def _pass_over(self, envelope: Envelope, reason: str) -> None:
        """It does not come in."""
        self._unanswered.note(reason)
        self._leave(envelope)

    def _leave(self, envelope: Envelope) -> None:
        """Have the bridge delete the files that it has fetched for what does not come in."""
        if files := files_in(envelope.raw):
            self._do_aside(self._discarded(files), "discard")

    async def _discarded(self, files: tuple[Attachment, ...]) -> None:
        for file in files:
            await self._transport.discard(file)

    async def _notice(self, envelope: Envelope, batch: _Batch) -> None:
        """What another device of the account has shown of our own messages: it proves a send to the account itself."""
        confirmed = self._transport.event(envelope)
        if not isinstance(confirmed, Receipt):
            return
        if self._on_confirmation is not None:
            for target in confirmed.targets:
                self._on_confirmation(target)
        if self._allowed.note_to_self:
            await self._hear_shown(confirmed, batch)

    async def _hear_shown(self, confirmed: Receipt, batch: _Batch) -> None:
        """What the owner's phone has shown in the account's own chat went out, unless the owner wrote it."""
        chat = ChatId.direct(confirmed.author)
        conversation = await self._store.conversation(chat, now=self._clock.now())

        def unwritten(repos: Repositories) -> list[SentId]:
            """Those that the owner has not written themselves."""
            find = repos.inbox.find
            return [at for at in confirmed.targets if find(conversation, confirmed.author, at) is None]

        batch.receipts.append(self._confirmation(chat, await self._store.read(unwritten)))

    def _hear(self, envelope: Envelope, batch: _Batch) -> None:
        """Let a receipt prove what it can; one too many of a minute is left, for phones do not send so many."""
        receipt = self._transport.event(envelope)
        if not isinstance(receipt, Receipt):
            return
        if self._receipts.admits(receipt.author, taken_at(envelope, self._clock.now())):
            batch.receipts.append(self._confirmation(ChatId.direct(receipt.author), receipt.targets))
        else:
            self._counts.add("receipts_too_many")

    def _confirmation(self, chat: ChatId, names: Collection[SentId]) -> Confirmation:
        """Whoever has the direct chat says now that they have received what has these names."""
        return Confirmation(address=chat, names=names, came_at=self._clock.now(), stamped_at=self._clock.wall())

    async def _provable(self, receipts: list[Confirmation]) -> list[Confirmation]:
        """Those that can mean something: the others cost no commit."""
        if not receipts:
            return []
        now = self._clock.now()
        return await self._store.read(lambda repos: repos.attempts.provable(receipts, now=now))


def _is_underway(event: Event | None, doubtful: Iterable[bytes]) -> bool:
    """Whether the event says what one of the messages says that may be on their way, as the outbox keeps them."""
    message = event.message if isinstance(event, Edited) else event
    return isinstance(message, Incoming) and message.text.strip() in map(_words, doubtful)


def _words(stored: bytes) -> str | None:
    """What a message in the outbox says; None where it is none, or cannot be read."""
    try:
        outgoing = events.outgoing(stored)
    except UnreadableEvent:
        return None
    return outgoing.content.text.strip() if isinstance(outgoing, Reply) else None
