"""An HTTP client for outside services, with bounds on time, size and retries.

    Http.get_json  -> JsonAnswer     whatever the status; callers know what their service means by it
    Http.ask_json  -> JsonAnswer     the same, for a question sent as JSON
    Http.post_form -> JsonAnswer     the same, for a file sent in a form
    Http.post_json -> BytesAnswer    the same, for services that answer with a file
                   -> ToolError      there is no readable answer

Every request has one total deadline, including retries, and at most 2 MB, counted before and after decompression. There
are no redirects, no proxies from the environment and no cookies. No error or log contains an address or a key.

`tools.connections` does the sending; this module is light, as the options of tools stand beside their use of it.
"""

import asyncio
import functools
import json
import math
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol, Self, TypeVar

from pydantic import SecretStr, TypeAdapter, ValidationError

from tools.errors import Disabled, RateLimited, TimedOut, ToolError, Unavailable, Unreachable

MAX_BODY_BYTES = 2_000_000
"""The limit of an answer, before and after decompression."""

MAX_JSON_MEMBERS = 100_000
"""The most commas and brackets in the JSON of an answer: parsing 2 MB of empty objects took 5 seconds and 400 MB
(measured 2026-11-22)."""

MAX_PAUSE_SECONDS = 3.0
"""The longest wait before a retry; if a service asks for more, there is no retry."""

_Parsed = TypeVar("_Parsed")

_TRIES = 3
"""For a service that is unavailable (503); after a 429, or if it cannot be reached, there are two tries."""
_MIN_PAUSE_SECONDS = 0.3  # before a retry without a given time; up to twice as long at random


