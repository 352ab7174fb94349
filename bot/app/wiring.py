"""The loops and everything they need, over an open store: which part gets which.

settings, transport, store --> services: what all parts share --> intake, worker, sender, ... --> the service
"""

import base64
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import cast

from pydantic import SecretStr

from bot.access import chat_settings
from bot.access.access import EVERYBODY, AccessList
from bot.access.limits import Quota
from bot.access.pairing import Callers, Pairing
from bot.app import models
from bot.app import tools as equipment
from bot.chat import prompt
from bot.chat.agent import Agent
from bot.chat.approvals import Approvals
from bot.chat.captchas import Captchas
from bot.chat.context import GroupContext
from bot.chat.edits import Revisions
from bot.chat.multimodal import MultimodalAgent
from bot.chat.notices import Admins, Notice, Notices
from bot.chat.room import ContextRoom
from bot.chat.status import EMOJI, Reactions, StatusMessages
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.commands.admin import AdminCommands, Audience
from bot.commands.base import CommandContext, CommandGroup, Commands
from bot.commands.conversation import ConversationCommands
from bot.commands.preferences import Menu, PreferenceCommands
from bot.commands.urgent import Authority, UrgentItems
from bot.doctor.findings import Finding
from bot.doctor.machine import check_disk, free_bytes_of
from bot.doctor.models import ModelTroubles
from bot.events import TERMINAL_PERSON
from bot.features.attestation import AttestationCommands
from bot.features.export import ExportCommands
from bot.features.feeds import FeedCommands, FeedPoller
from bot.features.memory import MemoryCommands
from bot.features.reminders.commands import ReminderCommands
from bot.features.reminders.scheduler import ReminderScheduler
from bot.features.reminders.service import Reminders
from bot.features.safety_numbers import SafetyNumbers, TrustCommands
from bot.features.summaries import Summaries
from bot.features.usage import UsageCommands
from bot.i18n import phrases
from bot.i18n.catalogues import say
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
from bot.service import Service
from bot.settings import LimitsSettings, Settings
from bot.shutdown import Restarts
from bot.signal.protocol import Transport
from bot.trust.secrets import Secrets, passwords_in
from bot.web.admin.world import RunningParts
from bot.web.control import Control
from bot.web.health import HealthPage
from store import Store
from tools import Tool, ToolSource

_log = logging.getLogger(__name__)


class Services:
    """What the parts of one run share; made once, and not changed."""

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        store: Store,
        realm: str,
        *,
        clock: Clock,
        sandbox: Sandbox,
        counts: Counts | None = None,
        lessons: ModelLessons | None = None,
    ) -> None:
        locale, history, signal = settings.locale, settings.history, settings.signal
        zone, language = locale.timezone, locale.language
        self.settings, self.transport, self.store, self.realm = settings, transport, store, realm
        self.clock, self.sandbox = clock, sandbox
        self.counts, self.lessons = counts or Counts(), lessons or ModelLessons()
        self.allowed = access_list(settings, realm)
        """Who may write by the settings; `Intake.access` adds the members of the groups."""
        priced = models.priced_models(settings, self.lessons)
        self.budget = budget = Budget(store, clock, models.budgets(settings), timezone=zone, priced=priced)
        self.turns = Turns(store, clock, max_turns=history.max_turns, timezone=zone, language=language, budget=budget)
        asks, deletes = settings.limits.messages_per_minute, signal.delete_answers
        self.revisions = Revisions(store, clock, self.turns, deletes_answers=deletes, asks_per_minute=asks)
        self.reminders = Reminders(store, clock, self.turns, locale=locale)


