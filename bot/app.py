"""Aldis put together from its settings; the only module that names concrete parts.

    settings --> store, providers, tools, transport --> the four loops --> running

The vendors' SDKs are imported here, inside functions, and only those that are configured: each costs up to a second and
75 MB. Left to others: the verbs of the command line (`bot.cli`).
"""

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from bot.clock import MachineClock
from bot.errors import ConfigError, Disconnected
from bot.loops.courier import Courier, Patience
from bot.loops.housekeeping import Housekeeping
from bot.loops.intake import Intake
from bot.loops.worker import Pace, Worker
from bot.metrics import Counts
from bot.policy.access import EVERYBODY, AccessList
from bot.providers.base import Provider
from bot.providers.fallback import Fallback
from bot.settings import Settings
from bot.transports.base import Linking, Transport
from bot.transports.bridge import Bridge, bridge_at
from bot.turn import prompt
from bot.turn.agent import Agent, Limits
from bot.turn.toolbox import Toolbox
from bot.turn.turns import Turns
from bot.web.health import HealthPage, served
from store import opened
from tools import Http, Surroundings, Tool, build

T = TypeVar("T")

_log = logging.getLogger(__name__)

USER_AGENT = "Aldis/0.1 (self-hosted assistant for Signal)"
_LONGEST_PAUSE_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Aldis:
    """Everything that runs, put together."""

    settings: Settings
    worker: Worker
    intake: Intake
    courier: Courier
    housekeeping: Housekeeping
    health: HealthPage

    async def run(self, stop: asyncio.Event) -> None:
        """Answer messages until `stop` is set; then finish or hand back what is under way, within bounded time.

        Raises:
            ConfigError: the bridge says that it will never work, or the health page cannot be served.
        """
        web = self.settings.web
        async with served(self.health, web.host, web.port):
            await self._loop(stop, self.intake.run)

    async def chat(self, stop: asyncio.Event) -> None:
        """Answer what the transport gives until its stream ends for good, or `stop` is set."""
        await self._loop(stop, self.intake.read_once)

    async def _loop(self, stop: asyncio.Event, read: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await self.housekeeping.recover()
        await self.courier.recover()
        async with asyncio.TaskGroup() as group:
            working = group.create_task(self.worker.run(), name="worker")
            sending = group.create_task(self.courier.run(), name="courier")
            tidying = group.create_task(self.housekeeping.run(), name="housekeeping")
            reading = group.create_task(unless(stop, read()), name="intake")
            await asyncio.wait([reading])
            await self.intake.aclose()
            await self._wind_down(working, sending)
            tidying.cancel()

    async def _wind_down(self, working: asyncio.Task[None], sending: asyncio.Task[None]) -> None:
        """Let turns and then sends end by themselves; what is left when the time is over is handed back."""
        try:
            async with asyncio.timeout(self.settings.worker.shutdown_seconds):
                self.worker.drain()
                await asyncio.wait([working])
                self.courier.drain()
                await asyncio.wait([sending])
        except TimeoutError:
            _log.warning("the time to stop is over; what is under way is taken up again at the next start")
            working.cancel()
            sending.cancel()


@asynccontextmanager
async def assembled(settings: Settings, transport: Transport, *, realm: str) -> AsyncGenerator[Aldis]:
    """Aldis over this transport, with the store of `realm` open; everything is closed at the end.

    Raises:
        StoreError: the store cannot be opened, see its kinds.
        ConfigError: a setting is wrong.
    """
    clock, counts = MachineClock(), Counts()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transport.aclose)
        store = await stack.enter_async_context(opened(settings.store.path, realm=realm, key=settings.store.master_key))
        http = await stack.enter_async_context(Http(user_agent=USER_AGENT))
        provider = _provider(settings)
        stack.push_async_callback(provider.aclose)
        agent = _agent(settings, provider, _tools(settings, http))
        turns = Turns(
            store,
            clock,
            max_turns=settings.history.max_turns,
            timezone=settings.locale.timezone,
            max_parts=settings.signal.max_parts,
        )
        patience = Patience(grace_seconds=settings.signal.unknown_grace_seconds)
        intake = Intake(
            transport,
            store,
            clock,
            counts,
            allowed=_allowed(settings, realm),
            name=settings.signal.name,
            receipt_window=timedelta(seconds=settings.signal.send_timeout_seconds),
        )
        # What is there by now stays: the collector need not go through it again and again.
        gc.freeze()
        gc.enable()
        yield Aldis(
            settings=settings,
            worker=Worker(transport, store, turns, agent, counts, pace=_pace(settings), name=settings.signal.name),
            intake=intake,
            courier=Courier(transport, store, clock, counts, patience=patience),
            housekeeping=Housekeeping(store, clock),
            health=HealthPage(store, intake, clock, counts),
        )


def terminal(conversation: str, once: str | None, verbosity: int) -> tuple[Transport, Callable[[], bool]]:
    """The transport over standard input and output, and the question whether anything failed in it so far."""
    from bot.transports.terminal import Terminal

    here = Terminal(
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        conversation=conversation,
        once=once,
        verbosity=verbosity,
    )
    return here, lambda: here.failed


