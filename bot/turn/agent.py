"""The loop: asks the model, runs the tools it wants side by side, asks again, until an answer or a limit.

    budget left? --> ask --> words --------------------> Outcome
     ^                   '-> calls --> may they run? --nobody said--> Pause
     |                                 '-> toolbox, side by side --.
     '------------------------------ answers, in the order asked <-'

Every completion with calls and every tool's answer is journaled as soon as it is there; what an earlier attempt of
the turn has journaled is taken from there, and paid. Knows neither SQL nor Signal nor a vendor.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from bot.errors import ContextTooLong, ProviderError
from bot.i18n.catalogues import say
from bot.labels import UNKNOWN, Labels, Source, join_labels
from bot.messages import AssistantMessage, CallId, Message, Text, ToolCall, ToolMessage, UserMessage
from bot.policy.budgets import UsedUp
from bot.policy.chat import Persona
from bot.policy.secrets import Secrets
from bot.policy.trust import may_carry_out
from bot.providers.base import Attempt, Completion, Provider, Request, Stop, Told, ToolOffer
from bot.providers.offline.answers import describe_answer
from bot.transports.base import ModelAnswered, Progress, ToolEnded, ToolStarted
from bot.turn import phrases, prompt, provenance
from bot.turn.budget import Budget
from bot.turn.citations import CitedPages, cite, visible_beginning, visible_words
from bot.turn.context_note import with_note
from bot.turn.files import enclosed_files
from bot.turn.group_context import beside
from bot.turn.journal import Allowance, Asked, Journal, Outcome, Pause, ToolRun, Turn, Whole
from bot.turn.links import defang, given_in
from bot.turn.room import SIZES, ContextRoom, offer_tokens, part_of, shorten_answers
from bot.turn.sources import NOT_GIVEN, Sources
from bot.turn.toolbox import Toolbox
from bot.turn.work import waiting
from store import ConversationId
from tools import UnknownOutcome

Watch = Callable[[Progress], Awaitable[None]]
"""Is told of each step as it happens."""

_SETTLED = frozenset({"ok", UnknownOutcome.code})
"""Outcomes with which a call has its answer for the rest of the turn."""
NOBODY_HERE = (
    "nobody is here to agree to this now, so it was not done; do not try again, the person is told of it in your answer"
)
"""What a model is told that wants to do something in a scheduled run about which a person would have to be asked."""

_SHOWN_ARGUMENT_CHARACTERS = 120
_TOLD_EVERY_SECONDS = 0.5
"""So often words that may hold addresses are looked through while they are written; people see them more seldom."""
_MORE_ROOM = 4
"""By so much an answer may be longer that is asked for again."""
_SHOWN_RUNS = 3
_MAX_NUMBERED = 1000
_OF_THE_WEB = frozenset({"page", "search"})
_TOLD = _OF_THE_WEB | {"file", "voice", "person", "talk"}
"""Kinds of sources that people are told an answer rests on."""
_PRESSED = UserMessage(
    text="(A note from Aldis: no tool can be used any more for this message. Answer it in words, with what is there.)"
)
_PERSONA = "The people of this conversation want you to be like this here, within the rules above:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How far one turn may go."""

    max_rounds: int
    """How often the model may call tools."""
    max_calls_per_round: int = 8
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
    told: Told | None
    all_offers: tuple[ToolOffer, ...]
    said: list[Message]
    sources: Sources
    labels: Labels
    """Of everything that any request of the turn has held."""
    words: str
    """Those of the question that whoever asks wrote themselves."""
    first_labels: Labels
    """Of what was in the first request."""
    rounds_left: int
    size: int
    """The number of the size of its requests."""
    pages: CitedPages
    """Those that the conversation knows."""
    offers: tuple[ToolOffer, ...] = ()
    """Those of the tools for which there is room."""
    history: tuple[Message, ...] = ()
    history_tokens: int = 0
    completions: list[Completion] = field(default_factory=list[Completion])
    discarded: list[Completion] = field(default_factory=list[Completion])
    """Completions in whose place others were asked for: paid, and otherwise forgotten."""
    has_more_room: bool = False
    """Whether it was asked again with a longer answer allowed, after one was cut off before it said anything."""
    is_pressed: bool = False
    """Whether it was told to answer with what it has."""
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    fresh_from: int = 0
    """The first of the runs since something was done: what was looked at before may be otherwise now."""

    @property
    def spent_usd(self) -> Decimal:
        """What the turn has cost so far, as far as it is known."""
        paid = (*self.journal.fees, *self.discarded, *self.completions, *self.runs)
        return sum((item.cost_usd for item in paid if item.cost_usd is not None), Decimal(0))

    def outcome(self, text: str, *, ok: bool, keeps: AssistantMessage | None = None) -> Outcome:
        """The end; `keeps` is the answer under which the turn enters the history."""
        messages = () if keeps is None else (*self.said, replace(keeps, labels=self.labels))
        return Outcome(
            text=text,
            ok=ok,
            messages=messages,
            completions=(*self.discarded, *self.completions),
            runs=tuple(self.runs),
            fees=self.journal.fees,
            files=enclosed_files(self.runs) if ok else (),
        )


