"""Puts Aldis together from its settings, from top to bottom; the only room that names concrete parts.

    settings --> store, transport --> Services: what all parts share --> the loops and what they need --> the service

`transports`: the one for the bridge that answers. `models`: the providers and their prices. Left to others: the verbs
(`bot.cli`).
"""

import asyncio
import base64
import gc
import logging
import resource
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import cast

from pydantic import SecretStr

from bot.access.access import EVERYBODY, AccessList
from bot.access.limits import Quota
from bot.access.pairing import Pairing
from bot.app import models, transports
from bot.app.tools import (
    check_names,
    embedder_of,
    feature_tools,
    idle_features,
    options_of,
    own_tools,
    prefixes_of,
    user_agent,
)
from bot.chat import prompt
from bot.chat.agent import Agent
from bot.chat.approvals import Approvals
from bot.chat.captchas import Captchas
from bot.chat.context import GroupContext
from bot.chat.edits import Revisions
from bot.chat.journal import OnProgress
from bot.chat.judge import ReportJudge
from bot.chat.notices import Admins, Notices
from bot.chat.room import ContextRoom, Models
from bot.chat.status import EMOJI, Reactions, StatusMessages
from bot.chat.toolbox import Toolbox
from bot.chat.turns import Turn, Turns
from bot.clock import Clock
from bot.commands.admin import AdminCommands, Audience
from bot.commands.base import CommandContext, CommandGroup, Commands
from bot.commands.conversation import ConversationCommands
from bot.commands.urgent import UrgentItems
from bot.doctor.bridge import check_release
from bot.doctor.checkup import recheck
from bot.doctor.findings import Deps, Finding
from bot.doctor.machine import check_disk, free_bytes_of, is_contained, secret_of
from bot.doctor.models import ModelTroubles
from bot.errors import ConfigError, Disconnected
from bot.events import TERMINAL_PERSON
from bot.features.attestation import AttestationCommands
from bot.features.export import ExportCommands
from bot.features.feeds import FeedCommands, FeedPoller, FeedService
from bot.features.memory import MemoryCommands
from bot.features.personas import PersonaCommands, Skills, read_personas
from bot.features.recall import Indexer
from bot.features.reminders.commands import ReminderCommands
from bot.features.reminders.service import Reminders, close_copy
from bot.features.safety_numbers import SafetyNumbers, TrustCommands
from bot.features.summaries import Summaries
from bot.features.translation import Translation
from bot.features.usage import UsageCommands
from bot.features.watches.commands import WatchCommands
from bot.features.watches.report import Reports
from bot.features.watches.service import Lookout
from bot.i18n import phrases
from bot.i18n.catalogues import say
from bot.i18n.language import set_language
from bot.loops.doorkeeper import Doorkeeper
from bot.loops.intake import Intake
from bot.loops.maintenance import Maintenance
from bot.loops.sender import Sender
from bot.loops.watchdog import Watchdog
from bot.loops.worker import Worker
from bot.media.attachments import AttachmentReader
from bot.media.cell import FileRefused
from bot.media.library import Library
from bot.media.sandbox import Sandbox
from bot.media.speech import Speech
from bot.metrics import Counts
from bot.models.base import Provider
from bot.models.capabilities import ModelLessons
from bot.money.budgets import Budget
from bot.money.ledger import Quotas
from bot.service import Service
from bot.settings import LimitsSettings, Settings
from bot.signal.protocol import Identities, Transport
from bot.trust.secrets import Secrets, passwords_in
from bot.web.admin.world import RunningParts, World
from bot.web.control import Control
from bot.web.health import HealthPage
from store import Store, open_store
from tools import Embedder, Fetcher, Http, NewsOptions, RecallOptions, Tool, ToolDeps, ToolSource, sources
from tools.code import CodeSource, RunCode

_log = logging.getLogger(__name__)

