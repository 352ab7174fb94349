"""What signal-cli receives, over a socket of its daemon: subscribed to on demand, unsubscribed from in order.

signal-cli fetches from Signal's server only while Aldis is subscribed, and unsubscribes a client whose connection ends;
what arrives then stays with Signal's server. Two lessons of the real program stand here:

Hold. signal-cli has one message in hand at a time, fetched and acknowledged, but not passed on yet. An orderly end
holds it up in the very step in which it passes one on, by an answer that is left unread, and unsubscribes then. With
ten messages a second one in four ends lost one without that, and none of 150 with it (signal-cli 0.13.14). What
remains: signal-cli takes Aldis off its list before it stops fetching, and no call comes between the two (1 of 1,539
messages in 32 stops under load, 0.13.19; `ManagerImpl.removeReceiveHandler` of 0.14.6 is the same).

Renewal. An error that it does not expect ends its receiving thread, without a sign; anybody can send that. So a silent
subscription is renewed every hour, which starts another thread. Receiving no message in between is needed, or the new
thread ends at once (signal-cli 0.13.14; the code of 0.14.6 is the same).

The connection carries nothing else: a call under way on it would delay noticing that it has ended.
Left to others: what frames mean (`bot.signal.frames`), when to subscribe again (intake), calls (`rpc`).

Source: signal-cli 0.14.6, `SignalJsonRpcDispatcherHandler`, `ManagerImpl` and `ReceiveHelper` (2026-11-27).
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from typing import cast

from bot.errors import ConfigError, Disconnected, TransportError
from bot.invocation import command_line
from bot.signal.json import Json, object_in
from bot.signal.signal_cli.lines import LineParser, LineSocket, connect
from bot.signal.signal_cli.rpc import Rpc, parse_response, reason_of, result_in
from bot.signal.signal_cli.send_results import RpcError

_log = logging.getLogger(__name__)

UNSUBSCRIBE_SECONDS = 5.0
"""How long unsubscribing can take: signal-cli finishes what it has in hand, including fetching a file."""
HOLD_SECONDS = 1.0
"""How long a message in hand has to get to the point where it is passed on, and is held up there."""
_BUSY_SECONDS = 2.0
"""How much longer that can take on a busy machine."""
RENEW_SECONDS = 3600.0
"""How long a subscription can be silent before it is renewed. A message whose file signal-cli fetches at that moment is
lost: hardly anybody writes after such a silence, but every five minutes it could be one a month."""
_LOOK_SECONDS = 0.02
_MIN_LOOKS = 10
"""The fewest looks in that time: if they take longer, signal-cli can too."""
_TAKEN_SECONDS = 0.1
"""How long signal-cli has to read that it is to unsubscribe us, before it is let go."""
_MAX_TOGETHER = 100
"""How many frames are read before they are passed on, if that many are there."""
_INVALID_PARAMETERS = -32602
_SUBSCRIBE, _UNSUBSCRIBE = 1, 2
"""The ids of these calls; others are asked only for a sign of life."""

_FRAME = re.compile(r'\{"jsonrpc":"2\.0","method":"receive","params":\{"subscription":\d+,"result":')
_FRAME_END = "}}"

NOT_MANUAL = (
    "SIGNAL__URL: signal-cli receives by itself there and loses what comes while Aldis is away; start its daemon with "
    "--receive-mode=manual"
)


class Subscription:
    """The messages of an account over the socket at `url`; `rpc` makes calls there over other connections.

    Deadlines in seconds: `call` for subscribing, `silence` for a connection over which nothing comes, although
    signal-cli is asked for a sign of life three times in that time. `renew_seconds`: how long no frame may come before
    the subscription is renewed.
    """

    def __init__(
        self,
        url: str,
        account: str,
        rpc: Rpc,
        *,
        connect_seconds: float,
        call_seconds: float,
        silence_seconds: float,
        hold_seconds: float = HOLD_SECONDS,
        renew_seconds: float = RENEW_SECONDS,
    ) -> None:
        self.is_open = False
        self.heard_at: float | None = None
        """See `Transport.heard_at`."""
        self._url = url
        self.account = account
        self._rpc = rpc
        self._connect_seconds = connect_seconds
        self._call_seconds = call_seconds
        self._silence_seconds = silence_seconds
        self._hold_seconds = hold_seconds
        self._renew_seconds = renew_seconds
        self._is_stopping = False
        self._ending = asyncio.Event()
        """Set when the present subscription is to end."""

    def stop(self) -> None:
        """Unsubscribes: `frames` passes on what is still under way, and ends."""
        self._is_stopping = True
        self._ending.set()

    def renew(self) -> None:
        """Unsubscribes and subscribes again, so that what this subscription has come to include is left out."""
        self._ending.set()

    async def frames(self) -> AsyncGenerator[list[str | None]]:
        """Yields the frames in lists of those that came together; None stands for one that was too long.

        Ends after `stop`.

        Raises:
            Disconnected: the connection cannot be opened, or broke.
            ConfigError: signal-cli does not have the account, or receives on its own.
        """
        try:
            while not self._is_stopping:
                self._ending.clear()
                async with aclosing(self._subscribed()) as coming:
                    async for frames in coming:
                        yield frames
                if not self._is_stopping and (frames := await self._received()):
                    yield frames
        finally:
            self.is_open = False

    async def _subscribed(self) -> AsyncGenerator[list[str | None]]:
        """Yields the frames of one connection, until `stop` or until it is to be renewed. Raises as `frames`."""
        with _as_disconnected():
            async with asyncio.timeout(self._connect_seconds):
                line_socket = await connect(self._url, is_frugal=True)
        async with line_socket:
            conversation = _Conversation(line_socket, self.account)
            with _as_disconnected():
                async with asyncio.timeout(self._call_seconds):
                    await conversation.subscribe()
            _log.log(logging.DEBUG if self.is_open else logging.INFO, "connected to signal-cli")
            self.is_open, self.heard_at = True, time.monotonic()
            async with aclosing(self._coming(conversation)) as coming:
                async for frames in coming:
                    yield frames
            with _as_disconnected():
                await self._unsubscribe(conversation)
            yield conversation.take_frames()

    async def _coming(self, conversation: "_Conversation") -> AsyncGenerator[list[str | None]]:
        """Yields what arrives until the subscription is to end, and asks for signs of life."""
        frame_at = time.monotonic()
        ending = asyncio.create_task(self._ending.wait())
        try:
            while True:
                if frames := conversation.take_frames():
                    frame_at = time.monotonic()
                    yield frames
                if not conversation.is_manual:
                    raise ConfigError(NOT_MANUAL)
                if ending.done() or time.monotonic() - frame_at >= self._renew_seconds:
                    return
                reading = conversation.read()
                await asyncio.wait(
                    (reading, ending),
                    timeout=min(self._silence_seconds / 3, self._renew_seconds),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                with _as_disconnected():
                    if reading.done():
                        conversation.hear()
                        self.heard_at = time.monotonic()
                    elif time.monotonic() - (self.heard_at or 0) >= self._silence_seconds:
                        raise TimeoutError
                    elif not ending.done():
                        await conversation.ask()
        finally:
            ending.cancel()

    async def _unsubscribe(self, conversation: "_Conversation") -> None:
        """Unsubscribes while signal-cli passes something on, and has nothing else in hand."""
        try:
            async with asyncio.timeout(self._hold_seconds + _BUSY_SECONDS + UNSUBSCRIBE_SECONDS):
                await conversation.hold(self._hold_seconds)
                await conversation.unsubscribe()
        except TimeoutError:
            _log.warning("signal-cli did not unsubscribe Aldis in time; the messages it was delivering are lost")
        except Disconnected:
            if not self._is_stopping:
                raise

    async def _received(self) -> list[str | None]:
        """Has signal-cli end a receiving of no message, and returns the frames that it gives nevertheless."""
        params = {"account": self.account, "maxMessages": 0, "timeout": 1}
        try:
            answer = await self._rpc.call("receive", params, timeout_seconds=self._call_seconds)
        except TransportError as error:  # another program receives, or it is gone: subscribing shows that
            _log.debug("signal-cli did not end its receiving: %s", error)
            return []
        return [json.dumps(frame) for frame in cast("list[object]", answer)] if isinstance(answer, list) else []

    async def check(self) -> None:
        """Checks that signal-cli answers and has the account, without subscribing: nothing is fetched.

        Raises:
            Disconnected, ConfigError: as `frames`.
        """
        if not any(one.is_called(self.account) for one in await self._rpc.accounts(timeout_seconds=self._call_seconds)):
            raise ConfigError(_unknown_account())


class _Conversation:
    """The exchange over one connection: calls, their answers, and the frames between them."""

    def __init__(self, line_socket: LineSocket, account: str) -> None:
        self.is_manual = True
        """False as soon as signal-cli has passed on something without a subscription."""
        self._socket = line_socket
        self._params = {"account": account}
        self._parser = LineParser()
        self._frames: list[str | None] = []
        self._answers: dict[object, Json] = {}
        self._reading: asyncio.Task[bytes] | None = None

    def take_frames(self) -> list[str | None]:
        """Returns the frames that have come since the last call."""
        frames, self._frames = self._frames, []
        return frames

    def read(self) -> asyncio.Task[bytes]:
        """Returns the reading of what comes next; it is never cancelled, because a chunk that it has would be lost."""
        self._reading = self._reading or asyncio.ensure_future(self._socket.read())
        return self._reading

    def hear(self) -> None:
        """Sorts what `read` has brought, together with all that is there already.

        Raises:
            Disconnected: the connection has ended.
        """
        chunk, self._reading = self.read().result(), None
        if not chunk:
            raise Disconnected("signal-cli closed the connection")
        while chunk:
            for line in self._parser.feed(chunk):
                self._sort(line)
            chunk = self._socket.read_rest() if len(self._frames) < _MAX_TOGETHER else b""

    async def ask(self) -> None:
        """Asks for a sign of life."""
        await self._call("version", 0)

    async def subscribe(self) -> None:
        """Has frames come.

        Raises:
            ConfigError: signal-cli does not have the account.
            Disconnected: it does not succeed.
        """
        await self._call("subscribeReceive", _SUBSCRIBE, self._params)
        await self._heard(_SUBSCRIBE)
        try:
            number = result_in(self._answers[_SUBSCRIBE])
        except RpcError as error:
            if error.code == _INVALID_PARAMETERS:
                raise ConfigError(_unknown_account()) from error
            raise
        if not isinstance(number, int):
            raise Disconnected("signal-cli gave no number for the subscription")
        self._params = {**self._params, "subscription": number}

    async def hold(self, seconds: float) -> None:
        """Has signal-cli write more than fits, so that it blocks while passing something on; returns when nothing more
        has come for this long, or on a busy machine soon after.

        A call is answered under the very id that it was given, however long.
        """
        since = began_at = time.monotonic()
        await self._call("version", "-" * self._socket.max_unread_bytes)
        unread_bytes, looks = 0, 0
        while unread_bytes == 0 or looks < _MIN_LOOKS or time.monotonic() - since < seconds:
            if time.monotonic() - began_at > seconds + _BUSY_SECONDS:
                return
            await asyncio.sleep(_LOOK_SECONDS)
            before, unread_bytes = unread_bytes, self._socket.unread_bytes()
            looks, since = (looks + 1, since) if unread_bytes == before else (0, time.monotonic())

    async def unsubscribe(self) -> None:
        """Unsubscribes, and reads what is still under way, to the answer that ends it."""
        await self._call("unsubscribeReceive", _UNSUBSCRIBE, self._params)
        await asyncio.sleep(_TAKEN_SECONDS)
        self._socket.take_more()
        await self._heard(_UNSUBSCRIBE)

    async def _call(self, method: str, number: object, params: Json | None = None) -> None:
        await self._socket.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})

    async def _heard(self, number: int) -> None:
        """Reads on until this call is answered; frames can come before it."""
        while number not in self._answers:
            await asyncio.wait((self.read(),))
            self.hear()

    def _sort(self, line: str | None) -> None:
        """Sorts a line: a frame, an answer, or neither; anything but signal-cli's JSON is passed on like a frame, to be
        counted.
        """
        # A frame is kept as it was written, and without parsing it: speed matters when there is a backlog.
        if line is None:
            self._frames.append(None)
        elif (found := _FRAME.match(line)) and line.endswith(_FRAME_END):
            self._frames.append(line[found.end() : -len(_FRAME_END)])
        elif (said := parse_response(line)).get("method") == "receive":
            params = object_in(said, "params")
            self.is_manual = self.is_manual and "subscription" in params
            self._frames.append(json.dumps(params.get("result") if "subscription" in params else params))
        elif said.get("id") in {_SUBSCRIBE, _UNSUBSCRIBE}:
            self._answers[said["id"]] = said
        elif not {"id", "method"} & said.keys():
            self._frames.append(line)


def _unknown_account() -> str:
    return f"SIGNAL__ACCOUNT: signal-cli does not know this account; link it with `{command_line('link')}`"


# Foreign errors


@contextmanager
def _as_disconnected() -> Generator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Disconnected("signal-cli fell silent") from error
    except OSError as error:
        raise Disconnected(f"no connection to signal-cli: {reason_of(error)}") from error
    except (Disconnected, ConfigError):
        raise
    except TransportError as error:
        raise Disconnected(f"signal-cli does not let Aldis subscribe: {error}") from error
