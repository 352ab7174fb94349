"""What signal-cli receives, over a socket of its daemon: subscribed to on demand, unsubscribed from in order.

    connect . is the receive mode manual? . subscribeReceive --> frames --> unsubscribeReceive . its answer . close
       ^                                                           '-- nothing came for an hour: the same --.
       '---------------------------------------- receive, of no message <-----------------------------------'

signal-cli fetches from Signal's server only while somebody is subscribed, and unsubscribes whoever is gone at once;
what arrives then stays with Signal's server. What it has written and nobody has read is lost when Aldis is killed, so
everything that is there is passed on together, and little is taken at a time. The answer to `unsubscribeReceive` comes
after the last frame, so an orderly end loses nothing of what was written.

One message can still get lost at any end: the one that signal-cli has in hand, fetched and acknowledged, but not passed
on yet. It has one in hand at a time, so an orderly end holds it up in the very step in which it passes one on, and
unsubscribes then. With ten messages a second coming in, one in four ends lost one without that, and none of 150 with it
(measured with signal-cli 0.13.14).

signal-cli can stop receiving without a sign: an error that it does not expect, such as a story that its library cannot
read, ends its receiving thread, and everything else goes on. Anybody can send that. So a silent subscription is renewed
every hour, which starts another thread. Asking for no message in between is needed: the dead thread has left behind
that receiving is to stop, and only the end of some receiving clears that; until then signal-cli starts threads as fast
as it can, in vain (seen with signal-cli 0.13.14; the code of 0.14.6 is the same). What comes in the meantime stays with
Signal's server.

The connection carries nothing else: a call under way on it would delay noticing that it has ended.
Left to others: what frames mean (`bot.transports.envelope.frames`), when to subscribe again (intake), calls (`rpc`).

Source: signal-cli 0.14.6, `SignalJsonRpcDispatcherHandler`, `JsonRpcReader` and `ManagerImpl` (2026-11-22),
`ReceiveHelper` and `ReceiveCommand` (2026-11-26).
"""

import asyncio
import json
import logging
import random
import re
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import cast

from bot.clock import is_set_within
from bot.errors import ConfigError, Disconnected, TransportError
from bot.invocation import command_line
from bot.transports.envelope.json import Json, object_in
from bot.transports.signal_cli.lines import LineParser, LineSocket, connect
from bot.transports.signal_cli.rpc import Rpc, parse_response, reason_of, result_in
from bot.transports.signal_cli.send_results import RpcError

_log = logging.getLogger(__name__)

UNSUBSCRIBE_SECONDS = 5.0
"""How long unsubscribing can take after that: signal-cli finishes what it has in hand, including fetching a file."""

HOLD_SECONDS = 1.0
"""How long a message in hand has to get to the point where it is passed on, and is held up there."""
_BUSY_SECONDS = 2.0
"""How much longer that can take on a busy machine, including writing what holds it up; then unsubscribing goes ahead
anyway."""
RENEW_SECONDS = 3600.0
"""How long a subscription can be silent before it is renewed. A message whose file signal-cli fetches at that moment is
lost: hardly anybody writes after such a silence, but every five minutes it could be one a month."""
_LOOK_SECONDS = 0.02
_MIN_LOOKS = 10
"""The fewest looks in that time: if they take longer, signal-cli can too."""
_TAKEN_SECONDS = 0.1
"""How long signal-cli has at least to read that it is to unsubscribe us."""

_MAX_TOGETHER = 100
"""How many frames are read before they are passed on, if that many are there."""

_LOOKS = 6
"""How many looks at the receive mode it takes to believe that it is not manual."""

_UNKNOWN_METHOD = -32601
_INVALID_PARAMETERS = -32602

_FRAME = re.compile(r'\{"jsonrpc":"2\.0","method":"receive","params":\{"subscription":\d+,"result":')
_FRAME_END = "}}"

NOT_MANUAL = (
    "SIGNAL__URL: signal-cli receives by itself there and loses what comes while Aldis is away; start its daemon with "
    "--receive-mode=manual"
)


