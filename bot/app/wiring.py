"""The loops and everything they need, over an open store: which part gets which.

settings, transport, store --> services: what all parts share --> intake, worker, sender, ... --> the service
"""

import base64
import difflib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, cast

from pydantic import SecretStr

from bot.access.access import EVERYBODY, AccessList
from bot.access.limits import Quota
from bot.access.pairing import Callers, Pairing
from bot.app import models
from bot.chat import prompt
from bot.chat.agent import Agent
from bot.chat.approvals import Approvals
from bot.chat.captchas import Captchas
from bot.chat.context import GroupContext
from bot.chat.edits import Revisions
from bot.chat.notices import Admins, Notice, Notices
from bot.chat.room import ContextRoom, Models
from bot.chat.status import EMOJI, Reactions, StatusMessages
from bot.chat.toolbox import ALL_TOOLS, Toolbox
from bot.chat.turns import Turn, Turns
from bot.clock import Clock
from bot.commands.admin import AdminCommands, Audience
from bot.commands.base import CommandContext, CommandGroup, Commands
from bot.commands.conversation import ConversationCommands
from bot.commands.preferences import Menu, PreferenceCommands
from bot.commands.urgent import UrgentItems
from bot.doctor.findings import Finding
from bot.doctor.machine import check_disk, free_bytes_of
from bot.doctor.models import ModelTroubles
from bot.errors import ConfigError
from bot.events import TERMINAL_PERSON
from bot.features.attestation import AttestationCommands
from bot.features.export import ExportCommands
from bot.features.feeds import FeedCommands, FeedPoller, FeedReader, news_tools
from bot.features.memory import MemoryCommands, Remember
from bot.features.predictions import prediction_tools
from bot.features.reminders.commands import ReminderCommands
from bot.features.reminders.service import Reminders, ReminderScheduler
from bot.features.reminders.tool import Remind
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
from bot.media.sandbox import Sandbox
from bot.media.speech import Speech
from bot.metrics import Counts
from bot.models.base import Provider
from bot.models.capabilities import ModelLessons
from bot.money.budgets import Budget
from bot.service import Service
from bot.settings import LimitsSettings, Settings
from bot.signal.protocol import Transport
from bot.trust.secrets import Secrets, passwords_in
from bot.version import current_version
from bot.web.admin.world import RunningParts
from bot.web.control import Control
from bot.web.health import HealthPage
from store import Store
from tools import NewsOptions, Tool, ToolDeps, ToolSource, build
from tools.mcp.options import McpOptions, prefix_of

_log = logging.getLogger(__name__)


_UNLIMITED = LimitsSettings(messages_per_minute=10_000, conversation_messages_per_minute=10_000, max_waiting=100_000)
"""For the person at the terminal."""


