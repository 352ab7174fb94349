"""What one turn asks of the models, and what of it fits into a model's context window.

    refused as too long --> one size smaller: half the history, a quarter, none and few tools, no tools at all
    it names its window --> tools, answer and history share that window from then on; the same if its server reported
                            it unasked (`bot.models.capabilities`)

Each turn begins with the largest size. Each question is priced before it is asked and after.
"""

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from bot.chat import prompt
from bot.chat.calls import Calls
from bot.chat.context import beside, with_note
from bot.chat.journal import Journal
from bot.chat.prompt import PastTurn
from bot.chat.steps import AskedAgain
from bot.errors import ContextTooLong, ProviderError
from bot.labels import join_labels
from bot.messages import AssistantMessage, IdentityCache, Message, ToolMessage, without_opaque
from bot.models.base import Completion, Provider, Request, Stop, ToolOffer
from bot.models.capabilities import Lesson, ModelLessons
from bot.models.tool_list import NAME as USE_TOOL
from bot.models.wire import encode_json
from bot.money.budgets import Budget, UsedUp
from bot.money.ledger import Bill, Payer, completion_entries
from bot.settings import Settings
from bot.signal.protocol import ModelAnswered
from bot.trust.rules import addresses_in
from store import LedgerEntry, Store
from tools import clean_text

MIN_OUTPUT_TOKENS = 256

_TOOLS_SHARE = 0.3
"""All default tools in a window of 8,192 tokens, and a window of 4,096 still has room for earlier turns."""
_AMPLE_WINDOW = 200_000
"""A window with room for all tools, however many: they need not be counted with each question."""
_OUTPUT_SHARE = 0.25
_HEAD_BYTES = 32
_CORRECTED = "corrected_by_person"
_MORE_ROOM = 4
"""How many times longer an answer may be when it was cut off and is requested again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """The size of a request."""

    history: float
    """The share of the earlier turns, and of the tokens they may have."""
    output: float = 1.0
    """The share of the maximum answer length."""
    max_tools: int | None = None
    """None: all."""
    max_answer_characters: int | None = None
    """The limit of one tool's answer; None: no limit."""
    has_note: bool = True
    """Whether the person's facts and the summary are included."""

    def shorten(self, message: Message) -> Message:
        """A message of the running turn with tool answers cut to this size."""
        if self.max_answer_characters is None:
            return message
        if not isinstance(message, ToolMessage):
            return without_opaque(message)
        most, answers = self.max_answer_characters, list(message.answers)
        for place, answer in enumerate(answers):
            if len(answer.content) > most:
                cut = {"ok": answer.ok, "untrusted_data": {"beginning": answer.content[:most]}}
                answers[place] = replace(answer, content=json.dumps(cut, ensure_ascii=False))
        return replace(message, answers=tuple(answers))


SIZES = (
    Size(history=1),
    Size(history=0.5),
    Size(history=0.25, output=0.5, max_answer_characters=6000),
    Size(history=0, output=0.25, max_tools=6, max_answer_characters=3000),
    Size(history=0, output=0.25, max_tools=0, max_answer_characters=1000, has_note=False),
)


class ContextRoom:
    """The knowledge about the models' windows."""

    def __init__(self, lesson: Callable[[str | None], Lesson] | None = None) -> None:
        """`lesson` returns what was learnt about the model that a choice means."""
        self._lesson = lesson or partial(ModelLessons().of, "")
        self._history_tokens: dict[str, int] = {}

    def window_tokens(self, model: str | None) -> int | None:
        """The smallest known window of a model; None if unknown."""
        lesson = self._lesson(model)
        return min(filter(None, (lesson.window_tokens, lesson.capabilities.window_tokens)), default=None)

    def on_refusal(self, model: str | None, window_tokens: int | None) -> None:
        """Records that a request was too long; `window_tokens` is what the model said about its window, if anything."""
        if window_tokens is not None:
            self._lesson(model).window_tokens = window_tokens

    def output_tokens(self, max_tokens: int, size: Size, model: str | None) -> int:
        """The longest answer that a request of this size may ask for."""
        window = self.window_tokens(model)
        max_tokens = min(max_tokens, self._lesson(model).capabilities.max_output_tokens or max_tokens)
        within = max_tokens if window is None else min(max_tokens, int(window * _OUTPUT_SHARE))
        return min(max_tokens, max(MIN_OUTPUT_TOKENS, int(within * size.output)))

    def offers(
        self, offers: Sequence[ToolOffer], size: Size, model: str | None, *, called: Collection[str]
    ) -> tuple[ToolOffer, ...]:
        """The tools that fit, in their order: those `called` in this turn, then the first.

        They do not depend on the question: once tools change, a server computes all that follows them again.
        """
        window = self.window_tokens(model)
        if size.max_tools is None and (window is None or window >= _AMPLE_WINDOW):
            return tuple(offers)
        left = sum(OFFER_TOKENS.each(offers)) if window is None else int(window * _TOOLS_SHARE)
        limit = len(offers) if size.max_tools is None else size.max_tools
        kept = set[str]()
        for offer in sorted(offers, key=lambda offer: (offer.name != USE_TOOL, offer.name not in called)):
            if len(kept) < limit and (tokens := OFFER_TOKENS.of(offer)) <= left:
                kept.add(offer.name)
                left -= tokens
        return tuple(offer for offer in offers if offer.name in kept)

    def history_tokens(self, max_tokens: int, size: Size, model: str | None, *, beside_tokens: int) -> int:
        """Returns how many tokens of earlier turns fit; `beside_tokens` is everything else, including the answer."""
        window = self.window_tokens(model)
        within = int(max_tokens * size.history)
        if window is None:
            return within
        left = max(0, window - beside_tokens)
        self._history_tokens[model or ""] = left
        return min(within, left)

    def last_history_tokens(self, model: str | None) -> int | None:
        """Returns how many tokens of earlier turns the last request had room for; None if no window is known."""
        return self._history_tokens.get(model or "")


