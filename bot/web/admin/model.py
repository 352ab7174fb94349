"""The model that answers: a vendor's key, a local server, or none; the list with prices, and a test question.

Keys are tried before they are kept, using what servers tell for free; one that lists no models is asked a question.
"""

from collections.abc import Sequence
from functools import partial
from itertools import islice

from bot.doctor.findings import Deps, Finding, problem
from bot.doctor.models import ask, checked_server, look_at
from bot.doctor.tools import inventory
from bot.errors import ProviderError
from bot.i18n.locale import dollars
from bot.models.base import Completion, ToolOffer
from bot.models.capabilities import NOTHING
from bot.models.prices import published_prices
from bot.settings import ProviderName, Settings
from bot.web.admin.forms import AdminPage, Ask, Field, Form, NotDone

_MAX_LISTED = 300
_MAX_SHOWN_CHARS = 300
_ADDRESS_HINT = (
    "Ollama: http://127.0.0.1:11434/v1. LM Studio has port 1234, vLLM 8000, llama.cpp 8080. "
    "In a container, host.docker.internal stands for the machine instead of 127.0.0.1."
)
_GEMINI, _OPENROUTER = "https://generativelanguage.googleapis.com/v1beta/openai", "https://openrouter.ai/api/v1"


async def _check(vendor: ProviderName, settings: Settings, deps: Deps) -> Sequence[Finding]:
    """Whether the server takes the key, and has a model that answers."""
    found, known = await look_at(checked_server(vendor, settings), {}, deps)
    model = settings.llm.model_of(vendor).partition("/")[2]
    if found[0].level == "problem":
        return found
    if known is None:  # it answers, and lists nothing
        try:
            await _question(settings, deps, ())
        except ProviderError as error:
            return (problem("", f"the server answers, but no model does: {error}"),)
    elif model and model not in known:
        return (problem("", f"the server answers, but does not list the model {model}"),)
    return ()


# Source: platform.claude.com, ai.google.dev ("OpenAI compatibility") and openrouter.ai ("Quickstart"), 2026-11-28.
_VENDORS = {
    "anthropic": ("Claude, by Anthropic", "https://platform.claude.com/settings/keys", None, ""),
    "openai": ("GPT, by OpenAI", "https://platform.openai.com/api-keys", None, ""),
    "gemini": ("Gemini, by Google", "https://aistudio.google.com/apikey", _GEMINI, "As Google lists it: models/..."),
    "openrouter": ("OpenRouter", "https://openrouter.ai/settings/keys", _OPENROUTER, "As openrouter.ai/models has it."),
}
"""Each vendor's title, where its keys come from, its address for programs of OpenAI's kind, and what its models are
called, if one has to be named.
"""


def _form(name: str, title: str, text: str, fields: tuple[Field, ...], url: str | None = None) -> Form:
    """The form of a vendor, or of a server with the API of OpenAI at an address."""
    vendor: ProviderName = "anthropic" if name == "anthropic" else "openai"
    fixed = {"LLM__PROVIDERS": vendor, f"LLM__{vendor.upper()}__MODEL": None}
    return Form(
        name=name,
        title=title,
        text=text,
        fields=fields,
        fixed=fixed if vendor == "anthropic" else {**fixed, "LLM__OPENAI__BASE_URL": url},
        check=partial(_check, vendor),
        button="Try and save",
        done="Saved: the server answers, and takes the key.",
    )


def _of_vendor(name: str) -> Form:
    title, page, url, models = _VENDORS[name]
    setting, hint = f"LLM__{'ANTHROPIC' if name == 'anthropic' else 'OPENAI'}", "Tried right away, and never shown."
    key = Field(f"{setting}__API_KEY", "The key", "secret", hint, is_required=True, key_page=page)
    model = (Field(f"{setting}__MODEL", "The model", hint=models, is_required=True),) if models else ()
    return _form(name, title, "Questions go there, and cost what the vendor charges.", (key, *model), url)


async def _values(ask: Ask) -> dict[str, object]:
    llm = ask.settings.llm
    vendor, found, known = llm.providers_in_order[0], list[Finding](), None
    if vendor != "offline":
        async with (deps := ask.deps).tool_deps.http:
            found, known = await look_at(checked_server(vendor, ask.settings), {}, deps)
    chosen = llm.model_of(vendor).partition("/")[2] or next(iter(known or ()), "")
    offered = {} if known is None else {chosen: NOTHING, **known}
    offers = {
        name: said.model_copy(update={"price": published_prices().of(name) or said.price})
        for name, said in islice(offered.items(), _MAX_LISTED)
        if name
    }
    return {
        "vendor": vendor,
        "chosen": chosen,
        "server": llm.openai.base_url if vendor == "openai" else None,
        "offers": offers,
        "findings": found,
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
        if running:
            tools = await running.toolbox.offers()
        else:  # what models are offered as things are set
            groups = inventory(ask.settings, deps.tool_deps)
            specs = [tool.spec for group in groups for tool in group.tools if group.state == "on"]
            tools = tuple(
                ToolOffer(name=one.name, description=one.description, parameters=one.parameters) for one in specs
            )
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
    return await ask(provider, "Are you there? Answer in one short sentence.", tools)


PAGE = AdminPage(
    path="/setup/model",
    template="model",
    values=_values,
    actions={"choose": _choose, "test": _test},
    forms=(
        *map(_of_vendor, _VENDORS),
        _form(
            "server",
            "A server of your own",
            "Ollama, LM Studio, vLLM or llama.cpp: questions never leave your home.",
            (
                Field("LLM__OPENAI__BASE_URL", "Address", "url", _ADDRESS_HINT, is_required=True),
                Field("LLM__OPENAI__MODEL", "The model", hint="Empty: the first one that it lists."),
                Field("LLM__OPENAI__API_KEY", "Key, if the server wants one", "secret"),
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
    ),
)
