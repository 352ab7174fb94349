"""Model calls: asks the models, and prices the question before and the answer after.

Left to others: whether the budget allows it (`bot.money.budgets`), writing it down (`bot.chat.journal`).
"""

from dataclasses import replace

from bot.chat import prompt
from bot.chat.room import OFFER_TOKENS
from bot.errors import ProviderError
from bot.messages import IdentityCache
from bot.models.base import Attempt, Completion, Provider, Request
from bot.money.budgets import Budget
from bot.signal.protocol import ModelAnswered
from store import LedgerEntry


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
        error.attempts = _with_costs(failed_attempts(error), request, budget)
        raise
    completion = replace(completion, attempts=_with_costs(completion.attempts, request, budget))
    completion = _counted(completion, request, budget)
    budget.complain(completion)
    return completion


def failed_attempts(error: ProviderError) -> tuple[Attempt, ...]:
    """The tries that led to an error."""
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


def _counted(completion: Completion, request: Request, budget: Budget) -> Completion:
    usage, message = completion.usage, completion.message
    if usage.input_tokens and (usage.output_tokens or message is None):
        return completion
    return budget.with_estimate(
        completion,
        input_tokens=usage.input_tokens or _tokens(request),
        written_tokens=0 if message is None else prompt.estimated_tokens(message),
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
