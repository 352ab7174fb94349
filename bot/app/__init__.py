"""Puts Aldis together from its settings; the only room that names concrete parts.

    settings --> store, providers, tools, transport --> the loops --> the service

`transports`: the one for the bridge that answers. `models`: the providers and their prices. `wiring`: the tools, and
the loops over an open store. Here all of it is opened and closed. Left to others: the verbs (`bot.cli.main`).
"""

import asyncio
import gc
import resource
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

from bot.access.pairing import Callers, Pairing
from bot.app import models, transports, wiring
from bot.app.wiring import check_approve, feature_tools, idle_features, own_tools, user_agent
from bot.clock import Clock
from bot.doctor.checkup import recheck
from bot.doctor.findings import Deps
from bot.doctor.machine import is_contained, secret_of
from bot.errors import ConfigError
from bot.features.evidence import ReportJudge
from bot.features.feeds import FeedReader, FeedService
from bot.features.reminders.service import close_copy
from bot.i18n.language import set_language
from bot.media.cell import FileRefused
from bot.media.library import Library
from bot.media.sandbox import Sandbox
from bot.media.speech import Speech
from bot.models.base import Provider
from bot.money.ledger import Quotas
from bot.service import Service
from bot.settings import Settings
from bot.signal.protocol import Transport
from store import Store, open_store
from tools import Fetcher, Http, Tool, ToolDeps, ToolSource, alone, sources

_CLOSE_SECONDS = 3.0
_PREPARE_SECONDS = 3.0
"""How long after the start the sandbox is prepared; a file that comes earlier has it prepared at once."""
_RESERVE_BYTES = 2_000_000
"""Given up when the disk is full, so that what must go can go; more than one deleting transaction needs."""
_MAX_FILES, _MAX_THREADS = 65_536, 64
"""A thousand waiting conversations may hold a connection to a model each, and a name that never resolves a thread."""


def check_settings(settings: Settings) -> None:
    """Refuses at once what would otherwise be refused only once the bridge and the store are there.

    Raises:
        ConfigError: a budget that cannot count, an unknown tool to approve, or pages for others without a code; a line
            for each.
    """
    checks: list[Callable[[], object]] = [partial(models.budgets, settings)]
    around = alone(Http(user_agent()), Fetcher(user_agent()), idle_features())
    checks.append(lambda: check_approve(settings, own_tools(settings, around)))
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


def import_sdks(settings: Settings) -> asyncio.Task[None]:
    """Imports the models' SDKs in a thread while something else is awaited; `build_service` needs them."""
    return asyncio.create_task(asyncio.to_thread(models.import_sdks, settings), name="sdks")


@asynccontextmanager
async def build_service(
    settings: Settings,
    transport: Transport,
    *,
    realm: str,
    restart: Callable[[], Awaitable[None]] | None = None,
    pairing: Pairing | None = None,
    callers: Callers | None = None,
) -> AsyncGenerator[Service]:
    """Aldis over this transport, with the store of `realm` open; everything is closed at the end.

    Raises:
        StoreError: the store cannot be opened, see its kinds.
        ConfigError: a setting is wrong.
    """
    set_language(settings.locale.language)
    importing = import_sdks(settings)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close, transport)
        sandbox, store = Sandbox(), await stack.enter_async_context(opened_store(settings, realm))
        await store.transaction(lambda repos: repos.accounts.meet(transport.account, number=transport.number))
        clock = await resumed_clock(store)
        shared = wiring.Services(
            *(settings, transport, store, realm),
            clock=clock,
            sandbox=sandbox,
            restart=restart,
            pairing=pairing,
            callers=callers,
        )
        http = await stack.enter_async_context(Http(user_agent(settings.tools.contact)))
        fetcher = await stack.enter_async_context(Fetcher(user_agent()))
        # Of its own: a slow feed must not delay a page that a person wants read.
        feeds = await stack.enter_async_context(Fetcher(user_agent()))
        probe = models.CapabilityProbe(settings, http, shared.lessons)
        stack.push_async_callback(_close, probe)
        await importing
        troubles = shared.troubles
        on_error = troubles.on_error, partial(models.count_failure, shared.counts)
        on_answer = troubles.on_answer, partial(models.count_answer, shared.counts), probe.on_answer
        provider = models.provider(settings, shared.lessons, on_error=on_error, on_answer=on_answer)
        stack.push_async_callback(_close, provider)
        probe.start()
        preparing = asyncio.create_task(_prepare(sandbox), name="cells")
        stack.callback(preparing.cancel)
        own, more = _tools(shared, provider, http, fetcher)
        for source in more:
            stack.push_async_callback(_close, source)
        deps = replace(doctor_deps(settings), tool_deps=alone(http, fetcher, idle_features()))
        speech = Speech(http, settings.audio, api_key=settings.audio_key) if settings.audio.base_url else None
        reader = FeedReader(feeds, sandbox)
        ask = partial(recheck, settings, deps)
        aldis = wiring.service(shared, provider, own, more, speech=speech, reader=reader, ask=ask)
        # What exists by now will stay, so the collector need not scan it again and again.
        gc.freeze()
        gc.enable()
        yield aldis


def _tools(
    shared: wiring.Services, provider: Provider, http: Http, fetcher: Fetcher
) -> tuple[tuple[Tool, ...], tuple[ToolSource, ...]]:
    """The enabled tools, and the sources of those that are known only while Aldis runs.

    Raises:
        ConfigError: `TOOLS__APPROVE` names a tool that there is not.
    """
    settings, store, clock = shared.settings, shared.store, shared.clock
    features = feature_tools(store, clock, shared.reminders)
    judge = ReportJudge(store, clock, provider if models.has_model(settings) else None, shared.budget)
    papers, quotas = Library(shared.sandbox), Quotas(store, clock)
    around = ToolDeps(http=http, fetcher=fetcher, features=features, quotas=quotas, papers=papers, judge=judge)
    own = own_tools(settings, around)
    check_approve(settings, own)
    news = tuple(tool for tool in own if tool in features["news"])
    names = {tool.spec.name for tool in own}
    servers = sources(settings.tools.options_by_name, taken=names) if settings.tools.enabled else ()
    more = (*((FeedService(news, store),) if news else ()), *servers)
    return tuple(tool for tool in own if tool not in news), more


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
    """The store; what is open in one that was restored is closed, which the log says.

    Raises:
        StoreError: it cannot be opened.
    """
    given = settings.store
    async with open_store(given.path, realm=realm, key=given.master_key, reserve_bytes=_RESERVE_BYTES) as store:
        await store.transaction(lambda repos: close_copy(repos, Clock().now()))
        yield store


async def _close(part: Transport | Provider | ToolSource | models.CapabilityProbe) -> None:
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
    """The machine's clock, which knows the time that the last process with this store had.

    Raises:
        StoreError: the store cannot be read.
    """
    clock = clock or Clock()
    kept = await store.read(lambda repos: repos.last_time.last())
    if kept is not None:
        clock.resume(kept)
    return clock


def doctor_deps(settings: Settings) -> Deps:
    """How the doctor creates the parts it examines."""
    return Deps(
        linking=lambda bridge: transports.linking_over(settings, bridge),
        transport=lambda bridge, account: transports.transport(settings, bridge, account),
        provider=lambda name: models.vendor(settings, name),
        tool_deps=alone(Http(user_agent(settings.tools.contact)), Fetcher(user_agent()), idle_features()),
        is_contained=is_contained(),
        sandbox=Sandbox,
    )
