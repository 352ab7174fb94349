"""What signal-cli receives, over a socket of its daemon: subscribed to when it is wanted, unsubscribed from in order.

    connect . is the receive mode manual? . subscribeReceive --> frames --> unsubscribeReceive . its answer . close

signal-cli fetches from Signal's server only while somebody is subscribed, and unsubscribes whoever is gone at once;
what comes meanwhile stays with Signal's server. What it has written and nobody has read is lost when Aldis is killed:
so all that is there is handed on together, and little is taken at a time. The answer to `unsubscribeReceive` comes
after the last frame, so an orderly end loses nothing of what was written.

One message can still get lost at any end: the one that signal-cli has in hand, fetched and acknowledged, and not handed
on yet. It has in hand one at a time, so an orderly end holds it up in the very step in which it hands one on, and
unsubscribes then. With ten messages a second coming in, one of four ends lost one without that, and none of 150 with it
(measured with signal-cli 0.13.14).

The connection carries nothing but this: a call that is under way on it would put off that its end is noticed.
Left to others: what frames mean (`bot.transports.envelope.frames`), when to subscribe again (intake), calls (`rpc`).

Source: signal-cli 0.14.6, `SignalJsonRpcDispatcherHandler`, `JsonRpcReader` and `ManagerImpl` (2026-11-22).
"""

import asyncio
import json
import logging
import random
import re
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress

from bot.clock import is_set_within
from bot.errors import ConfigError, Disconnected, TransportError
from bot.invocation import command_line
from bot.transports.envelope.json import Json, object_in
from bot.transports.signal_cli.lines import LineParser, LineSocket, connect
from bot.transports.signal_cli.rpc import Rpc, parse_response, reason_of, result_in
from bot.transports.signal_cli.send_results import RpcError

_log = logging.getLogger(__name__)

UNSUBSCRIBE_SECONDS = 5.0
"""How long unsubscribing may take after that: signal-cli finishes what it has in hand, also the fetching of a file."""

HOLD_SECONDS = 1.0
"""How long a message that is in hand has the time to come to where it is handed on, and is held up."""
_BUSY_SECONDS = 2.0
"""How much longer that may take on a busy machine, writing what holds it up included; then it is unsubscribed all the
same."""
_LOOK_SECONDS = 0.02
_MIN_LOOKS = 10
"""How many looks there are at least in that time: where they take longer, signal-cli may, too."""
_TAKEN_SECONDS = 0.1
"""How long signal-cli has at least to read that it is to unsubscribe us."""

_LOOKS = 6
"""How often the receive mode is looked at until it is believed that it is not manual."""

_UNKNOWN_METHOD = -32601
_INVALID_PARAMETERS = -32602

_FRAME = re.compile(r'\{"jsonrpc":"2\.0","method":"receive","params":\{"subscription":\d+,"result":')
_FRAME_END = "}}"

NOT_MANUAL = (
    "SIGNAL__URL: signal-cli receives by itself there and loses what comes while Aldis is away; start its daemon with "
    "--receive-mode=manual"
)


