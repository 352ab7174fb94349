"""Calls: carries out a completion's tool calls, side by side, each once, and only what people have agreed to.

    call --equal to an answered one--> the same answer again
         --too many at once----------> refused
         --needs an approval, and its tool would refuse it anyway--> refused, and no person is asked
         --needs an approval---------> Pause; the others run meanwhile, and their answers are journaled
         '---------------------------> the toolbox; its answer is journaled as soon as it arrives

Whatever an earlier attempt of the turn has journaled is reused. Left to others: which calls need an approval
(`bot.trust.rules`), what a tool is given (`bot.chat.toolbox`).
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from bot.chat.citations import CitedPages
from bot.chat.journal import Pause, Turn
from bot.chat.paid_calls import PaidCall
from bot.chat.room import ContextRoom
from bot.chat.state import SETTLED, TurnState
from bot.chat.steps import Allowance, ToolRun
from bot.chat.toolbox import Toolbox
from bot.chat.work import side_by_side, waiting
from bot.labels import UNKNOWN, Labels, Source, join_labels
from bot.messages import ToolCall
from bot.signal.protocol import ToolEnded, ToolStarted
from bot.trust import provenance
from bot.trust.secrets import Secrets
from store import ConversationId
from tools import UnknownOutcome, shorten

NOBODY_HERE = (
    "nobody is here to agree to this now, so it was not done; do not try again, the person is told of it in your answer"
)
"""What the model is told if a scheduled run wants to do something that needs a person's approval."""

_REPLACED = "the person wants this in a newer message, which takes care of it; answer only the rest"
_INTERRUPTED = "a restart interrupted this; it may have happened, so do not repeat it unasked"
_SHOWN_ARGUMENT_CHARACTERS = 120
_MAX_NUMBERED = 1000


