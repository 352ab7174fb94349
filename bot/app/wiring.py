"""The loops and everything they need, over an open store: which part gets which.

settings, transport, store --> turns, approvals, commands, budgets --> intake, worker, sender, ... --> the service
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from bot.access.access import AccessList
from bot.access.pairing import Callers, Pairing
from bot.app import models, policies
from bot.app import tools as equipment
from bot.app.commands import command_groups
from bot.app.metering import Meter
from bot.app.people import admins_of, identities_of
from bot.chat import prompt
from bot.chat.agent import Agent
from bot.chat.approvals import Approvals
from bot.chat.captchas import Captchas
from bot.chat.context import GroupContext
from bot.chat.edits import Revisions
from bot.chat.journal import Turn
from bot.chat.multimodal import MultimodalAgent
from bot.chat.notices import Notice, Notices
from bot.chat.room import ContextRoom
from bot.chat.status import EMOJI, Reactions, StatusMessages
from bot.chat.tool_shapes import ToolShapes
from bot.chat.toolbox import Toolbox
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.commands.admin import Audience
from bot.commands.base import CommandContext, CommandGroup, Commands
from bot.commands.preferences import Menu
from bot.commands.urgent import Authority, UrgentItems
from bot.doctor.findings import Finding, ok, problem
from bot.doctor.machine import check_disk, free_bytes_of
from bot.doctor.troubles import ModelTroubles
from bot.events import ChatId, PersonId
from bot.features.evidence.judge import ReportJudge
from bot.features.feeds.poller import FeedPoller
from bot.features.feeds.service import Feeds
from bot.features.memory.service import Memory
from bot.features.predictions.service import Predictions
from bot.features.reminders.scheduler import ReminderScheduler
from bot.features.reminders.service import Reminders
from bot.features.safety_numbers.service import SafetyNumbers
from bot.features.summaries.service import Summaries, SummaryWorker
from bot.i18n import phrases
from bot.loops.intake import Intake
from bot.loops.maintenance import Maintenance, Membership
from bot.loops.sender import Sender
from bot.loops.watchdog import Checkups, Watchdog
from bot.loops.worker import Worker
from bot.media.attachments import AttachmentReader
from bot.media.feeds import FeedReader
from bot.media.sandbox import Sandbox
from bot.media.speech import Speech
from bot.metrics import Counts
from bot.models.base import Provider
from bot.models.capabilities import ModelLessons
from bot.money.budgets import Budget
from bot.money.ledger import Quotas
from bot.service import Service
from bot.settings import Settings
from bot.shutdown import Restarts
from bot.signal.protocol import Transport
from bot.web.admin.world import RunningParts
from bot.web.control import Control
from bot.web.health import HealthPage
from store import Store
from tools import Tool, ToolSource


class Parts:
    """The parts over an open store, and what they share.

    `reader` None: no feeds are read. `ask` checks servers; None: nothing does. `restarts` None: it cannot be restarted.
    """

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        store: Store,
        realm: str,
        speech: Speech | None,
        sandbox: Sandbox,
        reader: FeedReader | None = None,
        *,
        clock: Clock,
        counts: Counts | None = None,
        lessons: ModelLessons | None = None,
        troubles: ModelTroubles | None = None,
        ask: Callable[[], Awaitable[Sequence[Finding]]] | None = None,
        restarts: Restarts | None = None,
        pairing: Pairing | None = None,
        callers: Callers | None = None,
    ) -> None:
        self._settings = settings
        self._speech = speech
        self._reader = reader
        self._sandbox = sandbox
        self._transport = transport
        self._store = store
        self._realm = realm
        self._clock = clock
        self._troubles = troubles or ModelTroubles()
        self._ask = ask or _nothing_asked
        self._restarts = restarts
        self._callers = callers
        self._counts = counts or Counts()
        self._lessons = lessons or ModelLessons()
        self._known = models.known_models(settings, self._lessons)
        self._room = ContextRoom(self._lessons, models.server_of(settings))
        self._counts.watch("unanswered_not_a_frame", lambda: transport.stream.unreadable)
        self._pairing = pairing or Pairing()
        self._allowed = policies.access_list(settings, realm)
        self._budget = Budget(
            store,
            self._clock,
            models.budgets(settings),
            timezone=settings.locale.timezone,
            priced=models.priced_models(settings, self._lessons),
        )
        self._turns = Turns(
            store,
            self._clock,
            max_turns=settings.history.max_turns,
            timezone=settings.locale.timezone,
            language=settings.locale.language,
            budget=self._budget,
        )
        self._revisions = Revisions(
            store,
            self._clock,
            self._turns,
            deletes_answers=settings.signal.delete_answers,
            asks_per_minute=settings.limits.messages_per_minute,
        )
        self.reminders = Reminders(store, self._clock, self._turns, account=transport.account, locale=settings.locale)
        self.memory = Memory(store, self._clock)
        self.predictions = Predictions(store, self._clock)
        self.feeds = Feeds(store, self._clock)
        self.quotas = Quotas(store, self._clock)

    def service(self, provider: Provider, tools: Sequence[Tool], more: Sequence[ToolSource] = ()) -> Service:
        """All of them together; `more` are sources of tools known only while it runs."""
        settings = self._settings
        menu = Menu(models=settings.llm.models_to_choose, tools=tools, sources=more, known=self._known)
        self._counts.allow("tool_call_seconds", "tool", (*(tool.spec.name for tool in tools), "unknown"))
        watchdog = Watchdog(self._transport, self._counts, clock=self._clock)
        checkups = self._checkups(watchdog, lambda: intake.access)
        health = HealthPage(
            self._store,
            watchdog,
            self._clock,
            self._counts,
            level=lambda: self._sandbox.known_level,
            findings=lambda: checkups.findings,
            free_bytes=lambda: free_bytes_of(settings),
            used_share=self._budget.used_share,
            restarts=self._restarts,
        )
        identities = identities_of(
            settings, self._transport, self._store, self._clock, lambda: intake.access, counts=self._counts
        )
        membership = Membership(self._transport, self._store, self._clock, self._allowed)
        intake = self._intake(identities.notice, membership.notice)
        membership.on_groups = intake.learn_groups
        watchdog.on_answer = intake.wake
        summary_worker = self._summary_worker(provider)
        toolbox = equipment.toolbox(
            settings,
            tools,
            more,
            clock=self._clock,
            on_run=Meter(self._counts).on_run,
            shapes=ToolShapes(self._store, self._clock),
        )
        captchas = Captchas(self._transport, self._store, self._clock, self._counts)
        return Service(
            settings=settings,
            worker=self._worker(self._agent(provider, toolbox), menu, intake, identities, summary_worker.note),
            intake=intake,
            sender=self._sender(identities.notice),
            membership=membership,
            maintenance=Maintenance(
                self._store,
                self._clock,
                self._revisions,
                retention=policies.retention(settings),
                max_wait=timedelta(seconds=settings.approvals.timeout),
                nightly=self._nightly(),
            ),
            reminder_scheduler=self._reminder_scheduler(intake),
            summary_worker=summary_worker,
            feed_poller=self._feed_poller(lambda: intake.access),
            watchdog=watchdog,
            identities=identities,
            checkups=checkups,
            health=health,
            control=Control(
                self._store,
                self._clock,
                health.state,
                identities=identities,
                captchas=captchas,
                restarts=self._restarts,
            ),
            running=RunningParts(
                store=self._store,
                clock=self._clock,
                transport=self._transport,
                health=health,
                identities=identities,
                captchas=captchas,
                pairing=self._pairing,
                audience=Audience(self._transport, lambda: intake.access),
                toolbox=toolbox,
                on_allowed=intake.admit,
            ),
        )

    def judge(self, provider: Provider) -> ReportJudge:
        """Judges what pages say about a claim; without a model it judges nothing."""
        judge = provider if models.has_model(self._settings) else None
        return ReportJudge(self._store, self._clock, judge, self._budget)

    def _notices(self, allowed: Callable[[], AccessList]) -> Notices:
        return Notices(self._store, self._clock, admins_of(self._settings, self._clock, allowed))

    def _nightly(self) -> Callable[[], Awaitable[None]] | None:
        given, zone = self._settings.store, self._settings.locale.timezone
        if given.backup_days is None:
            return None
        folder, kept = given.path.absolute().parent / "backups" / "nightly", timedelta(days=given.backup_days)
        return lambda: self._store.back_up_nightly(folder, now=self._clock.wall(), timezone=zone, kept=kept)

    def _checkups(self, watchdog: Watchdog, allowed: Callable[[], AccessList]) -> Checkups:
        settings = self._settings

        def look() -> list[Finding]:
            deaf = Notice(kind="deaf")
            heard = ok("bridge", "something is heard", notice=deaf)
            nothing = problem("bridge", "nothing is heard over it", notice=deaf)
            disk = check_disk(free_bytes_of(settings))
            return [*self._troubles.findings(), disk, nothing if watchdog.is_deaf else heard]

        checkups = Checkups(
            self._notices(allowed),
            look=look,
            ask=self._ask,
            contacts=Audience(self._transport, allowed).contacts,
        )
        self._troubles.on_change = checkups.wake
        return checkups

    def _agent(self, provider: Provider, toolbox: Toolbox) -> MultimodalAgent:
        """An agent that reads attachments, and speaks if configured."""
        settings, speech = self._settings, self._speech
        agent = Agent(
            provider,
            toolbox,
            system=prompt.system(settings.signal.name, settings.llm.system_prompt, settings.locale.place),
            settings=settings,
            budget=self._budget,
            secrets=policies.secrets(settings),
            room=self._room,
        )
        return MultimodalAgent(
            agent,
            AttachmentReader(self._transport, settings.media, self._sandbox, speech=speech),
            timezone=settings.locale.timezone,
            turn_seconds=settings.worker.turn_timeout_seconds,
            speech=speech if settings.audio.speak else None,
        )

    def _worker(
        self,
        agent: MultimodalAgent,
        menu: Menu,
        intake: Intake,
        identities: SafetyNumbers,
        on_kept: Callable[[Turn], None],
    ) -> Worker:
        policies.note_few_conversations(self._settings)
        approvals = Approvals(self._store, self._clock, self._turns)
        authority = Authority(name=self._settings.signal.name, allowed=self._allowed)
        group_context = GroupContext(self._clock, limit=self._settings.groups.context_messages)
        context = CommandContext(self._store, self._turns, self._clock)
        urgent_items = UrgentItems(
            self._transport,
            self._store,
            self._counts,
            turns=self._turns,
            revisions=self._revisions,
            approvals=approvals,
            commands=Commands(context, self._commands(context, approvals, menu, intake, identities)),
            group_context=group_context,
            authority=authority,
        )
        return Worker(
            self._transport,
            self._store,
            self._clock,
            self._counts,
            turns=self._turns,
            agent=agent,
            approvals=approvals,
            urgent_items=urgent_items,
            status_messages=self._status_messages(),
            reactions=self._reactions(),
            group_context=group_context,
            settings=self._settings,
            authority=authority,
            wait_for_quiet=intake.wait_for_quiet,
            on_kept=on_kept,
            greeting=self._greeting if self._realm == "signal" and self._settings.access.greeting else None,
        )

    def _sender(self, on_untrusted: Callable[[PersonId], None]) -> Sender:
        return Sender(
            self._transport,
            self._store,
            self._clock,
            self._counts,
            grace_seconds=self._settings.signal.unknown_grace_seconds,
            language=self._turns.language,
            max_parts=self._settings.signal.max_parts,
            on_untrusted=on_untrusted,
        )

    def _status_messages(self) -> StatusMessages:
        mode = self._settings.signal.live if self._realm == "signal" else "off"
        return StatusMessages(self._store, self._clock, mode=mode)

    def _reactions(self) -> Reactions:
        is_shown = self._realm == "signal" and self._settings.signal.ack == "reaction"
        return Reactions(self._transport, self._store, self._clock, emoji=EMOJI if is_shown else None)

    def _greeting(self) -> str:
        return phrases.greeting(self._settings.signal.name)

    def _commands(
        self, context: CommandContext, approvals: Approvals, menu: Menu, intake: Intake, identities: SafetyNumbers
    ) -> tuple[CommandGroup, ...]:
        return command_groups(
            self._settings,
            context,
            approvals,
            menu,
            has_reactions=self._realm == "signal",
            reminders=self.reminders,
            memory=self.memory,
            pairing=self._pairing,
            audience=Audience(self._transport, lambda: intake.access),
            admins=admins_of(self._settings, self._clock, lambda: intake.access),
            on_allowed=intake.admit,
            identities=identities,
        )

    def _summary_worker(self, provider: Provider) -> SummaryWorker:
        history = self._settings.history
        if not (history.summaries and history.max_turns and history.max_tokens):
            return SummaryWorker(None, self._counts)
        summaries = Summaries(
            self._store,
            self._clock,
            provider,
            self._room,
            window=history,
            timeout_seconds=self._settings.llm.timeout_seconds,
            total_seconds=self._settings.worker.turn_timeout_seconds,
            budget=self._budget,
        )
        return SummaryWorker(summaries, self._counts)

    def _feed_poller(self, allowed: Callable[[], AccessList]) -> FeedPoller:
        news = equipment.news_options(self._settings)
        return FeedPoller(
            self._store,
            self._clock,
            self._counts,
            self._reader if news.enabled else None,
            news=news,
            notices=self._notices(allowed),
            contacts=Audience(self._transport, allowed).contacts,
        )

    def _reminder_scheduler(self, intake: Intake) -> ReminderScheduler:
        return ReminderScheduler(
            self._store,
            self._clock,
            self._counts,
            self.reminders,
            allowed=lambda: intake.access,
            account=self._transport.account,
        )

    def _intake(self, on_untrusted: Callable[[PersonId], None], on_group_change: Callable[[ChatId], None]) -> Intake:
        return Intake(
            self._transport,
            self._store,
            self._clock,
            self._counts,
            allowed=self._allowed,
            name=self._settings.signal.name,
            admission=policies.admission(self._settings, self._pairing, self._callers)
            if self._realm == "signal"
            else None,
            on_untrusted=on_untrusted,
            on_group_change=on_group_change,
        )


async def _nothing_asked() -> tuple[Finding, ...]:
    return ()