class Subscription:
    """The messages of an account over the socket at `url`; `rpc` makes calls there by other connections.

    Without an account (empty) there is only `check`.

    Deadlines in seconds: `call` for subscribing, `silence` for a connection over which nothing comes, although
    signal-cli is asked for a sign of life three times within it.
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
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Unsubscribe: `frames` hands on what is still under way, and ends."""
        self._stopping.set()

    async def frames(self) -> AsyncGenerator[list[str | None]]:
        """The frames of one connection, those together that have come together; None is one that was too long.

        Ends after `stop`.

        Raises:
            Disconnected: the connection cannot be opened or broke.
            ConfigError: signal-cli does not have the account, or receives by itself.
        """
        if self._stopping.is_set():
            return
        async with self._connected() as conversation:
            try:
                with _as_disconnected():
                    async with asyncio.timeout(self._call_seconds):
                        await self._learn_mode(conversation)
                        if conversation.is_manual:
                            await conversation.subscribe()
                _log.info("connected to signal-cli")
                self.is_open, self.heard_at = True, time.monotonic()
                tending = asyncio.create_task(self._tend(conversation), name="signal-cli")
                try:
                    async for frames in self._coming(conversation):
                        yield frames
                finally:
                    tending.cancel()
                    await asyncio.gather(tending, return_exceptions=True)
            finally:
                self.is_open = False

    @asynccontextmanager
    async def _connected(self) -> "AsyncGenerator[_Conversation]":
        with _as_disconnected():
            async with asyncio.timeout(self._connect_seconds):
                line_socket = await connect(self._url, is_frugal=True)
        async with line_socket:
            yield _Conversation(line_socket, self.account)

    async def check(self) -> None:
        """See that a subscription would succeed, without one: nothing is fetched.

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
        """See whether a connection that subscribes to nothing takes the number of a subscription.

        signal-cli does not tell its receive mode. But it numbers subscriptions one by one, those to calls among them,
        for all connections together; and in the modes in which it receives by itself every connection is subscribed
        when it opens. Somebody else may subscribe just now in any mode, so it is looked at several times.
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
        """What comes until the end; what has come before is handed on first, whatever the mode."""
        while True:
            if frames := conversation.take_frames():
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
                        # At the end all of it is read before any is handed on: the time for reading is short.
                        while conversation.is_ending:
                            await conversation.hear()
            except Disconnected:
                if not self._stopping.is_set():
                    raise
                conversation.is_at_end = True
            self.heard_at = time.monotonic()

    async def _tend(self, conversation: "_Conversation") -> None:
        """Ask for signs of life until it is to stop; then unsubscribe, at a good moment."""
        with suppress(OSError):  # whoever reads finds out by itself
            while not await is_set_within(self._stopping, self._silence_seconds / 3):
                await conversation.ask("version", {})
            await self._unsubscribe(conversation)

    async def _unsubscribe(self, conversation: "_Conversation") -> None:
        """Unsubscribe while signal-cli hands something on, and has nothing else in hand.

        It has to wait with that while its socket is full, and fills it with an answer that nobody reads for a moment.
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
                    # Another call is answered: signal-cli has had its turn, on a busy machine, too.
                    await self._rpc.version(timeout_seconds=UNSUBSCRIBE_SECONDS)
                conversation.release()
                await conversation.unsubscribed.wait()
        except TimeoutError:
            _log.warning("signal-cli did not unsubscribe Aldis in time; what it has in hand is lost")
            conversation.end()
        finally:
            conversation.flows.set()

    async def _held_up(self, conversation: "_Conversation") -> None:
        """Wait until no more has come for so long, and for so many looks."""
        unread_bytes, looks, since = 0, 0, time.monotonic()
        while unread_bytes == 0 or looks < _MIN_LOOKS or time.monotonic() - since < self._hold_seconds:
            await asyncio.sleep(_LOOK_SECONDS)
            before, unread_bytes = unread_bytes, conversation.unread_bytes()
            looks, since = (looks + 1, since) if unread_bytes == before else (0, time.monotonic())

    async def aclose(self) -> None:
        """Nothing is open beside `frames`."""


class _Conversation:
    """What is said over one connection: calls, their answers, and the frames between them."""

    def __init__(self, line_socket: LineSocket, account: str) -> None:
        self.is_manual = True
        """False as soon as signal-cli has handed on something that was not subscribed to."""
        self.flows = asyncio.Event()
        """Not set while nothing is to be read."""
        self.flows.set()
        self.unsubscribed = asyncio.Event()
        self.is_at_end = False
        """Whether the connection has ended."""
        self._socket = line_socket
        self._account = account
        self._parser = LineParser()
        self._frames: list[str | None] = []
        self._answers: dict[int, Json | None] = {}
        """Those that somebody waits for, by the id of the call; None until they come."""
        self._calls = 0
        self._own: int | None = None
        """The number of the subscription."""
        self._goodbye: int | None = None
        """The id of the call that unsubscribes."""

    @property
    def is_ending(self) -> bool:
        """Whether nothing more is asked for than what is under way, and that has not come."""
        return self._goodbye is not None and not (self.unsubscribed.is_set() or self.is_at_end)

    def take_frames(self) -> list[str | None]:
        """The frames that have come since this was asked last."""
        frames, self._frames = self._frames, []
        return frames

    async def hear(self) -> None:
        """Wait for what comes next, and sort it."""
        chunk = await self._socket.read()
        self.is_at_end = not chunk
        for line in self._parser.feed(chunk):
            self._sort(line)

    async def ask(self, method: str, params: Mapping[str, object]) -> None:
        """Make a call whose answer is a sign of life, and nothing more."""
        self._calls += 1
        await self._socket.write({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})

    async def subscribe(self) -> None:
        """Let frames come.

        Raises:
            ConfigError: signal-cli does not have the account.
            Disconnected: it does not succeed.
        """
        self._own = await self._number("subscribeReceive")

    async def next_number(self) -> int | None:
        """The number that the next subscription gets, seen by one to calls; None where signal-cli knows no calls.

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
        """Stop reading, and have signal-cli write more than fits: what it hands on then waits in the handing on.

        A call is answered under the very name that it was given.
        """
        self.flows.clear()
        await self._socket.write({"jsonrpc": "2.0", "id": "-" * self._socket.max_unread_bytes, "method": "version"})

    def release(self) -> None:
        """Read again, and quickly: what held signal-cli up comes before the rest."""
        self._socket.take_more()
        self.flows.set()

    def unread_bytes(self) -> int:
        """How much was written to us and waits to be read.

        Raises:
            OSError: nothing more comes.
        """
        return self._socket.unread_bytes()

    async def unsubscribe(self) -> None:
        """Ask that no more frames come; see `unsubscribed`."""
        self._goodbye = self._calls + 1
        await self.ask("unsubscribeReceive", self._given(self._own))

    def end(self) -> None:
        """End the connection at once."""
        self._socket.end()

    def _given(self, number: int | None) -> dict[str, object]:
        return {**self._whose, "subscription": number}

    @property
    def _whose(self) -> dict[str, object]:
        """The account as a call names it."""
        return {"account": self._account} if self._account else {}

    async def _number(self, method: str) -> int:
        """The number that a call gives to a subscription."""
        try:
            number = result_in(await self._answer(method, self._whose))
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
        """The answer to a call; frames may come before it."""
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
        """A frame, an answer, or neither: what is no JSON of signal-cli's is handed on like a frame, to be counted."""
        if line is None:
            self._frames.append(None)
            return
        # The frame as it was written, and quickly: only a backlog makes haste necessary.
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
        """What is received; without the number of a subscription it was not asked for."""
        self.is_manual = self.is_manual and "subscription" in params
        self._frames.append(json.dumps(params.get("result") if "subscription" in params else params))

    def _hear_answer(self, number: object, answer: Json) -> None:
        if isinstance(number, int) and number == self._goodbye:
            self.unsubscribed.set()
        elif isinstance(number, int) and number in self._answers:
            self._answers[number] = answer


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
