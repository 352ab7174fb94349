"""What a compatible server accepts, and what its refusals teach: pure.

A request refused for one of these reasons is asked again the other way, and the lesson is kept (see
`bot.models.capabilities`). Left to others: asking (`bot.models.openai.provider`), the formats (`chat`,
`responses`).

Source: platform.openai.com, issue threads of vLLM, Ollama, llama.cpp and OpenRouter, 2026-11-22.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast, get_args

from bot.models import media, wire
from bot.models.base import Request
from bot.models.capabilities import Capabilities

ToolMode = Literal["auto", "native", "prompt"]
"""How tools are offered: `native`; `prompt`: described and called in words; `auto`: natively until refused."""

_UNKNOWN = {"unsupported_parameter", "unknown_parameter"}
_LIMIT_NAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

_NO_TOOLS = re.compile(
    r"(?:not|n't) (?:yet )?support(?: native| any| the use of)? (?:tool(?!_choice)|function[ _-]?call)"
    r"|\b(?:tools?|(?:tool|function)[ _-]?(?:call(?:s|ing)?|use))[`'\"]{0,2} (?:is|are)"
    r" (?:currently )?(?:not |un)(?:supported|enabled|available)"
    r"|no endpoints found that support tool use|tool choice requires|tools param requires"
    r"|unsupported (?:param: tools|tool_call_parser)|unable to generate parser for this template",
    re.IGNORECASE,
)
"""How servers refuse tools if their model supports none, or if they were not started for them.

