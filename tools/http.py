"""An HTTP client for outside services, with bounds on time, size and retries.

    Http.get_json  -> JsonAnswer     whatever the status; callers know what their service means by it
    Http.ask_json  -> JsonAnswer     the same, for a question sent as JSON
    Http.post_form -> JsonAnswer     the same, for a file sent in a form
    Http.post_json -> BytesAnswer    the same, for services that answer with a file
                   -> ToolError      there is no readable answer

Every request has one total deadline, including retries, and at most 2 MB, counted before and after decompression. There
are no redirects, no proxies from the environment and no cookies. No error or log contains an address or a key.

Source: httpx 0.28.1, whose own timeouts are per read and whose decoders are not bounded: a gzip of 1 MB made
`client.get()` take 2.1 GB (measured 2026-11-21).
"""

import asyncio
import functools
import json
import logging
import math
import os
import random
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
from pydantic import SecretStr, TypeAdapter, ValidationError

from tools.errors import Disabled, RateLimited, TimedOut, TooLarge, ToolError, Unavailable
from tools.reachability import why_unreachable

MAX_BODY_BYTES = 2_000_000
"""The limit of an answer, before and after decompression."""

MAX_JSON_MEMBERS = 100_000
"""The most commas and brackets in the JSON of an answer: parsing 2 MB of empty objects took 5 seconds and 400 MB
(measured 2026-11-22)."""

MAX_PAUSE_SECONDS = 3.0
"""The longest wait before a retry; if a service asks for more, there is no retry."""

_MAX_CONNECTIONS = 1000
"""For all services together: with only a few, one service that hangs would block all others."""

_READ_COMPRESSIONS = frozenset({"gzip", "x-gzip", "deflate"})
_COMPRESSIONS = _READ_COMPRESSIONS | {"br", "zstd", "compress", "x-compress", "dcb", "dcz", "aes128gcm", "exi"}
"""Source: IANA, HTTP content coding registry (2026-11-27)."""
_ANY_WBITS = 32 + zlib.MAX_WBITS
"""Has zlib recognise by its head what it is given: gzip, or its own format, which is HTTP's `deflate`."""

_Parsed = TypeVar("_Parsed")

_BEFORE_ANYTHING_IS_SENT = (httpx.ConnectError, httpx.LocalProtocolError, httpx.UnsupportedProtocol)
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


class Http:
    """An HTTP client whose connections all tools share; `async with` opens and closes them."""

    def __init__(self, user_agent: str) -> None:
        """`user_agent` names Aldis and how to reach its operator; some services limit other clients more."""
        self._user_agent = user_agent
        self._client: httpx.AsyncClient | None = None
        self._places: dict[str, asyncio.Semaphore] = {}

    async def __aenter__(self) -> Self:
        # At INFO, httpx logs every address with its query, which contains people's words and the keys of some services.
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._client = _new_client(self._user_agent)
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._open_client(), None
        await client.aclose()

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
        request = self._request("GET", url, service, params=params, headers=headers)
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
        request = self._request("POST", url, service, json=body, headers=headers)
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
        request = self._request("POST", url, service, data=dict(fields), files=files, headers=headers)
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
        request = self._request("POST", url, service, json=body, headers={"Accept": "*/*", **(headers or {})})
        async with _in_time(service, timeout_seconds):
            return await self._send(request, service, max_bytes)

    def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            raise RuntimeError("Http is used outside of its `async with`")
        return self._client

    def _request(self, method: str, url: str, service: str, **content: Any) -> httpx.Request:
        try:
            return self._open_client().build_request(method, httpx.URL(url), **content)
        except httpx.InvalidURL as error:
            raise Unavailable(f"The address of {service} is not valid: the operator must check it.") from error

    async def _ask_again(
        self, request: httpx.Request, service: str, pause: Pause, timeout_seconds: float
    ) -> JsonAnswer:
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

    async def _ask(self, request: httpx.Request, service: str) -> JsonAnswer:
        return (await self._send(request, service, MAX_BODY_BYTES)).as_json(service)

    async def _send(self, request: httpx.Request, service: str, max_bytes: int) -> BytesAnswer:
        try:
            response = await self._open_client().send(request, stream=True)
            try:
                encoding = response.headers.get("content-encoding", "")
                body = await decompress(response.aiter_raw(), encoding, service=service, max_bytes=max_bytes)
            finally:
                await response.aclose()
        except _BEFORE_ANYTHING_IS_SENT as error:
            raise Unreachable(f"{service} cannot be reached: {why_unreachable(error)}.") from error
        except httpx.TransportError as error:
            raise BrokenOff(f"{service} broke off without a whole answer ({type(error).__name__}).") from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        return BytesAnswer(status=response.status_code, body=body, headers=headers)


