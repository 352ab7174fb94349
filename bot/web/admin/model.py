"""The model that answers: a vendor's key, a local server, or none; the list with prices, and a test question.

Keys are tried before they are kept, using what servers tell for free; one that lists no models is asked a question.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

from bot.doctor.findings import Deps, Finding, problem
from bot.doctor.models import list_models
from bot.doctor.servers import ServerProbe
from bot.doctor.tools import inventory
from bot.errors import ProviderError
from bot.i18n.locale import dollars
from bot.messages import UserMessage
from bot.models.base import Completion, Request, ToolOffer
from bot.models.capabilities import NOTHING
from bot.models.prices import Price, published_prices
from bot.settings import ProviderName, Settings
from bot.web.admin.forms import AdminPage, Ask, Field, Form, NotDone

_MAX_LISTED = 300
_MAX_ANSWER_TOKENS, _ANSWER_SECONDS = 1024, 60.0
_MAX_SHOWN_CHARS = 300


async def _check(vendor: ProviderName, settings: Settings, deps: Deps) -> Sequence[Finding]:
    """Whether the server takes the key, and has a model that answers."""
    looked, model = await list_models(vendor, settings, deps), settings.llm.model_of(vendor).partition("/")[2]
    found = [*looked.findings]
    if looked.names is None:
        if not any(one.level == "problem" for one in found):  # it answers, and lists nothing
            try:
                await _question(settings, deps, ())
            except ProviderError as error:
                found.append(problem("", f"the server answers, but no model does: {error}"))
    elif not looked.names:
        found.append(problem("", "the server answers, but has no model yet"))
    elif model and model not in looked.names:
        found.append(problem("", f"the server answers, but does not list the model {model}"))
    return found


def _vendor(
    name: str, title: str, *, text: str, key_page: str = "", url: str | None = None, more: tuple[Field, ...] = ()
) -> Form:
    """The form of a vendor with the API of Anthropic or OpenAI."""
    vendor: ProviderName = "anthropic" if name == "anthropic" else "openai"
    address = {} if vendor == "anthropic" else {"LLM__OPENAI__BASE_URL": url}
    setting, is_own = f"LLM__{vendor.upper()}__API_KEY", name == "server"
    label, hint = ("Key, if the server wants one", "") if is_own else ("The key", "Tried right away, and never shown.")
    key = Field(setting=setting, label=label, kind="secret", hint=hint, is_required=not is_own, key_page=key_page)
    return Form(
        name=name,
        title=title,
        text=text,
        fields=(*more, key) if is_own else (key, *more),
        fixed={"LLM__PROVIDERS": vendor, f"LLM__{vendor.upper()}__MODEL": None, **address},
        check=partial(_check, vendor),
        button="Try and save",
        done="Saved: the server answers, and takes the key.",
    )


def _named(hint: str, key_page: str = "") -> tuple[Field, ...]:
    return (Field(setting="LLM__OPENAI__MODEL", label="The model", hint=hint, is_required=True, key_page=key_page),)


# Source: platform.claude.com, ai.google.dev ("OpenAI compatibility") and openrouter.ai ("Quickstart"), 2026-11-28.
FORMS = (
    _vendor(
        "anthropic",
        "Claude, by Anthropic",
        text="Questions go to Anthropic, who charges for them.",
        key_page="https://platform.claude.com/settings/keys",
    ),
    _vendor(
        "openai",
        "GPT, by OpenAI",
        text="Questions go to OpenAI, who charges for them.",
        key_page="https://platform.openai.com/api-keys",
    ),
    _vendor(
        "gemini",
        "Gemini, by Google",
        text="By its address for programs of OpenAI’s kind.",
        key_page="https://aistudio.google.com/apikey",
        url="https://generativelanguage.googleapis.com/v1beta/openai",
        more=_named("As Google lists it, beginning with models/."),
    ),
    _vendor(
        "openrouter",
        "OpenRouter",
        text="Models of many vendors behind one key.",
        key_page="https://openrouter.ai/settings/keys",
        url="https://openrouter.ai/api/v1",
        more=_named("By vendor and name, as in the list there.", "https://openrouter.ai/models"),
    ),
    _vendor(
        "server",
        "A server of your own",
        text="Ollama, LM Studio, vLLM or llama.cpp: questions never leave your home.",
        more=(
            Field(
                setting="LLM__OPENAI__BASE_URL",
                label="Address",
                kind="url",
                hint="Ollama: http://127.0.0.1:11434/v1. LM Studio has port 1234, vLLM 8000, llama.cpp 8080. "
                "In a container, host.docker.internal stands for the machine instead of 127.0.0.1.",
                is_required=True,
            ),
            Field(setting="LLM__OPENAI__MODEL", label="The model", hint="Empty: the first one that it lists."),
        ),
    ),
    Form(
        name="none",
        title="Without a model",
        text="Come back to this step whenever you like; until then Aldis does what it can by itself.",
        fixed={"LLM__PROVIDERS": "offline"},
        button="Continue without one",
        done="Aldis answers without a model.",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A model that can be chosen."""

    name: str
    window_tokens: int | None
    price: Price | None
    """None if unknown, as above."""
    is_chosen: bool


