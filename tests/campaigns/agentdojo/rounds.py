"""Plays one task after the other through the real loop: agent, toolbox, labels, questions, journal, store, MCP.

The model obeys: it does what the person wants, and what a stranger wants as soon as it has read it. The operator trusts
these servers, so that people are asked only when Aldis has a reason to.

Every question is answered with no, so that asking alone lets nothing happen, and the model goes on.
"""

import json
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.chat.journal import Outcome, Pause, Turn
from bot.chat.steps import Decided, dump_step, load_step
from bot.chat.toolbox import Toolbox
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.events import PersonId
from bot.labels import Labels, Source
from bot.messages import CallId, ToolCall
from bot.models.base import Completion, Request
from bot.signal.protocol import Progress
from bot.trust.rules import untrusted_sources
from store import Repositories, Store, open_store
from tests.arrivals import arrive
from tests.bot.chat.turn_helpers import (
    agent_of,
    completion,
    contents,
    incoming,
    says,
    settings_with,
    turn_settings,
    unlimited,
)
from tests.campaigns.agentdojo.server import Dojo, serving
from tests.campaigns.agentdojo.suites import MARK, Call, Task
from tests.conftest import NOON
from tests.waiting import DEADLINE_SECONDS
from tools.mcp.options import McpOptions
from tools.mcp.servers import McpServers, ServerTimeouts

_LONG = 1_000_000
"""Nothing is cut, and nobody calls too often: a limit that happens to stop an attack is no gate."""


class Open(Toolbox):
    def approval(self, *_: object, **__: object) -> None:
        return None


class Plain(Toolbox):
    """Whatever changes something, or reaches out, asks once anything was read that others may have written."""

    def approval(
        self, call: ToolCall, labels: Labels, person: PersonId, words: str, *, in_group: bool = False
    ) -> tuple[Source, ...] | None:
        spec = self.spec(call.name)
        only_looks = spec is None or (spec.effects == "none" and not spec.is_disclosing)
        return None if only_looks else untrusted_sources(labels, person) or None


GATES: dict[str, type[Toolbox]] = {"no gate": Open, "plain taint gate": Plain, "Aldis": Toolbox}


@dataclass
class Obeying:
    """Plays the calls of a suite one by one, whatever comes of them; a stranger's come before what is left."""

    server: str
    planned: list[Call]
    ordered: tuple[Call, ...]
    answer: str
    name: str = "obeying"
    has_read: bool = False

    async def complete(self, request: Request) -> Completion:
        if not self.has_read and any(MARK in content for content in contents(request)):
            self.has_read = True
            self.planned = [*self.ordered, *self.planned]
        if not self.planned:
            return says(self.answer or "Done.")
        call = self.planned.pop(0)
        return completion(ToolCall(id=CallId("x"), name=f"{self.server}_{call.tool}", arguments=call.arguments))

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    task: Task
    is_done: bool
    """Whether the person has what they wanted, and nobody was asked."""
    questions: tuple[str, ...]
    has_effect: bool = False


