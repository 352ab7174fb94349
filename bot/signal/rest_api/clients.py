"""signalbot's HTTP clients for one signal-cli-rest-api, and what their errors mean.

signalbot discards the bridge's error messages; here they are read first. Left to others: what is sent and asked
(`rest_api`), what a refusal's message means (`errors`).

Source: signalbot 2.2.1 (2026-11-21).
"""

import asyncio
import json
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Literal
from urllib.parse import quote, urlsplit

import aiohttp
from pydantic import BaseModel
from signalbot import SignalAPIError
from signalbot._client.base import BaseClient, BaseURIs, HttpVerb, SectionURIs, SessionManager
from signalbot._client.messages import MessagesClient, MessagesURIs, SendError
from signalbot._client.reactions import ReactionsClient, ReactionsURIs
from signalbot._client.receipts import ReceiptsClient, ReceiptsURIs
from signalbot._generated import RemoteDeleteRequest, SendMessageV2
from websockets.exceptions import WebSocketException

from bot.errors import CallRefused, ConfigError, Disconnected, NotSent, SendUnknown, Unfetchable
from bot.signal.rest_api.errors import refusal, words_in
from tools import trusted_certificates

_log = logging.getLogger(__name__)

CONNECT_SECONDS = 1.0
"""For reaching the bridge: it runs on the same machine or private network, and every second in which it is back and
Aldis is not loses messages."""

_BODY_SECONDS = 5.0
"""For the few bytes after the headers of an answer."""

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""For an answer that is no file: the list of all groups with all their members is long, and so is a refusal of files,
which repeats them. A longer refusal is cut off."""

_MAX_SUCCESS_BYTES = 1024 * 1024
"""For the body of a successful send: one line for each member of a group that it missed."""


class BridgeRefusal(Exception):
    """The bridge answered with an error: its HTTP status and its body."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body


class AnswerTooLong(ValueError):
    """An answer is too long; the rest of it was not read."""


class _Sessions(SessionManager):
    """signalbot's sessions, except that an error's body is read before signalbot discards it.

    Every request has a connection of its own: whether a request on a dead kept-alive one arrived would be unknown. For
    the same reason each is made only once (`_once`). Names are looked up again after a second: a container that comes
    back can have another address.
    """

    def __init__(self, connect_seconds: float, *, is_secure: bool) -> None:
        super().__init__()
        self._connect_seconds = connect_seconds
        self._is_secure = is_secure

    async def get(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                raise_for_status=_refuse,
                # No limit: sends that hang must not block others, receipts and questions from the bridge.
                connector=aiohttp.TCPConnector(
                    limit=0,
                    force_close=True,
                    ttl_dns_cache=1,
                    ssl=trusted_certificates() if self._is_secure else True,
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds),
                middlewares=(_once,),
            )
        return self._session


async def _once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keeps aiohttp from repeating a PUT or a DELETE whose connection broke.

    A deletion and a reaction are messages to Signal, each with an id of its own that phones confirm: of two, the bridge
    would report only one id, and the receipt of the other would be taken for that of an answer.

    Source: aiohttp 3.14, `ClientSession._request` ("retry_persistent_connection").
    """
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise  # nothing was sent
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError(str(error)) from error


async def _refuse(response: aiohttp.ClientResponse) -> None:
    if not response.ok:
        body = await _beginning(response, MAX_ANSWER_BYTES)
        raise BridgeRefusal(response.status, body.decode("utf-8", "replace"))


async def _beginning(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body, or its first bytes if it is longer; the connection is closed in any case."""
    body = bytearray()
    async with response:
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) >= max_bytes:
                response.close()
                break
    return bytes(body[:max_bytes])


