"""What answers: the models, who listens to voice notes and speaks, who draws. Servers are looked at for nothing, by
their lists of models; a model is asked only where that is wanted. No key is shown.

    address + /models --> a list                  --> key and names are right, or "did you mean"
                      |-> 401, 403                --> the key is refused
                      |-> nothing of that kind    --> does the address end with /v1?
                      '-> no answer               --> unreachable; in a container loopback is the container itself

Source: platform.claude.com, "List Models" and "Get a Model"; OpenAI's API reference, "Models" (2026-11-22).
"""

import asyncio
import difflib
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from bot.chat.notices import Kind, Notice
from bot.doctor.findings import Deps, Finding, hint, ok, problem, warning
from bot.errors import BadKey, Disconnected, NoSuchModel, ProviderError, Rejected
from bot.messages import UserMessage
from bot.models import capabilities
from bot.models.base import Completion, Provider, Request, ToolOffer
from bot.models.capabilities import NOTHING, Capabilities
from bot.settings import ProviderName, Settings
from bot.settings.load import ALSO
from bot.signal.json import Json
from tools import Http, ImagesOptions, JsonAnswer, TimedOut, ToolError, Unreachable, bearer, why_unreachable

TIMEOUT_SECONDS = 8.0
"""For one question, retry included."""
_ANTHROPIC_VERSION = "2026-10-21"
"""As the SDK of Anthropic 2.12.0 sends it (2026-11-22)."""
_LIKENESS = 0.4
_ANSWER_SECONDS, _MAX_ANSWER_TOKENS = 60.0, 1024
_SMALL_WINDOW = 8192
"""With less, tools and an answer leave hardly any room for what was said before."""

_URLS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
_PING = ToolOffer(name="ping", description="Tells that tools can be called. Takes nothing.", parameters={})
_PARSERS = (
    "start the server with its parser of calls (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: "
    "--tool-call-parser NAME; llama.cpp: --jinja), or set LLM__OPENAI__TOOL_MODE=prompt"
)
"""Source: docs.vllm.ai and docs.sglang.ai (tool calling), llama.cpp's docs/function-calling.md, 2026-11-27."""


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """A server, and by which variables it is set."""

    area: str
    """What it serves: `models`, `audio`, `images` or `search`."""
    name: str
    prefix: str
    """How the names of its settings begin: `LLM__OPENAI__`, with `BASE_URL` and `API_KEY` behind it."""
    base_url: str
    key: SecretStr | None
    is_vendor: bool = True
    """Whether it is the vendor itself, which lists all that it has, and shows it to no one without a key."""

    @property
    def is_anthropic(self) -> bool:
        """Whether it has the API of Anthropic, not that of OpenAI."""
        return self.name == "anthropic"

    @property
    def models_url(self) -> str:
        """Where its list of models is."""
        return f"{self.base_url}{'/v1/models?limit=1000' if self.is_anthropic else '/models'}"

    def variable(self, field: str) -> str:
        """Returns the name of one of its settings, with the well-known one that is read in its place."""
        return " or ".join(name for name in (self.prefix + field, ALSO.get(self.prefix + field)) if name)

    async def ask_about(self, http: Http, model: str) -> object:
        """Returns what it says of one of its models; None if it says nothing."""
        return _body(await self.ask(http, f"{self.models_url.partition('?')[0]}/{quote(model, safe='')}"))

    async def ask(self, http: Http, url: str, **more: Any) -> JsonAnswer | ToolError:
        """Returns its answer, or why there is none; `more` are `headers`, its usual ones if left out, or a `body`."""
        more.setdefault("headers", bearer(self.key))
        if self.is_anthropic:
            key = {"x-api-key": self.key.get_secret_value()} if self.key else {}
            more["headers"] = {"anthropic-version": _ANTHROPIC_VERSION, **key}
        try:
            return await http.get_json(url, service="the server", timeout_seconds=TIMEOUT_SECONDS, **more)
        except ToolError as error:
            return error

    def refusal(self, answer: JsonAnswer | ToolError, *, is_contained: bool) -> Finding | None:
        """Returns why it gave no answer: it is away, or refuses the key; None if it gave one."""
        status = answer.status if isinstance(answer, JsonAnswer) else HTTPStatus.OK
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            what, how = ("refuses the key", "correct") if self.key else ("requires a key", "set")
            return problem(self.area, f"{self.name} {what}", f"{how} {self.variable('API_KEY')}", self.of_key)
        why = f"it returns an error (status {status})"
        if isinstance(answer, Unreachable | TimedOut):
            why = why_unreachable(answer)
        elif status != HTTPStatus.TOO_MANY_REQUESTS and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return None
        how = advice_on_address(self.base_url, self.variable("BASE_URL"), is_contained=is_contained)
        return problem(self.area, f"{self.name} at {without_password(self.base_url)} does not answer: {why}", how)

    @property
    def of_key(self) -> Notice:
        """What the admins read where its key is refused."""
        return Notice(kind="key", subject=self.area if self.name == "the server" else self.name)


