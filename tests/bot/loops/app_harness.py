"""The whole of Aldis in one process between a fake transport and a fake model: frames come in, replies go out, time
stands still.

async with app_harness(store, clock) as aldis:
    asked = await aldis.deliver(message("How cold is it?"))
    await aldis.answered(1)
    await aldis.deliver(delete(asked))
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bot.access.access import EVERYBODY, AccessList
from bot.access.pairing import Pairing
from bot.app import Services, service
from bot.chat.status import EMOJI, Mode, Reactions, StatusMessages
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.commands.base import CommandContext, CommandGroup
from bot.events import Envelope, Event, Removal, Reply, SentId
from bot.features.memory import Remember
from bot.features.recall import Indexer
from bot.features.reminders.service import Reminders
from bot.features.safety_numbers import SafetyNumbers
from bot.features.summaries import Summaries
from bot.features.watches.service import Lookout
from bot.features.watches.tool import WatchTool
from bot.loops.intake import Intake
from bot.loops.maintenance import Maintenance
from bot.loops.sender import Sender
from bot.loops.watchdog import Watchdog
from bot.loops.worker import Worker
from bot.models.base import Completion, Request
from bot.settings import BudgetSettings
from bot.settings.groups import HistorySettings
from bot.signal.envelope import FrameReader
from bot.signal.protocol import Group
from store import Store
from tests.bot.chat.turn_helpers import Scripted, says, settings_with
from tests.bot.loops.fake_transport import FakeTransport
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.cells import sandbox
from tests.conftest import NOON
from tests.servers.envelopes import ALDIS, GROUP, Frame, message
from tests.waiting import DEADLINE_SECONDS, eventually, eventually_found
from tools import Embedder, Tool, ToolSource

TWO_DOLLARS_A_DAY = BudgetSettings(all_day_usd=Decimal(2))
FIRST = int(NOON.timestamp() * 1000)
"""What the fake transport calls the message before the first one that goes out; each has the next number."""


@dataclass
class HarnessTransport(FakeTransport):
    account: str = ALDIS.uuid
    known_groups: tuple[Group, ...] = (Group(id=GROUP, name="", members=frozenset(), is_complete=False),)

    def event(self, envelope: Envelope) -> Event | None:
        return FrameReader(OWN_ACCOUNT, "Aldis").event(envelope)

    async def send(self, reply: Reply) -> SentId:
        await super().send(reply)
        return SentId(FIRST + len(self.sent))

    async def remove(self, removal: Removal) -> SentId:
        await super().remove(removal)
        return SentId(FIRST + 1000 * len(self.removed))


@dataclass
class FakeModel(Scripted):
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
        step = self.script.pop(0) if self.script else None
        if isinstance(step, Exception):
            raise step
        return step or says(f"re: {question.partition('] ')[2]}")


@dataclass
class Harness:
    store: Store
    clock: SetClock
    transport: HarnessTransport
    model: FakeModel
    intake: Intake
    worker: Worker
    maintenance: Maintenance
    turns: Turns
    pairing: Pairing
    reminders: Reminders
    """Not run: a story lets it look when it is time."""
    watches: Lookout
    """Nor this one."""
    summaries: Summaries
    indexer: Indexer
    sender: Sender
    identities: SafetyNumbers
    watchdog: Watchdog

    async def deliver(self, frame: Frame) -> int:
        """Let a frame arrive; gives the time under which its author knows it."""
        envelope = FrameReader(OWN_ACCOUNT, "Aldis").envelope(json.dumps(frame))
        assert envelope is not None
        await self.intake.take(envelope)
        return envelope.sent_at

    async def process(self, frame: Frame) -> int:
        """The same, and wait until nothing is under way any more."""
        sent_at = await self.deliver(frame)
        await self.quiet()
        return sent_at

    async def answered(self, count: int) -> list[Reply]:
        await self.transport.until(lambda: len(self.transport.sent) >= count)
        return self.transport.sent

    async def held(self, word: str, frame: Frame | None = None) -> asyncio.Event:
        gate = self.model.gates[word] = asyncio.Event()
        await self.deliver(frame or message(word))
        await self.until(lambda: any(word in asked for asked in self.model.asked))
        return gate

    async def asked(self, count: int) -> None:
        await self.until(lambda: len(self.model.asked) >= count)

    async def quiet(self) -> None:
        await self.quiet_but(0)

    async def quiet_but(self, count: int) -> None:
        async def is_quiet() -> bool:
            return await self._under_way() == count

        await eventually_found(is_quiet)

    async def until(self, holds: Callable[[], bool]) -> None:
        await eventually(holds)

    async def _under_way(self) -> int:
        return await self.store.read(lambda repos: repos.inbox.backlog().items + repos.outbox.backlog().items)

    async def count(self, statement: str) -> int:
        [(number,)] = await self.store.read(lambda repos: repos.inbox.rows(statement))
        return number


@asynccontextmanager
async def app_harness(
    store: Store,
    clock: SetClock,
    *,
    tools: tuple[Tool, ...] = (),
    ported: tuple[Callable[[Reminders], Tool], ...] = (),
    sources: tuple[ToolSource, ...] = (),
    embedder: Embedder | None = None,
    remembers: bool = False,
    watches: bool = False,
    window: HistorySettings | None = None,
    deletes_answers: bool = False,
    admins: frozenset[str] = frozenset(),
    live: Mode = "off",
    mark_seconds: float = 3600.0,
    context_messages: int = 0,
    transport: HarnessTransport | None = None,
    access: AccessList | None = None,
    budgets: BudgetSettings = TWO_DOLLARS_A_DAY,
    accepts_identities: bool = False,
    commands: Callable[[CommandContext], Iterable[CommandGroup]] = lambda _: (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    **worker: Any,
) -> AsyncGenerator[Harness]:
    """Aldis in one process; everything is over at the end. `settings` are those that are otherwise, by their group."""
    transport, fake_model = transport or HarnessTransport(), FakeModel()
    allowed = access or AccessList(persons=frozenset({EVERYBODY}), groups=frozenset({GROUP}), admins=admins)
    usual = settings_with(
        access={
            "allowed": tuple(allowed.persons),
            "groups": tuple(allowed.groups),
            "admins": tuple(allowed.admins),
            "group_members_may_write": allowed.group_members_may_write,
            "greeting": False,
        },
        approvals={"timeout": 600},
        budget={**dict(budgets), "prices": ("model-1=1/1", "model-2=1/1")},
        groups={"context_messages": context_messages},
        history={**dict(window or {}), "summaries": window is not None},
        limits={"messages_per_minute": 10_000, "conversation_messages_per_minute": 10_000, "turns_at_once": 1000},
        llm={
            "providers": ("scripted/model-1",),
            "choices": ("other/model-2",),
            "max_output_tokens": 1000,
            "system_prompt": "Be kind.",
            "timeout_seconds": DEADLINE_SECONDS,
        },
        signal={
            "delete_answers": deletes_answers,
            "live": live,
            "new_safety_numbers": "accept" if accepts_identities else "ask",
            "note_to_self": allowed.note_to_self,
            "unknown_grace_seconds": 60,
        },
        tools={"timeout_seconds": DEADLINE_SECONDS},
        worker={"conversations_at_once": 4, "turn_timeout_seconds": DEADLINE_SECONDS, "max_attempts": 2, **worker},
    )
    given = settings_with(usual, **(settings or {}))
    shared = Services(given, transport, store, "signal", clock=clock, sandbox=sandbox())
    shared.status_messages = StatusMessages(store, clock, mode=live, after_seconds=0, pause_seconds=0.001)
    shared.reactions = Reactions(*shared.outside, emoji=EMOJI, after_seconds=mark_seconds)
    own = (*(make(shared.reminders) for make in ported), *((Remember(store, clock),) if remembers else ()))
    own = (*own, *((WatchTool(shared.watches),) if watches else ()))
    groups = commands(shared.command_context)
    aldis = service(shared, fake_model, (*tools, *own), sources, embedder=embedder, commands=groups)
    assert aldis.indexer is not None
    running = [asyncio.create_task(loop.run()) for loop in (aldis.worker, aldis.sender)]
    try:
        yield Harness(
            *(store, clock, transport, fake_model, aldis.intake, aldis.worker, aldis.maintenance, shared.turns),
            *(shared.pairing, shared.reminders, shared.watches, aldis.summaries, aldis.indexer, aldis.sender),
            *(aldis.running.identities, aldis.watchdog),
        )
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        await aldis.intake.aclose()
