"""Servers with the API of OpenAI or Anthropic, looked at for nothing: by their lists of models.

    address + /models --> a list                  --> key and names are right, or "did you mean"
                      |-> 401, 403                --> the key is refused
                            |-> nothing of that kind    --> the same with /v1 behind it, or without --> "set it to ..."
                      '-> no answer               --> unreachable; in a container loopback is the container itself

Nothing that anybody wrote is sent, no model is asked, and no key is shown.

Source: platform.claude.com, "List Models" and "Get a Model"; OpenAI's API reference, "Models" (2026-11-22). Servers
that are compatible with OpenAI's know at least the list; some show it without a key.
"""

import difflib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote, urlsplit

from bot.chat.notices import Notice
from bot.doctor.findings import Finding, ok, problem, warning
from bot.invocation import command_line
from bot.models import capabilities
from bot.models.capabilities import Capabilities
from bot.settings import ALSO
from tools import Http, JsonAnswer, TooLarge, ToolError, Unavailable, Unreachable
from tools import TimedOut as TimedOutError

TIMEOUT_SECONDS = 8.0
"""For one question, retry included."""

_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_PASSING = frozenset({HTTPStatus.TOO_MANY_REQUESTS, *(status for status in HTTPStatus if status >= 500)})  # noqa: PLR2004
_LIKENESS = 0.4
_MAX_URL_CHARS = 200
_MAX_NAMES, _MAX_NAME_CHARS = 2000, 200
"""Of a list: to look for what is like a name takes longer the more there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedServer:
    """A server, and by which variables it is set."""

    area: str
    """What it serves."""
    name: str
    """By which it is told from others, and told to admins: `openai`, `audio`."""
    base_url: str
    path: str = ""
    """What stands between the address and `/models`: `/v1` with Anthropic."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those that go with every request, the key aside."""
    key_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Empty: there is no key."""
    address_variable: str
    key_variable: str
    model_variable: str
    is_vendor: bool = False
    """Whether it is the vendor itself, which lists all that it has, and shows it to nobody without a key."""

    @property
    def called(self) -> str:
        """What a finding calls it: one of several by its name."""
        return self.name if self.area == "models" else "the server"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Listing:
    """What a server listed: the names; else why there are none."""

    names: tuple[str, ...] | None = None
    told: Mapping[str, Capabilities] = field(default_factory=dict[str, Capabilities])
    is_refused: bool = False
    elsewhere: str | None = None
    """The address under which it answers."""
    is_there: bool = False
    """It answers, but lists nothing."""
    failure: str = ""
    """It does not answer, or not now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerProbe:
    """What came of looking at a server."""

    findings: tuple[Finding, ...]
    names: tuple[str, ...] | None
    """What it lists; None where that is not known."""
    told: Mapping[str, Capabilities] = field(default_factory=dict[str, Capabilities])
    """What the list says of each."""


async def look_at(server: CheckedServer, http: Http, *, is_contained: bool) -> ServerProbe:
    """Whether the address and the key of a server are right; `is_contained`: Aldis runs in a container."""
    listing = await _listing(server, http)
    named = {"server": server.called, "url": without_password(server.base_url)}
    if listing.names is not None:
        return ServerProbe(findings=(await _key_finding(server, http),), names=listing.names, told=listing.told)
    if listing.is_refused:
        return ServerProbe(findings=(_refused(server),), names=None)
    if listing.elsewhere is not None:
        elsewhere = without_password(listing.elsewhere)
        what = "{server} at {url}: there is nothing there, but it answers at {elsewhere}".format(
            **named, elsewhere=elsewhere
        )
        own, other = server.address_variable, ALSO.get(server.address_variable)
        advice = f"set {own}={elsewhere}"
        if other is not None:
            advice = f"set {own}={elsewhere} (or {other})"
        return ServerProbe(findings=(problem(server.area, what, advice),), names=None)
    if listing.is_there:
        what = (
            "{server} at {url} answers, but lists no models: key and model were not tried, because "
            "that would cost money"
        ).format(**named)
        # Whatever answers on the web has no list, but some servers for speech have none either.
        level = warning if server.area == "models" else ok
        return ServerProbe(findings=(level(server.area, what, _ask_models()),), names=None)
    advice = advice_on_address(server.base_url, server.address_variable, is_contained=is_contained)
    what = "{server} at {url} does not answer: {why}".format(**named, why=listing.failure)
    return ServerProbe(findings=(problem(server.area, what, advice),), names=None)


