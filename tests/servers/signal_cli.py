"""The double of signal-cli's own daemon (`daemon --http --receive-mode=on-connection`): events in, JSON-RPC out.

It keeps what the real one keeps and refuses what the real one refuses: messages wait at "Signal's server" until a
stream is open; unknown accounts, methods and parameters are errors; a send is recorded with a timestamp of its own.

Source: signal-cli 0.14.6, `org.asamk.signal.http` and `org.asamk.signal.jsonrpc` (2026-11-21).
"""

import asyncio
import base64
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.servers.base import Seen
from tests.servers.envelopes import Frame, timestamp
from tests.servers.signal_server import (
    FIRST_LONG,
    NO_LONG,
    End,
    NeverSent,
    NotTaken,
    Parcel,
    Plan,
    Reaction,
    Removed,
    Sent,
    SentFile,
    SignalServer,
    check_mention,
    cut,
    file_of,
)

_STYLE = re.compile(r"(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)")
_MENTION = re.compile(r"(\d+):(\d+):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_RECIPIENT = re.compile(r"\+[1-9]\d{6,14}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RpcError(Exception):
    """What a call is refused with; `response` is what it had written before it failed."""

    def __init__(self, code: int, message: str, response: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.response = response


@dataclass(frozen=True)
class Parameters:
    """The `params` of a call; wrong types are refused as the real one does (-32602)."""

    values: dict[str, Any]

    def many(self, name: str, kind: type) -> list[Any]:
        """A list; a single value is a list of one."""
        value = self.values.get(name)
        found = [] if value is None else value if isinstance(value, list) else [value]
        if any(not isinstance(item, kind) or isinstance(item, bool) for item in found):
            raise RpcError(-32602, f"{name} is not {kind.__name__}")
        if name.endswith("Timestamp") and any(item < FIRST_LONG for item in found):
            # Jackson reads a small number as an Integer, and the command wants a Long.
            raise RpcError(-32603, NO_LONG)
        return found

    def one(self, name: str, kind: type) -> Any:
        """A single value, or None."""
        [value] = self.many(name, kind) or [None]
        return value

    def flag(self, name: str) -> bool:
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            raise RpcError(-32602, f"{name} is not bool")
        return value

    def only(self, *names: str) -> None:
        """Refuse any other name: a parameter that the real one would ignore is a mistake of ours."""
        unknown = self.values.keys() - {"account", *names}
        if unknown:
            raise RpcError(-32602, f"unknown parameters {sorted(unknown)}")


@dataclass
class _Stream:
    """One open event stream; `end` says how it is to end."""

    request: web.Request
    response: web.StreamResponse = field(
        default_factory=lambda: web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    )
    end: End | None = None

    @property
    def is_open(self) -> bool:
        transport = self.request.transport
        return self.end in {None, "silence"} and transport is not None and not transport.is_closing()


@dataclass
class SignalCli(SignalServer):
    """A signal-cli daemon with one account; see `SignalServer` for what a test does with it."""

    keep_alive_seconds: float = 15.0
    version: str = "0.99.0"
    """Newer than any whose age is known, so that the calendar makes no test fail."""
    folder: Path | None = None
    """Where the files that came stand on the disk; None: nobody sees that."""
    _streams: list[_Stream] = field(default_factory=list[_Stream])
    _waiting: deque[bytes] = field(default_factory=deque[bytes])
    _put: int = 0
    _written: int = 0
    _scanned: asyncio.Future[str] | None = None

    async def deliver_data(self, text: str) -> None:
        """Let any text arrive as the data of an event: kept until a stream is open."""
        lines = "".join(f"data:{line}\n" for line in text.split("\n"))
        await self.deliver_bytes(f"event:receive\n{lines}\n".encode("utf-8", "surrogatepass"))

    async def deliver_bytes(self, *chunks: bytes) -> None:
        """Write raw bytes of the stream, in the chunks given."""
        async with self._changed:
            self._waiting.extend(chunks)
            self._put += len(chunks)
            self._changed.notify_all()

    async def delivered(self) -> None:
        put = self._put
        await self.until(lambda: self._written >= put)

    async def end_streams(self, how: End) -> None:
        async with self._changed:
            for stream in self._streams:
                stream.end = how
            self._changed.notify_all()

    async def scan(self, number: str) -> None:
        """The operator scans the QR code with the phone of that number: `finishLink` answers."""
        await self.until(lambda: self._scanned is not None)
        assert self._scanned is not None
        scanned, self._scanned = self._scanned, None
        if number in self.accounts:
            words = f'The user {number} already exists\nDelete "account.d/123456" before trying again.'
            scanned.set_exception(RpcError(-1, words))
        else:
            await super().scan(number)
            scanned.set_result(number)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/api/v1/check", self._check)
        app.router.add_get("/api/v1/events", self._events)
        app.router.add_route("*", "/api/v1/rpc", self.handle)
        return app

    async def stop(self) -> None:
        await self.end_streams("drop")
        await super().stop()

    async def _check(self, request: web.Request) -> web.Response:
        return web.Response()

    # Events

    async def _events(self, request: web.Request) -> web.StreamResponse:
        account = request.query.get("account")
        if account is not None and account not in self.accounts:
            return web.Response(status=400, text="Unknown account")
        stream = _Stream(request=request)
        await stream.response.prepare(request)
        self._streams.append(stream)
        await self.opened(1)
        try:
            await self._feed(stream)
        finally:
            self._streams.remove(stream)
            await self.opened(-1)
        return stream.response

    async def _feed(self, stream: _Stream) -> None:
        """Write what waits, or a keep-alive when nothing does, until the stream is over."""
        with suppress(ConnectionError):
            while stream.is_open:
                chunk = await self._next(stream)
                if chunk is not None:
                    await self._write(stream, chunk)
                elif stream.end is None and stream.is_open:
                    await stream.response.write(b":\n")
        if stream.end == "drop" and stream.request.transport is not None:
            stream.request.transport.abort()

    async def _next(self, stream: _Stream) -> bytes | None:
        """Take what stands first in the queue; None when nothing came for as long as a keep-alive takes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.keep_alive_seconds), self._changed:
                await self._changed.wait_for(lambda: self._is_due(stream) or stream.end in {"drop", "close"})
                return self._waiting.popleft() if self._is_due(stream) else None
        return None

    def _is_due(self, stream: _Stream) -> bool:
        """Only the newest stream gets messages: an older one is the connection of a process that died."""
        return bool(self._waiting) and stream.end is None and stream.is_open and self._streams[-1] is stream

    async def _write(self, stream: _Stream, chunk: bytes) -> None:
        try:
            await stream.response.write(chunk)
        except ConnectionError:
            self._waiting.appendleft(chunk)
            raise
        async with self._changed:
            self._written += 1
            self._changed.notify_all()

    # Calls

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.method != "POST":
            return web.Response(status=405)
        if not seen.headers.get("content-type", "").startswith("application/json"):
            return web.Response(status=415)
        try:
            call = seen.json()
        except ValueError:
            call = None
        try:
            result = await self._call(call, seen, request)
        except RpcError as error:
            data = None if error.response is None else {"response": error.response}
            answer: Frame = {"error": {"code": error.code, "message": str(error), "data": data}}
        else:
            if isinstance(result, web.StreamResponse):
                return result
            answer = {"result": result}
        return web.json_response({"jsonrpc": "2.0", **answer, "id": call["id"] if isinstance(call, dict) else None})

    async def _call(self, call: Any, seen: Seen, request: web.Request) -> Any:
        if not isinstance(call, dict):
            raise RpcError(-32700, "Parse error")
        if call.get("jsonrpc") != "2.0" or not {"method", "id"} <= call.keys():
            raise RpcError(-32600, "Invalid request")
        parameters = Parameters(call.get("params") or {})
        method = call["method"]
        if method in (anybody := self._methods_for_anybody()):
            return await anybody[method](parameters)
        one_account = self._methods_for_one_account()
        sending = {"send": self._message, "remoteDelete": self._removal}
        if method not in sending and method not in one_account:
            raise RpcError(-32601, "Method not implemented")
        if parameters.one("account", str) not in self.accounts:
            raise RpcError(-32602, "Specified account does not exist")
        if method in one_account:
            return await one_account[method](parameters)
        return await self._send(sending[method](parameters), seen, request)

    def _methods_for_anybody(self) -> "dict[str, _Method]":
        return {
            "version": self._version,
            "listAccounts": self._list_accounts,
            "startLink": self._start_link,
            "finishLink": self._finish_link,
        }

    def _methods_for_one_account(self) -> "dict[str, _Method]":
        return {
            "sendTyping": self._send_typing,
            "sendReceipt": self._send_receipt,
            "sendReaction": self._send_reaction,
            "getAttachment": self._get_attachment,
            "listDevices": self._list_devices,
            "listStickerPacks": self._list_sticker_packs,
            "listContacts": self._list_contacts,
            "listGroups": self._list_groups,
        }

    async def _version(self, parameters: Parameters) -> Any:
        return {"version": self.version}

    async def _list_accounts(self, parameters: Parameters) -> Any:
        return [{"number": number} for number in self.accounts]

    async def _start_link(self, parameters: Parameters) -> Any:
        parameters.only()
        return {"deviceLinkUri": await self.begin_link()}

    async def _finish_link(self, parameters: Parameters) -> Any:
        parameters.only("deviceLinkUri", "deviceName")
        if parameters.one("deviceLinkUri", str) != self.link_uri:
            raise RpcError(-1, "Unknown device link uri.")
        async with self._changed:
            self._scanned = asyncio.get_running_loop().create_future()
            self._changed.notify_all()
        try:
            async with asyncio.timeout(self.link_seconds):
                return {"number": await self._scanned}
        except TimeoutError as error:
            self._scanned = None
            raise RpcError(-1, "Link request timed out, please try again.") from error

    async def _list_contacts(self, parameters: Parameters) -> Any:
        parameters.only("recipient", "allRecipients")
        wanted = set(parameters.many("recipient", str))
        known = [*self.people, *([self.own] if self.own and parameters.flag("allRecipients") else [])]
        found = [person for person in known if not wanted or {person.number, person.uuid} & wanted]
        return [
            {
                "number": person.number,
                "uuid": person.uuid,
                "username": None,
                "name": "",
                "isBlocked": False,
                "profile": {"givenName": person.name, "familyName": None},
            }
            for person in found
        ]

    async def _list_groups(self, parameters: Parameters) -> Any:
        parameters.only("groupId")
        listed = [self._listed(group, self.members(group), is_member=True) for group in self.groups]
        return [*listed, *(self._listed(group, [], is_member=False) for group in self.former_groups)]

    def _listed(self, group: str, members: list[Frame], *, is_member: bool) -> Frame:
        lists = ("pendingMembers", "requestingMembers", "admins", "banned")
        return {
            "id": group,
            "name": self.group_name(group),
            "description": "",
            "isMember": is_member,
            "isBlocked": False,
            "messageExpirationTime": 0,
            "members": members,
            **{name: [] for name in lists},
            "permissionAddMember": "EVERY_MEMBER",
            "permissionEditDetails": "EVERY_MEMBER",
            "permissionSendMessage": "EVERY_MEMBER",
            "groupInviteLink": None,
        }

    async def _send_typing(self, parameters: Parameters) -> Any:
        parameters.only("recipient", "groupId", "stop")
        recipient, group = self._target(parameters)
        await self.note(self.typing, (self._chat(recipient, group), not parameters.flag("stop")))
        return {"timestamp": timestamp(), "results": []}

    async def _send_reaction(self, parameters: Parameters) -> Any:
        target = ("emoji", "targetAuthor", "targetTimestamp", "remove")
        parameters.only("recipient", "groupId", "noteToSelf", *target)
        recipient, group = self._target(parameters)
        author, at = parameters.one("targetAuthor", str), parameters.one("targetTimestamp", int)
        if not _RECIPIENT.fullmatch(author or "") or at is None:
            raise RpcError(-1, "Invalid target")
        reaction = Reaction(
            chat=self._chat(recipient, group),
            author=author,
            target=at,
            emoji=parameters.one("emoji", str) or "",
            removed=parameters.flag("remove"),
        )
        try:
            await self.react(reaction)
        except (NeverSent, ValueError) as error:
            raise RpcError(-1, "No such message, or no emoji") from error
        return {"timestamp": timestamp(), "results": []}

    async def _get_attachment(self, parameters: Parameters) -> Any:
        parameters.only("id", "recipient", "groupId")
        places = [parameters.values.get(name) for name in ("recipient", "groupId")]
        if [type(place) for place in places if place is not None] != [str]:
            raise RpcError(-1, "One recipient or one group is needed")
        data = self.file(parameters.one("id", str) or "")
        if data is None:
            raise RpcError(-32603, "An error occurred reading attachment")
        return {"data": base64.b64encode(data).decode()}

    def file(self, id_: str) -> bytes | None:
        """A file that came, as the daemon has it; None where it has none of that name."""
        path = self.folder / re.sub(r"[^A-Za-z0-9_.-]", "_", id_) if self.folder else None
        return self.files.get(id_) if path is None else path.read_bytes() if path.is_file() else None

    async def _list_devices(self, parameters: Parameters) -> Any:
        parameters.only()
        times = {"createdTimestamp": 1, "lastSeenTimestamp": 1}
        return [{"id": number, "name": name, **times} for number, name in self.devices]

    async def _list_sticker_packs(self, parameters: Parameters) -> Any:
        parameters.only()
        packs = {pack for pack, _ in self.stickers}
        return [
            {
                "packId": pack,
                "url": f"https://signal.art/addstickers/#pack_id={pack}",
                "installed": False,
                "title": "Garden",
                "author": "",
                "cover": None,
                "stickers": [
                    {"id": number, "emoji": emoji, "contentType": "image/webp"}
                    for (of, number), emoji in self.stickers.items()
                    if of == pack
                ],
            }
            for pack in packs
        ]

    async def _send_receipt(self, parameters: Parameters) -> Any:
        parameters.only("recipient", "targetTimestamp", "type")
        recipient = parameters.one("recipient", str) or ""
        if not _RECIPIENT.fullmatch(recipient) or parameters.one("type", str) not in {"read", "viewed"}:
            raise RpcError(-1, "Invalid receipt")
        for target in parameters.many("targetTimestamp", int):
            await self.note(self.read, (recipient, target))
        return {"timestamp": timestamp(), "results": []}

    async def _send(self, sent: Parcel, seen: Seen, request: web.Request) -> Any:
        plan = self.plans.popleft() if self.plans else Plan()
        self._taken(lambda: self.check_upload(sent))
        sent = await self.begun(sent, plan)
        await self.go_out(sent, plan)
        await asyncio.sleep(plan.delay_seconds)
        if plan.answer is cut and request.transport is not None:
            request.transport.abort()
        if plan.answer is not None:
            answer = plan.answer(seen)
            return answer if isinstance(answer, web.StreamResponse) else await answer
        response = {"timestamp": sent.timestamp, "results": self._results(sent, plan)}
        if not plan.succeeds:
            words = plan.sentence(in_group=sent.group is not None)
            raise RpcError(plan.code, words, response if plan.results else None)
        return response

    def _taken(self, check: Callable[[], None]) -> None:
        try:
            check()
        except NotTaken as error:
            raise RpcError(error.code, str(error)) from error

    def _removal(self, parameters: Parameters) -> Removed:
        parameters.only("recipient", "groupId", "noteToSelf", "targetTimestamp")
        recipient, group = self._target(parameters)
        target = parameters.one("targetTimestamp", int)
        if target is None:
            raise RpcError(-32602, "targetTimestamp is missing")
        removed = Removed(recipient=recipient, group=group, target=target, timestamp=timestamp())
        self._check_known(self._chat(recipient, group), target, may_be_elsewhere=True)
        return removed

    def _check_known(self, chat: str, target: int, *, may_be_elsewhere: bool = False) -> None:
        """The real one carries such an edit or deletion out, in vain; here it is a mistake of ours.

        But for the deletion of what may be in another chat: phones pass over one of what is not in theirs.
        """
        try:
            self.check_target(chat, target, may_be_elsewhere=may_be_elsewhere)
        except NeverSent as error:
            raise RpcError(-1, "No message of this account has that timestamp there") from error

    def _message(self, parameters: Parameters) -> Sent:
        quote = ("quoteTimestamp", "quoteAuthor", "quoteMessage")
        more = ("attachments", "mention", "voiceNote")
        parameters.only("recipient", "groupId", "noteToSelf", "message", "textStyle", "editTimestamp", *quote, *more)
        recipient, group = self._target(parameters)
        text, uris = parameters.one("message", str) or "", parameters.many("attachments", str)
        mentions = parameters.many("mention", str)
        if not text and not uris:
            raise RpcError(-1, "Neither message text nor attachment was given")
        for mention in mentions:
            _check_mention(mention, text)
        styles = parameters.many("textStyle", str)
        for style in styles:
            _check_style(style, text)
        quote_timestamp, quote_author = parameters.one("quoteTimestamp", int), parameters.one("quoteAuthor", str)
        if (quote_timestamp is None) != (quote_author is None):
            raise RpcError(-1, "A quote needs its timestamp and its author")
        sent = Sent(
            text=text,
            recipient=recipient,
            group=group,
            edits=parameters.one("editTimestamp", int),
            styles=tuple(styles),
            quote_timestamp=quote_timestamp,
            quote_author=quote_author,
            quote_text=parameters.one("quoteMessage", str),
            timestamp=timestamp(),
            mentions=tuple(mentions),
            files=tuple(_file(uri) for uri in uris),
            is_voice_note=parameters.flag("voiceNote"),
        )
        if sent.is_voice_note and len(sent.files) != 1:
            raise RpcError(-1, "A voice note is one file")
        if sent.edits is not None:
            self._check_edit(sent, recipient, group)
        return sent

    def _check_edit(self, sent: Sent, recipient: str | None, group: str | None) -> None:
        if sent.files or sent.edits is None:
            raise RpcError(-1, "Phones do not show an edit with files as one")
        self._check_known(self._chat(recipient, group), sent.edits)

    def _chat(self, recipient: str | None, group: str | None) -> str:
        own = self.own.uuid if self.own and recipient in self.accounts else recipient
        return f"group:{group}" if group else f"direct:{own}"

    def _target(self, parameters: Parameters) -> tuple[str | None, str | None]:
        recipients, groups = parameters.many("recipient", str), parameters.many("groupId", str)
        if parameters.flag("noteToSelf"):
            recipients = [*recipients, parameters.one("account", str)]
        if len(recipients) + len(groups) != 1:
            raise RpcError(-1, "Exactly one recipient or group is expected here")
        if groups:
            self._taken(lambda: self.check_group(groups[0]))
        if recipients and not _RECIPIENT.fullmatch(recipients[0]):
            raise RpcError(-1, "Invalid recipient")
        return (recipients[0], None) if recipients else (None, groups[0])

    def _results(self, sent: Parcel, plan: Plan) -> list[Frame]:
        return [
            {
                "recipientAddress": {"uuid": person.uuid, "number": person.number, "username": None},
                **({"groupId": sent.group} if sent.group else {}),
                "type": kind,
                **(self._limit(plan) if kind == "RATE_LIMIT_FAILURE" else {}),
            }
            for person, kind in self.outcomes(sent, plan)
        ]

    def _limit(self, plan: Plan) -> Frame:
        return {"retryAfterSeconds": plan.retry_after_seconds, "token": plan.challenge}


_Method = Callable[[Parameters], Awaitable[Any]]


def _check_mention(mention: str, text: str) -> None:
    found = _MENTION.fullmatch(mention)
    try:
        check_mention(int(found[1]) if found else -1, int(found[2]) if found else -1, text)
    except ValueError as error:
        raise RpcError(-1, "Invalid mention syntax") from error


def _file(uri: str) -> SentFile:
    try:
        return file_of(uri)
    except ValueError as error:
        raise RpcError(-32603, "Failed to send message: attachment invalid") from error


def _check_style(style: str, text: str) -> None:
    found = _STYLE.fullmatch(style)
    size = len(text.encode("utf-16-le")) // 2
    if not found or int(found[2]) == 0 or int(found[1]) + int(found[2]) > size:
        raise RpcError(-1, "Invalid text style")
