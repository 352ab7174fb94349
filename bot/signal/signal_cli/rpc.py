"""JSON-RPC to signal-cli's own daemon over its socket (`--socket`, `--tcp`): one JSON object a line.

Every call has a connection of its own, which costs less than a millisecond: whether a request on a kept one that is
dead arrived would be unknown, while a daemon that is down refuses a new one. A line is read when it is asked for and
not before: what is not read stays with the kernel, in limited space.

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc` (2026-11-22).
"""

import asyncio
import fcntl
import json
import socket
import struct
import termios
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

from bot.errors import NotSent, SendUnknown, Unfetchable
from bot.events import Account
from bot.signal.directory import accounts_in
from bot.signal.json import Json, as_object, object_in, parse_frame, text_in
from bot.signal.send_errors import RefusedCall, asking

CONNECT_SECONDS = 5.0
"""For reaching the daemon, which runs on the same machine or private network."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""For an answer that is no file: the list of all groups with all their members is the longest."""

_UNREAD_BYTES = 4 * 1024
_SEGMENT_BYTES = 536
_MAX_UNREAD_UNIX_BYTES = 1024 * 1024
_MAX_UNREAD_TCP_BYTES = 3 * 1024 * 1024
"""Several times what the kernels of both sides keep of what is written to us and not read (see `connect`)."""
_CHUNK_BYTES = 256 * 1024
"""How much is taken from the kernel at a time; `connect` limits what is there."""
_UNREACHABLE_CODE = -3


class RpcError(RefusedCall):
    """The daemon refused a call: `code` is JSON-RPC's or signal-cli's own, `response` what the call had written."""

    def __init__(self, code: int, response: Mapping[str, object], words: str = "") -> None:
        what = "cannot get through to Signal's server" if code == _UNREACHABLE_CODE else "refused the call"
        super().__init__(f"signal-cli {what} (code {code})", words)
        self.code = code
        self.response = response


class LineTooLong(OSError):
    """A line is longer than it may be."""


class LineSocket:
    """A connection to the daemon, closed by `async with`. Any failure raises `OSError`, as does too long a line."""

    def __init__(self, sock: socket.socket, max_line_bytes: int) -> None:
        self._socket = sock
        self.max_unread_bytes = _MAX_UNREAD_UNIX_BYTES if sock.family is socket.AF_UNIX else _MAX_UNREAD_TCP_BYTES
        """More than the kernels of both sides keep of what is written to us and not read."""
        self._max_line_bytes = max_line_bytes
        self._line = bytearray()

    async def write(self, value: Mapping[str, object]) -> None:
        """Writes one JSON object as a line."""
        line = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        await asyncio.get_running_loop().sock_sendall(self._socket, line)

    async def lines(self) -> list[str]:
        """Waits until something has arrived; returns the lines that are complete now, without waiting for more."""
        return self._completed(await asyncio.get_running_loop().sock_recv(self._socket, _CHUNK_BYTES))

    def lines_there(self) -> list[str]:
        """Returns the lines that have arrived; none if nothing has. What has failed, `lines` raises next."""
        try:
            chunk = self._socket.recv(_CHUNK_BYTES)
        except OSError:
            return []
        return self._completed(chunk) if chunk else []

    def _completed(self, chunk: bytes) -> list[str]:
        if not chunk:
            raise ConnectionResetError("signal-cli closed the connection")
        self._line += chunk
        ended: list[bytes] = []
        if b"\n" in chunk:
            *ended, rest = bytes(self._line).split(b"\n")
            self._line = bytearray(rest)
        if len(self._line) > self._max_line_bytes or any(len(line) > self._max_line_bytes for line in ended):
            raise LineTooLong
        return [line.decode("utf-8", "replace") for line in ended]

    def take_more(self) -> None:
        """From now on takes much at a time over TCP: megabytes in small pieces take a busy machine seconds."""
        if self._socket.family is not socket.AF_UNIX:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _CHUNK_BYTES)

    def unread_bytes(self) -> int:
        """Returns how many bytes have arrived and are not read yet."""
        [count] = struct.unpack("i", fcntl.ioctl(self._socket, termios.FIONREAD, b"\0" * 4))
        return int(count)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._socket.close()


