"""The answers of a scripted model, independent of vendors; `tests.servers.anthropic` and `.openai` encode them.

Answers are composed with `+`: `think("hm") + say("I look.") + call("get_weather", {"place": "Oslo"})`; parallel calls
are `call(...) + call(...)`.
"""

import asyncio
import itertools
import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from aiohttp import web

from bot.models.tool_list import NAME as USE_TOOL
from tests.servers.base import Answer, Seen, Server
from tests.servers.model_hosts import ModelHost


@dataclass(frozen=True, kw_only=True)
class Say:
    text: str


@dataclass(frozen=True, kw_only=True)
class Call:
    name: str
    arguments: Mapping[str, Any] | str
    """A string goes out as it is: how a model writes malformed arguments."""
    id: str | None = None
    """None lets the double choose one that it never gave before."""


@dataclass(frozen=True, kw_only=True)
class Think:
    text: str
    redacted: bool = False


Ending = Literal["end", "length", "refusal", "filter", "window"]


@dataclass(frozen=True, kw_only=True)
class Tokens:
    fresh: int = 100
    cache_read: int = 0
    cache_write: int = 0
    cache_write_hour: int = 0
    """That part of them which goes to a cache that lives an hour."""
    output: int = 10


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """One answer of a model; `tokens` is what it says to have used, None says nothing of it."""

    parts: tuple[Say | Call | Think, ...] = ()
    ending: Ending = "end"
    tokens: Tokens | None = field(default_factory=Tokens)

    def __add__(self, more: "Scripted") -> "Scripted":
        ending = more.ending if more.ending != "end" else self.ending
        return replace(self, parts=self.parts + more.parts, ending=ending)

    def using(self, tokens: Tokens | None) -> "Scripted":
        return replace(self, tokens=tokens)

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))


def say(text: str) -> Scripted:
    return Scripted(parts=(Say(text=text),))


def call(name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = None) -> Scripted:
    return Scripted(parts=(Call(name=name, arguments=arguments, id=call_id),))


def think(text: str = "", *, redacted: bool = False) -> Scripted:
    return Scripted(parts=(Think(text=text, redacted=redacted),))


def refuse(text: str = "") -> Scripted:
    return Scripted(parts=(Say(text=text),) if text else (), ending="refusal")


def filtered(text: str = "") -> Scripted:
    return Scripted(parts=(Say(text=text),) if text else (), ending="filter")


def cut_off(text: str = "") -> Scripted:
    """The output limit is reached; add a call before it to have that cut."""
    return Scripted(parts=(Say(text=text),) if text else (), ending="length")


def window_full(text: str = "") -> Scripted:
    """The model's window is full in the middle of the answer."""
    return Scripted(parts=(Say(text=text),) if text else (), ending="window")


def empty() -> Scripted:
    return Scripted()


@dataclass(frozen=True, kw_only=True)
class Heard:
    text: str
    """The last text of a person; empty where there is none."""
    answers: tuple[str, ...]
    tools: tuple[str, ...]
    may_call: bool
    media: tuple[str, ...] = ()
    """What the model is shown in the whole conversation: `image` and `document`."""


def echo(heard: Heard) -> Scripted:
    return say(f"You said: {heard.text}")


class Mistake(Exception):
    """The client broke a rule of the service: the status and the words with which the service says so."""

    def __init__(self, message: str, *, status: int = 400, kind: str = "invalid_request_error", **extra: Any) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.extra = extra


