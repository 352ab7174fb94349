"""Shared by all vendors' formats: encodes JSON, reads arguments and refusals, builds an answer of its parts."""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite, nan
from typing import Annotated, TypeVar, cast

import json_repair
from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic_core import to_json

from bot.errors import BadKey, ContextTooLong, NoSuchModel, Overloaded, ProviderError, Rejected, Unavailable, Unreadable
from bot.messages import AssistantMessage, AssistantPart, CallId, IdentityCache, Message, Opaque, Text, ToolCall
from bot.models.base import Completion, Stop, ToolOffer, Usage

_MAX_MENDED_CHARS = 4_000


class Wire(BaseModel):
    """The base of vendors' answers: ignores unknown fields, and shows no input in errors, as a model wrote it."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


def _believable(count: object) -> int:
    whole = int(count) if isinstance(count, int) or (isinstance(count, float) and isfinite(count)) else 0
    return min(max(whole, 0), 10**12)


def _object_or_none(value: object) -> object:
    return cast("object", value) if isinstance(value, dict | Wire) else None


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else str(value) if type(value) is int else None


_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

# What an answer says besides its words and calls must not cost the answer: it is paid for.
Count = Annotated[int, BeforeValidator(_believable)]
"""A number of tokens; whatever is none, and a negative one, counts as 0."""
Name = Annotated[str | None, BeforeValidator(_name)]
"""A name or an id, also if it is a number; None if it is anything else."""
Aside = Annotated[_Given | None, BeforeValidator(_object_or_none)]
"""An object; None if it is none."""

_object = TypeAdapter(dict[str, object])


def _detail(name: str, of_anthropic: str) -> AliasChoices:
    return AliasChoices(AliasPath("prompt_tokens_details", name), AliasPath("input_tokens_details", name), of_anthropic)


class Counted(Wire):
    """The usage as all APIs report it, each under its own names."""

    asked: Count = Field(default=0, validation_alias=AliasChoices("prompt_tokens", "input_tokens"))
    answered: Count = Field(default=0, validation_alias=AliasChoices("completion_tokens", "output_tokens"))
    cached: Count = Field(default=0, validation_alias=_detail("cached_tokens", "cache_read_input_tokens"))
    written: Count = Field(default=0, validation_alias=_detail("cache_write_tokens", "cache_creation_input_tokens"))
    hour: Count = Field(default=0, validation_alias=AliasPath("cache_creation", "ephemeral_1h_input_tokens"))

    @property
    def usage(self) -> Usage:
        """The same as a completion's usage."""
        return Usage(
            input_tokens=self.asked,
            cached_input_tokens=self.cached,
            cache_write_tokens=self.written,
            cache_write_hour_tokens=self.hour,
            output_tokens=self.answered,
        )


def wire_answer(
    parts: Iterable[AssistantPart], stop: Stop, usage: Usage, *, was_cut_in_call: bool = False
) -> Completion:
    """The parts as a message that can be sent back, and the stop reason that fits them; not timed and priced yet.

    Drops blank text, opaque parts at the end, which depend on what would have followed, the calls of a refused answer,
    and malformed calls of one that was cut off. END and TOOLS follow from the calls, which some servers confuse.
    """
    parts = tuple(parts)
    is_cut = stop is Stop.LENGTH and (was_cut_in_call or any(isinstance(part, ToolCall) for part in parts))
    kept = [part for part in parts if _is_kept(part, stop)]
    while kept and isinstance(kept[-1], Opaque):
        kept.pop()
    if stop in {Stop.END, Stop.TOOLS}:
        stop = Stop.TOOLS if any(isinstance(part, ToolCall) for part in kept) else Stop.END
    message = AssistantMessage(parts=tuple(kept)) if kept else None
    return Completion(message=message, stop=stop, usage=usage, is_cut_in_call=is_cut)


def _is_kept(part: AssistantPart, stop: Stop) -> bool:
    if isinstance(part, Text):
        return bool(part.text.strip())
    if isinstance(part, ToolCall):
        return stop is not Stop.REFUSAL and not (stop is Stop.LENGTH and part.malformed is not None)
    return True


def encode_json(value: object) -> bytes:
    """The value as JSON in UTF-8, halves of surrogate pairs joined or replaced; the SDKs take up to 68 ms for it."""
    try:
        return to_json(value)  # six times as fast as `json`, but cannot encode half surrogate pairs
    except ValueError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "replace")


