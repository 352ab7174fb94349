"""What a model can do and costs, as its server tells for free, read from any server's format. Pure.

    GET /v1/models (Anthropic)               max_input_tokens, max_tokens, capabilities, lifecycle, retires_at
    GET /v1/models (OpenAI's and all others) vLLM, SGLang: max_model_len; llama.cpp: meta.n_ctx; Groq: context_window;
                                             OpenRouter: context_length, pricing, supported_parameters, architecture
    GET /props (llama.cpp)                   default_generation_settings.n_ctx, modalities, chat_template_caps
    GET /api/v0/models (LM Studio)           loaded_context_length, max_context_length, type
    POST /api/show, GET /api/ps (Ollama)     context_length of the model and of what is loaded, num_ctx, capabilities

Nonsense counts as missing. What a server says about a window can only make requests smaller.

Source: the package anthropic 2.12.0 (`ModelInfo`), vLLM (`ModelCard`), llama.cpp (tools/server), lmstudio.ai/docs (REST
API v0), docs.ollama.com and openrouter.ai/docs, 2026-11-23.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field, ValidationError, ValidatorFunctionWrapHandler, field_validator

from bot.models.prices import Price

_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)
_NO_CHAT = re.compile(r"embed|rerank|whisper|tts|transcri|moderation|dall-e|image", re.IGNORECASE)
_MILLION = Decimal(1_000_000)
_MAX_PRICE_CHARS = 40

Json = Mapping[str, Any]


class Capabilities(BaseModel, frozen=True, strict=True):
    """A server's statements about a model; None where it says nothing, or what makes no sense."""

    window_tokens: Annotated[int, Field(ge=512, le=100_000_000)] | None = None
    """What a request and its answer may have together now, which may be less than the model was made for."""
    max_output_tokens: Annotated[int, Field(ge=256, le=10_000_000)] | None = None
    tools: bool | None = None
    pictures: bool | None = None
    documents: bool | None = None
    thinking: bool | None = None
    effort: bool | None = None
    """Whether it can be set how much to think."""
    is_at_home: bool | None = None
    """Whether its server is llama.cpp, LM Studio or Ollama, which people run at home and which may be slow."""
    price: Price | None = None
    is_deprecated: bool | None = None
    retires_on: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] | None = None
    """The day from which it does not answer any more, in ISO format, as planned now."""

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_none(cls, value: object, read: ValidatorFunctionWrapHandler) -> Any:
        try:
            return read(value)
        except ValidationError:
            return None

    def or_else(self, other: "Capabilities") -> "Capabilities":
        """These capabilities, completed by those of another answer about the same model."""
        return self.model_copy(update={name: value for name, value in other if getattr(self, name) is None})


NOTHING = Capabilities()


@dataclass(kw_only=True)
class Lesson:
    """What was learnt about one model since the start."""

    capabilities: Capabilities = NOTHING
    quirks: frozenset[str] = frozenset()
    """What its server does not take, by its refusals (see `bot.models.adapter`)."""
    window_tokens: int | None = None
    """Its window, if a refusal has named it."""


class ModelLessons:
    """The lessons of one run, by the server's address and the model's name; a restart learns them again."""

    def __init__(self) -> None:
        self._known: defaultdict[tuple[str, str], Lesson] = defaultdict(Lesson)

    def of(self, server: str, model: str | None) -> Lesson:
        """The lesson about a model, to read and to add to."""
        return self._known[server, model or ""]


def of_anthropic(entry: object) -> Capabilities:
    """Reads an entry of Anthropic's list of models."""
    model = _object(entry)
    can = _object(model.get("capabilities"))
    supported = {name: _object(can.get(name)).get("supported") for name in can}
    return Capabilities(
        window_tokens=model.get("max_input_tokens"),
        max_output_tokens=model.get("max_tokens"),
        pictures=supported.get("image_input"),
        documents=supported.get("pdf_input"),
        thinking=supported.get("thinking"),
        effort=supported.get("effort"),
        is_deprecated=model.get("lifecycle") in {"deprecated", "retired"} or None,
        retires_on=str(model.get("retires_at"))[:10],
    )


