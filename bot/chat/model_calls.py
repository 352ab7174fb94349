"""Model calls: asks the models, and knows the cost however the call ends.

    answered ----> the completion, with an estimated cost if its server does not report usage
    failed ------> the error, with the likely cost of each try
    abandoned ---> the payer is told of the tries so far, including the one in progress
    killed ------> the next process finds what it costs by then, and charges it (`bot.chat.paid_calls`)

Left to others: whether the budget allows it (`bot.chat.budget`), recording it (`bot.chat.ledger_entries`).
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal

from bot.chat import prompt
from bot.chat.budget import Budget
from bot.chat.paid_calls import PaidCall
from bot.chat.room import OFFER_TOKENS
from bot.chat.work import waiting
from bot.errors import ProviderError
from bot.messages import IdentityCache
from bot.models.base import Attempt, Completion, OnText, Provider, Request


async def complete(
    provider: Provider,
    request: Request,
    budget: Budget,
    *,
    call: PaidCall,
    on_broken_off: Callable[[Attempt], None],
    on_text: OnText | None = None,
) -> Completion:
    """The completion, with its cost.

    Whoever ends `call` has recorded everything that it has cost. `on_broken_off` is called for each paid try once
    nobody waits for the answer any longer.

    Raises:
        ProviderError: one of its kinds, see `bot.errors`; `attempts` has the tries with their costs.
    """
    lost: list[Attempt] = []
    began = time.monotonic()
    if (asked := _question(request, budget)) is not None:
        call.begin(asked.cost_usd, name=asked.model, provider=asked.provider)
    try:
        async with waiting():
            completion = await provider.complete(replace(request, on_broken_off=lost.extend), on_text)
    except asyncio.CancelledError:
        if not lost:
            stopped = budget.broken_off(
                request.model,
                input_tokens=_tokens(request),
                seconds=time.monotonic() - began,
                max_output_tokens=request.max_output_tokens,
            )
            lost += [stopped] if stopped is not None else []
        broken_off = _with_costs(tuple(lost), request, budget)
        call.note_cost(_sum(broken_off))
        for attempt in broken_off:
            on_broken_off(attempt)
        raise
    except ProviderError as error:
        error.attempts = failed = _with_costs(failed_attempts(error), request, budget)
        call.note_cost(_sum(failed))
        raise
    if completion.attempts:
        completion = replace(completion, attempts=_with_costs(completion.attempts, request, budget))
    completion = _counted(completion, request, budget)
    call.note_cost(_sum((*completion.attempts, completion)))
    return completion


def _sum(paid: Iterable[Attempt | Completion]) -> Decimal | None:
    """Returns what these have cost; None if nobody knows."""
    known = [one.cost_usd for one in paid if one.cost_usd is not None]
    return sum(known, Decimal(0)) if known else None


def _question(request: Request, budget: Budget) -> Attempt | None:
    """The question, with what it costs even if nobody sees the answer; None: nothing, as far as known."""
    asked = budget.broken_off(request.model, input_tokens=_tokens(request), seconds=0, max_output_tokens=0)
    return asked if asked is not None and asked.cost_usd else None


def failed_attempts(error: ProviderError) -> tuple[Attempt, ...]:
    """The tries that led to an error."""
    return tuple(attempt for attempt in error.attempts if isinstance(attempt, Attempt))


def _counted(completion: Completion, request: Request, budget: Budget) -> Completion:
    """The completion with its cost, estimated if its server did not report usage."""
    usage, message = completion.usage, completion.message
    if usage.input_tokens and (usage.output_tokens or message is None):
        return completion
    written = 0 if message is None else prompt.estimated_tokens(message)
    return budget.with_estimate(
        completion,
        input_tokens=usage.input_tokens or _tokens(request),
        written_tokens=written,
        max_output_tokens=request.max_output_tokens,
    )


def _with_costs(attempts: tuple[Attempt, ...], request: Request, budget: Budget) -> tuple[Attempt, ...]:
    """The tries, with their likely costs in place of unknown ones."""
    if all(attempt.cost_usd is not None for attempt in attempts):
        return attempts
    asked, most = _tokens(request), request.max_output_tokens
    return tuple(budget.with_cost(one, input_tokens=asked, max_output_tokens=most) for one in attempts)


def _tokens(request: Request) -> int:
    """Roughly how many tokens a request has."""
    said = sum(_ESTIMATES.each(request.messages)) + sum(OFFER_TOKENS.each(request.tools))
    return prompt.estimated_text_tokens(request.whole_system) + said


_ESTIMATES = IdentityCache(prompt.estimated_tokens)
