"""What answers: the models, who listens to voice notes and speaks, who draws.

    of each server that is set: address, key and names, for nothing (`servers`)
    of each model, where that is wanted: a small question, for little

Left to others: making providers (`bot.app` hands over how).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from bot.chat.notices import Notice
from bot.doctor.findings import Deps, Finding, hint, ok, problem, warning
from bot.doctor.servers import (
    CheckedServer,
    ServerProbe,
    ask_capabilities,
    look_at,
    look_for,
    with_other_name,
)
from bot.errors import BadKey, NoSuchModel, ProviderError, Rejected
from bot.messages import UserMessage
from bot.models.base import Completion, Provider, Request, ToolOffer
from bot.models.capabilities import Capabilities
from bot.settings import ProviderName, Settings
from tools import ImagesOptions

_ANSWER_SECONDS, _MAX_ANSWER_TOKENS = 60.0, 1024
_MAX_MODELS = 30
_SMALL_WINDOW = 8192
"""With less, tools and an answer leave hardly any room for what was said before."""

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
_PING = ToolOffer(name="ping", description="Tells that tools can be called. Takes nothing.", parameters={})
_PARSERS = (
    "start the server with its parser of calls (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: "
    "--tool-call-parser NAME; llama.cpp: --jinja), or set LLM__OPENAI__TOOL_MODE=prompt"
)
"""Source: docs.vllm.ai and docs.sglang.ai (tool calling), llama.cpp's docs/function-calling.md, 2026-11-27."""