@dataclass(frozen=True, kw_only=True, slots=True)
class FormFile:
    """A file in a form."""

    name: str
    content_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """The common part of all answers."""

    status: int
    headers: Mapping[str, str]
    """Headers by lower-case name; repeated values are joined by commas."""

    @property
    def ok(self) -> bool:
        """Whether the status is a success (2xx); the body may still report an error."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


@dataclass(frozen=True, kw_only=True, slots=True)
class BytesAnswer(_Answer):
    """A raw answer."""

    body: bytes

    def as_json(self, service: str) -> "JsonAnswer":
        """Parses the body as JSON; for answers above the usual limit. `service` is the name for errors.

        Raises:
            Unavailable: a success that is not valid JSON.
        """
        answer = JsonAnswer(status=self.status, headers=self.headers, body=_json_or_none(self.body, self.headers))
        if answer.ok and answer.body is None:
            raise Unavailable(f"{service} answers with something that cannot be read as JSON.")
        return answer


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonAnswer(_Answer):
    """A JSON answer."""

    body: Any
    """The JSON, parsed strictly: no NaN, no infinity; None if an unsuccessful answer has no JSON."""

    @property
    def retry_after_seconds(self) -> float | None:
        """The wait that the header Retry-After asks for; None if it is missing or a date."""
        try:
            seconds = float(self.headers.get("retry-after", ""))
        except ValueError:
            return None
        return seconds if math.isfinite(seconds) and seconds >= 0 else None

    def parse(self, kind: type[_Parsed], service: str) -> _Parsed:
        """Validates the body as `kind`, a pydantic model or a tuple of such.

        Raises:
            Unavailable: the body does not match.
        """
        try:
            return _adapter(kind).validate_python(self.body)
        except ValidationError as error:
            raise Unavailable(f"{service} answers something that cannot be read.") from error

    def refusal(self, service: str) -> ToolError:
        """Returns the usual error for an unsuccessful status, for callers that know nothing better."""
        if self.status == HTTPStatus.TOO_MANY_REQUESTS:
            wait_seconds = self.retry_after_seconds
            when = "" if wait_seconds is None else f"; ask again in {wait_seconds:.0f} seconds"
            return RateLimited(f"{service} wants fewer requests{when}.")
        if self.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            return Disabled(f"{service} refuses the request (status {self.status}): the operator must look into it.")
        return Unavailable(f"{service} fails (status {self.status}).")


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


Pause = Callable[[JsonAnswer], float | None]
"""Returns how many seconds to wait before the next try; None if a retry would change nothing."""


def usual_pause(answer: JsonAnswer) -> float | None:
    """After 429 and 503, returns a short Retry-After or else a moment; None after everything else."""
    if answer.status not in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return None
    asked = answer.retry_after_seconds
    if asked is None:
        return _moment_seconds()
    return asked if asked <= MAX_PAUSE_SECONDS else None


def bearer(key: SecretStr | None) -> dict[str, str]:
    """Returns the header for a key; no header without a key."""
    return {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}


def no_pause(answer: JsonAnswer) -> float | None:
    """Never retries, for callers that pace and retry themselves."""
    del answer


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    url: str
    content: Mapping[str, Any]
    """What httpx takes of it by name: `params`, `headers`, `json`, `data`, `files`."""


class _Connections(Protocol):
    """What `tools.connections` provides."""

    async def send(
        self, method: str, url: str, content: Mapping[str, Any], *, service: str, max_bytes: int
    ) -> tuple[int, Mapping[str, str], bytes]: ...

    async def aclose(self) -> None: ...


class Http:
    """An HTTP client whose connections all tools share; `async with` opens and closes them."""

    def __init__(self, user_agent: str) -> None:
        """`user_agent` names Aldis and how to reach its operator; some services limit other clients more."""
        self._user_agent = user_agent
        self._connections: _Connections | None = None
        self._places: dict[str, asyncio.Semaphore] = {}

    async def __aenter__(self) -> Self:
        from tools.connections import Connections  # noqa: PLC0415 - httpx takes long, and every start reads this module

        self._connections = Connections(self._user_agent)
        return self

    async def __aexit__(self, *_: object) -> None:
        connections, self._connections = self._open_connections(), None
        await connections.aclose()

    def places(self, service: str, at_once: int) -> asyncio.Semaphore:
        """Returns a semaphore for a service that wants few simultaneous requests, shared by all tools that use it."""
        return self._places.setdefault(service, asyncio.Semaphore(at_once))

    async def get_json(
        self,
        url: str,
        *,
        service: str,
        params: Mapping[str, str],
        timeout_seconds: float,
        headers: Mapping[str, str] | None = None,
        pause: Pause = usual_pause,
    ) -> JsonAnswer:
        """Sends a GET request; retries if the connection fails, or as `pause` says, within the same deadline.

        `service` is the name for errors, `timeout_seconds` the time for everything.

        Raises:
            TimedOut: no complete answer came in time.
            Unavailable: two failed connections, or an answer that is not valid HTTP or, with a success, not valid JSON.
            TooLarge: the answer is longer than `MAX_BODY_BYTES`.
        """
        request = _Request("GET", url, {"params": params, "headers": headers})
        return await self._ask_again(request, service, pause, timeout_seconds)

    async def ask_json(
        self,
        url: str,
        *,
        service: str,
        body: Mapping[str, Any],
        timeout_seconds: float,
        headers: Mapping[str, str] | None = None,
        pause: Pause = usual_pause,
    ) -> JsonAnswer:
        """Sends a JSON object by POST, for questions that change nothing; otherwise like `get_json`.

        Raises:
            TimedOut, Unavailable, TooLarge: as `get_json`.
        """
        request = _Request("POST", url, {"json": body, "headers": headers})
        return await self._ask_again(request, service, pause, timeout_seconds)

    async def post_form(
        self,
        url: str,
        *,
        service: str,
        fields: Mapping[str, str],
        file: FormFile,
        timeout_seconds: float,
        headers: Mapping[str, str] | None = None,
    ) -> JsonAnswer:
        """Sends a form with the file in the field `file`, only once, as the request may cost money.

        Raises:
            TimedOut, Unavailable, TooLarge: as `get_json`.
        """
        files = {"file": (file.name, file.data, file.content_type)}
        request = _Request("POST", url, {"data": dict(fields), "files": files, "headers": headers})
        async with _in_time(service, timeout_seconds):
            return await self._ask(request, service)

    async def post_json(
        self,
        url: str,
        *,
        service: str,
        body: Mapping[str, Any],
        timeout_seconds: float,
        max_bytes: int,
        headers: Mapping[str, str] | None = None,
    ) -> BytesAnswer:
        """Sends a JSON object to a service that answers with a file, or with JSON that contains one (`as_json`).

        The answer has at most `max_bytes`. Sends only once, like `post_form`.

        Raises:
            BrokenOff, TimedOut: what the service has done is unknown.
            Unavailable, TooLarge: as `get_json`.
        """
        request = _Request("POST", url, {"json": body, "headers": {"Accept": "*/*", **(headers or {})}})
        async with _in_time(service, timeout_seconds):
            return await self._send(request, service, max_bytes)

    def _open_connections(self) -> _Connections:
        if self._connections is None:
            raise RuntimeError("Http is used outside of its `async with`")
        return self._connections

    async def _ask_again(self, request: _Request, service: str, pause: Pause, timeout_seconds: float) -> JsonAnswer:
        now = asyncio.get_running_loop().time
        ends_at = now() + timeout_seconds
        async with _in_time(service, timeout_seconds):
            try:
                answer = await self._ask(request, service)
            except Unreachable:
                await asyncio.sleep(_moment_seconds())
                return await self._ask(request, service)
            for number in range(2, _TRIES + 1):
                pause_seconds = pause(answer)
                is_last = number == _TRIES and answer.status != HTTPStatus.SERVICE_UNAVAILABLE
                if is_last or pause_seconds is None or pause_seconds >= ends_at - now():
                    break
                await asyncio.sleep(pause_seconds)
                answer = await self._ask(request, service)
            return answer

    async def _ask(self, request: _Request, service: str) -> JsonAnswer:
        return (await self._send(request, service, MAX_BODY_BYTES)).as_json(service)

    async def _send(self, request: _Request, service: str, max_bytes: int) -> BytesAnswer:
        status, headers, body = await self._open_connections().send(
            request.method, request.url, request.content, service=service, max_bytes=max_bytes
        )
        return BytesAnswer(status=status, body=body, headers=headers)


@asynccontextmanager
async def _in_time(service: str, timeout_seconds: float) -> AsyncGenerator[None]:
    """Sets a deadline for the context; passing it raises `TimedOut`."""
    try:
        async with asyncio.timeout(timeout_seconds):
            yield
    except TimeoutError as error:
        raise TimedOut(f"{service} did not answer within {timeout_seconds:g} seconds.") from error


def _json_or_none(body: bytes, headers: Mapping[str, str]) -> Any:
    """Parses a JSON body; None if its content type is another, it is invalid, or it has far too many members."""
    if "json" not in headers.get("content-type", "json").partition(";")[0].lower():
        return None
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_JSON_MEMBERS:
        return None
    try:
        read = json.loads(body.decode("utf-8-sig"), parse_float=_finite, parse_constant=_finite)
        if b"\\ud" in body.lower():  # services cut texts within an emoji, and lone surrogates cannot be encoded
            return json.loads(json.dumps(read, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return read


def _finite(number: str) -> float:
    """Parses a number; Python's JSON accepts NaN and infinity, which nothing here can handle."""
    if not math.isfinite(value := float(number)):
        raise ValueError("not a finite number")
    return value


def _moment_seconds() -> float:
    return random.uniform(_MIN_PAUSE_SECONDS, 2 * _MIN_PAUSE_SECONDS)  # noqa: S311 - spreads load, guards nothing