async def look_at(
    server: CheckedServer, models: Mapping[str, str], deps: Deps
) -> tuple[list[Finding], Mapping[str, Capabilities] | None]:
    """Returns whether a server answers and has the models, each named by a variable; and what its list says of each
    model that it has, None without a list.
    """
    answer, area = await server.ask(deps.tool_deps.http, server.models_url), server.area
    if refusal := server.refusal(answer, is_contained=deps.is_contained):
        return [refusal], None
    listed, at = _body(answer), f"{server.name} at {without_password(server.base_url)}"
    if not (isinstance(listed, dict) and isinstance(cast("Json", listed).get("data"), list)):
        # Whatever answers on the web has no list, and some servers for speech have none either.
        what = f"{at} answers, but lists no models, so key and model were not tried"
        how = f"does {server.variable('BASE_URL')} end {'without' if server.is_anthropic else 'with'} /v1?"
        return [warning(area, what, how)], None
    read = capabilities.of_anthropic if server.is_anthropic else capabilities.of_listed
    known = {name: read(entry) for name, entry in _by_name(cast("Json", listed)).items()}
    if not known and area == "models":
        return [problem(area, f"{at} answers, but has no model yet", "add one there")], known
    found = ok(area, f"{at} answers")
    if server.key and server.is_vendor:
        found = ok(area, f"{at} answers and accepts the key", notice=server.of_key)
    named = (_look_for(model, server, models[model], known, deps.tool_deps.http) for model in models if known)
    return [found, *await asyncio.gather(*named)], known


def _body(answer: JsonAnswer | ToolError) -> object:
    """The JSON of an answer; None where there is none."""
    return answer.body if isinstance(answer, JsonAnswer) and answer.ok else None


def _by_name(listed: object) -> Mapping[str, Json]:
    return {name: one for one in capabilities.entries(listed) if isinstance(name := one.get("id"), str)}


async def _look_for(
    model: str, server: CheckedServer, variable: str, known: Mapping[str, Capabilities], http: Http
) -> Finding:
    """Whether a server that lists these models has this one, which a variable names."""
    notice = Notice(kind="model", subject=model)
    is_known = model in known or f"{model}:latest" in known
    alias = None if is_known else await server.ask_about(http, model)
    if is_known or (isinstance(alias, dict) and "id" in alias):
        return ok(server.area, f"{server.name} has the model {model}", notice=notice)
    near = difflib.get_close_matches(model, known, n=1, cutoff=_LIKENESS)
    meant, how = f"; did you mean {near[0]}?" if near else "", f"correct {variable}"
    if server.is_vendor:
        return problem(server.area, f"{server.name} has no model {model}{meant}", how, notice)
    return warning(server.area, f"{server.name} does not list the model {model}{meant}", how)


async def ask_capabilities(server: CheckedServer, model: str, http: Http) -> tuple[str, Capabilities]:
    """Returns the name of the model and what the server says of it; `model` empty means the first of its list."""
    if server.is_anthropic:
        return model, capabilities.of_anthropic(await server.ask_about(http, model))
    if server.is_vendor:
        return model, NOTHING
    listed = _by_name(_body(await server.ask(http, server.models_url)))
    model = model or next(iter(capabilities.chat_models(listed)), "")
    entry = listed.get(model) or listed.get(f"{model}:latest") or {}
    known = capabilities.of_listed(entry)
    if not model or (known.window_tokens and known.pictures is not None) or not server.base_url.endswith("/v1"):
        return model, known.or_else(capabilities.of_training(entry))
    root, name = server.base_url.removesuffix("/v1"), str(entry.get("id") or model)
    answers = await asyncio.gather(
        server.ask(http, f"{root}/props"),
        server.ask(http, f"{root}/api/v0/models"),
        server.ask(http, f"{root}/api/show", body={"model": name}),
        server.ask(http, f"{root}/api/ps"),
    )
    props, studio, shown, running = map(_body, answers)
    known = known.or_else(capabilities.of_llama_cpp(props)).or_else(capabilities.of_lm_studio(studio, name))
    return model, known.or_else(capabilities.of_ollama(shown, running, name)).or_else(capabilities.of_training(entry))