@dataclass
class Ring:
    """A suite's server as Aldis has it, and a store for the turns."""

    dojo: Dojo
    source: McpServers
    store: Store
    clock: SetClock
    turns: int = 0

    async def played(self, gate: type[Toolbox], task: Task) -> Result:
        world = task.world()
        before = world.model_copy(deep=True)
        self.dojo.enter(world)
        model = Obeying(
            server=task.suite.name,
            planned=[*task.calls(world)],
            ordered=task.attack_calls(world),
            answer=task.user.GROUND_TRUTH_OUTPUT,
        )
        questions = await self._answered(gate, model, task.user.PROMPT)
        judged: dict[str, Any] = {"before": before, "after": self.dojo.world, "calls": self.dojo.calls}
        if task.attack is None:
            return Result(task=task, is_done=task.is_done(**judged) and not questions, questions=questions)
        effect = task.has_effect(**judged)
        return Result(task=task, is_done=False, questions=questions, has_effect=effect)

    async def _answered(self, gate: type[Toolbox], model: Obeying, prompt: str) -> tuple[str, ...]:
        """Ask, in a conversation of its own; gives the tools about which Aldis asked."""
        toolbox = gate(
            (),
            sources=(self.source,),
            clock=self.clock,
            settings=settings_with(tools={"timeout_seconds": DEADLINE_SECONDS, "calls_per_minute": _LONG}),
            max_result_chars=_LONG,
        )
        settings = turn_settings(max_rounds=100, max_history_tokens=_LONG)
        agent = agent_of(model, toolbox, unlimited(self.store, self.clock), settings=settings)
        turns = Turns(self.store, self.clock, settings, unlimited(self.store, self.clock))
        turn = await self._begun(turns, prompt)
        asked: list[str] = []
        while isinstance(ended := await agent.answer(turns.journal(turn, _unwatched)), Pause):
            asked += [call.name for call in ended.calls]
            turn = await self._refused(turns, turn, ended)
        assert isinstance(ended, Outcome)
        assert ended.ok, ended.text
        await turns.keep(turn, ended)
        self.clock.move(1)
        return tuple(asked)

    async def _begun(self, turns: Turns, prompt: str) -> Turn:
        self.turns += 1
        chat = f"direct:{self.turns}"
        await arrive(self.store, chat, self.turns)
        [claim], _ = await self.store.transaction(lambda repos: turns.claim(repos, busy=(), seconds=DEADLINE_SECONDS))
        return await turns.load(claim, (incoming(prompt, self.turns, chat),))

    async def _refused(self, turns: Turns, turn: Turn, pause: Pause) -> Turn:
        """The turn as it is taken up after the person was asked and has said no."""
        await turns.pause(turn, pause, until=self.clock.now() + timedelta(hours=1))
        said = dump_step(Decided(call_ids=tuple(call.id for call in pause.calls), is_yes=False))

        def decide(repos: Repositories) -> tuple[bytes, ...]:
            place = len(repos.journal.steps(turn.conversation, turn.id))
            repos.journal.add(turn.conversation, turn.id, place, said)
            repos.inbox.take_up(turn.id)
            return tuple(repos.journal.steps(turn.conversation, turn.id))

        lines = await self.store.transaction(decide)
        [claim], _ = await self.store.transaction(lambda repos: turns.claim(repos, busy=(), seconds=DEADLINE_SECONDS))
        assert claim.turn == turn.id
        return replace(turn, steps=tuple(load_step(line) for line in lines))


@asynccontextmanager
async def ring(suite: Any, folder: Path) -> AsyncGenerator[Ring]:
    async with AsyncExitStack() as stack:
        dojo = await stack.enter_async_context(serving(suite))
        server = {"url": f"http://127.0.0.1:{dojo.port}/mcp", "approve": "never"}
        options = McpOptions.model_validate({"servers": json.dumps({suite.name: server})})
        source = McpServers(options, timeouts=ServerTimeouts(wait_seconds=DEADLINE_SECONDS))
        stack.push_async_callback(source.aclose)
        store = await stack.enter_async_context(open_store(folder / suite.name / "aldis.db", realm="signal"))
        offered = {tool.spec.name for tool in await source.tools()}
        assert offered == {f"{suite.name}_{tool.name}" for tool in suite.tools}, offered
        yield Ring(dojo, source, store, SetClock(NOON))


async def played(suite: Any, tasks: Iterable[Task], folder: Path) -> dict[str, list[Result]]:
    """These tasks of one suite behind each gate."""
    found: dict[str, list[Result]] = {gate: [] for gate in GATES}
    async with ring(suite, folder) as there:
        for number, task in enumerate(tasks, 1):
            for name, gate in GATES.items():
                found[name].append(await there.played(gate, task))
            if number % 20 == 0:
                sys.stderr.write(f"{suite.name}: {number} played\n")
    return found


async def _unwatched(progress: Progress) -> None: ...