async def _values(ask: Ask) -> dict[str, object]:
    settings = ask.settings
    vendor = settings.llm.providers_in_order[0]
    looked = None
    if vendor != "offline":
        async with (deps := ask.deps).tool_deps.http:
            looked = await list_models(vendor, settings, deps)
    return {
        "vendor": vendor,
        "model": settings.llm.model_of(vendor).partition("/")[2],
        "server": settings.llm.openai.base_url if vendor == "openai" else None,
        "offers": _offers(looked, settings, vendor),
        "findings": looked.findings if looked else (),
    }


async def _choose(ask: Ask) -> str:
    vendor, model = ask.settings.llm.providers_in_order[0], ask.entry("model")
    if vendor == "offline" or not model:
        raise NotDone("Something is missing: choose a model.")
    return await ask.save({f"LLM__{vendor.upper()}__MODEL": model}, f"{model} answers from now on.")


async def _test(ask: Ask) -> str:
    """Asks as a real question does, with all tools."""
    if ask.settings.llm.providers_in_order[0] == "offline":
        raise NotDone("Aldis answers without a model.")
    deps, running = ask.deps, ask.world.running
    async with deps.tool_deps.http:
        tools = await running.toolbox.offers() if running else _offered(ask.settings, deps)
        try:
            answer = await _question(ask.settings, deps, tools)
        except ProviderError as error:
            raise NotDone(f"It does not answer ({type(error).__name__}): {error}") from error
    text = answer.message.text.strip() if answer.message else ""
    said = f"“{text[:_MAX_SHOWN_CHARS]}”" if text else "by calling a tool"
    cost = "at an unknown cost" if answer.cost_usd is None else f"for {dollars(answer.cost_usd)}"
    seconds = f"{answer.latency_seconds:.1f} s"
    return f"{answer.model} answers, offered {len(tools)} tools: {said} It took {seconds}, {cost}."


async def _question(settings: Settings, deps: Deps, tools: tuple[ToolOffer, ...]) -> Completion:
    """Asks the first model something; raises ProviderError if it does not answer."""
    provider = deps.provider(settings.llm.providers_in_order[0])
    request = Request(
        system="You are Aldis, an assistant in Signal.",
        messages=(UserMessage(text="Are you there? Answer in one short sentence."),),
        tools=tools,
        may_call_tools=True,
        max_output_tokens=_MAX_ANSWER_TOKENS,
        timeout_seconds=_ANSWER_SECONDS,
        conversation="pages",
        is_one_off=True,
    )
    try:
        return await provider.complete(request)
    finally:
        await provider.aclose()


def _offered(settings: Settings, deps: Deps) -> tuple[ToolOffer, ...]:
    """What models are offered as things are set, while Aldis does not run."""
    specs = [tool.spec for group in inventory(settings, deps.tool_deps) for tool in group.tools if group.state == "on"]
    return tuple(ToolOffer(name=one.name, description=one.description, parameters=one.parameters) for one in specs)


def _offers(looked: ServerProbe | None, settings: Settings, vendor: ProviderName) -> list[Offer]:
    if looked is None or looked.names is None or vendor not in get_args(ProviderName):
        return []
    chosen = settings.llm.model_of(vendor).partition("/")[2] or next(iter(looked.names), "")
    names = dict.fromkeys([chosen] if chosen else []) | dict.fromkeys(looked.names[:_MAX_LISTED])
    said = {name: looked.told.get(name, NOTHING) for name in names}
    return [
        Offer(
            name=name,
            window_tokens=said[name].window_tokens,
            price=published_prices().of(name) or said[name].price,
            is_chosen=name == chosen,
        )
        for name in names
    ]


PAGE = AdminPage(
    path="/setup/model",
    template="model",
    values=_values,
    actions={"choose": _choose, "test": _test},
    forms=FORMS,
)
