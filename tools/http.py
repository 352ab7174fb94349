"""An HTTP client for outside services, with bounds on time, size and retries.

    Http.get_json -> JsonAnswer     whatever the status; callers know what their service means by it
    Http.post     -> BytesAnswer    the same, sent once, for services that take or answer with a file
                  -> ToolError      there is no readable answer

Every request has one total deadline, including retries, and at most 2 MB, counted before and after decompression. There
are no redirects, no proxies from the environment and no cookies. No error or log contains an address or a key. httpx is
imported with the first connection, as it takes long.

Source: httpx 0.28.1, whose own timeouts are per read and whose decoders are not bounded: a gzip of 1 MB made
`client.get()` take 2.1 GB (measured 2026-11-21).
"""

import asyncio
import json
import logging
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self, TypeVar

from pydantic import SecretStr, TypeAdapter, ValidationError

from tools.connections import Answer, decompress, in_time, trusted_certificates, why_unreachable
from tools.errors import BrokenOff, Disabled, RateLimited, ToolError, Unavailable, Unreachable

MAX_BODY_BYTES = 2_000_000
"""The limit of an answer, before and after decompression."""

_MAX_PAUSE_SECONDS = 3.0
"""The longest wait before a retry; if a service asks for more, there is no retry."""
_MIN_PAUSE_SECONDS = 0.6  # before a retry without a given time; up to twice as long at random
_MAX_CONNECTIONS = 1000
"""For all services together: with only a few, one service that hangs would block all others."""
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_TRIES = 3
"""For a service that is busy (429, 503); if it cannot be reached, there are two tries."""

_Parsed = TypeVar("_Parsed")


@dataclass(frozen=True, kw_only=True, slots=True)
class BytesAnswer(Answer):
    """A raw answer."""

    body: bytes

    def as_json(self, service: str) -> "JsonAnswer":
        """Parses the body as JSON; raises `Unavailable`, which names the `service`, for a success that is none."""
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
class JsonAnswer(Answer):
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
        """Validates the body as `kind`, a pydantic model or a tuple of such; raises `Unavailable` if it is none."""
        try:
            return TypeAdapter(kind).validate_python(self.body)
        except ValidationError as error:
            raise Unavailable(f"{service} answers something that cannot be read.") from error

    def refusal(self, service: str, *, key: str = "") -> ToolError:
        """Returns the error that an unsuccessful status means; `key` is the variable with the service's key, if any."""
        match self.status:
            case HTTPStatus.TOO_MANY_REQUESTS:
                wait_seconds = self.retry_after_seconds
                when = "" if wait_seconds is None else f"; ask again in {wait_seconds:.0f} seconds"
                return RateLimited(f"{service} wants fewer requests{when}.")
            case HTTPStatus.PAYMENT_REQUIRED:
                return Disabled(f"{service} wants to be paid first: the operator has to check the account.")
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN if key:
                return Disabled(f"{service} refuses the key: the operator has to check {key}.")
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                return Disabled(f"{service} refuses the request (status {self.status}): the operator has to see why.")
            case _:
                return Unavailable(f"{service} fails (status {self.status}).")


def _refuse(constant: str) -> float:
    """Refuses NaN and infinity, which Python's JSON accepts and nothing here can handle."""
    raise ValueError(constant)


def bearer(key: SecretStr | None) -> dict[str, str]:
    """Returns the header for a key; no header without a key."""
    return {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}


class Http:
    """An HTTP client whose connections all tools share; `async with` opens and closes them."""

    def __init__(self, user_agent: str) -> None:
        """`user_agent` names Aldis and how to reach its operator; some services limit other clients more."""
        self._user_agent = user_agent
        self._client: Any = None
        """None while it is closed."""

    async def __aenter__(self) -> Self:
        import httpx  # noqa: PLC0415 - see the head of this module

        # At INFO, httpx logs every address with its query, which contains people's words and the keys of some services.
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)
        accepted = {"Accept": "application/json", "Accept-Encoding": "gzip, identity"}
        self._client = httpx.AsyncClient(
            headers={"User-Agent": self._user_agent, **accepted},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            verify=trusted_certificates(),
            follow_redirects=False,
            trust_env=False,
            http2=False,
            timeout=None,  # noqa: S113 - every request stands under a deadline of asyncio
            limits=httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=8, keepalive_expiry=30),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        await client.aclose()

    async def get_json(
        self,
        url: str,
        *,
        service: str,
        timeout_seconds: float,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        retries: bool = True,
    ) -> JsonAnswer:
        """Asks by GET, or by POST where the question is a JSON `body`, which must change nothing there.
        Retries if the connection fails, or after a short wait that the service wants, within `timeout_seconds` for
        everything. `service` is the name for errors: `TimedOut`, `TooLarge`, `Unavailable`.
        """
        content: dict[str, Any] = {"params": params, "headers": headers} | ({} if body is None else {"json": body})
        method = "GET" if body is None else "POST"
        ends_at = (now := asyncio.get_running_loop().time)() + timeout_seconds
        async with in_time(service, timeout_seconds):
            for number in range(1, _TRIES + 1):
                moment = random.uniform(_MIN_PAUSE_SECONDS, 2 * _MIN_PAUSE_SECONDS)  # noqa: S311 - it guards nothing
                try:
                    answer = (await self._send(method, url, service, **content)).as_json(service)
                except Unreachable:
                    if number > 1:
                        raise
                    await asyncio.sleep(moment)
                    continue
                wanted, is_busy = answer.retry_after_seconds, retries and answer.status in _BUSY
                pause_seconds = moment if wanted is None else wanted
                if number == _TRIES or not is_busy or pause_seconds > min(_MAX_PAUSE_SECONDS, ends_at - now()):
                    return answer
                await asyncio.sleep(pause_seconds)
        raise AssertionError

    async def post(
        self,
        url: str,
        *,
        service: str,
        timeout_seconds: float,
        max_bytes: int = MAX_BODY_BYTES,
        headers: Mapping[str, str] | None = None,
        **content: Any,
    ) -> BytesAnswer:
        """Sends a POST request only once, as it may cost money, and returns whatever comes, of at most `max_bytes`.
        `content` is httpx's: `json`, or `data` for the fields and `files` for the files of a form. After `BrokenOff`
        and `TimedOut` it is unknown what the service has done.
        """
        accepted = {"Accept": "*/*", **(headers or {})}
        async with in_time(service, timeout_seconds):
            return await self._send("POST", url, service, max_bytes, headers=accepted, **content)

    async def _send(
        self, method: str, url: str, service: str, max_bytes: int = MAX_BODY_BYTES, **content: Any
    ) -> BytesAnswer:
        """Sends a request once; raises `Unreachable` if the connection failed, `BrokenOff` once it was open."""
        import httpx  # noqa: PLC0415 - see the head of this module

        try:
            async with self._client.stream(method, url, **content) as response:
                packed = response.headers.get("content-encoding", "")
                body = await decompress(response.aiter_raw(), packed, service=service, max_bytes=max_bytes)
        except httpx.InvalidURL as error:
            raise Unavailable(f"The address of {service} is not valid: the operator must check it.") from error
        except (httpx.ConnectError, httpx.LocalProtocolError, httpx.UnsupportedProtocol) as error:
            raise Unreachable(f"{service} cannot be reached: {why_unreachable(error)}.") from error
        except httpx.TransportError as error:
            raise BrokenOff(f"{service} broke off without a whole answer ({type(error).__name__}).") from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        return BytesAnswer(status=response.status_code, headers=headers, body=body)