async def look_for(model: str, server: CheckedServer, variable: str, names: tuple[str, ...], http: Http) -> Finding:
    """Whether a server that lists these models has this one, which a variable names."""
    topic = f"model {server.name} {model}"
    has_it = ok(server.area, f"{server.called} has the model {model}", topic=topic)
    if model in names or f"{model}:latest" in names:
        return has_it
    answer = await _ask(http, server, f"{_models_url(server)}/{quote(model, safe='')}")
    if isinstance(answer, JsonAnswer) and answer.ok and _member(answer.body, "id"):
        return has_it
    if not (server.is_vendor or _denies(answer, model)):
        return unlisted_model(model, server, variable, names, topic=topic)
    values = {"server": server.called, "model": model}
    near = nearest(model, names)
    what = (
        "{server} has no model {model}; did you mean {near}?".format(**values, near=near)
        if near
        else "{server} has no model {model}".format(**values)
    )
    notice = Notice(kind="model", subject=model)
    return problem(server.area, what, f"correct {variable}", topic=topic, notice=notice)


def unlisted_model(
    model: str, server: CheckedServer, variable: str, names: tuple[str, ...], *, topic: str = ""
) -> Finding:
    """That a server does not list a model: some have more than they list."""
    values = {"server": server.called, "model": model}
    near = nearest(model, names)
    what = (
        "{server} does not list the model {model}; did you mean {near}?".format(**values, near=near)
        if near
        else "{server} does not list the model {model}".format(**values)
    )
    return warning(server.area, what, f"correct {variable}", topic=topic)


def nearest(name: str, names: tuple[str, ...]) -> str | None:
    """Returns the name that is most like this one; None where no name is close."""
    by_lower = {one.lower(): one for one in names}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=_LIKENESS)
    return by_lower[found[0]] if found else None


def advice_on_address(address: str, variable: str, *, is_contained: bool) -> str:
    """What to do where nothing answers at an address that a variable sets."""
    name = with_other_name(variable)
    if is_contained and is_loopback(address):
        return (
            f"in a container, {urlsplit(address).hostname} is the container itself: set {name} to "
            "host.docker.internal, or to the service's name in compose"
        )
    return f"is it running, and is {name} its address?"


def why_silent(error: ToolError) -> str:
    """Why nothing came from a server; what is rare is quoted."""
    if isinstance(error, Unreachable):
        return f"no connection ({str(error).rpartition(': ')[2].removesuffix('.')})"
    return "not in time" if isinstance(error, TimedOutError) else str(error)


