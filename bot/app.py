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
from bot.commands.broadcast import Audience, BroadcastCommands
from bot.commands.chat import ChatCommands
from bot.commands.errands import Errands, Judgement
from bot.commands.memory import MemoryCommands
from bot.commands.preferences import Menu, PreferenceCommands
from bot.commands.questions import QuestionCommands
from bot.commands.reminders import ReminderCommands
from bot.commands.standing import StandingCommands
from bot.errors import ConfigError, Disconnected
from bot.events import TERMINAL_PERSON
from bot.examinations.means import Means
from bot.languages.spoken import speak
from bot.loops.courier import Courier, Patience
from bot.loops.housekeeping import Housekeeping
from bot.loops.intake import Doors, Intake
from bot.loops.lookout import Lookout
from bot.loops.reminders import Reminding
from bot.loops.summarising import Summarising
from bot.loops.worker import Pace, Worker
from bot.media.parcels import MediaLimits, Parcels
from bot.media.speech import Listening, Speaking, Speech
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
from bot.turn.live import Live
from bot.turn.marks import EMOJI, Marks
from bot.turn.memory import Memory
from bot.turn.overheard import Overheard
from bot.turn.quotas import Quotas
from bot.turn.reminders import Reminders
from bot.turn.revisions import Revisions
from bot.turn.senses import Senses, Voice
from bot.turn.steps import Turn
from bot.turn.summaries import Summaries, Window
from bot.turn.toolbox import Toolbox
from bot.turn.turns import Turns
from bot.web.control import Control
from bot.web.health import HealthPage
from store import Store, opened
from tools import Fetcher, Http, Surroundings, Tool, build

_log = logging.getLogger(__name__)

VERSION = "0.1"
USER_AGENT = f"Aldis/{VERSION} (self-hosted assistant for Signal)"
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
    speak(settings.locale.language)
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
        fetcher = await stack.enter_async_context(Fetcher(USER_AGENT))
        provider = _provider(settings)
        stack.push_async_callback(provider.aclose)
        parts = _Parts(settings, transport, store, realm, _speech(settings, http))
        around = Surroundings(
            http=http, fetcher=fetcher, reminders=parts.reminders, memory=parts.memory, quotas=parts.quotas
        )
        aldis = parts.aldis(provider, _tools(settings, around))
        # What is there by now stays: the collector need not go through it again and again.
        gc.freeze()
        gc.enable()
        yield aldis


