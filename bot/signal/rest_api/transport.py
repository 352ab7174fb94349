"""Signal by an existing signal-cli-rest-api (mode json-rpc): a websocket comes in, HTTP requests go out.

This bridge is best effort: it loses what arrives while no websocket is open, and part of a burst; `signal_cli` does
not. Typing indicators, read receipts and the deletion of files go out by signalbot. Messages do not, because it drops
the words of a refusal, which decide what happens next; nor does it receive, because a frame that it does not know ends
its reading.
Every request has a connection of its own, and is made only once: whether one on a dead kept-alive connection arrived
would be unknown.

Source: signal-cli-rest-api 0.101 and commit a08db23, which was run (2026-11-22), also with a signal-cli that was
killed (2026-11-26).
"""

import asyncio
import base64
import json
import logging
import math
import re
import time
from collections.abc import AsyncGenerator, Awaitable
from contextlib import suppress
from http import HTTPStatus
from typing import Literal

import aiohttp
import httpx
import signalbot
from aiohttp import WSMsgType

from bot.errors import (
    ConfigError,
    Disconnected,
    NetworkFailed,
    NotScanned,
    NotSent,
    NotUploaded,
    SendUnknown,
    TransportError,
    Unfetchable,
)
from bot.events import (
    Account,
    Attachment,
    ChatId,
    Envelope,
    PersonId,
    Removal,
    Reply,
    SentId,
    Style,
    Styled,
    utf16_offsets,
)
from bot.signal.directory import accounts_in, with_id
from bot.signal.files import data_uri
from bot.signal.json import Json, as_object, items_in, object_in, parse_frame, person_in, text_in
from bot.signal.protocol import DEVICE_NAME, Release, StreamState
from bot.signal.send_errors import RefusedCall, asking, doing, failure, failure_told, rate_limited, token_in
from bot.signal.signal_bridge import Listed, SignalBridge
from tools import trusted_certificates

_log = logging.getLogger(__name__)

CONNECT_SECONDS = 1.0
_PAUSE_SECONDS = 0.5
"""For reaching the bridge, and between two attempts: Aldis must be back within two seconds, or it loses messages."""
_MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""For an answer that is no file: the list of all groups is long, and so is a refusal of files, which repeats them."""
_REACHED_NONE = "Failed to send message"
"""All that is left of signal-cli's results if no recipient got it: most often network failures."""
_QUIET_SECONDS = 0.5  # after which the bridge is asked for a sign of life, and a stop ends the stream
_STOP_SECONDS = 1.5  # the longest time until then, within what a shutdown has for it
MAX_FRAME_BYTES = 4 * 1024 * 1024
_MIN_VERSION = (0, 101)  # the first whose `/v2/send` returns a result for each recipient
_MARKERS = {Style.BOLD: "**", Style.ITALIC: "*", Style.STRIKETHROUGH: "~", Style.MONOSPACE: "`", Style.SPOILER: "||"}
_SPECIAL = re.compile(r"[*~`|\\]")
_LINKING_SECONDS = 30.0

_Method = Literal["GET", "POST", "PUT", "DELETE"]


class _Refusal(RefusedCall):
    """The bridge answered with an error: its HTTP status and captcha; `words` is mostly signal-cli's own sentence."""

    def __init__(self, status: int, body: bytes) -> None:
        text = body.decode("utf-8", "replace")
        self.status = status
        said = parse_frame(text)
        self.challenge = token_in(items_in(said, "challenge_tokens"))
        self.may_pass = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        super().__init__(f"signal-cli-rest-api answered with HTTP {status}", text_in(said, "error") or text)


