"""Sockets that carry JSON, one value per line: how signal-cli's daemon talks with `--socket` and `--tcp`.

A line is read when it is asked for and not before: what is not read stays with the kernel, in limited space.
Left to others: what is said (`rpc`, `subscription`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc.SocketHandler` (2026-11-22).
"""

import asyncio
import fcntl
import json
import socket
import struct
import termios
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlsplit

from bot.errors import ConfigError

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Longer lines are skipped if others follow: nothing that Signal carries comes near."""

_UNREAD_BYTES = 4 * 1024
_SEGMENT_BYTES = 536
_MAX_UNREAD_UNIX_BYTES = 1024 * 1024
_MAX_UNREAD_TCP_BYTES = 3 * 1024 * 1024
"""Several times the amounts given in `_keep_small`."""
_CHUNK_BYTES = 16 * 1024
"""How much is taken from the kernel at a time: about twenty messages."""
_LARGE_CHUNK_BYTES = 256 * 1024


class LineParser:
    """Puts lines together; one for each connection."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_line_bytes = max_line_bytes
        self._line = bytearray()
        self.is_too_long = False
        """Whether the line that is not complete yet is already too long."""

    def feed(self, chunk: bytes) -> Iterator[str | None]:
        """Yields the lines that this chunk completes, in order; None for one that was too long to keep.

        Invalid UTF-8 is replaced.
        """
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._grow(part)
            line, is_too_long = self._line, self.is_too_long
            self._line, self.is_too_long = bytearray(), False
            yield None if is_too_long else line.decode("utf-8", "replace")
        self._grow(rest)

    def _grow(self, part: bytes) -> None:
        if self.is_too_long or len(self._line) + len(part) > self._max_line_bytes:
            self._line.clear()
            self.is_too_long = True
        else:
            self._line += part


class LineSocket:
    """A connection to the daemon; `async with` closes it. Every failure raises `OSError`.

    Deadlines are up to the caller, who gives the connection up when time runs out.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._chunk_bytes = _CHUNK_BYTES

    async def write(self, value: Mapping[str, object]) -> None:
        """Writes one JSON object as a line."""
        line = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        await asyncio.get_running_loop().sock_sendall(self._socket, line)

    @property
    def max_unread_bytes(self) -> int:
        """More than the kernels of both sides keep of what is written to us and not read."""
        return _MAX_UNREAD_UNIX_BYTES if self._socket.family is socket.AF_UNIX else _MAX_UNREAD_TCP_BYTES

    async def read(self) -> bytes:
        """Returns what has arrived, at least one byte; empty at the end."""
        return await asyncio.get_running_loop().sock_recv(self._socket, self._chunk_bytes)

    def read_rest(self) -> bytes:
        """Returns what has arrived without waiting for more; empty if nothing has, or the connection has ended."""
        try:
            return self._socket.recv(_LARGE_CHUNK_BYTES)
        except BlockingIOError:
            return b""

    def take_more(self) -> None:
        """From now on takes much at a time: megabytes in small pieces take a busy machine seconds."""
        self._chunk_bytes = _LARGE_CHUNK_BYTES
        if self._socket.family is not socket.AF_UNIX:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _LARGE_CHUNK_BYTES)

    def unread_bytes(self) -> int:
        """Returns how many bytes have arrived and are not read yet.

        Raises:
            OSError: nothing more comes; the other side has ended the connection.
        """
        try:
            if not self._socket.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError("the other side has closed the connection")
        except BlockingIOError:
            return 0
        [count] = struct.unpack("i", fcntl.ioctl(self._socket, termios.FIONREAD, b"\0" * 4))
        return int(count)

    def end(self) -> None:
        """Ends the connection at once; whoever reads reaches its end."""
        with suppress(OSError):  # it has ended already
            self._socket.shutdown(socket.SHUT_RDWR)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._socket.close()


def is_socket(url: str) -> bool:
    """Whether an address is that of a socket rather than an HTTP address."""
    return urlsplit(url).scheme in {"unix", "tcp"}


def _keep_small(sock: socket.socket) -> None:
    """Before a TCP socket connects: limits what the kernels of both sides keep for us unread.

    Unread data stays in our receive buffer, and then in the other side's send buffer, which grows with the size of
    segments: 4 MB on one machine. Small segments limit it to 0.1 to 1.1 MB (measured). A Unix socket keeps 208 KiB, all
    of it on the other side.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _UNREAD_BYTES)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SEGMENT_BYTES)


async def connect(url: str, *, is_frugal: bool = False) -> LineSocket:
    """Returns a connection to the socket at an address, `unix:///path` or `tcp://host:port`.

    `is_frugal`: the kernel keeps as little unread data for us as it can.

    Raises:
        ConfigError: the address is invalid.
        OSError: nobody listens there, or connecting is not allowed.
    """
    parts = urlsplit(url)
    try:
        path, host, port = parts.path, parts.hostname, parts.port
    except ValueError:
        path, host, port = "", None, None
    if parts.scheme == "unix" and path:
        return await _connected(socket.AF_UNIX, path, is_frugal=is_frugal)
    if parts.scheme == "tcp" and host and port:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return await _first(found, is_frugal=is_frugal)
    raise ConfigError(
        "SIGNAL__URL is not an address; it should look like unix:///run/signal-cli/socket or tcp://signal-cli:7583"
    )


async def _first(found: list[tuple[Any, ...]], *, is_frugal: bool) -> LineSocket:
    """A connection to the first of a host's addresses at which somebody listens."""
    failed: OSError = OSError("the host has no address")
    for family, *_, address in found:
        try:
            return await _connected(family, address, is_frugal=is_frugal)
        except OSError as error:
            failed = error
    raise failed


async def _connected(family: int, address: Any, *, is_frugal: bool) -> LineSocket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)  # noqa: FBT003 - its only argument
        if is_frugal and family != socket.AF_UNIX:
            _keep_small(sock)
        await asyncio.get_running_loop().sock_connect(sock, address)
        # Connecting to a Unix socket with a full queue fails silently; this shows whether it is connected.
        sock.getpeername()
    except BaseException:
        sock.close()
        raise
    return LineSocket(sock)