class _Parts:
    """The parts over an open store, and what they share."""

    def __init__(
        self, settings: Settings, transport: Transport, store: Store, realm: str, speech: Speech | None
    ) -> None:
        self._settings = settings
        self._speech = speech
        self._transport = transport
        self._store = store
        self._realm = realm
        self._clock = MachineClock()
        self._counts = Counts()
        self._pairing = Pairing()
        self._tool_names: tuple[str, ...] = ()
        self._allowed = _allowed(settings, realm)
        self._turns = Turns(
            store,
            self._clock,
            max_turns=settings.history.max_turns,
            timezone=settings.locale.timezone,
            max_parts=settings.signal.max_parts,
            language=settings.locale.language,
        )
        self._revisions = Revisions(store, self._clock, self._turns, deletes_answers=settings.signal.delete_answers)
        self.reminders = Reminders(
            store, self._clock, self._turns, account=transport.account, timezone=settings.locale.timezone
        )
        self.memory = Memory(store, self._clock)
        self.quotas = Quotas(store, self._clock)

    def aldis(self, provider: Provider, tools: Sequence[Tool]) -> Aldis:
        """All of them together."""
        settings = self._settings
        self._tool_names = tuple(tool.spec.name for tool in tools)
        minutes = settings.signal.round_trip_minutes
        lookout = Lookout(self._transport, self._counts, round_trip_seconds=60 * minutes or None)
        patience = Patience(grace_seconds=settings.signal.unknown_grace_seconds)
        health = HealthPage(self._store, lookout, self._clock, self._counts)
        intake, budget = self._intake(lookout), self._budget()
        summarising = self._summarising(provider, budget)
        return Aldis(
            settings=settings,
            worker=self._worker(self._senses(provider, tools, budget), intake, summarising.note),
            intake=intake,
            courier=Courier(self._transport, self._store, self._clock, self._counts, patience=patience),
            housekeeping=Housekeeping(self._store, self._clock, self._revisions, retention=_retention(settings)),
            reminding=self._reminding(intake),
            summarising=summarising,
            lookout=lookout,
            health=health,
            control=Control(self._store, self._clock, health.state),
        )

    def _budget(self) -> Budget:
        budgets = _budgets(self._settings)
        if budgets.limit_anything(in_group=True):
            for model in unpriced_models(self._settings):
                _log.warning("%s", unknown_price(model))
        return Budget(self._store, self._clock, budgets, timezone=self._settings.locale.timezone)

    def _senses(self, provider: Provider, tools: Sequence[Tool], budget: Budget) -> Senses:
        settings = self._settings
        seconds = settings.worker.turn_timeout_seconds
        voice = Voice(speech=self._speech, turn_seconds=seconds) if self._speech and settings.audio.speak else None
        return Senses(
            _agent(settings, provider, tools, budget),
            Parcels(self._transport, _media_limits(settings), speech=self._speech),
            timezone=settings.locale.timezone,
            voice=voice,
            budget=budget,
        )

    def _worker(self, agent: Senses, intake: Intake, kept: Callable[[Turn], None]) -> Worker:
        approvals = Approvals(self._store, self._clock, self._turns)
        judgement = Judgement(name=self._settings.signal.name, allowed=self._allowed)
        overheard = Overheard(self._clock, most=self._settings.groups.context_messages)
        in_signal = self._realm == "signal"
        errands = Errands(
            self._transport,
            self._store,
            self._counts,
            turns=self._turns,
            revisions=self._revisions,
            approvals=approvals,
            commands=self._commands(approvals, intake),
            overheard=overheard,
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
            live=Live(self._store, self._clock, mode=self._settings.signal.live if in_signal else "off"),
            marks=Marks(
                self._transport, emoji=EMOJI if in_signal and self._settings.signal.ack == "reaction" else None
            ),
            overheard=overheard,
            pace=_pace(self._settings),
            judgement=judgement,
            kept=kept,
        )

    def _commands(self, approvals: Approvals, intake: Intake) -> Commands:
        desk = Desk(self._store, self._turns, self._clock)
        account, zone = self._transport.account, self._settings.locale.timezone
        models = self._settings.llm.models_to_choose
        audience = Audience(self._transport, lambda: intake.allowed)
        budgets = _budgets(self._settings)
        rows = (
            ChatCommands(desk, approvals, timezone=zone),
            QuestionCommands(desk, approvals),
            PreferenceCommands(desk, Menu(models=models, tools=self._tool_names)),
            StandingCommands(desk, account=account, model=models[0], version=VERSION),
            ReminderCommands(desk, self.reminders),
            MemoryCommands(desk, self.memory),
            AdminCommands(desk, self._pairing, audience, budgets, account=account, timezone=zone),
            BroadcastCommands(desk, audience),
        )
        return Commands(desk, [entry for commands in rows for entry in commands.entries])

    def _summarising(self, provider: Provider, budget: Budget) -> Summarising:
        history = self._settings.history
        if not (history.summaries and history.max_turns and history.max_tokens):
            return Summarising(None, self._counts)
        summaries = Summaries(
            self._store,
            self._clock,
            self._turns,
            provider,
            window=Window(max_turns=history.max_turns, max_tokens=history.max_tokens),
            timeout_seconds=self._settings.llm.timeout_seconds,
            budget=budget,
        )
        return Summarising(summaries, self._counts)

    def _reminding(self, intake: Intake) -> Reminding:
        return Reminding(
            self._store,
            self._clock,
            self._counts,
            self.reminders,
            allowed=lambda: intake.allowed,
            account=self._transport.account,
        )

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
        choice=lambda name: _vendor(settings, *name.split("/", 1)),
    )


