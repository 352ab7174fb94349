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
from typing import Any, Self, TypeVar

from pydantic import SecretStr, TypeAdapter, ValidationError

from tools.errors import Disabled, RateLimited, TimedOut, ToolError, Unavailable, Unreachable

MAX_BODY_BYTES = 2_000_000
"""The limit of an answer, before and after decompression."""

_MAX_PAUSE_SECONDS = 3.0
"""The longest wait before a retry; if a service asks for more, there is no retry."""
_MIN_PAUSE_SECONDS = 0.3  # before a retry without a given time; up to twice as long at random
_TRIES = 3
"""For a service that is unavailable (503); after a 429, or if it cannot be reached, there are two tries."""

_Parsed = TypeVar("_Parsed")


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
        try:
            read = json.loads(self.body.decode("utf-8-sig"), parse_constant=_refuse)
            if b"\\ud" in self.body.lower():  # services cut texts within an emoji: lone surrogates cannot be encoded
                read = json.loads(json.dumps(read, ensure_ascii=False).encode(errors="replace"))
        except (ValueError, RecursionError) as error:
            if self.ok:
                raise Unavailable(f"{service} answers with something that cannot be read as JSON.") from error
            read = None
        return JsonAnswer(status=self.status, headers=self.headers, body=read)


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonAnswer(_Answer):
    """A JSON answer."""

    body: Any
    """The JSON without NaN and infinity; None if an unsuccessful answer has no JSON."""

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


def _refuse(constant: str) -> float:
    """Refuses NaN and infinity, which Python's JSON accepts and nothing here can handle."""
    raise ValueError(constant)


Pause = Callable[[JsonAnswer], float | None]
"""Returns how many seconds to wait before the next try; None if a retry would change nothing."""


def usual_pause(answer: JsonAnswer) -> float | None:
    """After 429 and 503, returns a short Retry-After or else a moment; None after everything else."""
    if answer.status not in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return None
    asked = answer.retry_after_seconds
    if asked is None:
        return _moment_seconds()
    return asked if asked <= _MAX_PAUSE_SECONDS else None


def _moment_seconds() -> float:
    return random.uniform(_MIN_PAUSE_SECONDS, 2 * _MIN_PAUSE_SECONDS)  # noqa: S311 - spreads load, guards nothing


def no_pause(answer: JsonAnswer) -> float | None:
    """Never retries, for callers that pace and retry themselves."""
    del answer


def bearer(key: SecretStr | None) -> dict[str, str]:
    """Returns the header for a key; no header without a key."""
    return {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}


class Http:
    """An HTTP client whose connections all tools share; `async with` opens and closes them."""

    def __init__(self, user_agent: str) -> None:
        """`user_agent` names Aldis and how to reach its operator; some services limit other clients more."""
        self._user_agent = user_agent
        self._connections: Any = None
        """What `tools.connections` provides; None while it is closed."""
        self._places: dict[str, asyncio.Semaphore] = {}

    async def __aenter__(self) -> Self:
        from tools.connections import Connections  # noqa: PLC0415 - httpx takes long, and every start reads this module

        self._connections = Connections(self._user_agent)
        return self

    async def __aexit__(self, *_: object) -> None:
        connections, self._connections = self._connections, None
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
        return await self._ask("GET", url, service, timeout_seconds, pause, params=params, headers=headers)

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
        return await self._ask("POST", url, service, timeout_seconds, pause, json=body, headers=headers)

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
        async with _in_time(service, timeout_seconds):
            answer = await self._send("POST", url, service, data=dict(fields), files=files, headers=headers)
            return answer.as_json(service)

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
        accepted = {"Accept": "*/*", **(headers or {})}
        async with _in_time(service, timeout_seconds):
            return await self._send("POST", url, service, max_bytes, json=body, headers=accepted)

    async def _ask(
        self, method: str, url: str, service: str, timeout_seconds: float, pause: Pause, **content: Any
    ) -> JsonAnswer:
        now = asyncio.get_running_loop().time
        ends_at = now() + timeout_seconds
        async with _in_time(service, timeout_seconds):
            for number in range(1, _TRIES + 1):
                try:
                    answer = (await self._send(method, url, service, **content)).as_json(service)
                except Unreachable:
                    if number > 1:
                        raise
                    await asyncio.sleep(_moment_seconds())
                    continue
                pause_seconds = pause(answer)
                is_last = number == _TRIES or (number > 1 and answer.status != HTTPStatus.SERVICE_UNAVAILABLE)
                if is_last or pause_seconds is None or pause_seconds >= ends_at - now():
                    return answer
                await asyncio.sleep(pause_seconds)
        raise AssertionError

    async def _send(
        self, method: str, url: str, service: str, max_bytes: int = MAX_BODY_BYTES, **content: Any
    ) -> BytesAnswer:
        if self._connections is None:
            raise RuntimeError("Http is used outside of its `async with`")
        sent = await self._connections.send(method, url, content, service=service, max_bytes=max_bytes)
        return BytesAnswer(status=sent[0], headers=sent[1], body=sent[2])


@asynccontextmanager
async def _in_time(service: str, timeout_seconds: float) -> AsyncGenerator[None]:
    """Sets a deadline for the context; passing it raises `TimedOut`."""
    try:
        async with asyncio.timeout(timeout_seconds):
            yield
    except TimeoutError as error:
        raise TimedOut(f"{service} did not answer within {timeout_seconds:g} seconds.") from error