async def signal_transport(settings: Settings) -> Transport:
    """The transport to Signal; waits until the bridge answers and has an account.

    Raises:
        ConfigError: what answers at `SIGNAL__URL` is no bridge, or none that works.
    """
    kind = await _bridge(settings)
    account = await _account(settings)
    signal = settings.signal
    if kind == "signal_cli":
        from bot.transports.signal_cli import SignalCli

        return SignalCli(signal.url, account, name=signal.name, send_seconds=signal.send_timeout_seconds)
    from bot.transports.rest_api import RestApi

    return RestApi(signal.url, account, name=signal.name, send_seconds=signal.send_timeout_seconds)


async def linking(settings: Settings) -> Linking:
    """The way to link an account by the bridge at `SIGNAL__URL`.

    Raises:
        ConfigError: what answers there is no bridge.
    """
    if await _bridge(settings) == "signal_cli":
        from bot.transports.signal_cli import SignalCliLinking

        return SignalCliLinking(settings.signal.url)
    from bot.transports.rest_api import RestApiLinking

    return RestApiLinking(settings.signal.url)


async def _bridge(settings: Settings) -> Bridge:
    """What stands at `SIGNAL__URL`: as set, else as it answers, however long it takes to come up."""
    if settings.signal.transport != "auto":
        return settings.signal.transport
    pauses = _pauses()
    while True:
        try:
            return await bridge_at(settings.signal.url)
        except Disconnected as error:
            _log.warning("waiting for Signal: %s", error)
            await asyncio.sleep(next(pauses))


async def _account(settings: Settings) -> str:
    """The account to answer for: as set, else the only one that the bridge has; waits until there is one."""
    if settings.signal.account:
        return settings.signal.account
    link = await linking(settings)
    try:
        pauses = _pauses()
        while not (accounts := await _linked(link)):
            _log.warning("no account is linked yet; link one with: python -m bot link")
            await asyncio.sleep(next(pauses))
    finally:
        await link.aclose()
    first, *others = accounts
    if others:
        raise ConfigError("SIGNAL__ACCOUNT: the bridge has several accounts; name the one that Aldis answers for")
    return first


def _pauses() -> Iterator[float]:
    """The seconds between one look for the bridge and the next: growing, without end."""
    seconds = 1.0
    while True:
        yield seconds
        seconds = min(2 * seconds, _LONGEST_PAUSE_SECONDS)


async def _linked(link: Linking) -> tuple[str, ...]:
    try:
        return await link.accounts()
    except Disconnected as error:
        _log.warning("waiting for Signal: %s", error)
        return ()


def _provider(settings: Settings) -> Provider:
    return Fallback([_vendor(settings, name) for name in settings.llm.providers_in_order])


def _vendor(settings: Settings, name: str) -> Provider:
    llm = settings.llm
    match name:
        case "anthropic":
            from bot.providers.anthropic import Anthropic

            key = llm.anthropic.api_key
            return Anthropic(
                api_key=key.get_secret_value() if key else "",
                model=llm.anthropic.model,
                base_url=llm.anthropic.base_url,
                effort=llm.anthropic.effort,
            )
        case "openai":
            from bot.providers.openai import OpenAI

            key = llm.openai.api_key
            return OpenAI(
                api_key=key.get_secret_value() if key else None,
                model=llm.openai.chosen_model,
                base_url=llm.openai.base_url,
                api=llm.openai.api,
            )
        case _:
            from bot.providers.offline import Offline

            return Offline()


def _agent(settings: Settings, provider: Provider, tools: Sequence[Tool]) -> Agent:
    limits = Limits(
        max_tool_calls=settings.tools.max_tool_calls,
        max_history_tokens=settings.history.max_tokens,
        max_output_tokens=settings.llm.max_output_tokens,
        timeout_seconds=settings.llm.timeout_seconds,
    )
    toolbox = Toolbox(
        tools,
        clock=MachineClock(),
        timezone=settings.locale.timezone,
        timeout_seconds=settings.tools.timeout_seconds,
        max_result_chars=settings.tools.max_result_chars,
        calls_per_minute=settings.tools.calls_per_minute,
    )
    system = prompt.system(settings.signal.name, settings.llm.system_prompt)
    return Agent(provider, toolbox, system=system, limits=limits)


def _tools(settings: Settings, http: Http) -> tuple[Tool, ...]:
    if not settings.tools.enabled:
        return ()
    return build(settings.tools.options_by_name, Surroundings(http=http))


def _pace(settings: Settings) -> Pace:
    return Pace(
        conversations_at_once=settings.worker.conversations_at_once,
        turn_timeout_seconds=settings.worker.turn_timeout_seconds,
        max_attempts=settings.worker.max_attempts,
    )


def _allowed(settings: Settings, realm: str) -> AccessList:
    """Who may write: those allowed and the admins; in the terminal whoever sits there."""
    access = settings.access
    persons = frozenset({*access.allowed, *access.admins})
    if realm == "terminal":
        return AccessList(persons=frozenset({EVERYBODY}), groups=frozenset())
    if not persons and not access.groups:
        _log.warning("nobody may write to Aldis yet: set ACCESS__ALLOWED to your number (and ACCESS__GROUPS)")
    return AccessList(persons=persons, groups=frozenset(access.groups))


async def unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What `work` gives, or None when `stop` is set before: then it is cancelled."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.wait((working, stopping))
    return None if working.cancelled() else working.result()