def advice_on_address(address: str, variable: str, *, is_contained: bool) -> str:
    """Returns what to do where nothing answers at an address that a variable sets."""
    if not (is_contained and is_loopback(address)):
        return f"is it running, and is {variable} its address?"
    here = f"in a container, {urlsplit(address).hostname} is the container itself"
    return f"{here}: set {variable} to host.docker.internal, or to the service's name in compose"


def is_loopback(address: str) -> bool:
    """Whether an address names the machine itself."""
    host = urlsplit(address).hostname or ""
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return parsed.is_loopback or parsed.is_unspecified


def without_password(address: str) -> str:
    """Returns an address as it may be shown: some servers want a name and a password in it."""
    before, at, behind = address.rpartition("@")
    return f"{before.partition('//')[0]}//...@{behind}" if at else address


async def fetch_json(url: str) -> Json:
    """Returns the JSON object at an address, whatever the status; raises Disconnected if none comes in time."""
    try:
        async with Http("Aldis") as http:
            answer = await http.get_json(url, service="it", timeout_seconds=TIMEOUT_SECONDS, retries=False)
    except ToolError as error:
        raise Disconnected(str(error).rstrip(".")) from error
    if not isinstance(answer.body, dict):
        raise Disconnected("what answers there is something else")
    return cast("Json", answer.body)


def checked_server(vendor: str, settings: Settings) -> CheckedServer:
    """Returns a vendor's server as things are set; the built-in model has no address."""
    given = settings.llm.anthropic if vendor == "anthropic" else settings.llm.openai
    is_vendor = vendor == "anthropic" or settings.llm.openai.is_openai_itself
    url = given.base_url or _URLS.get(vendor, "")
    return CheckedServer("models", vendor, f"LLM__{vendor.upper()}__", url, given.api_key, is_vendor=is_vendor)