class Subscription:
    """The messages of an account over the socket at `url`; `rpc` makes calls there over other connections.

    Without an account (empty) only `check` works.

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
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Unsubscribes: `frames` passes on what is still under way, and ends."""
        self._stopping.set()

    async def frames(self) -> AsyncGenerator[list[str | None]]:
        """Yields the frames of one connection, or of several if it is renewed, in lists of those that came together;
        None stands for one that was too long.

        Ends after `stop`.

        Raises:
            Disconnected: the connection cannot be opened, or broke.
            ConfigError: signal-cli does not have the account, or receives on its own.
        """
        try:
            while not self._stopping.is_set():
                async with aclosing(self._subscribed()) as coming:
                    async for frames in coming:
                        yield frames
                if not self._stopping.is_set() and (frames := await self._received()):
                    yield frames
        finally:
            self.is_open = False

    async def _subscribed(self) -> AsyncGenerator[list[str | None]]:
        """Yields the frames of one connection, until `stop` or until it is to be renewed. Raises as `frames`."""
        async with self._connected() as conversation:
            with _as_disconnected():
                async with asyncio.timeout(self._call_seconds):
                    await self._learn_mode(conversation)
                    if conversation.is_manual:
                        await conversation.subscribe()
            _log.log(logging.DEBUG if self.is_open else logging.INFO, "connected to signal-cli")
            self.is_open, self.heard_at = True, time.monotonic()
            tending = asyncio.create_task(self._tend(conversation), name="signal-cli")
            try:
                async for frames in self._coming(conversation):
                    yield frames
            finally:
                tending.cancel()
                await asyncio.gather(tending, return_exceptions=True)

    async def _received(self) -> list[str | None]:
        """Has signal-cli end a receiving of no message, and returns the frames that it gives nevertheless."""
        params = {**_whose(self.account), "maxMessages": 0, "timeout": 1}
        try:
            answer = await self._rpc.call("receive", params, timeout_seconds=self._call_seconds)
        except TransportError as error:  # somebody else receives, or it is gone: subscribing shows that
            _log.debug("signal-cli did not end its receiving: %s", error)
            return []
        return [json.dumps(frame) for frame in cast("list[object]", answer)] if isinstance(answer, list) else []

    @asynccontextmanager
    async def _connected(self) -> "AsyncGenerator[_Conversation]":
        with _as_disconnected():
            async with asyncio.timeout(self._connect_seconds):
                line_socket = await connect(self._url, is_frugal=True)
        async with line_socket:
            yield _Conversation(line_socket, self.account)

    async def check(self) -> None:
        """Checks that a subscription would succeed, without making one: nothing is fetched.

        Raises:
            Disconnected, ConfigError: as `frames`.
        """
        async with self._connected() as conversation:
            with _as_disconnected():
                async with asyncio.timeout(self._call_seconds):
                    await self._learn_mode(conversation)
        if not conversation.is_manual:
            raise ConfigError(NOT_MANUAL)

    async def _learn_mode(self, conversation: "_Conversation") -> None:
        """Finds out whether a connection that subscribes to nothing takes up the number of a subscription.

        signal-cli does not report its receive mode. But it numbers subscriptions one by one, including those to calls,
        for all connections together; and in the modes in which it receives on its own, every connection is subscribed
        when it opens. In any mode somebody else may be subscribing at the moment, so several looks are taken.
        """
        for look in range(_LOOKS):
            await asyncio.sleep(look * random.uniform(0, 0.1))  # noqa: S311 - out of step with somebody else's looks
            before = await conversation.next_number()
            await self._rpc.version(timeout_seconds=self._call_seconds)  # by a connection of its own
            after = await conversation.next_number()
            if before is None or after is None or after <= before + 1:
                return
        conversation.is_manual = False

    async def _coming(self, conversation: "_Conversation") -> AsyncGenerator[list[str | None]]:
        """Yields what arrives until the end; earlier frames are passed on first, whatever the mode."""
        while True:
            if frames := conversation.take_frames():
                conversation.frame_at = time.monotonic()
                yield frames
            if not conversation.is_manual:
                raise ConfigError(NOT_MANUAL)
            if conversation.is_at_end and not self._stopping.is_set():
                raise Disconnected("signal-cli closed the connection")
            if conversation.is_at_end or conversation.unsubscribed.is_set():
                return
            await conversation.flows.wait()
            try:
                with _as_disconnected():
                    async with asyncio.timeout(self._silence_seconds):
                        await conversation.hear()
                        # At the end all of it is read before any is passed on: the time for reading is short.
                        while conversation.is_ending:
                            await conversation.hear()
            except Disconnected:
                if not self._stopping.is_set():
                    raise
                conversation.is_at_end = True
            self.heard_at = time.monotonic()

    async def _tend(self, conversation: "_Conversation") -> None:
        """Asks for signs of life until it has to stop or to renew; then unsubscribes, at a good moment."""
        seconds = min(self._silence_seconds / 3, self._renew_seconds)
        with suppress(OSError):  # the reader notices by itself
            while not await is_set_within(self._stopping, seconds):
                if time.monotonic() - conversation.frame_at >= self._renew_seconds:
                    break
                await conversation.ask("version", {})
            await self._unsubscribe(conversation)

    async def _unsubscribe(self, conversation: "_Conversation") -> None:
        """Unsubscribes while signal-cli passes something on, and has nothing else in hand.

        It has to wait with that while its socket is full, so the socket is filled with an answer left unread for a
        moment.
        """
        began_at = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._hold_seconds + UNSUBSCRIBE_SECONDS):
                await conversation.hold()
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(began_at + self._hold_seconds + _BUSY_SECONDS):
                        await self._held_up(conversation)
                await conversation.unsubscribe()
                await asyncio.sleep(_TAKEN_SECONDS)
                with suppress(TransportError):
                    # If another call is answered, signal-cli has had its turn, even on a busy machine.
                    await self._rpc.version(timeout_seconds=UNSUBSCRIBE_SECONDS)
                conversation.release()
                await conversation.unsubscribed.wait()
        except TimeoutError:
            _log.warning("signal-cli did not unsubscribe Aldis in time; the messages it was delivering are lost")
            conversation.end()
        finally:
            conversation.flows.set()

    async def _held_up(self, conversation: "_Conversation") -> None:
        """Waits until nothing more has come for this long, and for this many looks."""
        unread_bytes, looks, since = 0, 0, time.monotonic()
        while unread_bytes == 0 or looks < _MIN_LOOKS or time.monotonic() - since < self._hold_seconds:
            await asyncio.sleep(_LOOK_SECONDS)
            before, unread_bytes = unread_bytes, conversation.unread_bytes()
            looks, since = (looks + 1, since) if unread_bytes == before else (0, time.monotonic())