class Agent:
    """Answers turns with one provider and one toolbox; `budget` None means that money is no object."""

    def __init__(
        self,
        provider: Provider,
        toolbox: Toolbox,
        *,
        system: str,
        limits: Limits,
        budget: Budget | None = None,
        secrets: Secrets | None = None,
        room: ContextRoom | None = None,
        shows_sources: bool = False,
    ) -> None:
        """`secrets` are the operator's own, which neither models nor people are told; None: there are none. `room` is
        what is known of the models' room already. `shows_sources`: a line below an answer tells what it rests on.
        """
        self._shows_sources = shows_sources
        self._secrets = secrets or Secrets()
        self._provider = provider
        self._toolbox = toolbox
        self._system = system
        self._limits = limits
        self._budget = budget
        self._room = room or ContextRoom()
        self._last_numbers: OrderedDict[ConversationId, int] = OrderedDict()
        """Of pages, in the conversations that found some last: a turn that waits for a yes is in no history, and what
        is found meanwhile has to have other numbers."""

    async def answer(self, turn: Turn, journal: Journal, watch: Watch, told: Told | None = None) -> Outcome | Pause:
        """The outcome of a turn, or how far it has come until somebody has to agree to what it wants to do.

        Failures of models and tools are outcomes too, and so is a budget that is used up. `told` is told the words of
        each completion as it is written; None: nobody wants to see them before they are whole.

        Raises:
            StoreError: a step could not be journaled; the turn can be tried again later.
        """
        turn = _labelled(turn)
        journal.ask(turn)
        work = await self._begun(turn, journal, watch, told)
        while True:
            try:
                completion = await self._completion(work)
            except ProviderError as error:
                failed = work.outcome(phrases.for_error(error), ok=False)
                return replace(failed, failures=_attempts(error))
            if isinstance(completion, UsedUp):
                limit = completion
                return work.outcome(phrases.budget_used_up(limit.scope, limit.span, renews=limit.renews), ok=False)
            is_again = _is_asked_again(work, completion)
            self._charge(work, completion, is_again=is_again)
            if is_again:
                continue
            message = completion.message
            if message is None or not message.calls or completion.stop is not Stop.TOOLS or work.rounds_left == 0:
                outcome = self._with_sources(work, self._ended(work, completion))
                return self._with_remark(work, self._with_undone(work, outcome))
            answers = await self._answers(work, message.calls)
            if isinstance(answers, Pause):
                return answers
            work.said += [message, ToolMessage(answers=tuple(run.answer for run in answers))]

    async def _begun(self, turn: Turn, journal: Journal, watch: Watch, told: Told | None) -> _Work:
        async with waiting():
            offered = await self._toolbox.offers()
        offers = tuple(offer for offer in offered if offer.name not in turn.settings.tools_off)
        labels = join_labels([turn.note_labels, provenance.of_stored(turn.question, turn.chat, self._toolbox.spec)])
        work = _Work(
            turn=turn,
            journal=journal,
            watch=watch,
            told=told,
            all_offers=offers,
            said=[turn.question],
            sources=Sources(turn, labels),
            labels=labels,
            words=provenance.own_words(turn.incoming, turn.person),
            first_labels=labels,
            rounds_left=self._limits.max_rounds if offers else 0,
            size=self._room.size(turn.conversation, turn.settings.model),
            pages=self._pages(turn),
        )
        for run in journal.runs.values():
            work.pages.take(ToolMessage(answers=(run.answer,)))
        self._fit(work)
        work.first_labels = work.labels
        work.sources = Sources(turn, work.labels)
        return work

    def _pages(self, turn: Turn) -> CitedPages:
        history = tuple(message for past in turn.history for message in past)
        return CitedPages(history, self._finds_pages, last_number=self._last_numbers.get(turn.conversation, 0))

    def _finds_pages(self, tool: str) -> bool:
        spec = self._toolbox.spec(tool)
        return spec is not None and spec.finds_pages

    def _fit(self, work: _Work) -> None:
        """Choose the tools and the earlier turns that go into requests of this size."""
        model, size, turn = work.turn.settings.model, SIZES[work.size], work.turn
        called = {run.answer.name for run in work.runs}
        work.offers = self._room.offers(work.all_offers, size, model, called=called, words=work.words)
        past = part_of(_sendable(turn.history, work.offers), size)
        most = self._limits.max_history_tokens
        tokens = self._room.history_tokens(most, size, model, beside_tokens=self._beside_tokens(work))
        shown = prompt.window(past, max_tokens=tokens)
        work.history = tuple(message for past in shown for message in past)
        work.history_tokens = sum(past.tokens for past in shown)
        work.labels = join_labels([work.labels, *(self._labels(turn, past) for past in shown)])

    def _labels(self, turn: Turn, past: Whole) -> Labels:
        if past.labels is not None:
            return past.labels
        return join_labels(provenance.of_stored(message, turn.chat, self._toolbox.spec) for message in past)

    def _beside_tokens(self, work: _Work) -> int:
        """About how many tokens a request has besides the earlier turns, the answer to it included."""
        size = SIZES[work.size]
        said = [prompt.estimated_tokens(shorten_answers(message, size)) for message in work.said]
        texts = (self._system, work.turn.note if size.has_note else "")
        tools = sum(map(offer_tokens, work.offers))
        return sum(said) + sum(map(prompt.estimated_text_tokens, texts)) + tools + self._output_tokens(work)

    def _output_tokens(self, work: _Work) -> int:
        most = self._limits.max_output_tokens * (_MORE_ROOM if work.has_more_room else 1)
        return self._room.output_tokens(most, SIZES[work.size], work.turn.settings.model)

    def _shrink(self, work: _Work, error: ContextTooLong) -> bool:
        """Make the request smaller after it was refused as too long; gives whether there is a smaller one."""
        model = work.turn.settings.model
        before = self._tokens(work)
        self._room.on_refusal(model, error.window_tokens)
        work.said = [_without_opaque(message) for message in work.said]
        for size in range(work.size + 1, len(SIZES)):
            work.size = size
            self._fit(work)
            if self._tokens(work) < before:
                return True
        self._room.on_end(work.turn.conversation, model, work.size, was_refused=True)
        return False

    def _tokens(self, work: _Work) -> int:
        return self._beside_tokens(work) + work.history_tokens

    async def _completion(self, work: _Work) -> Completion | UsedUp:
        """The next completion: the one in the journal, else a new one where there is money for it."""
        number = len(work.completions)
        if number < len(work.journal.completions):
            return _unbound(work.journal.completions[number])
        asked = await self._asked(work)
        if isinstance(asked, UsedUp):
            return asked
        completion = _named(self._understood(self._without_secrets(asked)), work, number)
        await work.watch(_progress(completion))
        if completion.stop is Stop.TOOLS and completion.message is not None and work.rounds_left:
            calls = completion.message.calls
            is_soon = all(self._toolbox.computes_only(call) or self._toolbox.runs_once(call) for call in calls)
            await work.journal.keep_completion(completion, hold=is_soon)
        return completion

    async def _asked(self, work: _Work) -> Completion | UsedUp:
        """One question to the models; where it is too long, a shorter one."""
        failed: tuple[Attempt, ...] = ()
        while True:
            try:
                completion = await self._paid(work)
            except ProviderError as error:
                failed = error.attempts = (*failed, *_attempts(error))
                if not isinstance(error, ContextTooLong) or not self._shrink(work, error):
                    raise
                continue
            if isinstance(completion, UsedUp):
                return completion
            turn = work.turn
            self._room.on_end(turn.conversation, turn.settings.model, work.size, was_refused=bool(failed))
            return replace(completion, attempts=(*failed, *completion.attempts))

    async def _paid(self, work: _Work) -> Completion | UsedUp:
        """What the models answer, unless there is no money left for asking them."""
        if self._budget is not None:
            limit = await self._budget.used_up(work.turn, work.spent_usd)
            if limit is not None:
                return limit
        request = self._request(work)
        async with waiting():
            return await self._provider.complete(request, self._told(work))

    def _charge(self, work: _Work, completion: Completion, *, is_again: bool) -> None:
        if is_again:
            work.discarded.append(replace(completion, message=None))
        else:
            work.completions.append(completion)
        if self._budget is not None:
            self._budget.charge(work.turn, completion, work.spent_usd)

    def _with_remark(self, work: _Work, outcome: Outcome) -> Outcome:
        """The outcome; its answer tells what was allowed for good, and of a budget that is nearly used up, once."""
        done = frozenset(run.answer.name for run in work.runs if run.outcome in _SETTLED and self._toolbox.changes(run))
        if any(question.is_about(done) for question in work.turn.open_questions):
            outcome = replace(outcome, text=f"{outcome.text}\n\n{say(phrases.TAKES_PLACE)}", done=done)
        if work.journal.allowed and outcome.ok:
            told = "\n".join(say(phrases.ALWAYS_ALLOWED, tool=tool) for tool in work.journal.allowed)
            outcome = replace(outcome, text=f"{outcome.text}\n\n{told}")
        near = self._budget.nearly_used_up(work.turn) if self._budget is not None and outcome.ok else None
        if near is None:
            return outcome
        remark = phrases.budget_nearly_used_up(near.scope, near.span, near.percent)
        return replace(outcome, text=f"{outcome.text}\n\n{remark}", warned=((near.scope, near.period),))

    def _ended(self, work: _Work, completion: Completion) -> Outcome:
        """What a completion that runs no tools comes to."""
        if completion.stop is Stop.REFUSAL:
            return work.outcome(say(phrases.REFUSED), ok=False)
        is_cut = completion.stop is Stop.LENGTH
        answer = None if completion.message is None else self._cited(work, completion.message.text)
        if answer is None:
            return self._found(work) or work.outcome(
                say(phrases.NO_WORDS_LEFT) if is_cut else say(phrases.NOTHING_SAID), ok=False
            )
        text = self._shielded(work, visible_words(answer))
        return work.outcome(f"{text}\n\n{say(phrases.CUT_OFF)}" if is_cut else text, ok=True, keeps=answer)

    def _cited(self, work: _Work, text: str) -> AssistantMessage | None:
        """The answer as it is kept; None where there are no words."""
        answer = cite(text, work.pages, (*work.history, *work.said), shows=lambda url: self._shielded(work, url) == url)
        words = "" if answer is None else self._shielded(work, answer.text)
        return None if answer is None or not words.strip() else replace(answer, parts=_words(words).parts)

    def _found(self, work: _Work) -> Outcome | None:
        """What tools have found, for a model that found no words for it; None: they have found nothing."""
        found = [run for run in work.runs if run.answer.ok][-_SHOWN_RUNS:]
        if not found:
            return None
        words = [describe_answer(run.answer, run.arguments) for run in found]
        text = self._shielded(work, "\n\n".join([say(phrases.FOUND_ALONE), *words]))
        return work.outcome(text, ok=True, keeps=_words(text))

    def _shielded(self, work: _Work, text: str) -> str:
        """The words without addresses that the model may have made up for a stranger, or to carry something out."""
        if not may_carry_out(work.labels):
            return text
        return defang(text, given_in((*work.history, *work.said), self._toolbox.returning))

    def _told(self, work: _Work) -> Told | None:
        """Who is told the words of a completion as it is written; of what people see at once holds the same."""
        told = work.told
        if told is None:
            return None
        if not may_carry_out(work.labels):
            return lambda text: told(visible_beginning(self._secrets.cut(text), work.pages))
        given = given_in((*work.history, *work.said), self._toolbox.returning)
        next_at = 0.0

        def tell(text: str) -> None:
            nonlocal next_at
            if time.monotonic() >= next_at:
                told(defang(visible_beginning(self._secrets.cut(text), work.pages), given))
                next_at = time.monotonic() + _TOLD_EVERY_SECONDS

        return tell

    def _without_secrets(self, completion: Completion) -> Completion:
        message = completion.message
        return completion if message is None else replace(completion, message=self._secrets.cut_message(message))

    def _understood(self, completion: Completion) -> Completion:
        """The completion with its calls under the tools' own names, before anything is decided by them."""
        message = completion.message
        if message is None or not message.calls:
            return completion
        parts = (self._toolbox.understood(part) if isinstance(part, ToolCall) else part for part in message.parts)
        return replace(completion, message=replace(message, parts=tuple(parts)))

    def _with_sources(self, work: _Work, outcome: Outcome) -> Outcome:
        """The outcome; below its answer stands what it rests on: what came with the question, and what tools read.

        Pages that it cites are named already; what tools reckon or services say needs no such line.
        """
        if not (self._shows_sources and outcome.ok):
            return outcome
        read = join_labels(
            [work.turn.question.labels or Labels(), *(run.answer.labels or Labels() for run in work.runs)]
        )
        is_cited = any(isinstance(message, AssistantMessage) and message.pages for message in outcome.messages[-1:])
        told = [one for one in read.sources if one.kind in _TOLD and not (is_cited and one.kind in _OF_THE_WEB)]
        return replace(outcome, text=f"{outcome.text}\n\n{phrases.rests_on(told)}") if told else outcome

    def _with_undone(self, work: _Work, outcome: Outcome) -> Outcome:
        """The outcome of a scheduled run; its answer tells what was not done, because nobody was there to agree."""
        refused = [run for run in work.runs if run.outcome == "denied" and NOBODY_HERE in run.answer.content]
        if not refused or not outcome.ok:
            return outcome
        calls = [ToolCall(id=run.answer.call_id, name=run.answer.name, arguments=run.arguments) for run in refused]
        causes = dict.fromkeys(cause for call in calls for cause in self._causes(work, call) or ())
        undone = phrases.left_undone(list(map(self._toolbox.deed, calls)), tuple(causes))
        return replace(outcome, text=f"{outcome.text}\n\n{undone}")

    def _request(self, work: _Work) -> Request:
        size, turn = SIZES[work.size], work.turn
        said = [shorten_answers(message, size) for message in beside(turn.talk, work.said)]
        if work.is_pressed:
            said.append(_PRESSED)
        return Request(
            system=self._system,
            messages=with_note((*work.history, *said), turn.note if size.has_note else ""),
            tools=work.offers,
            may_call_tools=bool(work.offers) and work.rounds_left > 0 and not work.is_pressed,
            max_output_tokens=self._output_tokens(work),
            timeout_seconds=self._limits.timeout_seconds,
            model=turn.settings.model,
            conversation=f"c{turn.conversation}",
            persona=_wished(turn.settings.persona),
        )

    async def _answers(self, work: _Work, calls: Sequence[ToolCall]) -> list[ToolRun] | Pause:
        """One run for each call, in the order asked; equal calls and calls over the limit are not run.

        What failed may be tried again, but not what may have happened; what was looked at, once something was done.
        Where somebody has to agree first, the other calls run, and their answers are journaled meanwhile.
        """
        first = {_key(call): call for call in reversed(calls)}
        known = self._known(work)
        to_run = [call for call in calls if first[_key(call)] is call and _key(call) not in known]
        allowed = to_run[: self._limits.max_calls_per_round]
        work.rounds_left -= 1
        undecided = [call for call in allowed if self._waits(work, call)]
        to_begin = [call for call in allowed if call not in undecided]
        async with waiting():
            ran = await self._side_by_side(work, to_begin)
        await work.journal.flush()  # what was held back for runs, when there were none
        if undecided:
            is_asked = all(call.id in work.journal.asked for call in undecided)
            causes = dict.fromkeys(cause for call in undecided for cause in self._causes(work, call) or ())
            cost_usd = self._toolbox.cost_usd(undecided)
            deeds = tuple(map(self._toolbox.deed, undecided))
            return Pause(
                calls=tuple(undecided),
                deeds=deeds,
                cost_usd=cost_usd,
                is_asked=is_asked,
                causes=tuple(causes),
                allowance=self._allowance(work, undecided),
            )
        done = known | ran
        runs = [_as(done[_key(call)], call) if _key(call) in done else self._over_limit(call) for call in calls]
        new = [run for run, call in zip(runs, calls, strict=True) if call in to_run]
        work.runs += new
        self._room.uses.update(run.tool for run in new)
        work.labels = join_labels([work.labels, *(run.answer.labels or UNKNOWN for run in new)])
        if any(run.outcome in _SETTLED and self._does(run) for run in new):
            work.fresh_from = len(work.runs)
        return runs

    async def _side_by_side(self, work: _Work, calls: Sequence[ToolCall]) -> dict[str, ToolRun]:
        """The runs of the calls by their keys."""
        if len(calls) == 1:
            return {_key(calls[0]): await self._ran(work, calls[0])}
        async with asyncio.TaskGroup() as group:
            tasks = {_key(call): group.create_task(self._ran(work, call)) for call in calls}
        return {key: task.result() for key, task in tasks.items()}

    def _known(self, work: _Work) -> dict[str, ToolRun]:
        """The runs that answer an equal call, too."""
        return {
            _key_of(run): run
            for place, run in enumerate(work.runs)
            if run.outcome in _SETTLED and (place >= work.fresh_from or self._does(run))
        }

    def _does(self, run: ToolRun) -> bool:
        """Whether the tool changes something, and not only looks; one that is gone by now may have."""
        spec = self._toolbox.spec(run.answer.name)
        return spec is None or spec.effects != "none"

    def _waits(self, work: _Work, call: ToolCall) -> bool:
        """Whether somebody has to agree to a call, and may still do so."""
        if call.id in work.journal.runs or call.id in work.journal.decided or _is_off(work, call):
            return False
        if work.turn.is_unattended:
            return False
        until = work.journal.asked.get(call.id)
        return work.turn.loaded_at < until if until is not None else self._causes(work, call) is not None

    def _causes(self, work: _Work, call: ToolCall) -> tuple[Source, ...] | None:
        """Because of what somebody has to agree to a call; None: nobody has to."""
        known = self._toolbox.read_records(work.runs, work.first_labels, work.turn.person)
        causes = self._toolbox.approval(
            call, work.labels, work.turn.person, work.words, known, in_group=work.turn.group is not None
        )
        # Where nobody is there nobody sees what comes of it either: there a yes for good is none.
        is_allowed = not work.turn.is_unattended and self._toolbox.allowance(call, work.labels) in work.turn.allowed
        return None if is_allowed else causes

    def _allowance(self, work: _Work, calls: Sequence[ToolCall]) -> Allowance | None:
        """What whoever asks may allow for good with these calls: one tool, for what they ask alone."""
        tools = {self._toolbox.allowance(call, work.labels) for call in calls}
        is_alone = all(message.author == work.turn.person for message in work.turn.incoming)
        return tools.pop() if is_alone and len(tools) == 1 else None

    async def _ran(self, work: _Work, call: ToolCall) -> ToolRun:
        """One call: as the journal has it, else run now and journaled."""
        spec = self._toolbox.spec(call.name)
        may_fetch = work.sources.admits(call, spec)
        earlier = work.journal.runs.get(call.id)
        if earlier is not None and _key_of(earlier) == _key(call):
            work.sources.took(earlier, spec)
            return earlier
        await work.watch(ToolStarted(name=call.name, arguments=_shown(call)))
        run = await self._run(work, call) if may_fetch else self._toolbox.refuse(call, "denied", NOT_GIVEN)
        run = replace(run, answer=replace(run.answer, content=self._secrets.cut(run.answer.content)))
        work.sources.took(run, spec)
        await work.journal.ran(run)
        await work.watch(_ended_run(run))
        return run

    async def _run(self, work: _Work, call: ToolCall) -> ToolRun:
        if _is_off(work, call):
            return self._toolbox.refuse(call, "disabled", f"{call.name} is switched off in this conversation")
        if call.id in work.journal.asked and not work.journal.decided.get(call.id, False):
            said = "said no to this" if call.id in work.journal.decided else "did not answer in time whether you may"
            return self._toolbox.refuse(call, "denied", f"the person {said}: it was not done; do not ask again")
        if work.turn.is_unattended and self._causes(work, call) is not None:
            return self._toolbox.refuse(call, "denied", NOBODY_HERE)
        if call.id in work.journal.started:
            return self._toolbox.refuse(
                call,
                UnknownOutcome.code,
                "a restart interrupted this; it may have happened, so do not repeat it unasked",
            )
        if work.journal.decided.get(call.id, False):
            await self._toolbox.agreed(call)
        if self._toolbox.runs_once(call):
            await work.journal.start(call.id)
        turn = work.turn
        is_own = self._toolbox.is_named(call, work.words)
        run = await self._toolbox.run(
            call,
            turn.person,
            chat=turn.chat,
            turn=turn.id,
            timezone=turn.timezone,
            labels=_own_labels(turn) if is_own else work.labels,
            words=work.words,
            pages=work.pages,
        )
        self._note_number(turn.conversation, work.pages.last_number)
        return run

    def _note_number(self, conversation: ConversationId, last_number: int) -> None:
        highest = max(last_number, self._last_numbers.pop(conversation, 0))
        if highest:
            self._last_numbers[conversation] = highest
        if len(self._last_numbers) > _MAX_NUMBERED:
            self._last_numbers.popitem(last=False)

    def _over_limit(self, call: ToolCall) -> ToolRun:
        most = self._limits.max_calls_per_round
        return self._toolbox.refuse(call, "rate_limited", f"at most {most} tool calls at once: it was not run")


