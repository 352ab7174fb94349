"""Worker: takes what waits in the inbox and sees each turn through, one at a time per conversation, many side by side.

    claim --> read the envelopes --> route --nothing to answer--> ignore
                                       '----> load --> agent --> keep
    it takes too long, or is stopped: the person is told.   It fails: tried again, after a few times buried and told.
    Aldis is shut down: handed back, it does not count as a try.

Left to others: everything about the answer (`bot.turn`), sending it (`bot.loops.courier`).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot import events, phrases
from bot.events import ChatId, Envelope, Incoming, UnreadableEvent
from bot.logs import described
from bot.metrics import Counts
from bot.policy.routing import Question, route
from bot.transports.base import Progress, Transport
from bot.turn.agent import Agent
from bot.turn.turns import Outcome, Turn, Turns
from store import Claim, ConversationId, Store, StoreError

_log = logging.getLogger(__name__)

_TYPING_SECONDS = 8.0
"""Signal hides the indicator after 15 s. Source: Signal-Android, TypingStatusRepository (2026)."""
_CLAIM_MARGIN_SECONDS = 60.0
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """How much at once, how long, how often."""

    conversations_at_once: int
    turn_timeout_seconds: float
    max_attempts: int


class Worker:
    """The loop of turns."""

    def __init__(
        self, transport: Transport, store: Store, turns: Turns, agent: Agent, counts: Counts, *, pace: Pace, name: str
    ) -> None:
        self._transport = transport
        self._store = store
        self._turns = turns
        self._agent = agent
        self._counts = counts
        self._pace = pace
        self._name = name
        self._running: dict[ConversationId, asyncio.Task[None]] = {}
        self._stopped: set[ConversationId] = set()
        self._is_closing = False
        self._is_more_waiting = False
        """Whether something waits that could not be taken when last looked; then the end of a turn is worth a look."""
        self._ends = 0
        """How many turns have ended."""

    async def run(self) -> None:
        """Take turns until `drain` is called or the task is cancelled."""
        bell = self._store.bells["inbox"]
        async with asyncio.TaskGroup() as group:
            while not self._is_closing:
                bell.clear()
                try:
                    await self._take_all(group)
                except StoreError as error:
                    _log.error("the inbox cannot be read: %s", error)
                    await asyncio.sleep(_PAUSE_SECONDS)
                    continue
                await bell.wait()

    def drain(self) -> None:
        """Take nothing new; `run` returns when the turns under way have ended."""
        self._is_closing = True
        self._store.bells["inbox"].set()

    def running_turns(self) -> set[str]:
        """The names of the turns under way."""
        return {task.get_name() for task in self._running.values()}

    def stop_turns(self) -> None:
        """Stop what is under way, as a person asks for it: each conversation hears that."""
        self._stopped |= self._running.keys()
        for task in self._running.values():
            task.cancel()

    async def _take_all(self, group: asyncio.TaskGroup) -> None:
        most = self._pace.conversations_at_once - len(self._running)
        if most <= 0:
            self._is_more_waiting = True
            return
        seconds = self._pace.turn_timeout_seconds + _CLAIM_MARGIN_SECONDS
        ends = self._ends
        claims, self._is_more_waiting = await self._turns.claim(busy=self._running.keys(), seconds=seconds, most=most)
        if self._is_more_waiting and self._ends != ends:
            # It may wait for a turn that has ended since: nobody else would look again.
            self._store.bells["inbox"].set()
        for claim in claims:
            task = group.create_task(self._see_through(claim), name=f"turn-{claim.turn}")
            self._running[claim.conversation] = task
            task.add_done_callback(lambda _, claim=claim: self._ended(claim))

    def _ended(self, claim: Claim) -> None:
        self._running.pop(claim.conversation, None)
        self._stopped.discard(claim.conversation)
        self._ends += 1
        if self._is_more_waiting:
            self._store.bells["inbox"].set()

    async def _see_through(self, claim: Claim) -> None:
        """One claim to its end; raises nothing but cancellation."""
        try:
            await self._served(claim)
        except asyncio.CancelledError:
            await self._handed_back(claim, counts=False)
            raise
        except Exception as error:  # noqa: BLE001  (one turn's failure must not end the others)
            self._counts.add("turns_failed")
            _log.error("turn %d failed (try %d): %s", claim.turn, claim.attempt, described(error))
            await asyncio.sleep(_PAUSE_SECONDS)
            await self._handed_back(claim, counts=True)

    async def _handed_back(self, claim: Claim, *, counts: bool) -> None:
        try:
            await self._turns.hand_back(claim, counts=counts)
        except StoreError as error:
            # Housekeeping finds the claim when its deadline has passed.
            _log.error("turn %d could not be handed back: %s", claim.turn, error)

    async def _served(self, claim: Claim) -> None:
        try:
            envelopes = [events.loaded(Envelope, item.envelope) for item in claim.items]
        except UnreadableEvent:
            _log.error("turn %d cannot be read and is given up", claim.turn)
            await self._turns.discard(claim)
            return
        incoming = tuple(self._questions(envelopes))
        if not incoming:
            await self._turns.ignore(claim)
            return
        turn = await self._turns.load(claim, incoming)
        if claim.attempt > self._pace.max_attempts:
            self._counts.add("turns_buried")
            _log.error("turn %d was tried %d times and is given up", claim.turn, claim.attempt - 1)
            await self._turns.bury(turn)
            return
        async with self._typing(turn.chat):
            outcome = await self._outcome(turn)
            # Before the indicator is taken away: a bridge that is slow to do that must not hold the answer back.
            await self._turns.keep(turn, outcome)
        self._counts.add("turns_answered" if outcome.ok else "turns_answered_with_failure")

    def _questions(self, envelopes: list[Envelope]) -> Iterator[Incoming]:
        for envelope in envelopes:
            match route(self._transport.event(envelope), name=self._name):
                case Question(message=message):
                    yield message
                case ignored:
                    self._counts.add(f"ignored_{ignored.reason}")

    async def _outcome(self, turn: Turn) -> Outcome:
        """What the agent comes to, or what is said when it was stopped or took too long."""

        async def watch(progress: Progress) -> None:
            await self._transport.progress(turn.chat, progress)

        journal = self._turns.journal(turn)
        try:
            async with asyncio.timeout(self._pace.turn_timeout_seconds):
                return await self._agent.answer(turn, journal, watch)
        except TimeoutError:
            return journal.spent(phrases.TOOK_TOO_LONG)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or turn.conversation not in self._stopped:
                raise
            task.uncancel()
            return journal.spent(phrases.STOPPED)

    @asynccontextmanager
    async def _typing(self, chat: ChatId) -> AsyncGenerator[None]:
        shown = asyncio.Event()

        async def keep_typing() -> None:
            while True:
                shown.set()
                await self._transport.typing(chat, started=True)
                await asyncio.sleep(_TYPING_SECONDS)

        task = asyncio.create_task(keep_typing(), name="typing")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            if shown.is_set():
                await self._transport.typing(chat, started=False)
