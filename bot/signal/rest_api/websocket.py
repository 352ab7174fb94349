"""The websocket over which signal-cli-rest-api delivers what arrives: opening it, and reading it to its end."""

import time
from collections.abc import AsyncIterator

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedOK, WebSocketException

from bot.errors import Disconnected

_PINGS_IN_SILENCE = 20
"""How many pings are sent in the time after which an unresponsive websocket is given up, so that a bridge that was gone
without a word is noticed with the next one."""
MAX_FRAME_BYTES = 4 * 1024 * 1024
MAX_FRAMES_AHEAD = 1024
"""How many frames are taken off the socket before they are asked for: the bridge drops what stays there too long."""


class Connection(ClientConnection):
    """A websocket that remembers its last sign of life: a frame, a ping or a pong."""

    heard_at: float | None = None

    def data_received(self, data: bytes) -> None:
        """Notes the time of whatever arrives."""
        self.heard_at = time.monotonic()
        super().data_received(data)


async def open_websocket(uri: str, *, open_seconds: float, silence_seconds: float) -> Connection:
    """Returns an open websocket, which breaks if it answers no pings for `silence_seconds`.

    Raises the exceptions of the library and the system: see `as_disconnected`.
    """
    websocket = await connect(
        uri,
        open_timeout=open_seconds,
        ping_interval=silence_seconds / _PINGS_IN_SILENCE,
        ping_timeout=silence_seconds,
        close_timeout=1,
        max_size=MAX_FRAME_BYTES,
        max_queue=MAX_FRAMES_AHEAD,
        proxy=None,
        create_connection=Connection,
    )
    assert isinstance(websocket, Connection)  # noqa: S101  (tells the type checker what was asked for)
    return websocket


async def frames_of(websocket: Connection) -> AsyncIterator[str]:
    """Yields the frames until the bridge closes in order. Pings bound the wait for each."""
    while True:
        try:
            raw = await websocket.recv(decode=False)
        except ConnectionClosedOK:
            return
        except WebSocketException as error:
            raise Disconnected(f"the websocket broke: {type(error).__name__}") from error
        yield raw.decode("utf-8", "replace")
