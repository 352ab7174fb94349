"""Servers with the API of OpenAI or Anthropic, looked at for nothing: by their lists of models.

    address + /models --> a list                  --> key and names are right, or "did you mean"
                      |-> 401, 403                --> the key is refused
                      |-> nothing of that kind    --> the same with /v1 behind it, or without --> "set it to ..."
                      '-> no answer               --> unreachable; in a container loopback is the container itself

What one of its models can do is asked in the same way: Anthropic tells it at /v1/models/NAME, OpenAI itself tells names
alone, all others what their list says and, if that says nothing of window or pictures, what llama.cpp, LM Studio and
Ollama know besides. No model is asked, and no key is shown.

Source: platform.claude.com, "List Models" and "Get a Model"; OpenAI's API
reference, "Models" (2026-11-22). Servers compatible with OpenAI's know at least the list; some show it without a key.
"""

import asyncio
import difflib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import islice
from typing import Any, cast
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from bot.chat.notices import Notice
from bot.doctor.findings import Finding, ok, problem, warning
from bot.errors import Disconnected
from bot.models import capabilities
from bot.models.capabilities import NOTHING, Capabilities
from bot.settings.load import ALSO
from bot.signal.json import Json
from tools import Http, JsonAnswer, TimedOut, ToolError, Unreachable, bearer

TIMEOUT_SECONDS = 8.0
"""For one question, retry included, and for all questions about a model."""
_FAILED = HTTPStatus.INTERNAL_SERVER_ERROR
REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
ASK_SECONDS = 10.0
"""For one question, whatever it is."""
_ANTHROPIC_VERSION = "2026-10-21"
"""As the SDK of Anthropic 2.12.0 sends it (2026-11-22)."""
_LIKENESS = 0.4
_MAX_NAMES, _MAX_NAME_CHARS = 2000, 200
"""Of a list: to look for what is like a name takes longer the more there are."""


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """A server, and by which variables it is set."""

    area: str
    """What it serves."""
    group: str
    """The settings that name it: `LLM__OPENAI`, with `__BASE_URL`, `__API_KEY` and `__MODEL` behind it."""
    base_url: str
    key: SecretStr | None
    is_vendor: bool = True
    """Whether it is the vendor itself, which lists all that it has, and shows it to no one without a key."""

    @property
    def is_anthropic(self) -> bool:
        """Whether it has the API of Anthropic, not that of OpenAI."""
        return self.group == "LLM__ANTHROPIC"

    @property
    def name(self) -> str:
        """What a finding calls it: one of several models by its vendor."""
        return self.group.rpartition("__")[2].lower() if self.area == "models" else "the server"

    @property
    def models_url(self) -> str:
        """Where its list is."""
        return f"{self.base_url}{'/v1' if self.is_anthropic else ''}/models"

    @property
    def headers(self) -> Mapping[str, str]:
        """Those that go with every request."""
        if not self.is_anthropic:
            return bearer(self.key)
        key = {"x-api-key": self.key.get_secret_value()} if self.key else {}
        return {"anthropic-version": _ANTHROPIC_VERSION, **key}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerProbe:
    """What came of looking at a server."""

    finding: Finding
    known: Mapping[str, Capabilities] | None = None
    """What its list says of each model; None where it gave no list."""


