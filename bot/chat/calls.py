"""The calls of one turn: what a model means by them, which of them may run, and what has come of them.

call --equal to an answered one--> the same answer again
--too many at once----------> refused
--its tool cannot do it, or its address may not be fetched--> refused, and no person is asked
--needs an approval---------> Pause; the others run meanwhile, and their answers are journaled
'---------------------------> the toolbox; its answer is journaled as soon as it arrives
"""

import asyncio
import json
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain, islice
from typing import Any, TypeVar

from bot.chat import phrases, prompt
from bot.chat.citations import CitedPages
from bot.chat.intents import deed
from bot.chat.journal import Journal, Pause
from bot.chat.steps import ToolRun
from bot.chat.toolbox import Toolbox
from bot.labels import UNKNOWN, Labels, Source, join_labels
from bot.messages import AssistantMessage, AssistantPart, CallId, ToolCall, ToolMessage
from bot.models.base import Completion
from bot.settings import Settings
from bot.signal.protocol import ToolEnded, ToolStarted
from bot.trust import provenance
from bot.trust.rules import names_all
from bot.trust.secrets import Secrets
from tools import BadArguments, ToolSpec, UnknownOutcome, shorten

T = TypeVar("T")

_SETTLED = frozenset({"ok", UnknownOutcome.code})
"""Outcomes that settle a call for the rest of the turn."""
_SHOWN_ARGUMENT_CHARACTERS = 120
_MAX_CALLS = 100
"""The limit per completion; each call is kept with its answer and read again by every later request."""