async def check_models(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether the servers of the models can be reached, take the key and have the models; for nothing."""
    llm = settings.llm
    named = {llm.model_of(name): f"LLM__{name.upper()}__MODEL" for name in llm.providers_in_order}
    for choice in llm.choices:
        named.setdefault(choice, "LLM__CHOICES")
    of_vendors: dict[str, dict[str, str]] = {}
    for name, variable in named.items():
        vendor, _, model = name.partition("/")
        if vendor != "offline":
            of_vendors.setdefault(vendor, {}).update({model: variable} if model else {})
    found: list[Finding] = []
    if not of_vendors:
        how = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
        found.append(warning("models", "no key is set, so only the offline model answers", how))
    checks = (_check_vendor(vendor, models, settings, deps) for vendor, models in of_vendors.items())
    for part in await asyncio.gather(*checks):
        found += part
    for vendor, given in (("anthropic", llm.anthropic), ("openai", llm.openai)):
        # A key alone is what many machines have set for other programs, and serves speech, too.
        if vendor not in of_vendors and (wanted := given.model_fields_set - {"api_key"}):
            unused = ", ".join(f"LLM__{vendor.upper()}__{name.upper()}" for name in sorted(wanted))
            how = f"set {with_other_name(f'LLM__{vendor.upper()}__API_KEY')}, or LLM__PROVIDERS"
            found.append(warning("models", f"{unused} has no effect, because {vendor} is not used", how))
    return found


async def _check_vendor(vendor: str, models: Mapping[str, str], settings: Settings, deps: Deps) -> list[Finding]:
    """What is to be said of a server and of its models, each named by a variable; without any its first one is used."""
    server, http = checked_server(vendor, settings), deps.tool_deps.http
    found = await _check_server(server, models, deps)
    if all(finding.level == "ok" for finding in found):
        for model, known in await asyncio.gather(*(ask_capabilities(server, one, http) for one in models or [""])):
            found += _check_model(vendor, model, known)
    return found


async def _check_server(server: CheckedServer, models: Mapping[str, str], deps: Deps) -> list[Finding]:
    """Whether a server answers, and has the models, each named by a variable."""
    http = deps.tool_deps.http
    looked = await look_at(server, http, is_contained=deps.is_contained)
    known = looked.known or {}
    named = (look_for(model, server, variable, known, http) for model, variable in models.items() if known)
    return [looked.finding, *await asyncio.gather(*named)]


def _check_model(vendor: str, model: str, known: Capabilities) -> list[Finding]:
    """What its server says of a model that the operator should know."""
    found: list[Finding] = []
    if known.window_tokens and known.window_tokens < _SMALL_WINDOW:
        what = f"{vendor} gives {model} a window of only {known.window_tokens:,} tokens, so it soon forgets"
        how = f"give it {_SMALL_WINDOW * 2:,} or more in the settings of the server, such as "
        found.append(warning("models", what, f"{how}OLLAMA_CONTEXT_LENGTH, or -c with llama.cpp"))
    if known.is_deprecated:
        when = f"on {known.retires_on}" if known.retires_on else "soon (no day is given yet)"
        how = f"set LLM__{vendor.upper()}__MODEL (or LLM__CHOICES) to another model before"
        found.append(warning("models", f"{vendor}: {model} is deprecated; it stops answering {when}", how))
    return found


async def list_models(vendor: str, settings: Settings, deps: Deps) -> ServerProbe:
    """Returns what a vendor's server lists, as things are set; costs nothing."""
    return await look_at(checked_server(vendor, settings), deps.tool_deps.http, is_contained=deps.is_contained)


def checked_server(vendor: str, settings: Settings) -> CheckedServer:
    """Returns a vendor's server as things are set."""
    claude, gpt = settings.llm.anthropic, settings.llm.openai
    if vendor == "anthropic":
        return CheckedServer("models", "LLM__ANTHROPIC", claude.base_url or ANTHROPIC_URL, claude.api_key)
    return CheckedServer(
        "models", "LLM__OPENAI", gpt.base_url or OPENAI_URL, gpt.api_key, is_vendor=gpt.is_openai_itself
    )


async def ask_models(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether the first model of each provider answers and calls a tool, which costs a little."""
    asked = [_check_answer(name, deps) for name in settings.llm.providers_in_order if name != "offline"]
    return list(await asyncio.gather(*asked))


async def _check_answer(name: ProviderName, deps: Deps) -> Finding:
    try:
        answer = await ask(deps.provider(name), "Are you there? Call the tool ping.", (_PING,))
    except ProviderError as error:
        return problem("models", f"{name} does not answer: {type(error).__name__}: {error}")
    what = f"{name} answered as {answer.model}"
    if name == "openai" and not (answer.message and answer.message.calls):
        return warning("models", f"{what}, but called no tool", _PARSERS)
    cost = "at an unknown cost" if answer.cost_usd is None else f"for {answer.cost_usd} USD"
    return ok("models", f"{what} in {answer.latency_seconds:.1f} s, {cost}")


async def ask(provider: Provider, text: str, tools: Sequence[ToolOffer]) -> Completion:
    """Asks a model something small, and closes its provider; raises ProviderError if it does not answer."""
    request = Request(
        system="You are Aldis, an assistant in Signal.",
        messages=(UserMessage(text=text),),
        tools=tuple(tools),
        may_call_tools=True,
        max_output_tokens=_MAX_ANSWER_TOKENS,
        timeout_seconds=_ANSWER_SECONDS,
        conversation="doctor",
        is_one_off=True,
    )
    try:
        return await provider.complete(request)
    finally:
        await provider.aclose()


async def check_audio(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether voice notes are understood, and by whom."""
    audio = settings.audio
    if audio.base_url is None:
        if names := ", ".join(f"AUDIO__{name.upper()}" for name in sorted(audio.model_fields_set)):
            what = f"{names} has no effect without the address of a speech server"
            return [warning("audio", what, "set AUDIO__BASE_URL")]
        return [hint("audio", "voice notes are not understood", "AUDIO__BASE_URL switches it on")]
    if audio.is_openai_itself and settings.audio_key is None:
        return [problem("audio", "OpenAI requires a key", "set AUDIO__API_KEY")]
    server = CheckedServer("audio", "AUDIO", audio.base_url, settings.audio_key, is_vendor=audio.is_openai_itself)
    speaking = {audio.speaking_model: "AUDIO__SPEECH_MODEL"} if audio.speak else {}
    return await _check_server(server, {audio.listening_model: "AUDIO__MODEL", **speaking}, deps)


async def check_images(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether the server that draws can be reached; nothing where none does."""
    options = settings.tools.options_by_name.get("images")
    if not (isinstance(options, ImagesOptions) and options.enabled and settings.tools.enabled):
        return []
    if options.missing_settings():
        return []
    base_url, is_vendor = options.base_url or OPENAI_URL, options.base_url is None
    server = CheckedServer("images", "TOOLS__IMAGES", base_url, options.api_key, is_vendor=is_vendor)
    return await _check_server(server, {options.model: "TOOLS__IMAGES__MODEL"} if options.model else {}, deps)


class ModelTroubles:
    """Failures of models that only the operator can mend: a key is refused, a model is not there or refuses everything.

    Each stands until the same model has answered.
    """

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        """Is called when something has begun or ended."""
        self._found: dict[tuple[str, str], tuple[Finding, ...]] = {}

    def on_error(self, error: ProviderError) -> None:
        """Notes that a try has failed."""
        name, model = error.provider, error.model or "unknown"
        group = f"LLM__{name.upper()}"
        how = f"look at {group}__MODEL and {group}__BASE_URL"
        if isinstance(error, BadKey):
            what, notice = f"{name} refuses the key or the account ({error})", Notice(kind="key", subject=name)
            how = f"look at {group}__API_KEY, and at the account's credit"
        elif isinstance(error, NoSuchModel):
            what, notice = f"{name} does not have the model {model} ({error})", Notice(kind="model", subject=model)
        elif isinstance(error, Rejected) and error.is_setup:
            what, notice = f"{name} refuses every request to the model {model} ({error})", _refusal(model)
            how += "; TOOLS__ENABLED=false shows whether a tool is the cause"
        else:
            return
        self._note(name, model, (problem("models", what, how, notice),))

    def on_answer(self, completion: Completion) -> None:
        """Notes that a model has answered, also under the name (an alias, a dated one) with which it failed before."""
        provider, answered = completion.provider, completion.model
        failed = {model for name, model in self._found if name == provider}
        aliases = {model for model in failed if answered.startswith(f"{model}-") or answered == f"{model}:latest"}
        for model in {answered} | aliases:
            key, name = Notice(kind="key", subject=provider), Notice(kind="model", subject=model)
            found = tuple(ok("models", f"{model} answers", notice=notice) for notice in (key, name, _refusal(model)))
            self._note(provider, model, found)

    def findings(self) -> tuple[Finding, ...]:
        """Returns the last word on each model."""
        return tuple(finding for found in self._found.values() for finding in found)

    def _note(self, provider: str, model: str, found: tuple[Finding, ...]) -> None:
        before = self._found.pop((provider, model), ())
        while len(self._found) >= _MAX_MODELS:
            self._found.pop(next(iter(self._found)))
        self._found[provider, model] = found
        if [(one.level, one.notice) for one in before] != [(one.level, one.notice) for one in found]:
            self.on_change()


def _refusal(model: str) -> Notice:
    return Notice(kind="refusal", subject=model)