class Unreachable(Unavailable):
    """The connection failed; a retry may help."""


class BrokenOff(Unreachable):
    """An open connection failed: the service may have received and carried out the request."""


@asynccontextmanager
async def _in_time(service: str, timeout_seconds: float) -> AsyncGenerator[None]:
    """Sets a deadline for the context; passing it raises `TimedOut`."""
    try:
        async with asyncio.timeout(timeout_seconds):
            yield
    except TimeoutError as error:
        raise TimedOut(f"{service} did not answer within {timeout_seconds:g} seconds.") from error


@functools.cache
def trusted_certificates() -> ssl.SSLContext:
    """Returns the authorities that Aldis trusts for every service, loaded once because that takes a tenth of a second.

    They are the machine's, or what SSL_CERT_FILE and SSL_CERT_DIR name, so that a household or a company can have one
    of its own; Mozilla's, by certifi, where there are none.

    Source: https://docs.openssl.org/3.5/man3/SSL_CTX_load_verify_locations/ (2026-11)
    """
    paths = ssl.get_default_verify_paths()
    if paths.cafile or has_certificates(os.environ.get(paths.openssl_capath_env, paths.openssl_capath)):
        return ssl.create_default_context()
    return httpx.create_ssl_context(trust_env=False)


def has_certificates(folders: str) -> bool:
    """Returns whether OpenSSL finds any in one of these folders, by names that are hashes, as `openssl rehash` makes.

    `folders` are separated as those of PATH are.
    """
    return any(map(_has_hashed, filter(None, folders.split(os.pathsep))))


def _has_hashed(folder: str) -> bool:
    try:
        return any(Path(folder).glob("????????.[0-9]"))
    except OSError:  # OpenSSL skips what cannot be read
        return False


def _new_client(user_agent: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        headers={"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": "gzip, identity"},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        verify=trusted_certificates(),
        follow_redirects=False,
        trust_env=False,
        http2=False,
        timeout=None,  # noqa: S113 - every request stands under a deadline of asyncio
        limits=httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=8, keepalive_expiry=30),
    )


async def decompress(
    chunks: AsyncIterator[bytes], encoding: str, *, service: str, max_bytes: int, cuts: bool = False
) -> bytes:
    """Returns the whole body, decompressed piece by piece, with at most `max_bytes` (at least 1) of it in memory.

    `encoding` is the header Content-Encoding, "" if missing; `service` is the name for errors. `cuts`: of a longer body
    its first `max_bytes` are returned.

    A word that names no compression, such as `utf-8`, means none, as browsers take it.

    Raises:
        TooLarge: the body is longer than `max_bytes`, before or after decompression.
        Unavailable: its encoding was not asked for, or is broken.
    """
    codings = _COMPRESSIONS.intersection(encoding.lower().replace(",", " ").split())
    if codings - _READ_COMPRESSIONS or encoding.lower().count("gzip") > 1:
        raise Unavailable(f"{service} answers in an encoding that was not asked for.")
    decoder = zlib.decompressobj(wbits=_ANY_WBITS) if codings else None
    body = bytearray()
    read_bytes = 0
    try:
        async for chunk in chunks:
            read_bytes += len(chunk)
            body += chunk if decoder is None else decoder.decompress(chunk, max_bytes + 1 - len(body))
            if max(len(body), read_bytes) > max_bytes:
                if cuts:
                    return bytes(body[:max_bytes])
                raise TooLarge(f"{service} answers with more than {max_bytes / 1_000_000:g} MB.")
            if decoder is not None and decoder.eof:
                break  # zlib would copy everything after it with each piece: for 15 MB that took 13 s
    except zlib.error as error:
        raise Unavailable(f"{service} answers with broken compression.") from error
    if decoder is not None and not decoder.eof:
        raise Unavailable(f"{service} broke off in the middle of its answer.")
    return bytes(body)


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