async def _whole(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body.

    Raises:
        AnswerTooLong: it is too long.
    """
    body = await _beginning(response, max_bytes + 1)
    if len(body) > max_bytes:
        raise AnswerTooLong(f"more than {max_bytes} bytes")
    return body


async def _json(response: aiohttp.ClientResponse) -> object:
    """The JSON of an answer; None if there is none.

    Raises:
        ValueError: it cannot be read.
    """
    body = await _whole(response, MAX_ANSWER_BYTES)
    try:
        return json.loads(body) if body.strip() else None
    except RecursionError as error:
        raise ValueError("nested too deep") from error


class _AnyURI(SectionURIs):
    def uri(self, path: str) -> str:
        return self._base.http_uri(path)


class _Plain(BaseClient[_AnyURI]):
    """Requests for which signalbot has no method."""

    async def get(self, path: str) -> object:
        """Returns the JSON at a path."""
        response = await self._request("get", self._uris.uri(path), error_cls=SignalAPIError)
        return await _json(response)

    async def send(self, message: SendMessageV2) -> bytes:
        """Sends a message; returns the body of a successful answer, whatever it is."""
        return await self._done("post", "/v2/send", message)

    async def remove(self, account: str, removal: RemoteDeleteRequest) -> bytes:
        """Deletes a message for everybody; returns the body of a successful answer."""
        return await self._done("delete", f"/v1/remote-delete/{account}", removal)

    async def _done(self, verb: HttpVerb, path: str, request: BaseModel) -> bytes:
        payload = request.model_dump_json(exclude_none=True, by_alias=True)
        response = await self._request(verb, self._uris.uri(path), error_cls=SendError, payload=payload)
        if response.status != HTTPStatus.CREATED:
            raise ValueError("no answer of the bridge")
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                return await _whole(response, _MAX_SUCCESS_BYTES)
        except (aiohttp.ClientError, TimeoutError, AnswerTooLong):
            return b""  # it is done in any case

    async def bytes_at(self, path: str, *, max_bytes: int) -> bytes:
        """Returns the content of a file, read no further than its maximum length.

        Raises:
            Unfetchable: it is longer.
        """
        response = await self._request("get", self._uris.uri(path), error_cls=SignalAPIError)
        try:
            return await _whole(response, max_bytes)
        except AnswerTooLong as error:
            raise Unfetchable(f"the file is longer than the {max_bytes} bytes that are allowed") from error

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """Has something done; returns the JSON of the answer."""
        response = await self._request("post", self._uris.uri(path), error_cls=SignalAPIError, payload=json.dumps(body))
        return await _json(response)

    async def do(
        self, method: Literal["put", "post", "delete"], path: str, body: Mapping[str, object] | None = None
    ) -> None:
        """Has something done; ignores everything in the answer but its status."""
        payload = None if body is None else json.dumps(body)
        await self._request(method, self._uris.uri(path), error_cls=SignalAPIError, payload=payload)


def file_path(id_: str) -> str:
    """Returns the path of the bridge's copy of a file."""
    return f"/v1/attachments/{quote(id_, safe='')}"


class Clients:
    """signalbot's clients for the bridge at `url` and one account.

    Raises:
        ConfigError: the address is invalid.
    """

    def __init__(self, url: str, account: str, connect_seconds: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ConfigError("SIGNAL__URL is not an address; it should look like http://signal-cli-rest-api:8080")
        service = (parts.netloc + parts.path).rstrip("/")
        uris = BaseURIs(service, account, use_https=parts.scheme == "https")
        self.sessions = _Sessions(connect_seconds, is_secure=parts.scheme == "https")
        self.messages = MessagesClient(MessagesURIs(uris), None, self.sessions)
        self.receipts = ReceiptsClient(ReceiptsURIs(uris), None, self.sessions)
        self.reactions = ReactionsClient(ReactionsURIs(uris), None, self.sessions)
        self.plain = _Plain(_AnyURI(uris), None, self.sessions)
        self.receive_uri = MessagesURIs(uris).receive_ws_uri()

    async def ask(self, path: str, *, timeout_seconds: float) -> object:
        """Returns the JSON of an answer to a question.

        Raises:
            Disconnected, ConfigError: as `as_disconnected`.
        """
        with as_disconnected():
            async with asyncio.timeout(timeout_seconds):
                return await self.plain.get(path)

    async def do(
        self, method: Literal["put", "post"], path: str, body: Mapping[str, object], *, timeout_seconds: float
    ) -> None:
        """Has the bridge do something for the operator, who is told what it answers.

        Raises:
            CallRefused: the bridge refuses it, and says why.
            Disconnected, ConfigError: as `as_disconnected`.
        """
        try:
            with as_disconnected():
                async with asyncio.timeout(timeout_seconds):
                    await self.plain.do(method, path, body)
        except Disconnected as error:
            if (words := refusal_words(error)) is not None:
                raise CallRefused(words) from error
            raise


def refusal_words(error: Disconnected | ConfigError) -> str | None:
    """Returns the bridge's message if it refused the request itself; otherwise None."""
    cause = error.__cause__
    if isinstance(cause, BridgeRefusal) and cause.status == HTTPStatus.BAD_REQUEST:
        return words_in(cause.body)
    return None


@contextmanager
def as_outcome(*, is_group: bool) -> Generator[None]:
    """Tells errors that certainly mean "not sent" from those that may not.

    Raises:
        NotSent, SendUnknown, Undeliverable: see `bot.signal.protocol.Transport.send`.
    """
    try:
        yield
    except BridgeRefusal as error:
        raise refusal(error.status, error.body, is_group=is_group) from error
    except SignalAPIError as error:
        if isinstance(error.__cause__, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            raise NotSent("signal-cli-rest-api cannot be reached") from error
        raise SendUnknown("the connection to signal-cli-rest-api broke") from error
    except (aiohttp.ClientError, TimeoutError) as error:
        raise SendUnknown(f"signal-cli-rest-api did not answer: {type(error).__name__}") from error
    except ValueError as error:
        raise SendUnknown("signal-cli-rest-api's answer cannot be read") from error


@contextmanager
def as_log(what: str, level: int = logging.INFO) -> Generator[None]:
    """Only logs the failure of something that nobody waits for; `what` names it in the log."""
    try:
        yield
    except (BridgeRefusal, SignalAPIError, aiohttp.ClientError, TimeoutError) as error:
        _log.log(level, "%s failed: %s", what, type(error).__name__)


@contextmanager
def as_fetched() -> Generator[None]:
    """Tells a file that cannot be had from a bridge that cannot be asked.

    Raises:
        Unfetchable: the bridge does not give it.
        Disconnected: ask again.
    """
    try:
        with as_disconnected():
            yield
    except ConfigError as error:
        raise Unfetchable("signal-cli-rest-api does not give the file") from error


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
    except (SignalAPIError, aiohttp.ClientError, WebSocketException, OSError, ValueError) as error:
        raise Disconnected(f"no connection to signal-cli-rest-api: {type(error).__name__}") from error
