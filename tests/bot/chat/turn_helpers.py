"""What tests of the turn stand on: a provider that says what it is told, tools with effects, turns in a store."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from bot.chat.agent import Agent
from bot.chat.journal import Outcome, Turn
from bot.chat.room import ContextRoom, Models
from bot.chat.toolbox import Toolbox
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.errors import ProviderError
from bot.events import ChatId, Incoming, PersonId, SentId
from bot.messages import AssistantMessage, AssistantPart, CallId, Text, ToolCall
from bot.models.base import Completion, Provider, Request, Stop, Usage
from bot.models.prices import PricedModel
from bot.money.budgets import Budget
from bot.settings import BudgetSettings, Settings, load_settings
from bot.signal.protocol import Progress
from bot.trust.secrets import Secrets
from store import Claim, Store
from tests.arrivals import arrive
from tests.waiting import DEADLINE_SECONDS
from tools import Arguments, Effects, Label, Result, Tool, ToolContext, ToolSpec


def completion(*parts: AssistantPart, stop: Stop | None = None) -> Completion:
    called = any(isinstance(part, ToolCall) for part in parts)
    return Completion(
        message=AssistantMessage(parts=parts) if parts else None,
        stop=stop or (Stop.TOOLS if called else Stop.END),
        usage=Usage(input_tokens=10, output_tokens=5),
        provider="scripted",
        model="model-1",
        latency_seconds=0.1,
        cost_usd=Decimal("0.01"),
    )


def says(text: str, stop: Stop | None = None) -> Completion:
    return completion(Text(text=text), stop=stop)


def calls(*named: tuple[str, Mapping[str, object]], stop: Stop | None = None) -> Completion:
    """Calls with ids as sloppy servers give them: the same in every completion."""
    parts = [ToolCall(id=CallId(f"call_{n}"), name=name, arguments=given) for n, (name, given) in enumerate(named)]
    return completion(*parts, stop=stop)


@dataclass
class Scripted:
    script: list[Completion | ProviderError]
    requests: list[Request] = field(default_factory=list[Request])
    name: str = "scripted"

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        answer = self.script.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    async def aclose(self) -> None:
        """Nothing is open."""


class EchoArguments(Arguments):
    rare = frozenset({"times"})
    word: str
    times: int = 1


@dataclass
class Echo:
    """A tool that gives back a word; `work` decides what else happens."""

    effects: Effects = "none"
    work: Callable[[str], Any] | None = None
    ran: list[str] = field(default_factory=list[str])
    name: str = "echo"
    description: str = "Gives back a word."
    timeout_seconds: float | None = None
    label: Label = "local"
    flags: dict[str, Any] = field(default_factory=dict[str, Any])
    cost_usd: Decimal = Decimal("0.002")

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description=self.description,
            arguments=EchoArguments,
            effects=self.effects,
            timeout_seconds=self.timeout_seconds,
            label=self.label,
            cost_usd=self.cost_usd,
            **self.flags,
        )

    async def run(self, arguments: EchoArguments, context: ToolContext) -> Result:
        self.ran.append(arguments.word)
        if self.work is not None:
            done = self.work(arguments.word)
            if asyncio.iscoroutine(done):
                await done
        return Result(data={"word": arguments.word * arguments.times})


def toolbox(clock: SetClock, *tools: Tool, **changes: Any) -> Toolbox:
    limits: dict[str, Any] = {"timeout_seconds": DEADLINE_SECONDS}
    for name in changes.keys() & {"timeout_seconds", "calls_per_minute", "approve"}:
        limits[name] = changes.pop(name)
    return Toolbox(tools, clock=clock, settings=settings_with(tools=limits), **{"max_result_chars": 1000, **changes})


def settings_with(usual: Settings | None = None, **groups: Mapping[str, Any]) -> Settings:
    """The usual ones with these changes by group. No value is checked: a story may want what nobody may set."""
    before = usual or load_settings({}, None)
    return before.model_copy(
        update={name: getattr(before, name).model_copy(update=changes) for name, changes in groups.items()}
    )


def turn_settings(*, max_rounds: int = 5, max_calls_per_round: int = 8, max_history_tokens: int = 16_000) -> Settings:
    return settings_with(
        history={"max_tokens": max_history_tokens},
        llm={"max_output_tokens": 1000, "timeout_seconds": DEADLINE_SECONDS},
        tools={"max_tool_calls": max_rounds, "max_calls_per_round": max_calls_per_round},
    )


def unlimited(store: Store, clock: SetClock) -> Budget:
    return Budget(store, clock, BudgetSettings(), timezone="UTC")


def agent_of(
    provider: Provider,
    tools: Toolbox,
    budget: Budget,
    *,
    settings: Settings | None = None,
    secrets: Secrets | None = None,
    room: ContextRoom | None = None,
) -> Agent:
    models = Models(
        provider=provider,
        system="Be kind.",
        settings=settings or turn_settings(),
        budget=budget,
        room=room or ContextRoom(),
    )
    return Agent(models=models, toolbox=tools, secrets=secrets or Secrets())


def incoming(text: str = "hello", sent_at: int = 1, chat: str = "direct:alice") -> Incoming:
    return Incoming(author=PersonId("alice"), name="Alice", chat=ChatId(chat), sent_at=SentId(sent_at), text=text)


@dataclass
class Desk:
    """One conversation in a store, an agent, and what was shown of its progress."""

    store: Store
    clock: SetClock
    provider: Scripted
    tools: tuple[Tool, ...] = ()
    settings: Settings = field(default_factory=turn_settings)
    room: ContextRoom = field(default_factory=ContextRoom)
    limits: BudgetSettings = field(default_factory=BudgetSettings)
    timezone: str = "UTC"
    priced: Callable[[str | None], PricedModel | None] = lambda _: None
    shown: list[Progress] = field(default_factory=list[Progress])
    arrivals: int = 0

    @cached_property
    def turns(self) -> Turns:
        return self.started_anew()

    @cached_property
    def budget(self) -> Budget:
        return Budget(self.store, self.clock, self.limits, timezone=self.timezone, priced=self.priced)

    def started_anew(self) -> Turns:
        """The turns as after a restart: everything comes from the store."""
        return Turns(self.store, self.clock, settings_with(locale={"timezone": self.timezone}), self.budget)

    @property
    def agent(self) -> Agent:
        box = toolbox(self.clock, *self.tools)
        return agent_of(self.provider, box, self.budget, settings=self.settings, room=self.room)

    async def arrive(self, chat: str = "direct:alice") -> None:
        self.arrivals += 1
        await arrive(self.store, chat, self.arrivals)

    async def claimed(self) -> Claim:
        [claim], _ = await self.store.transaction(lambda repos: self.turns.claim(repos, busy=(), seconds=60))
        return claim

    async def loaded(self, text: str = "hello", chat: str | None = None, person: str = "alice") -> Turn:
        place = chat or f"direct:{person}"
        await self.arrive(place)
        message = replace(incoming(text, self.arrivals, place), author=PersonId(person))
        return await self.turns.load(await self.claimed(), (message,))

    async def again(self, text: str = "hello") -> Turn:
        """The turn as it is claimed after a crash."""
        await self.store.transaction(lambda repos: repos.inbox.requeue(now=None))
        return await self.turns.load(await self.claimed(), (incoming(text, self.arrivals),))

    async def watch(self, progress: Progress) -> None:
        self.shown.append(progress)

    async def answer(self, turn: Turn) -> Outcome:
        outcome = await self.agent.answer(self.turns.journal(turn, self.watch))
        assert isinstance(outcome, Outcome)
        return outcome

    async def kept(self, text: str = "hello", chat: str | None = None, person: str = "alice") -> Outcome:
        turn = await self.loaded(text, chat, person)
        outcome = await self.answer(turn)
        await self.turns.keep(turn, outcome)
        self.clock.move(timedelta(seconds=1).total_seconds())
        return outcome


def contents(request: Request) -> Sequence[str]:
    return [answer.content for message in request.messages if message.role == "tool" for answer in message.answers]