class _Conversation:
    """The exchange over one connection: calls, their answers, and the frames between them."""

    def __init__(self, line_socket: LineSocket, account: str) -> None:
        self.is_manual = True
        """False as soon as signal-cli has passed on something without a subscription."""
        self.flows = asyncio.Event()
        """Cleared while nothing is to be read."""
        self.flows.set()
        self.unsubscribed = asyncio.Event()
        self.is_at_end = False
        """Whether the connection has ended."""
        self.frame_at = time.monotonic()
        """When the last frame came, or the connection began."""
        self._socket = line_socket
        self._account = account
        self._parser = LineParser()
        self._frames: list[str | None] = []
        self._answers: dict[int, Json | None] = {}
        """The answers that somebody waits for, by the id of the call; None until they come."""
        self._calls = 0
        self._own: int | None = None
        """The number of the subscription."""
        self._goodbye: int | None = None
        """The id of the call that unsubscribes."""

    @property
    def is_ending(self) -> bool:
        """Whether only what is under way is still wanted, and has not come yet."""
        return self._goodbye is not None and not (self.unsubscribed.is_set() or self.is_at_end)

    def take_frames(self) -> list[str | None]:
        """Returns the frames that have come since the last call."""
        frames, self._frames = self._frames, []
        return frames

    async def hear(self) -> None:
        """Waits for what comes next, and sorts it together with all that is there already."""
        chunk = await self._socket.read()
        self.is_at_end = not chunk
        while chunk:
            for line in self._parser.feed(chunk):
                self._sort(line)
            chunk = self._socket.read_rest() if len(self._frames) < _MAX_TOGETHER else b""

    async def ask(self, method: str, params: Mapping[str, object]) -> None:
        """Makes a call whose answer is only a sign of life."""
        self._calls += 1
        await self._socket.write({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})

    async def subscribe(self) -> None:
        """Has frames come.

        Raises:
            ConfigError: signal-cli does not have the account.
            Disconnected: it does not succeed.
        """
        self._own = await self._number("subscribeReceive")

    async def next_number(self) -> int | None:
        """Returns the number of the next subscription, found by one to calls; None if signal-cli does not know calls.

        Raises:
            ConfigError, Disconnected: as `subscribe`.
        """
        try:
            number = await self._number("subscribeCallEvents")
            await self._answer("unsubscribeCallEvents", self._given(number))
        except RpcError as error:
            if error.code == _UNKNOWN_METHOD:
                return None
            raise
        return number

    async def hold(self) -> None:
        """Stops reading, and has signal-cli write more than fits, so that it blocks while passing something on.

        A call is answered under the very id that it was given, however long.
        """
        self.flows.clear()
        await self._socket.write({"jsonrpc": "2.0", "id": "-" * self._socket.max_unread_bytes, "method": "version"})

    def release(self) -> None:
        """Reads again, and quickly: what held signal-cli up comes before the rest."""
        self._socket.take_more()
        self.flows.set()

    def unread_bytes(self) -> int:
        """Returns how many bytes were written to us and wait to be read.

        Raises:
            OSError: nothing more comes.
        """
        return self._socket.unread_bytes()

    async def unsubscribe(self) -> None:
        """Asks for no more frames; see `unsubscribed`."""
        self._goodbye = self._calls + 1
        await self.ask("unsubscribeReceive", self._given(self._own))

    def end(self) -> None:
        """Ends the connection at once."""
        self._socket.end()

    def _given(self, number: int | None) -> dict[str, object]:
        return {**_whose(self._account), "subscription": number}

    async def _number(self, method: str) -> int:
        """The number that a call gives to a subscription."""
        try:
            number = result_in(await self._answer(method, _whose(self._account)))
        except RpcError as error:
            if error.code == _INVALID_PARAMETERS:
                raise ConfigError(
                    f"SIGNAL__ACCOUNT: signal-cli does not know this account; link it with `{command_line('link')}`"
                ) from error
            raise
        if not isinstance(number, int):
            raise Disconnected("signal-cli gave no number for the subscription")
        return number

    async def _answer(self, method: str, params: Mapping[str, object]) -> Json:
        """The answer to a call; frames can come before it."""
        await self.ask(method, params)
        number = self._calls
        self._answers[number] = None
        while (answer := self._answers[number]) is None:
            if self.is_at_end:
                raise Disconnected("signal-cli closed the connection")
            await self.hear()
        del self._answers[number]
        return answer

    def _sort(self, line: str | None) -> None:
        """Sorts a line: a frame, an answer, or neither; anything but signal-cli's JSON is passed on like a frame, to be
        counted.
        """
        if line is None:
            self._frames.append(None)
            return
        # Returns the frame as it was written, and fast: speed matters when there is a backlog.
        if (found := _FRAME.match(line)) and line.endswith(_FRAME_END):
            self._frames.append(line[found.end() : -len(_FRAME_END)])
            return
        said = parse_response(line)
        if said.get("method") == "receive":
            self._take(object_in(said, "params"))
        elif "id" in said:
            self._hear_answer(said["id"], said)
        elif "method" not in said:
            self._frames.append(line)

    def _take(self, params: Json) -> None:
        """Takes what is received; without the number of a subscription it was not asked for."""
        self.is_manual = self.is_manual and "subscription" in params
        self._frames.append(json.dumps(params.get("result") if "subscription" in params else params))

    def _hear_answer(self, number: object, answer: Json) -> None:
        if isinstance(number, int) and number == self._goodbye:
            self.unsubscribed.set()
        elif isinstance(number, int) and number in self._answers:
            self._answers[number] = answer


def _whose(account: str) -> dict[str, object]:
    """The account as a call names it."""
    return {"account": account} if account else {}


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
