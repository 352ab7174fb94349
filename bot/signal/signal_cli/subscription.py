"""What signal-cli receives, over a socket of its daemon: subscribed to on demand, unsubscribed from in order.

signal-cli fetches from Signal's server only while Aldis is subscribed, and unsubscribes a client whose connection ends;
what arrives then stays with Signal's server. Two lessons of the real program stand here:

Hold. signal-cli has one message in hand at a time, fetched and acknowledged, but not passed on yet. An orderly end
holds it up in the very step in which it passes one on, by an answer that is left unread, and unsubscribes then. With
ten messages a second one in four ends lost one without that, and none of 150 with it (0.13.14). What remains: it takes
Aldis off its list before it stops fetching (1 of 1,539 messages in 32 stops under load, 0.13.19).

Renewal. An error that it does not expect ends its receiving thread, without a sign; any stranger can send that. So a
silent subscription is renewed every hour, with a receiving of no message in between, or the new thread ends at once.

The connection carries nothing else: a call under way on it would delay noticing that it has ended.

Source: signal-cli 0.14.6, `SignalJsonRpcDispatcherHandler`, `ManagerImpl` and `ReceiveHelper` (2026-11-27).
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import cast

from bot.errors import ConfigError, Disconnected, TransportError
from bot.invocation import command_line
from bot.signal.json import Json, object_in, parse_frame
from bot.signal.protocol import StreamState
from bot.signal.signal_cli.rpc import LineSocket, Rpc, RpcError, connect, reason_of, result_in

_log = logging.getLogger(__name__)

MAX_LINE_BYTES = 4 * 1024 * 1024
_BUSY_SECONDS = 2.0
"""How much longer than `hold_seconds` signal-cli can take on a busy machine."""
_TAKEN_SECONDS = 0.1  # in which signal-cli reads that it is to unsubscribe us
_LOOK_SECONDS, _MIN_LOOKS = 0.02, 10
_MAX_TOGETHER = 100
"""How many frames are read before they are passed on, if that many are there."""
_INVALID_PARAMETERS = -32602
_SUBSCRIBE, _UNSUBSCRIBE = 1, 2
"""The ids of these calls; others are made only for a sign of life."""

NOT_MANUAL = (
    "SIGNAL__URL: signal-cli receives by itself there and loses what comes while Aldis is away; start its daemon with "
    "--receive-mode=manual"
)


@dataclass(frozen=True, kw_only=True)
class Deadlines:
    """How long a subscription waits."""

    call_seconds: float
    """For connecting and for subscribing."""
    silence_seconds: float
    """For a connection over which nothing comes, although signal-cli is asked for a sign of life three times."""
    hold_seconds: float = 1.0
    """How long a message in hand has to get to the point where it is passed on, and is held up there."""
    renew_seconds: float = 3600.0
    """How long no frame may come before the subscription is renewed. A message whose file signal-cli fetches at that
    moment is lost; every five minutes it could be one a month."""
    unsubscribe_seconds: float = 3.0
    """For unsubscribing, a file in hand included; with the hold a second less than a stop has, to store what came."""


class Subscription:
    """The messages of an account over the socket at `url`; `rpc` makes calls there over other connections."""

    def __init__(self, url: str, account: str, rpc: Rpc, state: StreamState, deadlines: Deadlines) -> None:
        self.account = account
        self._url = url
        self._rpc = rpc
        self._state = state
        self._wait = deadlines
        self._stopping = asyncio.Event()
        self._is_outdated = False

    def renew(self) -> None:
        """Has `frames` subscribe anew: an account that was added to the daemon has joined the present subscription."""
        self._is_outdated = True

    def stop(self) -> None:
        """Unsubscribes: `frames` passes on what is still under way, and ends."""
        self._stopping.set()

    async def frames(self) -> AsyncGenerator[list[str]]:
        """Yields frames that came together, perhaps none, in lists, until `stop`. Raises as `Transport.envelopes`."""
        wait = self._wait
        stopping = asyncio.create_task(self._stopping.wait(), name="end of the subscription")
        try:
            while not self._stopping.is_set():
                with _as_disconnected():
                    async with asyncio.timeout(wait.call_seconds):
                        lines = await connect(self._url, max_line_bytes=MAX_LINE_BYTES, is_frugal=True)
                    async with lines, aclosing(_Conversation(lines, self._state, self.account)) as conversation:
                        async with asyncio.timeout(wait.call_seconds):
                            await conversation.subscribe()
                        _log.log(logging.DEBUG if self._state.is_open else logging.INFO, "connected to signal-cli")
                        self._state.is_open, self._is_outdated = True, False
                        while (
                            not (stopping.done() or self._is_outdated)
                            and time.monotonic() - conversation.frame_at < wait.renew_seconds
                        ):
                            yield conversation.take_frames()  # the first come with the answer to the subscription
                            if not conversation.is_manual:
                                raise ConfigError(NOT_MANUAL)
                            if not self._is_outdated:
                                await conversation.hear(stopping, min(wait.silence_seconds / 3, wait.renew_seconds))
                                await conversation.check_life(wait.silence_seconds)
                        await self._unsubscribe(conversation)
                        yield conversation.take_frames()
                if not stopping.done():
                    yield await self._receive_none()
        finally:
            self._state.is_open = False
            stopping.cancel()

    async def _unsubscribe(self, conversation: "_Conversation") -> None:
        """Unsubscribes while signal-cli passes something on, and has nothing else in hand."""
        wait = self._wait
        try:
            async with asyncio.timeout(wait.hold_seconds + _BUSY_SECONDS + wait.unsubscribe_seconds):
                await conversation.hold(wait.hold_seconds)
                await conversation.unsubscribe()
        except TimeoutError:
            _log.warning("signal-cli did not unsubscribe Aldis in time; the messages it was delivering are lost")
        except OSError:
            if not self._stopping.is_set():
                raise

    async def _receive_none(self) -> list[str]:
        """Has signal-cli end a receiving of no message, and returns the frames that it gives nevertheless."""
        params = {"account": self.account, "maxMessages": 0, "timeout": 1}
        try:
            answer = await self._rpc.call("receive", params)
        except TransportError as error:  # another program receives, or it is gone: subscribing shows that
            _log.debug("signal-cli did not end its receiving: %s", error)
            return []
        return [json.dumps(frame) for frame in cast("list[object]", answer)] if isinstance(answer, list) else []


class _Conversation:
    """The exchange over one connection: calls, their answers, and the frames between them. Failures are `OSError`."""

    def __init__(self, lines: LineSocket, state: StreamState, account: str) -> None:
        self.is_manual = True
        """False as soon as signal-cli has passed on something without a subscription."""
        self._lines = lines
        self._state = state
        self._params: dict[str, object] = {"account": account}
        self._frames: list[str] = []
        self.frame_at = time.monotonic()
        self._answers: dict[object, Json] = {}
        self._reading: asyncio.Task[list[str]] | None = None
        """Never cancelled while the connection lasts, because what it has read would be lost."""

    def take_frames(self) -> list[str]:
        """Returns the frames that have come since the last call."""
        frames, self._frames = self._frames, []
        self.frame_at = time.monotonic() if frames else self.frame_at
        return frames

    async def subscribe(self) -> None:
        """Has frames come; raises `ConfigError` if signal-cli does not have the account."""
        await self._call("subscribeReceive", _SUBSCRIBE, self._params)
        try:
            self._params["subscription"] = result_in(await self._answer(_SUBSCRIBE))
        except RpcError as error:
            if error.code == _INVALID_PARAMETERS:
                words = f"SIGNAL__ACCOUNT: signal-cli does not know this account; link it with `{command_line('link')}`"
                raise ConfigError(words) from error
            raise

    async def check_life(self, seconds: float) -> None:
        """Asks for a sign of life if none came lately; raises `TimeoutError` if none has come for this long."""
        silent_seconds = time.monotonic() - (self._state.heard_at or 0)
        if silent_seconds >= seconds:
            raise TimeoutError
        if silent_seconds >= seconds / 3:
            await self._call("version", 0)

    async def hold(self, seconds: float) -> None:
        """Has signal-cli write more than fits, so that it blocks while passing something on: a call is answered under
        the very id that it was given. Returns when nothing more has come for this long, or soon after.
        """
        since = began_at = time.monotonic()
        await self._call("version", "-" * self._lines.max_unread_bytes)
        unread_bytes, looks = 0, 0
        while unread_bytes == 0 or looks < _MIN_LOOKS or time.monotonic() - since < seconds:
            if time.monotonic() - began_at > seconds + _BUSY_SECONDS:
                return
            await asyncio.sleep(_LOOK_SECONDS)
            before, unread_bytes = unread_bytes, self._lines.unread_bytes()
            looks, since = (looks + 1, since) if unread_bytes == before else (0, time.monotonic())

    async def unsubscribe(self) -> None:
        """Unsubscribes, and reads what is still under way, to the answer that ends it."""
        await self._call("unsubscribeReceive", _UNSUBSCRIBE, self._params)
        await asyncio.sleep(_TAKEN_SECONDS)
        self._lines.take_more()
        await self._answer(_UNSUBSCRIBE)

    async def hear(self, ending: asyncio.Task[bool] | None = None, seconds: float | None = None) -> None:
        """Takes in what arrives, with all that is there already; at most for this long, and until `ending` is done."""
        self._reading = self._reading or asyncio.create_task(self._lines.lines())
        waiting = {self._reading, ending or self._reading}
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not self._reading.done():
            return
        lines, self._reading = self._reading.result(), None
        self._state.heard_at = time.monotonic()
        while lines:
            for line in lines:
                self._sort(line)
            lines = self._lines.lines_there() if len(self._frames) < _MAX_TOGETHER else []

    async def aclose(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,))

    async def _call(self, method: str, number: object, params: Json | None = None) -> None:
        """Writes a call; its answer is one of what arrives."""
        await self._lines.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})

    async def _answer(self, number: int) -> Json:
        """Reads on until this call is answered; frames can come before it."""
        while number not in self._answers:
            await self.hear()
        return self._answers[number]

    def _sort(self, line: str) -> None:
        """Sorts a line: a frame, an answer, or neither; what is not signal-cli's JSON is passed on, to be counted."""
        said = parse_frame(line)
        if said.get("method") == "receive":
            params = object_in(said, "params")
            self.is_manual = self.is_manual and "subscription" in params
            self._frames.append(json.dumps(params.get("result") if "subscription" in params else params))
        elif said.get("id") in {_SUBSCRIBE, _UNSUBSCRIBE}:
            self._answers[said["id"]] = said
        elif not {"id", "method"} & said.keys():
            self._frames.append(line)


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
