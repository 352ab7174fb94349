"""A double of signal-cli's daemon: received messages go to its listeners, JSON-RPC calls send messages.

It keeps what the real one keeps and refuses what the real one refuses: messages wait on "Signal's server" until
somebody listens; unknown accounts, methods and parameters are errors; each send is recorded with its own timestamp. It
also loses what the real one loses, which fetches one message at a time and acknowledges it before anybody has it:

    Signal's server --fetched, acknowledged--> in hand --handed on--> whoever listens at that moment, or nobody: `lost`

`--socket` and `--tcp` are open at the same time; `way` says which of them `url` names. A listener's end of file
unsubscribes at once (`_Connection`). `--http` is there only to be recognised: Aldis does not use it.

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc` and `ManagerImpl`, read on 2026-11-22.
"""

import asyncio
import base64
import json
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

from tests.ports import free_port
from tests.servers.base import Seen, stop_accepting
from tests.servers.envelopes import Frame, timestamp
from tests.servers.signal_server import (
    FIRST_LONG,
    NO_LONG,
    RECIPIENT,
    End,
    Parcel,
    Plan,
    Reaction,
    Refused,
    Removed,
    Sent,
    SignalServer,
    file_of,
    utf16_units,
)

_STYLE = re.compile(r"(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)")
_MENTION = re.compile(r"(\d+):(\d+):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")

_MAX_LINE_BYTES = 64 * 1024 * 1024
_SETTLING_SECONDS = 0.001
"""What follows the handing on: the copy on the disk is deleted, and the sender is told that it was delivered."""
_FOR_ANYBODY = {"version", "listAccounts", "startLink", "finishLink"}
_TARGET = "recipient groupId noteToSelf"
_MESSAGE = (
    "message textStyle editTimestamp quoteTimestamp quoteAuthor quoteMessage attachments mention voiceNote notifySelf"
)
_SUBSCRIBING = {"subscribeReceive", "unsubscribeReceive"}

Way = Literal["unix", "tcp"]
ReceiveMode = Literal["manual", "on-connection", "on-start"]


@dataclass(frozen=True)
class Parameters:
    """The `params` of a call; wrong types are refused as the real one does (-32602)."""

    values: dict[str, Any]

    def many(self, name: str, kind: type) -> list[Any]:
        """A list; a single value is a list of one."""
        value = self.values.get(name)
        found = [] if value is None else value if isinstance(value, list) else [value]
        if any(not isinstance(item, kind) or isinstance(item, bool) for item in found):
            raise Refused(-32602, f"{name} is not {kind.__name__}")
        if name.endswith("Timestamp") and any(item < FIRST_LONG for item in found):
            # Jackson reads a small number as an Integer, and the command wants a Long.
            raise Refused(-32603, NO_LONG)
        return found

    def one(self, name: str, kind: type) -> Any:
        [value] = self.many(name, kind) or [None]
        return value

    def flag(self, name: str) -> bool:
        value = self.values.get(name, False)
        assert isinstance(value, bool)
        return value


@dataclass(eq=False)
class _Connection:
    writer: asyncio.StreamWriter
    end: End | None = None
    subscriptions: "dict[int, _Subscription]" = field(default_factory=dict[int, "_Subscription"])
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def write(self, line: bytes) -> None:
        """Write a line; one that cannot be written is nobody's."""
        with suppress(ConnectionError):
            async with self.writing:
                self.writer.write(line + b"\n")
                await self.writer.drain()


@dataclass(eq=False, kw_only=True)
class _Subscription:
    """A subscription of a connection, to which what is received is handed on; `end` says how it is to end."""

    connection: _Connection
    number: int
    is_wrapped: bool
    """Whether the client has asked for it."""
    end: End | None = None
    has_joined: bool = False
    """Whether it is also given what comes for accounts that were added since."""


