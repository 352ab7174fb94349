"""Requests to one signal-cli-rest-api, limited in time and in size, and what its refusals mean.

Every request has a connection of its own, and is made only once: whether one on a dead kept-alive connection arrived
would be unknown. 400 is the bridge's catch-all, so its message decides.

Source: signal-cli-rest-api, commit a08db23, `src/api/api.go` and `src/client/client.go` (2026-11-21); the same in front
of a signal-cli that was killed (2026-11-26).
"""

import asyncio
import json
import logging
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit

import httpx

from bot.errors import (
    CallRefused,
    ConfigError,
    Disconnected,
    NetworkFailed,
    NotSent,
    SendUnknown,
    TransportError,
    Undeliverable,
    Unfetchable,
)
from bot.signal.json import Json, items_in, parse_frame, text_in
from bot.signal.send_errors import failure_told, http_failure, rate_limited, token_in
from tools import trusted_certificates

CONNECT_SECONDS = 1.0
"""For reaching the bridge: it runs on the same machine or private network, and every second in which it is back and
Aldis is not loses messages."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""For an answer that is no file: the list of all groups with all their members is long, and so is a refusal of files,
which repeats them."""
_BODY_SHARE = 0.1
"""The share of a send's deadline for the few bytes after the headers of an answer."""
MIN_VERSION = (0, 101)
"""From this version on `/v2/send` returns a result for each recipient."""

_OUR_FAULT = "couldn't process request"
"""How the bridge begins if it did not even ask signal-cli."""
_REACHED_NONE = "Failed to send message"
"""All that is left of signal-cli's results if no recipient got it; most often they are network failures."""

Method = Literal["GET", "POST", "PUT", "DELETE"]


class BridgeRefusal(Exception):
    """The bridge answered with an error: its HTTP status and its body."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body

    @property
    def words(self) -> str:
        """The bridge's message, mostly signal-cli's own; the whole body if it has none."""
        return text_in(parse_frame(self.body), "error") or self.body


class AnswerTooLong(ValueError):
    """An answer is too long; the rest of it was not read."""


class Client:
    """Makes requests to the bridge at `url`.

    Raises:
        ConfigError: the address is invalid.
    """

    def __init__(self, url: str, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ConfigError("SIGNAL__URL is not an address; it should look like http://signal-cli-rest-api:8080")
        for library in ("httpx", "httpcore"):  # they log every address, and there are numbers in them
            logging.getLogger(library).setLevel(logging.WARNING)
        self.url = url.rstrip("/")
        self._http = httpx.AsyncClient(
            verify=trusted_certificates() if parts.scheme == "https" else False,
            trust_env=False,
            timeout=httpx.Timeout(None, connect=connect_seconds),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )

    async def call(
        self,
        method: Method,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        timeout_seconds: float,
        max_bytes: int = MAX_ANSWER_BYTES,
        is_sending: bool = False,
    ) -> bytes:
        """Returns the body of a successful answer; with `is_sending` an empty one if it is lost or too long, because
        the status says that the message is out.

        Raises:
            BridgeRefusal: the bridge answered with an error.
            AnswerTooLong: the body has more than `max_bytes`.
            httpx.HTTPError, TimeoutError: the bridge cannot be reached, or did not answer in time.
        """
        async with asyncio.timeout(timeout_seconds):
            async with self._http.stream(method, self.url + path, json=body) as response:
                if not response.is_success:
                    raise BridgeRefusal(response.status_code, await _beginning(response))
                if is_sending and response.status_code != HTTPStatus.CREATED:
                    raise AnswerTooLong("no answer of the bridge")
                if not is_sending:
                    return await _whole(response, max_bytes)
                with suppress(httpx.HTTPError, AnswerTooLong, TimeoutError):
                    async with asyncio.timeout(_BODY_SHARE * timeout_seconds):
                        return await _whole(response, max_bytes)
                return b""

    async def ask(self, path: str, *, timeout_seconds: float) -> object:
        """Returns the JSON of an answer to a question; None if there is none.

        Raises:
            Disconnected, ConfigError: as `as_disconnected`.
        """
        with as_disconnected():
            return _json(await self.call("GET", path, timeout_seconds=timeout_seconds))

    async def do(
        self, method: Method, path: str, body: Mapping[str, object] | None = None, *, timeout_seconds: float
    ) -> object:
        """Has the bridge do something for the operator, who reads what it answers; returns the JSON of the answer.

        Raises:
            CallRefused: the bridge refuses it, and says why.
            Disconnected: it failed in another way; try again.
        """
        try:
            with as_disconnected():
                return _json(await self.call(method, path, body, timeout_seconds=timeout_seconds))
        except (Disconnected, ConfigError) as error:
            if (words := refusal_words(error)) is not None:
                raise CallRefused(words) from error
            raise Disconnected(str(error)) from error

    async def file(self, path: str, *, timeout_seconds: float, max_bytes: int) -> bytes:
        """Returns the content of a file.

        Raises:
            Unfetchable: it is longer than `max_bytes`, or the bridge does not give it.
            Disconnected: ask again.
        """
        try:
            with as_disconnected():
                return await self.call("GET", path, timeout_seconds=timeout_seconds, max_bytes=max_bytes)
        except ConfigError as error:
            raise Unfetchable("signal-cli-rest-api does not give the file") from error
        except Disconnected as error:
            if isinstance(error.__cause__, AnswerTooLong):
                raise Unfetchable(f"the file is longer than the {max_bytes} bytes that are allowed") from error
            raise

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()


async def _whole(response: httpx.Response, max_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > max_bytes:
            raise AnswerTooLong(f"more than {max_bytes} bytes")
    return bytes(body)


async def _beginning(response: httpx.Response) -> str:
    """The body of a refusal; empty if it is too long."""
    try:
        return (await _whole(response, MAX_ANSWER_BYTES)).decode("utf-8", "replace")
    except AnswerTooLong:
        return ""


def _json(body: bytes) -> object:
    try:
        return json.loads(body) if body.strip() else None
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def check_about(about: Json) -> None:
    """Checks that a signal-cli-rest-api runs in the right mode and a recent enough version.

    `about` is what it reports at `/v1/about`.

    Raises:
        ConfigError: it does not; the message says what to change.
    """
    mode, version = text_in(about, "mode"), text_in(about, "version")
    if mode != "json-rpc":
        raise ConfigError(
            f"SIGNAL__URL: signal-cli-rest-api runs in mode {mode or 'unknown'}; start it with MODE=json-rpc"
        )
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if version != "unset" and (not numbers or (int(numbers[1]), int(numbers[2])) < MIN_VERSION):
        raise ConfigError("SIGNAL__URL: signal-cli-rest-api is too old; use version 0.101 or later")


def refusal_words(error: Disconnected | ConfigError) -> str | None:
    """Returns the bridge's message if it refused the request itself; otherwise None."""
    cause = error.__cause__
    return cause.words if isinstance(cause, BridgeRefusal) and cause.status == HTTPStatus.BAD_REQUEST else None