class _Client:
    def __init__(self, url: str, *, seconds: float, connect_seconds: float = CONNECT_SECONDS) -> None:
        self.url = url.rstrip("/")
        self._seconds = seconds
        self._timeout = httpx.Timeout(None, connect=connect_seconds)

    async def call(
        self,
        method: _Method,
        path: str,
        body: Json | None = None,
        *,
        seconds: float | None = None,
        max_bytes: int = _MAX_ANSWER_BYTES,
    ) -> bytes:
        """Returns the body of a successful answer.

        Raises:
            NotSent: the bridge was certainly not reached; call again later.
            SendUnknown: it did not answer, or not in time: the call may have been carried out.
            _Refusal: it answered with an error.
            Unfetchable: the answer is longer than `max_bytes`.
        """
        answer = bytearray()
        try:
            async with (
                asyncio.timeout(seconds or self._seconds),
                httpx.AsyncClient(verify=trusted_certificates(), trust_env=False, timeout=self._timeout) as http,
                http.stream(method, self.url + path, json=body) as response,
            ):
                async for chunk in response.aiter_bytes():
                    answer += chunk
                    if len(answer) > max_bytes:
                        raise Unfetchable("signal-cli-rest-api's answer is longer than it may be")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotSent("signal-cli-rest-api cannot be reached") from error
        except (httpx.HTTPError, TimeoutError) as error:
            raise SendUnknown(f"signal-cli-rest-api did not answer: {type(error).__name__}") from error
        if not response.is_success:
            raise _Refusal(response.status_code, bytes(answer))
        return bytes(answer)

    async def ask(self, path: str, *, seconds: float | None = None) -> object:
        """Returns the JSON of an answer to a question; raises `Disconnected` if there is none, so ask again."""
        with asking("a question to signal-cli-rest-api"):
            return json.loads(await self.call("GET", path, seconds=seconds))


