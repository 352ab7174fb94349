"""The websocket over which signal-cli-rest-api hands on what comes: how it is opened, and read to its end."""

import time
from collections.abc import AsyncIterator

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedOK, WebSocketException

from bot.errors import Disconnected

_PINGS_IN_SILENCE = 20
"""How many pings are sent in the time after which a websocket is given up that answers none: a bridge that was away
without a word is noticed with the next."""
MAX_FRAME_BYTES = 4 * 1024 * 1024
MAX_FRAMES_AHEAD = 1024
"""How many frames are taken off the socket before they are asked for: what stays there too long the bridge drops."""


class Connection(ClientConnection):
    """A websocket that remembers its last sign of life: a frame, a ping or a pong."""

    heard_at: float | None = None

    def data_received(self, data: bytes) -> None:
        """Something came."""
        self.heard_at = time.monotonic()
        super().data_received(data)


async def open_websocket(uri: str, *, open_seconds: float, silence_seconds: float) -> Connection:
    """An open websocket; one that answers no pings for so many seconds breaks.

    Raises what the library and the system do: see `as_disconnected`.
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
    """The frames until the bridge closes in good order. Pings see to it that the wait for one is bounded."""
    while True:
        try:
            raw = await websocket.recv(decode=False)
        except ConnectionClosedOK:
            return
        except WebSocketException as error:
            raise Disconnected(f"the websocket broke: {type(error).__name__}") from error
        yield raw.decode("utf-8", "replace")