def of_listed(entry: object) -> Capabilities:
    """Reads an entry of any other server's list of models."""
    model = _object(entry)
    top, meta = _object(model.get("top_provider")), _object(model.get("meta"))
    parameters = _texts(model.get("supported_parameters"))
    modalities = _texts(_object(model.get("architecture")).get("input_modalities"))
    names = ("max_model_len", "context_window", "max_context_length")
    # OpenRouter's own figure is the largest among its providers, of which the first one is asked.
    shares = [_window(size) for size in (model.get("context_length"), top.get("context_length"))]
    return Capabilities(
        window_tokens=_window(meta.get("n_ctx"), *map(model.get, names)) or min(filter(None, shares), default=None),
        max_output_tokens=top.get("max_completion_tokens") or model.get("max_completion_tokens"),
        tools=None if parameters is None else "tools" in parameters,
        pictures=None if modalities is None else "image" in modalities,
        thinking=None if parameters is None else "reasoning" in parameters,
        price=_sold(_object(model.get("pricing"))),
    )


def of_training(entry: object) -> Capabilities:
    """Returns what llama.cpp's model was made for, in case its server does not say how much of that it gives."""
    return Capabilities(window_tokens=_object(_object(entry).get("meta")).get("n_ctx_train"))


def of_llama_cpp(props: object) -> Capabilities:
    """Reads llama.cpp's `/props`. It silently drops tools that the template does not support."""
    stated = _object(props)
    knows = _object(stated.get("chat_template_caps"))
    return Capabilities(
        window_tokens=_object(stated.get("default_generation_settings")).get("n_ctx"),
        tools=knows.get("supports_tools"),
        pictures=_object(stated.get("modalities")).get("vision"),
        is_at_home=True if "default_generation_settings" in stated else None,
    )


def of_lm_studio(listed: object, model: str) -> Capabilities:
    """Reads LM Studio's own list. It offers tools to every model, in a format of its own if the model has none."""
    entry = next((one for one in entries(listed) if one.get("id") == model), _object(None))
    kind = entry.get("type")
    return Capabilities(
        window_tokens=_window(entry.get("loaded_context_length"), entry.get("max_context_length")),
        pictures=kind == "vlm" if kind in {"llm", "vlm"} else None,
        is_at_home=True if entry else None,
    )


def of_ollama(shown: object, running: object, model: str) -> Capabilities:
    """Reads Ollama's `/api/show`, and `/api/ps`, which knows the real window of a loaded model; longer is truncated."""
    stated = _object(shown)
    info = _object(stated.get("model_info"))
    set_to = _NUM_CTX.search(parameters) if isinstance(parameters := stated.get("parameters"), str) else None
    loaded = (one for one in _objects(_object(running).get("models")) if model in {one.get("name"), one.get("model")})
    windows = (
        *(one.get("context_length") for one in loaded),
        int(set_to[1]) if set_to else None,
        info.get(f"{info.get('general.architecture')}.context_length"),
    )
    can = _texts(stated.get("capabilities"))
    return Capabilities(
        window_tokens=_window(*windows),
        tools=None if can is None else "tools" in can,
        pictures=None if can is None else "vision" in can,
        thinking=None if can is None else "thinking" in can,
        is_at_home=True if can is not None else None,
    )


def _window(*sizes: object) -> int | None:
    """The first of these that makes sense."""
    return next((read for size in sizes if (read := Capabilities(window_tokens=cast("int", size)).window_tokens)), None)


def entries(listed: object) -> Iterable[Json]:
    """The models in any server's list."""
    return _objects(_object(listed).get("data"))


def chat_models(names: Iterable[str]) -> list[str]:
    """The models that can hold a conversation, judging by their names."""
    return [name for name in names if not _NO_CHAT.search(name)]


def _sold(pricing: Json) -> Price | None:
    """OpenRouter's prices, which are per token; -1 stands for one that is known only afterwards."""
    kinds = {"prompt": "input", "completion": "output"}
    kinds |= {"input_cache_read": "cache_read", "input_cache_write": "cache_write"}
    rates = {kinds[name]: rate for name, rate in pricing.items() if name in kinds and rate is not None}
    if not all(isinstance(rate, str) and len(rate) <= _MAX_PRICE_CHARS for rate in rates.values()):
        return None
    try:
        return Price.model_validate({kind: (Decimal(rate) * _MILLION).normalize() + 0 for kind, rate in rates.items()})
    except (ValidationError, InvalidOperation):
        return None


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _objects(value: object) -> Iterable[Json]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return (cast("Json", item) for item in items if isinstance(item, dict))


def _texts(value: object) -> frozenset[str] | None:
    if not isinstance(value, list):
        return None
    return frozenset(item for item in cast("list[object]", value) if isinstance(item, str))
