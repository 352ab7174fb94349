"""Puts Aldis together from its settings; the only room that names concrete parts.

    settings --> store, providers, tools, transport --> the loops --> the service

transports  for the bridge that answers                models      providers, their prices
tools       those that are enabled                     policies    settings in the form the parts take
wiring      the loops over an open store               machine     limits of the process
this        all of it, opened and closed

Left to others: the verbs of the command line (`bot.cli.main`).
"""

import asyncio
import gc
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import replace

from bot.access.pairing import Callers, Pairing
from bot.app import machine, models, policies, transports
from bot.app import tools as equipment
from bot.app.learning import CapabilityProbe, KeptLessons
from bot.app.metering import Meter
from bot.app.models import unpriced_models
from bot.app.people import identities_of
from bot.app.tools import standalone_deps, toolbox, user_agent
from bot.app.transports import linking, linking_ready, log_waits, signal_transport
from bot.app.wiring import Parts
from bot.clock import Clock, MachineClock
from bot.doctor.checkup import recheck
from bot.doctor.deps import Deps
from bot.doctor.machine import words_of_level
from bot.doctor.pages import is_contained
from bot.doctor.troubles import ModelTroubles
from bot.features.feeds.service import Feeds, FeedService
from bot.features.safety_numbers.service import SafetyNumbers
from bot.i18n.language import set_language
from bot.media.cell import FileRefused
from bot.media.feeds import FeedReader
from bot.media.pdf_port import Library
from bot.media.sandbox import Sandbox
from bot.metrics import Counts
from bot.models.base import Provider
from bot.service import Service
from bot.settings import Settings
from bot.shutdown import Restarts
from bot.signal.protocol import Transport
from store import UNDECIDED, Store, Undecided, open_store
from tools import Fetcher, Http, Tool, ToolDeps, ToolSource, alone

__all__ = [
    "build_service",
    "check_settings",
    "doctor_deps",
    "identities",
    "import_sdks",
    "linking",
    "linking_ready",
    "log_waits",
    "own_clock",
    "signal_transport",
    "standalone_deps",
    "toolbox",
    "unpriced_models",
    "user_agent",
]

_log = logging.getLogger(__name__)

_CLOSE_SECONDS = 3.0
_RESERVE_BYTES = 2_000_000
"""Released when the disk is full, so that deletions are still possible; more than one deleting transaction needs."""


def check_settings(settings: Settings) -> None:
    """Refuses at once what would otherwise be refused only once the bridge and the store are there.

    Raises:
        ConfigError: a budget that cannot count, or an unknown tool to approve.
    """
    models.budgets(settings)
    _check_approve(settings)


def _check_approve(settings: Settings) -> None:
    if settings.tools.approve:
        around = alone(Http(user_agent()), Fetcher(user_agent()))
        equipment.check_approve(settings, equipment.own_tools(settings, around))


def import_sdks(settings: Settings) -> asyncio.Task[None]:
    """Imports the models' SDKs in a thread while something else is awaited; `build_service` needs them."""
    return asyncio.create_task(asyncio.to_thread(models.import_sdks, settings), name="sdks")


