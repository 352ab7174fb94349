"""Calls to signal-cli's own daemon: JSON-RPC over HTTP, bounded in time and in size.

Left to others: what is called and what that means (`signal_cli`), what a refused send means (`answers`).

Source: signal-cli 0.14.6, `org.asamk.signal.http` and `org.asamk.signal.jsonrpc` (2026-11-21).
"""

import asyncio
import json
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http import HTTPStatus

import httpx

from bot.errors import ConfigError, Disconnected, NotSent, SendUnknown, TransportError, Unfetchable
from bot.transports.answers import RpcError
from bot.transports.directory import entries
from bot.transports.frame import as_object, object_in, text_in
from bot.transports.results import http_failure

CONNECT_SECONDS = 5.0
"""For reaching the daemon: it stands on the same machine or the same private network."""

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Of an answer that is no file: the list of all groups with all their members is the longest."""


class Rpc:
    """Calls the daemon's methods; every call has its own connection and a total deadline."""

    def __init__(self, url: str, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        # A connection that was kept may be dead, and whether a request on it arrived is then unknown. A fresh one costs
        # a millisecond, and a daemon that is down is a refused connection: surely not sent.
        limits = httpx.Limits(max_keepalive_connections=0)
        timeout = httpx.Timeout(None, connect=connect_seconds)
        # Loading the certificates takes a tenth of a second, and a plain http address needs none.
        verify = url.startswith("https:")
        try:
            self.http = httpx.AsyncClient(base_url=url, verify=verify, trust_env=False, limits=limits, timeout=timeout)
        except httpx.InvalidURL as error:
            raise ConfigError("SIGNAL__URL is no address; it looks like http://signal-cli:8080") from error
        # At INFO httpx logs every address, and the account's phone number is part of the stream's.
        logging.getLogger("httpx").setLevel(logging.WARNING)

    async def call(
        self, method: str, params: Mapping[str, object], *, timeout_seconds: float, max_bytes: int = MAX_ANSWER_BYTES
    ) -> object:
        """The `result` of a call; an answer of more than `max_bytes` is not read to its end.

        Raises:
            NotSent: the daemon was surely not reached; call again later.
            SendUnknown: the call may have been carried out.
            Undeliverable: the request itself was refused before it was read.
            RpcError: the daemon refused the call; see its code.
            Unfetchable: the answer is too long.
        """
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        with _as_outcome():
            async with (
                asyncio.timeout(timeout_seconds),
                self.http.stream("POST", "/api/v1/rpc", json=request) as response,
            ):
                body = await _read(response, max_bytes)
        return _result(response.status_code, body)

    async def ask(self, method: str, params: Mapping[str, object], *, timeout_seconds: float) -> object:
        """The `result` of a call that only asks, or that may be made again.

        Raises:
            Disconnected: it did not succeed; try again.
        """
        try:
            return await self.call(method, params, timeout_seconds=timeout_seconds)
        except TransportError as error:
            raise Disconnected(f"{method} did not succeed ({error}); try again") from error

    async def accounts(self, *, timeout_seconds: float) -> tuple[str, ...]:
        """The phone numbers of the accounts that the daemon has.

        Raises:
            Disconnected: as `ask`.
        """
        found = entries(await self.ask("listAccounts", {}, timeout_seconds=timeout_seconds))
        return tuple(number for account in found if (number := text_in(account, "number")))

    async def aclose(self) -> None:
        """Close the connections."""
        await self.http.aclose()


# Foreign errors


@contextmanager
def _as_outcome() -> Generator[None]:
    """Tell apart what surely did not arrive and what may have."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
        raise NotSent(f"signal-cli cannot be reached: {type(error).__name__}") from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise SendUnknown(f"signal-cli did not answer: {type(error).__name__}") from error


async def _read(response: httpx.Response, max_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > max_bytes:
            raise Unfetchable("signal-cli's answer is longer than it may be")
    return bytes(body)


def _result(status: int, body: bytes) -> object:
    """What the call gave; the daemon answers 200 to every call that it has read."""
    if status != HTTPStatus.OK:
        raise http_failure(status)
    try:
        answer = as_object(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise SendUnknown("signal-cli's answer is no JSON") from error
    error = object_in(answer, "error")
    if error:
        code = error.get("code")
        raise RpcError(code if isinstance(code, int) else 0, object_in(error, "data"), text_in(error, "message"))
    if "result" not in answer:
        raise SendUnknown("signal-cli's answer has no result")
    return answer["result"]
