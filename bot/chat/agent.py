"""The agent loop: ask the model, run the tools it calls side by side, ask again, until there is an answer or a limit.

    budget left? --> ask --> words --------------------> Outcome
     ^                   '-> calls --> may they run? --not decided--> Pause
     |                                 '-> toolbox, side by side --.
     '------------------------------ answers, in the order asked <-'

    call --equal to an answered one--> the same answer again
         --too many at once----------> refused
         --needs an approval, and its tool would refuse it anyway--> refused, and no person is asked
         --needs an approval---------> Pause; the others run meanwhile, and their answers are journaled
         '---------------------------> the toolbox; its answer is journaled as soon as it arrives

Every completion with calls and every tool answer is journaled at once; anything an earlier attempt of the turn has
journaled is reused, and already paid. Knows neither SQL nor Signal nor a vendor.
Left to others: which calls need an approval (`bot.trust.rules`), what a tool is given (`bot.chat.toolbox`), what people
are known in the end (`bot.chat.citations`).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

from bot.chat import phrases, prompt
from bot.chat.citations import CitedPages, Shield, words_of
from bot.chat.context import beside, label_question, with_note
from bot.chat.journal import Journal, Outcome, Pause, Turn
from bot.chat.outgoing import enclosed_files, work_out
from bot.chat.room import OFFER_TOKENS, SIZES, ContextRoom, answer_progress, complete, failed_entries, question_row
from bot.chat.steps import AskedAgain, ToolRun
from bot.chat.toolbox import Toolbox
from bot.errors import ContextTooLong, ProviderError
from bot.i18n.catalogues import say
from bot.labels import UNKNOWN, Labels, Source, join_labels
from bot.messages import AssistantMessage, AssistantPart, CallId, Message, ToolCall, ToolMessage, without_opaque
from bot.models.base import Completion, Provider, Request, Stop, ToolOffer
from bot.money.budgets import Budget, UsedUp
from bot.settings import Settings
from bot.signal.protocol import ModelFailed, Progress, ToolEnded, ToolStarted
from bot.trust import provenance
from bot.trust.links import GivenAddresses, defang, given_in
from bot.trust.provenance import sources_of
from bot.trust.rules import may_carry_out, names_all
from bot.trust.secrets import Secrets
from tools import ToolSpec, UnknownOutcome, clean_text, shorten

T = TypeVar("T")

OnProgress = Callable[[Progress], Awaitable[None]]
"""Called with each step as it happens."""

SETTLED = frozenset({"ok", UnknownOutcome.code})
"""Outcomes that settle a call for the rest of the turn."""
_MORE_ROOM = 4
"""How many times longer an answer may be when it was cut off and is requested again."""
_MAX_CALLS = 100
"""The limit per completion; each call is kept with its answer and read again by every later request."""
_SHOWN_ARGUMENT_CHARACTERS = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """Answers turns with one provider and one toolbox."""

    provider: Provider
    toolbox: Toolbox
    system: str
    settings: Settings
    budget: Budget
    """What may be spent, and what models cost."""
    secrets: Secrets
    """The operator's own, hidden from models and people."""
    room: ContextRoom
    """What is known about the models' context windows."""

    async def answer(
        self, turn: Turn, journal: Journal, on_progress: OnProgress, *, seconds: float | None = None
    ) -> Outcome | Pause:
        """The outcome of a turn, or a pause if a person must first agree to something it wants to do.

        Failures of models and tools are outcomes too, and so is a used-up budget. What a model has written after so
        many seconds is the answer; None means those of a whole turn.

        Raises:
            StoreError: a step could not be journaled; the turn can be tried again later.
        """
        turn = label_question(turn)
        journal.ask(turn)
        most = self.settings.worker.turn_timeout_seconds if seconds is None else seconds
        ends_at = asyncio.get_running_loop().time() + most
        offers = tuple(offer for offer in await self.toolbox.offers() if turn.settings.allows_tool(offer.name))
        return await _Answering(self, turn, journal, on_progress, offers=offers, ends_at=ends_at).outcome()


