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
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote, urlsplit

import httpx

from bot.chat.notices import Notice
from bot.doctor.findings import Finding, ok, problem, warning
from bot.errors import Disconnected
from bot.invocation import command_line
from bot.models import capabilities
from bot.models.capabilities import NOTHING, Capabilities
from bot.settings import ALSO
from bot.signal.json import Json
from tools import Http, JsonAnswer, TooLarge, ToolError, Unavailable, Unreachable, trusted_certificates
from tools import TimedOut as TimedOutError

TIMEOUT_SECONDS = 8.0
"""For one question, retry included, and for all questions about a model."""
REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
ASK_SECONDS = 10.0
"""For one question, whatever it is."""
_LIKENESS = 0.4
_MAX_NAMES, _MAX_NAME_CHARS = 2000, 200
"""Of a list: to look for what is like a name takes longer the more there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedServer:
    """A server, and by which variables it is set."""

    area: str
    """What it serves."""
    name: str
    """By which it is told from others: `openai`, `audio`."""
    group: str
    """The settings that name it: `LLM__OPENAI`, with `__BASE_URL`, `__API_KEY` and `__MODEL` behind it."""
    base_url: str
    path: str = ""
    """What stands between the address and `/models`: `/v1` with Anthropic."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those that go with every request, the key aside."""
    key_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Empty: there is no key."""
    is_vendor: bool = False
    """Whether it is the vendor itself, which lists all that it has, and shows it to no one without a key."""

    @property
    def called(self) -> str:
        """What a finding calls it: one of several by its name."""
        return self.name if self.area == "models" else "the server"

    @property
    def models_url(self) -> str:
        """Where its list is."""
        return f"{self.base_url}{self.path}/models"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerProbe:
    """What came of looking at a server."""

    findings: tuple[Finding, ...]
    names: tuple[str, ...] | None = None
    """What it lists; None where that is not known."""
    told: Mapping[str, Capabilities] = field(default_factory=dict[str, Capabilities])
    """What the list says of each."""


async def look_at(server: CheckedServer, http: Http, *, is_contained: bool) -> ServerProbe:
    """Returns whether the address and the key of a server are right; `is_contained`: Aldis runs in a container."""
    answer = await _ask(http, server, server.models_url)
    if isinstance(answer, JsonAnswer) and (names := _names(answer)) is not None:
        return ServerProbe(findings=(_listed(server),), names=names, told=_told(answer, names, server))
    return ServerProbe(findings=(await _not_listed(server, answer, http, is_contained=is_contained),))


def _listed(server: CheckedServer) -> Finding:
    """That a server listed its models, and whether that proves the key."""
    what = f"{server.called} at {without_password(server.base_url)} answers"
    if not server.key_headers:
        return ok(server.area, f"{what} and requires no key")
    if not (server.is_vendor or server.path):
        return ok(server.area, f"{what}; the key was not tried: that would cost money", _ask_models())
    return ok(server.area, f"{what} and accepts the key", notice=Notice(kind="key", subject=server.name))


async def _not_listed(
    server: CheckedServer, answer: JsonAnswer | ToolError, http: Http, *, is_contained: bool
) -> Finding:
    """Why a server gives no list of models."""
    at = f"{server.called} at {without_password(server.base_url)}"
    if isinstance(answer, JsonAnswer) and answer.status in REFUSED:
        key = with_other_name(f"{server.group}__API_KEY")
        if not server.key_headers:
            return problem(server.area, f"{server.called} requires a key", f"set {key}")
        notice = Notice(kind="key", subject=server.name)
        return problem(server.area, f"{server.called} refuses the key", f"correct {key}", notice)
    if why := _why_away(answer):
        advice = advice_on_address(server.base_url, f"{server.group}__BASE_URL", is_contained=is_contained)
        return problem(server.area, f"{at} does not answer: {why}", advice)
    base = server.base_url
    other = base.removesuffix("/v1") if server.path or base.endswith("/v1") else f"{base}/v1"
    second = await _ask(http, server, f"{other}{server.path}/models")
    if isinstance(second, JsonAnswer) and _names(second) is not None:
        shown, own = without_password(other), f"{server.group}__BASE_URL"
        what = f"{at}: there is nothing there, but it answers at {shown}"
        return problem(server.area, what, f"set {own}={shown}" + (f" (or {ALSO[own]})" if own in ALSO else ""))
    # Whatever answers on the web has no list, but some servers for speech have none either.
    level = warning if server.area == "models" else ok
    what = f"{at} answers, but lists no models: key and model were not tried, because that would cost money"
    return level(server.area, what, _ask_models())


def _why_away(answer: JsonAnswer | ToolError) -> str:
    """Why a server gave no answer, or none now; empty where its answer was of another kind."""
    if isinstance(answer, JsonAnswer):
        is_passing = answer.status == HTTPStatus.TOO_MANY_REQUESTS or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return f"it returns an error (status {answer.status})" if is_passing else ""
    is_answer = isinstance(answer, Unavailable | TooLarge) and not isinstance(answer, Unreachable | TimedOutError)
    return "" if is_answer else why_silent(answer)


async def look_for(model: str, server: CheckedServer, variable: str, names: tuple[str, ...], http: Http) -> Finding:
    """Returns whether a server that lists these models has this one, which a variable names."""
    notice = Notice(kind="model", subject=model)
    is_known, is_denied = model in names or f"{model}:latest" in names, server.is_vendor
    if not is_known:  # it may be an alias
        answer = await _ask(http, server, f"{server.models_url}/{quote(model, safe='')}")
        body = str(answer.body) if isinstance(answer, JsonAnswer) else ""
        is_known = isinstance(answer, JsonAnswer) and answer.ok and "'id'" in body
        is_denied |= model.lower() in body.lower() and "/models" not in body  # the model, not the page, is missing
    if is_known:
        return ok(server.area, f"{server.called} has the model {model}", notice=notice)
    near = nearest(model, names)
    meant, how = f"; did you mean {near}?" if near else "", f"correct {variable}"
    if is_denied:
        return problem(server.area, f"{server.called} has no model {model}{meant}", how, notice)
    return warning(server.area, f"{server.called} does not list the model {model}{meant}", how)


def nearest(name: str, names: tuple[str, ...]) -> str | None:
    """Returns the name that is most like this one; None where no name is close."""
    by_lower = {one.lower(): one for one in names}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=_LIKENESS)
    return by_lower[found[0]] if found else None


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
    return "not in time" if isinstance(error, TimedOutError) else str(error)


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


def _ask_models() -> str:
    return f"`{command_line('doctor --model')}` asks the models themselves"


async def _ask(
    http: Http, server: CheckedServer, url: str, *, body: Mapping[str, Any] | None = None
) -> JsonAnswer | ToolError:
    bounds: Mapping[str, Any] = {"service": "the server", "timeout_seconds": TIMEOUT_SECONDS}
    headers = {**server.headers, **server.key_headers}
    try:
        if body is not None:
            return await http.ask_json(url, body=body, headers=headers, **bounds)
        params = {"limit": "1000"} if server.path and url.endswith("/models") else {}
        return await http.get_json(url, params=params, headers=headers, **bounds)
    except ToolError as error:
        return error


def _names(answer: JsonAnswer) -> tuple[str, ...] | None:
    """The names in a list of models; None where the answer is no such list."""
    body = cast("dict[str, Any]", answer.body) if answer.ok and isinstance(answer.body, dict) else {}
    if not isinstance(body.get("data"), list):
        return None
    names = [entry.get("id") for entry in capabilities.entries(body)][:_MAX_NAMES]
    return tuple(name for name in names if isinstance(name, str) and len(name) <= _MAX_NAME_CHARS)


def _told(answer: JsonAnswer, names: tuple[str, ...], server: CheckedServer) -> Mapping[str, Capabilities]:
    """What the list says of these models."""
    read = capabilities.of_anthropic if server.path else capabilities.of_listed
    entries = {entry.get("id"): entry for entry in capabilities.entries(answer.body)}
    return {name: read(entries[name]) for name in names}


async def ask_capabilities(
    server: CheckedServer, model: str, http: Http, *, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[str, Capabilities]:
    """Returns the name of the model and what the server says of it; `model` empty means the first of its list."""
    try:
        async with asyncio.timeout(timeout_seconds):
            if server.path:  # Anthropic's
                url = f"{server.models_url}/{quote(model, safe='')}"
                return model, capabilities.of_anthropic(await _answer(server, http, url))
            return (model, NOTHING) if server.is_vendor else await _ask_compatible(server, model, http)
    except TimeoutError:
        return model, NOTHING


async def _ask_compatible(server: CheckedServer, model: str, http: Http) -> tuple[str, Capabilities]:
    answer = await _answer(server, http, server.models_url)
    listed = {name: entry for entry in capabilities.entries(answer) if isinstance(name := entry.get("id"), str)}
    model = model or next(iter(capabilities.chat_models(listed)), "")
    entry = listed.get(model) or listed.get(f"{model}:latest") or {}
    told = capabilities.of_listed(entry)
    if not model or (told.window_tokens and told.pictures is not None) or not server.base_url.endswith("/v1"):
        return model, told.or_else(capabilities.of_training(entry))
    root, name = server.base_url.removesuffix("/v1"), str(entry.get("id") or model)
    props, studio, shown, running = await asyncio.gather(
        _answer(server, http, f"{root}/props"),
        _answer(server, http, f"{root}/api/v0/models"),
        _answer(server, http, f"{root}/api/show", body={"model": name}),
        _answer(server, http, f"{root}/api/ps"),
    )
    natively = (
        capabilities.of_llama_cpp(props),
        capabilities.of_lm_studio(studio, name),
        capabilities.of_ollama(shown, running, name),
        capabilities.of_training(entry),
    )
    for one in natively:
        told = told.or_else(one)
    return model, told


async def _answer(server: CheckedServer, http: Http, url: str, *, body: Mapping[str, Any] | None = None) -> object:
    """The JSON of an answer; None where there is none."""
    answer = await _ask(http, server, url, body=body)
    return answer.body if isinstance(answer, JsonAnswer) and answer.ok else None


async def fetch_json(url: str, *, seconds: float = ASK_SECONDS) -> Json:
    """Returns the JSON object at an address, whatever the status.

    Raises:
        Disconnected: no server answers there within so many seconds, or one with something else.
    """
    # The machine's proxies have no business on the way to what is close by, and no certificate is read without need.
    verify = trusted_certificates() if url.startswith("https:") else False
    try:
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(trust_env=False, timeout=seconds, verify=verify) as client,
        ):
            found = json.loads((await client.get(url)).content)
        if not isinstance(found, dict):
            raise Disconnected("what answers there is something else")
        return cast("Json", found)
    except TimeoutError as error:
        raise Disconnected("no answer in time") from error
    except (httpx.ConnectError, OSError) as error:
        raise Disconnected("no server listens there") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise Disconnected("what answers there is something else") from error
