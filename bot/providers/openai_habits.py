"""What a compatible server was found to take, and what its refusals teach: pure.

A request that is refused for one of these is asked again in the other way, and the lesson is kept for the life of the
process. Left to others: asking (`bot.providers.openai`), the shapes (`openai_chat`, `openai_responses`).

Source: platform.openai.com, issue threads of vLLM, Ollama, llama.cpp and OpenRouter, 2026-11-22.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.messages import Message
from bot.providers import media

_LIMIT_NAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """How a server refused a request; `param` is empty where it does not name one."""

    code: str
    param: str
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Habits:
    """How one server wants to be asked."""

    limit_name: str
    """How it calls the output limit."""
    takes: media.Kinds
    """Which kinds of media its model can look at."""
    counts_streams: bool = True
    """Whether it knows the option that has it tell the usage at the end of a stream."""

    def after(self, refusal: Refusal, messages: Iterable[Message]) -> "Habits | None":
        """How to ask again after a refusal of these messages; None where there is no other way."""
        if refusal.code == "unsupported_parameter" and _is_about(refusal, self.limit_name):
            return replace(self, limit_name=_LIMIT_NAMES[self.limit_name])
        if self.counts_streams and _is_about(refusal, "stream_options"):
            return replace(self, counts_streams=False)
        refused = media.refused_kinds(refusal.words, media.kinds_in(messages) & self.takes)
        return replace(self, takes=self.takes - refused) if refused else None


def _is_about(refusal: Refusal, parameter: str) -> bool:
    return refusal.param == parameter or f"'{parameter}'" in refusal.words
