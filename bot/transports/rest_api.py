"""Signal by an existing signal-cli-rest-api (mode json-rpc): a websocket comes in, signalbot's client sends out.

Of signalbot only the HTTP clients are used. Its pipeline is not: it goes deaf on a frame that it does not know and for
good when the server closes in order, and it holds what came in memory. Even so this bridge loses what arrives while
nobody is connected; `signal_cli` does not. Left to others: what frames mean (`envelope`), styles (`styled`), when to
connect again (intake), what to do about a send of unknown outcome (courier).

Source: signalbot 2.2.1; signal-cli-rest-api 0.101 and commit a08db23 (2026-11-21).
"""

import asyncio
import base64
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from urllib.parse import quote, urlsplit

import aiohttp
from signalbot import SignalAPIError
from signalbot._client.base import BaseClient, BaseURIs, SectionURIs, SessionManager
from signalbot._client.messages import MessagesClient, MessagesURIs
from signalbot._client.receipts import ReceiptsClient, ReceiptsURIs
from signalbot._generated import Receipt, SendMessageResponse, SendMessageV2, TextMode, TypingIndicatorRequest
from signalbot._generated.api.receipt_type import ReceiptType
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedOK, WebSocketException

from bot.errors import ConfigError, Disconnected, NotSent, SendUnknown, TransportError, Undeliverable
from bot.events import ChatId, Envelope, Event, Reply, SentId
from bot.transports.base import Progress
from bot.transports.frame import Json, as_object, items_in, person_in, text_in
from bot.transports.reader import FrameReader
from bot.transports.results import failure, http_failure
from bot.transports.styled import styled_text

_log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""For reaching the bridge: it stands on the same machine or the same private network."""

MAX_FRAME_BYTES = 4 * 1024 * 1024
MAX_FRAMES_AHEAD = 1024
"""How many frames are taken off the socket before they are asked for: what stays there too long the bridge drops."""

LEAST_VERSION = (0, 101)
"""From this version on `/v2/send` answers with results per recipient, as signalbot wants it."""


class Refused(Exception):
    """The bridge answered with an error: its HTTP status and the `error` of its body. Does not leave this module."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body


class _Sessions(SessionManager):
    """signalbot's sessions, but an error's body is read before signalbot throws it away.

    Every request has its own connection: whether a request on a kept one that is dead arrived would be unknown.
    """

    def __init__(self, connect_seconds: float) -> None:
        super().__init__()
        self._connect_seconds = connect_seconds

    async def get(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                raise_for_status=_refuse,
                connector=aiohttp.TCPConnector(force_close=True),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds),
            )
        return self._session


async def _refuse(response: aiohttp.ClientResponse) -> None:
    if not response.ok:
        raise Refused(response.status, await response.text(errors="replace"))


class _AnyURI(SectionURIs):
    def uri(self, path: str) -> str:
        return self._base.http_uri(path)


class _Plain(BaseClient[_AnyURI]):
    """What signalbot has no method for."""

    async def get(self, path: str) -> object:
        response = await self._request("get", self._uris.uri(path), error_cls=SignalAPIError)
        return await response.json(content_type=None)


