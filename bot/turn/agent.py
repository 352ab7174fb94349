"""The loop: asks the model, runs the tools it wants side by side, asks again, until an answer or a limit.

    ask --> words ------------------------------> Outcome
     ^  '-> calls --> toolbox, side by side --.
     '--------- answers, in the order asked <-'

Every completion with calls and every tool's answer is journaled as soon as it is there; what an earlier attempt of
the turn has journaled is taken from there. Knows neither SQL nor Signal nor a vendor.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from bot import phrases
from bot.errors import ContextTooLong, ProviderError
from bot.messages import AssistantMessage, CallId, Message, Text, ToolCall, ToolMessage
from bot.providers.base import Attempt, Completion, Provider, Request, Stop
from bot.transports.base import ModelAnswered, Progress, ToolEnded, ToolStarted
from bot.turn import prompt
from bot.turn.toolbox import Toolbox
from bot.turn.turns import Journal, Outcome, ToolRun, Turn

Watch = Callable[[Progress], Awaitable[None]]
"""Is told of each step as it happens."""

_SHOWN_ARGUMENT_CHARACTERS = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How far one turn may go."""

    max_tool_calls: int
    max_history_tokens: int
    max_output_tokens: int
    timeout_seconds: float
    """For one completion, attempts and pauses included."""


@dataclass
class _Work:
    """What one turn has gathered so far."""

    turn: Turn
    journal: Journal
    watch: Watch
    history: tuple[Message, ...]
    said: list[Message]
    completions: list[Completion] = field(default_factory=list[Completion])
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    calls_left: int = 0

    def outcome(self, text: str, *, ok: bool, keeps: AssistantMessage | None = None) -> Outcome:
        """The end; `keeps` is the answer under which the turn enters the history."""
        messages = () if keeps is None else (*self.said, keeps)
        return Outcome(text=text, ok=ok, messages=messages, completions=tuple(self.completions), runs=tuple(self.runs))