class Services:
    """What the parts of one run share, in the order in which they need each other; made once, and not changed."""

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        store: Store,
        realm: str,
        *,
        clock: Clock,
        sandbox: Sandbox,
        restart: Callable[[], Awaitable[None]] | None = None,
        pairing: Pairing | None = None,
        callers: Callers | None = None,
    ) -> None:
        """`restart` restarts Aldis from within; None: that is impossible. `pairing` and `callers` are the strangers who
        have a code, and those whom a page shows: they outlast this run.
        """
        signal, limits, timezone = settings.signal, settings.limits, settings.locale.timezone
        self.settings, self.transport, self.store, self.clock = settings, transport, store, clock
        self.sandbox, self.counts, self.lessons = sandbox, Counts(), ModelLessons()
        self.is_signal = is_signal = realm == "signal"
        self.outside = outside = transport, store, clock, self.counts
        self.allowed = access_list(settings, realm)
        """Who may write by the settings; `Doorkeeper.access` adds the members of the groups."""

        # What is kept of a conversation.
        priced = models.priced_models(settings, self.lessons)
        self.budget = budget = Budget(store, clock, models.budgets(settings), timezone=timezone, priced=priced)
        most, language = settings.history.max_turns, settings.locale.language
        self.turns = turns = Turns(store, clock, max_turns=most, timezone=timezone, language=language, budget=budget)
        deletes, asks = signal.delete_answers, limits.messages_per_minute
        self.revisions = Revisions(store, clock, turns, deletes_answers=deletes, asks_per_minute=asks)
        self.approvals = Approvals(store, clock, turns)
        self.reminders = Reminders(store, clock, turns, locale=settings.locale)
        self.command_context = CommandContext(store, turns, clock)

        # What people see while they wait.
        marks = EMOJI if is_signal and signal.ack == "reaction" else None
        self.status_messages = StatusMessages(store, clock, mode=signal.live if is_signal else "off")
        self.reactions = Reactions(transport, store, clock, emoji=marks)

        # Who is who, who comes in, and what the admins hear.
        self.pairing, self.restart = pairing or Pairing(), restart
        self.audience = audience = Audience(transport, lambda: self.intake.door.access)
        self.admins = Admins(clock, listed=lambda: self.intake.door.access.admins, language=turns.language)
        accepts, pairs = signal.new_safety_numbers == "accept", is_signal and settings.access.strangers == "pair"
        identities = SafetyNumbers(*outside, may_write=audience.may_write, admins=self.admins, accepts=accepts)
        self.identities, self.captchas = identities, Captchas(*outside)
        self.membership = Membership(transport, store, clock, self.allowed)
        self.intake = Intake(
            *outside,
            allowed=self.allowed,
            name=signal.name,
            quota=Quota(limits if is_signal else _UNLIMITED),
            pairing=self.pairing if pairs else None,
            callers=callers,
            on_untrusted=identities.notice,
            on_group_change=self.membership.notice,
        )
        self.membership.on_groups = self.intake.door.learn_groups
        self.admin_commands = AdminCommands(
            self.command_context, self.pairing, audience, self.admins, on_allowed=self.intake.admit
        )
        self.watchdog, self.troubles = Watchdog(transport, clock=clock), ModelTroubles()


def service(
    shared: Services,
    provider: Provider,
    tools: Sequence[Tool],
    more: Sequence[ToolSource] = (),
    *,
    speech: Speech | None = None,
    reader: FeedReader | None = None,
    ask: Callable[[], Awaitable[Sequence[Finding]]] | None = None,
    commands: Iterable[CommandGroup] = (),
) -> Service:
    """Puts all parts together, in the order in which they need each other.

    `more` are sources of tools known only while it runs. `reader` None: no feeds are read. `ask` checks servers; None:
    nothing does. `commands` are some besides the usual ones.
    """
    settings, transport, store, clock = shared.settings, shared.transport, shared.store, shared.clock
    counts, news, intake, identities = shared.counts, news_options(settings), shared.intake, shared.identities
    counts.watch("unanswered_not_a_frame", lambda: transport.stream.unreadable)
    checkups, health = _watching(shared, ask)
    toolbox = _toolbox(shared, tools, more)
    agent, summaries = _answering(shared, provider, toolbox, speech)
    menu = Menu(models=settings.llm.models_to_choose, tools=tools, sources=more)
    groups = (*_command_groups(shared, menu), *commands)
    kept, grace = settings.history.retention_days, settings.signal.unknown_grace_seconds
    retention = None if kept is None else timedelta(days=kept)
    language = shared.turns.language
    return Service(
        settings=settings,
        worker=_worker(shared, agent, groups, on_kept=summaries.note),
        intake=intake,
        sender=Sender(*shared.outside, grace_seconds=grace, language=language, on_untrusted=identities.notice),
        membership=shared.membership,
        maintenance=Maintenance(store, clock, shared.revisions, retention=retention, nightly=_nightly(shared)),
        reminder_scheduler=ReminderScheduler(
            shared.reminders, counts, allowed=lambda: intake.door.access, account=transport.account
        ),
        summaries=summaries,
        feed_poller=FeedPoller(store, clock, counts, reader, news=news) if reader and news.enabled else None,
        watchdog=shared.watchdog,
        checkups=checkups,
        control=Control(
            store=store,
            clock=clock,
            transport=transport,
            captchas=shared.captchas,
            state=health.state,
            restart=shared.restart,
        ),
        running=RunningParts(
            store=store,
            clock=clock,
            transport=transport,
            captchas=shared.captchas,
            health=health,
            identities=identities,
            audience=shared.audience,
            toolbox=toolbox,
        ),
    )


