"""Strangers' servers, and a name service that says what a test wants: what the tests of the fetcher stand on."""

import asyncio
import gzip
import socket
import ssl
import zlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address, ip_address
from typing import Any

from aiohttp import web

from tests.servers.base import Answer, Seen, Server
from tests.waiting import DEADLINE_SECONDS, all_begun
from tools import FetchedPage, Fetcher
from tools.web.addresses import IpAddress

HERE, INSIDE = "127.0.0.1", "127.0.0.2"
"""The address that stands for the public internet where a test says so, and one that is never admitted."""

Talk = Callable[[asyncio.StreamWriter], Awaitable[None]]

GZIP_HEAD = gzip.compress(b"", mtime=0)[:10]
EMPTY_BLOCKS = b"\x00\x00\x00\xff\xff" * 8192
"""Of a compressed body: read on and on, they come to nothing."""


def answer_bytes(
    body: str | bytes = b"page", content_type: str | None = "text/html", status: int = 200, **headers: str
) -> Answer:
    """An answer of this text or these bytes; `Retry_After` names the header Retry-After."""
    data = body.encode() if isinstance(body, str) else body
    given = {} if content_type is None else {"Content-Type": content_type}
    given |= {name.replace("_", "-"): text for name, text in headers.items()}
    return lambda _: web.Response(body=data, status=status, headers=given)


def endless(first: bytes, piece: bytes, **headers: str) -> Answer:
    async def pieces() -> AsyncGenerator[bytes]:
        yield first
        while True:
            yield piece

    return lambda _: web.Response(body=pieces(), headers={"Content-Type": "text/html"} | headers)


@cache
def bomb() -> bytes:
    """A gzip of 1 MB that unpacks to 1 GB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return GZIP_HEAD + block * 1024


@dataclass
class Site(Server):
    """A page at every path; `answers` give single paths something else."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        answer = self.answers.get(seen.path)
        given = answer(seen) if answer else web.Response(text=f"page {seen.path}", content_type="text/html")
        assert isinstance(given, web.StreamResponse)
        return given

    def url_of(self, path: str = "/", host: str = "site.example") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def asked(self) -> list[str]:
        return [f"{seen.headers['host'].partition(':')[0]}{seen.path}" for seen in self.requests]


@dataclass
class Line:
    """A server that talks below HTTP; it counts who connects and remembers what was asked."""

    port: int = 0
    accepted: int = 0
    heard: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{HERE}:{self.port}"


@asynccontextmanager
async def line(talk: Talk, host: str = HERE, authority: ssl.SSLContext | None = None) -> AsyncGenerator[Line]:
    talks: list[asyncio.Task[Any] | None] = []
    state = Line()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.accepted += 1
        talks.append(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            state.heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
            await talk(writer)
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, host, 0, ssl=authority)
    state.port = server.sockets[0].getsockname()[1]
    async with server:
        yield state
    await all_begun()
    await asyncio.gather(*filter(None, talks))


def says(*answer: str | bytes) -> Talk:
    async def talk(writer: asyncio.StreamWriter) -> None:
        for piece in answer:
            writer.write(piece.encode() if isinstance(piece, str) else piece)
        await writer.drain()

    return talk


def trickle(head: bytes, piece: bytes) -> Talk:
    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.is_closing():
            writer.write(piece)
            await asyncio.sleep(0.01)

    return talk


SECRET = says("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nsecret")
"""What stands in every place that must not be reached."""


class Names:
    """Looks names up in a table, each time the next answer, the last one for good; numbers are read by the system."""

    def __init__(self, table: dict[str, list[Sequence[str] | Exception]]) -> None:
        self._table = table
        self.asked: dict[str, int] = defaultdict(int)

    async def __call__(self, host: str, port: int) -> Sequence[IpAddress]:
        self.asked[host] += 1
        if host not in self._table:
            return self._numbers(host, port)
        answers = self._table[host]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return [ip_address(text) for text in answer]

    def _numbers(self, host: str, port: int) -> Sequence[IpAddress]:
        # This reads every spelling of a number as a connection by name would, and never asks a server.
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        return [ip_address(address[0]) for *_, address in found]


def only_here(*ports: int) -> dict[str, Any]:
    """What has this machine's first address stand for the whole public internet."""
    return {"ports": ports, "admits": lambda address: address == IPv4Address(HERE)}


async def fetch(
    fetcher: Fetcher, url: str, *, accept: Collection[str] = ("text/html", "text/plain"), **more: Any
) -> FetchedPage:
    given: dict[str, Any] = {"max_bytes": 2_000_000, "timeout_seconds": DEADLINE_SECONDS}
    return await fetcher.get(url, accept=accept, **(given | more))