class Agent:
    """Answers turns with one provider and one toolbox."""

    def __init__(self, provider: Provider, toolbox: Toolbox, *, system: str, limits: Limits) -> None:
        self._provider = provider
        self._toolbox = toolbox
        self._system = system
        self._limits = limits

    async def answer(self, turn: Turn, journal: Journal, watch: Watch) -> Outcome:
        """The outcome of a turn. Failures of models and tools are outcomes too.

        Raises:
            StoreError: a step could not be journaled; the turn can be tried again later.
        """
        work = self._begun(turn, journal, watch)
        while True:
            try:
                completion = await self._completion(work)
            except ProviderError as error:
                failed = work.outcome(phrases.for_error(error), ok=False)
                return replace(failed, failures=_attempts(error))
            work.completions.append(completion)
            message = completion.message
            if message is None or not message.calls or completion.stop is not Stop.TOOLS or work.calls_left == 0:
                return _ended(work, completion)
            answers = await self._answers(work, message.calls)
            work.said += [message, ToolMessage(answers=tuple(run.answer for run in answers))]

    def _begun(self, turn: Turn, journal: Journal, watch: Watch) -> _Work:
        past = turn.history if self._toolbox.offers else tuple(prompt.without_tools(past) for past in turn.history)
        return _Work(
            turn=turn,
            journal=journal,
            watch=watch,
            history=prompt.window(past, max_tokens=self._limits.max_history_tokens),
            said=[turn.question],
            calls_left=self._limits.max_tool_calls if self._toolbox.offers else 0,
        )

    async def _completion(self, work: _Work) -> Completion:
        """The next completion: the one in the journal, else a new one."""
        number = len(work.completions)
        if number < len(work.journal.completions):
            return work.journal.completions[number]
        completion = _named(await self._asked(work), work.turn, number)
        await work.watch(_progress(completion))
        if completion.message is not None and completion.message.calls and work.calls_left:
            quick = all(map(self._toolbox.computes_only, completion.message.calls))
            await work.journal.completed(completion, hold=quick)
        return completion

    async def _asked(self, work: _Work) -> Completion:
        try:
            return await self._provider.complete(self._request(work))
        except ContextTooLong:
            if not work.history:
                raise
            # Half of the turns go, once: what is left is most of what matters, and two requests bound the cost.
            kept = work.turn.history[(len(work.turn.history) + 1) // 2 :]
            work.history = prompt.window(kept, max_tokens=self._limits.max_history_tokens // 2)
            return await self._provider.complete(self._request(work))

    def _request(self, work: _Work) -> Request:
        return Request(
            system=self._system,
            messages=(*work.history, *work.said),
            tools=self._toolbox.offers,
            may_call_tools=work.calls_left > 0,
            max_output_tokens=self._limits.max_output_tokens,
            timeout_seconds=self._limits.timeout_seconds,
            conversation=f"c{work.turn.conversation}",
        )

    async def _answers(self, work: _Work, calls: Sequence[ToolCall]) -> list[ToolRun]:
        """One run for each call, in the order asked; equal calls and calls over the limit are not run."""
        first = {_key(call): call for call in reversed(calls)}
        known = {_key_of(run): run for run in work.runs if run.outcome == "ok"}
        to_run = [call for call in calls if first[_key(call)] is call and _key(call) not in known]
        allowed = to_run[: work.calls_left]
        work.calls_left = max(0, work.calls_left - len(calls))
        async with asyncio.TaskGroup() as group:
            tasks = {_key(call): group.create_task(self._ran(work, call)) for call in allowed}
        await work.journal.flush()  # what was held back for runs, when there were none
        done = known | {key: task.result() for key, task in tasks.items()}
        runs = [_as(done[_key(call)], call) if _key(call) in done else self._over_limit(call) for call in calls]
        work.runs += [run for run, call in zip(runs, calls, strict=True) if call in to_run]
        return runs

    async def _ran(self, work: _Work, call: ToolCall) -> ToolRun:
        """One call: as the journal has it, else run now and journaled."""
        earlier = work.journal.runs.get(call.id)
        if earlier is not None and _key_of(earlier) == _key(call):
            return earlier
        await work.watch(ToolStarted(name=call.name, arguments=_shown(call)))
        if call.id in work.journal.started:
            run = self._toolbox.refused(
                call, "unknown_outcome", "a restart interrupted this; it may have happened, so do not repeat it unasked"
            )
        else:
            if self._toolbox.runs_once(call):
                await work.journal.start(call.id)
            run = await self._toolbox.run(call, work.turn.person)
        await work.journal.ran(run)
        await work.watch(_ended_run(run))
        return run

    def _over_limit(self, call: ToolCall) -> ToolRun:
        most = self._limits.max_tool_calls
        return self._toolbox.refused(
            call, "rate_limited", f"at most {most} tool calls for one message; answer with what you have"
        )


def _ended(work: _Work, completion: Completion) -> Outcome:
    """What a completion that runs no tools comes to."""
    text = "" if completion.message is None else completion.message.text
    if completion.stop is Stop.REFUSAL:
        return work.outcome(phrases.REFUSED, ok=False)
    if completion.stop is Stop.LENGTH:
        if not text.strip():
            return work.outcome(phrases.NO_WORDS_LEFT, ok=False)
        return work.outcome(f"{text}\n\n{phrases.CUT_OFF}", ok=True, keeps=_words(text))
    if not text.strip():
        return work.outcome(phrases.NOTHING_SAID, ok=False)
    return work.outcome(text, ok=True, keeps=_words(text))


def _words(text: str) -> AssistantMessage:
    return AssistantMessage(parts=(Text(text=text),))


def _named(completion: Completion, turn: Turn, number: int) -> Completion:
    """The completion with call ids of our own: vendors and local servers repeat theirs from turn to turn."""
    message = completion.message
    if message is None or not message.calls:
        return completion
    names = {id(call): CallId(f"call_{turn.id}_{number}_{place}") for place, call in enumerate(message.calls)}
    parts = tuple(replace(part, id=names[id(part)]) if isinstance(part, ToolCall) else part for part in message.parts)
    return replace(completion, message=AssistantMessage(parts=parts))


def _attempts(error: ProviderError) -> tuple[Attempt, ...]:
    return tuple(attempt for attempt in error.attempts if isinstance(attempt, Attempt))


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, call.malformed, call.arguments], sort_keys=True)


def _key_of(run: ToolRun) -> str:
    return json.dumps([run.answer.name, None, run.arguments], sort_keys=True)


def _as(run: ToolRun, call: ToolCall) -> ToolRun:
    """The run as the answer to an equal call."""
    return run if run.answer.call_id == call.id else replace(run, answer=replace(run.answer, call_id=call.id))


def _shown(call: ToolCall) -> str:
    text = json.dumps(call.arguments, ensure_ascii=False)
    return text if len(text) <= _SHOWN_ARGUMENT_CHARACTERS else text[:_SHOWN_ARGUMENT_CHARACTERS] + "…"


def _progress(completion: Completion) -> ModelAnswered:
    cost = completion.cost_usd
    return ModelAnswered(
        provider=completion.provider,
        model=completion.model,
        input_tokens=completion.usage.input_tokens,
        output_tokens=completion.usage.output_tokens,
        cost_usd="unknown" if cost is None else f"{cost:f}",
        latency_seconds=completion.latency_seconds,
    )


def _ended_run(run: ToolRun) -> ToolEnded:
    return ToolEnded(
        name=run.answer.name, content=run.answer.content, ok=run.answer.ok, latency_seconds=run.latency_seconds
    )