def _toolbox(shared: Services, tools: Sequence[Tool], more: Sequence[ToolSource]) -> Toolbox:
    """What runs the tools that models call, within the limits of the settings."""
    limits = shared.settings.tools
    return Toolbox(
        tools,
        sources=more,
        clock=shared.clock,
        timezone=shared.settings.locale.timezone,
        timeout_seconds=limits.timeout_seconds,
        calls_per_minute=limits.calls_per_minute,
        approve=limits.approve,
        prefixes=_prefixes(shared.settings),
        on_run=partial(models.count_run, shared.counts),
    )


def _watching(shared: Services, ask: Callable[[], Awaitable[Sequence[Finding]]] | None) -> tuple[Checkups, HealthPage]:
    """What notices that something is wrong, and the page that says so."""
    settings, watchdog, troubles = shared.settings, shared.watchdog, shared.troubles

    def look() -> list[Finding]:
        level, words = ("problem", "nothing is heard over it") if watchdog.is_deaf else ("ok", "something is heard")
        heard = Finding(level, "bridge", words, notice=Notice(kind="deaf"))
        return [*troubles.findings(), check_disk(free_bytes_of(settings)), heard]

    async def asked() -> Sequence[Finding]:
        return await ask() if ask else ()

    notices = Notices(shared.store, shared.clock, shared.admins)
    checkups = Checkups(notices, look=look, ask=asked, contacts=shared.audience.contacts)
    troubles.on_change = checkups.wake
    health = HealthPage(
        shared.store,
        watchdog,
        shared.clock,
        shared.counts,
        level=lambda: shared.sandbox.known_level,
        findings=lambda: checkups.findings,
        free_bytes=lambda: free_bytes_of(settings),
        used_share=shared.budget.used_share,
    )
    return checkups, health


def _answering(
    shared: Services, provider: Provider, toolbox: Toolbox, speech: Speech | None
) -> tuple[Agent, Summaries]:
    """What answers questions, and what sums up those that no longer fit."""
    settings, locale = shared.settings, shared.settings.locale
    room = ContextRoom(models.lesson_of(settings, shared.lessons))
    asked = Models(
        provider=provider,
        system=prompt.system(settings.signal.name, settings.llm.system_prompt, locale.place),
        settings=settings,
        budget=shared.budget,
        room=room,
    )
    agent = Agent(
        models=asked,
        toolbox=toolbox,
        secrets=secrets(settings),
        attachments=AttachmentReader(shared.transport, shared.sandbox, speech=speech),
        speech=speech if settings.audio.speak else None,
    )
    return agent, Summaries(shared.store, shared.clock, shared.counts, provider, room, shared.budget, settings)


def _command_groups(shared: Services, menu: Menu) -> tuple[CommandGroup, ...]:
    """What people can say, in the order of /help."""
    settings, zone = shared.settings, shared.settings.locale.timezone
    context = shared.command_context
    has_model, news = models.has_model(settings), news_options(settings)
    return (
        ConversationCommands(context, shared.approvals),
        ExportCommands(context, timezone=zone),
        UsageCommands(context, timezone=zone, limits=settings.budget),
        PreferenceCommands(context, menu),
        AttestationCommands(context),
        ReminderCommands(context, shared.reminders, has_model=has_model, has_reactions=shared.is_signal),
        MemoryCommands(context),
        FeedCommands(context, is_on=news.enabled, timezone=zone),
        shared.admin_commands,
        TrustCommands(context, shared.identities),
    )