class RestApi(SignalBridge):
    """A `SignalTransport` over the bridge at `url` for an account; for `name` and `takes_notes` see `SignalBridge`.
    The deadlines: `silence` for a websocket that does not answer pings, `send` for a message or a file, `call` else.
    """

    def __init__(
        self,
        url: str,
        account: Account,
        *,
        name: str = "Aldis",
        takes_notes: bool = False,
        silence_seconds: float = 20,
        send_seconds: float = 60,
        call_seconds: float = 10,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        stream = StreamState(keeps_messages=False, pause_seconds=_PAUSE_SECONDS)
        super().__init__(account, stream, name=name, takes_notes=takes_notes)
        self._ends_at = math.inf
        """When the stream ends whatever comes, on `time.monotonic`'s clock: soon after a stop."""
        self._silence_seconds = silence_seconds
        self._send_seconds = send_seconds
        self._call_seconds = call_seconds
        self._client = _Client(url, seconds=call_seconds, connect_seconds=connect_seconds)
        scheme, _, address = self._client.url.partition("://")
        mode = signalbot.ConnectionMode.HTTPS_ONLY if scheme == "https" else signalbot.ConnectionMode.HTTP_ONLY
        storage = signalbot.InMemoryConfig()
        self._bot = signalbot.SignalBot(
            signalbot.Config(phone_number=self.own.name, signal_service=address, connection_mode=mode, storage=storage)
        )
        # Its own handler writes on standard error, beside Aldis's log; below WARNING it logs what people wrote.
        logging.getLogger(signalbot.LOGGER_NAME).handlers.clear()

    # Incoming

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """Yields the frames of one connection; see `Transport.envelopes`."""
        await self.release()
        try:
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(self._call_seconds)) as session:
                websocket = await session.ws_connect(
                    f"{self._client.url}/v1/receive/{self.own.name}",
                    # Its fields are made by attrs, if that is installed.
                    timeout=aiohttp.ClientWSTimeout(ws_close=1),  # pyright: ignore[reportCallIssue]
                    autoping=False,
                    max_msg_size=MAX_FRAME_BYTES,
                    decode_text=False,
                    ssl=trusted_certificates(),
                )
                _log.info("connected to signal-cli-rest-api")
                self.stream.is_open, self.stream.heard_at = True, time.monotonic()
                async with websocket:
                    while (raw := await self._frame(websocket)) is not None:
                        if (envelope := await self._read(raw.decode("utf-8", "replace"))) is not None:
                            yield envelope
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Disconnected(f"no connection to signal-cli-rest-api: {type(error).__name__}") from error
        finally:
            self.stream.is_open = False

    async def _frame(self, websocket: aiohttp.ClientWebSocketResponse[Literal[False]]) -> bytes | None:
        """The next frame; None at its orderly end or after a stop. Raises `TimeoutError` or `ConnectionError`."""
        quiet_seconds = 0.0  # by the waits, for a process that stood still has not listened
        while time.monotonic() < self._ends_at:
            try:
                message = await websocket.receive(_QUIET_SECONDS)
            except TimeoutError:
                quiet_seconds += _QUIET_SECONDS
                if self._ends_at < math.inf:
                    return None
                if quiet_seconds >= self._silence_seconds:
                    raise
                await websocket.ping()
                continue
            if message.type is WSMsgType.CLOSE:
                return None
            if message.type in {WSMsgType.CLOSED, WSMsgType.ERROR}:
                raise ConnectionError(message.type)
            self.stream.heard_at, quiet_seconds = time.monotonic(), 0.0
            if message.type is WSMsgType.PING:
                await websocket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                return message.data
        return None

    def stop_receiving(self) -> None:
        """Ends `envelopes` as soon as nothing more comes; see `Transport.stop_receiving`."""
        self._ends_at = time.monotonic() + _STOP_SECONDS

    # Outgoing

    async def send(self, reply: Reply) -> SentId:
        """Sends one message; see `Transport.send`. An edit has no files, and must repeat all else, or it is gone."""
        await self._ready(reply.chat)
        text, quoted = styled_text(reply.content), reply.quote
        mentions = [{"author": one.person, "start": one.start, "length": one.length} for one in reply.mentions]
        message = {
            "number": self.own.name,
            "recipients": [self._recipient(reply.chat)],
            "message": text,
            "text_mode": "normal" if text == reply.content.text else "styled",
            "notify_self": self.is_own_chat(reply.chat) and reply.edits is None,
            "base64_attachments": [data_uri(file) for file in reply.files] or None,
            "mentions": mentions or None,
            "quote_timestamp": quoted.sent_at if quoted else None,
            "quote_author": quoted.author if quoted else None,
            "quote_message": quoted.text if quoted else None,
            "edit_timestamp": None if reply.files else reply.edits,
        }
        given = {field: value for field, value in message.items() if value is not None}
        return await self._send("POST", "/v2/send", given, is_group=reply.chat.is_group)

    async def remove(self, removal: Removal) -> SentId:
        """Deletes one of our own messages; see `Transport.remove`."""
        self.check_bounds(removal.chat)
        body = {"recipient": self._recipient(removal.chat), "timestamp": removal.target}
        return await self._send("DELETE", f"/v1/remote-delete/{self.own.name}", body, is_group=removal.chat.is_group)

    async def _send(self, method: _Method, path: str, body: Json, *, is_group: bool) -> SentId:
        """Sends something and returns its id; the answer is a list with one entry, or for a removal the entry alone."""
        answer = await self._post(method, path, body, seconds=self._send_seconds, is_group=is_group)
        listed = parse_frame('{"sent": ' + answer.decode("utf-8", "replace") + "}")
        sent = as_object(next(iter(items_in(listed, "sent")), listed.get("sent")))
        errors = map(as_object, items_in(object_in(sent, "errors"), "recipients"))
        missed = [(text_in(error, "reason"), person_in(error, "uuid")) for error in errors]
        if missed and not is_group:
            raise failure([reason for reason, _ in missed])
        self._on_missed(missed)
        found = re.fullmatch(r"[0-9]{1,15}", str(sent.get("timestamp")))
        if found is None:
            raise SendUnknown("signal-cli-rest-api's answer cannot be read")
        self.challenge = None
        return SentId(int(found[0]))

    async def _post(self, method: _Method, path: str, body: Json, *, seconds: float, is_group: bool) -> bytes:
        try:
            return await self._client.call(method, path, body, seconds=seconds)
        except _Refusal as error:
            self.challenge = error.challenge or self.challenge
            raise _not_sent(error, is_group=is_group) from error

    def _recipient(self, chat: ChatId) -> str:
        """A person's UUID, or a group's id in this bridge's form: the id of the envelopes, in base64 once more."""
        if self.is_own_chat(chat):
            return self.own.name
        return f"group.{base64.b64encode(chat.id.encode()).decode()}" if chat.is_group else chat.id

    async def _type(self, chat: ChatId, *, started: bool) -> bool:
        return await self._tell("a typing indicator", self._show_typing(chat, started=started), level=logging.DEBUG)

    async def _show_typing(self, chat: ChatId, *, started: bool) -> None:
        if chat.is_group and chat.id not in self._bot.groups:
            await self._bot.groups.refresh()
        messages = self._bot.messages
        await (messages.start_typing(chat.id) if started else messages.stop_typing(chat.id))

    async def _react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        target = {"recipient": self._recipient(chat), "target_author": author, "timestamp": sent_at}
        method = "DELETE" if removed else "POST"
        path = f"/v1/reactions/{self.own.name}"
        body = target | {"reaction": emoji}
        await self._post(method, path, body, seconds=self._call_seconds, is_group=chat.is_group)
        return None

    async def _confirm(self, author: PersonId, names: tuple[SentId, ...]) -> None:
        for at in names:
            message = signalbot.DataMessage(
                source_uuid=author, timestamp=at, server_received_timestamp=at, server_delivered_timestamp=at
            )
            await self._tell("a read receipt", self._bot.receipts.send(message, signalbot.ReceiptType.READ))

    async def _fetch(self, chat: ChatId, id_: str, *, max_bytes: int) -> bytes:  # noqa: ARG002 - any chat's
        path = f"/v1/attachments/{id_}"
        return await self._client.call("GET", path, seconds=self._send_seconds, max_bytes=max_bytes)

    async def discard(self, attachment: Attachment) -> None:
        """Deletes the bridge's copy of a file; see `Transport.discard`."""
        file = signalbot.Attachment.model_validate({"id": attachment.id, "isVoiceNote": attachment.is_voice_note})
        await self._tell("deleting a file", self._bot.attachments.delete(file))

    async def is_linked(self) -> bool:
        """Returns whether the bridge still has the account; see `Identities.is_linked`."""
        # An account without a number is listed without a name.
        return any(one.name == (self.number or "") for one in accounts_in(await self._client.ask("/v1/accounts")))

    async def release(self) -> Release:
        """Returns the bridge's version, not that of the signal-cli in it; see `Identities.release`."""
        about = as_object(await self._client.ask("/v1/about"))
        mode, version = text_in(about, "mode") or "unknown", text_in(about, "version")
        if mode != "json-rpc":
            raise ConfigError(f"SIGNAL__URL: signal-cli-rest-api runs in mode {mode}; start it with MODE=json-rpc")
        numbers = re.match(r"v?(\d+)\.(\d+)", version)
        if version != "unset" and (not numbers or (int(numbers[1]), int(numbers[2])) < _MIN_VERSION):
            raise ConfigError("SIGNAL__URL: signal-cli-rest-api is too old; use version 0.101 or later")
        return Release(bridge="rest_api", version=version)

    async def join(self, group: str) -> None:
        """Accepts an invitation; see `Groups.join`."""
        await self._do("POST", f"/v1/groups/{self.own.name}/{self._recipient(ChatId.group(group))}/join", {})

    async def trust(self, person: PersonId) -> None:
        """Trusts the key that this person has now; see `Identities.trust`."""
        await self._do("PUT", f"/v1/identities/{self.own.name}/trust/{person}", {"trust_all_known_keys": True})

    async def aclose(self) -> None:
        """Closes the connections; the transport is not used afterwards."""
        await self._bot.close()

    async def _solve(self, challenge: str, captcha: str) -> None:
        body = {"challenge_token": challenge, "captcha": captcha}
        await self._do("POST", f"/v1/accounts/{self.own.name}/rate-limit-challenge", body)

    async def _list(self, what: Listed) -> object:
        more = {"groups": "?expand=true", "contacts": "?all_recipients=true", "identities": ""}[what]
        return await self._client.ask(f"/v1/{what}/{self.own.name}{more}")

    async def _do(self, method: _Method, path: str, body: Json) -> None:
        """Makes a request for the operator, who reads why it is refused."""
        with doing("a request to signal-cli-rest-api"):
            await self._client.call(method, path, body, seconds=self._send_seconds)

    async def _tell(self, what: str, call: Awaitable[object], *, level: int = logging.INFO) -> bool:
        """Makes a call of signalbot whose failure is only logged; returns whether it succeeded."""
        try:
            async with asyncio.timeout(self._call_seconds):
                await call
        except (signalbot.SignalBotError, aiohttp.ClientError, ValueError, TimeoutError) as error:
            _log.log(level, "%s failed: %s", what, type(error).__name__)
            return False
        return True


