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
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from urllib.parse import quote

import aiohttp
from signalbot import SignalAPIError
from signalbot._generated import (
    Receipt,
    RemoteDeleteRequest,
    SendMessageResponse,
    SendMessageV2,
    TextMode,
    TypingIndicatorRequest,
)
from signalbot._generated.api.receipt_type import ReceiptType
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedOK, WebSocketException

from bot.errors import ConfigError, Disconnected, TransportError
from bot.events import ChatId, Envelope, Event, Removal, Reply, SentId
from bot.transports.base import Contact, Group, Progress
from bot.transports.bridge import check_about
from bot.transports.directory import contacts_in, groups_in, own_uuid
from bot.transports.frame import as_object, items_in, text_in
from bot.transports.reader import FrameReader
from bot.transports.refusals import challenge_in
from bot.transports.rest_clients import Clients, Refused, as_log, as_outcome
from bot.transports.results import failure
from bot.transports.styled import styled_text

_log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""For reaching the bridge: it stands on the same machine or the same private network."""

MAX_FRAME_BYTES = 4 * 1024 * 1024
MAX_FRAMES_AHEAD = 1024
"""How many frames are taken off the socket before they are asked for: what stays there too long the bridge drops."""


class _Connection(ClientConnection):
    """A websocket that remembers its last sign of life: a frame, a ping or a pong."""

    heard_at: float | None = None

    def data_received(self, data: bytes) -> None:
        self.heard_at = time.monotonic()
        super().data_received(data)


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
        self.challenge: str | None = None
        """See `Transport.challenge`."""
        self._connection: _Connection | None = None
        """The last one, open or not."""
        self._silence_seconds = silence_seconds
        self._send_seconds = send_seconds
        self._call_seconds = call_seconds
        self._reader = FrameReader(account, name)
        self._clients = Clients(url, account, connect_seconds)
        # At DEBUG the library logs every frame, and with it what people wrote.
        logging.getLogger("websockets").setLevel(logging.WARNING)

    @property
    def unreadable_frames(self) -> int:
        """How many frames were no envelope, since the start."""
        return self._reader.unreadable

    @property
    def heard_at(self) -> float | None:
        """When the last sign of life came over a websocket; see `Transport.heard_at`."""
        return self._connection.heard_at if self._connection else None

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
        check_about(as_object(await self._ask("/v1/about")))
        if not await self.is_linked():
            raise ConfigError(
                "SIGNAL__ACCOUNT: signal-cli-rest-api does not know this account; link it with `python -m bot link`"
            )
        if self._reader.own_uuid is None:
            await self._look_up_own_uuid()

    async def _look_up_own_uuid(self) -> None:
        """Ask who the account is; a bridge that does not tell is no reason to stay away."""
        with suppress(Disconnected, ConfigError):
            found = await self._ask(f"/v1/contacts/{self.account}?all_recipients=true")
            self._reader.own_uuid = own_uuid(found, account=self.account)

    async def _ask(self, path: str) -> object:
        with _as_disconnected():
            async with asyncio.timeout(self._call_seconds):
                return await self._clients.plain.get(path)

    async def _told(self, path: str) -> object:
        """As `_ask`, where the stream has shown already that the bridge is one: what it refuses may pass.

        Raises:
            Disconnected: it did not tell.
        """
        try:
            return await self._ask(path)
        except ConfigError as error:
            raise Disconnected(str(error)) from error

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
            create_connection=_Connection,
        )
        with _as_disconnected():
            websocket = await opening
        assert isinstance(websocket, _Connection)  # noqa: S101  (tells the type checker what was asked for)
        self._connection = websocket
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
        message, is_group = self._message(reply), _is_group(reply.chat)
        async with self._sending(is_group=is_group):
            [response] = await self._clients.messages.send(message)
            return _sent(response, is_group=is_group)

    async def remove(self, removal: Removal) -> SentId:
        """Delete one of our own messages for everybody; see `Transport.remove`."""
        request = RemoteDeleteRequest(recipient=_recipient(removal.chat), timestamp=removal.target)
        async with self._sending(is_group=_is_group(removal.chat)):
            response = await self._clients.messages.remote_delete(request)
            return SentId(int(response.timestamp))

    async def note_to_self(self, text: str) -> SentId:
        """Send a message to the account itself; see `Transport.note_to_self`."""
        note = SendMessageV2(number=self.account, recipients=[self.account], message=text, notify_self=False)
        async with self._sending(is_group=False):
            [response] = await self._clients.messages.send(note)
            return _sent(response, is_group=False)

    @asynccontextmanager
    async def _sending(self, *, is_group: bool) -> AsyncGenerator[None]:
        """The deadline of a send, what its failure means, and whether Signal wants a captcha now."""
        try:
            with as_outcome(is_group=is_group):
                async with asyncio.timeout(self._send_seconds):
                    yield
        except TransportError as error:
            if isinstance(error.__cause__, Refused):
                self.challenge = challenge_in(error.__cause__.body) or self.challenge
            raise
        self.challenge = None

    def _message(self, reply: Reply) -> SendMessageV2:
        """An edit is a message like any other, quote included: what it does not repeat is gone."""
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
            edit_timestamp=reply.edits,
        )

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Show or hide that Aldis is writing; see `Transport.typing`."""
        messages = self._clients.messages
        tell = messages.start_typing if started else messages.stop_typing
        with as_log("a typing indicator"):
            async with asyncio.timeout(self._call_seconds):
                await tell(TypingIndicatorRequest(recipient=_recipient(chat)))

    async def receipt(self, envelope: Envelope) -> None:
        """Tell the author that the message was read; in a group, too, this goes to the author alone."""
        if envelope.author is None:
            return
        receipt = Receipt(receipt_type=ReceiptType.READ, recipient=envelope.author, timestamp=envelope.sent_at)
        with as_log("a read receipt"):
            async with asyncio.timeout(self._call_seconds):
                await self._clients.receipts.send(receipt)

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Nothing: Signal has no place for it but the typing indicator."""

    # The account

    async def is_linked(self) -> bool:
        """Whether the bridge still has the account; see `Transport.is_linked`."""
        accounts = await self._told("/v1/accounts")
        if not isinstance(accounts, list):
            raise Disconnected("signal-cli-rest-api's list of accounts cannot be read")
        return self.account in accounts

    async def groups(self) -> tuple[Group, ...]:
        """The groups that the account is in; see `Transport.groups`."""
        return groups_in(await self._told(f"/v1/groups/{self.account}?expand=true"), id_field="internal_id")

    async def contacts(self) -> tuple[Contact, ...]:
        """The people whom the account knows; see `Transport.contacts`."""
        found = await self._told(f"/v1/contacts/{self.account}?all_recipients=true")
        return contacts_in(found, account=self.account)

    async def aclose(self) -> None:
        """Close connections; the transport is not used afterwards."""
        await self._clients.sessions.close()


class RestApiLinking:
    """`Linking` by the bridge at `url`; `scan_seconds` is how long the phone may take."""

    def __init__(
        self, url: str, *, call_seconds: float = 30, scan_seconds: float = 180, poll_seconds: float = 1
    ) -> None:
        self._clients = Clients(url, "", CONNECT_SECONDS)
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


def _is_group(chat: ChatId) -> bool:
    return chat.startswith("group:")


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


# What became of it


def _sent(response: SendMessageResponse, *, is_group: bool) -> SentId:
    """The id of a message that somebody got: failures stand in an answer of success, too, one for each recipient."""
    errors = response.errors.recipients if response.errors else None
    kinds = [error.reason or "" for error in errors or ()]
    if kinds and not is_group:
        raise failure(kinds)
    if kinds:
        _log.warning("a message did not reach %d members of a group", len(kinds))
    return SentId(int(response.timestamp))


# Foreign errors


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