class Calls:
    """The calls of one turn."""

    def __init__(
        self, toolbox: Toolbox, journal: Journal, secrets: Secrets, settings: Settings, labels: Labels
    ) -> None:
        """`labels` are those of everything in the first request."""
        self._toolbox = toolbox
        self._journal = journal
        self._secrets = secrets
        self._turn = turn = journal.turn
        self._max_at_once = settings.tools.max_calls_per_round
        self._patience = timedelta(seconds=settings.approvals.timeout)
        """How long a person is waited for."""
        self.labels = labels
        """The labels of everything in any request of the turn."""
        self.runs: list[ToolRun] = []
        history = tuple(chain.from_iterable(turn.history))
        self.pages = CitedPages(history, toolbox.finds_pages)
        """The pages the conversation knows; those that the turn finds are numbered after them."""
        for run in journal.runs.values():
            self.pages.take(ToolMessage(answers=(run.answer,)))
        self.sources = provenance.sources_of(turn.incoming, history, labels)
        self._words = provenance.own_words(turn.incoming, turn.person)
        """The part of the question that the asker wrote themselves."""
        self._objections: dict[CallId, ToolRun] = {}
        """The answers to calls that their tools cannot do, about which no person is asked."""
        self._running = 0
        self._fresh_from = 0
        """The index of the first run since something was done: what earlier ones looked at may have changed."""

    def read(self, completion: Completion, number: int) -> Completion:
        """A turn's `number`th completion without secrets, its calls under the tools' names and with ids of our own."""
        message = completion.message
        if message is None:
            return completion
        parts: list[AssistantPart] = []
        count = 0
        for part in message.parts:
            if not isinstance(part, ToolCall):
                parts.append(part)
            elif count < _MAX_CALLS:
                id_ = CallId(f"call_{self._turn.id}_{number}_{count}")  # vendors and servers reuse theirs across turns
                parts.append(replace(self._toolbox.understood(part), id=id_))
                count += 1
        labels = self.labels if count else message.labels
        message = self._secrets.cut_message(replace(message, parts=tuple(parts), labels=labels))
        return replace(completion, message=message)

    async def keep(self, completion: Completion, message: AssistantMessage) -> None:
        """Journals a completion with the calls of its message, which are to be carried out."""
        await self._journal.keep_completion(completion, hold=self._toolbox.writes_soon(message.calls))

    async def carry_out(self, calls: Sequence[ToolCall]) -> list[ToolRun] | Pause:
        """One run per call, in the order asked; equal calls and calls over the limit are not run.

        A failed call can be tried again, unless its effect may have happened; a look-up once something was done.
        """
        keys = [_key(call) for call in calls]
        known = {  # the earlier runs that answer an equal call as well
            _key(run.call): run
            for place, run in enumerate(self.runs)
            if run.outcome in _SETTLED and (place >= self._fresh_from or self._toolbox.changes(run))
        }
        to_run: dict[str, ToolCall] = {}  # of equal calls the first
        for key, call in zip(keys, calls, strict=True):
            if key not in known:
                to_run.setdefault(key, call)
        allowed = dict(islice(to_run.items(), self._max_at_once))
        undecided = [call for call in allowed.values() if self._waits(call) and not await self._objects(call)]
        decided = {key: call for key, call in allowed.items() if call not in undecided}
        self._running = len(decided)
        ran = dict(zip(decided, await side_by_side(map(self._ran, decided.values())), strict=True))
        if undecided:
            await self._journal.flush()
            return self._pause(undecided)
        too_many = f"at most {self._max_at_once} tool calls at once: it was not run"
        left_out = {key: call for key, call in to_run.items() if key not in allowed}
        refused = {key: self._toolbox.refuse(call, "rate_limited", too_many) for key, call in left_out.items()}
        done = known | ran | refused
        new = [done[key] for key in to_run]
        self.runs += new
        self.labels = join_labels([self.labels, *(run.answer.labels or UNKNOWN for run in new)])
        if any(map(self._has_changed, new)):
            self._fresh_from = len(self.runs)
        answers_to = [(call, done[key]) for key, call in zip(keys, calls, strict=True)]
        return [replace(run, answer=replace(run.answer, call_id=call.id)) for call, run in answers_to]

    def done(self) -> tuple[ToolCall, ...]:
        """The calls that changed something."""
        return tuple(run.call for run in self.runs if self._has_changed(run))

    def left_undone(self) -> list[str]:
        """What a scheduled run did not do because no person was there to agree, in words; none: nothing."""
        denied = [run.call for run in self.runs if run.outcome == "denied" and self._turn.is_unattended]
        undone = [call for call in denied if self._causes(call) is not None]
        causes = dict.fromkeys(cause for call in undone for cause in self._causes(call) or ())
        deeds = [deed(call, self._toolbox.spec(call.name)) for call in undone]
        return [phrases.left_undone(deeds, tuple(causes))] if undone else []

    def _has_changed(self, run: ToolRun) -> bool:
        return run.outcome in _SETTLED and self._toolbox.changes(run)

    # Which ones a person must agree to

    def _pause(self, undecided: Sequence[ToolCall]) -> Pause:
        causes = (cause for call in undecided for cause in self._causes(call) or ())
        tools = {self._toolbox.allowance(call, self.labels) for call in undecided}
        asked = [self._journal.asked[call.id] for call in undecided if call.id in self._journal.asked]
        return Pause(
            calls=tuple(undecided),
            deeds=tuple(deed(call, self._toolbox.spec(call.name)) for call in undecided),
            cost_usd=self._toolbox.cost_usd(undecided),
            asked_until=min(asked) if len(asked) == len(undecided) else None,
            causes=tuple(dict.fromkeys(causes)),
            allowance=tools.pop() if len(tools) == 1 else None,
        )

    def _waits(self, call: ToolCall) -> bool:
        """Whether a call still waits for a person's approval; none does whose address may not be fetched anyway."""
        journal, turn = self._journal, self._turn
        is_over = call.id in journal.runs or call.id in journal.decided
        if is_over or turn.is_unattended or not turn.settings.allows_tool(call.name):
            return False
        until = journal.asked.get(call.id)
        if until is None:
            spec = self._toolbox.spec(call.name)
            return self._causes(call) is not None and self.sources.refusal(call, spec) is None
        return timedelta(0) < until - turn.loaded_at <= self._patience  # longer: the clock was set back, and it is over

    async def _objects(self, call: ToolCall) -> bool:
        """Whether the tool cannot do it; what a person was asked about can be done."""
        found = None if call.id in self._journal.asked else await self._toolbox.objection(call, self._turn)
        if found is not None:
            self._objections[call.id] = found
        return found is not None

    def _causes(self, call: ToolCall) -> tuple[Source, ...] | None:
        """The sources because of which a call needs an approval; None if it needs none."""
        turn, toolbox = self._turn, self._toolbox
        causes = toolbox.approval(call, self.labels, turn.person, self._words, in_group=turn.group is not None)
        if causes is None or turn.is_unattended:
            return causes  # in a scheduled run no person sees the result, so a standing permission does not apply
        return None if toolbox.allowance(call, self.labels) in turn.allowed else causes

    # How one runs

    async def _ran(self, call: ToolCall) -> ToolRun:
        """Runs one call and journals it, unless the journal already has it."""
        spec = self._toolbox.spec(call.name)
        refusal = self.sources.refusal(call, spec)
        earlier = self._journal.runs.get(call.id)
        if earlier is not None and _key(earlier.call) == _key(call):
            self._running -= 1
            self.sources.took(earlier.answer, earlier.arguments, spec)
            return earlier
        refused = self._refused(call, refusal)
        run = refused or await self._run(call, spec)
        run = replace(run, answer=replace(run.answer, content=self._secrets.cut(run.answer.content)))
        self.sources.took(run.answer, run.arguments, spec)
        self._running -= 1
        # After the last one, the next question to the model is written within milliseconds.
        is_soon = not self._running and not (spec is not None and spec.effects == "once")
        await self._journal.keep_run(run, hold=is_soon)
        if refused is None:
            answer, seconds = run.answer, run.latency_seconds
            await self._journal.on_progress(
                ToolEnded(name=answer.name, content=answer.content, ok=answer.ok, latency_seconds=seconds)
            )
        return run

    def _refused(self, call: ToolCall, refusal: str | None) -> ToolRun | None:
        """The answer to a call that may not run; None: it may. `refusal` says why its address may not be fetched."""
        journal, turn = self._journal, self._turn
        is_asked = call.id in journal.asked and not journal.decided.get(call.id, False)
        said = "said no to this" if call.id in journal.decided else "did not answer in time whether you may"
        reasons = (
            (refusal is not None, "denied", refusal or ""),
            (not turn.settings.allows_tool(call.name), "disabled", f"{call.name} is switched off in this conversation"),
            (call.id in journal.replaced, "denied", prompt.IS_REPLACED),
            (is_asked, "denied", f"the person {said}: it was not done; do not ask again"),
            (turn.is_unattended and self._causes(call) is not None, "denied", prompt.ASKS_NO_ONE_NOW),
            (call.id in journal.started, UnknownOutcome.code, prompt.WAS_INTERRUPTED),
        )
        found = next(((code, words) for is_due, code, words in reasons if is_due), None)
        return self._objections.get(call.id) or (self._toolbox.refuse(call, *found) if found else None)

    async def _run(self, call: ToolCall, spec: ToolSpec | None) -> ToolRun:
        turn, toolbox = self._turn, self._toolbox
        given = shorten(json.dumps(call.arguments, ensure_ascii=False), _SHOWN_ARGUMENT_CHARACTERS)
        await self._journal.on_progress(ToolStarted(name=call.name, arguments=given))
        await self._journal.start(call, toolbox.cost_usd([call]), is_once=spec is not None and spec.effects == "once")
        is_named = spec is not None and names_all(self._words, call.arguments, spec.parameters)
        own = (writer for writer in provenance.of_question(turn.incoming).people if writer.id == turn.person)
        return await toolbox.run(
            call,
            turn,
            labels=Labels(people=tuple(own)) if is_named else self.labels,
            words=self._words,
            pages=self.pages,
            is_known=any(run.tool == call.name and run.outcome == BadArguments.code for run in self.runs),
        )


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, call.malformed, call.arguments], sort_keys=True)


async def side_by_side(jobs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Returns what these give, in order. When one fails, the others are ended, and its error is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [task.result() for task in tasks]