def _is_asked_again(work: _Work, completion: Completion) -> bool:
    """Whether a completion is worth another: one that was cut off before it said anything is asked for with more room,
    and one without words where words are due, as words with what there is. Each once in a turn.
    """
    message, stop = completion.message, completion.stop
    is_mute = message is None or not message.text.strip()
    if stop is Stop.LENGTH and (is_mute or completion.is_cut_in_call) and not work.has_more_room:
        work.has_more_room = True
        return True
    wants_more = stop is Stop.TOOLS and work.rounds_left == 0
    has_found = stop is not Stop.REFUSAL and is_mute and any(run.answer.ok for run in work.runs)
    if (wants_more or (has_found and stop is not Stop.TOOLS)) and not work.is_pressed:
        work.is_pressed = True
        return True
    return False


def _wished(persona: Persona | None) -> str:
    """What the people of the conversation want, for the end of the system prompt: beside the rules, never in their
    place.
    """
    return "" if persona is None else f"{_PERSONA}\n{persona.text}"


def _sendable(history: Iterable[Whole], offers: Iterable[ToolOffer]) -> tuple[Whole, ...]:
    """The turns of the history for a request that offers these tools.

    One that called any other (switched off since, or gone) is question and answer alone: no vendor takes calls without
    tools, and a model that sees a call would make it again.
    """
    names = {offer.name for offer in offers}
    return tuple(turn if turn.called <= names else _without_tools(turn) for turn in history)