_CLOSE_SECONDS = 3.0
_PREPARE_SECONDS = 3.0
"""How long after the start the sandbox is prepared; a file that comes earlier has it prepared at once."""
_RESERVE_BYTES = 2_000_000
"""Given up when the disk is full, so that what must go can go; more than one deleting transaction needs."""
_MAX_FILES, _MAX_THREADS = 65_536, 64
"""A thousand waiting conversations may hold a connection to a model each, and a name that never resolves a thread."""


_UNLIMITED = LimitsSettings(messages_per_minute=10_000, conversation_messages_per_minute=10_000, max_waiting=100_000)
"""For the person at the terminal."""


def check_settings(settings: Settings) -> None:
    """Raises ConfigError, a line each, for what would else be refused only once the bridge and the store are there."""
    checks: list[Callable[[], object]] = [partial(models.budgets, settings)]
    around = ToolDeps(http=Http(user_agent()), fetcher=Fetcher(user_agent()), features=idle_features())
    checks.append(lambda: check_names(settings, own_tools(settings, around)))
    checks.append(partial(Reports, place=settings.watches.report, http=around.http))
    if settings.web.admin_port:
        checks.append(partial(secret_of, settings, is_contained=is_contained()))
    wrong: list[str] = []
    for check in checks:
        try:
            check()
        except ConfigError as error:
            wrong.append(str(error))
    if wrong:
        raise ConfigError("\n".join(wrong))


@asynccontextmanager
async def build_service(
    settings: Settings,
    transport: Transport,
    *,
    realm: str,
    world: World | None = None,
) -> AsyncGenerator[Service]:
    """Aldis over this transport, with the store of `realm` open, or a StoreError or ConfigError; closed at the end."""
    set_language(settings.locale.language)
    importing = asyncio.create_task(asyncio.to_thread(models.import_sdks, settings), name="sdks")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close, transport)
        sandbox, store = Sandbox(), await stack.enter_async_context(opened_store(settings, realm))
        await store.transaction(lambda repos: repos.people.meet(transport.account, number=transport.number))
        clock = await resumed_clock(store)
        shared = Services(settings, transport, store, realm, clock, sandbox, world)
        http = await stack.enter_async_context(Http(user_agent(settings.tools.contact)))
        fetcher = await stack.enter_async_context(Fetcher(user_agent()))
        # Of its own: a slow feed must not delay a page that a person wants read.
        feeds = await stack.enter_async_context(Fetcher(user_agent()))
        probe = models.CapabilityProbe(settings, http, shared.lessons)
        stack.push_async_callback(probe.aside.aclose)
        await importing
        troubles, counts = shared.troubles, shared.counts
        on_error = troubles.on_error, partial(models.count_failure, counts)
        on_answer = troubles.on_answer, partial(models.count_answer, counts), probe.on_answer
        provider = models.provider(settings, shared.lessons, on_error=on_error, on_answer=on_answer)
        stack.push_async_callback(_close, provider)
        probe.start()
        probe.aside.begin(_prepare(sandbox), "cells")
        embedder = embedder_of(settings, http)
        shared.watches.reports = Reports(place=settings.watches.report, http=http)
        features = feature_tools(store, clock, shared.reminders, shared.watches, embedder)
        judge = ReportJudge(store, clock, provider if models.has_model(settings) else None, shared.budget)
        papers, quotas = Library(sandbox), Quotas(store, clock)
        reaching = partial(ToolDeps, http=http, fetcher=fetcher, contact=settings.tools.contact or "")
        around = reaching(features=features, quotas=quotas, papers=papers, judge=judge, cells=sandbox)
        own = own_tools(settings, around)
        check_names(settings, own)
        news = tuple(tool for tool in own if tool in features["news"])
        names = {tool.spec.name for tool in own}
        servers = sources(settings.tools.options_by_name, taken=names) if settings.tools.enabled else ()
        code = (CodeSource(own),) if settings.tools.enabled and settings.tools.options_by_name["code"].enabled else ()
        skills = (Skills(settings.llm.skills),) if settings.tools.enabled else ()
        more = (*((FeedService(news, store),) if news else ()), *code, *skills, *servers)
        for source in more:
            stack.push_async_callback(_close, source)
        aldis = service(
            shared,
            provider,
            tuple(tool for tool in own if tool not in news and not isinstance(tool, RunCode)),
            more,
            speech=Speech(http, settings.audio, api_key=settings.audio_key) if settings.audio.base_url else None,
            feeds=feeds,
            embedder=embedder,
            ask=partial(recheck, settings, doctor_deps(settings, http, fetcher)),
        )
        # What exists by now will stay, so the collector need not scan it again and again.
        gc.freeze()
        gc.enable()
        yield aldis


