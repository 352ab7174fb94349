"""The seam to the models: a `Request` goes in, a `Completion` comes out; every vendor is an adapter of it.

The double that ships for this seam is `bot.models.offline`.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

from bot.errors import TooSlow
from bot.messages import AssistantMessage, Message


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class ToolOffer:
    """A tool as the model sees it: its name, its purpose, and the JSON schema of its arguments object."""

    name: str
    description: str
    parameters: Mapping[str, object]
    line: str = ""
    """What stands for it where it is deferred: its arguments and a few words; empty: it cannot be."""
    is_deferred: bool = False
    """Whether models see only its line, and the description on request (`bot.models.more_tools`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A failed try before the completion: for the ledger, never for the person."""

    provider: str
    model: str
    error: str
    """The name of the error's class."""
    latency_seconds: float
    cost_usd: Decimal | None = Decimal(0)
    """What it cost although it failed, as far as known; None if the price is unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request to a model. `system` and `tools` stay the same within a turn and, if possible, between turns.

    `messages` are whole turns (`store.history`), end with a user or tool message, and contain opaque parts only
    within the running turn.
    """

    system: str
    """The same for all conversations, so that they share it in a cache."""
    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...]
    may_call_tools: bool
    """False disables the tools but keeps their descriptions: vendors want both to understand the history."""
    max_output_tokens: int
    timeout_seconds: float
    """How long models may be silent, retries and pauses included: until the answer begins, and between its pieces. One
    that comes whole must come in this time."""
    total_seconds: float | None = None
    """For the whole completion, however steadily it comes; None means `timeout_seconds`."""
    model: str | None = None
    """The configured model that should answer, as `provider/model`; None means the first."""
    conversation: str
    """A stable opaque name of the conversation for the vendor; no number, no uuid."""
    persona: str = ""
    """This conversation's addition to the system prompt; may be empty."""
    is_one_off: bool = False
    """Whether none of it is ever asked again, so that caching it would cost and never pay."""
    on_piece: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)
    """Called with each piece of an answer that brings more of it."""

    @property
    def told_tools(self) -> tuple[ToolOffer, ...]:
        """The tools that are described in full."""
        return tuple(offer for offer in self.tools if not offer.is_deferred)

    @property
    def whole_system(self) -> str:
        """The system prompt including the conversation's addition."""
        return "\n\n".join(text for text in (self.system, self.persona) if text.strip())


class Stop(StrEnum):
    """The reason why a completion ended."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    """Cut off by the output limit: a tool call in it may be incomplete and is not run."""
    REFUSAL = "refusal"


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens of one completion. `input_tokens` is the whole prompt including its cached part; 0 if not reported."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_hour_tokens: int = 0
    """The part of them written to a cache with a lifetime of an hour."""
    output_tokens: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """A model's answer.

    `message` is None if it wrote nothing that can be kept (an empty answer, a bare refusal).
    """

    message: AssistantMessage | None
    stop: Stop
    usage: Usage
    provider: str
    model: str
    latency_seconds: float
    cost_usd: Decimal | None
    """None if the model's price is unknown."""
    attempts: tuple[Attempt, ...] = ()
    is_cut_in_call: bool = False
    """Whether the output limit cut it off within a tool call, which is then dropped."""
    is_estimated: bool = False
    """Whether `cost_usd` is an estimate, because the server did not report usage."""


class Provider(Protocol):
    """A model, or several that stand in for each other."""

    @property
    def name(self) -> str:
        """Its name in settings and the ledger: `anthropic`, `openai`, `offline`, `fallback`."""
        ...

    async def complete(self, request: Request) -> Completion:
        """The model's answer, in the request's time.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`; no other exception leaves an adapter.
        """
        ...

    async def aclose(self) -> None:
        """Closes connections; the provider is not used afterwards."""
        ...


class Deadline:
    """The deadline of a request, as a context that raises TimeoutError.

    A silence ends it, and so does its whole length; a model that goes on writing extends it.
    """

    def __init__(self, request: Request) -> None:
        """It begins now."""
        total_seconds = request.total_seconds
        self._loop = asyncio.get_running_loop()
        self._silent_seconds = request.timeout_seconds
        self._total_seconds = request.timeout_seconds if total_seconds is None else total_seconds
        self._began_at = self._heard_at = self._loop.time()
        self._timeout = asyncio.timeout_at(self._ends_at)
        self.has_heard = False
        """Whether any piece has come."""

    @property
    def _ends_at(self) -> float:
        """When it ends, on the loop's clock, unless another piece comes."""
        return min(self._heard_at + self._silent_seconds, self._began_at + self._total_seconds)

    @property
    def seconds(self) -> float:
        """How long ago it began."""
        return self._loop.time() - self._began_at

    def too_slow(self, *, provider: str, model: str) -> TooSlow:
        """The error for missing it: the request was accepted, so the service counts it, and does not say how much."""
        if not self.has_heard:
            story = f"gave no answer in {min(self._silent_seconds, self._total_seconds):g} s"
        elif self._heard_at + self._silent_seconds < self._began_at + self._total_seconds:
            story = f"wrote nothing more for {self._silent_seconds:g} s"
        else:
            story = f"did not come to an end in {self._total_seconds:g} s"
        error = TooSlow(f"{provider} {story}", provider=provider, model=model)
        error.cost_usd = None
        return error

    def extend(self) -> None:
        """Notes that a piece has come."""
        self.has_heard, self._heard_at = True, self._loop.time()
        if not self._timeout.expired():
            self._timeout.reschedule(self._ends_at)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._timeout.__aexit__(kind, error, trace)
