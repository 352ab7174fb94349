"""Several models that stand in for each other: a provider made of providers, with the retries.

A round asks the providers in order; those that are cooling down are skipped as long as another is ready; the first
completion ends it. One request goes through three rounds with a short pause in between, and through more as long as one
is merely busy. Each may take `Request.timeout_seconds`, or half of that and of what is left while another comes after
it; `Request.total_seconds` end everything. A request for one of the selectable models asks that one first; the others
stand in for it with their own models.

    Overloaded        asked again until the time is over, after the pause that it wants; a cool-down
    Unavailable       asked again in the next two rounds; a cool-down
    Unreadable        asked again in the next round
    TooSlow, BadKey   not asked again for this request; a cool-down, which is long after a refused key
    Rejected          not asked again for this request; how often in a row it refused is noted, because a model that
                      refuses everything is set up wrongly
    ContextTooLong    raised at once: the caller shortens the history
"""

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import KW_ONLY, dataclass, field, replace

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected, TooSlow, Unavailable, Unreadable
from bot.models.base import Completion, Provider, Request
from store import LedgerEntry

BACK_OFF_SECONDS = (0.5, 2.0, 10.0)
"""The pauses before the second, the third and each further round if no provider names one; jitter adds or subtracts up
to half. The further rounds ask only those that are busy."""

MAX_PAUSE_SECONDS = 10.0
"""One that fails and wants a longer pause is not asked again for the same request, unless it is merely busy."""

COOL_DOWN_SECONDS = 30.0
"""How long a provider that failed without naming a time is skipped."""

MAX_COOL_DOWN_SECONDS = 300.0
"""The most a `retry-after` can ask for, and the cool-down of a refused key, since the operator may fix either."""

_ROUNDS = {Overloaded: math.inf, TooSlow: 0, Unreadable: 1, Unavailable: 2}
"""How many more rounds may ask one that failed so; the first kind that fits counts; others are not asked again."""

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Seat:
    """A provider and until when, on the monotonic clock, it is skipped."""

    provider: Provider
    model: str
    cool_until: float = -math.inf
    refusals: int = 0
    """How many requests it has refused since its last answer."""


@dataclass(kw_only=True)
class _Run:
    """One request in progress: who is still worth asking, and what has failed so far."""

    request: Request
    ends_at: float
    hopeful: list[_Seat]
    rounds: int = 0
    errors: list[ProviderError] = field(default_factory=list[ProviderError])
    attempts: list[LedgerEntry] = field(default_factory=list[LedgerEntry])


