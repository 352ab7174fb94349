"""Calls to signal-cli's own daemon: JSON-RPC over a socket, limited in time and in size.

Every call has a connection of its own. A kept one may be dead, and whether a request on it arrived is then
unknown; a new one costs less than a millisecond, and a daemon that is down refuses the connection: certainly not sent.
Moreover, a listener whose connection ends is unsubscribed only when the calls on that connection have ended.
Left to others: what is called and what that means (`transport`), what a refused send means (`send_results`).

Source: signal-cli 0.14.6, `org.asamk.signal.jsonrpc` (2026-11-22).
"""

import asyncio
import json
from collections.abc import Mapping

from bot.errors import CallRefused, Disconnected, NotSent, SendUnknown, TransportError, Unfetchable
from bot.events import Account
from bot.signal.directory import accounts_in
from bot.signal.files import decode_file
from bot.signal.json import Json, as_object, object_in, text_in
from bot.signal.signal_cli.lines import LineParser, connect
from bot.signal.signal_cli.send_results import RpcError

CONNECT_SECONDS = 5.0
"""For reaching the daemon, which runs on the same machine or private network."""

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""For an answer that is no file: the list of all groups with all their members is the longest."""

_TOO_LONG = "signal-cli's answer is longer than it may be"


class Rpc:
    """Calls the daemon's methods; every call has a connection of its own and a total deadline.

    Raises:
        ConfigError: the address is invalid.
    """

    def __init__(self, url: str, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._url = url
        self._connect_seconds = connect_seconds

    async def call(
        self, method: str, params: Mapping[str, object], *, timeout_seconds: float, max_bytes: int = MAX_ANSWER_BYTES
    ) -> object:
        """Returns the `result` of a call; an answer of more than `max_bytes` is not read to its end.

        Raises:
            NotSent: the daemon was certainly not reached; call again later.
            SendUnknown: the call may have been carried out.
                RpcError: the daemon refused the call; see its code.
            Unfetchable: the answer is too long.
        """
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            async with asyncio.timeout(timeout_seconds):
                answer = await self._answer(request, max_bytes=max_bytes)
        except TimeoutError as error:
            raise SendUnknown("signal-cli did not answer in time") from error
        return result_in(parse_response(answer))

    async def ask(self, method: str, params: Mapping[str, object], *, timeout_seconds: float) -> object:
        """Returns the `result` of a call that only asks, or that can be repeated.

        Raises:
            Disconnected: it did not succeed; try again.
        """
        try:
            return await self.call(method, params, timeout_seconds=timeout_seconds)
        except TransportError as error:
            raise not_done(method, error) from error

    async def file(self, method: str, params: Mapping[str, object], *, timeout_seconds: float, max_bytes: int) -> bytes:
        """Returns the file that a call is answered with; empty if the answer has none. Otherwise as `call`.

        Raises:
            Unfetchable: it is too long, or no file.
        """
        encoded_bytes = 4 * (max_bytes // 3 + 1) + 1024  # base64 takes four for three, and there is JSON around it
        answer = await self.call(method, params, timeout_seconds=timeout_seconds, max_bytes=encoded_bytes)
        return decode_file(text_in(as_object(answer), "data"), max_bytes)

    async def do(self, method: str, params: Mapping[str, object], *, timeout_seconds: float) -> object:
        """Has the daemon do something for the operator, who is told what it answers; returns the `result`.

        Raises:
            CallRefused: the daemon refuses it, and says why.
            Disconnected: it failed in another way; try again.
        """
        try:
            return await self.call(method, params, timeout_seconds=timeout_seconds)
        except RpcError as error:
            raise CallRefused(error.line) from error
        except TransportError as error:
            raise not_done(method, error) from error

    async def accounts(self, *, timeout_seconds: float) -> tuple[Account, ...]:
        """Returns the accounts that the daemon has.

        Raises:
            Disconnected: as `ask`.
        """
        return accounts_in(await self.ask("listAccounts", {}, timeout_seconds=timeout_seconds))

    async def version(self, *, timeout_seconds: float) -> str:
        """Returns the daemon's version; empty if it does not tell.

        Raises:
            Disconnected: as `ask`.
        """
        return text_in(as_object(await self.ask("version", {}, timeout_seconds=timeout_seconds)), "version")

    async def _answer(self, request: Mapping[str, object], *, max_bytes: int) -> str:
        try:
            async with asyncio.timeout(self._connect_seconds):
                line_socket = await connect(self._url)
        except OSError as error:  # including a time-out
            raise NotSent(f"signal-cli cannot be reached: {reason_of(error)}") from error
        parser = LineParser(max_bytes)
        async with line_socket:
            try:
                await line_socket.write(request)
                while chunk := await line_socket.read():
                    for line in parser.feed(chunk):
                        if line is None:
                            raise Unfetchable(_TOO_LONG)
                        if not is_notification(line):
                            return line
                    if parser.is_too_long:
                        raise Unfetchable(_TOO_LONG)
            except OSError as error:
                raise SendUnknown(f"signal-cli did not answer: {type(error).__name__}") from error
        raise SendUnknown("signal-cli closed the connection without an answer")


def not_done(method: str, error: TransportError) -> Disconnected:
    """Returns the error for the failure of a call that can be repeated."""
    return Disconnected(f"{method} did not succeed ({error}); try again")


def reason_of(error: OSError) -> str:
    """Returns why a socket cannot be used, in the system's words, which name no address."""
    return error.strerror or type(error).__name__


def is_notification(line: str) -> bool:
    """Whether a line is about something that nobody asked for: only a daemon that receives on its own writes it."""
    return '"method"' in line and "method" in parse_response(line)


def result_in(answer: Json) -> object:
    """Returns the result in an answer.

    Raises:
        RpcError: the daemon refused the call; see its code.
        SendUnknown: it is no answer.
    """
    error = object_in(answer, "error")
    if error:
        code = error.get("code")
        raise RpcError(code if isinstance(code, int) else 0, object_in(error, "data"), text_in(error, "message"))
    if "result" not in answer:
        raise SendUnknown("signal-cli's answer has no result")
    return answer["result"]


def parse_response(text: bytes | str) -> Json:
    """Returns what signal-cli said, of any length; empty if it is no JSON object."""
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}
