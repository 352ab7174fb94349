"""The base of all doubles of the outside: a real HTTP server on loopback that records its requests."""

import asyncio
import json
import socket
import ssl
from asyncio.trsock import TransportSocket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True, kw_only=True)
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


Answer = Callable[[Seen], Awaitable[web.StreamResponse] | web.StreamResponse]


@dataclass
class Server:
    """A loopback server; `async with` starts and stops it. Subclasses answer in `respond` or override `app`.

    `faults` holds answers that are given, in order, before the regular ones: how a test makes the service fail.
    """

    requests: list[Seen] = field(default_factory=list)
    faults: list[Answer] = field(default_factory=list)
    port: int = 0
    """0 takes a free one; a restart keeps the first."""
    tls: ssl.SSLContext | None = None
    _runner: web.AppRunner | None = None
    _kept: socket.socket | None = None
    _listening: socket.socket | None = None
    """Keeps the port while the server is stopped: bound and not listening, so that whoever asks is refused."""

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if self._kept is not None:
            self._kept.close()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self.handle)
        return app

    async def start(self) -> None:
        self._runner = web.AppRunner(self.app(), shutdown_timeout=0.2, handle_signals=False, access_log=None)
        await self._runner.setup()
        if self._kept is None:
            self._kept = bound(self.port)
            self.port = self._kept.getsockname()[1]
        self._listening = bound(self.port)
        await web.SockSite(self._runner, self._listening, ssl_context=self.tls).start()

    async def stop(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            if self._listening is not None:  # a double can listen elsewhere
                await stop_accepting(self._listening)
            await runner.cleanup()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Remember the request, then fail as told or answer."""
        seen = Seen(
            method=request.method,
            path=request.path,
            query=dict(request.query),
            headers={name.lower(): value for name, value in request.headers.items()},
            body=await request.read(),
        )
        requests, faults = self.kept(seen)
        requests.append(seen)
        answer = faults.pop(0)(seen) if faults else self.regular(seen, request)
        return answer if isinstance(answer, web.StreamResponse) else await answer

    def kept(self, seen: Seen) -> tuple[list[Seen], list[Answer]]:
        """Where such a request is remembered, and the answers that are given to such before the regular ones."""
        return self.requests, self.faults

    def regular(self, seen: Seen, request: web.Request) -> Awaitable[web.StreamResponse] | web.StreamResponse:
        return self.respond(seen, request)

    def respond(self, seen: Seen, request: web.Request) -> Awaitable[web.StreamResponse] | web.StreamResponse:
        raise web.HTTPNotFound


async def stop_accepting(*listening: socket.socket | TransportSocket) -> None:
    """Accepts nothing more, and lets what was accepted a moment ago reach its server before that is closed.

    A server that closes between the two leaves the socket open, and a warning of it to any later test.
    Source: `_accept_connection2` and `Server._attach` of Python 3.11.7 (2026-11-29).
    """
    for one in listening:
        asyncio.get_running_loop().remove_reader(one)
    for _ in range(4):
        await asyncio.sleep(0)


def bound(port: int = 0) -> socket.socket:
    """A socket on this port of loopback, or on a free one, that nobody else can take meanwhile; not listening yet."""
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    kept.bind(("127.0.0.1", port))
    return kept


def answer_json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    return lambda _: web.json_response(body, status=status, headers=headers)


def redirect(location: str, status: int = 307) -> Answer:
    return lambda _: web.Response(status=status, headers={"Location": location})


async def hang(_: Seen) -> web.StreamResponse:
    """A fault: no answer ever."""
    await asyncio.Event().wait()
    raise AssertionError