@dataclass(eq=False)
class Fallback:
    """Asks the first provider that is fit to answer, and the others if it fails."""

    providers: Mapping[str, Provider]
    """In order, by `provider/model`."""
    others: Mapping[str, Provider] = field(default_factory=dict[str, Provider])
    """Further ones that a request may name (`Request.model`)."""
    _: KW_ONLY
    on_error: Callable[[ProviderError], object] = lambda _: None
    """Called with each failed try."""
    on_answer: Callable[[Completion], object] = lambda _: None
    """Called with each completion."""
    monotonic: Callable[[], float] = time.monotonic
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep
    fraction: Callable[[], float] = random.random
    """Returns 0 to 1, for the jitter."""

    name = "fallback"
    """A completion carries the name of the provider that made it."""

    def __post_init__(self) -> None:
        everyone = {**self.others, **self.providers}
        self._seats = {name: _Seat(provider, name.partition("/")[2]) for name, provider in everyone.items()}
        self._order = tuple(self._seats[name] for name in self.providers)

    async def complete(self, request: Request) -> Completion:
        """The first completion; raises the last error (the first if all are `Rejected`) or `ContextTooLong` at once."""
        total_seconds = request.timeout_seconds if request.total_seconds is None else request.total_seconds
        first = self._seats.get(request.model or "", self._order[0])
        hopeful = [first, *(seat for seat in self._order if seat is not first)]
        run = _Run(request=request, ends_at=self.monotonic() + total_seconds, hopeful=hopeful)
        while True:
            answer = await self._round(run)
            if isinstance(answer, Completion):
                return replace(answer, attempts=(*run.attempts, *answer.attempts)) if run.attempts else answer
            if not run.hopeful or self.monotonic() + answer >= run.ends_at:
                error = run.errors[0 if all(isinstance(error, Rejected) for error in run.errors) else -1]
                error.attempts = tuple(run.attempts)
                raise error
            await self.pause(answer)
            run.rounds += 1

    async def aclose(self) -> None:
        """Closes all providers, even if one of them fails to close."""
        async with AsyncExitStack() as stack:
            for seat in self._seats.values():
                stack.push_async_callback(seat.provider.aclose)

    async def _round(self, run: _Run) -> Completion | float:
        """Asks each that is ready, or all if none is; returns the seconds before the next round if every one failed."""
        now = self.monotonic()
        ready = [seat for seat in run.hopeful if seat.cool_until <= now] or [*run.hopeful]
        pauses: list[float] = []
        for followers, seat in zip(reversed(range(len(ready))), ready, strict=True):
            left_seconds = run.ends_at - self.monotonic()
            if run.errors and left_seconds <= 0:
                break
            # One that hangs must leave time for those after it, otherwise they could never make up for a time-out.
            share = 2 if followers else 1
            timeout_seconds = min(run.request.timeout_seconds, left_seconds) / share
            request = replace(run.request, timeout_seconds=timeout_seconds, total_seconds=left_seconds / share)
            try:
                completion = await seat.provider.complete(request)
            except ProviderError as error:
                self._note(seat, run, error)
                pause_seconds = self._pause_seconds(error, run)
                if pause_seconds is None:
                    run.hopeful.remove(seat)
                else:
                    pauses.append(pause_seconds)
            else:
                seat.cool_until, seat.refusals = -math.inf, 0
                self.on_answer(completion)
                return completion
        return min(pauses, default=0.0)  # 0: the next round asks only those that were skipped in this one

    def _note(self, seat: _Seat, run: _Run, error: ProviderError) -> None:
        """Notes a failed try; raises it if it was `ContextTooLong`."""
        kind, model = type(error).__name__, error.model or seat.model
        run.errors.append(error)
        tried = LedgerEntry(name=model, outcome=kind, provider=error.provider, cost_usd=error.cost_usd)
        run.attempts.append(tried)
        if isinstance(error, Rejected):
            seat.refusals += 1
            error.is_setup = seat.refusals > 1
        cool_seconds = 0.0
        wanted_seconds = error.retry_after_seconds
        if isinstance(error, BadKey):
            cool_seconds = MAX_COOL_DOWN_SECONDS
        elif isinstance(error, Overloaded | Unavailable) and not isinstance(error, Unreadable):
            wanted = COOL_DOWN_SECONDS if wanted_seconds is None else max(0.0, wanted_seconds)
            cool_seconds = min(wanted, MAX_COOL_DOWN_SECONDS)
        seat.cool_until = max(seat.cool_until, self.monotonic() + cool_seconds)
        self.on_error(error)
        level = logging.ERROR if kind in {"BadKey", "NoSuchModel"} else logging.WARNING
        _log.log(level, "%s (model %s) did not answer: %s (%s)", error.provider, model or "unknown", kind, error)
        if isinstance(error, ContextTooLong):
            error.attempts = tuple(run.attempts)
            raise error

    def _pause_seconds(self, error: ProviderError, run: _Run) -> float | None:
        """The pause before the same request may succeed at the same provider; None if it is not worth repeating."""
        rounds = next((rounds for kind, rounds in _ROUNDS.items() if isinstance(error, kind)), 0)
        longest = run.ends_at - self.monotonic() if isinstance(error, Overloaded) else MAX_PAUSE_SECONDS
        wanted_seconds = error.retry_after_seconds
        if run.rounds >= rounds or (wanted_seconds or 0.0) > longest:
            return None
        if wanted_seconds is not None:
            return max(0.0, wanted_seconds)
        return BACK_OFF_SECONDS[min(run.rounds, len(BACK_OFF_SECONDS) - 1)] * (0.5 + self.fraction())
