"""What fits into a model's context window: how much history, which tools, how long an answer; learnt from refusals.

    refused as too long --> one size smaller: half the history, a quarter, none and few tools, no tools at all
    it names its window --> tools, answer and history share that window from then on; the same if its server reported
                            it unasked (`bot.models.capabilities`)

Each turn begins with the largest size. Here the models are asked, too, and each question is priced before it is asked
and after. Left to others: whether the budget allows it (`bot.money.budgets`), writing it down (`bot.chat.journal`).
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.chat import prompt
from bot.chat.prompt import PastTurn
from bot.errors import ProviderError
from bot.messages import IdentityCache, Message, ToolAnswer, ToolMessage, without_opaque
from bot.models.base import Attempt, Completion, Provider, Request, ToolOffer
from bot.models.capabilities import Lesson, ModelLessons
from bot.models.more_tools import NAME as MORE_TOOLS
from bot.models.wire import encode_json
from bot.money.budgets import Budget
from bot.money.ledger import attempt_entries
from bot.signal.protocol import ModelAnswered
from store import LedgerEntry

MIN_OUTPUT_TOKENS = 256

_TOOLS_SHARE = 0.3
"""All default tools in a window of 8,192 tokens, and a window of 4,096 still has room for earlier turns."""
_AMPLE_WINDOW = 200_000
"""A window with room for all tools, however many: they need not be counted with each question."""
_OUTPUT_SHARE = 0.25
_HEAD_BYTES = 32


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

    def part_of(self, turns: Sequence[PastTurn]) -> Sequence[PastTurn]:
        """The newest turns, as many as this size includes."""
        return turns[len(turns) - int(len(turns) * self.history) :]

    def shorten(self, message: Message) -> Message:
        """A message of the running turn with tool answers cut to this size."""
        if self.max_answer_characters is None:
            return message
        if not isinstance(message, ToolMessage):
            return without_opaque(message)
        return replace(message, answers=tuple(map(self._shortened, message.answers)))

    def _shortened(self, answer: ToolAnswer) -> ToolAnswer:
        if self.max_answer_characters is None or len(answer.content) <= self.max_answer_characters:
            return answer
        cut = {"ok": answer.ok, "untrusted_data": {"beginning": answer.content[: self.max_answer_characters]}}
        return replace(answer, content=json.dumps(cut, ensure_ascii=False))


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
        """The tools that fit, in their order: the first in full, the rest as lines if that is possible.

        Which ones are in full does not depend on the question: once tools change, a server computes all that follows
        them again, which takes longer than the answer on a small machine. If not even the lines fit, those `called` in
        this turn stay, then the first.
        """
        window = self.window_tokens(model)
        if size.max_tools is None and (window is None or window >= _AMPLE_WINDOW):
            return tuple(offers)
        left = sum(OFFER_TOKENS.each(offers)) if window is None else int(window * _TOOLS_SHARE)
        limit = len(offers) if size.max_tools is None else size.max_tools
        can_defer = any(offer.name == MORE_TOOLS for offer in offers)
        kept: dict[str, ToolOffer] = {}
        for offer in sorted(offers, key=lambda offer: (offer.name != MORE_TOOLS, offer.name not in called)):
            shortest = _DEFERRED.of(offer) if can_defer and offer.line else offer
            if len(kept) < limit and (tokens := OFFER_TOKENS.of(shortest)) <= left:
                kept[offer.name] = shortest
                left -= tokens
        in_order = [offer for offer in offers if offer.name in kept]
        for offer in in_order:
            more = OFFER_TOKENS.of(offer) - OFFER_TOKENS.of(kept[offer.name])
            if more <= left:
                kept[offer.name] = offer
                left -= more
        return tuple(kept[offer.name] for offer in in_order)

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
    if offer.is_deferred:
        return prompt.estimated_text_tokens(f"- {offer.line}\n")
    text = offer.description + encode_json(offer.parameters).decode()
    return prompt.estimated_text_tokens(text) + _HEAD_BYTES // 3


OFFER_TOKENS = IdentityCache(_offer_tokens)
"""A rough count of the tokens of a tool's description, or of its line."""


_DEFERRED: IdentityCache[ToolOffer, ToolOffer] = IdentityCache(lambda offer: replace(offer, is_deferred=True))
"""The tools as deferred ones; always the same objects, because other caches depend on that."""


def question_row(request: Request, budget: Budget) -> LedgerEntry:
    """The row to reserve in the ledger before the models are asked."""
    return budget.question(request.model, input_tokens=_tokens(request), max_output_tokens=request.max_output_tokens)


async def complete(provider: Provider, request: Request, budget: Budget) -> Completion:
    """The completion, with its cost: an estimate if its server does not report usage.

    Raises:
        ProviderError: one of its kinds, see `bot.errors`; `attempts` has the tries with their likely costs.
    """
    try:
        completion = await provider.complete(request)
    except ProviderError as error:
        error.attempts = _with_costs(_attempts(error), request, budget)
        raise
    completion = replace(completion, attempts=_with_costs(completion.attempts, request, budget))
    usage, message = completion.usage, completion.message
    if not usage.input_tokens or not (usage.output_tokens or message is None):
        written = 0 if message is None else prompt.estimated_tokens(message)
        asked = usage.input_tokens or _tokens(request)
        completion = budget.with_estimate(completion, input_tokens=asked, written_tokens=written)
    budget.complain(completion)
    return completion


def failed_entries(error: ProviderError) -> tuple[LedgerEntry, ...]:
    """The rows of the tries that led to an error."""
    return attempt_entries(_attempts(error))


def _attempts(error: ProviderError) -> tuple[Attempt, ...]:
    return tuple(attempt for attempt in error.attempts if isinstance(attempt, Attempt))


def answer_progress(completion: Completion) -> ModelAnswered:
    """The step that people may watch: which model has answered, at which cost, and in whose place."""
    cost, answered_by = completion.cost_usd, f"{completion.provider} {completion.model}".strip()
    tried = (f"{attempt.provider} {attempt.model}".strip() for attempt in completion.attempts)
    return ModelAnswered(
        provider=completion.provider,
        model=completion.model,
        input_tokens=completion.usage.input_tokens,
        output_tokens=completion.usage.output_tokens,
        cost_usd="unknown" if cost is None else f"{cost:f}",
        latency_seconds=completion.latency_seconds,
        instead_of=next((one for one in tried if one != answered_by), ""),
    )


def _with_costs(attempts: tuple[Attempt, ...], request: Request, budget: Budget) -> tuple[Attempt, ...]:
    if all(attempt.cost_usd is not None for attempt in attempts):
        return attempts
    asked, most = _tokens(request), request.max_output_tokens
    return tuple(budget.with_cost(one, input_tokens=asked, max_output_tokens=most) for one in attempts)


def _tokens(request: Request) -> int:
    """Roughly how many tokens a request has."""
    said = sum(_ESTIMATES.each(request.messages)) + sum(OFFER_TOKENS.each(request.tools))
    return prompt.estimated_text_tokens(request.whole_system) + said


_ESTIMATES = IdentityCache(prompt.estimated_tokens)