def _offer_tokens(offer: ToolOffer) -> int:
    if offer.line:
        return prompt.estimated_text_tokens(f"{offer.line}\n")
    text = offer.description + encode_json(offer.parameters).decode()
    return prompt.estimated_text_tokens(text) + _HEAD_BYTES // 3


OFFER_TOKENS = IdentityCache(_offer_tokens)
"""A rough count of the tokens of a tool's description, or of its line."""


async def ask_once(
    store: Store, provider: Provider, request: Request, budget: Budget, payer: Payer
) -> Completion | UsedUp:
    """The completion of a request beside a turn, paid by the payer; or the limit that forbids it.

    Raises:
        ProviderError: there is none; what the tries have cost is paid all the same.
    """
    row = _question_row(request, budget)
    reserved = await store.transaction(lambda repos: budget.reserve(repos, payer, row))
    if isinstance(reserved, UsedUp):
        return reserved

    async def settle(entries: tuple[LedgerEntry, ...]) -> None:
        bill = Bill(reservation=reserved, entries=entries)
        await store.transaction(lambda repos: budget.settle(repos, payer, (bill,)))

    try:
        completion = await _complete(provider, request, budget)
    except ProviderError as error:
        await settle(error.attempts)
        raise
    await settle(completion_entries(completion))
    return completion


def _question_row(request: Request, budget: Budget) -> LedgerEntry:
    """The row to reserve in the ledger before the models are asked."""
    return budget.question(request.model, input_tokens=_tokens(request), max_output_tokens=request.max_output_tokens)


async def _complete(provider: Provider, request: Request, budget: Budget) -> Completion:
    """The completion with its cost, perhaps an estimate; raises `ProviderError`, whose `attempts` have likely costs."""
    try:
        completion = await provider.complete(request)
    except ProviderError as error:
        error.attempts = _with_costs(error.attempts, request, budget)
        raise
    completion = replace(completion, attempts=_with_costs(completion.attempts, request, budget))
    usage, message = completion.usage, completion.message
    if not usage.input_tokens or not (usage.output_tokens or message is None):
        written = 0 if message is None else prompt.estimated_tokens(message)
        asked = usage.input_tokens or _tokens(request)
        completion = budget.with_estimate(completion, input_tokens=asked, written_tokens=written)
    budget.complain(completion)
    return completion


def _with_costs(attempts: tuple[LedgerEntry, ...], request: Request, budget: Budget) -> tuple[LedgerEntry, ...]:
    if all(attempt.cost_usd is not None for attempt in attempts):
        return attempts
    asked, most = _tokens(request), request.max_output_tokens
    return tuple(budget.with_cost(one, input_tokens=asked, max_output_tokens=most) for one in attempts)


def _tokens(request: Request) -> int:
    """Roughly how many tokens a request has."""
    said = sum(_ESTIMATES.each(request.messages)) + sum(OFFER_TOKENS.each(request.tools))
    return prompt.estimated_text_tokens(request.whole_system) + said


_ESTIMATES = IdentityCache(prompt.estimated_tokens)


@dataclass(frozen=True, kw_only=True, slots=True)
class Models:
    """The models as turns ask them: whom, as who, within which limits."""

    provider: Provider
    system: str
    settings: Settings
    budget: Budget
    room: ContextRoom


