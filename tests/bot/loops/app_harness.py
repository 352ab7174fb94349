"""The whole of Aldis in one process between a fake transport and a thinker: frames come in, replies go out, time stands
still.

async with harbour(store, clock) as port:
    asked = await port.deliver(message("How cold is it?"))
    await port.answered(1)
    await port.deliver(delete(asked))
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from bot.app.commands import command_groups
from bot.clock import SetClock
from bot.commands.base import CommandContext, CommandGroup, Commands
from bot.commands.broadcast import Audience
from bot.commands.preferences import Menu
from bot.commands.urgent import Authority, UrgentItems
from bot.errors import ProviderError
from bot.events import Envelope, Event, Removal, Reply, SentId
from bot.features.attestation.service import Attestation
from bot.features.memory.service import Memory
from bot.features.reminders.scheduler import ReminderScheduler
from bot.features.reminders.service import Reminders
from bot.features.safety_numbers.service import Identities
from bot.features.summaries.service import Summaries
from bot.features.summaries.worker import SummaryWorker
from bot.i18n import phrases
from bot.loops.intake.loop import Intake
from bot.loops.maintenance import Maintenance
from bot.loops.sender.loop import Sender
from bot.loops.worker.loop import Worker, WorkerLimits
from bot.media.attachments import AttachmentReader
from bot.media.speech import Speech
from bot.metrics import Counts
from bot.policy.access import EVERYBODY, AccessList
from bot.policy.pairing import Pairing
from bot.providers.base import Completion, OnText, Request
from bot.providers.capabilities import NOTHING, Capabilities
from bot.settings import BudgetSettings, HistorySettings, MediaSettings
from bot.transports.envelope.frames import FrameReader
from bot.turn.agent import Agent, Limits
from bot.turn.approvals import Approvals
from bot.turn.edits import Revisions
from bot.turn.group_context import GroupContext
from bot.turn.multimodal import MultimodalAgent, VoiceReplies
from bot.turn.notices import Admins
from bot.turn.reactions import EMOJI, Reactions
from bot.turn.status import Mode, StatusMessages
from bot.turn.tool_shapes import ToolShapes
from bot.turn.turns import Turns
from store import Store
from tests.bot.loops.fake_transport import FakeTransport
from tests.bot.transports.bridges import OWN_ACCOUNT
from tests.bot.turn.turn_helpers import Scripted, says, toolbox
from tests.cells import sandbox
from tests.conftest import NOON
from tests.servers.envelopes import ALDIS, GROUP, Frame
from tests.waiting import DEADLINE_SECONDS, eventually, eventually_found
from tools import Tool, ToolSource
from tools.memory import Remember

TWO_DOLLARS_A_DAY = BudgetSettings(all_day_usd=Decimal(2))
MEDIA_LIMITS = MediaSettings(max_files=4, max_bytes=5_000_000, max_pages=20, max_text_chars=5000)
FIRST = int(NOON.timestamp() * 1000)
"""What the fake transport calls the message before the first one that goes out; each has the next number."""


@dataclass
class Berth(FakeTransport):
    """A fake transport whose envelopes are frames of signal-cli."""

    account: str = ALDIS.uuid

    def event(self, envelope: Envelope) -> Event | None:
        return FrameReader(OWN_ACCOUNT, "Aldis").event(envelope)

    async def send(self, reply: Reply) -> SentId:
        await super().send(reply)
        return SentId(FIRST + len(self.sent))

    async def remove(self, removal: Removal) -> SentId:
        await super().remove(removal)
        return SentId(FIRST + 1000 * len(self.removed))


@dataclass
class Thinker(Scripted):
    """Answers "re: <the question's words>", after its gate for a word in it has opened; or as the script says."""

    script: list[Any] = field(default_factory=list[Any])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    asked: list[str] = field(default_factory=list[str])
    on_text: OnText | None = None
    """Who is told the words of the completion under way; None where nobody wants to see them."""

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        question = next(message.text for message in reversed(request.messages) if message.role == "user")
        self.requests.append(request)
        self.asked.append(question)
        self.on_text = on_text
        for word, gate in self.gates.items():
            if word in question:
                await gate.wait()
        step = self.script.pop(0) if self.script else None
        if isinstance(step, ProviderError):
            raise step
        return step or says(f"re: {question.partition('] ')[2]}")


@dataclass
class Port:
    """Everything that runs, and the means to wait for it."""

    store: Store
    clock: SetClock
    transport: Berth
    thinker: Thinker
    intake: Intake
    worker: Worker
    maintenance: Maintenance
    turns: Turns
    pairing: Pairing
    reminders: Reminders
    reminder_scheduler: ReminderScheduler
    """Not run: a story lets it look when it is time."""
    summary_worker: SummaryWorker
    """Likewise."""
    sender: Sender
    identities: Identities

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
        """Wait until so many replies went out, each revision by itself."""
        await self.transport.until(lambda: len(self.transport.sent) >= count)
        return self.transport.sent

    async def asked(self, count: int) -> None:
        """Wait until the model was asked so often."""
        await self.until(lambda: len(self.thinker.asked) >= count)

    async def quiet(self) -> None:
        """Wait until nothing is under way."""
        await self.quiet_but(0)

    async def quiet_but(self, count: int) -> None:
        """Wait until only so much is under way, because it is held, say."""

        async def is_quiet() -> bool:
            return await self._under_way() == count

        await eventually_found(is_quiet)

    async def until(self, holds: Callable[[], bool]) -> None:
        await eventually(holds)

    async def _under_way(self) -> int:
        return await self.store.read(lambda repos: repos.inbox.backlog().items + repos.outbox.backlog().items)

    async def count(self, statement: str) -> int:
        """A number out of the database."""
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
    remembers: bool = False,
    window: HistorySettings | None = None,
    deletes_answers: bool = False,
    admins: frozenset[str] = frozenset(),
    retention: timedelta | None = None,
    speech: Speech | None = None,
    speaks: bool = False,
    live: Mode = "off",
    mark_seconds: float = 3600.0,
    context_messages: int = 0,
    transport: Berth | None = None,
    access: AccessList | None = None,
    budgets: BudgetSettings = TWO_DOLLARS_A_DAY,
    accepts_identities: bool = False,
    commands: Callable[[CommandContext], Iterable[CommandGroup]] = lambda _: (),
    greets: bool = False,
    patience_seconds: float = 0.0,
    known: Callable[[str | None], Capabilities] = lambda _: NOTHING,
    **worker_limits: Any,
) -> AsyncGenerator[Port]:
    """Aldis in one process; everything is over at the end."""
    transport, thinker, counts, pairing = transport or Berth(), Thinker(), Counts(), Pairing()
    limits = Limits(max_rounds=5, max_history_tokens=10_000, max_output_tokens=1000, timeout_seconds=DEADLINE_SECONDS)
    turns = Turns(store, clock, max_turns=window.max_turns if window else 20, timezone="UTC")
    memory = Memory(store, clock)
    reminders = Reminders(store, clock, turns, account=ALDIS.uuid, timezone="UTC")
    tools = (*tools, *(make(reminders) for make in ported), *((Remember(memory),) if remembers else ()))
    box = toolbox(clock, *tools, sources=sources, shapes=ToolShapes(store, clock))
    agent = Agent(thinker, box, system="Be kind.", limits=limits)
    multimodal = MultimodalAgent(
        agent,
        AttachmentReader(transport, MEDIA_LIMITS, sandbox(), speech=speech),
        timezone="UTC",
        voice=VoiceReplies(speech=speech, turn_seconds=DEADLINE_SECONDS) if speech and speaks else None,
    )
    revisions = Revisions(store, clock, turns, deletes_answers=deletes_answers)
    context, approvals = CommandContext(store, turns, clock), Approvals(store, clock, turns)
    audience = Audience(transport, lambda: allowed)
    identities = Identities(
        transport,
        store,
        clock,
        counts,
        may_write=audience.may_write,
        admins=Admins(clock, listed=lambda: allowed.admins, language=turns.language),
        accepts=accepts_identities,
    )
    specs = tuple(tool.spec for tool in tools)
    menu = Menu(models=("scripted/model-1", "other/model-2"), tools=specs, sources=sources, known=known)
    groups = (
        *command_groups(
            context,
            approvals,
            menu,
            account=ALDIS.uuid,
            name="Aldis",
            timezone="UTC",
            model="scripted/model-1",
            budgets=budgets,
            known=known,
            version="0.0",
            described_build=lambda: "0.0 (source 1a2b)",
            attestation=Attestation(Path("nowhere")),
            reminders=reminders,
            memory=memory,
            has_feeds=True,
            pairing=pairing,
            audience=audience,
            on_allowed=lambda person: intake.admit(person),  # noqa: PLW0108  (it is made further below)
            identities=identities,
        ),
        *commands(context),
    )
    allowed = access or AccessList(persons=frozenset({EVERYBODY}), groups=frozenset({GROUP}), admins=admins)
    authority = Authority(name="Aldis", allowed=allowed)
    group_context = GroupContext(clock, most=context_messages)
    urgent_items = UrgentItems(
        transport,
        store,
        counts,
        turns=turns,
        revisions=revisions,
        approvals=approvals,
        commands=Commands(context, groups),
        group_context=group_context,
        authority=authority,
    )
    summaries = (
        Summaries(store, clock, turns, thinker, window=window, timeout_seconds=DEADLINE_SECONDS) if window else None
    )
    summary_worker = SummaryWorker(summaries, counts)
    worker = Worker(
        transport,
        store,
        clock,
        counts,
        turns=turns,
        agent=multimodal,
        approvals=approvals,
        urgent_items=urgent_items,
        status_messages=StatusMessages(store, clock, mode=live, after_seconds=0, pause_seconds=0.001),
        reactions=Reactions(transport, store, clock, emoji=EMOJI, after_seconds=mark_seconds),
        group_context=group_context,
        limits=WorkerLimits(
            **{"conversations_at_once": 4, "turn_timeout_seconds": DEADLINE_SECONDS, "max_attempts": 2, **worker_limits}
        ),
        authority=authority,
        on_kept=summary_worker.note,
        greeting=(lambda: phrases.greeting("Aldis", tuple(spec.name for spec in specs))) if greets else None,
    )
    intake = Intake(
        transport,
        store,
        clock,
        counts,
        allowed=allowed,
        name="Aldis",
        on_untrusted=identities.notice,
    )
    sender = Sender(
        transport,
        store,
        clock,
        counts,
        grace_seconds=60,
        on_untrusted=identities.notice,
        patience_seconds=patience_seconds,
    )
    maintenance = Maintenance(store, clock, revisions, retention=retention)
    reminder_scheduler = ReminderScheduler(
        store, clock, counts, reminders, allowed=lambda: intake.access, account=ALDIS.uuid
    )
    running = [asyncio.create_task(loop.run()) for loop in (worker, sender)]
    try:
        yield Port(
            *(store, clock, transport, thinker, intake, worker, maintenance, turns),
            *(pairing, reminders, reminder_scheduler, summary_worker, sender, identities),
        )
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        await intake.aclose()
