"""Signal by signal-cli's own daemon: server-sent events come in, JSON-RPC calls go out.

The daemon is to run with `--http` and `--receive-mode=on-connection`: it then fetches messages from Signal only while
a stream is open, so that nothing is lost while Aldis is down. Left to others: what frames mean (`envelope`), when to
connect again (intake), what to do about a send of unknown outcome (courier).

Source: signal-cli 0.14.6, `org.asamk.signal.http` and `org.asamk.signal.jsonrpc` (2026-11-21).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from http import HTTPStatus

import httpx

from bot.errors import ConfigError, Disconnected, NotSent, SendUnknown, TransportError
from bot.events import ChatId, Envelope, Event, QuoteTarget, Removal, Reply, SentId
from bot.transports.answers import RpcError, challenge_in, outcome, sent
from bot.transports.base import Contact, Group, Progress
from bot.transports.directory import contacts_in, entries, groups_in, own_uuid
from bot.transports.frame import as_object, object_in, text_in
from bot.transports.reader import FrameReader
from bot.transports.results import http_failure
from bot.transports.sse import EventParser

_log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""For reaching the daemon: it stands on the same machine or the same private network."""


class Rpc:
    """Calls the daemon's methods; every call has its own connection and a total deadline."""

    def __init__(self, url: str, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        # A connection that was kept may be dead, and whether a request on it arrived is then unknown. A fresh one costs
        # a millisecond, and a daemon that is down is a refused connection: surely not sent.
        limits = httpx.Limits(max_keepalive_connections=0)
        timeout = httpx.Timeout(None, connect=connect_seconds)
        # Loading the certificates takes a tenth of a second, and a plain http address needs none.
        verify = url.startswith("https:")
        try:
            self.http = httpx.AsyncClient(base_url=url, verify=verify, trust_env=False, limits=limits, timeout=timeout)
        except httpx.InvalidURL as error:
            raise ConfigError("SIGNAL__URL is no address; it looks like http://signal-cli:8080") from error
        # At INFO httpx logs every address, and the account's phone number is part of the stream's.
        logging.getLogger("httpx").setLevel(logging.WARNING)

    async def call(self, method: str, params: Mapping[str, object], *, timeout_seconds: float) -> object:
        """The `result` of a call.

        Raises:
            NotSent: the daemon was surely not reached; call again later.
            SendUnknown: the call may have been carried out.
            Undeliverable: the request itself was refused before it was read.
            RpcError: the daemon refused the call; see its code.
        """
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        with _as_outcome():
            async with asyncio.timeout(timeout_seconds):
                response = await self.http.post("/api/v1/rpc", json=request)
        return _result(response)

    async def ask(self, method: str, params: Mapping[str, object], *, timeout_seconds: float) -> object:
        """The `result` of a call that only asks, or that may be made again.

        Raises:
            Disconnected: it did not succeed; try again.
        """
        try:
            return await self.call(method, params, timeout_seconds=timeout_seconds)
        except TransportError as error:
            raise Disconnected(f"{method} did not succeed ({error}); try again") from error

    async def accounts(self, *, timeout_seconds: float) -> tuple[str, ...]:
        """The phone numbers of the accounts that the daemon has.

        Raises:
            Disconnected: as `ask`.
        """
        found = entries(await self.ask("listAccounts", {}, timeout_seconds=timeout_seconds))
        return tuple(number for account in found if (number := text_in(account, "number")))

    async def aclose(self) -> None:
        """Close the connections."""
        await self.http.aclose()


class SignalCli:
    """A `Transport` over the daemon at `url` for the account with the phone number `account`.

    `name` is how Aldis's own mention is written out within a text. The deadlines are in seconds: `silence` for a stream
    on which not even keep-alives (one in 15 s) come, `send` for a message, `call` for anything else.
    """

    has_receipts = True

    def __init__(
        self,
        url: str,
        account: str,
        *,
        name: str = "Aldis",
        silence_seconds: float = 45,
        send_seconds: float = 60,
        call_seconds: float = 10,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        self.account = account
        self.is_open = False
        self.heard_at: float | None = None
        """See `Transport.heard_at`."""
        self.challenge: str | None = None
        """See `Transport.challenge`."""
        self._silence_seconds = silence_seconds
        self._send_seconds = send_seconds
        self._call_seconds = call_seconds
        self._reader = FrameReader(account, name)
        self._rpc = Rpc(url, connect_seconds=connect_seconds)

    @property
    def unreadable_frames(self) -> int:
        """How many frames were no envelope, since the start."""
        return self._reader.unreadable

    # Incoming

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """The frames of one connection; see `Transport.envelopes`."""
        await self._look_up_own_uuid()
        async with self._stream() as response:
            parser = EventParser()
            async for chunk in self._chunks(response):
                for raw in parser.feed(chunk):
                    envelope = self._reader.envelope(raw)
                    if envelope is not None:
                        yield envelope
                self._reader.passed_over(parser.taken_too_long())

    def event(self, envelope: Envelope) -> Event | None:
        """What the envelope says; see `Transport.event`."""
        return self._reader.event(envelope)

    @asynccontextmanager
    async def _stream(self) -> AsyncGenerator[httpx.Response]:
        # Compressed, a keep-alive would wait in the compressor of a proxy.
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        http = self._rpc.http
        request = http.build_request("GET", "/api/v1/events", params={"account": self.account}, headers=headers)
        with _as_disconnected():
            async with asyncio.timeout(self._call_seconds):
                response = await http.send(request, stream=True)
        try:
            _check_stream(response)
            _log.info("connected to signal-cli")
            self.is_open, self.heard_at = True, time.monotonic()
            yield response
        finally:
            self.is_open = False
            await response.aclose()

    async def _chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """The bytes as they come, until the daemon ends the stream."""
        incoming = aiter(response.aiter_raw())
        while True:
            with _as_disconnected():
                async with asyncio.timeout(self._silence_seconds):
                    chunk = await anext(incoming, None)
            if chunk is None:
                return
            self.heard_at = time.monotonic()
            yield chunk

    async def _look_up_own_uuid(self) -> None:
        """Ask who the account is, once: mentions of people who hide their number name the uuid alone.

        A daemon that does not tell is no reason to stay away: a frame of the account's own will tell.
        """
        if self._reader.own_uuid is not None:
            return
        with suppress(Disconnected):
            found = await self._ask("listContacts", {"recipient": [self.account], "allRecipients": True})
            self._reader.own_uuid = own_uuid(found, account=self.account)

    # Outgoing

    async def send(self, reply: Reply) -> SentId:
        """Send one message; see `Transport.send`."""
        params = {**_addressed_to(reply.chat), "message": reply.content.text}
        styles = [f"{style.start}:{style.length}:{style.style}" for style in reply.content.styles]
        params |= {"textStyle": styles} if styles else {}
        # An edit repeats the quote: what it does not repeat is gone.
        params |= _quoting(reply.quote) if reply.quote else {}
        params |= {"editTimestamp": reply.edits} if reply.edits is not None else {}
        return await self._send("send", params)

    async def remove(self, removal: Removal) -> SentId:
        """Delete one of our own messages for everybody; see `Transport.remove`."""
        return await self._send("remoteDelete", {**_addressed_to(removal.chat), "targetTimestamp": removal.target})

    async def note_to_self(self, text: str) -> SentId:
        """Send a message to the account itself; see `Transport.note_to_self`."""
        return await self._send("send", {"noteToSelf": True, "message": text})

    async def _send(self, method: str, params: Mapping[str, object]) -> SentId:
        """Carry out a call that sends something; gives the id of what went out."""
        given = {"account": self.account, **params}
        try:
            result = await self._rpc.call(method, given, timeout_seconds=self._send_seconds)
        except RpcError as error:
            self.challenge = challenge_in(error.response.get("response")) or self.challenge
            raise outcome(error) from error
        self.challenge = challenge_in(result)
        return sent(result)

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        """Show or hide that Aldis is writing; see `Transport.typing`."""
        stop = {} if started else {"stop": True}
        await self._tell("sendTyping", {**_addressed_to(chat), **stop})

    async def receipt(self, envelope: Envelope) -> None:
        """Tell the author that the message was read; in a group, too, this goes to the author alone."""
        if envelope.author is not None:
            params = {"recipient": envelope.author, "targetTimestamp": [envelope.sent_at], "type": "read"}
            await self._tell("sendReceipt", params)

    async def progress(self, chat: ChatId, progress: Progress) -> None:
        """Nothing: Signal has no place for it but the typing indicator."""

    # The account

    async def is_linked(self) -> bool:
        """Whether the daemon still has the account; see `Transport.is_linked`."""
        return self.account in await self._rpc.accounts(timeout_seconds=self._call_seconds)

    async def groups(self) -> tuple[Group, ...]:
        """The groups that the account is in; see `Transport.groups`."""
        return groups_in(await self._ask("listGroups", {}), id_field="id")

    async def contacts(self) -> tuple[Contact, ...]:
        """The people whom the account knows; see `Transport.contacts`."""
        return contacts_in(await self._ask("listContacts", {"allRecipients": True}), account=self.account)

    async def _ask(self, method: str, params: Mapping[str, object]) -> object:
        return await self._rpc.ask(method, {"account": self.account, **params}, timeout_seconds=self._call_seconds)

    async def aclose(self) -> None:
        """Close connections; the transport is not used afterwards."""
        await self._rpc.aclose()

    async def _tell(self, method: str, params: Mapping[str, object]) -> None:
        try:
            await self._rpc.call(method, {"account": self.account, **params}, timeout_seconds=self._call_seconds)
        except TransportError as error:
            _log.info("%s failed: %s", method, error)


class SignalCliLinking:
    """`Linking` by the daemon at `url`; `scan_seconds` is how long the phone may take."""

    def __init__(self, url: str, *, call_seconds: float = 30, scan_seconds: float = 180) -> None:
        self._rpc = Rpc(url)
        self._call_seconds = call_seconds
        self._scan_seconds = scan_seconds

    async def accounts(self) -> tuple[str, ...]:
        """The phone numbers that are linked already; see `Linking.accounts`."""
        return await self._rpc.accounts(timeout_seconds=self._call_seconds)

    async def start_link(self, device_name: str) -> str:  # noqa: ARG002 - only the other bridge wants it now
        """The address that the QR code shows; see `Linking.start_link`."""
        started = await self._rpc.ask("startLink", {}, timeout_seconds=self._call_seconds)
        uri = text_in(as_object(started), "deviceLinkUri")
        if not uri:
            raise Disconnected("signal-cli gave no address to link by; try again")
        return uri

    async def finish_link(self, uri: str, device_name: str) -> str:
        """Wait for the phone and give its number; see `Linking.finish_link`."""
        params = {"deviceLinkUri": uri, "deviceName": device_name}
        finished = await self._rpc.ask("finishLink", params, timeout_seconds=self._scan_seconds)
        number = text_in(as_object(finished), "number")
        if not number:
            raise Disconnected("signal-cli did not say which account was linked; look at its list of accounts")
        return number

    async def aclose(self) -> None:
        """Close connections."""
        await self._rpc.aclose()


# What a reply looks like


def _addressed_to(chat: ChatId) -> dict[str, object]:
    kind, _, name = chat.partition(":")
    return {"groupId": [name]} if kind == "group" else {"recipient": [name]}


def _quoting(quote: QuoteTarget) -> dict[str, object]:
    return {"quoteTimestamp": quote.sent_at, "quoteAuthor": quote.author, "quoteMessage": quote.text}


# Foreign errors


@contextmanager
def _as_outcome() -> Generator[None]:
    """Tell apart what surely did not arrive and what may have."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
        raise NotSent(f"signal-cli cannot be reached: {type(error).__name__}") from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise SendUnknown(f"signal-cli did not answer: {type(error).__name__}") from error


@contextmanager
def _as_disconnected() -> Generator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Disconnected("signal-cli fell silent") from error
    except httpx.HTTPError as error:
        raise Disconnected(f"no connection to signal-cli: {type(error).__name__}") from error


def _result(response: httpx.Response) -> object:
    """What the call gave; the daemon answers 200 to every call that it has read."""
    if response.status_code != HTTPStatus.OK:
        raise http_failure(response.status_code)
    try:
        answer = as_object(response.json())
    except (ValueError, RecursionError) as error:
        raise SendUnknown("signal-cli's answer is no JSON") from error
    error = object_in(answer, "error")
    if error:
        code = error.get("code")
        raise RpcError(code if isinstance(code, int) else 0, object_in(error, "data"))
    if "result" not in answer:
        raise SendUnknown("signal-cli's answer has no result")
    return answer["result"]


def _check_stream(response: httpx.Response) -> None:
    status = response.status_code
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    if status == HTTPStatus.OK and is_stream:
        return
    if status == HTTPStatus.BAD_REQUEST:
        raise ConfigError("SIGNAL__ACCOUNT: signal-cli does not know this account; link it with `python -m bot link`")
    if status == HTTPStatus.OK or (response.is_client_error and status != HTTPStatus.TOO_MANY_REQUESTS):
        raise ConfigError(f"SIGNAL__URL: no signal-cli daemon answers there (HTTP {status}); start it with --http")
    raise Disconnected(f"signal-cli answered with HTTP {status}")
