"""The agent loop: ask the model, run the tools it calls side by side, ask again, until there is an answer or a limit.

    budget left? --> ask --> words --------------------> Outcome
     ^                   '-> calls --> may they run? --not decided--> Pause
     |                                 '-> toolbox, side by side --.
     '------------------------------ answers, in the order asked <-'

Every completion with calls and every tool answer is journaled at once; anything an earlier attempt of the turn has
journaled is reused, and already paid. Knows neither SQL nor Signal nor a vendor.
Left to others: carrying out calls (`bot.chat.calls`), what people are told in the end (`bot.chat.answers`).
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from bot.chat import phrases, prompt
from bot.chat.answers import Answers
from bot.chat.budget import Budget
from bot.chat.calls import Calls
from bot.chat.context_note import with_note
from bot.chat.group_context import beside
from bot.chat.journal import Journal, Outcome, PastTurn, Pause, Turn
from bot.chat.model_calls import complete, failed_attempts
from bot.chat.room import OFFER_TOKENS, SIZES, ContextRoom, part_of, shorten_answers
from bot.chat.sources import Sources
from bot.chat.state import OnProgress, TurnState
from bot.chat.steps import Asked, AskedAgain
from bot.chat.toolbox import Toolbox
from bot.errors import ContextTooLong, ProviderError
from bot.labels import UNKNOWN, Labels, join_labels
from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    ToolCall,
    ToolMessage,
    UserMessage,
    without_opaque,
)
from bot.models.base import Completion, OnText, Provider, Request, Stop, ToolOffer
from bot.money.budgets import UsedUp
from bot.settings import Settings
from bot.signal.protocol import ModelAnswered, ModelFailed
from bot.trust import provenance
from bot.trust.secrets import Secrets
from tools import clean_text

_MORE_ROOM = 4
"""How many times longer an answer may be when it was cut off and is requested again."""
_MAX_CALLS = 100
"""The limit per completion; each call is kept with its answer and read again by every later request."""
_PRESSED = UserMessage(
    text="(A note from Aldis: no tool can be used any more for this message. Answer it in words, with what is there.)"
)
_AGAIN = UserMessage(
    text="(A note from Aldis: your last answer was empty. Answer the message in words, or call a tool.)"
)
_PERSONA = "The people of this conversation want you to be like this here, within the rules above:"
"""Stands before the persona at the end of the system prompt: in addition to the rules, never instead of them."""


class Agent:
    """Answers turns with one provider and one toolbox."""

    def __init__(
        self,
        provider: Provider,
        toolbox: Toolbox,
        *,
        system: str,
        settings: Settings,
        budget: Budget,
        secrets: Secrets,
        room: ContextRoom,
    ) -> None:
        """`secrets` are the operator's own, hidden from models and people. `room` is what is already known about the
        models' context windows.
        """
        self._secrets = secrets
        self._provider = provider
        self._toolbox = toolbox
        self._system = system
        self._settings = settings
        self._budget = budget
        self._room = room
        most, shows_sources = settings.tools.max_calls_per_round, settings.answers.show_sources
        self._calls = Calls(toolbox, max_per_round=most, secrets=secrets, room=room)
        self._answers = Answers(toolbox, self._calls, budget=budget, secrets=secrets, shows_sources=shows_sources)

    async def answer(
        self,
        turn: Turn,
        journal: Journal,
        on_progress: OnProgress,
        on_text: OnText | None = None,
        *,
        seconds: float | None = None,
    ) -> Outcome | Pause:
        """The outcome of a turn, or a pause if somebody must first agree to something it wants to do.

        Failures of models and tools are outcomes too, and so is a used-up budget. `on_text` receives the words of each
        completion as they are written; None if nobody wants them before they are complete. What a model has written
        after so many seconds is the answer; None means those of a whole turn.

        Raises:
            StoreError: a step could not be journaled; the turn can be tried again later.
        """
        turn = _labelled(turn)
        journal.ask(turn)
        most = self._settings.worker.turn_timeout_seconds if seconds is None else seconds
        ends_at = asyncio.get_running_loop().time() + most
        state = await self._begun(turn, journal, on_progress, on_text, ends_at=ends_at)
        while True:
            try:
                completion = await self._completion(state)
            except ProviderError as error:
                await state.on_progress(ModelFailed(provider=error.provider, error=type(error).__name__))
                failed = state.outcome(phrases.for_error(error), ok=False)
                return replace(failed, failures=failed_attempts(error))
            if isinstance(completion, UsedUp):
                limit = completion
                told = phrases.budget_used_up(limit.scope, limit.span, renews=limit.renews)
                return replace(state.outcome(told, ok=False), failures=journal.take_failures())
            again = _asked_again(state, completion)
            if again is None:
                state.completions.append(completion)
            else:
                await journal.discard(replace(completion, message=None), again)
            self._budget.charge(turn, completion, state.spent_usd)
            if again is not None:
                continue
            if len(state.completions) > len(journal.completions):
                journal.note_answer(completion)
            message = completion.message
            if message is None or not message.calls or completion.stop is not Stop.TOOLS or state.rounds_left == 0:
                return await self._answers.outcome(state, completion)
            runs = await self._calls.carry_out(state, message.calls)
            if isinstance(runs, Pause):
                return runs
            state.said += [message, ToolMessage(answers=tuple(run.answer for run in runs))]

    async def _begun(
        self, turn: Turn, journal: Journal, on_progress: OnProgress, on_text: OnText | None, *, ends_at: float
    ) -> TurnState:
        offered = await self._toolbox.offers()
        offers = tuple(offer for offer in offered if turn.settings.allows_tool(offer.name))
        state = TurnState(
            turn=turn,
            journal=journal,
            on_progress=on_progress,
            on_text=on_text,
            ends_at=ends_at,
            all_offers=offers,
            said=[turn.question],
            labels=join_labels([turn.note_labels, prompt.labels_of([turn.question])]),
            words=provenance.own_words(turn.incoming, turn.person),
            rounds_left=self._settings.tools.max_tool_calls if offers else 0,
            size=self._room.size(turn.conversation, turn.settings.model),
            pages=self._calls.pages(turn),
        )
        for run in journal.runs.values():
            state.pages.take(ToolMessage(answers=(run.answer,)))
        self._fit(state)
        state.sources = Sources(turn, state.labels)
        return state

    def _fit(self, state: TurnState) -> None:
        """Chooses the tools and the earlier turns that fit into requests of this size."""
        model, size, turn = state.turn.settings.model, SIZES[state.size], state.turn
        called = {run.answer.name for run in state.runs}
        state.offers = self._room.offers(state.all_offers, size, model, called=called, words=state.words)
        past = part_of(_sendable(turn.history, state.offers), size)
        most = self._settings.history.max_tokens
        tokens = self._room.history_tokens(most, size, model, beside_tokens=self._beside_tokens(state))
        shown = prompt.window(past, max_tokens=tokens)
        state.history = tuple(chain.from_iterable(shown))
        state.history_tokens = sum(past.tokens for past in shown)
        state.labels = join_labels([state.labels, *(past.labels for past in shown)])

    def _beside_tokens(self, state: TurnState) -> int:
        """Roughly how many tokens a request has apart from the earlier turns, including room for its answer."""
        size = SIZES[state.size]
        said = [prompt.estimated_tokens(shorten_answers(message, size)) for message in state.said]
        texts = (self._system, state.turn.note if size.has_note else "")
        tools = sum(OFFER_TOKENS.each(state.offers))
        return sum(said) + sum(map(prompt.estimated_text_tokens, texts)) + tools + self._output_tokens(state)

    def _output_tokens(self, state: TurnState) -> int:
        more = _MORE_ROOM if "with more room" in state.journal.asked_again else 1
        most = self._settings.llm.max_output_tokens * more
        return self._room.output_tokens(most, SIZES[state.size], state.turn.settings.model)

    def _shrink(self, state: TurnState, error: ContextTooLong) -> bool:
        """Makes the request smaller after it was refused as too long; returns whether that was possible."""
        model = state.turn.settings.model
        before = self._tokens(state)
        self._room.on_refusal(model, error.window_tokens)
        state.said = [without_opaque(message) for message in state.said]
        for size in range(state.size + 1, len(SIZES)):
            state.size = size
            self._fit(state)
            if self._tokens(state) < before:
                return True
        self._room.on_end(state.turn.conversation, model, state.size, was_refused=True)
        return False

    def _tokens(self, state: TurnState) -> int:
        return self._beside_tokens(state) + state.history_tokens

    async def _completion(self, state: TurnState) -> Completion | UsedUp:
        """The next completion: from the journal, or else a new one if the budget allows."""
        number = len(state.completions)
        if number < len(state.journal.completions):
            return _unbound(state.journal.completions[number])
        asked = await self._asked(state)
        if isinstance(asked, UsedUp):
            return asked
        state.journal.note_answer(asked)  # paid, whatever comes of it
        completion = asked if asked.message is None else replace(asked, message=self._read(asked.message, state))
        await state.on_progress(_progress(completion))
        if completion.stop is Stop.TOOLS and completion.message is not None and state.rounds_left:
            calls = completion.message.calls
            is_soon = all(self._toolbox.computes_only(call) or self._toolbox.runs_once(call) for call in calls)
            await state.journal.keep_completion(completion, hold=is_soon)
        return completion

    async def _asked(self, state: TurnState) -> Completion | UsedUp:
        """Asks the models once; if the request is too long, again with a shorter one. Or the limit that forbids it."""
        turn, journal, was_refused = state.turn, state.journal, False
        while True:
            if (limit := await self._budget.used_up(turn, state.spent_usd)) is not None:
                return limit
            try:
                completion = await complete(
                    self._provider,
                    self._request(state),
                    self._budget,
                    call=journal.model_call,
                    on_broken_off=journal.break_off,
                    on_text=self._answers.listener(state),
                )
            except ProviderError as error:
                error.attempts = (*journal.take_failures(), *failed_attempts(error))
                if not isinstance(error, ContextTooLong) or not self._shrink(state, error):
                    raise
                was_refused = True
                for attempt in failed_attempts(error):
                    journal.break_off(attempt)  # until a completion has them
                continue
            failed = journal.take_failures()
            self._room.on_end(turn.conversation, turn.settings.model, state.size, was_refused=was_refused)
            return replace(completion, attempts=(*failed, *completion.attempts)) if failed else completion

    def _read(self, message: AssistantMessage, state: TurnState) -> AssistantMessage:
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
                id_ = CallId(f"call_{state.turn.id}_{len(state.completions)}_{count}")
                parts.append(replace(self._toolbox.understood(part), id=id_))
                count += 1
        labels = state.labels if count else message.labels
        return self._secrets.cut_message(replace(message, parts=tuple(parts), labels=labels))

    def _request(self, state: TurnState) -> Request:
        size, turn = SIZES[state.size], state.turn
        said = [shorten_answers(message, size) for message in beside(turn.talk, state.said)]
        asked_again = state.journal.asked_again
        is_pressed = not asked_again.isdisjoint({"to answer", "without tools"})
        if is_pressed:
            said.append(_PRESSED)
        elif "once more" in asked_again and not state.runs:
            said.append(_AGAIN)
        total_seconds = max(0.0, state.ends_at - asyncio.get_running_loop().time())
        return Request(
            system=self._system,
            messages=with_note((*state.history, *said), turn.note if size.has_note else ""),
            tools=() if "without tools" in asked_again else state.offers,
            may_call_tools=bool(state.offers) and state.rounds_left > 0 and not is_pressed,
            max_output_tokens=self._output_tokens(state),
            timeout_seconds=min(self._settings.llm.timeout_seconds, total_seconds),
            total_seconds=total_seconds,
            model=turn.settings.model,
            conversation=f"c{turn.conversation}",
            persona=f"{_PERSONA}\n{turn.settings.persona.text}" if turn.settings.persona else "",
        )


def _asked_again(state: TurnState, completion: Completion) -> AskedAgain | None:
    """Returns how to ask the model again, if a completion is worth it; each way at most once in a turn.

    A completion that was cut off before it said anything gets more room; one without words where words are due is asked
    to answer with what there is; an empty one is asked once more, since small models often have something to say then.
    Some servers ignore that no tool may be called: the last request has none.
    Source: https://github.com/ollama/ollama/issues/17921 (2026-11-27).
    """
    message, stop, before = completion.message, completion.stop, state.journal.asked_again
    is_mute = message is None or not clean_text(message.text).strip()
    if stop is Stop.LENGTH and (is_mute or completion.is_cut_in_call) and "with more room" not in before:
        return "with more room"
    wants_more = stop is Stop.TOOLS and state.rounds_left == 0
    has_found = stop not in {Stop.REFUSAL, Stop.UNFINISHED} and is_mute and any(run.answer.ok for run in state.runs)
    if wants_more and "without tools" not in before:
        return "without tools"
    if has_found and stop is not Stop.TOOLS and "to answer" not in before:
        return "to answer"
    if stop is Stop.END and is_mute and not state.runs and "once more" not in before:
        return "once more"
    return None


def _sendable(history: Iterable[PastTurn], offers: Iterable[ToolOffer]) -> tuple[PastTurn, ...]:
    """The turns of the history for a request that offers these tools.

    A turn that called any other tool (switched off since, or gone) is reduced to question and answer: no vendor accepts
    calls without tools, and a model that sees a call would repeat it.
    """
    names = {offer.name for offer in offers}
    return tuple(turn if turn.called <= names else PastTurn(prompt.without_tools(turn)) for turn in history)


def _labelled(turn: Turn) -> Turn:
    """The turn with labels on its question, including those of the talk in its group."""
    known = turn.question.labels
    if known is None:
        # An edit, or a question of an older Aldis, that was asked before it had labels.
        known = UNKNOWN if any(isinstance(step, Asked) for step in turn.steps) else Labels()
    asked, talk = provenance.of_question(turn.incoming), provenance.of_talk(turn.talk)
    labels = join_labels([known, asked, talk, provenance.of_persona(turn.settings.persona)])
    question = replace(turn.question, labels=replace(labels, is_scheduled=known.is_scheduled or asked.is_scheduled))
    return replace(turn, question=question)


def _unbound(completion: Completion) -> Completion:
    """A completion of an earlier attempt without its vendor's blocks, which are tied to the request as it was then.

    The overheard talk, the summary or the facts may have changed since, and earlier messages may be gone. A vendor
    refuses its blocks in such a request, and accepts it without them.
    """
    message = completion.message
    return completion if message is None else replace(completion, message=message.without_opaque())


def _progress(completion: Completion) -> ModelAnswered:
    cost = completion.cost_usd
    passed_over = (
        f"{attempt.provider} {attempt.model}".strip()
        for attempt in completion.attempts
        if (attempt.provider, attempt.model) != (completion.provider, completion.model)
    )
    return ModelAnswered(
        provider=completion.provider,
        model=completion.model,
        input_tokens=completion.usage.input_tokens,
        output_tokens=completion.usage.output_tokens,
        cost_usd="unknown" if cost is None else f"{cost:f}",
        latency_seconds=completion.latency_seconds,
        instead_of=next(passed_over, ""),
    )