@asynccontextmanager
async def build_service(
    settings: Settings,
    transport: Transport,
    *,
    realm: str,
    restarts: Restarts | None = None,
    pairing: Pairing | None = None,
    callers: Callers | None = None,
) -> AsyncGenerator[Service]:
    """Aldis over this transport, with the store of `realm` open; everything is closed at the end.

    `restarts` restarts it from within; None: that is impossible. `pairing` and `callers` know the strangers waiting to
    be let in, and outlive a run.

    Raises:
        StoreError: the store cannot be opened, see its kinds; or it was restored and is undecided.
        ConfigError: a setting is wrong.
    """
    set_language(settings.locale.language)
    machine.widen()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close, transport)
        sandbox = stack.enter_context(closing(Sandbox()))
        sandbox.start()
        importing = import_sdks(settings)
        stack.callback(importing.cancel)
        store = await stack.enter_async_context(_decided_store(settings, realm))
        await store.transaction(lambda repos: repos.accounts.meet(transport.account, number=transport.number))
        http = await stack.enter_async_context(Http(user_agent(settings.tools.contact)))
        fetcher = await stack.enter_async_context(Fetcher(user_agent()))
        troubles, counts = ModelTroubles(), Counts()
        meter = Meter(counts)
        kept_lessons = KeptLessons(store, MachineClock())
        stack.push_async_callback(_close, kept_lessons)
        lessons = await kept_lessons.read()
        probe = CapabilityProbe(settings, http, lessons)
        stack.push_async_callback(_close, probe)
        await importing
        provider = models.provider(
            settings,
            lessons,
            on_error=(troubles.on_error, meter.on_error),
            on_answer=(troubles.on_answer, meter.on_answer, probe.on_answer),
        )
        stack.push_async_callback(_close, provider)
        probe.start()
        looking = asyncio.create_task(_look_at(sandbox), name="cells")
        stack.callback(looking.cancel)
        # A fetcher of its own: a slow feed must not delay a page that somebody wants read.
        reader = FeedReader(await stack.enter_async_context(Fetcher(user_agent())), sandbox)
        clock = await own_clock(store)
        deps = replace(doctor_deps(settings), tool_deps=alone(http, fetcher))
        parts = Parts(
            settings,
            transport,
            store,
            realm,
            policies.speech(settings, http),
            sandbox,
            reader,
            clock=clock,
            counts=counts,
            lessons=lessons,
            troubles=troubles,
            ask=lambda: recheck(settings, deps),
            restarts=restarts,
            pairing=pairing,
            callers=callers,
        )
        around = ToolDeps(
            http=http,
            fetcher=fetcher,
            reminders=parts.reminders,
            memory=parts.memory,
            predictions=parts.predictions,
            news=parts.feeds,
            quotas=parts.quotas,
            papers=Library(sandbox),
            judge=parts.judge(provider),
        )
        tools, more = _tools_and_sources(settings, around, parts.feeds)
        for source in more:
            stack.push_async_callback(_close, source)
        aldis = parts.service(provider, tools, more)
        # What exists by now will stay, so the collector need not scan it again and again.
        gc.freeze()
        gc.enable()
        yield aldis


@asynccontextmanager
async def _decided_store(settings: Settings, realm: str) -> AsyncGenerator[Store]:
    """The store, unless it was restored and nobody has decided yet how it goes on."""
    given = settings.store
    async with open_store(
        given.path,
        realm=realm,
        key=given.master_key,
        old_key=given.old_master_key,
        reserve_bytes=_RESERVE_BYTES,
    ) as store:
        if await store.read(lambda repos: repos.restored.restoration()) is not None:
            raise Undecided(UNDECIDED)
        yield store


def _tools_and_sources(
    settings: Settings, around: ToolDeps, feeds: Feeds
) -> tuple[tuple[Tool, ...], tuple[ToolSource, ...]]:
    """The tools that are always there, and the sources of those that come and go."""
    own = equipment.own_tools(settings, around)
    equipment.check_approve(settings, own)
    tools, news = equipment.apart(own)
    return tools, (FeedService(news, feeds), *equipment.tool_sources(settings, own))


async def _close(part: Transport | Provider | ToolSource | KeptLessons | CapabilityProbe) -> None:
    """Closes a part; abandons one that takes too long, because the store must be closed in any case."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await part.aclose()


async def _look_at(sandbox: Sandbox) -> None:
    """Prepares the sandbox before the first file arrives, and logs if it does not hold."""
    with suppress(FileRefused):  # already logged
        level = await sandbox.level()
        if not level.holds:
            layers = words_of_level(level)
            _log.warning("strangers' files are opened in processes that are hardly confined: %s; see doctor", layers)


async def own_clock(store: Store, clock: MachineClock | None = None) -> MachineClock:
    """The machine's clock, with own time continuing from where the last process with this store stopped.

    Raises:
        StoreError: the store cannot be read.
    """
    clock = clock or MachineClock()
    kept, latest = await store.read(lambda repos: (repos.own_time.last(), repos.own_time.latest()))
    if kept is not None:
        clock.resume(kept)
    elif latest is not None:
        clock.begin_after(latest)
    return clock


def identities(settings: Settings, transport: Transport, store: Store, clock: Clock) -> SafetyNumbers:
    """People's safety numbers, for a verb that runs while no Aldis does."""
    allowed = policies.access_list(settings, "signal")
    return identities_of(settings, transport, store, clock, lambda: allowed, counts=Counts())


def doctor_deps(settings: Settings) -> Deps:
    """How the doctor creates the parts it examines."""
    return Deps(
        linking=lambda bridge: transports.linking_over(settings, bridge),
        transport=lambda bridge, account: transports.transport(settings, bridge, account),
        profile=lambda bridge, account: transports.profile_over(settings, bridge, account),
        provider=lambda name: models.vendor(settings, name),
        choice=lambda name: models.vendor(settings, *name.split("/", 1)),
        budgets=lambda: models.budgets(settings),
        check_approve=lambda: _check_approve(settings),
        tool_deps=alone(Http(user_agent(settings.tools.contact)), Fetcher(user_agent())),
        is_contained=is_contained(),
        sandbox=Sandbox,
    )