class Requests:
    """The requests of one turn: what has been said in it, and beside that as many tools and earlier turns as fit."""

    def __init__(self, models: Models, journal: Journal, offers: Sequence[ToolOffer], *, ends_at: float) -> None:
        """`offers` are all tools of the turn; `ends_at` is when the models must have ended, on the loop's clock."""
        self._models = models
        self._journal = journal
        self._ends_at = ends_at
        self._turn = turn = journal.turn
        self._all_offers = tuple(offers)
        persona = turn.settings.persona
        self._persona = f"{prompt.PERSONA_INTRODUCTION}\n{persona.text}" if persona is not None and persona.text else ""
        self._max_rounds = models.settings.tools.max_tool_calls if offers else 0
        self.rounds = 0
        """How many completions have called tools."""
        self.said: list[Message] = [turn.question]
        """The question, then completions with their calls and the answers of the tools."""
        self._size = SIZES[0]
        self.labels = join_labels([turn.note_labels, prompt.labels_of([turn.question])])
        """The labels of everything in any request but what the turn itself has found."""
        self._corrections = 0
        """How many corrections the requests have had."""
        self._fit()

    @property
    def history(self) -> tuple[Message, ...]:
        """The earlier turns in the request."""
        return tuple(chain.from_iterable(self._shown))

    async def completion(self, calls: Calls) -> Completion | UsedUp:
        """The next completion, from the journal or new if the budget allows; raises ProviderError if none came."""
        self._correct(calls)
        if self.rounds < len(self._journal.completions):
            # A vendor's blocks are tied to the request as it was: the talk or the facts may have changed since.
            earlier = self._journal.completions[self.rounds]
            return replace(earlier, message=earlier.message and without_opaque(earlier.message))
        asked = await self._ask()
        if isinstance(asked, UsedUp):
            return asked
        calls.labels = join_labels([self.labels, calls.labels])  # a shorter request may hold other earlier turns
        completion = calls.read(asked, self.rounds)
        # What people may watch: which model has answered, at which cost, and in whose place.
        cost, answered_by = completion.cost_usd, f"{completion.provider} {completion.model}".strip()
        tried = (f"{attempt.provider} {attempt.name}".strip() for attempt in completion.attempts)
        await self._journal.on_progress(
            ModelAnswered(
                provider=completion.provider,
                model=completion.model,
                input_tokens=completion.usage.input_tokens,
                output_tokens=completion.usage.output_tokens,
                cost_usd="unknown" if cost is None else f"{cost:f}",
                latency_seconds=completion.latency_seconds,
                instead_of=next((one for one in tried if one != answered_by), ""),
            )
        )
        if (message := self.calling(completion)) is not None:
            await calls.keep(completion, message)
        return completion

    async def _ask(self) -> Completion | UsedUp:
        """Asks the models once; if the request is too long, again with a shorter one. Or the limit that forbids it."""
        budget, journal = self._models.budget, self._journal
        while True:
            request = self._request()
            if (limit := await journal.reserve_question(_question_row(request, budget))) is not None:
                return limit
            try:
                completion = await _complete(self._models.provider, request, budget)
            except ProviderError as error:
                journal.note_failures(error.attempts)
                if not isinstance(error, ContextTooLong) or not self._shrink(error):
                    raise
                continue
            journal.note_answer(completion)  # paid, whatever comes of it
            return completion

    def calling(self, completion: Completion) -> AssistantMessage | None:
        """Returns the message of a completion whose calls are to be run; None: the turn ends with it."""
        message = completion.message
        is_calling = message is not None and message.calls and completion.stop is Stop.TOOLS
        return message if is_calling and self.rounds < self._max_rounds else None

    def _correct(self, calls: Calls) -> None:
        """Puts what a person corrected since the last request before all else in the last answer of a tool."""
        is_new = self.rounds >= len(self._journal.completions)
        due = [step for at, step in self._journal.corrections[self._corrections :] if is_new or at <= self.rounds]
        last = self.said[-1]
        if due and isinstance(last, ToolMessage):
            self._corrections += len(due)
            *before, answer = last.answers
            found = json.loads(answer.content)
            words = [found.pop(_CORRECTED, ""), *(step.text for step in due)]
            content = json.dumps({_CORRECTED: "\n".join(filter(None, words)), **found}, ensure_ascii=False)
            calls.labels = labels = join_labels([calls.labels, *(step.labels for step in due)])
            calls.sources.find(addresses_in("\n".join(step.text for step in due)))
            self.said[-1] = ToolMessage(answers=(*before, replace(answer, content=content, labels=labels)))

    def add(self, message: AssistantMessage, answers: ToolMessage) -> None:
        """Adds calls and their answers to what the next request holds."""
        self.said += [message, answers]
        self.rounds += 1

    def ask_again(self, completion: Completion) -> AskedAgain | None:
        """Returns how to ask the model again, if a completion is worth it; each way but a correction once in a turn.

        One that was cut off before it said anything gets more room; one without words is asked for them, or once more.
        Some servers call a tool all the same: the last request has none. Source: ollama/ollama issue 17921, 2026-11-27.
        """
        if len(self._journal.corrections) > self._corrections and self.calling(completion) is None:
            return "corrected"
        message, stop, before = completion.message, completion.stop, self._journal.asked_again
        is_mute = message is None or not clean_text(message.text).strip()
        has_found = any(answer.ok for one in self.said if isinstance(one, ToolMessage) for answer in one.answers)
        ways: dict[AskedAgain, bool] = {
            "with more room": stop is Stop.LENGTH and (is_mute or completion.is_cut_in_call),
            "without tools": stop is Stop.TOOLS and self.rounds == self._max_rounds,
            "to answer": stop in {Stop.END, Stop.LENGTH} and is_mute and has_found,
            "once more": stop is Stop.END and is_mute and not self.rounds,
        }
        return next((way for way, is_due in ways.items() if is_due and way not in before), None)

    def _request(self) -> Request:
        turn, settings, asked_again = self._turn, self._models.settings, self._journal.asked_again
        said = [self._size.shorten(message) for message in beside(turn.talk, self.said)]
        is_pressed = not asked_again.isdisjoint({"to answer", "without tools"})
        if is_pressed:
            said.append(prompt.NO_MORE_CALLS)
        elif "once more" in asked_again and not self.rounds:
            said.append(prompt.WAS_EMPTY)
        total_seconds = max(0.0, self._ends_at - asyncio.get_running_loop().time())
        return Request(
            system=self._models.system,
            messages=with_note((*self.history, *said), turn.note if self._size.has_note else ""),
            tools=() if "without tools" in asked_again else self._offers,
            may_call_tools=bool(self._offers) and self.rounds < self._max_rounds and not is_pressed,
            max_output_tokens=self._output_tokens(),
            timeout_seconds=min(settings.llm.timeout_seconds, total_seconds),
            total_seconds=total_seconds,
            model=turn.settings.model,
            conversation=f"c{turn.conversation}",
            persona=self._persona,
            temperature=self._temperature(),
        )

    def _temperature(self) -> float | None:
        """That of the persona, or else of the settings: `auto` is for talk until tools have run in the turn."""
        persona = self._turn.settings.persona
        if persona is not None and persona.temperature is not None:
            return persona.temperature
        wanted = self._models.settings.llm.temperature
        if wanted == "auto":
            return 0.2 if self.rounds else 0.7  # as the founding documents have it
        return None if wanted is None else float(wanted)

    def _fit(self) -> None:
        room, size, model = self._models.room, self._size, self._turn.settings.model
        self._offers = room.offers(self._all_offers, size, model, called=PastTurn(self.said).called)
        past = prompt.sendable_turns(self._turn.history, self._offers)
        past = past[len(past) - int(len(past) * size.history) :]
        most = self._models.settings.history.max_tokens
        tokens = room.history_tokens(most, size, model, beside_tokens=self._beside_tokens())
        self._shown = prompt.window(past, max_tokens=tokens)
        self.labels = join_labels([self.labels, *[past.labels for past in self._shown]])

    def _tokens(self) -> int:
        """Roughly how many tokens a request has, including room for its answer."""
        return self._beside_tokens() + sum([past.tokens for past in self._shown])

    def _beside_tokens(self) -> int:
        """The same without the earlier turns."""
        said = sum([prompt.estimated_tokens(self._size.shorten(message)) for message in self.said])
        texts = (self._models.system, self._persona, self._turn.note if self._size.has_note else "")
        own = sum(map(prompt.estimated_text_tokens, texts)) + sum(OFFER_TOKENS.each(self._offers))
        return said + own + self._output_tokens()

    def _output_tokens(self) -> int:
        more = _MORE_ROOM if "with more room" in self._journal.asked_again else 1
        most = self._models.settings.llm.max_output_tokens * more
        return self._models.room.output_tokens(most, self._size, self._turn.settings.model)

    def _shrink(self, error: ContextTooLong) -> bool:
        """Makes the request smaller after it was refused as too long; returns whether that was possible."""
        before = self._tokens()
        self._models.room.on_refusal(self._turn.settings.model, error.window_tokens)
        self.said = [without_opaque(message) for message in self.said]
        for size in SIZES[SIZES.index(self._size) + 1 :]:
            self._size = size
            self._fit()
            if self._tokens() < before:
                return True
        return False