class Services:
    """What the parts of one run share, in the order in which they need each other; made once, and not changed."""

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        store: Store,
        realm: str,
        clock: Clock,
        sandbox: Sandbox,
        world: World | None = None,
    ) -> None:
        """`world` has what outlasts this run: the strangers with a code or on a page, and the way to restart Aldis from
        within; None: that is impossible.
        """
        signal = settings.signal
        timezone = settings.locale.timezone
        self.settings = settings
        self.transport = transport
        self.store = store
        self.clock = clock
        self.sandbox = sandbox
        self.counts = Counts()
        self.lessons = ModelLessons()
        self.is_signal = is_signal = realm == "signal"
        self.outside = outside = transport, store, clock, self.counts
        self.allowed = access_list(settings, realm)
        """Who may write by the settings; `Doorkeeper.access` adds the members of the groups."""

        # What is kept of a conversation.
        priced = models.priced_models(settings, self.lessons)
        self.budget = budget = Budget(store, clock, models.budgets(settings), timezone=timezone, priced=priced)
        self.turns = turns = Turns(store, clock, settings, budget)
        turns.personas = read_personas(settings.llm.personas)
        self.revisions = Revisions(store, clock, turns, settings)
        self.approvals = Approvals(store, clock, turns)
        self.command_context = CommandContext(store, turns, clock)
        self.group_context = GroupContext(clock, limit=settings.groups.context_messages)

        # What people see while they wait.
        marks = EMOJI if is_signal and signal.ack == "reaction" else None
        self.status_messages = StatusMessages(store, clock, mode=signal.live if is_signal else "off")
        self.reactions = Reactions(*outside, emoji=marks)

        # Who is who, who comes in, and what the admins hear.
        self.restart = world.restart if world else None
        self.pairing = world.pairing if world else Pairing()
        self.audience = audience = Audience(transport, lambda: self.intake.door.access)
        self.admins = Admins(clock, listed=lambda: self.intake.door.access.admins, language=turns.language)
        accepts, pairs = signal.new_safety_numbers == "accept", is_signal and settings.access.strangers == "pair"
        identities = SafetyNumbers(*outside, may_write=audience.may_write, admins=self.admins, accepts=accepts)
        self.identities, self.captchas = identities, Captchas(*outside)
        door = Doorkeeper(*outside, self.allowed, signal.name, self.pairing, pairs)
        self.reminders = Reminders(*outside, turns=turns, locale=settings.locale, allowed=lambda: door.access)
        self.watches = Lookout(*outside, turns=turns, settings=settings, allowed=lambda: door.access)
        quota = Quota(settings.limits if is_signal else _UNLIMITED)
        self.intake = Intake(*outside, door=door, quota=quota, on_untrusted=identities.notice)
        self.intake.on_question = lambda message: self.reactions.put((message,))
        self.admin_commands = AdminCommands(
            self.command_context, self.pairing, audience, self.admins, on_allowed=self.intake.admit
        )
        self.troubles = ModelTroubles()