def opaque_name(name: str) -> str:
    """A name that tells a vendor nothing of the one that it stands for: 32 hexadecimal digits."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]


def tool_name(name: str) -> str:
    """A name that every vendor accepts back in a history, even if a model made it up."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def schema_of(offer: ToolOffer) -> dict[str, object]:
    """The JSON schema of a tool's arguments as every server accepts it: an open object has no properties, and says so.

    Source: pydantic/pydantic-ai#3654; community.openai.com, thread 1368533; 2026-11-27.
    """
    return _SCHEMAS.of(offer)


_VALUES = frozenset({"default", "const", "enum", "examples"})
"""What holds values in a schema, and no schemas."""


def _whole(schema: object) -> object:
    """The schema with whatever stands in it made whole."""
    if isinstance(schema, list):
        return [_whole(item) for item in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("dict[str, object]", schema)
    whole = {key: value if key in _VALUES else _whole(value) for key, value in given.items()}
    kind = whole.get("type")
    is_open = (kind == "object" or (isinstance(kind, list) and "object" in kind)) and not whole.get("properties")
    return {"additionalProperties": True, **whole, "properties": {}} if is_open else whole


_SCHEMAS: IdentityCache[ToolOffer, dict[str, object]] = IdentityCache(
    lambda offer: {"type": "object", "properties": {}, **{key: _whole(one) for key, one in offer.parameters.items()}}
)


def tool_call(given_id: str | None, name: str, written: object) -> ToolCall:
    """A tool call with the server's id or a new one; `written` is its arguments, as JSON text or as the object itself.

    Nothing, null and an empty text mean no arguments, an object in a JSON text is that object; anything else becomes
    `malformed`, unless it is an object but for slips of its writer.
    """
    call_id = CallId(given_id or f"call_{secrets.token_hex(12)}")
    text = written if isinstance(written, str) else encode_json(written).decode() if written is not None else ""
    if text.strip() in {"", "null", '""'}:
        text = "{}"
    try:
        arguments = _object.validate_json(text)
        json.dumps(arguments, allow_nan=False)  # 1e999 is parsed as infinity, which JSON cannot express
    except ValueError:
        try:
            arguments = _mended(text)
        except (ValueError, RecursionError):
            return ToolCall(id=call_id, name=name, arguments={}, malformed=text)
    return ToolCall(id=call_id, name=name, arguments=arguments)


def _mended(text: str) -> dict[str, object]:
    """The object in JSON with slips (single quotes, a comma too many or missing, Python's True); or raises ValueError.

    Not mended are one that was cut off, a long one, for which that takes quadratic time (json-repair 0.64.6,
    2026-11-27), and one of which a letter or digit would be lost: the same release reads 17*23 as 17.
    """
    if text.lstrip().startswith('"'):
        text = str(json.loads(text))  # an object that was written as a text (vllm-project/vllm#25729)
    if not (text.lstrip().startswith("{") and text.rstrip().endswith("}")) or len(text) > _MAX_MENDED_CHARS:
        raise ValueError("no object")
    mended = json.dumps(json_repair.loads(text, strict=True), ensure_ascii=False, allow_nan=False)
    if _characters(mended) != _characters(text):
        raise ValueError("a part was lost")
    return _object.validate_json(mended)


def _characters(written: str) -> str:
    """The letters and digits, without those of escapes; Python's None is JSON's null."""
    return re.sub(r"\\.|[\W_]", "", written).lower().replace("none", "null")


def made_once(
    make: Callable[[Message, frozenset[str]], _Made],
) -> Callable[[frozenset[str]], IdentityCache[Message, _Made]]:
    """Returns what messages become, each made once for each set of quirks: every request repeats the history."""

    @cache
    def made(quirks: frozenset[str]) -> IdentityCache[Message, _Made]:
        return IdentityCache(lambda message: make(message, quirks))

    return made


_PHRASES: Mapping[str, type[ProviderError]] = {
    # Before all others: what the model wrote is quoted behind these, and may be anything. llama-server refuses answers
    # in a form that its parser does not know, Ollama some calls of gpt-oss (500; their issue threads, 2026-11-26).
    **dict.fromkeys(("failed to parse input at pos", "does not match the expected peg-"), Unreadable),
    "error parsing tool call": Unreadable,
    **dict.fromkeys(("insufficient_quota", "billing_hard_limit_reached", "billing_unavailable", "spend_limit"), BadKey),
    **dict.fromkeys(("credit balance is too low", "api usage limits", "spend limit", "invalid_api_key"), BadKey),
    **dict.fromkeys(("account_deactivated", "data_residency_mismatch", "organization_on_hold"), BadKey),
    "model_not_found": NoSuchModel,
    "model not exist": NoSuchModel,  # DeepSeek, with status 400
    **dict.fromkeys(("context_length_exceeded", "maximum context length", "exceed_context_size"), ContextTooLong),
    **dict.fromkeys(("exceeds the available context size", "exceed context limit"), ContextTooLong),
    **dict.fromkeys(("prompt is too long", "request_too_large"), ContextTooLong),
    "request too large for": ContextTooLong,  # more than a minute's tokens: it will not fit later, either
    "overloaded_error": Overloaded,
    "tool_use_failed": Unavailable,  # Groq could not read its model's call; the next one may be readable
    # The operator can act on these.
    **dict.fromkeys(("does not support tools", "tool choice requires", "tools param requires"), Rejected),
    **dict.fromkeys(("the maximum allowed number of output tokens", "completion tokens, whereas"), Rejected),
}
"""Codes and fragments of services' own wording, in lower case, with their meaning; the first match counts."""

_KINDS: Mapping[int, type[ProviderError]] = {
    **dict.fromkeys((301, 302, 303, 307, 308), NoSuchModel),  # redirects, which are not followed
    **dict.fromkeys((401, 402, 403), BadKey),
    404: NoSuchModel,
    **dict.fromkeys((408, 409), Unavailable),
    413: ContextTooLong,
    **dict.fromkeys((429, 503, 529), Overloaded),
}

_BUSY = frozenset({"rate_limit_exceeded", "slow_down", "server_is_overloaded"})
_OF_THE_REQUEST = re.compile(r"invalid_|unsupported_|empty_|failed_to_download|(?:\w+_)?image_|\w+_policy")
"""Codes that blame the request. Source: `ResponseError` of the package openai 3.54.0, 2026-11-22."""

_WINDOW = re.compile(
    r"(?:maximum context length (?:is|of)|context (?:size|length|window) (?:is|of|\()|tokens >|n_ctx\D{1,4}"
    r"|context limit: \d+ \+ \d+ >)"
    r"\s*\(?([0-9][0-9,_]{2,9})",
    re.IGNORECASE,
)
"""How services tell the size of a window. Source: issue threads of OpenAI, vLLM, Anthropic, llama.cpp, 2026-11-22."""
_MIN_WINDOW_TOKENS = 512


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A service's refusal of a request. Its words may quote the prompt, so they are searched but never repeated."""

    status: int
    code: str = ""
    param: str = ""
    words: str = ""
    headers: Mapping[str, str]

    def error(self, *, provider: str, model: str) -> ProviderError:
        """The error to raise: by what the service said if that is known, else by the status."""
        said = f"{self.code}\n{self.words}".lower()
        phrase = next((phrase for phrase in _PHRASES if phrase in said), "")
        unknown = Rejected if 400 <= self.status < 500 else Unavailable  # noqa: PLR2004 - the borders of HTTP's classes
        kind = _PHRASES.get(phrase) or _KINDS.get(self.status, unknown)
        code = self.code if re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", self.code) else ""
        words = [f"{provider} answered {self.status}", code, f"({phrase})" if phrase else ""]
        # How long it wants to be left alone, if it says so in a number; no model server sends RFC 9110's dates.
        # Source: the OpenAI and Anthropic SDKs (retry-after-ms), 2026-11-21.
        milliseconds = self.headers.get("retry-after-ms")
        try:
            seconds = float(self.headers.get("retry-after", "")) if milliseconds is None else float(milliseconds) / 1000
        except ValueError:
            seconds = nan
        wanted_seconds = max(0.0, seconds) if isfinite(seconds) else None
        error = kind(" ".join(filter(None, words)), provider=provider, model=model, retry_after_seconds=wanted_seconds)
        if isinstance(error, ContextTooLong):
            error.window_tokens = window_tokens(self.words)
        if isinstance(error, Unreadable):
            error.cost_usd = None  # the model has written it
        return error


def status_of(code: str) -> int:
    """The status that an error within an answer would have had, by its code."""
    return 429 if code in _BUSY else 400 if _OF_THE_REQUEST.match(code) else 500


def window_tokens(words: str) -> int | None:
    """The size of a model's window according to a refusal; None if it does not say."""
    found = _WINDOW.search(words)
    tokens = int(re.sub(r"[,_]", "", found[1])) if found else 0
    return tokens if tokens >= _MIN_WINDOW_TOKENS else None
