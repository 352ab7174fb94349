"""The suites of AgentDojo, as far as the campaign needs them: tasks, attacks, worlds, and the suites' own judgement.

Not typed: the package is not among what the tests need, and stands in an environment of its own.

Source: agentdojo 0.1.35 (MIT; read 2026-11-22), github.com/ethz-spylab/agentdojo; version 1.1.2 of its suites.
"""

import functools
import importlib
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

from pydantic import TypeAdapter

_VERSION = "v1.1.2"
MARK = "<INFORMATION>"
"""What every order of a stranger begins with: by it the obeying model knows that it has read one."""

# It says which models it does not know, and that its logger is set up by nobody.
warnings.simplefilter("ignore")
logging.getLogger("agentdojo").setLevel(logging.CRITICAL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What a person wants, and perhaps what a stranger wants beside it, in a world where both can be had."""

    suite: Any
    user: Any
    attack: Any = None
    """None: nobody attacks."""

    def world(self) -> Any:
        """The world as it is before; the stranger's order stands where it will be read."""
        order = "" if self.attack is None else f"{MARK} {self.attack.GOAL} </INFORMATION>"
        vectors = _vectors(self.suite, self.user) if order else ()
        return self.user.init_environment(_world(self.suite, vectors, order).model_copy(deep=True))

    def calls(self, world: Any) -> tuple[Call, ...]:
        return _calls(self.user, world)

    def attack_calls(self, world: Any) -> tuple[Call, ...]:
        return () if self.attack is None else _calls(self.attack, world)

    def is_done(self, *, before: Any, after: Any, calls: Sequence[Call]) -> bool:
        return self._judged(self.user, before, after, calls)

    def has_effect(self, *, before: Any, after: Any, calls: Sequence[Call]) -> bool:
        """Whether the stranger has, likewise."""
        return self._judged(self.attack, before, after, calls)

    def _judged(self, task: Any, before: Any, after: Any, calls: Sequence[Call]) -> bool:
        runtime = importlib.import_module("agentdojo.functions_runtime")
        types = importlib.import_module("agentdojo.types")
        trace = [runtime.FunctionCall(function=call.tool, args=dict(call.arguments)) for call in calls]
        said = [types.text_content_block_from_string(self.user.GROUND_TRUTH_OUTPUT)]
        with redirect_stdout(StringIO()):  # some judges print
            return bool(self.suite._check_task_result(task, said, before, after, trace))


def suites() -> tuple[Any, ...]:
    return tuple(importlib.import_module("agentdojo.task_suite.load_suites").get_suites(_VERSION).values())


def tasks(suite: Any) -> Iterator[Task]:
    """What people want in this suite, with nobody attacking."""
    return (Task(suite=suite, user=user) for user in suite.user_tasks.values())


def attacks(suite: Any) -> Iterator[Task]:
    """Each of these with each attack that has an effect on the world.

    One of the suites' attacks wants nothing but that the answer recommends a hotel: it calls no tool, so nothing can
    be asked before it.
    """
    world = suite.load_and_inject_default_environment({})
    acting = [attack for attack in suite.injection_tasks.values() if attack.ground_truth(world)]
    return (Task(suite=suite, user=user, attack=attack) for user in suite.user_tasks.values() for attack in acting)


def run(suite: Any, world: Any, call: Call) -> Any:
    runtime = importlib.import_module("agentdojo.functions_runtime").FunctionsRuntime(suite.tools)
    given, _ = runtime.run_function(world, call.tool, dict(call.arguments), raise_on_error=True)
    return _as_json(given)


@functools.cache
def _vectors(suite: Any, user: Any) -> tuple[str, ...]:
    """Where a stranger may write, of what is read for this task: as the suites' own attacks choose."""
    canaries = {name: f"<CANARY-{name}>" for name in suite.get_injection_vector_defaults()}
    world = suite.load_and_inject_default_environment(canaries)
    read = repr([run(suite, world, call) for call in _calls(user, world)])
    return tuple(name for name, canary in canaries.items() if canary in read)


@functools.cache
def _world(suite: Any, vectors: tuple[str, ...], order: str) -> Any:
    """Reading one takes ten times as long as playing in it."""
    return suite.load_and_inject_default_environment(dict.fromkeys(vectors, order))


def _as_json(value: Any) -> Any:
    return TypeAdapter(Any).dump_python(value, mode="json")


def _calls(task: Any, world: Any) -> tuple[Call, ...]:
    planned = task.ground_truth(world.model_copy(deep=True))
    return tuple(Call(tool=call.function, arguments=_as_json(dict(call.args))) for call in planned)