def service(
    shared: Services,
    provider: Provider,
    tools: Sequence[Tool],
    more: Sequence[ToolSource] = (),
    *,
    speech: Speech | None = None,
    feeds: Fetcher | None = None,
    embedder: Embedder | None = None,
    ask: Callable[[], Awaitable[Sequence[Finding]]] | None = None,
    commands: Iterable[CommandGroup] = (),
) -> Service:
    """Puts all parts together, in the order in which they need each other.

    `more` are sources of tools known only while it runs. `feeds` fetches feeds; None: none are read. `embedder`: None
    finds nothing by meaning. `ask` checks servers; None: nothing does. `commands` are some besides the usual ones.
    """
    settings = shared.settings
    intake = shared.intake
    identities = shared.identities
    transport, store, clock, counts = shared.outside
    news = options_of(settings, "news", NewsOptions)
    recall = options_of(settings, "recall", RecallOptions)
    counts.watch("unanswered_not_a_frame", lambda: transport.stream.unreadable)
    toolbox = Toolbox(
        tools,
        sources=more,
        clock=clock,
        settings=settings,
        prefixes=prefixes_of(settings),
        on_run=partial(models.count_run, counts),
    )
    shared.watches.toolbox = toolbox
    shared.watches.judge = ReportJudge(store, clock, provider, shared.budget)
    room = ContextRoom(models.lesson_of(settings, shared.lessons))
    system = prompt.system(settings.signal.name, settings.llm.system_prompt, settings.locale.place)
    asked = Models(provider=provider, system=system, settings=settings, budget=shared.budget, room=room)
    summaries = Summaries(store, clock, counts, asked)
    bare = Agent(models=asked, toolbox=Toolbox((), clock=clock, settings=settings), secrets=secrets(settings))
    translation = Translation(shared.command_context, bare, has_model=models.has_model(settings))
    groups = (*_command_groups(shared, tools, more, news), translation, *commands)
    watchdog, health = _watching(shared, ask)
    language, grace = shared.turns.language, settings.signal.unknown_grace_seconds
    return Service(
        settings=settings,
        worker=_worker(shared, asked, toolbox, speech, groups, summaries.note, translation.translate),
        intake=intake,
        sender=Sender(*shared.outside, grace_seconds=grace, language=language, on_untrusted=identities.notice),
        doorkeeper=intake.door,
        maintenance=Maintenance(store, clock, shared.revisions, settings),
        reminders=shared.reminders,
        watches=shared.watches,
        summaries=summaries,
        indexer=Indexer(store, clock, Library(shared.sandbox), recall.folder, embedder, shared.budget)
        if recall.enabled
        else None,
        feed_poller=FeedPoller(store, clock, counts, feeds, shared.sandbox, news) if feeds and news.enabled else None,
        watchdog=watchdog,
        control=Control(*shared.outside, shared.captchas, health.state, shared.restart),
        running=RunningParts(*shared.outside, health, identities, shared.captchas, shared.audience, toolbox),
    )


def _watching(shared: Services, ask: Callable[[], Awaitable[Sequence[Finding]]] | None) -> tuple[Watchdog, HealthPage]:
    """What notices that something is wrong, and the page that says so."""
    settings = shared.settings
    transport = shared.transport

    def check() -> list[Finding]:
        return [*shared.troubles.findings(), check_disk(free_bytes_of(settings))]

    async def asked() -> Sequence[Finding]:
        found = [*await ask()] if ask else []
        if isinstance(transport, Identities):
            with suppress(Disconnected, ConfigError):  # whether it answers is said elsewhere
                found += check_release(await transport.release(), shared.clock)
        return found

    notices = Notices(shared.store, shared.clock, shared.admins)
    watchdog = Watchdog(transport, notices, check, asked, shared.audience.contacts)
    health = HealthPage(
        *shared.outside,
        watchdog,
        level=lambda: shared.sandbox.known_level,
        free_bytes=lambda: free_bytes_of(settings),
        used_share=shared.budget.used_share,
    )
    return watchdog, health