def challenge_in(refusal: BridgeRefusal) -> str | None:
    """Returns the token of the captcha to be solved; None if none is wanted (the list can hold empty strings)."""
    return token_in(items_in(parse_frame(refusal.body), "challenge_tokens"))


@contextmanager
def as_outcome(*, is_group: bool) -> Generator[None]:
    """Tells errors that certainly mean "not sent" from those that may not.

    Raises:
        NotSent, SendUnknown, Undeliverable: see `bot.signal.protocol.Transport.send`.
    """
    try:
        yield
    except BridgeRefusal as error:
        raise _refused(error, is_group=is_group) from error
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise NotSent("signal-cli-rest-api cannot be reached") from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise SendUnknown(f"signal-cli-rest-api did not answer: {type(error).__name__}") from error
    except ValueError as error:
        raise SendUnknown("signal-cli-rest-api's answer cannot be read") from error


def _refused(error: BridgeRefusal, *, is_group: bool) -> TransportError:
    """The error for an unsuccessful answer to a send, by its status and its body."""
    if error.status == HTTPStatus.BAD_REQUEST:
        if error.words.lower().startswith(_OUR_FAULT):
            return Undeliverable("signal-cli-rest-api refused the request")
        if error.words.strip() == _REACHED_NONE:
            return NetworkFailed("signal-cli reached no recipient")
        known = failure_told(error.words, is_group=is_group)
        return SendUnknown("signal-cli-rest-api failed while sending") if known is None else known
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        return rate_limited(challenge=challenge_in(error))
    if error.status == HTTPStatus.INTERNAL_SERVER_ERROR and not error.body:
        # The bridge has lost signal-cli and looks for it: it fails as it begins to write the request. A proxy in front
        # of it would answer with a body, or with 502 to 504.
        return NotSent("signal-cli-rest-api has lost signal-cli and is looking for it")
    return http_failure(error.status)


@contextmanager
def as_disconnected() -> Generator[None]:
    """Translates the errors of a question, which can be asked again.

    Raises:
        Disconnected: it may pass; ask again.
        ConfigError: what answers there is no signal-cli-rest-api.
    """
    try:
        yield
    except BridgeRefusal as error:
        if HTTPStatus.UNAUTHORIZED <= error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ConfigError(f"SIGNAL__URL: no signal-cli-rest-api answers there (HTTP {error.status})") from error
        raise Disconnected(f"signal-cli-rest-api answered with HTTP {error.status}") from error
    except TimeoutError as error:
        raise Disconnected("signal-cli-rest-api fell silent") from error
    except AnswerTooLong as error:
        raise Disconnected("signal-cli-rest-api's answer is longer than it may be") from error
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise Disconnected(f"no connection to signal-cli-rest-api: {type(error).__name__}") from error