class _Clients:
    """signalbot's clients for one bridge."""

    def __init__(self, url: str, account: str, connect_seconds: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ConfigError("SIGNAL__URL is no address; it looks like http://signal-cli-rest-api:8080")
        service = (parts.netloc + parts.path).rstrip("/")
        uris = BaseURIs(service, account, use_https=parts.scheme == "https")
        self.sessions = _Sessions(connect_seconds)
        self.messages = MessagesClient(MessagesURIs(uris), None, self.sessions)
        self.receipts = ReceiptsClient(ReceiptsURIs(uris), None, self.sessions)
        self.plain = _Plain(_AnyURI(uris), None, self.sessions)
        self.receive_uri = MessagesURIs(uris).receive_ws_uri()


class RestApi:
    """A `Transport` over the bridge at `url` for the account with the phone number `account`.

    `name` is how Aldis's own mention is written out within a text. The deadlines are in seconds: `silence` for a
    websocket that does not answer pings, `send` for a message, `call` for anything else.
    """

    has_receipts = True

    def __init__(
        self,
        url: str,
        account: str,
        *,
        name: str = "Aldis",
        silence_seconds: float = 20,
        send_seconds: float = 60,
        call_seconds: float = 10,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        self.account = account
        self.is_open = False
        self._silence_seconds = silence_seconds
        self._send_seconds = send_seconds
        self._call_seconds = call_seconds
        self._reader = FrameReader(account, name)
        self._clients = _Clients(url, account, connect_seconds)
        # At DEBUG the library logs every frame, and with it what people wrote.
        logging.getLogger("websockets").setLevel(logging.WARNING)

    @property
    def unreadable_frames(self) -> int:
        """How many frames were no envelope, since the start."""
        return self._reader.unreadable

    # Incoming

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """The frames of one connection; see `Transport.envelopes`."""
        await self._check()
        async with self._websocket() as websocket:
            async for raw in _frames(websocket):
                envelope = self._reader.envelope(raw)
                if envelope is not None:
                    yield envelope

    def event(self, envelope: Envelope) -> Event | None:
        """What the envelope says; see `Transport.event`."""
        return self._reader.event(envelope)

    async def _check(self) -> None:
        """See that the bridge will ever deliver something: a wrong mode or number is else just silence."""
        _check_about(as_object(await self._ask("/v1/about")))
        if self.account not in items_in({"accounts": await self._ask("/v1/accounts")}, "accounts"):
            raise ConfigError(
                "SIGNAL__ACCOUNT: signal-cli-rest-api does not know this account; link it with `python -m bot link`"
            )
        if self._reader.own_uuid is None:
            await self._look_up_own_uuid()

    async def _look_up_own_uuid(self) -> None:
        """Ask who the account is; a bridge that does not tell is no reason to stay away."""
        with suppress(Disconnected, ConfigError):
            found = await self._ask(f"/v1/contacts/{self.account}?all_recipients=true")
            contacts = [as_object(contact) for contact in items_in({"contacts": found}, "contacts")]
            own = [contact for contact in contacts if text_in(contact, "number") == self.account]
            self._reader.own_uuid = person_in(own[0], "uuid") if own else None

    async def _ask(self, path: str) -> object:
        with _as_disconnected():
            async with asyncio.timeout(self._call_seconds):
                return await self._clients.plain.get(path)

    @asynccontextmanager
    async def _websocket(self) -> AsyncGenerator[ClientConnection]:
        opening = connect(
            self._clients.receive_uri,
            open_timeout=self._call_seconds,
            ping_interval=self._silence_seconds,
            ping_timeout=self._silence_seconds,
            close_timeout=1,
            max_size=MAX_FRAME_BYTES,
            max_queue=MAX_FRAMES_AHEAD,
            proxy=None,
        )
        with _as_disconnected():
            websocket = await opening
        try:
            _log.info("connected to signal-cli-rest-api")
            self.is_open = True
            yield websocket
        finally:
            self.is_open = False
            await websocket.close()

    # Outgoing

    async def send(self, reply: Reply) -> SentId:
        """Send one message; see `Transport.send`."""
        message, is_group = self._message(reply), reply.chat.startswith("group:")
        with _as_outcome(is_group=is_group):
            async with asyncio.timeout(self._send_seconds):
                [response] = await self._clients.messages.send(message)
            return _sent(response, is_group=is_group)

    def _message(self, reply: Reply) -> SendMessageV2:
        text, is_styled = styled_text(reply.content)
        quoted = reply.quote
        return SendMessageV2(
            number=self.account,
            recipients=[_recipient(reply.chat)],
            message=text,
            text_mode=TextMode.STYLED if is_styled else TextMode.NORMAL,
            notify_self=False,
            quote_timestamp=quoted.sent_at if quoted else None,
            quote_author=quoted.author if quoted else None,
            quote_message=quoted.text if quoted else None,
        )

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Show or hide that Aldis is writing; see `Transport.typing`."""
        messages = self._clients.messages
        tell = messages.start_typing if started else messages.stop_typing
        with _as_log("a typing indicator"):
            async with asyncio.timeout(self._call_seconds):
                await tell(TypingIndicatorRequest(recipient=_recipient(chat)))

    async def receipt(self, envelope: Envelope) -> None:
        """Tell the author that the message was read; in a group, too, this goes to the author alone."""
        if envelope.author is None:
            return
        receipt = Receipt(receipt_type=ReceiptType.READ, recipient=envelope.author, timestamp=envelope.sent_at)
        with _as_log("a read receipt"):
            async with asyncio.timeout(self._call_seconds):
                await self._clients.receipts.send(receipt)

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Nothing: Signal has no place for it but the typing indicator."""

    async def aclose(self) -> None:
        """Close connections; the transport is not used afterwards."""
        await self._clients.sessions.close()


class RestApiLinking:
    """`Linking` by the bridge at `url`; `scan_seconds` is how long the phone may take."""

    def __init__(
        self, url: str, *, call_seconds: float = 30, scan_seconds: float = 180, poll_seconds: float = 1
    ) -> None:
        self._clients = _Clients(url, "", CONNECT_SECONDS)
        self._call_seconds = call_seconds
        self._scan_seconds = scan_seconds
        self._poll_seconds = poll_seconds
        self._before: tuple[str, ...] = ()

    async def accounts(self) -> tuple[str, ...]:
        """The phone numbers that are linked already; see `Linking.accounts`."""
        found = items_in({"accounts": await self._ask("/v1/accounts")}, "accounts")
        return tuple(number for number in found if isinstance(number, str))

    async def start_link(self, device_name: str) -> str:
        """The address that the QR code shows; see `Linking.start_link`."""
        self._before = await self.accounts()
        answer = await self._ask(f"/v1/qrcodelink/raw?device_name={quote(device_name, safe='')}")
        uri = text_in(as_object(answer), "device_link_uri")
        if not uri:
            raise Disconnected("signal-cli-rest-api gave no address to link by; try again")
        return uri

    async def finish_link(self, uri: str, device_name: str) -> str:  # noqa: ARG002 - the other bridge wants both
        """Wait for the phone and give its number; see `Linking.finish_link`.

        The bridge finishes in the background and does not tell, so its list of accounts is asked for again and again.
        """
        with _as_disconnected():
            async with asyncio.timeout(self._scan_seconds):
                while True:
                    new = set(await self.accounts()) - set(self._before)
                    if new:
                        return new.pop()
                    await asyncio.sleep(self._poll_seconds)

    async def aclose(self) -> None:
        """Close connections."""
        await self._clients.sessions.close()

    async def _ask(self, path: str) -> object:
        with _as_disconnected():
            async with asyncio.timeout(self._call_seconds):
                return await self._clients.plain.get(path)


# What a reply looks like


def _recipient(chat: ChatId) -> str:
    """A person's uuid, or a group's id as this bridge has it: the id of the envelopes, once more in base64."""
    kind, _, name = chat.partition(":")
    return f"group.{base64.b64encode(name.encode()).decode()}" if kind == "group" else name


async def _frames(websocket: ClientConnection) -> AsyncIterator[str]:
    """The frames until the bridge closes in good order. Pings see to it that the wait for one is bounded."""
    while True:
        try:
            raw = await websocket.recv(decode=False)
        except ConnectionClosedOK:
            return
        except WebSocketException as error:
            raise Disconnected(f"the websocket broke: {type(error).__name__}") from error
        yield raw.decode("utf-8", "replace")


def _check_about(about: Json) -> None:
    """See that the bridge runs in the mode and has the version that this transport can talk to."""
    mode, version = text_in(about, "mode"), text_in(about, "version")
    if mode != "json-rpc":
        raise ConfigError(
            f"SIGNAL__URL: signal-cli-rest-api runs in mode {mode or 'unknown'}; start it with MODE=json-rpc"
        )
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if version != "unset" and (not numbers or (int(numbers[1]), int(numbers[2])) < LEAST_VERSION):
        raise ConfigError("SIGNAL__URL: signal-cli-rest-api is too old; use version 0.101 or later")


# What became of it


_RATE_LIMIT = re.compile(r"rate.?limit|\[(413|429)\]", re.IGNORECASE)
_HOPELESS = re.compile(
    r"couldn't process request|untrusted|unregistered|not registered|does not exist|not found"
    r"|invalid (group|recipient|number)|not a group member",
    re.IGNORECASE,
)


def _sent(response: SendMessageResponse, *, is_group: bool) -> SentId:
    """The id of a message that somebody got: failures stand in an answer of success, too, one for each recipient."""
    errors = response.errors.recipients if response.errors else None
    kinds = [error.reason or "" for error in errors or ()]
    if kinds and not is_group:
        raise failure(kinds)
    if kinds:
        _log.warning("a message did not reach %d members of a group", len(kinds))
    return SentId(int(response.timestamp))


def _refusal(error: Refused, *, is_group: bool) -> TransportError:
    """400 is the bridge's catch-all for bad requests and for whatever signal-cli failed with: its text decides."""
    if error.status == HTTPStatus.BAD_REQUEST:
        return _bad_request(error.body, is_group=is_group)
    return http_failure(error.status)


def _bad_request(body: str, *, is_group: bool) -> TransportError:
    if _RATE_LIMIT.search(body):
        # In a group the limit may strike in the middle (https://github.com/AsamK/signal-cli/issues/2071).
        words = "Signal limits the rate of sending"
        return SendUnknown(f"{words}; some members may have got it") if is_group else NotSent(words)
    if _HOPELESS.search(body):
        return Undeliverable("signal-cli-rest-api refused the message")
    return SendUnknown("signal-cli-rest-api failed while sending")


# Foreign errors


@contextmanager
def _as_outcome(*, is_group: bool) -> Generator[None]:
    """Tell apart what surely did not arrive and what may have."""
    try:
        yield
    except Refused as error:
        raise _refusal(error, is_group=is_group) from error
    except SignalAPIError as error:
        if isinstance(error.__cause__, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            raise NotSent("signal-cli-rest-api cannot be reached") from error
        raise SendUnknown("the connection to signal-cli-rest-api broke") from error
    except (aiohttp.ClientError, TimeoutError) as error:
        raise SendUnknown(f"signal-cli-rest-api did not answer: {type(error).__name__}") from error
    except ValueError as error:
        raise SendUnknown("signal-cli-rest-api's answer cannot be read") from error


@contextmanager
def _as_disconnected() -> Generator[None]:
    try:
        yield
    except Refused as error:
        if HTTPStatus.UNAUTHORIZED <= error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ConfigError(f"SIGNAL__URL: no signal-cli-rest-api answers there (HTTP {error.status})") from error
        raise Disconnected(f"signal-cli-rest-api answered with HTTP {error.status}") from error
    except TimeoutError as error:
        raise Disconnected("signal-cli-rest-api fell silent") from error
    except (SignalAPIError, aiohttp.ClientError, WebSocketException, OSError, ValueError) as error:
        raise Disconnected(f"no connection to signal-cli-rest-api: {type(error).__name__}") from error


@contextmanager
def _as_log(what: str) -> Generator[None]:
    try:
        yield
    except (Refused, SignalAPIError, aiohttp.ClientError, TimeoutError) as error:
        _log.info("%s was not sent: %s", what, type(error).__name__)
