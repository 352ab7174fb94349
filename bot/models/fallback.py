"""Several models that stand in for each other: a provider made of providers, with the retries.

One request goes through three rounds with a short pause in between, and through more as long as one is merely busy. A
round asks the providers in order; those that are cooling down are skipped as long as another is ready; the first
completion ends it. A failed provider cools down, so that the next requests skip it. Together they may be silent for
`Request.timeout_seconds`, of which each may take half of what is left, and the last of a round all of it; the time in
which one writes or is busy does not count, and `Request.total_seconds` end everything. A request for one of the
selectable models asks that one first; the others stand in for it with their own models.

    Overloaded                 the next provider; asked again until the time is over, after the pause that it wants
    Unavailable                the next provider; asked again in the next two rounds
    Unreadable                 the next provider; asked again in the next round alone, no cool-down
    BadKey                     the next provider; not asked again for this request, a long cool-down
    Rejected                   the next provider; not asked again for this request, no cool-down; how often in a row it
                               refused is noted, because a model that refuses everything is set up wrongly
    ContextTooLong             raised at once: the caller shortens the history

Left to others: what a vendor's failures mean (its adapter), what people are told about them (`bot.i18n.phrases`).
"""

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from bot.errors import (
    BadKey,
    ContextTooLong,
    NoSuchModel,
    Overloaded,
    ProviderError,
    Rejected,
    Unavailable,
    Unreadable,
)
from bot.models.base import Attempt, Completion, Provider, Request

BACK_OFF_SECONDS = (0.5, 2.0)
"""The pauses before the second and third round if no provider names one; jitter adds or subtracts up to half."""

BUSY_SECONDS = 10.0
"""The same before each further round, which asks only those that are busy."""

MAX_PAUSE_SECONDS = 10.0
"""One that fails and wants a longer pause is not asked again for the same request, unless it is merely busy."""

COOL_DOWN_SECONDS = 30.0
"""How long a provider that failed without naming a time is skipped."""

MAX_COOL_DOWN_SECONDS = 300.0
"""The most a `retry-after` can ask for, and the cool-down of a refused key, since the operator may fix either."""

_TRANSIENT = (Overloaded, Unavailable)

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Seat:
    """A provider and until when, on the monotonic clock, it is skipped."""

    provider: Provider
    model: str = ""
    """Its model, if it has a name among the choices; empty if unknown."""
    cool_until: float = -math.inf
    refusals: int = 0
    """How many requests it has refused since its last answer."""


@dataclass(kw_only=True)
class _Run:
    """One request in progress: its deadlines, who is still worth asking, and what has failed so far."""

    request: Request
    silent_until: float
    """Grows by the time in which a model wrote or was busy."""
    ends_at: float
    rounds: int = 0
    hopeful: list[_Seat]
    errors: list[ProviderError] = field(default_factory=list[ProviderError])
    attempts: list[Attempt] = field(default_factory=list[Attempt])

    def speaking_error(self) -> ProviderError:
        """The error that represents all, with all tries attached: the first if all were rejected, else the last."""
        all_rejected = all(isinstance(error, Rejected) for error in self.errors)
        error = self.errors[0 if all_rejected else -1]
        error.attempts = tuple(self.attempts)
        return error