def service(
    shared: Services,
    provider: Provider,
    tools: Sequence[Tool],
    more: Sequence[ToolSource] = (),
    *,
    speech: Speech | None = None,
    reader: FeedReader | None = None,
    troubles: ModelTroubles | None = None,
    ask: Callable[[], Awaitable[Sequence[Finding]]] | None = None,
    restarts: Restarts | None = None,
    pairing: Pairing | None = None,
    callers: Callers | None = None,
    status_messages: StatusMessages | None = None,
    reactions: Reactions | None = None,
    commands: Iterable[CommandGroup] = (),
) -> Service:
    """Puts all parts together, in the order in which they need each other.

    `more` are sources of tools known only while it runs. `reader` None: no feeds are read. `ask` checks servers; None:
    nothing does. `restarts` None: it cannot be restarted. The last three replace, or add to, what is usual.
    """
    settings, transport, store, clock = shared.settings, shared.transport, shared.store, shared.clock
    counts, turns, locale, is_signal = shared.counts, shared.turns, settings.locale, shared.realm == "signal"
    history, budgets, news = settings.history, models.budgets(settings), equipment.news_options(settings)
    signal, zone, name = settings.signal, locale.timezone, settings.signal.name
    has_model, turn_seconds = models.has_model(settings), settings.worker.turn_timeout_seconds
    accepts, grace = signal.new_safety_numbers == "accept", signal.unknown_grace_seconds
    outside = transport, store, clock, counts
    pairing, troubles = pairing or Pairing(), troubles or ModelTroubles()
    paired = pairing if settings.access.strangers == "pair" else None
    counts.watch("unanswered_not_a_frame", lambda: transport.stream.unreadable)
    counts.allow("tool_call_seconds", "tool", (*(tool.spec.name for tool in tools), "unknown"))

    def access() -> AccessList:
        return intake.access

    # Who is who, and what the admins hear.
    audience = Audience(transport, access)
    admins = Admins(
        clock,
        listed=lambda: access().admins,
        language=lambda repos, conversation: chat_settings.language_of(
            chat_settings.settings_of(repos, conversation, clock.now()), locale.language
        ),
    )
    identities = SafetyNumbers(*outside, may_write=audience.may_write, admins=admins, accepts=accepts)
    membership = Membership(transport, store, clock, shared.allowed)
    captchas = Captchas(*outside)
    unlimited = LimitsSettings(messages_per_minute=10_000, conversation_messages_per_minute=10_000, max_waiting=100_000)
    intake = Intake(
        *outside,
        allowed=shared.allowed,
        name=name,
        quota=Quota(settings.limits if is_signal else unlimited),
        pairing=paired if is_signal else None,
        callers=callers,
        on_untrusted=identities.notice,
        on_group_change=membership.notice,
    )
    membership.on_groups = intake.learn_groups

    # What watches over it.
    watchdog = Watchdog(transport, clock=clock)

    async def asked() -> Sequence[Finding]:
        return await ask() if ask else ()

    checkups = Checkups(
        Notices(store, clock, admins),
        look=lambda: _own_findings(settings, troubles, watchdog),
        ask=asked,
        contacts=audience.contacts,
    )
    troubles.on_change = checkups.wake
    health = HealthPage(
        store,
        watchdog,
        clock,
        counts,
        level=lambda: shared.sandbox.known_level,
        own_findings=lambda: checkups.findings,
        free_bytes=lambda: free_bytes_of(settings),
        used_share=shared.budget.used_share,
        restarts=restarts,
    )

    # What answers.
    toolbox = equipment.toolbox(settings, tools, more, clock=clock, on_run=models.Meter(counts).on_run)
    room = ContextRoom(models.lesson_of(settings, shared.lessons))
    thinking = Agent(
        provider=provider,
        toolbox=toolbox,
        system=prompt.system(name, settings.llm.system_prompt, locale.place),
        settings=settings,
        budget=shared.budget,
        secrets=secrets(settings),
        room=room,
    )
    spoken = speech if settings.audio.speak else None
    agent = MultimodalAgent(
        thinking,
        AttachmentReader(transport, settings.media, shared.sandbox, speech=speech),
        timezone=zone,
        turn_seconds=turn_seconds,
        speech=spoken,
    )
    summaries = Summaries(
        store,
        clock,
        counts,
        provider,
        room,
        window=history,
        timeout_seconds=settings.llm.timeout_seconds,
        total_seconds=turn_seconds,
        budget=shared.budget,
    )

    # What people can say, in the order of /help.
    approvals = Approvals(store, clock, turns)
    context = CommandContext(store, turns, clock)
    admin_commands = AdminCommands(context, pairing, audience, admins, on_allowed=intake.admit)
    groups = (
        ConversationCommands(context, approvals),
        ExportCommands(context, timezone=zone),
        UsageCommands(context, timezone=zone, limits=budgets),
        PreferenceCommands(context, Menu(models=settings.llm.models_to_choose, tools=tools, sources=more)),
        AttestationCommands(context, settings.attestation.socket),
        ReminderCommands(context, shared.reminders, has_model=has_model, has_reactions=is_signal),
        MemoryCommands(context),
        FeedCommands(context, is_on=news.enabled, timezone=zone),
        admin_commands,
        TrustCommands(context, identities),
        *commands,
    )

    # The loops.
    authority, limit = Authority(name=name, allowed=shared.allowed), settings.groups.context_messages
    group_context = GroupContext(clock, limit=limit)
    urgent_items = UrgentItems(
        transport,
        store,
        counts,
        turns=turns,
        revisions=shared.revisions,
        approvals=approvals,
        commands=Commands(context, groups, admin_commands.command_of),
        on_reaction=shared.reminders.react,
        group_context=group_context,
        authority=authority,
    )
    live, marks = (signal.live, signal.ack == "reaction") if is_signal else ("off", False)
    worker = Worker(
        *outside,
        turns=turns,
        agent=agent,
        approvals=approvals,
        urgent_items=urgent_items,
        status_messages=status_messages or StatusMessages(store, clock, mode=live),
        reactions=reactions or Reactions(transport, store, clock, emoji=EMOJI if marks else None),
        group_context=group_context,
        settings=settings,
        authority=authority,
        on_kept=summaries.note,
        greeting=(lambda: say(phrases.GREETING, name=name)) if is_signal and settings.access.greeting else None,
    )
    sender = Sender(*outside, grace_seconds=grace, language=turns.language, on_untrusted=identities.notice)
    retention = None if history.retention_days is None else timedelta(days=history.retention_days)
    maintenance = Maintenance(store, clock, shared.revisions, retention=retention, nightly=_nightly(shared))
    scheduler = ReminderScheduler(shared.reminders, counts, allowed=access, account=transport.account)
    control = Control(
        store=store,
        clock=clock,
        state=health.state,
        transport=transport,
        captchas=captchas,
        restarts=restarts,
    )
    running = RunningParts(
        store=store,
        clock=clock,
        transport=transport,
        health=health,
        identities=identities,
        captchas=captchas,
        pairing=pairing,
        audience=audience,
        toolbox=toolbox,
        on_allowed=intake.admit,
    )
    return Service(
        settings=settings,
        worker=worker,
        intake=intake,
        sender=sender,
        membership=membership,
        maintenance=maintenance,
        reminder_scheduler=scheduler,
        summaries=summaries,
        feed_poller=FeedPoller(store, clock, counts, reader if news.enabled else None, news=news),
        watchdog=watchdog,
        identities=identities,
        checkups=checkups,
        health=health,
        control=control,
        running=running,
    )