Source: issue threads, 2026-11-22: Ollama (400 "llama3:8b does not support tools"), vLLM (400 ""auto" tool choice
requires --enable-auto-tool-choice and --tool-call-parser to be set"), llama.cpp (500 "tools param requires --jinja
flag", before that "Unsupported param: tools"), SGLang ("Unsupported tool_call_parser: None"), OpenRouter (404 "No
endpoints found that support tool use."), Groq ("`tool calling` is not supported with this model"). llama.cpp's build
0c1e570, 2026-11-26: 400 "Unable to generate parser for this template.", for Command R+ and lists as arguments.
"""

_USE_RESPONSES = re.compile(r"\buse (?:the )?`?/?v1/responses\b|\bonly supported in v1/responses\b", re.IGNORECASE)
"""How servers say that their model needs the Responses API, always or for tools.

Source: OpenAI's own words for gpt-5.6 with tools and for o1-pro, as issue threads quote them, 2026-11-22.
"""

_MISSING = {
    "reasoning_content": re.compile(
        r"missing [`'\"]?reasoning_content|reasoning_content[`'\"]? (?:is missing|in the thinking mode must)",
        re.IGNORECASE,
    ),
    "thought_signature": re.compile(r"missing a [`'\"]?thought_signature", re.IGNORECASE),
}
"""How servers demand the thoughts that led to a call, if those are another model's or are gone.

Source: issue threads, 2026-11-24: DeepSeek ("Missing `reasoning_content` field in the assistant message", "The
`reasoning_content` in the thinking mode must be passed back to the API."), Kimi ("thinking is enabled but
reasoning_content is missing in assistant tool call message"), Gemini, also behind OpenRouter ("Function call is missing
a thought_signature").
"""
_NO_SYSTEM = re.compile(r"system role (?:is )?not supported|unexpected role[^\w]+system", re.IGNORECASE)
"""How templates without a system message refuse one: Gemma 2's, Mistral's first. Source: issue threads, 2026-11-24."""
_NO_THINKING = re.compile(r"does not support thinking", re.IGNORECASE)
"""How Ollama 0.17.4 refuses to set how much a model thinks, if it cannot; observed, 2026-11-24."""
_ALTERNATE = re.compile(r"conversation roles must alternate", re.IGNORECASE)
"""How templates without tool answers refuse one: those of Gemma 2 and Mistral's first."""
_ONE_CALL = re.compile(r"only supports single tool[- ]calls? at once", re.IGNORECASE)
"""How the templates of Llama 3 refuse several calls in one answer.

Source for both: llama-server of llama.cpp, build 0c1e570, with these templates; observed, 2026-11-24.
"""
_NO_STREAM = re.compile(
    r"cannot use tools with stream|stream\w*[^.]{0,60}\bnot (?:yet )?(?:supported|available|implemented)"
    r"|not support stream|must be verified to stream",
    re.IGNORECASE,
)
"""How servers refuse to answer in pieces: llama.cpp's until May 2025 if tools are offered, OpenAI's newest models for
organizations that have not shown who they are.

Source: issue threads, 2026-11-26: 500 "Cannot use tools with stream", 400 "Your organization must be verified to stream
this model".
"""
_CARRIED = re.compile(r"reasoning_content|reasoning_details|extra_content")


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A server's refusal of a request; `param` is empty if it names none."""

    code: str
    param: str
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Habits:
    """The way in which one server wants to be asked."""

    limit_name: str
    """Its name for the output limit."""
    takes: media.Kinds
    """The kinds of media its model can look at."""
    counts_streams: bool = True
    """Whether it accepts the option to report usage at the end of a stream."""
    takes_streams: bool = True
    """Whether it can answer in pieces what it is asked."""
    tool_mode: ToolMode = "native"
    takes_effort: bool = True
    """Whether it can be told how much its model should think."""
    max_output_tokens: int | None = None
    """The longest answer that its model gives; None if unknown."""
    speaks_responses: bool = False
    """Whether it is asked through the Responses API instead of chat completions."""
    marks_cache: bool = False
    """Whether its cache is told what to keep; otherwise it recognises beginnings by itself, free of charge."""
    takes_system: bool = True
    """Whether its model's template supports a system message; if not, that text precedes the first question."""
    takes_parallel_calls: bool = True
    """Whether its model's template supports several calls in one answer; if not, they are sent one after another."""
    carries: bool = True
    """Whether it accepts back what it returned besides words and calls."""
    fills: str = ""
    """What to add to calls that lack what it demands: one of `_MISSING`; empty: nothing."""

    def after(self, refusal: Refusal, request: Request) -> "Habits | None":
        """Returns how to ask again after a refusal of this request; None if there is no other way."""
        if not self.speaks_responses and _USE_RESPONSES.search(refusal.words):
            return replace(self, speaks_responses=True, tool_mode="native")
        if (learned := self._after_parameter(refusal, request)) is not None:
            return learned
        if self.tool_mode == "auto" and _is_about_tools(refusal, request):
            return replace(self, tool_mode="prompt")
        refused = media.refused_kinds(refusal.words, media.kinds_in(request.messages) & self.takes)
        return replace(self, takes=self.takes - refused) if refused else None

    def as_told(self, told: Capabilities, *, surely_takes: media.Kinds) -> "Habits":
        """These habits, adjusted to what the server says about its model; settings take precedence."""
        habits = self
        if told.pictures is False:
            habits = replace(habits, takes=habits.takes - {media.PICTURE} | surely_takes)
        if told.tools is False and habits.tool_mode == "auto":
            habits = replace(habits, tool_mode="prompt")
        if told.thinking is False:
            habits = replace(habits, takes_effort=False)
        if told.system is False:
            habits = replace(habits, takes_system=False)
        if told.parallel_calls is False:
            habits = replace(habits, takes_parallel_calls=False)
        return habits

    def since(self, before: "Habits", own: "Habits") -> "Habits":
        """Applies only what has changed since `before` to `own`."""
        pairs = ((field.name, getattr(self, field.name), getattr(before, field.name)) for field in fields(Habits))
        changes = {name: now for name, now, was in pairs if now != was and name != "takes"}
        return replace(own, takes=own.takes - (before.takes - self.takes), **changes)

    def _after_parameter(self, refusal: Refusal, request: Request) -> "Habits | None":
        """Returns how to ask again if one parameter of the request was refused; None if that was not the reason."""
        most = wire.max_output_tokens(refusal.words, request)
        is_unknown = refusal.code in _UNKNOWN
        missing = next((name for name, words in _MISSING.items() if words.search(refusal.words)), "")
        ways = (
            (bool(missing) and not self.fills, {"fills": missing}),
            (not missing and self.carries and _CARRIED.search(refusal.words) is not None, {"carries": False}),
            (
                refusal.code == "unsupported_parameter" and _is_about(refusal, self.limit_name),
                {"limit_name": _LIMIT_NAMES[self.limit_name]},
            ),
            (
                self.takes_effort
                and (
                    (is_unknown and _is_about(refusal, "reasoning_effort")) or bool(_NO_THINKING.search(refusal.words))
                ),
                {"takes_effort": False},
            ),
            (most is not None, {"max_output_tokens": most}),
            (self.takes_system and _NO_SYSTEM.search(refusal.words) is not None, {"takes_system": False}),
            (
                self.takes_parallel_calls and _ONE_CALL.search(refusal.words) is not None,
                {"takes_parallel_calls": False},
            ),
            (self.counts_streams and _is_about(refusal, "stream_options"), {"counts_streams": False}),
            (
                self.takes_streams and (refusal.param == "stream" or bool(_NO_STREAM.search(refusal.words))),
                {"takes_streams": False},
            ),
            (self.marks_cache and "prompt_cache" in f"{refusal.param} {refusal.words}", {"marks_cache": False}),
        )
        return next((replace(self, **changes) for applies, changes in ways if applies), None)


def lessons_of(first: Habits, learned: Habits) -> dict[str, tuple[Any, Any]]:
    """The difference as JSON values: for each changed habit, its first value and its new one."""
    pairs = {field.name: (_plain(first, field.name), _plain(learned, field.name)) for field in fields(Habits)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def with_lessons(first: Habits, lessons: Mapping[str, Any]) -> Habits:
    """The habits with earlier lessons, as far as their first values still match: newer settings take precedence."""
    known = {field.name for field in fields(Habits)}
    habits = first
    for name, pair in lessons.items():
        match pair:
            case [was, now] if name in known and was == _plain(first, name) and _is_like(first, name, now):
                habits = replace(habits, **{name: frozenset(now) if name == "takes" else now})
            case _:
                pass
    return habits


def _plain(habits: Habits, name: str) -> Any:
    value = getattr(habits, name)
    return sorted(cast("frozenset[str]", value)) if isinstance(value, frozenset) else value


def _is_like(habits: Habits, name: str, value: Any) -> bool:
    """Whether a habit can have this value."""
    match name:
        case "limit_name":
            return value in _LIMIT_NAMES
        case "tool_mode":
            return value in get_args(ToolMode)
        case "takes":
            return isinstance(value, list) and set(cast("list[object]", value)) <= media.ALL
        case "max_output_tokens":
            return type(value) is int and value > 0
        case _:
            return type(value) is type(getattr(habits, name))


def _is_about_tools(refusal: Refusal, request: Request) -> bool:
    if any(message.role == "tool" for message in request.messages) and _ALTERNATE.search(refusal.words):
        return True
    is_unknown = refusal.code == "unsupported_parameter" and _is_about(refusal, "tools")
    return bool(request.tools) and (is_unknown or _NO_TOOLS.search(refusal.words) is not None)


def _is_about(refusal: Refusal, parameter: str) -> bool:
    return refusal.param == parameter or f"'{parameter}'" in refusal.words
