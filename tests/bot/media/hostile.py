"""A module that a file has taken over: it says what it likes. Run in a cell as any other; see `tests.cells`."""

import os
from collections.abc import Sequence
from contextlib import suppress

from bot.media.cell import Facts

DESCRIPTORS = range(3, 256)
memory = list[bytes]()
"""What earlier files have left in it."""


def preload() -> None:
    pass


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    match arguments:
        case ["endless"]:
            while True:
                say(b"x" * 65_536)
        case ["too much"]:
            say(b'[{"ok": true}, 17000000]\n' + bytes(17_000_000))
            os._exit(0)
        case ["bloats"]:
            say(b'[{"ok": [' + b"[]," * 5_000_000 + b"[]]}, 0]\n")
            os._exit(0)
        case ["dies"]:
            say(b'[{"ok": true}, 9]\nhalf')
            os._exit(0)
        case ["hangs"]:
            while True:
                pass
        case ["goes on"]:
            say(b'[{"ok": true}, 0]\n')
            os.closerange(3, 256)
            while True:
                pass
        case ["remembers"]:
            memory.append(data)
            return {"seen": len(memory)}, b"".join(memory)
        case [words]:
            say(words.encode())
            os._exit(0)
        case _:
            raise ValueError("nothing was asked")


def say(words: bytes) -> None:
    for descriptor in DESCRIPTORS:
        with suppress(OSError):
            while words:
                words = words[os.write(descriptor, words) :]
