"""Aldis put together from its settings; the only module that names concrete parts.

    settings --> store, providers, tools, transport --> the loops --> Aldis

The vendors' SDKs are imported here, inside functions, and only those that are configured: each costs up to a second and
75 MB. Left to others: the verbs of the command line (`bot.cli`).
"""

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from bot.aldis import Aldis
from bot.clock import MachineClock
from bot.commands.admin import AdminCommands
from bot.commands.base import Commands, Desk
from bot.commands.chat import ChatCommands
from bot.commands.errands import Errands, Judgement
from bot.doctor import Means
from bot.errors import ConfigError, Disconnected
from bot.events import TERMINAL_PERSON
from bot.loops.courier import Courier, Patience
from bot.loops.housekeeping import Housekeeping
from bot.loops.intake import Doors, Intake
from bot.loops.lookout import Lookout
from bot.loops.worker import Pace, Worker
from bot.metrics import Counts
from bot.policy.access import EVERYBODY, AccessList
from bot.policy.budgets import Budgets
from bot.policy.limits import Quota
from bot.policy.pairing import Pairing
from bot.providers.base import Provider
from bot.providers.fallback import Fallback
from bot.providers.prices import PUBLISHED, Prices, unknown_price
from bot.settings import Settings
from bot.transports.base import Linking, Transport
from bot.transports.bridge import Bridge, bridge_at
from bot.turn import prompt
from bot.turn.agent import Agent, Limits
from bot.turn.approvals import Approvals
from bot.turn.budget import Budget
from bot.turn.revisions import Revisions
from bot.turn.toolbox import Toolbox
from bot.turn.turns import Turns
from bot.web.control import Control
from bot.web.health import HealthPage
from store import Store, opened
from tools import Http, Surroundings, Tool, build

_log = logging.getLogger(__name__)

USER_AGENT = "Aldis/0.1 (self-hosted assistant for Signal)"
_LONGEST_PAUSE_SECONDS = 30.0
_BALLAST_BYTES = 2_000_000
"""Thrown out when the disk is full, so that what must go can go; more than one transaction that deletes needs."""


@asynccontextmanager
async def assembled(settings: Settings, transport: Transport, *, realm: str) -> AsyncGenerator[Aldis]:
    """Aldis over this transport, with the store of `realm` open; everything is closed at the end.

    Raises:
        StoreError: the store cannot be opened, see its kinds.
        ConfigError: a setting is wrong.
    """
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transport.aclose)
        given = settings.store
        store = await stack.enter_async_context(
            opened(
                given.path,
                realm=realm,
                key=given.master_key,
                old_key=given.old_master_key,
                ballast_bytes=_BALLAST_BYTES,
            )
        )
        http = await stack.enter_async_context(Http(user_agent=USER_AGENT))
        provider = _provider(settings)
        stack.push_async_callback(provider.aclose)
        aldis = _Parts(settings, transport, store, realm).aldis(provider, _tools(settings, http))
        # What is there by now stays: the collector need not go through it again and again.
        gc.freeze()
        gc.enable()
        yield aldis