def _without_tools(turn: Whole) -> Whole:
    """Question and answer alone; an answer from before there were labels is that of tools nobody knows."""
    words = prompt.without_tools(turn)
    return Whole(
        replace(message, labels=message.labels or UNKNOWN) if isinstance(message, AssistantMessage) else message
        for message in words
    )


def _is_off(work: _Work, call: ToolCall) -> bool:
    return call.name in work.turn.settings.tools_off


def _words(text: str) -> AssistantMessage:
    return AssistantMessage(parts=(Text(text=text),))


def _labelled(turn: Turn) -> Turn:
    """The turn with labels on its question, those of the talk in its group among them."""
    known = turn.question.labels
    if known is None:
        # An edit, or a question of an older Aldis, that was asked before there were labels on it.
        known = UNKNOWN if any(isinstance(step, Asked) for step in turn.steps) else Labels()
    asked, talk = provenance.of_question(turn.incoming), provenance.of_talk(turn.talk)
    labels = join_labels([known, asked, talk, provenance.of_persona(turn.settings.persona)])
    question = replace(turn.question, labels=replace(labels, is_scheduled=known.is_scheduled or asked.is_scheduled))
    return replace(turn, question=question)


def _named(completion: Completion, work: _Work, number: int) -> Completion:
    """The completion with call ids of our own: vendors and local servers repeat theirs from turn to turn."""
    message = completion.message
    if message is None or not message.calls:
        return completion
    names = {id(call): CallId(f"call_{work.turn.id}_{number}_{place}") for place, call in enumerate(message.calls)}
    parts = tuple(replace(part, id=names[id(part)]) if isinstance(part, ToolCall) else part for part in message.parts)
    return replace(completion, message=AssistantMessage(parts=parts, labels=work.labels))