def _not_sent(error: _Refusal, *, is_group: bool) -> TransportError:
    """The error for a refused send. 400 is the bridge's catch-all, so its words decide; other 4xx come
    before the request was read. After 5xx the outcome is unknown: a proxy may have passed the request on.
    """
    status = error.status
    if status == HTTPStatus.BAD_REQUEST:
        if error.words.strip() == _REACHED_NONE:
            return NetworkFailed("signal-cli reached no recipient")
        known = failure_told(error.words, is_group=is_group)
        return SendUnknown("signal-cli-rest-api failed while sending") if known is None else known
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return rate_limited(challenge=error.challenge)
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return NotUploaded(f"the request is too large: HTTP {status}", is_final=True)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return NotSent(f"what answers at SIGNAL__URL did not take the request: HTTP {status}")
    return SendUnknown(f"signal-cli-rest-api answered with HTTP {status}")


def styled_text(content: Styled) -> str:
    """Returns the text with the bridge's markers for its styles.

    Its parser removes markers, so a text that itself has such characters goes out plain, and a range that overlaps or
    touches another is left out: a style can get lost, a character never. Source: `src/utils/textstyleparser.go`.
    """
    text, places = content.text, {unit: index for index, unit in enumerate(utf16_offsets(content.text))}
    if _SPECIAL.search(text):
        return text
    marked, done = "", 0
    for style in sorted(content.styles, key=lambda style: (style.start, -style.length)):
        start, end = places.get(style.start), places.get(style.start + style.length)
        if start is None or end is None or start >= end or start < done or (marked and start == done):
            continue
        marker = _MARKERS[style.style]
        marked += f"{text[done:start]}{marker}{text[start:end]}{marker}"
        done = end
    return marked + text[done:]


