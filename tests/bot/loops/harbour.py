"""The whole of Aldis in one process between a quay and a thinker: frames come in, replies go out, time stands still.

async with harbour(store, clock) as port:
    asked = await port.deliver(message("How cold is it?"))
    await port.answered(1)
    await port.deliver(delete(asked))
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from bot.clock import SetClock
from bot.commands.admin import AdminCommands
from bot.commands.base import Commands, Desk
from bot.commands.chat import ChatCommands
from bot.commands.errands import Errands, Judgement
from bot.events import Envelope, Event, Reply, SentId
from bot.loops.courier import Courier, Patience
from bot.loops.housekeeping import Housekeeping
from bot.loops.intake import Intake
from bot.loops.worker import Pace, Worker
from bot.metrics import Counts
from bot.policy.access import EVERYBODY, AccessList
from bot.policy.pairing import Pairing
from bot.providers.base import Completion, Request
from bot.transports.reader import FrameReader
from bot.turn.agent import Agent, Limits
from bot.turn.approvals import Approvals
from bot.turn.revisions import Revisions
from bot.turn.turns import Turns
from store import Store
from tests.bot.loops.quay import Quay
from tests.bot.turn.talk import Scripted, says, toolbox
from tests.conftest import NOON
from tests.servers.envelopes import ACCOUNT, GROUP, Frame
from tools import Tool

WAIT_SECONDS = 30.0
FIRST = int(NOON.timestamp() * 1000)
"""What the quay calls the message before the first one that goes out; each has the next number."""


@dataclass
class Berth(Quay):
    """A quay whose envelopes are frames of signal-cli."""

    account: str = ACCOUNT

    def event(self, envelope: Envelope) -> Event | None:
        return FrameReader(ACCOUNT, "Aldis").event(envelope)

    async def send(self, reply: Reply) -> SentId:
        await super().send(reply)
        return SentId(FIRST + len(self.sent))


@dataclass
class Thinker(Scripted):
    """Answers "re: <the question's words>", after its gate for a word in it has opened; or as the script says."""

    script: list[Any] = field(default_factory=list[Any])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    asked: list[str] = field(default_factory=list[str])

    async def complete(self, request: Request) -> Completion:
        question = next(message.text for message in reversed(request.messages) if message.role == "user")
        self.requests.append(request)
        self.asked.append(question)
        for word, gate in self.gates.items():
            if word in question:
                await gate.wait()
        if self.script:
            return self.script.pop(0)
        return says(f"re: {question.partition('] ')[2]}")


@dataclass
class Port:
    """Everything that runs, and the means to wait for it."""

    store: Store
    clock: SetClock
    quay: Berth
    thinker: Thinker
    intake: Intake
    worker: Worker
    housekeeping: Housekeeping
    turns: Turns
    pairing: Pairing

    async def deliver(self, frame: Frame) -> int:
        """Let a frame arrive; gives the time under which its author knows it."""
        envelope = FrameReader(ACCOUNT, "Aldis").envelope(json.dumps(frame))
        assert envelope is not None
        await self.intake.take(envelope)
        return envelope.sent_at

    async def answered(self, count: int) -> list[Reply]:
        """Wait until so many replies went out, each revision by itself."""
        await self.quay.until(lambda: len(self.quay.sent) >= count)
        return self.quay.sent

    async def asked(self, count: int) -> None:
        """Wait until the model was asked so often."""
        await self.until(lambda: len(self.thinker.asked) >= count)

    async def quiet(self) -> None:
        """Wait until nothing is under way."""
        async with asyncio.timeout(WAIT_SECONDS):
            while await self._under_way():
                await asyncio.sleep(0.005)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while not holds():
                await asyncio.sleep(0.005)

    async def _under_way(self) -> int:
        return await self.store.read(lambda shelves: shelves.inbox.backlog().items + shelves.outbox.backlog().items)

    async def count(self, statement: str) -> int:
        """A number out of the database."""
        [(number,)] = await self.store.read(lambda shelves: shelves.inbox.rows(statement))
        return number


@asynccontextmanager
async def harbour(
    store: Store,
    clock: SetClock,
    *,
    tools: tuple[Tool, ...] = (),
    deletes_answers: bool = False,
    admins: frozenset[str] = frozenset(),
    retention: timedelta | None = None,
    **pace: Any,
) -> AsyncGenerator[Port]:
    """Aldis in one process; everything is over at the end."""
    quay, thinker, counts, pairing = Berth(), Thinker(), Counts(), Pairing()
    limits = Limits(max_tool_calls=5, max_history_tokens=10_000, max_output_tokens=1000, timeout_seconds=30)
    agent = Agent(thinker, toolbox(clock, *tools), system="Be kind.", limits=limits)
    turns = Turns(store, clock, max_turns=20, timezone="UTC", max_parts=5)
    revisions = Revisions(store, clock, turns, deletes_answers=deletes_answers)
    desk, approvals = Desk(store, turns), Approvals(store, clock, turns)
    entries = (
        *ChatCommands(desk, clock, approvals, timezone="UTC").entries,
        *AdminCommands(desk, clock, pairing, account=ACCOUNT).entries,
    )
    allowed = AccessList(persons=frozenset({EVERYBODY}), groups=frozenset({GROUP}), admins=admins)
    judgement = Judgement(name="Aldis", allowed=allowed)
    errands = Errands(
        quay,
        store,
        counts,
        turns=turns,
        revisions=revisions,
        approvals=approvals,
        commands=Commands(desk, entries),
        judgement=judgement,
    )
    worker = Worker(
        quay,
        store,
        clock,
        counts,
        turns=turns,
        agent=agent,
        approvals=approvals,
        errands=errands,
        pace=Pace(**{"conversations_at_once": 4, "turn_timeout_seconds": 30, "max_attempts": 2, **pace}),
        judgement=judgement,
    )
    intake = Intake(quay, store, clock, counts, allowed=allowed, name="Aldis", receipt_window=timedelta(seconds=60))
    courier = Courier(quay, store, clock, counts, patience=Patience(grace_seconds=60))
    housekeeping = Housekeeping(store, clock, revisions, retention=retention)
    running = [asyncio.create_task(loop.run()) for loop in (worker, courier)]
    try:
        yield Port(store, clock, quay, thinker, intake, worker, housekeeping, turns, pairing)
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        await intake.aclose()