def _unbound(completion: Completion) -> Completion:
    """A completion of an earlier attempt without its vendor's blocks: they are bound to what the request was then.

    What was overheard, summed up or remembered may be another by now, and what was said before may have gone. A vendor
    refuses its blocks in such a request, and takes it without them.
    """
    message = completion.message
    return completion if message is None else replace(completion, message=message.without_opaque())


def _without_opaque(message: Message) -> Message:
    return message.without_opaque() if isinstance(message, AssistantMessage) else message


def _attempts(error: ProviderError) -> tuple[Attempt, ...]:
    return tuple(attempt for attempt in error.attempts if isinstance(attempt, Attempt))


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, call.malformed, call.arguments], sort_keys=True)


def _key_of(run: ToolRun) -> str:
    return json.dumps([run.answer.name, None, run.arguments], sort_keys=True)


def _own_labels(turn: Turn) -> Labels:
    """Of what whoever asks has named themselves, whatever else is in the request."""
    return Labels(
        people=tuple(writer for writer in provenance.of_question(turn.incoming).people if writer.id == turn.person)
    )


def _as(run: ToolRun, call: ToolCall) -> ToolRun:
    """The run as the answer to an equal call."""
    return run if run.answer.call_id == call.id else replace(run, answer=replace(run.answer, call_id=call.id))


def _json(call: ToolCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False)


def _shown(call: ToolCall) -> str:
    text = _json(call)
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
        instead_of=_passed_over(completion),
    )


def _passed_over(completion: Completion) -> str:
    """The first that was asked before another one answered; empty where it answered itself."""
    others = (
        f"{attempt.provider} {attempt.model}".strip()
        for attempt in completion.attempts
        if (attempt.provider, attempt.model) != (completion.provider, completion.model)
    )
    return next(others, "")


def _ended_run(run: ToolRun) -> ToolEnded:
    return ToolEnded(
        name=run.answer.name, content=run.answer.content, ok=run.answer.ok, latency_seconds=run.latency_seconds
    )