def _command_groups(
    shared: Services, tools: Sequence[Tool], sources: Sequence[ToolSource], news: NewsOptions
) -> tuple[CommandGroup, ...]:
    """What people can say, in the order of /help."""
    settings, zone = shared.settings, shared.settings.locale.timezone
    context, has_model = shared.command_context, models.has_model(settings)
    return (
        ConversationCommands(
            context,
            shared.approvals,
            shared.group_context,
            models=settings.llm.models_to_choose,
            tools=tools,
            sources=sources,
        ),
        PersonaCommands(context),
        ExportCommands(context),
        UsageCommands(context, timezone=zone, limits=settings.budget),
        AttestationCommands(context),
        ReminderCommands(context, shared.reminders, has_model=has_model, has_reactions=shared.is_signal),
        WatchCommands(context, shared.watches),
        MemoryCommands(context),
        FeedCommands(context, is_on=news.enabled, timezone=zone),
        shared.admin_commands,
        TrustCommands(context, shared.identities),
    )


def _worker(
    shared: Services,
    models: Models,
    toolbox: Toolbox,
    speech: Speech | None,
    groups: Sequence[CommandGroup],
    on_kept: Callable[[Turn], None],
    translate: Callable[[Turn, OnProgress], Awaitable[None]],
) -> Worker:
    """What takes one question after the other to its answer."""
    settings, name = shared.settings, shared.settings.signal.name
    agent = Agent(
        models=models,
        toolbox=toolbox,
        secrets=secrets(settings),
        attachments=AttachmentReader(shared.transport, shared.sandbox, speech=speech),
        speech=speech if settings.audio.speak else None,
    )
    greets = shared.is_signal and settings.access.greeting
    urgent_items = UrgentItems(
        *shared.outside,
        turns=shared.turns,
        revisions=shared.revisions,
        approvals=shared.approvals,
        commands=Commands(shared.command_context, groups, shared.admin_commands.command_of),
        on_reaction=(shared.reminders.react, shared.watches.react),
        group_context=shared.group_context,
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
        group_context=shared.group_context,
        settings=settings,
        allowed=shared.allowed,
        on_kept=on_kept,
        translate=translate,
        greeting=(lambda: say(phrases.GREETING, name=name)) if greets else None,
    )


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


def widen() -> None:
    """Lets the process open more files, and its running loop use more threads; once for each loop."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="beside")
    asyncio.get_running_loop().set_default_executor(threads)


@asynccontextmanager
async def opened_store(settings: Settings, realm: str) -> AsyncGenerator[Store]:
    """The store, or a StoreError; what is open in one that was restored is closed, which the log says."""
    given = settings.store
    async with open_store(given.path, realm=realm, key=given.master_key, reserve_bytes=_RESERVE_BYTES) as store:
        await store.transaction(lambda repos: close_copy(repos, Clock().now()))
        yield store


async def _close(part: Transport | Provider | ToolSource) -> None:
    """Closes a part; abandons one that takes too long, because the store must be closed in any case."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await part.aclose()


async def _prepare(sandbox: Sandbox) -> None:
    """Prepares the sandbox once the first questions are on their way; the health page and the doctor say how it is."""
    await asyncio.sleep(_PREPARE_SECONDS)
    with suppress(FileRefused):  # already logged
        await sandbox.level()


async def resumed_clock(store: Store, clock: Clock | None = None) -> Clock:
    """The machine's clock, which knows the time that the last process with this store had."""
    clock = clock or Clock()
    kept = await store.read(lambda repos: repos.last_time.last())
    if kept is not None:
        clock.resume(kept)
    return clock


def doctor_deps(settings: Settings, http: Http | None = None, fetcher: Fetcher | None = None) -> Deps:
    """How the doctor creates the parts it examines; with clients of its own unless it gets some."""
    return Deps(
        linking=lambda bridge: transports.linking_over(settings, bridge),
        transport=lambda bridge, account: transports.transport(settings, bridge, account),
        provider=lambda name: models.vendor(settings, name),
        tool_deps=ToolDeps(
            http=http or Http(user_agent(settings.tools.contact)),
            fetcher=fetcher or Fetcher(user_agent()),
            features=idle_features(),
        ),
        is_contained=is_contained(),
        sandbox=Sandbox,
    )