@dataclass
class SignalCli(SignalServer):
    """A signal-cli daemon with one account; see `SignalServer` for what a test does with it."""

    way: Way = "unix"
    receive_mode: ReceiveMode = "manual"
    tells_ids: bool = True
    """Whether accounts are listed with their uuids, and one without a phone number can be linked: what arrives for it
    names the uuid as the account. Source: https://github.com/AsamK/signal-cli/pull/2123 (2026-09-17)."""
    version: str = "0.99.0"
    """Newer than any whose age is known, so that the calendar makes no test fail."""
    handling_seconds: float = 0.0
    """How long a message is in hand: it is decrypted, and its files are fetched."""
    folder: Path | None = None
    """Where the files that came stand on the disk; None: nobody sees that."""
    is_removed: bool = False
    """Whether the phone has removed this device, and Signal's server only closes its connection: signal-cli lists the
    account as before. Source: 0.14.6, `ListDevicesCommand` (read 2026-11-27)."""
    others: list[str] = field(default_factory=list[str])
    kept_for_others: list[str] = field(default_factory=list[str])
    """What waits at Signal's server for accounts that no subscription includes."""
    tcp_port: int = 0
    _has_died: bool = False
    """Whether the thread that receives has ended by an error, so that nothing more is fetched."""
    _is_to_stop: bool = False
    """Whether that thread was then told to stop: the next ones do so at once, until some receiving has ended."""
    _place: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="aldis-", dir="/tmp")))
    _listeners: list[_Subscription] = field(default_factory=list[_Subscription])
    _connections: dict[asyncio.Task[Any], _Connection] = field(default_factory=dict[asyncio.Task[Any], _Connection])
    _subscribed: int = 0
    _handlers: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while something is handed on: the monitor of signal-cli's `messageHandlers`."""
    _waiting: deque[str] = field(default_factory=deque[str])
    _in_hand: str | None = None
    _put: int = 0
    _written: int = 0
    _scanned: asyncio.Future[str] | None = None
    _receiving: asyncio.Task[None] | None = None
    _line_servers: list[asyncio.Server] = field(default_factory=list[asyncio.Server])

    @property
    def socket(self) -> Path:
        return self._place / "socket"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}" if self.way == "unix" else f"tcp://127.0.0.1:{self.tcp_port}"

    @property
    def http_url(self) -> str:
        return super().url

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def is_handing_on(self) -> bool:
        """Whether it hands something on at this moment, or waits until it can."""
        return self._handlers.locked()

    @property
    def is_held_up(self) -> bool:
        return any(one.writing.locked() for one in self._connections.values() if one.subscriptions)

    def has_account(self, name: str | None) -> bool:
        """Whether a call may name its account so: by the number, and since 0.14.6 by the uuid as well.

        Source: signal-cli 0.13.14 and 0.14.6, `MultiAccountManagerImpl.getManager` and
        `SignalJsonRpcCommandHandler.getManagerFromParams`, read (2026-11-24).
        """
        is_number = name is not None and name.startswith("+")
        return super().has_account(name) and (is_number or self._is_since(0, 14, 6))

    async def add_account(self, number: str) -> None:
        """Another account is linked: from 0.14.2 on it joins every subscription that is open, whatever that names.

        Source: signal-cli 0.14.6, `SignalJsonRpcDispatcherHandler.handleConnection`, read (2026-11-27).
        """
        async with self._changed:
            self.accounts.append(number)
            self.others.append(number)
            for listener in self._listeners:
                listener.has_joined = self._is_since(0, 14, 2)

    def _is_for_another(self, arrival: str) -> bool:
        """Whether it is for an account that no subscription includes, so that it stays with Signal."""
        named = re.search(r'"account": ?"([^"]+)"', arrival)
        is_other = named is not None and named[1] in self.others
        return is_other and not any(listener.has_joined for listener in self._listeners)

    async def deliver_data(self, text: str) -> None:
        async with self._changed:
            self._waiting.append(text)
            self._put += 1
            self._changed.notify_all()

    async def delivered(self) -> None:
        """Wait until everything that arrived so far has been written to a stream, or was dropped."""
        put = self._put
        await self.until(lambda: self._written >= put)

    async def end_streams(self, how: End) -> None:
        listening = [connection for connection in self._connections.values() if connection.subscriptions]
        async with self._changed:
            for connection in listening:
                connection.end = how
            for listener in self._listeners:
                listener.end = how
            self._changed.notify_all()
        for connection in listening if how != "silence" else ():
            connection.subscriptions.clear()
            if how == "drop":
                _abort(connection.writer.transport)
            else:
                connection.writer.close()
        if how != "silence":
            await self._dismiss([*self._listeners])

    async def scan(self, number: str) -> None:
        """The operator scans the QR code with the phone of that number: `finishLink` answers."""
        await self.until(lambda: self._scanned is not None)
        assert self._scanned is not None
        scanned, self._scanned = self._scanned, None
        if number in self.accounts:
            words = f'The user {number} already exists\nDelete "account.d/123456" before trying again.'
            scanned.set_exception(Refused(-1, words))
        else:
            await super().scan(number)
            scanned.set_result(number)

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return web.Response(status=200 if seen.path == "/api/v1/check" else 404)

    async def start(self) -> None:
        await super().start()
        self._place.mkdir(exist_ok=True)
        self.tcp_port = self.tcp_port or free_port()  # not any one: a start after a stop wants it again
        self._line_servers = [
            await asyncio.start_server(self._serve, "127.0.0.1", self.tcp_port, limit=_MAX_LINE_BYTES),
            await asyncio.start_unix_server(self._serve, self.socket, limit=_MAX_LINE_BYTES),
        ]
        self._receiving = asyncio.create_task(self._receive())

    async def stop(self) -> None:
        for server in self._line_servers:
            await stop_accepting(*server.sockets)
            server.close()
        await self.end_streams("drop")
        if self._receiving is not None:
            self._receiving.cancel()
            await asyncio.gather(self._receiving, return_exceptions=True)
        async with self._changed:
            self._receiving, self._in_hand = None, None
            self._changed.notify_all()
        tasks = [*self._connections]
        for connection in self._connections.values():
            _abort(connection.writer.transport)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().stop()
        await asyncio.to_thread(shutil.rmtree, self._place, ignore_errors=True)

    # Receiving

    async def _receive(self) -> None:
        """Fetch while anybody listens, one by one, and hand each on to whoever listens when it is ready."""
        while True:
            await self._rest()
            async with self._changed:
                await self._changed.wait_for(lambda: self._waiting and self.is_receiving)
                arrival = self._waiting.popleft()
                if self._is_for_another(arrival):
                    self.kept_for_others.append(arrival)
                    continue
                self._in_hand = arrival
            if self.handling_seconds:
                await asyncio.sleep(self.handling_seconds)
            async with self._handlers:
                await self._hand_on(arrival)
            await asyncio.sleep(_SETTLING_SECONDS)
            async with self._changed:
                self._in_hand = None
                self._written += 1
                self._changed.notify_all()

    async def _rest(self) -> None:
        """What passes before the next is fetched."""

    async def die_receiving(self) -> None:
        """Something comes that its library cannot read, by an error that nothing catches: it goes on in all else.

        Seen with a story without a style on signal-cli 0.13.14 (2026-11-26); `ReceiveHelper` of 0.14.6 is the same.
        """
        async with self._changed:
            self._has_died = True

    @property
    def is_receiving(self) -> bool:
        if self._has_died or self._is_to_stop:
            return False
        return self.receive_mode == "on-start" or any(listener.end is None for listener in self._listeners)

    async def _hand_on(self, arrival: str) -> None:
        listeners = [listener for listener in self._listeners if listener.end is None]
        if not listeners:
            self.lost.append(arrival)
        for listener in listeners:
            await self._hand(listener, arrival)

    async def _hand(self, listener: _Subscription, arrival: str) -> None:
        text = arrival.replace("\n", " ").replace("\r", " ")
        params = f'{{"subscription":{listener.number},"result":{text}}}' if listener.is_wrapped else text
        line = f'{{"jsonrpc":"2.0","method":"receive","params":{params}}}'
        await listener.connection.write(line.encode("utf-8", "surrogatepass"))

    async def _listen(self, listener: _Subscription) -> None:
        """Hand on to this one from now on; a connection is one stream, whatever it has subscribed to."""
        is_first = not any(other.connection is listener.connection for other in self._listeners)
        if not self.is_receiving:
            await self.retry()
        async with self._changed:
            self._listeners.append(listener)
            self._changed.notify_all()
        if is_first:
            await self.opened(1)

    async def _dismiss(self, listeners: list[_Subscription]) -> None:
        for listener in [one for one in listeners if one in self._listeners]:
            self._listeners.remove(listener)
            if not any(other.connection is listener.connection for other in self._listeners):
                await self.opened(-1)

    def _is_since(self, *version: int) -> bool:
        return tuple(int(part) for part in self.version.split(".")) >= version

    # Lines of JSON

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(0)  # a write waits until the kernel has it, as in Java
        connection = _Connection(writer)
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = connection
        running: set[asyncio.Task[None]] = set()
        try:
            if self.receive_mode != "manual":
                await self._subscribe(connection, is_wrapped=False)
            with suppress(ConnectionError):
                while line := await reader.readline():
                    running.add(asyncio.create_task(self._take(connection, line)))
            # Nobody is unsubscribed before the calls that came by this connection have ended.
            if running:
                await asyncio.wait(running)
        except asyncio.CancelledError:
            pass  # the server is stopped, and asyncio would complain of it
        finally:
            for call in running:
                call.cancel()
            if connection.subscriptions:
                await self._unsubscribe(connection, *connection.subscriptions.values())
            del self._connections[task]
            writer.close()

    async def _take(self, connection: _Connection, line: bytes) -> None:
        seen = Seen(method="POST", path="/api/v1/rpc", query={}, headers={}, body=line)
        call = seen.json()
        answer: Frame | web.StreamResponse | None = None
        if call["method"] not in _SUBSCRIBING:  # which no test counts, or lets fail
            self.requests.append(seen)
            fault = self.faults.pop(0)(seen) if self.faults else None
            answer = await fault if isinstance(fault, Awaitable) else fault
        if answer is None:
            answer = await self._answer(call, seen, connection)
        if isinstance(answer, dict) and connection.end != "silence":
            await connection.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        elif isinstance(answer, web.Response) and answer.status == 200 and isinstance(answer.body, bytes):
            await connection.write(answer.body)
        elif isinstance(answer, web.StreamResponse):
            _abort(connection.writer.transport)  # what HTTP would say by its status, a socket can only by closing

    async def _subscribe(self, connection: _Connection, *, is_wrapped: bool) -> int:
        number, self._subscribed = self._subscribed, self._subscribed + 1
        subscription = _Subscription(connection=connection, number=number, is_wrapped=is_wrapped)
        connection.subscriptions[number] = subscription
        await self._listen(subscription)
        return number

    async def _unsubscribe(self, connection: _Connection, *subscriptions: _Subscription) -> None:
        """Hand nothing more to them; where nobody is left, wait for what is in hand, which nobody gets any more."""
        for subscription in subscriptions:
            connection.subscriptions.pop(subscription.number, None)
        async with self._handlers:
            await self._dismiss([*subscriptions])
        if not self._listeners:
            async with self._changed:
                await self._changed.wait_for(lambda: self._in_hand is None)
                self._has_died, self._is_to_stop = False, self._is_to_stop or self._has_died

    # Calls

    async def _answer(self, call: Any, seen: Seen, connection: _Connection) -> Frame | web.StreamResponse:
        try:
            result = await self._call(call, seen, connection)
        except Refused as error:
            data = None if error.response is None else {"response": error.response}
            answer: Frame = {"error": {"code": error.code, "message": str(error), "data": data}}
        else:
            if isinstance(result, web.StreamResponse):
                return result
            answer = {"result": result}
        return {"jsonrpc": "2.0", **answer, "id": call["id"]}

    async def _call(self, call: Any, seen: Seen, connection: _Connection) -> Any:
        assert call["jsonrpc"] == "2.0"
        parameters = Parameters(call.get("params") or {})
        method = call["method"]
        if method in _SUBSCRIBING:
            if parameters.values.get("account") is not None and not self.has_account(parameters.one("account", str)):
                raise Refused(-32602, "Specified account does not exist")
            if method == "subscribeReceive":
                return await self._subscribe(connection, is_wrapped=True)
            found = connection.subscriptions.get(parameters.one("subscription", int))
            if found is None:
                raise Refused(-1, "Unknown subscription id")
            await self._unsubscribe(connection, found)
            return {}
        methods: dict[str, tuple[_Method, str]] = {
            "version": (self._version, ""),
            "listAccounts": (self._list_accounts, ""),
            "startLink": (self._start_link, ""),
            "finishLink": (self._finish_link, "deviceLinkUri deviceName"),
            "receive": (self._receive_nothing, "maxMessages timeout"),
            "send": (self._message, f"{_TARGET} {_MESSAGE}"),
            "remoteDelete": (self._removal, f"{_TARGET} targetTimestamp"),
            "sendTyping": (self._send_typing, "recipient groupId stop"),
            "sendReceipt": (self._send_receipt, "recipient targetTimestamp type"),
            "sendReaction": (self._send_reaction, f"{_TARGET} emoji targetAuthor targetTimestamp remove"),
            "getAttachment": (self._get_attachment, "id recipient groupId"),
            "listDevices": (self._list_devices, ""),
            "listContacts": (self._list_contacts, "recipient allRecipients"),
            "listGroups": (self._list_groups, "groupId"),
            "listStickerPacks": (self._list_sticker_packs, ""),
            "updateGroup": (self._update_group, "groupId"),
            "listIdentities": (self._list_identities, ""),
            "trust": (self._trust, "recipient trustAllKnownKeys"),
            "submitRateLimitChallenge": (self._submit_challenge, "challenge captcha"),
        }
        if method not in methods:
            raise Refused(-32601, "Method not implemented")
        if method not in _FOR_ANYBODY and not self.has_account(parameters.one("account", str)):
            raise Refused(-32602, "Specified account does not exist")
        act, names = methods[method]
        if unknown := parameters.values.keys() - {"account", *names.split()}:
            # The real one would ignore it: a mistake of ours.
            raise Refused(-32602, f"unknown parameters {sorted(unknown)}")
        result = await act(parameters)
        return await self._send(result, seen, connection.writer.transport) if isinstance(result, Parcel) else result

    async def _version(self, parameters: Parameters) -> Any:
        return {"version": self.version}

    async def _list_accounts(self, parameters: Parameters) -> Any:
        return [self._named(name) for name in self.accounts]

    def _named(self, name: str) -> Frame:
        """An account as lists and `finishLink` have it: one without a number is known by its uuid alone."""
        if not name.startswith("+"):
            return {"number": None, "aci": name}
        return {
            "number": name,
            **({"aci": self.own.uuid} if self.tells_ids and self.own and self._is_own(name) else {}),
        }

    async def _start_link(self, parameters: Parameters) -> Any:
        return {"deviceLinkUri": await self.begin_link()}

    async def _finish_link(self, parameters: Parameters) -> Any:
        if parameters.one("deviceLinkUri", str) != self.link_uri:
            raise Refused(-1, "Unknown device link uri.")
        async with self._changed:
            self._scanned = asyncio.get_running_loop().create_future()
            self._changed.notify_all()
        try:
            async with asyncio.timeout(self.link_seconds):
                return self._named(await self._scanned)
        except TimeoutError as error:
            self._scanned = None
            raise Refused(-1, "Link request timed out, please try again.") from error

    async def _list_contacts(self, parameters: Parameters) -> Any:
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

    async def _list_identities(self, parameters: Parameters) -> Any:
        return [
            {
                "number": key.person.number,
                "uuid": key.person.uuid,
                "fingerprint": key.fingerprint,
                "safetyNumber": key.safety_number,
                "scannableSafetyNumber": "",
                "trustLevel": key.level,
                "addedTimestamp": key.added_at,
            }
            for key in self.keys
        ]

    async def _trust(self, parameters: Parameters) -> Any:
        if not parameters.flag("trustAllKnownKeys"):
            raise Refused(-1, "You need to specify the safety number you have verified")
        self.trust(parameters.one("recipient", str) or "")
        return {}

    async def _submit_challenge(self, parameters: Parameters) -> Any:
        self.solve(parameters.one("challenge", str) or "", parameters.one("captcha", str) or "")
        return {}

    async def _receive_nothing(self, parameters: Parameters) -> Any:
        """Receive no message, and end that."""
        if self._listeners:
            raise Refused(-1, "Receive command cannot be used if messages are already being received.")
        if parameters.one("maxMessages", int) != 0:
            raise Refused(-32602, "the double receives by subscriptions")
        async with self._changed:
            self._is_to_stop = False
        return []

    async def _list_sticker_packs(self, parameters: Parameters) -> Any:
        return [
            {"packId": pack, "installed": False, "title": "Garden", "stickers": [{"id": number, "emoji": emoji}]}
            for (pack, number), emoji in self.stickers.items()
        ]

    async def _list_groups(self, parameters: Parameters) -> Any:
        return [
            {
                "id": group.id,
                "name": group.name,
                "description": "",
                "isMember": group.is_member,
                "isBlocked": False,
                "messageExpirationTime": 0,
                "members": group.members,
                "pendingMembers": group.invited,
                **{name: [] for name in ("requestingMembers", "admins", "banned")},
                "permissionAddMember": "EVERY_MEMBER",
                "permissionEditDetails": "EVERY_MEMBER",
                "permissionSendMessage": "EVERY_MEMBER",
                "groupInviteLink": None,
            }
            for group in self.listed_groups()
        ]

    async def _update_group(self, parameters: Parameters) -> Any:
        """Accept an invitation; of a group that it is in, nothing is changed, and nothing is sent."""
        has_joined = self.accept(parameters.one("groupId", str) or "")
        return {"timestamp": timestamp(), "results": []} if has_joined else {}

    async def _send_typing(self, parameters: Parameters) -> Any:
        recipient, group = self._target(parameters)
        await self.show_typing(self.chat_of(recipient, group), started=not parameters.flag("stop"))
        return {"timestamp": timestamp(), "results": []}

    async def _send_reaction(self, parameters: Parameters) -> Any:
        recipient, group = self._target(parameters)
        author, target_at = parameters.one("targetAuthor", str), parameters.one("targetTimestamp", int)
        if not RECIPIENT.fullmatch(author or "") or target_at is None:
            raise Refused(-1, "Invalid target")
        reaction = Reaction(
            chat=self.chat_of(recipient, group),
            author=author,
            target=target_at,
            emoji=parameters.one("emoji", str) or "",
            removed=parameters.flag("remove"),
        )
        return {"timestamp": await self.react(reaction), "results": []}

    async def _get_attachment(self, parameters: Parameters) -> Any:
        places = [parameters.values.get(name) for name in ("recipient", "groupId")]
        if [type(place) for place in places if place is not None] != [str]:
            raise Refused(-1, "One recipient or one group is needed")
        data = self.file(parameters.one("id", str) or "")
        if data is None:
            raise Refused(-32603, "An error occurred reading attachment")
        return {"data": base64.b64encode(data).decode()}

    def file(self, id_: str) -> bytes | None:
        """A file that came, as the daemon has it; None where it has none of that name."""
        path = self.folder / re.sub(r"[^A-Za-z0-9_.-]", "_", id_) if self.folder else None
        return self.files.get(id_) if path is None else path.read_bytes() if path.is_file() else None

    async def _list_devices(self, parameters: Parameters) -> Any:
        if self.is_removed:
            raise Refused(-3, "Failed to get linked devices: [401] Authorization failed!")
        times = {"createdTimestamp": 1, "lastSeenTimestamp": 1}
        return [{"id": number, "name": name, **times} for number, name in self.devices]

    async def _send_receipt(self, parameters: Parameters) -> Any:
        recipient, targets = parameters.one("recipient", str) or "", parameters.many("targetTimestamp", int)
        await self.confirm_read(parameters.one("type", str), recipient, targets)
        return {"timestamp": timestamp(), "results": []}

    async def _send(self, sent: Parcel, seen: Seen, wire: asyncio.BaseTransport | None) -> Any:
        plan = self.planned(sent)
        if (instead := await self.send_by(plan, sent, seen, wire)) is not None:
            return instead
        response = {"timestamp": sent.timestamp, "results": self._results(sent, plan)}
        if not plan.succeeds:
            words = plan.sentence(in_group=sent.group is not None)
            raise Refused(plan.code, words, response if plan.results else None)
        return response

    async def _removal(self, parameters: Parameters) -> Removed:
        recipient, group = self._target(parameters)
        target = parameters.one("targetTimestamp", int)
        if target is None:
            raise Refused(-32602, "targetTimestamp is missing")
        removed = Removed(recipient=recipient, group=group, target=target, timestamp=timestamp())
        self.check_target(self.chat_of(recipient, group), target, may_be_elsewhere=True)
        return removed

    async def _message(self, parameters: Parameters) -> Sent:
        recipient, group = self._target(parameters)
        text, uris = parameters.one("message", str) or "", parameters.many("attachments", str)
        mentions = parameters.many("mention", str)
        if not all(map(_MENTION.fullmatch, mentions)):
            raise Refused(-1, "Invalid mention syntax")
        styles = parameters.many("textStyle", str)
        for style in styles:
            _check_style(style, text)
        sent = Sent(
            text=text,
            recipient=recipient,
            group=group,
            edits=parameters.one("editTimestamp", int),
            styles=tuple(styles),
            quote_timestamp=parameters.one("quoteTimestamp", int),
            quote_author=parameters.one("quoteAuthor", str),
            quote_text=parameters.one("quoteMessage", str),
            timestamp=timestamp(),
            mentions=tuple(mentions),
            files=tuple(map(file_of, uris)),
            is_voice_note=parameters.flag("voiceNote"),
            notifies_self=parameters.flag("notifySelf"),
        )
        if sent.is_voice_note and len(sent.files) != 1:
            raise Refused(-1, "A voice note is one file")
        return self.checked(sent)

    def _target(self, parameters: Parameters) -> tuple[str | None, str | None]:
        recipients, groups = parameters.many("recipient", str), parameters.many("groupId", str)
        if parameters.flag("noteToSelf"):
            recipients = [*recipients, parameters.one("account", str)]
        if len(recipients) + len(groups) != 1:
            raise Refused(-1, "Exactly one recipient or group is expected here")
        if groups:
            self.check_group(groups[0])
        if recipients and not RECIPIENT.fullmatch(recipients[0]):
            raise Refused(-1, "Invalid recipient")
        return (recipients[0], None) if recipients else (None, groups[0])

    def _results(self, sent: Parcel, plan: Plan) -> list[Frame]:
        limit = {"retryAfterSeconds": plan.retry_after_seconds, "token": plan.challenge}
        return [
            {
                "recipientAddress": {"uuid": person.uuid, "number": person.number, "username": None},
                **({"groupId": sent.group} if sent.group else {}),
                "type": kind,
                **(limit if kind == "RATE_LIMIT_FAILURE" else {}),
            }
            for person, kind in self.outcomes(sent, plan)
        ]


_Method = Callable[[Parameters], Awaitable[Any]]


def _abort(wire: asyncio.BaseTransport | None) -> None:
    if isinstance(wire, asyncio.WriteTransport):
        wire.abort()


def _check_style(style: str, text: str) -> None:
    found = _STYLE.fullmatch(style)
    if not found or int(found[2]) == 0 or int(found[1]) + int(found[2]) > utf16_units(text):
        raise Refused(-1, "Invalid text style")