async def connect(url: str, *, max_line_bytes: int = MAX_ANSWER_BYTES, is_frugal: bool = False) -> LineSocket:
    """Returns a connection to the socket at an address, `unix:///path` or `tcp://host:port`.

    `is_frugal`: the kernels keep as little unread data for us as they can. Over TCP the other side's send buffer grows
    with the size of segments, to 4 MB on one machine; small ones limit it to 0.1 to 1.1 MB (measured). A Unix socket
    keeps 208 KiB.

    Raises:
        OSError: nothing listens there, or connecting is not allowed.
    """
    loop = asyncio.get_running_loop()
    parts = urlsplit(url)
    failed = OSError("the host has no address")
    places: list[tuple[int, Any]] = [(socket.AF_UNIX, parts.path)]
    if parts.scheme == "tcp":
        found = await loop.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)
        places = [(family, address) for family, *_, address in found]
    for family, address in places:
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)  # noqa: FBT003 - its only argument
            if is_frugal and family != socket.AF_UNIX:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _UNREAD_BYTES)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SEGMENT_BYTES)
            await loop.sock_connect(sock, address)
            # Connecting to a Unix socket with a full queue fails silently; this shows whether it is connected.
            sock.getpeername()
        except OSError as error:
            sock.close()
            failed = error
        except BaseException:
            sock.close()
            raise
        else:
            return LineSocket(sock, max_line_bytes)
    raise failed


class Rpc:
    """Calls the daemon's methods, each within `seconds` in all."""

    def __init__(self, url: str, *, seconds: float, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._url = url
        self._seconds = seconds
        self._connect_seconds = connect_seconds

    async def call(
        self, method: str, params: Json, *, seconds: float | None = None, max_bytes: int = MAX_ANSWER_BYTES
    ) -> object:
        """Returns the `result` of a call, which may have a deadline of its own.

        Raises:
            NotSent: the daemon was certainly not reached; call again later.
            SendUnknown: the call may have been carried out.
            RpcError: the daemon refused the call; see its code.
            Unfetchable: the answer is longer than `max_bytes`.
        """
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            async with asyncio.timeout(seconds or self._seconds):
                return result_in(await self._answer(request, max_bytes=max_bytes))
        except TimeoutError as error:
            raise SendUnknown("signal-cli did not answer in time") from error

    async def ask(self, method: str, params: Json) -> object:
        """Returns the `result` of a call that can be repeated; raises `Disconnected` if it did not succeed."""
        with asking(method):
            return await self.call(method, params)

    async def accounts(self) -> tuple[Account, ...]:
        """Returns the accounts that the daemon has. Raises as `ask`."""
        return accounts_in(await self.ask("listAccounts", {}))

    async def version(self) -> str:
        """Returns the daemon's version; empty if it does not say. Raises as `ask`."""
        return text_in(as_object(await self.ask("version", {})), "version")

    async def _answer(self, request: Json, *, max_bytes: int) -> Json:
        try:
            async with asyncio.timeout(self._connect_seconds):
                lines = await connect(self._url, max_line_bytes=max_bytes)
        except OSError as error:  # including a time-out
            raise NotSent(f"signal-cli cannot be reached: {reason_of(error)}") from error
        async with lines:
            try:
                await lines.write(request)
                while True:
                    for answer in map(parse_frame, await lines.lines()):
                        if "method" not in answer:  # a daemon that receives on its own writes frames everywhere
                            return answer
            except LineTooLong as error:
                raise Unfetchable("signal-cli's answer is longer than it may be") from error
            except OSError as error:
                raise SendUnknown(f"signal-cli did not answer: {type(error).__name__}") from error


def reason_of(error: OSError) -> str:
    """Returns why a socket cannot be used, in the system's words."""
    return error.strerror or type(error).__name__


def result_in(answer: Json) -> object:
    """Returns the result in an answer; raises `RpcError` if it is a refusal, `SendUnknown` if it is none."""
    error = object_in(answer, "error")
    if error:
        code = error.get("code")
        raise RpcError(code if isinstance(code, int) else 0, object_in(error, "data"), text_in(error, "message"))
    if "result" not in answer:
        raise SendUnknown("signal-cli's answer has no result")
    return answer["result"]