class _Parts:
    """The parts over an open store, and what they share."""

    def __init__(self, settings: Settings, transport: Transport, store: Store, realm: str) -> None:
        self._settings = settings
        self._transport = transport
        self._store = store
        self._realm = realm
        self._clock = MachineClock()
        self._counts = Counts()
        self._pairing = Pairing()
        self._allowed = _allowed(settings, realm)
        self._turns = Turns(
            store,
            self._clock,
            max_turns=settings.history.max_turns,
            timezone=settings.locale.timezone,
            max_parts=settings.signal.max_parts,
        )
        self._revisions = Revisions(store, self._clock, self._turns, deletes_answers=settings.signal.delete_answers)

    def aldis(self, provider: Provider, tools: Sequence[Tool]) -> Aldis:
        """All of them together."""
        settings = self._settings
        minutes = settings.signal.round_trip_minutes
        lookout = Lookout(self._transport, self._counts, round_trip_seconds=60 * minutes or None)
        patience = Patience(grace_seconds=settings.signal.unknown_grace_seconds)
        health = HealthPage(self._store, lookout, self._clock, self._counts)
        return Aldis(
            settings=settings,
            worker=self._worker(_agent(settings, provider, tools, self._budget())),
            intake=self._intake(lookout),
            courier=Courier(self._transport, self._store, self._clock, self._counts, patience=patience),
            housekeeping=Housekeeping(self._store, self._clock, self._revisions, retention=_retention(settings)),
            lookout=lookout,
            health=health,
            control=Control(self._store, self._clock, health.state),
        )

    def _budget(self) -> Budget:
        limits = self._settings.budget
        budgets = Budgets(**limits.model_dump(exclude={"prices"}))
        if budgets.limit_anything(in_group=True):
            for model in unpriced_models(self._settings):
                _log.warning("%s", unknown_price(model))
        return Budget(self._store, self._clock, budgets, timezone=self._settings.locale.timezone)

    def _worker(self, agent: Agent) -> Worker:
        approvals = Approvals(self._store, self._clock, self._turns)
        judgement = Judgement(name=self._settings.signal.name, allowed=self._allowed)
        errands = Errands(
            self._transport,
            self._store,
            self._counts,
            turns=self._turns,
            revisions=self._revisions,
            approvals=approvals,
            commands=self._commands(approvals),
            judgement=judgement,
        )
        return Worker(
            self._transport,
            self._store,
            self._clock,
            self._counts,
            turns=self._turns,
            agent=agent,
            approvals=approvals,
            errands=errands,
            pace=_pace(self._settings),
            judgement=judgement,
        )

    def _commands(self, approvals: Approvals) -> Commands:
        desk = Desk(self._store, self._turns)
        chat = ChatCommands(desk, self._clock, approvals, timezone=self._settings.locale.timezone)
        admin = AdminCommands(desk, self._clock, self._pairing, account=self._transport.account)
        return Commands(desk, (*chat.entries, *admin.entries))

    def _intake(self, lookout: Lookout) -> Intake:
        return Intake(
            self._transport,
            self._store,
            self._clock,
            self._counts,
            allowed=self._allowed,
            name=self._settings.signal.name,
            receipt_window=timedelta(seconds=self._settings.signal.send_timeout_seconds),
            doors=_doors(self._settings, self._pairing) if self._realm == "signal" else None,
            noticed=lookout.noticed,
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
    return _transport(settings, await _bridge(settings), await _account(settings))


async def linking(settings: Settings) -> Linking:
    """The way to link an account by the bridge at `SIGNAL__URL`.

    Raises:
        ConfigError: what answers there is no bridge.
    """
    return _linking(settings, await _bridge(settings))


def means(settings: Settings) -> Means:
    """How the doctor makes the parts that it looks at."""
    return Means(
        linking=lambda bridge: _linking(settings, bridge),
        transport=lambda bridge, account: _transport(settings, bridge, account),
        provider=lambda name: _vendor(settings, name),
    )


def _transport(settings: Settings, bridge: Bridge, account: str) -> Transport:
    signal = settings.signal
    if bridge == "signal_cli":
        from bot.transports.signal_cli import SignalCli

        return SignalCli(signal.url, account, name=signal.name, send_seconds=signal.send_timeout_seconds)
    from bot.transports.rest_api import RestApi

    return RestApi(signal.url, account, name=signal.name, send_seconds=signal.send_timeout_seconds)


def _linking(settings: Settings, bridge: Bridge) -> Linking:
    if bridge == "signal_cli":
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
                prices=_prices(settings),
            )
        case "openai":
            from bot.providers.openai import OpenAI

            key = llm.openai.api_key
            return OpenAI(
                api_key=key.get_secret_value() if key else None,
                model=llm.openai.chosen_model,
                base_url=llm.openai.base_url,
                api=llm.openai.api,
                prices=_prices(settings),
            )
        case _:
            from bot.providers.offline import Offline

            return Offline()


def unpriced_models(settings: Settings) -> tuple[str, ...]:
    """The models that are asked and whose price is unknown; one that a server chooses itself is not among them."""
    llm, prices = settings.llm, _prices(settings)
    models = {"anthropic": llm.anthropic.model, "openai": llm.openai.chosen_model}
    chosen = (models.get(name) for name in llm.providers_in_order)
    return tuple(model for model in chosen if model is not None and prices.of(model) is None)


def _prices(settings: Settings) -> Prices:
    return PUBLISHED.with_own(settings.budget.own_prices)


def _agent(settings: Settings, provider: Provider, tools: Sequence[Tool], budget: Budget) -> Agent:
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
        approve=settings.tools.approve,
    )
    system = prompt.system(settings.signal.name, settings.llm.system_prompt)
    return Agent(provider, toolbox, system=system, limits=limits, budget=budget)


def _tools(settings: Settings, http: Http) -> tuple[Tool, ...]:
    if not settings.tools.enabled:
        return ()
    return build(settings.tools.options_by_name, Surroundings(http=http))


def _pace(settings: Settings) -> Pace:
    return Pace(
        conversations_at_once=settings.worker.conversations_at_once,
        turn_timeout_seconds=settings.worker.turn_timeout_seconds,
        max_attempts=settings.worker.max_attempts,
        turns_at_once=settings.limits.turns_at_once,
        approval_seconds=settings.approvals.timeout,
        max_age_seconds=settings.intake.max_age,
    )


def _doors(settings: Settings, pairing: Pairing) -> Doors:
    limits = settings.limits
    quota = Quota(
        messages_per_minute=limits.messages_per_minute,
        conversation_messages_per_minute=limits.conversation_messages_per_minute,
        max_waiting=limits.max_waiting,
    )
    return Doors(quota=quota, pairing=pairing if settings.access.strangers == "pair" else None)


def _retention(settings: Settings) -> timedelta | None:
    days = settings.history.retention_days
    return None if days is None else timedelta(days=days)


def _allowed(settings: Settings, realm: str) -> AccessList:
    """Who may write: those allowed and the admins; in the terminal whoever sits there."""
    access = settings.access
    persons = frozenset({*access.allowed, *access.admins})
    if realm == "terminal":
        return AccessList(persons=frozenset({EVERYBODY}), groups=frozenset(), admins=frozenset({TERMINAL_PERSON}))
    if not persons and not access.groups:
        _log.warning("nobody may write to Aldis yet: set ACCESS__ALLOWED to your number (and ACCESS__GROUPS)")
    return AccessList(
        persons=persons,
        groups=frozenset(access.groups),
        admins=frozenset(access.admins),
        group_members_may_write=access.group_members_may_write,
    )