class Fallback:
    """Asks the first provider that is fit to answer, and the others if it fails.

    `choices` are the providers of the models a request may name (`Request.model`), which may include some of
    `providers`. A name that is missing, because the operator removed it, means the first as usual.

    `on_error` is called with each failed try, `on_answer` with each completion.

    `monotonic`, `pause` and `fraction` (0 to 1, for the jitter) are replaced by tests.
    """

    name = "fallback"
    """A completion carries the name of the provider that made it."""

    def __init__(
        self,
        providers: Sequence[Provider],
        *,
        choices: Mapping[str, Provider] | None = None,
        on_error: Callable[[ProviderError], object] = lambda _: None,
        on_answer: Callable[[Completion], object] = lambda _: None,
        monotonic: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        fraction: Callable[[], float] = random.random,
    ) -> None:
        if not providers:
            raise ValueError("a fallback needs at least one provider")
        names = {id(provider): name.partition("/")[2] for name, provider in (choices or {}).items()}
        self._seats = tuple(_Seat(provider, names.get(id(provider), "")) for provider in providers)
        seated = {id(seat.provider): seat for seat in self._seats}
        self._chosen = {
            name: seated.get(id(provider)) or _Seat(provider, names[id(provider)])
            for name, provider in (choices or {}).items()
        }
        self._on_error = on_error
        self._on_answer = on_answer
        self._monotonic = monotonic
        self._pause = pause
        self._fraction = fraction

    async def complete(self, request: Request) -> Completion:
        """The first completion that a provider gives; its `attempts` lists the tries that failed.

        Raises:
            ContextTooLong: at once, from whichever provider says so; `attempts` is set.
            ProviderError: every try failed: the last error, or the first if all were `Rejected`; `attempts` is set.
        """
        now, total_seconds = self._monotonic(), request.total_seconds
        first = self._chosen.get(request.model or "", self._seats[0])
        run = _Run(
            request=request,
            silent_until=now + request.timeout_seconds,
            ends_at=now + (request.timeout_seconds if total_seconds is None else total_seconds),
            hopeful=[first, *(seat for seat in self._seats if seat is not first)],
        )
        failed_before = 0
        while (completion := await self._round(run)) is None:
            wait_seconds = self._wait_seconds(run, run.errors[failed_before:])
            if wait_seconds is None:
                raise run.speaking_error()
            failed_before = len(run.errors)
            await self._pause(wait_seconds)
        return replace(completion, attempts=(*run.attempts, *completion.attempts)) if run.attempts else completion

    async def aclose(self) -> None:
        """Closes all providers, even if one of them fails to close."""
        async with AsyncExitStack() as stack:
            for seat in dict.fromkeys([*self._seats, *self._chosen.values()]):
                stack.push_async_callback(seat.provider.aclose)

    async def _round(self, run: _Run) -> Completion | None:
        """Asks each that is ready, or all if none is; None if every one failed or the time is up."""
        run.rounds += 1
        now = self._monotonic()
        ready = [seat for seat in run.hopeful if seat.cool_until <= now] or [*run.hopeful]
        for followers, seat in zip(reversed(range(len(ready))), ready, strict=True):
            left_seconds = min(run.silent_until, run.ends_at) - self._monotonic()
            if run.errors and left_seconds <= 0:
                return None
            # One that hangs must leave time for those after it, otherwise they could never make up for a time-out.
            completion = await self._try(seat, run, left_seconds / 2 if followers else left_seconds)
            if completion is not None:
                seat.cool_until, seat.refusals = -math.inf, 0
                self._on_answer(completion)
                return completion
        return None

    async def _try(self, seat: _Seat, run: _Run, timeout_seconds: float) -> Completion | None:
        """Asks one; None if it failed, which is then recorded in the run and at its seat."""
        began_at = heard_at = self._monotonic()

        def hear() -> None:
            nonlocal heard_at
            heard_at = self._monotonic()
            run.request.on_piece()

        total_seconds = max(timeout_seconds, run.ends_at - began_at)
        request = replace(run.request, timeout_seconds=timeout_seconds, total_seconds=total_seconds, on_piece=hear)
        try:
            return await seat.provider.complete(request)
        except ProviderError as error:
            run.silent_until += (self._monotonic() if isinstance(error, Overloaded) else heard_at) - began_at
            self._note(seat, run, error, latency_seconds=self._monotonic() - began_at)
            if isinstance(error, ContextTooLong):
                error.attempts = tuple(run.attempts)
                raise
            return None

    def _note(self, seat: _Seat, run: _Run, error: ProviderError, *, latency_seconds: float) -> None:
        kind = type(error).__name__
        run.errors.append(error)
        run.attempts.append(
            Attempt(
                provider=error.provider,
                model=error.model or seat.model,
                error=kind,
                latency_seconds=latency_seconds,
                cost_usd=error.cost_usd,
            )
        )
        if isinstance(error, Rejected):
            seat.refusals += 1
            error.times = seat.refusals
        if not self._is_worth_repeating(error, run):
            run.hopeful.remove(seat)
        seat.cool_until = max(seat.cool_until, self._monotonic() + _cool_down_seconds(error))
        self._on_error(error)
        level = logging.ERROR if isinstance(error, BadKey | NoSuchModel) else logging.WARNING
        _log.log(level, "%s (model %s) did not answer: %s (%s)", error.provider, error.model or "unknown", kind, error)

    def _is_worth_repeating(self, error: ProviderError, run: _Run) -> bool:
        """Whether the same request may succeed at the same provider before a person loses patience."""
        pause_seconds = error.retry_after_seconds or 0.0
        if isinstance(error, Overloaded):
            return pause_seconds < run.ends_at - self._monotonic()
        most_rounds = 1 if isinstance(error, Unreadable) else len(BACK_OFF_SECONDS)
        return run.rounds <= most_rounds and isinstance(error, _TRANSIENT) and pause_seconds <= MAX_PAUSE_SECONDS

    def _wait_seconds(self, run: _Run, errors: Sequence[ProviderError]) -> float | None:
        """The pause before the next round, which asks `run.hopeful`; None if there must be no further round."""
        if not run.hopeful:
            return None
        back_off_seconds = BACK_OFF_SECONDS[run.rounds - 1] if run.rounds <= len(BACK_OFF_SECONDS) else BUSY_SECONDS
        jittered_seconds = back_off_seconds * (0.5 + self._fraction())
        pauses = [
            _asked_pause_seconds(error, jittered_seconds) for error in errors if self._is_worth_repeating(error, run)
        ]
        # There is nothing to wait for if the next round asks only those that were skipped in this one.
        wait_seconds = min(pauses, default=0.0)
        if any(isinstance(error, Overloaded) for error in errors):
            run.silent_until += wait_seconds
        return wait_seconds if self._monotonic() + wait_seconds < min(run.silent_until, run.ends_at) else None


def _asked_pause_seconds(error: ProviderError, otherwise_seconds: float) -> float:
    return otherwise_seconds if error.retry_after_seconds is None else max(0.0, error.retry_after_seconds)


def _cool_down_seconds(error: ProviderError) -> float:
    if isinstance(error, BadKey):
        return MAX_COOL_DOWN_SECONDS
    if isinstance(error, Unreadable) or not isinstance(error, _TRANSIENT):
        return 0.0
    return min(_asked_pause_seconds(error, COOL_DOWN_SECONDS), MAX_COOL_DOWN_SECONDS)
