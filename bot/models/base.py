"""The seam to the models: a `Request` goes in, a `Completion` comes out; every vendor is an adapter of it.

The double that ships is `bot.models.offline`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import BeforeValidator

from bot.messages import AssistantMessage, Message
from store import LedgerEntry


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class ToolOffer:
    """A tool as the model sees it: its name, its purpose, and the JSON schema of its arguments object."""

    name: str
    description: str
    parameters: Mapping[str, object]
    line: str = ""
    """All that models see of it at first, in a list (`bot.models.tool_list`); empty: it is described in full."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request to a model. `system` and `tools` stay the same within a turn and, if possible, between turns."""

    system: str
    """The same for all conversations, so that they share it in a cache."""
    messages: tuple[Message, ...]
    """Whole turns that end with a user or tool message; opaque parts are in the running turn alone."""
    tools: tuple[ToolOffer, ...]
    may_call_tools: bool
    """False keeps the descriptions of the tools, which vendors want with a history that has calls."""
    max_output_tokens: int
    timeout_seconds: float
    """How long a model may take for the whole answer."""
    total_seconds: float | None = None
    """How long all may take together, and one at home alone, which may be slow; None means `timeout_seconds`."""
    model: str | None = None
    """The configured model that should answer, as `provider/model`; None means the first."""
    conversation: str
    """A stable opaque name of the conversation for the vendor; no number, no uuid."""
    persona: str = ""
    """This conversation's addition to the system prompt; may be empty."""
    temperature: float | None = None
    """How freely words are chosen, from 0 to 1; None, and where a model does not take it: its own way."""
    is_one_off: bool = False
    """Whether none of it is ever asked again, so that caching it would cost and never pay."""

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
    """A model's answer."""

    message: AssistantMessage | None
    """None if it wrote nothing that can be kept (an empty answer, a bare refusal)."""
    stop: Stop
    usage: Usage
    provider: str = ""
    model: str = ""
    latency_seconds: float = 0.0
    cost_usd: Decimal | None = None
    """None if the model's price is unknown."""
    attempts: Annotated[tuple[LedgerEntry, ...], BeforeValidator(lambda _: ())] = ()
    """The failed tries before it, for the ledger, which has them once a journal reads this back."""
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
        """The model's answer, in the request's time; raises nothing but a `ProviderError`, see `bot.errors`."""
        ...

    async def aclose(self) -> None:
        """Closes connections; the provider is not used afterwards."""
        ...
