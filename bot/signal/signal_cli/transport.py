"""Signal by signal-cli's own daemon: what it receives comes in as it arrives, JSON-RPC calls go out.

Over a socket (`--socket` or `--tcp`, in receive mode manual) it fetches messages from Signal only while Aldis is
subscribed, so nothing is lost while Aldis is down (`subscription`). Left to others: how a call travels (`rpc`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc` and `org.asamk.signal.util.SendMessageResultUtils` (2026-11-22).
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Literal

from bot.errors import CallRefused, Disconnected, NotScanned, SendUnknown, TransportError, Undeliverable
from bot.events import Account, Attachment, ChatId, Envelope, Incoming, PersonId, Removal, Reply, SentId
from bot.signal.directory import account_in, stickers_in, with_id
from bot.signal.files import Folder, data_uri, decode_file
from bot.signal.json import Json, as_object, items_in, object_in, parse_frame, person_in, text_in, whole_in
from bot.signal.protocol import DEVICE_NAME, Release, StreamState
from bot.signal.send_errors import SUCCESS, UNTRUSTED, doing, failure, failure_told, rate_limited, token_in
from bot.signal.signal_bridge import Listed, SignalBridge
from bot.signal.signal_cli.rpc import CONNECT_SECONDS, Rpc, RpcError
from bot.signal.signal_cli.subscription import Deadlines, Subscription

_log = logging.getLogger(__name__)

_STICKERS_SECONDS = 10.0
_USER_ERROR_CODE = -1
_UNTRUSTED_CODE = -4
_RATE_LIMIT_CODE = -5
_REFUSED_CODES = {_USER_ERROR_CODE, -6, -32600, -32601, -32602, -32700}
"""User error, captcha rejected; invalid request, unknown method, bad parameters, no JSON."""
_EXPIRED = re.compile(r"timed out|unknown device link uri", re.IGNORECASE)
"""How `FinishLinkCommand` (0.14.6) says that a code was not scanned, or forgotten in a restart, beside refusals."""
_UNAUTHORIZED = re.compile(r"\[40[13]\]|Authorization ?failed", re.IGNORECASE)
"""How Signal's server refuses a device that was removed. Source: libsignal-service, `AuthorizationFailedException`."""
_LINKING_SECONDS = 30.0