def _own_findings(settings: Settings, troubles: ModelTroubles, watchdog: Watchdog) -> list[Finding]:
    """What Aldis notices by itself."""
    level, words = ("problem", "nothing is heard over it") if watchdog.is_deaf else ("ok", "something is heard")
    heard = Finding(level, "bridge", words, notice=Notice(kind="deaf"))
    return [*troubles.findings(), check_disk(free_bytes_of(settings)), heard]


def _nightly(shared: Services) -> Callable[[], Awaitable[None]] | None:
    """What makes the nightly backup; None if none is wanted."""
    given, zone = shared.settings.store, shared.settings.locale.timezone
    if given.backup_days is None:
        return None
    folder, kept = given.path.absolute().parent / "backups" / "nightly", timedelta(days=given.backup_days)
    return lambda: shared.store.back_up_nightly(folder, now=shared.clock.wall(), timezone=zone, kept=kept)


def access_list(settings: Settings, realm: str) -> AccessList:
    """Who may write: the allowed and the admins; in the terminal, the person sitting there."""
    access = settings.access
    persons = frozenset({*access.allowed, *access.admins})
    if realm == "terminal":
        return AccessList(persons=frozenset({EVERYBODY}), groups=frozenset(), admins=frozenset({TERMINAL_PERSON}))
    if settings.signal.note_to_self:
        return AccessList(persons=frozenset(), groups=frozenset(), note_to_self=True)
    if not persons and not access.groups:
        _log.warning("no one is allowed to write to Aldis yet: set ACCESS__ALLOWED to your number (and ACCESS__GROUPS)")
    return AccessList(
        persons=persons,
        groups=frozenset(access.groups),
        admins=frozenset(access.admins),
        group_members_may_write=access.group_members_may_write,
    )


def secrets(settings: Settings) -> Secrets:
    """The operator's secrets: every key, token and password in the settings, and the master key in both spellings,
    whether it is configured or in the file beside the store.
    """
    found = [*_secrets(settings.model_dump())]
    with suppress(OSError, ValueError):
        key = settings.store.master_key or bytes.fromhex(settings.store.key_path.read_text("ascii"))
        found += [key.hex(), base64.b64encode(key).decode()]
    return Secrets(found)


def _secrets(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, str):
        yield from passwords_in(value)
    elif isinstance(value, Mapping | list | tuple | set | frozenset):
        items = cast("Iterable[object]", value.values() if isinstance(value, Mapping) else value)
        for item in items:
            yield from _secrets(item)