class Calls:
    """Carries out the calls of completions with one toolbox."""

    def __init__(self, toolbox: Toolbox, *, max_per_round: int, secrets: Secrets, room: ContextRoom) -> None:
        """`max_per_round` limits the calls of one completion. `secrets` are cut from tools' answers. `room` learns
        which tools are used, so that it can offer those where space is short.
        """
        self._toolbox = toolbox
        self._max_per_round = max_per_round
        self._secrets = secrets
        self._room = room
        self._last_numbers: OrderedDict[ConversationId, int] = OrderedDict()
        """The highest page numbers in recent conversations: a turn that waits for an approval is in no history yet, and
        pages found meanwhile need other numbers."""

    def pages(self, turn: Turn) -> CitedPages:
        """The pages the conversation knows; those that the turn finds are numbered after them."""
        history, last_number = chain.from_iterable(turn.history), self._last_numbers.get(turn.conversation, 0)
        return CitedPages(history, self._finds_pages, last_number=last_number)

    def _finds_pages(self, tool: str) -> bool:
        spec = self._toolbox.spec(tool)
        return spec is not None and spec.finds_pages

    async def carry_out(self, state: TurnState, calls: Sequence[ToolCall]) -> list[ToolRun] | Pause:
        """One run per call, in the order asked; equal calls and calls over the limit are not run.

        A failed call can be tried again, unless its effect may have happened; a look-up can be repeated once something
        was done. If somebody must agree first, the other calls run meanwhile, and their answers are journaled.
        """
        keys = [_key(call) for call in calls]
        known = self._known(state)
        to_run: dict[str, ToolCall] = {}  # of equal calls the first
        for key, call in zip(keys, calls, strict=True):
            if key not in known:
                to_run.setdefault(key, call)
        allowed = dict(islice(to_run.items(), self._max_per_round))
        state.rounds_left -= 1
        undecided = [
            call for call in allowed.values() if self._waits(state, call) and not await self._objects(state, call)
        ]
        async with waiting():
            ran = await self._side_by_side(state, {key: call for key, call in allowed.items() if call not in undecided})
        await state.journal.flush()  # what was held back for the runs, in case there were none
        if undecided:
            return self._pause(state, undecided)
        too_many = f"at most {self._max_per_round} tool calls at once: it was not run"
        left_out = {key: call for key, call in to_run.items() if key not in allowed}
        done = known | ran
        done |= {key: self._toolbox.refuse(call, "rate_limited", too_many) for key, call in left_out.items()}
        runs = [_as(done[key], call) for key, call in zip(keys, calls, strict=True)]
        new = [done[key] for key in to_run]
        state.runs += new
        self._room.uses.update(run.tool for run in new)
        state.labels = join_labels([state.labels, *(run.answer.labels or UNKNOWN for run in new)])
        if any(run.outcome in SETTLED and self._toolbox.changes(run) for run in new):
            state.fresh_from = len(state.runs)
        return runs

    def _pause(self, state: TurnState, undecided: Sequence[ToolCall]) -> Pause:
        """The pause in which somebody decides about these calls."""
        causes = (cause for call in undecided for cause in self.causes(state, call) or ())
        return Pause(
            calls=tuple(undecided),
            deeds=tuple(map(self._toolbox.deed, undecided)),
            cost_usd=self._toolbox.cost_usd(undecided),
            is_asked=all(call.id in state.journal.asked for call in undecided),
            causes=tuple(dict.fromkeys(causes)),
            allowance=self._allowance(state, undecided),
            shapes=self._toolbox.shapes(undecided),
            is_changed=any(map(self._toolbox.has_changed, undecided)),
        )

    async def _side_by_side(self, state: TurnState, calls: Mapping[str, ToolCall]) -> dict[str, ToolRun]:
        """The runs of the calls by key; a single one needs no task of its own."""
        ran = [self._ran(state, call) for call in calls.values()]
        runs = [await ran[0]] if len(ran) == 1 else await side_by_side(ran)
        return dict(zip(calls, runs, strict=True))

    def _known(self, state: TurnState) -> dict[str, ToolRun]:
        """The earlier runs that answer an equal call as well."""
        return {
            _key_of(run): run
            for place, run in enumerate(state.runs)
            if run.outcome in SETTLED and (place >= state.fresh_from or self._toolbox.changes(run))
        }

    def _waits(self, state: TurnState, call: ToolCall) -> bool:
        """Whether a call still waits for somebody's approval."""
        if (
            call.id in state.journal.runs
            or call.id in state.journal.decided
            or not state.turn.settings.allows_tool(call.name)
        ):
            return False
        if state.turn.is_unattended:
            return False
        until = state.journal.asked.get(call.id)
        return state.turn.loaded_at < until if until is not None else self.causes(state, call) is not None

    async def _objects(self, state: TurnState, call: ToolCall) -> bool:
        """Whether a call cannot be done anyway, so that no person is asked about it; one that was asked about can."""
        if call.id in state.journal.asked:
            return False
        turn, refusal = state.turn, state.sources.refusal(call, self._toolbox.spec(call.name))
        found = (
            await self._toolbox.objection(call, turn.person, chat=turn.chat, turn=turn.id, timezone=turn.timezone)
            if refusal is None
            else self._toolbox.refuse(call, "denied", refusal)
        )
        if found is not None:
            state.objections[call.id] = found
        return found is not None

    def causes(self, state: TurnState, call: ToolCall) -> tuple[Source, ...] | None:
        """The sources because of which a call needs an approval; None if it needs none."""
        causes = self._toolbox.approval(
            call, state.labels, state.turn.person, state.words, in_group=state.turn.group is not None
        )
        # With nobody there, nobody sees the result either, so a standing permission does not apply.
        is_allowed = not state.turn.is_unattended and self._toolbox.allowance(call, state.labels) in state.turn.allowed
        return None if is_allowed else causes

    def _allowance(self, state: TurnState, calls: Sequence[ToolCall]) -> Allowance | None:
        """Returns what the asker could allow for good with these calls: one tool."""
        tools = {self._toolbox.allowance(call, state.labels) for call in calls}
        return tools.pop() if len(tools) == 1 else None

    async def _ran(self, state: TurnState, call: ToolCall) -> ToolRun:
        """Runs one call and journals it, unless the journal already has it."""
        spec = self._toolbox.spec(call.name)
        refusal = state.sources.refusal(call, spec)
        earlier = state.journal.runs.get(call.id)
        if earlier is not None and _key_of(earlier) == _key(call):
            state.sources.took(earlier, spec)
            return earlier
        given = shorten(json.dumps(call.arguments, ensure_ascii=False), _SHOWN_ARGUMENT_CHARACTERS)
        await state.on_progress(ToolStarted(name=call.name, arguments=given))
        paid = state.journal.paid_call(call.id)
        run = state.objections.get(call.id)
        if run is None and refusal is not None:
            run = self._toolbox.refuse(call, "denied", refusal)
        run = run or await self._run(state, call, paid)
        run = replace(run, answer=replace(run.answer, content=self._secrets.cut(run.answer.content)))
        state.sources.took(run, spec)
        await state.journal.keep_run(run)
        paid.end()
        answer = run.answer
        await state.on_progress(
            ToolEnded(name=answer.name, content=answer.content, ok=answer.ok, latency_seconds=run.latency_seconds)
        )
        return run

    def _refused(self, state: TurnState, call: ToolCall) -> ToolRun | None:
        """The answer to a call that may not run; None: it may."""
        journal = state.journal
        if not state.turn.settings.allows_tool(call.name):
            return self._toolbox.refuse(call, "disabled", f"{call.name} is switched off in this conversation")
        if call.id in journal.replaced:
            return self._toolbox.refuse(call, "denied", _REPLACED)
        if call.id in journal.asked and not journal.decided.get(call.id, False):
            said = "said no to this" if call.id in journal.decided else "did not answer in time whether you may"
            return self._toolbox.refuse(call, "denied", f"the person {said}: it was not done; do not ask again")
        if state.turn.is_unattended and self.causes(state, call) is not None:
            return self._toolbox.refuse(call, "denied", NOBODY_HERE)
        if call.id in journal.started:
            return self._toolbox.refuse(call, UnknownOutcome.code, _INTERRUPTED)
        return None

    async def _run(self, state: TurnState, call: ToolCall, paid: PaidCall) -> ToolRun:
        if (refused := self._refused(state, call)) is not None:
            return refused
        shape = state.journal.shapes.get(call.id) if state.journal.decided.get(call.id, False) else None
        if shape is not None:
            await self._toolbox.agreed(call, shape)
        if self._toolbox.runs_once(call):
            await state.journal.start(call.id)  # without an end it counts as paid
        else:
            paid.begin(self._toolbox.cost_usd([call]), name=call.name, is_tool=True)
        turn = state.turn
        is_own = self._toolbox.is_named(call, state.words)
        try:
            run = await self._toolbox.run(
                call,
                turn.person,
                chat=turn.chat,
                turn=turn.id,
                timezone=turn.timezone,
                labels=_own_labels(turn) if is_own else state.labels,
                words=state.words,
                pages=state.pages,
                shape=shape,
            )
        except asyncio.CancelledError:
            if self._toolbox.cost_usd([call]):
                state.journal.break_off(self._toolbox.refuse(call, UnknownOutcome.code, "it was broken off"))
            raise
        if run.cost_usd:
            paid.note_cost(run.cost_usd)
        self._note_number(turn.conversation, state.pages.last_number)
        return run

    def _note_number(self, conversation: ConversationId, last_number: int) -> None:
        highest = max(last_number, self._last_numbers.pop(conversation, 0))
        if highest:
            self._last_numbers[conversation] = highest
        if len(self._last_numbers) > _MAX_NUMBERED:
            self._last_numbers.popitem(last=False)


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, call.malformed, call.arguments], sort_keys=True)


def _key_of(run: ToolRun) -> str:
    return json.dumps([run.answer.name, None, run.arguments], sort_keys=True)


def _own_labels(turn: Turn) -> Labels:
    """The labels of what the asker named themselves, whatever else is in the request."""
    return Labels(
        people=tuple(writer for writer in provenance.of_question(turn.incoming).people if writer.id == turn.person)
    )


def _as(run: ToolRun, call: ToolCall) -> ToolRun:
    """The run as the answer to an equal call."""
    return run if run.answer.call_id == call.id else replace(run, answer=replace(run.answer, call_id=call.id))