class SignalCli(SignalBridge):
    """A `SignalTransport` over the daemon at `url` for an account; for `name` and `takes_notes` see `SignalBridge`.

    `attachments` is the folder in which the daemon keeps received files, if Aldis can delete there. The deadlines:
    `silence` for a stream without a sign of life, `send` for a message or a file, `call` else; `waits` as `Deadlines`.
    """

    def __init__(
        self,
        url: str,
        account: Account,
        *,
        name: str = "Aldis",
        attachments: Path | None = None,
        takes_notes: bool = False,
        silence_seconds: float = 45,
        send_seconds: float = 60,
        call_seconds: float = 10,
        connect_seconds: float = CONNECT_SECONDS,
        **waits: float,
    ) -> None:
        super().__init__(account, StreamState(), name=name, takes_notes=takes_notes)
        self._send_seconds = send_seconds
        self._folder = Folder(attachments)
        self._stickers_at = 0.0
        """When stickers can be asked for again, on `time.monotonic`'s clock: strangers send stickers, too."""
        self._rpc = Rpc(url, seconds=call_seconds, connect_seconds=connect_seconds)
        deadlines = Deadlines(call_seconds=call_seconds, silence_seconds=silence_seconds, **waits)
        self._subscription = Subscription(url, account.name, self._rpc, self.stream, deadlines)

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        """Yields the frames of one connection; see `Transport.envelopes`."""
        await asyncio.to_thread(self._folder.sweep)
        async with aclosing(self._subscription.frames()) as coming:
            async for frames in coming:
                envelopes = [envelope for frame in frames if (envelope := await self._own(frame)) is not None]
                for number, envelope in enumerate(envelopes, 1):
                    self.stream.has_next = number < len(envelopes)
                    yield envelope

    def stop_receiving(self) -> None:
        """Ends `envelopes` in order; see `Transport.stop_receiving`."""
        self._subscription.stop()

    async def _own(self, frame: str) -> Envelope | None:
        """A frame as an envelope; None if it is none, or belongs to another account.

        An account that is added to the daemon joins every subscription that is open, and what comes for it would be
        fetched for no one; so Aldis subscribes anew. Ours, with a new number, is listed by that alone.
        Source: signal-cli 0.14.6, `SignalJsonRpcDispatcherHandler` (2026-11-27).
        """
        named = text_in(parse_frame(frame), "account")
        if named and not self.own.is_called(named):
            with suppress(Disconnected):
                accounts = await self._rpc.accounts()
                if all(any(one.is_called(name) for one in accounts) for name in (named, self.own.name)):
                    _log.warning("signal-cli has another account, which needs a daemon of its own; subscribing anew")
                    self._subscription.renew()
                    return None
        envelope = await self._read(frame)
        event = self.event(envelope) if envelope is not None and '"sticker"' in envelope.raw else None
        lacks_emoji = isinstance(event, Incoming) and event.sticker and event.sticker_emoji is None
        if lacks_emoji and time.monotonic() >= self._stickers_at:
            self._stickers_at = time.monotonic() + _STICKERS_SECONDS
            with suppress(Disconnected):
                self.stickers = stickers_in(await self._ask("listStickerPacks"))
        return envelope

    async def send(self, reply: Reply) -> SentId:
        """Sends one message; see `Transport.send`. An edit has no files, and must repeat the quote, or it is gone."""
        await self._ready(reply.chat)
        quote = reply.quote
        content = {
            "message": reply.content.text,
            "textStyle": [f"{style.start}:{style.length}:{style.style}" for style in reply.content.styles] or None,
            "mention": [f"{one.start}:{one.length}:{one.person}" for one in reply.mentions] or None,
            "attachments": [data_uri(file) for file in reply.files] or None,
            "voiceNote": bool(reply.files) and reply.is_voice_note,
            "quoteTimestamp": quote.sent_at if quote else None,
            "quoteAuthor": quote.author if quote else None,
            "quoteMessage": quote.text if quote else None,
            "editTimestamp": None if reply.files else reply.edits,
            "notifySelf": self.is_own_chat(reply.chat) and reply.edits is None,
        }
        given = {field: value for field, value in content.items() if value is not None}
        return await self._send("send", {**self._addressed_to(reply.chat), **given})

    async def remove(self, removal: Removal) -> SentId:
        """Deletes one of our own messages; see `Transport.remove`."""
        self.check_bounds(removal.chat)
        return await self._send("remoteDelete", {**self._addressed_to(removal.chat), "targetTimestamp": removal.target})

    async def _send(self, method: str, params: Mapping[str, object]) -> SentId:
        try:
            result = as_object(await self._call(method, params, seconds=self._send_seconds))
        except RpcError as error:
            self.challenge = _challenge_in(_results_in(object_in(error.response, "response"))) or self.challenge
            raise outcome(error, is_group="groupId" in params) from error
        sent_at, results = whole_in(result, "timestamp"), _results_in(result)
        self.challenge = _challenge_in(results)
        if sent_at is None or not isinstance(result.get("results"), list):
            raise SendUnknown("signal-cli's answer cannot be read")
        failed = [one for one in results if text_in(one, "type") != SUCCESS]
        if failed and len(failed) == len(results):
            raise _failure(results)
        self._on_missed(
            [(text_in(one, "type"), person_in(object_in(one, "recipientAddress"), "uuid")) for one in failed]
        )
        return SentId(sent_at)

    def _addressed_to(self, chat: ChatId) -> dict[str, object]:
        if chat.is_group:
            return {"groupId": [chat.id]}
        return {"noteToSelf": True} if self.is_own_chat(chat) else {"recipient": [chat.id]}

    async def _type(self, chat: ChatId, *, started: bool) -> bool:
        return await self._tell("sendTyping", self._addressed_to(chat) | {"stop": not started}) is not None

    async def _react(
        self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
    ) -> SentId | None:
        target = {"emoji": emoji, "targetAuthor": author, "targetTimestamp": sent_at, "remove": removed}
        answer = await self._call("sendReaction", self._addressed_to(chat) | target)
        reaction_at = whole_in(as_object(answer), "timestamp")
        return None if reaction_at is None else SentId(reaction_at)

    async def _confirm(self, author: PersonId, names: tuple[SentId, ...]) -> None:
        await self._tell("sendReceipt", {"recipient": author, "targetTimestamp": names, "type": "read"})

    async def _fetch(self, chat: ChatId, id_: str, *, max_bytes: int) -> bytes:
        params = {"account": self.own.name, "id": id_, "groupId" if chat.is_group else "recipient": chat.id}
        encoded_bytes = 4 * (max_bytes // 3 + 1) + 1024  # base64 takes four for three, and there is JSON around it
        answer = await self._rpc.call("getAttachment", params, seconds=self._send_seconds, max_bytes=encoded_bytes)
        return decode_file(text_in(as_object(answer), "data"), max_bytes)

    async def discard(self, attachment: Attachment) -> None:
        """Deletes the daemon's copy of a file, if Aldis can reach it: the daemon itself deletes none."""
        await asyncio.to_thread(self._folder.delete, attachment.id)

    async def is_linked(self) -> bool:
        """Returns whether the daemon has the account and Signal's server takes it; the daemon lists removed ones."""
        if not any(one.is_called(self.own.name) for one in await self._rpc.accounts()):
            return False
        try:
            await self._call("listDevices", {})
        except TransportError as error:  # others say nothing about the account
            return not (isinstance(error, RpcError) and _UNAUTHORIZED.search(error.words))
        return True

    async def release(self) -> Release:
        """Returns the daemon's version; see `Identities.release`."""
        return Release(bridge="signal_cli", version=await self._rpc.version())

    async def join(self, group: str) -> None:
        """Accepts an invitation by changing nothing (`GroupHelper.updateGroupV2`, 0.14.6); see `Groups.join`."""
        await self._do("updateGroup", {"groupId": group})

    async def trust(self, person: PersonId) -> None:
        """Trusts the key that this person has now; see `Identities.trust`."""
        await self._do("trust", {"recipient": person, "trustAllKnownKeys": True})

    async def aclose(self) -> None:
        """Does nothing: each call and each stream has a connection of its own, which ends with it."""

    async def _solve(self, challenge: str, captcha: str) -> None:
        await self._do("submitRateLimitChallenge", {"challenge": challenge, "captcha": captcha})

    async def _list(self, what: Listed) -> object:
        return await self._ask(f"list{what.title()}", **({"allRecipients": True} if what == "contacts" else {}))

    async def _call(self, method: str, params: Json, *, seconds: float | None = None) -> object:
        return await self._rpc.call(method, {"account": self.own.name, **params}, seconds=seconds)

    async def _do(self, method: str, params: Json) -> None:
        """Makes a call for the operator, who reads why it is refused."""
        with doing(method):
            await self._call(method, params, seconds=self._send_seconds)

    async def _ask(self, method: str, **params: object) -> object:
        return await self._rpc.ask(method, {"account": self.own.name, **params})

    async def _tell(self, method: Literal["sendTyping", "sendReceipt"], params: Json) -> object:
        """Makes a call whose failure is only logged; returns None if it failed."""
        try:
            return await self._call(method, params)
        except TransportError as error:
            # signal-cli 0.13.14 cannot show typing to people without a profile key, with each of their messages.
            _log.log(logging.DEBUG if method == "sendTyping" else logging.INFO, "%s failed: %s", method, error)
            return None


def outcome(error: RpcError, *, is_group: bool) -> TransportError:
    """Returns the error for a refused send, by its results for each recipient, or else by its message and code."""
    if results := _results_in(object_in(error.response, "response")):
        return _failure(results)
    if error.code == _RATE_LIMIT_CODE:
        return rate_limited()
    if error.code == _UNTRUSTED_CODE:
        return failure({UNTRUSTED})
    if (known := failure_told(error.words, is_group=is_group)) is not None:
        return known
    if error.code in _REFUSED_CODES:
        return Undeliverable(f"signal-cli refused the message with code {error.code}")
    # I/O errors (-3) and internal errors (-32603) also come during a send, when some recipients may have it already.
    return SendUnknown(f"signal-cli failed with code {error.code} while sending")


def _results_in(response: Json) -> list[Json]:
    return [as_object(one) for one in items_in(response, "results")]


def _failure(results: list[Json]) -> TransportError:
    waits = [wait for one in results if isinstance(wait := one.get("retryAfterSeconds"), int | float)]
    kinds = {text_in(one, "type") for one in results}
    return failure(kinds, retry_after_seconds=max(waits, default=None), challenge=_challenge_in(results))


def _challenge_in(results: list[Json]) -> str | None:
    return token_in([one.get("token") for one in results])


class SignalCliLinking(Rpc):
    """`Linking` by the daemon at `url`; `scan_seconds` is how long the phone can take."""

    def __init__(self, url: str, *, scan_seconds: float = 180) -> None:
        super().__init__(url, seconds=_LINKING_SECONDS)
        self._scan_seconds = scan_seconds

    async def identify(self, account: Account) -> Account:
        """Asks for the id of an account; see `Linking.identify`."""
        if account.id is not None:
            return account
        params = {"account": account.name, "recipient": [account.name], "allRecipients": True}
        return with_id(account, await self.ask("listContacts", params))

    async def start_link(self) -> str:
        """Returns the address for the QR code; see `Linking.start_link`."""
        uri = text_in(as_object(await self.ask("startLink", {})), "deviceLinkUri")
        if not uri:
            raise Disconnected("signal-cli gave no address to link by; try again")
        return uri

    async def finish_link(self, uri: str) -> str:
        """Waits for the phone and returns its account; see `Linking.finish_link`."""
        params = {"deviceLinkUri": uri, "deviceName": DEVICE_NAME}
        try:
            return account_in(await self.call("finishLink", params, seconds=self._scan_seconds)).name
        except RpcError as error:
            if error.code != _USER_ERROR_CODE:
                raise Disconnected(f"the phone was not linked ({error}); try again") from error
            if _EXPIRED.search(error.words):
                raise NotScanned("the code was not scanned in time") from error
            raise CallRefused(error.line) from error
        except TransportError as error:
            raise Disconnected(f"the phone was not linked ({error}); try again") from error