def _transport(settings: Settings, bridge: Bridge, account: str) -> Transport:
    signal = settings.signal
    if bridge == "signal_cli":
        from bot.transports.signal_cli import SignalCli

        return SignalCli(
            signal.url,
            account,
            name=signal.name,
            attachments=signal.attachments,
            notes_of=_notes_of(settings),
            send_seconds=signal.send_timeout_seconds,
        )
    from bot.transports.rest_api import RestApi

    return RestApi(
        signal.url,
        account,
        name=signal.name,
        notes_of=_notes_of(settings),
        send_seconds=signal.send_timeout_seconds,
    )


def _notes_of(settings: Settings) -> str | None:
    """The name of Aldis's device where the account is a person's own; else None."""
    return settings.signal.device_name if settings.signal.note_to_self else None


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
    """The providers in their order, and those of the models that people may choose besides."""
    llm = settings.llm
    providers = {llm.model_of(name): _vendor(settings, name) for name in llm.providers_in_order}
    others = [choice for choice in llm.choices if choice not in providers]
    chosen = {choice: _vendor(settings, *choice.split("/", 1)) for choice in others}
    return Fallback([*providers.values()], choices=providers | chosen)


def _vendor(settings: Settings, name: str, model: str | None = None) -> Provider:
    """A provider for its configured model, or for another one of its models."""
    llm = settings.llm
    match name:
        case "anthropic":
            from bot.providers.anthropic import Anthropic

            key = llm.anthropic.api_key
            return Anthropic(
                api_key=key.get_secret_value() if key else "",
                model=model or llm.anthropic.model,
                base_url=llm.anthropic.base_url,
                effort=llm.anthropic.effort,
                prices=_prices(settings),
            )
        case "openai":
            from bot.providers.openai import OpenAI

            key = llm.openai.api_key
            return OpenAI(
                api_key=key.get_secret_value() if key else None,
                model=model or llm.openai.chosen_model,
                base_url=llm.openai.base_url,
                api=llm.openai.api,
                sees=llm.openai.surely_sees,
                prices=_prices(settings),
            )
        case _:
            from bot.providers.offline import Offline

            return Offline()


def unpriced_models(settings: Settings) -> tuple[str, ...]:
    """The models that are or may be asked and whose price is unknown, without those that a server chooses itself."""
    llm, prices = settings.llm, _prices(settings)
    names = dict.fromkeys((*map(llm.model_of, llm.providers_in_order), *llm.choices))
    models = [model for _, _, model in (name.partition("/") for name in names) if model]
    return tuple(dict.fromkeys(model for model in models if prices.of(model) is None))


def _budgets(settings: Settings) -> Budgets:
    return Budgets(**settings.budget.model_dump(exclude={"prices"}))


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


def _tools(settings: Settings, around: Surroundings) -> tuple[Tool, ...]:
    return build(settings.tools.options_by_name, around) if settings.tools.enabled else ()


def _media_limits(settings: Settings) -> MediaLimits:
    media = settings.media
    return MediaLimits(
        max_files=media.max_files,
        max_bytes=media.max_bytes,
        max_pages=media.max_pages,
        max_text_characters=media.max_text_chars,
    )


def _speech(settings: Settings, http: Http) -> Speech | None:
    """Who understands and speaks; None without an address."""
    audio, key = settings.audio, settings.audio_key
    if audio.base_url is None:
        return None
    return Speech(
        http,
        base_url=audio.base_url,
        api_key=key.get_secret_value() if key else None,
        timeout_seconds=audio.timeout_seconds,
        listening=Listening(model=audio.listening_model, language=audio.language, price_usd=audio.price),
        speaking=Speaking(model=audio.speaking_model, voice=audio.voice, price_usd=audio.speech_price),
    )


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
    if settings.signal.note_to_self:
        return AccessList(persons=frozenset(), groups=frozenset(), note_to_self=True)
    if not persons and not access.groups:
        _log.warning("nobody may write to Aldis yet: set ACCESS__ALLOWED to your number (and ACCESS__GROUPS)")
    return AccessList(
        persons=persons,
        groups=frozenset(access.groups),
        admins=frozenset(access.admins),
        group_members_may_write=access.group_members_may_write,
    )