@dataclass
class ModelServer(Server, ABC):
    """What both doubles share.

    `script` is answered first, in order (a `Scripted`, or a fault as in `faults`), then `reply` decides.
    `strict` checks every rule of the service before answering; a benchmark switches it off.
    """

    script: list[Scripted | Answer] = field(default_factory=list)
    reply: Callable[[Heard], Scripted] = echo
    looks: list[Seen] = field(default_factory=list[Seen])
    """What was asked about models, and not of them: `requests` holds the others, whoever looks meanwhile."""
    look_faults: list[Answer] = field(default_factory=list[Answer])
    key: str | None = "test-key"
    """None takes any key, as local servers do."""
    latency_seconds: float = 0.0
    strict: bool = True
    billed: Callable[[dict[str, Any]], Tokens] | None = None
    """What a request uses, as `tests.servers.caches` reckons it; None: what the script says."""
    window_tokens: int = 1_000_000
    """A prompt of more (four bytes a token) is too long."""
    models: tuple[str, ...] | None = None
    """The models that exist here; None means the vendor's own."""
    completed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """The words with which requests were refused: a test can demand that there are none."""
    _count: "itertools.count[int]" = field(default_factory=itertools.count)
    _mark: str = field(default_factory=lambda: secrets.token_hex(3))

    def scripted(self, *answers: Scripted | Answer) -> Self:
        self.script.extend(answers)
        return self

    def new_id(self, prefix: str) -> str:
        """Unique over all servers, so that a conversation may outlive one."""
        return f"{prefix}_{self._mark}{next(self._count):06d}"

    def kept(self, seen: Seen) -> tuple[list[Seen], list[Answer]]:
        return (self.looks, self.look_faults) if _is_look(seen) else super().kept(seen)

    def regular(self, seen: Seen, request: web.Request) -> Awaitable[web.StreamResponse] | web.StreamResponse:
        return self.look(seen) if _is_look(seen) else super().regular(seen, request)

    def look(self, seen: Seen) -> web.StreamResponse:
        """What is answered to a question about a model, whatever becomes of those to it."""
        try:
            self.check_key(seen)
            return web.json_response(self.listed(seen))
        except Mistake as mistake:
            self.refused.append(mistake.message)
            return self.refusal(mistake)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            return await super().handle(request)
        except ConnectionCut as cut:
            return await _drop(request, cut.sent)

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        try:
            self.check_key(seen)
            return await self._complete(seen, request)
        except Mistake as mistake:
            self.refused.append(mistake.message)
            return self.refusal(mistake)

    async def _complete(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        body = parsed(seen.body)
        if self.strict:
            self.check(seen, body)
        scripted = self.script.pop(0) if self.script else self.reply(self.heard(seen, body))
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)
        if isinstance(scripted, Scripted) and self.billed is not None:
            scripted = scripted.using(self.billed(body))
        if not isinstance(scripted, Scripted):
            fault = scripted(seen)
            return fault if isinstance(fault, web.StreamResponse) else await fault
        answer = self.answer(seen, body, _by_the_list(scripted, body))
        response = web.json_response(answer, headers={"request-id": self.new_id("req")})
        await response.prepare(request)
        await response.write_eof()
        self.completed.append(answer["id"])
        return response

    @abstractmethod
    def check_key(self, seen: Seen) -> None: ...

    @abstractmethod
    def listed(self, seen: Seen) -> dict[str, Any]: ...

    @abstractmethod
    def check(self, seen: Seen, body: dict[str, Any]) -> None: ...

    @abstractmethod
    def heard(self, seen: Seen, body: dict[str, Any]) -> Heard: ...

    @abstractmethod
    def answer(self, seen: Seen, body: dict[str, Any], scripted: Scripted) -> dict[str, Any]: ...

    @abstractmethod
    def refusal(self, mistake: Mistake) -> web.Response: ...


def _by_the_list(scripted: Scripted, body: dict[str, Any]) -> Scripted:
    """The answer of a model that calls what it is offered: a tool that is listed alone, through the list."""
    described = {tool.get("function", tool)["name"]: tool.get("function", tool) for tool in body.get("tools") or ()}
    listing = described.get(USE_TOOL, {}).get("description", "")
    parts = tuple(
        replace(part, name=USE_TOOL, arguments={"tool": part.name, "arguments": part.arguments})
        if isinstance(part, Call) and f"\n{part.name}(" in listing
        else part
        for part in scripted.parts
    )
    return replace(scripted, parts=parts)


def _is_look(seen: Seen) -> bool:
    return seen.method == "GET" or seen.path in ModelHost.OWN_PATHS


def parsed(data: bytes) -> dict[str, Any]:
    """The body as JSON; a lone surrogate in it is no JSON for a strict reader."""
    try:
        body = json.loads(data)
        if b"\\ud" in data or b"\\uD" in data:
            json.dumps(body, ensure_ascii=False).encode()
    except ValueError as error:
        raise Mistake("The request body is not valid JSON") from error
    if not isinstance(body, dict):
        raise Mistake("The request body is not valid JSON")
    return body


class ConnectionCut(Exception):
    """Drops the connection in place of an answer, after `sent` bytes of a longer body."""

    def __init__(self, sent: bytes = b"") -> None:
        super().__init__()
        self.sent = sent


async def cut_connection(_: Seen) -> web.StreamResponse:
    """A fault: the connection ends where an answer was due."""
    raise ConnectionCut


async def cut_body(_: Seen) -> web.StreamResponse:
    """A fault: the connection ends in the middle of an answer."""
    raise ConnectionCut(b'{"id": "half an ans')


async def _drop(request: web.Request, sent: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json"})
    response.content_length = len(sent) + 1000
    if sent:
        await response.prepare(request)
        await response.write(sent)
    if request.transport is not None:
        request.transport.close()
    return response