class _Answering:
    """One turn, from its question to its outcome."""

    def __init__(
        self,
        agent: Agent,
        turn: Turn,
        journal: Journal,
        on_progress: OnProgress,
        *,
        offers: tuple[ToolOffer, ...],
        ends_at: float,
    ) -> None:
        """`ends_at` is when the models must have come to an end, on the loop's clock."""
        self.agent, self.toolbox, self.settings = agent, agent.toolbox, agent.settings
        self.turn, self.journal, self.model = turn, journal, turn.settings.model
        self.on_progress, self.ends_at = on_progress, ends_at
        self.said: list[Message] = [turn.question]
        self.labels = join_labels([turn.note_labels, prompt.labels_of([turn.question])])
        """The labels of everything in any request of the turn."""
        self.words = provenance.own_words(turn.incoming, turn.person)
        """The part of the question that the asker wrote themselves."""
        self.all_offers = offers
        self.rounds_left = self.settings.tools.max_tool_calls if offers else 0
        self.completions: list[Completion] = []
        self.runs: list[ToolRun] = []
        self.objections: dict[CallId, ToolRun] = {}
        """The answers to calls that cannot be done, about which no person is asked."""
        self.running = 0
        """How many calls are under way."""
        self.fresh_from = 0
        """The index of the first run since something was done: what earlier ones looked at may have changed."""
        self.pages = CitedPages(chain.from_iterable(turn.history), self.toolbox.finds_pages)
        """The pages the conversation knows; those that the turn finds are numbered after them."""
        for run in journal.runs.values():
            self.pages.take(ToolMessage(answers=(run.answer,)))
        self.size = 0
        """The index of its requests' size."""
        self._fit()
        self.sources = sources_of(turn.incoming, tuple(chain.from_iterable(turn.history)), self.labels)
        """The addresses the turn may fetch."""

    async def outcome(self) -> Outcome | Pause:
        """Asks and runs calls until there is an answer, a failure, a limit, or something to agree to."""
        while True:
            try:
                completion = await self._completion()
            except ProviderError as error:
                await self.on_progress(ModelFailed(provider=error.provider, error=type(error).__name__))
                return self.journal.failure(phrases.for_error(error))
            if isinstance(completion, UsedUp):
                limit = completion
                return self.journal.failure(phrases.budget_used_up(limit.scope, limit.span, renews=limit.renews))
            again = self._asked_again(completion)
            if again is not None:
                await self.journal.discard(replace(completion, message=None), again)
                continue
            self.completions.append(completion)
            message = completion.message
            if message is None or not message.calls or completion.stop is not Stop.TOOLS or self.rounds_left == 0:
                return await self._answered(completion)
            runs = await self._carry_out(message.calls)
            if isinstance(runs, Pause):
                return runs
            self.said += [message, ToolMessage(answers=tuple(run.answer for run in runs))]

    # What is asked, and how.

    async def _completion(self) -> Completion | UsedUp:
        """The next completion: from the journal, or else a new one if the budget allows."""
        number = len(self.completions)
        if number < len(self.journal.completions):
            return _unbound(self.journal.completions[number])
        asked = await self._asked()
        if isinstance(asked, UsedUp):
            return asked
        self.journal.note_answer(asked)  # paid, whatever comes of it
        completion = asked if asked.message is None else replace(asked, message=self._read(asked.message))
        await self.on_progress(answer_progress(completion))
        if completion.stop is Stop.TOOLS and completion.message is not None and self.rounds_left:
            await self.journal.keep_completion(completion, hold=self.toolbox.writes_soon(completion.message.calls))
        return completion

    async def _asked(self) -> Completion | UsedUp:
        """Asks the models once; if the request is too long, again with a shorter one. Or the limit that forbids it."""
        budget = self.agent.budget
        while True:
            request = self._request()
            if (limit := await self.journal.reserve_question(question_row(request, budget))) is not None:
                return limit
            try:
                completion = await complete(self.agent.provider, request, budget)
            except ProviderError as error:
                self.journal.note_failures(failed_entries(error))
                if not isinstance(error, ContextTooLong) or not self._shrink(error):
                    raise
                continue
            return completion

    def _read(self, message: AssistantMessage) -> AssistantMessage:
        """The message without secrets, and with its calls under the tools' own names, before anything is decided about
        them; calls beyond the limit are dropped.

        Each call gets an id of our own, because vendors and local servers reuse theirs across turns.
        """
        parts: list[AssistantPart] = []
        count = 0
        for part in message.parts:
            if not isinstance(part, ToolCall):
                parts.append(part)
            elif count < _MAX_CALLS:
                id_ = CallId(f"call_{self.turn.id}_{len(self.completions)}_{count}")
                parts.append(replace(self.toolbox.understood(part), id=id_))
                count += 1
        labels = self.labels if count else message.labels
        return self.agent.secrets.cut_message(replace(message, parts=tuple(parts), labels=labels))

    def _request(self) -> Request:
        size, turn = SIZES[self.size], self.turn
        said = [size.shorten(message) for message in beside(turn.talk, self.said)]
        asked_again = self.journal.asked_again
        is_pressed = not asked_again.isdisjoint({"to answer", "without tools"})
        if is_pressed:
            said.append(prompt.NO_MORE_CALLS)
        elif "once more" in asked_again and not self.runs:
            said.append(prompt.WAS_EMPTY)
        total_seconds = max(0.0, self.ends_at - asyncio.get_running_loop().time())
        return Request(
            system=self.agent.system,
            messages=with_note((*self.history, *said), turn.note if size.has_note else ""),
            tools=() if "without tools" in asked_again else self.offers,
            may_call_tools=bool(self.offers) and self.rounds_left > 0 and not is_pressed,
            max_output_tokens=self._output_tokens(),
            timeout_seconds=min(self.settings.llm.timeout_seconds, total_seconds),
            total_seconds=total_seconds,
            model=self.model,
            conversation=f"c{turn.conversation}",
            persona=f"{prompt.PERSONA_INTRODUCTION}\n{turn.settings.persona.text}" if turn.settings.persona else "",
        )

    def _asked_again(self, completion: Completion) -> AskedAgain | None:
        """Returns how to ask the model again, if a completion is worth it; each way at most once in a turn.

        A completion that was cut off before it said anything gets more room; one without words where words are due is
        asked to answer with what there is; an empty one is asked once more, since small models often have something to
        say then. Some servers ignore that no tool may be called: the last request has none.
        Source: https://github.com/ollama/ollama/issues/17921 (2026-11-27).
        """
        message, stop, before = completion.message, completion.stop, self.journal.asked_again
        is_mute = message is None or not clean_text(message.text).strip()
        ways: dict[AskedAgain, bool] = {
            "with more room": stop is Stop.LENGTH and (is_mute or completion.is_cut_in_call),
            "without tools": stop is Stop.TOOLS and self.rounds_left == 0,
            "to answer": stop in {Stop.END, Stop.LENGTH} and is_mute and any(run.answer.ok for run in self.runs),
            "once more": stop is Stop.END and is_mute and not self.runs,
        }
        return next((way for way, is_due in ways.items() if is_due and way not in before), None)

    def _fit(self) -> None:
        """Chooses the tools and the earlier turns that fit into requests of this size."""
        room, size = self.agent.room, SIZES[self.size]
        called = {run.answer.name for run in self.runs}
        self.offers = room.offers(self.all_offers, size, self.model, called=called)
        past = size.part_of(prompt.sendable_turns(self.turn.history, self.offers))
        most = self.settings.history.max_tokens
        tokens = room.history_tokens(most, size, self.model, beside_tokens=self._beside_tokens())
        shown = prompt.window(past, max_tokens=tokens)
        self.history: tuple[Message, ...] = tuple(chain.from_iterable(shown))
        self.history_tokens = sum([past.tokens for past in shown])
        self.labels = join_labels([self.labels, *[past.labels for past in shown]])

    def _beside_tokens(self) -> int:
        """Roughly how many tokens a request has apart from the earlier turns, including room for its answer."""
        size = SIZES[self.size]
        said = sum([prompt.estimated_tokens(size.shorten(message)) for message in self.said])
        texts = (self.agent.system, self.turn.note if size.has_note else "")
        own = sum(map(prompt.estimated_text_tokens, texts)) + sum(OFFER_TOKENS.each(self.offers))
        return said + own + self._output_tokens()

    def _output_tokens(self) -> int:
        more = _MORE_ROOM if "with more room" in self.journal.asked_again else 1
        most = self.settings.llm.max_output_tokens * more
        return self.agent.room.output_tokens(most, SIZES[self.size], self.model)

    def _shrink(self, error: ContextTooLong) -> bool:
        """Makes the request smaller after it was refused as too long; returns whether that was possible."""
        before = self._beside_tokens() + self.history_tokens
        self.agent.room.on_refusal(self.model, error.window_tokens)
        self.said = [without_opaque(message) for message in self.said]
        for size in range(self.size + 1, len(SIZES)):
            self.size = size
            self._fit()
            if self._beside_tokens() + self.history_tokens < before:
                return True
        return False

    # What is called.

    async def _carry_out(self, calls: Sequence[ToolCall]) -> list[ToolRun] | Pause:
        """One run per call, in the order asked; equal calls and calls over the limit are not run.

        A failed call can be tried again, unless its effect may have happened; a look-up can be repeated once something
        was done. If a person must agree first, the other calls run meanwhile, and their answers are journaled.
        """
        keys = [_key(call) for call in calls]
        known = self._known()
        to_run: dict[str, ToolCall] = {}  # of equal calls the first
        for key, call in zip(keys, calls, strict=True):
            if key not in known:
                to_run.setdefault(key, call)
        allowed = dict(islice(to_run.items(), self.settings.tools.max_calls_per_round))
        self.rounds_left -= 1
        undecided = [call for call in allowed.values() if self._waits(call) and not await self._objects(call)]
        decided = {key: call for key, call in allowed.items() if call not in undecided}
        self.running = len(decided)
        ran = dict(zip(decided, await side_by_side(map(self._ran, decided.values())), strict=True))
        if undecided:
            await self.journal.flush()
            return self._pause(undecided)
        too_many = f"at most {self.settings.tools.max_calls_per_round} tool calls at once: it was not run"
        left_out = {key: call for key, call in to_run.items() if key not in allowed}
        refused = {key: self.toolbox.refuse(call, "rate_limited", too_many) for key, call in left_out.items()}
        done = known | ran | refused
        answers_to = [(call, done[key]) for key, call in zip(keys, calls, strict=True)]
        runs = [replace(run, answer=replace(run.answer, call_id=call.id)) for call, run in answers_to]
        new = [done[key] for key in to_run]
        self.runs += new
        self.labels = join_labels([self.labels, *(run.answer.labels or UNKNOWN for run in new)])
        if any(run.outcome in SETTLED and self.toolbox.changes(run) for run in new):
            self.fresh_from = len(self.runs)
        return runs

    def _pause(self, undecided: Sequence[ToolCall]) -> Pause:
        """The pause in which a person decides about these calls."""
        causes = (cause for call in undecided for cause in self._causes(call) or ())
        tools = {self.toolbox.allowance(call, self.labels) for call in undecided}
        return Pause(
            calls=tuple(undecided),
            deeds=tuple(map(self.toolbox.deed, undecided)),
            cost_usd=self.toolbox.cost_usd(undecided),
            is_asked=all(call.id in self.journal.asked for call in undecided),
            causes=tuple(dict.fromkeys(causes)),
            allowance=tools.pop() if len(tools) == 1 else None,
        )

    def _known(self) -> dict[str, ToolRun]:
        """The earlier runs that answer an equal call as well."""
        return {
            _key(run.call): run
            for place, run in enumerate(self.runs)
            if run.outcome in SETTLED and (place >= self.fresh_from or self.toolbox.changes(run))
        }

    def _waits(self, call: ToolCall) -> bool:
        """Whether a call still waits for a person's approval."""
        journal, turn = self.journal, self.turn
        is_over = call.id in journal.runs or call.id in journal.decided
        if is_over or turn.is_unattended or not turn.settings.allows_tool(call.name):
            return False
        until = journal.asked.get(call.id)
        return turn.loaded_at < until if until is not None else self._causes(call) is not None

    async def _objects(self, call: ToolCall) -> bool:
        """Whether a call cannot be done anyway, so that no person is asked about it; one that was asked about can."""
        if call.id in self.journal.asked:
            return False
        turn = self.turn
        refusal = self.sources.refusal(call, self.toolbox.spec(call.name))
        found = (
            await self.toolbox.objection(call, turn.person, chat=turn.chat, turn=turn.id, timezone=turn.timezone)
            if refusal is None
            else self.toolbox.refuse(call, "denied", refusal)
        )
        if found is not None:
            self.objections[call.id] = found
        return found is not None

    def _causes(self, call: ToolCall) -> tuple[Source, ...] | None:
        """The sources because of which a call needs an approval; None if it needs none."""
        causes = self.toolbox.approval(
            call, self.labels, self.turn.person, self.words, in_group=self.turn.group is not None
        )
        if causes is None or self.turn.is_unattended:
            return causes  # in a scheduled run no person sees the result, so a standing permission does not apply
        return None if self.toolbox.allowance(call, self.labels) in self.turn.allowed else causes

    async def _ran(self, call: ToolCall) -> ToolRun:
        """Runs one call and journals it, unless the journal already has it."""
        spec = self.toolbox.spec(call.name)
        refusal = self.sources.refusal(call, spec)
        earlier = self.journal.runs.get(call.id)
        if earlier is not None and _key(earlier.call) == _key(call):
            self.running -= 1
            self.sources.took(earlier.answer, earlier.arguments, spec)
            return earlier
        refused = self._refused(call, refusal)
        run = refused or await self._run(call, spec)
        run = replace(run, answer=replace(run.answer, content=self.agent.secrets.cut(run.answer.content)))
        self.sources.took(run.answer, run.arguments, spec)
        self.running -= 1
        # After the last one, the next question to the model is written within milliseconds.
        is_soon = not self.running and not (spec is not None and spec.effects == "once")
        await self.journal.keep_run(run, hold=is_soon)
        if refused is None:
            answer, seconds = run.answer, run.latency_seconds
            await self.on_progress(
                ToolEnded(name=answer.name, content=answer.content, ok=answer.ok, latency_seconds=seconds)
            )
        return run

    def _refused(self, call: ToolCall, refusal: str | None) -> ToolRun | None:
        """The answer to a call that may not run; None: it may. `refusal` says why its address may not be fetched."""
        journal, turn = self.journal, self.turn
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
        return self.objections.get(call.id) or (self.toolbox.refuse(call, *found) if found else None)

    async def _run(self, call: ToolCall, spec: ToolSpec | None) -> ToolRun:
        turn, toolbox = self.turn, self.toolbox
        given = shorten(json.dumps(call.arguments, ensure_ascii=False), _SHOWN_ARGUMENT_CHARACTERS)
        await self.on_progress(ToolStarted(name=call.name, arguments=given))
        await self.journal.start(call, toolbox.cost_usd([call]), is_once=spec is not None and spec.effects == "once")
        is_named = spec is not None and names_all(self.words, call.arguments, spec.parameters)
        own = (writer for writer in provenance.of_question(turn.incoming).people if writer.id == turn.person)
        return await toolbox.run(
            call,
            turn.person,
            chat=turn.chat,
            turn=turn.id,
            timezone=turn.timezone,
            labels=Labels(people=tuple(own)) if is_named else self.labels,
            words=self.words,
            pages=self.pages,
        )

    # What people read.

    async def _answered(self, completion: Completion) -> Outcome:
        """The outcome of a completion that runs no tools, with the remarks beside its words."""
        shielded: Shield = str
        if may_carry_out(self.labels):
            given = given_in((*self.history, *self.said), self.toolbox.returning)
            shielded = partial(defang, given=GivenAddresses(given))
        text = "" if completion.message is None else completion.message.text
        text, answer = await work_out(text, words_of, completion, self.pages, self.runs, shielded)
        done = tuple(run.call for run in self.runs if run.outcome in SETTLED and self.toolbox.changes(run))
        takes_place = any(question.is_replaced_by(done) for question in self.turn.open_questions)
        remarks = [say(phrases.TAKES_PLACE)] if takes_place else []
        if answer is not None:
            allowed = [say(phrases.ALWAYS_ALLOWED, tool=phrases.tool_name(tool)) for tool in self.journal.allowed]
            remarks = [*self._undone(), *remarks, *(["\n".join(allowed)] if allowed else [])]
        return Outcome(
            text="\n\n".join([text, *remarks]),
            ok=answer is not None,
            messages=() if answer is None else (*self.said, replace(answer, labels=self.labels)),
            bills=self.journal.bills,
            files=() if answer is None else enclosed_files(self.runs),
            done=done if takes_place else (),
        )

    def _undone(self) -> list[str]:
        """What a scheduled run did not do because no person was there to agree."""
        denied = [run.call for run in self.runs if run.outcome == "denied" and self.turn.is_unattended]
        undone = [call for call in denied if self._causes(call) is not None]
        causes = dict.fromkeys(cause for call in undone for cause in self._causes(call) or ())
        return [phrases.left_undone(list(map(self.toolbox.deed, undone)), tuple(causes))] if undone else []


def _unbound(completion: Completion) -> Completion:
    """A completion of an earlier attempt without its vendor's blocks, which are tied to the request as it was then.

    The overheard talk, the summary or the facts may have changed since: a vendor refuses its blocks in such a request.
    """
    message = completion.message
    return completion if message is None else replace(completion, message=message.without_opaque())


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, call.malformed, call.arguments], sort_keys=True)


async def side_by_side(jobs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Returns what these give, in their order. When one fails, the others are ended.

    Raises:
        Exception: the first error, as it is: callers that wait for its kind do not look into groups.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [task.result() for task in tasks]
