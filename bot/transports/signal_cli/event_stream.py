"""What signal-cli receives, over the HTTP interface of its daemon: server-sent events.

For people who only have `--http`. Here signal-cli cannot be asked to stop fetching; it notices that a listener is gone
only when it fails to write to it: a message, which is then lost, or a keep-alive, which costs nothing.

    stop --reads on--> just before the next keep-alive, or after six seconds --reset--> the next write fails

So at most one message is lost after that, and what signal-cli has in hand when it unsubscribes Aldis. Over a socket
(`subscription`) nothing is. Closing a connection without a reset takes one more write: one more message.
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

KEEP_ALIVE_SECONDS = 15.0
"""The interval between keep-alives, from the opening of the stream on; messages do not change it."""
END_SECONDS = 6.0
"""How long an orderly end can wait for one."""
_BEFORE_SECONDS = 0.2
"""How long before the keep-alive the connection is reset: a busy machine must not be too late, but what is fetched in
that time is lost."""

HEADERS_SECONDS = 30.0
"""How long the headers can take: before 0.14.4 they come with the first event or keep-alive, which is after 15 s."""


class EventStream:
    """The messages of an account from the HTTP interface at `url`.

    `silence_seconds` is the limit for a stream without even keep-alives (one every `keep_alive_seconds`).
    """

    def __init__(
        self,
        url: str,
        account: str,
        *,
        connect_seconds: float,
        headers_seconds: float,
        silence_seconds: float,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    ) -> None:
        self.is_open = False
        self.heard_at: float | None = None
        """See `Transport.heard_at`."""
        self._http = http_client(url, connect_seconds, resets=True)
        self.account = account
        self._headers_seconds = headers_seconds
        self._silence_seconds = silence_seconds
        self._keep_alive_seconds = keep_alive_seconds
        self._kept_alive_at = 0.0
        """When the last keep-alive came or, before the first, the stream was requested, on `time.monotonic`'s clock."""
        self._stopping = asyncio.Event()
        self._end_by = 0.0
        """The latest end of `frames` on the same clock, once it has to stop."""

    def stop(self) -> None:
        """Ends `frames` at a good moment, see `KEEP_ALIVE_SECONDS`; what comes until then is passed on."""
        self._end_by = time.monotonic() + END_SECONDS
        self._stopping.set()

    async def frames(self) -> AsyncGenerator[list[str | None]]:
        """Yields the frames of one connection, in lists of those that came together; None stands for one that was too
        long.

        Raises:
            Disconnected: the connection cannot be opened, or broke.
            ConfigError: signal-cli does not have the account, or something else answers there.
        """
        async with self._response() as response:
            parser = EventParser()
            incoming = aiter(response.aiter_raw())
            while chunk := await self._chunk(incoming):
                frames: list[str | None] = [*parser.feed(chunk)]
                frames += [None] * parser.taken_too_long()
                if parser.taken_comments():
                    self._kept_alive_at = time.monotonic()
                if frames:
                    yield frames

    async def check(self) -> None:
        """Checks that signal-cli lets Aldis listen, without listening: what it would fetch would be lost.

        Raises:
            Disconnected, ConfigError: as `frames`.
        """
        with _as_disconnected():
            async with asyncio.timeout(self._headers_seconds):
                # Only somebody who is allowed to listen is told that the method is wrong.
                response = await self._http.post("/api/v1/events")
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            _check(response)

    @asynccontextmanager
    async def _response(self) -> AsyncGenerator[httpx.Response]:
        # Compressed, a keep-alive would wait in the compressor of a proxy.
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        request = self._http.build_request("GET", "/api/v1/events", params={"account": self.account}, headers=headers)
        self._kept_alive_at = time.monotonic()
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
        """The next chunk; None at the end, including one that was requested."""
        reading = asyncio.create_task(_next(incoming))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            with _as_disconnected():
                async with asyncio.timeout(self._silence_seconds):
                    await asyncio.wait((reading, stopping), return_when=asyncio.FIRST_COMPLETED)
                if stopping.done():
                    await asyncio.wait((reading,), timeout=self._seconds_to_the_end())
                if not reading.done():
                    return None
                chunk = reading.result()
        finally:
            for task in (reading, stopping):
                task.cancel()
            await asyncio.wait((reading, stopping))
        self.heard_at = time.monotonic()
        return chunk

    def _seconds_to_the_end(self) -> float:
        """Returns how long to read on, now that it has to stop."""
        now = time.monotonic()
        good = self._kept_alive_at + self._keep_alive_seconds - _BEFORE_SECONDS
        return max(0, (min(good, self._end_by) if good > now else self._end_by) - now)

    async def aclose(self) -> None:
        """Closes the connections."""
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