async def look_at(server: CheckedServer, http: Http, *, is_contained: bool) -> ServerProbe:
    """Returns whether the address and the key of a server are right; `is_contained`: Aldis runs in a container."""
    answer, area = await _ask(http, server, server.models_url), server.area
    at, key = f"{server.name} at {without_password(server.base_url)}", with_other_name(f"{server.group}__API_KEY")
    of_key = Notice(kind="key", subject=server.name if area == "models" else area)
    if (known := _models(answer, server)) is not None:
        if not known and area == "models":
            found = problem(area, f"{at} answers, but has no model yet", f"add one, or set {server.group}__MODEL")
        elif not server.key:
            found = ok(area, f"{at} answers and requires no key")
        elif server.is_vendor:
            found = ok(area, f"{at} answers and accepts the key", notice=of_key)
        else:
            found = ok(area, f"{at} answers; the key was not tried: that would cost money")
        return ServerProbe(finding=found, known=known)
    if isinstance(answer, JsonAnswer) and answer.status in REFUSED:
        if server.key:
            return ServerProbe(finding=problem(area, f"{server.name} refuses the key", f"correct {key}", of_key))
        return ServerProbe(finding=problem(area, f"{server.name} requires a key", f"set {key}"))
    if why := _why_away(answer):
        advice = advice_on_address(server.base_url, f"{server.group}__BASE_URL", is_contained=is_contained)
        return ServerProbe(finding=problem(area, f"{at} does not answer: {why}", advice))
    return ServerProbe(finding=await _misplaced(server, at, http))


async def _misplaced(server: CheckedServer, at: str, http: Http) -> Finding:
    """Why an address that answers lists no models: /v1 is missing or too much, or the server has no list."""
    base, own = server.base_url, f"{server.group}__BASE_URL"
    moved = replace(server, base_url=base.removesuffix("/v1") if base.endswith("/v1") else f"{base}/v1")
    if _models(await _ask(http, moved, moved.models_url), moved) is not None:
        shown = without_password(moved.base_url)
        also = f" (or {ALSO[own]})" if own in ALSO else ""
        what = f"{at}: there is nothing there, but it answers at {shown}"
        return problem(server.area, what, f"set {own}={shown}{also}")
    # Whatever answers on the web has no list, but some servers for speech have none either.
    what = f"{at} answers, but lists no models, so key and model were not tried"
    return (warning if server.area == "models" else ok)(server.area, what)


def _why_away(answer: JsonAnswer | ToolError) -> str:
    """Why a server gave no answer, or none now; empty where its answer was of another kind."""
    if isinstance(answer, Unreachable | TimedOut):
        return why_silent(answer)
    if isinstance(answer, JsonAnswer) and (answer.status == HTTPStatus.TOO_MANY_REQUESTS or answer.status >= _FAILED):
        return f"it returns an error (status {answer.status})"
    return ""


async def look_for(
    model: str, server: CheckedServer, variable: str, known: Mapping[str, Capabilities], http: Http
) -> Finding:
    """Returns whether a server that lists these models has this one, which a variable names."""
    notice = Notice(kind="model", subject=model)
    is_known = model in known or f"{model}:latest" in known
    if not is_known:  # it may be an alias
        answer = await _ask(http, server, f"{server.models_url}/{quote(model, safe='')}")
        is_known = isinstance(answer, JsonAnswer) and answer.ok and "'id'" in str(answer.body)
    if is_known:
        return ok(server.area, f"{server.name} has the model {model}", notice=notice)
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(model.lower(), by_lower, n=1, cutoff=_LIKENESS)
    meant, how = f"; did you mean {by_lower[near[0]]}?" if near else "", f"correct {variable}"
    if server.is_vendor:
        return problem(server.area, f"{server.name} has no model {model}{meant}", how, notice)
    return warning(server.area, f"{server.name} does not list the model {model}{meant}", how)


def advice_on_address(address: str, variable: str, *, is_contained: bool) -> str:
    """Returns what to do where nothing answers at an address that a variable sets."""
    name = with_other_name(variable)
    if is_contained and is_loopback(address):
        return (
            f"in a container, {urlsplit(address).hostname} is the container itself: set {name} to "
            "host.docker.internal, or to the service's name in compose"
        )
    return f"is it running, and is {name} its address?"


def why_silent(error: ToolError) -> str:
    """Returns why nothing came from a server; what is rare is quoted."""
    if isinstance(error, Unreachable):
        return f"no connection ({str(error).rpartition(': ')[2].removesuffix('.')})"
    return "not in time" if isinstance(error, TimedOut) else str(error)


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


def with_other_name(variable: str) -> str:
    """Returns a variable with the well-known name that is read in its place, where there is one."""
    return f"{variable} or {ALSO[variable]}" if variable in ALSO else variable


