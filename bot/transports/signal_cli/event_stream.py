"""What signal-cli receives, over the HTTP interface of its daemon: server-sent events.

For those who have only `--http`. A listener that has gone is noticed by signal-cli only when it writes to it, so what
comes in the seconds after Aldis has stopped or died is lost; over a socket (`subscription`) it is not.
Left to others: what frames mean (`bot.transports.envelope.frames`), when to listen again (intake), calls (`rpc`).

Source: signal-cli 0.14.6, `org.asamk.signal.http.HttpServerHandler` (2026-11-22).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus

import httpx

from bot.errors import ConfigError, Disconnected
from bot.invocation import command_line
from bot.transports.signal_cli.rpc import http_client
from bot.transports.signal_cli.sse import EventParser

_log = logging.getLogger(__name__)

HEADERS_SECONDS = 30.0
"""How long the headers may take: before 0.14.4 they come with the first event or keep-alive, which is after 15 s."""


class EventStream:
    """The messages of an account from the HTTP interface at `url`.

    `silence_seconds` is for a stream on which not even keep-alives (one in 15 s) come.
    """

    def __init__(
        self, url: str, account: str, *, connect_seconds: float, headers_seconds: float, silence_seconds: float
    ) -> None:
        self.is_open = False
        self.heard_at: float | None = None
        """See `Transport.heard_at`."""
        self._http = http_client(url, connect_seconds)
        self.account = account
        self._headers_seconds = headers_seconds
        self._silence_seconds = silence_seconds
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End `frames`: signal-cli cannot be asked to stop fetching here."""
        self._stopping.set()

    async def frames(self) -> AsyncGenerator[list[str | None]]:
        """The frames of one connection, those together that have come together; None is one that was too long.

        Raises:
            Disconnected: the connection cannot be opened or broke.
            ConfigError: signal-cli does not have the account, or something else answers there.
        """
        async with self._response() as response:
            parser = EventParser()
            incoming = aiter(response.aiter_raw())
            while chunk := await self._chunk(incoming):
                frames: list[str | None] = [*parser.feed(chunk)]
                frames += [None] * parser.taken_too_long()
                if frames:
                    yield frames

    async def check(self) -> None:
        """See that signal-cli lets Aldis listen there, without listening: what it would fetch would be lost.

        Raises:
            Disconnected, ConfigError: as `frames`.
        """
        with _as_disconnected():
            async with asyncio.timeout(self._headers_seconds):
                # Only who may listen is told that it is the wrong method.
                response = await self._http.post("/api/v1/events")
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            _check(response)

    @asynccontextmanager
    async def _response(self) -> AsyncGenerator[httpx.Response]:
        # Compressed, a keep-alive would wait in the compressor of a proxy.
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        request = self._http.build_request("GET", "/api/v1/events", params={"account": self.account}, headers=headers)
        with _as_disconnected():
            async with asyncio.timeout(self._headers_seconds):
                response = await self._http.send(request, stream=True)
        try:
            _check(response)
            _log.info("connected to signal-cli")
            self.is_open, self.heard_at = True, time.monotonic()
            yield response
        finally:
            self.is_open = False
            await response.aclose()

    async def _chunk(self, incoming: AsyncIterator[bytes]) -> bytes | None:
        """What comes next; None at the end, and when it is to stop."""
        reading = asyncio.create_task(_next(incoming))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            with _as_disconnected():
                async with asyncio.timeout(self._silence_seconds):
                    await asyncio.wait((reading, stopping), return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    return None
                chunk = reading.result()
        finally:
            for task in (reading, stopping):
                task.cancel()
            await asyncio.wait((reading, stopping))
        self.heard_at = time.monotonic()
        return chunk

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


async def _next(incoming: AsyncIterator[bytes]) -> bytes | None:
    return await anext(incoming, None)


@contextmanager
def _as_disconnected() -> Generator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Disconnected("signal-cli fell silent") from error
    except httpx.HTTPError as error:
        raise Disconnected(f"no connection to signal-cli: {type(error).__name__}") from error


def _check(response: httpx.Response) -> None:
    status = response.status_code
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    if status == HTTPStatus.OK and is_stream:
        return
    if status == HTTPStatus.BAD_REQUEST:
        raise ConfigError(
            f"SIGNAL__ACCOUNT: signal-cli does not know this account; link it with `{command_line('link')}`"
        )
    if status == HTTPStatus.MISDIRECTED_REQUEST:
        raise ConfigError(
            "SIGNAL__URL: signal-cli is bound to another name (HTTP 421); use that name, or start it with "
            "--http=0.0.0.0:8080"
        )
    if status == HTTPStatus.OK or (response.is_client_error and status != HTTPStatus.TOO_MANY_REQUESTS):
        raise ConfigError(f"SIGNAL__URL: no signal-cli daemon answers there (HTTP {status}); start it with --http")
    raise Disconnected(f"signal-cli answered with HTTP {status}")
