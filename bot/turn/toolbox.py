"""One tool call, from what the model wrote to what the model reads:

    known? -> well-formed? -> valid? -> within the rate? -> run in time -> cut to size -> priced

Whatever happens, a call ends in exactly one answer: `{"ok": true, "untrusted_data": {...}}`, or
`{"ok": false, "error": ..., "message": ...}` with an error out of the list in `tools.errors` or `unknown_outcome`.
Left to others: how many calls a turn may have, and the same call twice (`bot.turn.agent`).
"""

import asyncio
import json
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bot.clock import Clock
from bot.events import PersonId
from bot.logs import described
from bot.messages import ToolAnswer, ToolCall
from bot.policy.limits import Rate
from bot.policy.trust import needs_approval
from bot.providers.base import ToolOffer
from bot.turn.enclosures import files_of
from bot.turn.steps import ToolRun
from tools import (
    Arguments,
    BadArguments,
    NotFound,
    RateLimited,
    Result,
    TimedOut,
    Tool,
    ToolContext,
    ToolError,
    ToolSpec,
    Unavailable,
    fitted,
)

_log = logging.getLogger(__name__)

_SHOWN_PROBLEMS = 5


class Toolbox:
    """The tools that are switched on."""

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        clock: Clock,
        timezone: str,
        timeout_seconds: float,
        max_result_chars: int,
        calls_per_minute: int,
        approve: Collection[str] = (),
    ) -> None:
        """`approve` names the tools of which the operator wants each call to be approved by a person."""
        self._approve = frozenset(approve)
        self._tools = {tool.spec.name: tool for tool in tools}
        self._clock = clock
        self._timezone = timezone
        self._timeout_seconds = timeout_seconds
        self._max_result_chars = max_result_chars
        self._rate = Rate(calls_per_minute)
        self.offers = tuple(
            ToolOffer(name=tool.spec.name, description=tool.spec.description, parameters=tool.spec.parameters)
            for tool in tools
        )
        """What the models are offered, always in the same order."""

    def spec(self, name: str) -> ToolSpec | None:
        """What the tool of that name says of itself; None where there is none."""
        tool = self._tools.get(name)
        return None if tool is None else tool.spec

    def runs_once(self, call: ToolCall) -> bool:
        """Whether a call must not be repeated when nobody knows how it ended."""
        tool = self._tools.get(call.name)
        return tool is not None and tool.spec.effects == "once"

    def computes_only(self, call: ToolCall) -> bool:
        """Whether a call is so quick and harmless that it may share the commit of the completion that asks for it."""
        tool = self._tools.get(call.name)
        return tool is not None and tool.spec.computes_only

    def brings_outside(self, name: str) -> bool:
        """Whether the tool's answers come from outside, where anybody may have written them."""
        tool = self._tools.get(name)
        return tool is None or not (tool.spec.computes_only or tool.spec.own_words)

    def needs_word(self, call: ToolCall, *, has_read_untrusted: bool) -> bool:
        """Whether a person has to agree before the call runs: its author, the operator or the rule wants it."""
        tool = self._tools.get(call.name)
        if tool is None or call.malformed is not None:
            return False
        by_rule = needs_approval(tool.spec.effects, has_read_untrusted=has_read_untrusted)
        return by_rule or tool.spec.needs_approval or call.name in self._approve

    def cost_usd(self, calls: Sequence[ToolCall]) -> Decimal:
        """What the calls cost together, as far as that is known before."""
        return sum((self._tools[call.name].spec.cost_usd for call in calls if call.name in self._tools), Decimal(0))

    async def run(
        self, call: ToolCall, person: PersonId, *, chat: str = "", turn: int = 0, timezone: str | None = None
    ) -> ToolRun:
        """Run one call for a person, in a chat and a turn; `timezone` None: they live where all people do.

        Never raises but for cancellation.
        """
        began = time.monotonic()
        try:
            context = ToolContext(
                now=self._clock.now(),
                timezone=timezone or self._timezone,
                person=person,
                chat=chat,
                turn=turn,
                call=call.id,
            )
            result = await self._result(call, context)
        except ToolError as error:
            return self._failed(call, error.code, str(error), time.monotonic() - began)
        except Exception as error:  # noqa: BLE001  (a tool's bug must not cost the turn; the model is told)
            _log.error("tool %s: %s", call.name, described(error))
            return self._failed(call, Unavailable.code, f"{call.name} failed unexpectedly", time.monotonic() - began)
        return self._answered(call, result, time.monotonic() - began)

    def refused(self, call: ToolCall, error: str, message: str) -> ToolRun:
        """The answer to a call that is not run."""
        return self._failed(call, error, message, 0.0)

    async def _result(self, call: ToolCall, context: ToolContext) -> Result:
        tool = self._tools.get(call.name)
        if tool is None:
            raise NotFound(f"there is no tool {call.name!r}; there are: {', '.join(self._tools) or 'none'}")
        arguments = _validated(tool.spec.arguments, call)
        if not self._rate.admits(f"{context.person}|{call.name}", context.now):
            raise RateLimited(f"{call.name} was called too often in the last minute; answer without it, or wait")
        seconds = tool.spec.timeout_seconds or self._timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await tool.run(arguments, context)
        except TimeoutError as error:
            raise TimedOut(f"{call.name} did not answer within {seconds:g} seconds") from error

    def _answered(self, call: ToolCall, result: Result, seconds: float) -> ToolRun:
        files, sentences = files_of(result.files)
        attached = f',"files":{json.dumps(sentences, ensure_ascii=False)}' if sentences else ""
        most = self._tools[call.name].spec.max_result_chars or self._max_result_chars
        content = f'{{"ok":true,"untrusted_data":{fitted(result.data, most)}{attached}}}'
        cost = self._tools[call.name].spec.cost_usd if result.cost_usd is None else result.cost_usd
        return replace(self._run(call, content, "ok", seconds, cost), files=files)

    def _failed(self, call: ToolCall, error: str, message: str, seconds: float) -> ToolRun:
        content = json.dumps({"ok": False, "error": error, "message": message[:500]}, ensure_ascii=False)
        return self._run(call, content, error, seconds, Decimal(0))

    def _run(self, call: ToolCall, content: str, outcome: str, seconds: float, cost: Decimal) -> ToolRun:
        tool = call.name if call.name in self._tools else "unknown"
        _log.debug("tool %s: %s in %.3f s, %d characters", tool, outcome, seconds, len(content))
        return ToolRun(
            answer=ToolAnswer(call_id=call.id, name=call.name, content=content, ok=outcome == "ok"),
            arguments=call.arguments,
            outcome=outcome,
            latency_seconds=seconds,
            cost_usd=cost,
            tool=tool,
        )


def _validated(model: type[Arguments], call: ToolCall) -> Arguments:
    if call.malformed is not None:
        raise BadArguments("the arguments are no JSON object; call again with one that fits the tool's parameters")
    try:
        return model.model_validate(call.arguments)
    except ValidationError as error:
        problems = [_problem(problem) for problem in error.errors(include_url=False, include_input=False)]
        raise BadArguments("; ".join(problems[:_SHOWN_PROBLEMS])) from error


def _problem(problem: ErrorDetails) -> str:
    place = ".".join(map(str, problem["loc"]))
    return f"{place}: {problem['msg']}" if place else problem["msg"]