def _worker(
    shared: Services, agent: Agent, groups: Sequence[CommandGroup], *, on_kept: Callable[[Turn], None]
) -> Worker:
    """What takes one question after the other to its answer."""
    settings, name = shared.settings, shared.settings.signal.name
    group_context = GroupContext(shared.clock, limit=settings.groups.context_messages)
    greets = shared.is_signal and settings.access.greeting
    urgent_items = UrgentItems(
        *(shared.transport, shared.store, shared.counts),
        turns=shared.turns,
        revisions=shared.revisions,
        approvals=shared.approvals,
        commands=Commands(shared.command_context, groups, shared.admin_commands.command_of),
        on_reaction=shared.reminders.react,
        group_context=group_context,
        name=name,
        allowed=shared.allowed,
    )
    return Worker(
        *shared.outside,
        turns=shared.turns,
        agent=agent,
        approvals=shared.approvals,
        urgent_items=urgent_items,
        status_messages=shared.status_messages,
        reactions=shared.reactions,
        group_context=group_context,
        settings=settings,
        allowed=shared.allowed,
        on_kept=on_kept,
        greeting=(lambda: say(phrases.GREETING, name=name)) if greets else None,
    )


def _nightly(shared: Services) -> Callable[[], Awaitable[None]] | None:
    """What makes the nightly backup; None if none is wanted."""
    given, zone = shared.settings.store, shared.settings.locale.timezone
    if given.backup_days is None:
        return None
    folder, kept = given.path.absolute().parent / "backups" / "nightly", timedelta(days=given.backup_days)
    return lambda: shared.store.back_up_nightly(folder, now=shared.clock.now(), timezone=zone, kept=kept)


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


def user_agent(contact: str | None = None) -> str:
    """The name Aldis sends with its requests. `contact` tells services that want it how to reach the operator;
    strangers' pages do not learn it.
    """
    return f"Aldis/{current_version()} ({'; '.join(filter(None, ('self-hosted assistant for Signal', contact)))})"


def check_approve(settings: Settings, tools: Sequence[Tool]) -> None:
    """Checks that `TOOLS__APPROVE` names only tools: a misspelt one would run without an approval.

    Raises:
        ConfigError: a name is neither an enabled tool's nor begins like those of an MCP server.
    """
    names = {tool.spec.name for tool in tools}
    prefixes = tuple(_prefixes(settings).values())
    for name in settings.tools.approve:
        if name not in {ALL_TOOLS, *names} and not name.startswith(prefixes) and settings.tools.enabled:
            close = difflib.get_close_matches(name.lower(), {ALL_TOOLS, *names}, n=1)
            close = close or [found for found in sorted(names) if name.lower() in found]
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(sorted(names))}"
            raise ConfigError(f"TOOLS__APPROVE: no tool that is switched on is called {name}{hint}")


def _prefixes(settings: Settings) -> dict[str, str]:
    """The name prefix of each MCP server's tools."""
    mcp = settings.tools.options_by_name.get("mcp")
    return {server.name: prefix_of(server.name) for server in mcp.servers} if isinstance(mcp, McpOptions) else {}


def own_tools(settings: Settings, around: ToolDeps) -> tuple[Tool, ...]:
    """The enabled tools."""
    return build(settings.tools.options_by_name, around) if settings.tools.enabled else ()


def news_options(settings: Settings) -> NewsOptions:
    """The settings for news; disabled if all tools are."""
    options = settings.tools.options_by_name.get("news")
    news = options if isinstance(options, NewsOptions) else NewsOptions()
    return news if settings.tools.enabled else news.model_copy(update={"enabled": False})


def feature_tools(store: Store, clock: Clock, reminders: Reminders) -> dict[str, tuple[Tool, ...]]:
    """The tools of the features, by the names of their lines in the catalogue."""
    return {
        "remind": (Remind(reminders),),
        "remember": (Remember(store, clock),),
        "predictions": prediction_tools(store, clock),
        "news": news_tools(store),
    }


def idle_features() -> dict[str, tuple[Tool, ...]]:
    """The same without a store behind them, to be listed and not called."""
    nothing: Any = None
    return feature_tools(nothing, nothing, nothing)