async def check_models(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether the servers of the models can be reached, take the key and have the models; for nothing."""
    llm = settings.llm
    named = {llm.model_of(name): f"LLM__{name.upper()}__MODEL" for name in llm.providers_in_order}
    named = {**named, **{choice: "LLM__CHOICES" for choice in llm.choices if choice not in named}}
    of_vendors: dict[str, dict[str, str]] = {}
    for name, variable in named.items():
        vendor, _, model = name.partition("/")
        if vendor != "offline":
            of_vendors.setdefault(vendor, {}).update({model: variable} if model else {})
    checks = (_check_vendor(vendor, models, settings, deps) for vendor, models in of_vendors.items())
    found = [finding for part in await asyncio.gather(*checks) for finding in part]
    if not of_vendors:
        how = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
        found.append(warning("models", "no key is set, so only the offline model answers", how))
    for vendor, given in (("anthropic", llm.anthropic), ("openai", llm.openai)):
        # A key alone is what many machines have set for other programs, and serves speech, too.
        if vendor not in of_vendors and (wanted := given.model_fields_set - {"api_key"}):
            unused = ", ".join(f"LLM__{vendor.upper()}__{name.upper()}" for name in sorted(wanted))
            how = f"set LLM__{vendor.upper()}__API_KEY, or LLM__PROVIDERS"
            found.append(warning("models", f"{unused} has no effect, because {vendor} is not used", how))
    return found


async def _check_vendor(vendor: str, models: Mapping[str, str], settings: Settings, deps: Deps) -> list[Finding]:
    """What is to be said of a server and of its models, each named by a variable; without any its first one is used."""
    server, http = checked_server(vendor, settings), deps.tool_deps.http
    found, _ = await look_at(server, models, deps)
    if any(finding.level != "ok" for finding in found):
        return found
    for model, known in await asyncio.gather(*(ask_capabilities(server, one, http) for one in models or [""])):
        if known.window_tokens and known.window_tokens < _SMALL_WINDOW:
            what = f"{vendor} gives {model} a window of only {known.window_tokens:,} tokens, so it soon forgets"
            how = f"give it {_SMALL_WINDOW * 2:,} or more in the settings of the server, such as "
            found.append(warning("models", what, f"{how}OLLAMA_CONTEXT_LENGTH, or -c with llama.cpp"))
        if known.is_deprecated:
            when = f"on {known.retires_on}" if known.retires_on else "soon (no day is given yet)"
            how = f"set LLM__{vendor.upper()}__MODEL (or LLM__CHOICES) to another model before"
            found.append(warning("models", f"{vendor}: {model} is deprecated; it stops answering {when}", how))
    return found


async def check_audio(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether voice notes are understood, and by whom."""
    audio = settings.audio
    if audio.base_url is None:
        level = warning if audio.model_fields_set else hint
        return [level("audio", "voice notes are not understood", "AUDIO__BASE_URL switches it on")]
    if audio.is_openai_itself and settings.audio_key is None:
        return [problem("audio", "OpenAI requires a key", "set AUDIO__API_KEY")]
    key, is_vendor = settings.audio_key, audio.is_openai_itself
    server = CheckedServer("audio", "the server", "AUDIO__", audio.base_url, key, is_vendor=is_vendor)
    speaking = {audio.speaking_model: "AUDIO__SPEECH_MODEL"} if audio.speak else {}
    return (await look_at(server, {audio.listening_model: "AUDIO__MODEL", **speaking}, deps))[0]


async def check_images(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether the server that draws can be reached; nothing where none does."""
    tools = settings.tools
    options = tools.options_by_name.get("images")
    if not (isinstance(options, ImagesOptions) and options.enabled and tools.enabled) or options.missing_settings():
        return []
    url, key, is_vendor = options.base_url or _URLS["openai"], options.api_key, options.base_url is None
    server = CheckedServer("images", "the server", "TOOLS__IMAGES__", url, key, is_vendor=is_vendor)
    return (await look_at(server, {options.model: "TOOLS__IMAGES__MODEL"} if options.model else {}, deps))[0]


async def ask_models(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether the first model of each provider answers and calls a tool, which costs a little."""

    async def check(name: ProviderName) -> Finding:
        try:
            answer = await ask(deps.provider(name), "Are you there? Call the tool ping.", (_PING,))
        except ProviderError as error:
            return problem("models", f"{name} does not answer: {type(error).__name__}: {error}")
        what = f"{name} answered as {answer.model}"
        if name == "openai" and not (answer.message and answer.message.calls):
            return warning("models", f"{what}, but called no tool", _PARSERS)
        cost = "at an unknown cost" if answer.cost_usd is None else f"for {answer.cost_usd} USD"
        return ok("models", f"{what} in {answer.latency_seconds:.1f} s, {cost}")

    return await asyncio.gather(*(check(name) for name in settings.llm.providers_in_order if name != "offline"))


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


class ModelTroubles:
    """Failures of models that only the operator can mend, each until the same model has answered."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Finding, ...]] = {}

    def on_error(self, error: ProviderError) -> None:
        """Notes that a try has failed."""
        name, model = error.provider, error.model or "unknown"
        group = f"LLM__{name.upper()}"
        how = f"look at {group}__MODEL and {group}__BASE_URL"
        if isinstance(error, BadKey):
            what, notice = "refuses the key or the account", Notice(kind="key", subject=name)
            how = f"look at {group}__API_KEY, and at the account's credit"
        elif isinstance(error, NoSuchModel):
            what, notice = f"does not have the model {model}", Notice(kind="model", subject=model)
        elif isinstance(error, Rejected) and error.is_setup:
            what, notice = f"refuses every request to the model {model}", Notice(kind="refusal", subject=model)
            how += "; TOOLS__ENABLED=false shows whether a tool is the cause"
        else:
            return
        self._note(name, model, (problem("models", f"{name} {what} ({error})", how, notice),))

    def on_answer(self, completion: Completion) -> None:
        """Notes that a model has answered, also under the name (an alias, a dated one) with which it failed before."""
        provider, answered = completion.provider, completion.model
        failed = {model for name, model in self._found if name == provider}
        for model in {answered, *(one for one in failed if answered.startswith((f"{one}-", f"{one}:")))}:
            kinds: dict[Kind, str] = {"key": provider, "model": model, "refusal": model}
            over = (Notice(kind=kind, subject=subject) for kind, subject in kinds.items())
            self._note(provider, model, tuple(ok("models", f"{model} answers", notice=one) for one in over))

    def findings(self) -> tuple[Finding, ...]:
        """Returns the last word on each model."""
        return tuple(finding for found in self._found.values() for finding in found)

    def _note(self, provider: str, model: str, found: tuple[Finding, ...]) -> None:
        self._found.pop((provider, model), None)
        self._found[provider, model] = found