def is_loopback(address: str) -> bool:
    """Whether an address names the machine itself."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return False
    return parsed.is_loopback or parsed.is_unspecified


def without_password(address: str) -> str:
    """An address as it may be shown: some servers want a name and a password in it."""
    before, at, behind = address.rpartition("@")
    return f"{before.partition('//')[0]}//...@{behind}" if at else address


def with_other_name(variable: str) -> str:
    """A variable with the well-known name that is read in its place, where there is one."""
    return f"{variable} or {ALSO[variable]}" if variable in ALSO else variable


def _ask_models() -> str:
    return f"`{command_line('doctor --model')}` asks the models themselves"


def _refused(server: CheckedServer) -> Finding:
    topic, key = f"key {server.name}", with_other_name(server.key_variable)
    if not server.key_headers:
        what = f"{server.called} requires a key"
        return problem(server.area, what, f"set {key}", topic=topic)
    notice = Notice(kind="key", subject=server.name)
    what = f"{server.called} refuses the key"
    return problem(server.area, what, f"correct {key}", topic=topic, notice=notice)


async def _key_finding(server: CheckedServer, http: Http) -> Finding:
    """Of a server that listed its models: whether that proves the key."""
    named = {"server": server.called, "url": without_password(server.base_url)}
    if not server.key_headers:
        return ok(server.area, "{server} at {url} answers and requires no key".format(**named))
    if not server.is_vendor:
        answer = await _ask(http, server, _models_url(server), is_keyless=True)
        if isinstance(answer, JsonAnswer) and _names(answer) is not None:
            return ok(
                server.area,
                (
                    "{server} at {url} answers; it lists its models to anybody, so the key was not tried: "
                    "that would cost money"
                ).format(**named),
                _ask_models(),
            )
    return ok(server.area, "{server} at {url} answers and accepts the key".format(**named), topic=f"key {server.name}")


async def _listing(server: CheckedServer, http: Http) -> _Listing:
    answer = await _ask(http, server, _models_url(server))
    if isinstance(answer, ToolError) and not _is_there(answer):
        return _Listing(failure=why_silent(answer))
    if isinstance(answer, JsonAnswer) and (told := _listing_in(answer, server)) is not None:
        return told
    other = _other_address(server)
    second = await _ask(http, server, f"{other}{server.path}/models")
    if isinstance(second, JsonAnswer) and _names(second) is not None:
        return _Listing(elsewhere=other)
    return _Listing(is_there=True)


def _listing_in(answer: JsonAnswer, server: CheckedServer) -> _Listing | None:
    """What the answer lists, or why it does not; None if there is nothing of that kind at its address."""
    if (names := _names(answer)) is not None:
        return _Listing(names=names, told=_told(answer, names, server))
    if answer.status in _REFUSED:
        return _Listing(is_refused=True)
    if answer.status in _PASSING:
        return _Listing(failure=f"it returns an error (status {answer.status})")
    return None


def _is_there(error: ToolError) -> bool:
    """Whether it was an answer that failed, and not the way to it."""
    return isinstance(error, Unavailable | TooLarge) and not isinstance(error, Unreachable | TimedOutError)


async def _ask(http: Http, server: CheckedServer, url: str, *, is_keyless: bool = False) -> JsonAnswer | ToolError:
    headers = {**server.headers, **({} if is_keyless else server.key_headers)}
    params = {"limit": "1000"} if server.path else {}
    try:
        return await http.get_json(
            url, service="the server", params=params, headers=headers, timeout_seconds=TIMEOUT_SECONDS
        )
    except ToolError as error:
        return error


def _models_url(server: CheckedServer) -> str:
    return f"{server.base_url}{server.path}/models"


def _other_address(server: CheckedServer) -> str:
    """The address with what may have been forgotten, or without what is too much."""
    base = server.base_url
    return base.removesuffix("/v1") if server.path or base.endswith("/v1") else f"{base}/v1"


def _names(answer: JsonAnswer) -> tuple[str, ...] | None:
    """The names in a list of models; None where the answer is no such list."""
    listed = _member(answer.body, "data") if answer.ok else None
    if not isinstance(listed, list):
        return None
    names = [_member(one, "id") for one in cast("list[Any]", listed)[:_MAX_NAMES]]
    return tuple(name for name in names if isinstance(name, str) and len(name) <= _MAX_NAME_CHARS)


def _told(answer: JsonAnswer, names: tuple[str, ...], server: CheckedServer) -> Mapping[str, Capabilities]:
    """What the list says of these models."""
    read = capabilities.of_anthropic if server.path else capabilities.of_listed
    listed = frozenset(names)
    return {
        name: read(entry)
        for entry in capabilities.entries(answer.body)
        if isinstance(name := entry.get("id"), str) and name in listed
    }


def _member(body: Any, name: str) -> Any:
    return cast("dict[str, Any]", body).get(name) if isinstance(body, dict) else None


def _denies(answer: JsonAnswer | ToolError, model: str) -> bool:
    """Whether the server itself says that there is no such model, and not that there is no such page."""
    if not isinstance(answer, JsonAnswer) or answer.status != HTTPStatus.NOT_FOUND:
        return False
    words = str(answer.body).lower()
    return model.lower() in words and "/models" not in words