class RestApiLinking(_Client):
    """`Linking` by the bridge at `url`; the phone has `scan_seconds`, the accounts are listed each `poll_seconds`."""

    def __init__(
        self, url: str, *, scan_seconds: float = 60, poll_seconds: float = 1, accounts_seconds: float = 5
    ) -> None:
        super().__init__(url, seconds=_LINKING_SECONDS)
        self.scan_seconds = scan_seconds
        self._poll_seconds = poll_seconds
        # The bridge hangs for ever if signal-cli answers at once (`getRaw` in `src/client/jsonrpc2.go` waits only after
        # it has written), so it is soon asked again.
        self.owns_seconds = accounts_seconds
        self._before: tuple[Account, ...] | None = None
        """What was linked before the first code; an outdated one may be scanned, too."""

    async def accounts(self) -> tuple[Account, ...]:
        """Returns the accounts that are already linked; see `Linking.accounts`."""
        return accounts_in(await self.ask("/v1/accounts", seconds=self.owns_seconds))

    async def identify(self, account: Account) -> Account:
        """Asks for the id of an account; see `Linking.identify`."""
        if account.id is not None and account.number is not None:
            return account
        path = f"/v1/contacts/{account.name}?all_recipients=true"
        return with_id(account, await self.ask(path))

    async def start_link(self) -> str:
        """Returns the address for the QR code; see `Linking.start_link`."""
        if self._before is None:
            self._before = await self.accounts()
        path = f"/v1/qrcodelink/raw?device_name={DEVICE_NAME}"
        uri = text_in(as_object(await self.ask(path)), "device_link_uri")
        if not uri:
            raise Disconnected("signal-cli-rest-api gave no address to link by; try again")
        return uri

    async def finish_link(self, uri: str) -> str:  # noqa: ARG002 - the other bridge wants it
        """Waits for the phone and returns its account, by the list of accounts; see `Linking.finish_link`."""
        try:
            async with asyncio.timeout(self.scan_seconds):
                while True:
                    with suppress(Disconnected):  # while it links, signal-cli may answer nothing else for seconds
                        if new := set(await self.accounts()) - set(self._before or ()):
                            return new.pop().name
                    await asyncio.sleep(self._poll_seconds)
        except TimeoutError as error:
            raise NotScanned("the code was not scanned in time") from error
