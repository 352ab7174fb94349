"""The seam to the models: a `Request` goes in, a `Completion` comes out; every vendor is an adapter of it.

The double of this seam is `bot.providers.offline.provider`, which ships.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from bot.messages import AssistantMessage, Message


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOffer:
    """A tool as the model sees it: its name, what it is for, and the JSON schema of its arguments object."""

    name: str
    description: str
    parameters: Mapping[str, object]
    seldom: str = ""
    """A line that stands for it where it is told in full only when wanted (`bot.providers.more_tools`); empty: always
    in full."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A try that failed before the completion came: for the ledger, never for the person."""

    provider: str
    model: str
    error: str
    """The name of the error's class."""
    latency_seconds: float
    cost_usd: Decimal | None = Decimal(0)
    """What it has cost although it failed, as far as is known; None where the price is not."""


OnBrokenOff = Callable[[Sequence[Attempt]], None]
"""Is told of all tries so far when nobody waits for the answer any more; the one under way then is the last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What a model is asked. `system` and `tools` stay the same within a turn and, where possible, between turns.

    `messages` are whole turns (`store.history`), end with a user or tool message, and hold opaque parts only
    within the running turn.
    """

    system: str
    """The same for all conversations, so that they share its place in a cache."""
    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...]
    may_call_tools: bool
    """False switches the tools off while they stay described: vendors want both to understand the history."""
    max_output_tokens: int
    timeout_seconds: float
    """For the whole completion, attempts and pauses included."""
    model: str | None = None
    """Which of the configured models is to answer, as `provider/model`; None means the first."""
    conversation: str
    """A stable opaque name of the conversation for the vendor; no number, no uuid."""
    persona: str = ""
    """What this conversation adds to the system prompt; empty: nothing."""
    is_one_off: bool = False
    """Whether nothing of it is asked again, so that to keep it in a cache would cost and never pay."""
    on_broken_off: OnBrokenOff = field(default=lambda _: None, compare=False, repr=False)
    """Called by a provider that tries several times, before it lets a cancellation through."""

    @property
    def told_tools(self) -> tuple[ToolOffer, ...]:
        """The tools that are told in full."""
        return tuple(offer for offer in self.tools if not offer.seldom)

    @property
    def whole_system(self) -> str:
        """The system prompt with what the conversation adds."""
        return "\n\n".join(text for text in (self.system, self.persona) if text.strip())


class Stop(StrEnum):
    """Why a completion ended."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    """Cut off by the output limit: a tool call in it may be incomplete and is not run."""
    REFUSAL = "refusal"


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens of one completion. `input_tokens` is the whole prompt, cached part included; 0 where not told."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_hour_tokens: int = 0
    """That part of them which was written to a cache that lives an hour."""
    output_tokens: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """What a model answered.

    `message` is None when it wrote nothing that can be kept (an empty answer, a bare refusal).
    """

    message: AssistantMessage | None
    stop: Stop
    usage: Usage
    provider: str
    model: str
    latency_seconds: float
    cost_usd: Decimal | None
    """None when the price of the model is unknown."""
    attempts: tuple[Attempt, ...] = ()
    is_cut_in_call: bool = False
    """Whether the output limit cut it off within a call of a tool, which is left out then."""
    is_estimated: bool = False
    """Whether `cost_usd` is an estimate: its server has not told what was used."""


OnText = Callable[[str], None]
"""Is called with the words of the answer so far, whenever there are more. They may still turn out not to be the answer:
another provider begins again, or tools are called after them."""


class Provider(Protocol):
    """A model, or several that stand in for each other."""

    @property
    def name(self) -> str:
        """How settings and the ledger call it: `anthropic`, `openai`, `offline`, `fallback`."""
        ...

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The model's answer, within `request.timeout_seconds`. With `on_text` it is streamed; the result is the same.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`; no other exception leaves an adapter.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; the provider is not used afterwards."""
        ...