async def _ask(
    http: Http, server: CheckedServer, url: str, *, body: Mapping[str, Any] | None = None
) -> JsonAnswer | ToolError:
    params = {"limit": "1000"} if server.is_anthropic and url.endswith("/models") else None
    given: Mapping[str, Any] = {"params": params, "body": body, "headers": server.headers}
    try:
        return await http.get_json(url, service="the server", timeout_seconds=TIMEOUT_SECONDS, **given)
    except ToolError as error:
        return error


def _models(answer: JsonAnswer | ToolError, server: CheckedServer) -> Mapping[str, Capabilities] | None:
    """What a list says of each model; None where the answer is no such list."""
    if not (isinstance(answer, JsonAnswer) and answer.ok and isinstance(answer.body, dict)):
        return None
    body = cast("dict[str, Any]", answer.body)
    if not isinstance(body.get("data"), list):
        return None
    read = capabilities.of_anthropic if server.is_anthropic else capabilities.of_listed
    entries = islice(capabilities.entries(body), _MAX_NAMES)
    named = {name: entry for entry in entries if isinstance(name := entry.get("id"), str)}
    return {name: read(entry) for name, entry in named.items() if len(name) <= _MAX_NAME_CHARS}


async def ask_capabilities(
    server: CheckedServer, model: str, http: Http, *, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[str, Capabilities]:
    """Returns the name of the model and what the server says of it; `model` empty means the first of its list."""
    try:
        async with asyncio.timeout(timeout_seconds):
            if server.is_anthropic:
                url = f"{server.models_url}/{quote(model, safe='')}"
                return model, capabilities.of_anthropic(await _body(server, http, url))
            return (model, NOTHING) if server.is_vendor else await _ask_compatible(server, model, http)
    except TimeoutError:
        return model, NOTHING


async def _ask_compatible(server: CheckedServer, model: str, http: Http) -> tuple[str, Capabilities]:
    answer = await _body(server, http, server.models_url)
    listed = {name: entry for entry in capabilities.entries(answer) if isinstance(name := entry.get("id"), str)}
    model = model or next(iter(capabilities.chat_models(listed)), "")
    entry = listed.get(model) or listed.get(f"{model}:latest") or {}
    known = capabilities.of_listed(entry)
    if not model or (known.window_tokens and known.pictures is not None) or not server.base_url.endswith("/v1"):
        return model, known.or_else(capabilities.of_training(entry))
    root, name = server.base_url.removesuffix("/v1"), str(entry.get("id") or model)
    props, studio, shown, running = await asyncio.gather(
        _body(server, http, f"{root}/props"),
        _body(server, http, f"{root}/api/v0/models"),
        _body(server, http, f"{root}/api/show", body={"model": name}),
        _body(server, http, f"{root}/api/ps"),
    )
    for natively in (
        capabilities.of_llama_cpp(props),
        capabilities.of_lm_studio(studio, name),
        capabilities.of_ollama(shown, running, name),
        capabilities.of_training(entry),
    ):
        known = known.or_else(natively)
    return model, known


async def _body(server: CheckedServer, http: Http, url: str, *, body: Mapping[str, Any] | None = None) -> object:
    """The JSON of an answer; None where there is none."""
    answer = await _ask(http, server, url, body=body)
    return answer.body if isinstance(answer, JsonAnswer) and answer.ok else None


async def fetch_json(url: str, *, seconds: float = ASK_SECONDS) -> Json:
    """Returns the JSON object at an address, whatever the status.

    Raises:
        Disconnected: no server answers there within so many seconds, or one with something else.
    """
    try:
        async with Http("Aldis") as http:
            answer = await http.get_json(url, service="the server", timeout_seconds=seconds, retries=False)
    except ToolError as error:
        raise Disconnected(why_silent(error).rstrip(".")) from error
    if not isinstance(answer.body, dict):
        raise Disconnected("what answers there is something else")
    return cast("Json", answer.body)
