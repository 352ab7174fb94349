"""Ports for what must know its number before it listens, so that nobody takes one in between."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import cycle, islice

_FIRST, _LAST = 20_000, 32_000
"""Below what kernels give to connections and to listeners that ask for any port (Linux: 32,768 and up)."""
_BLOCK = 100
"""How many ports a process has for itself; it keeps them from others by holding the first."""


def free_port() -> int:
    """A port on loopback on which nobody listens, and which no other test is given soon."""
    return next(port for port in islice(_own_block(), _BLOCK) if _bound(port, keep=False))


@cache
def _own_block() -> Iterator[int]:
    first = next(port for port in range(_FIRST, _LAST, _BLOCK) if _bound(port, keep=True))
    return cycle(range(first + 1, first + _BLOCK))


def _bound(port: int, *, keep: bool) -> bool:
    """Whether nobody has this port; `keep` holds it until this process ends."""
    with suppress(OSError), socket.socket() as found:
        found.bind(("127.0.0.1", port))
        if keep:
            found.detach()  # without an owner, nothing closes it
        return True
    return False
