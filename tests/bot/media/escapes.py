# ruff: noqa: PTH108, PTH116, PTH208
"""A file that has taken its cell over, and tries to get out: each way by which data leave or come in. Run in a cell.

Each way ends in the number of an error, or in 0: that one was open. `tests/bot/media/test_confinement.py` reads the
filter for every other call.
"""

import ctypes
import errno
import mmap
import os
import platform
import resource
import signal
import socket
import struct
import threading
from collections.abc import Callable, Sequence

from bot.media.cell import Facts

CLONE, CLONE3 = 56 if platform.machine() == "x86_64" else 220, 435


def preload() -> None:
    pass


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    """`arguments`: what the machine keeps from it, and Aldis's process id."""
    database, key, bridge, aldis, scratch = arguments
    ways = {
        "read the database": lambda: opening(database),
        "read the key file": lambda: opening(key),
        "read the environment of Aldis": lambda: opening(f"/proc/{aldis}/environ"),
        "list its own descriptors": lambda: os.listdir("/proc/self/fd"),
        "list a folder": lambda: os.listdir("/"),
        "look at a file": lambda: os.stat(database),
        "write a file": lambda: opening(scratch, os.O_WRONLY | os.O_CREAT),
        "delete a file": lambda: os.unlink(database),
        "open a socket of the internet": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "open a socket of the machine": lambda: socket.socket(socket.AF_UNIX),
        "open a pair of sockets": socket.socketpair,
        "connect to the bridge": lambda: reaching(bridge),
        "reach the bridge with what it has": lambda: reaching_with_own(bridge),
        "run a program": lambda: os.execv("/bin/sh", ["sh", "-c", "exit 3"]),
        "fork": forking,
        "begin a thread": lambda: threading.Thread(target=int).start(),
        "begin a process by clone": lambda: cloning(CLONE, signal.SIGCHLD, 0, 0, 0, 0),
        "begin a process by clone3": lambda: cloning(
            CLONE3, struct.pack("=11Q", *[0] * 4, signal.SIGCHLD, *[0] * 6), 88
        ),
        "kill Aldis": lambda: os.kill(int(aldis), signal.SIGTERM),
        "kill the server of cells": lambda: os.kill(os.getppid(), signal.SIGKILL),
        "have code in memory": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC).close(),
        "make memory code": making_code,
        "get a further descriptor": lambda: os.dup(0),
        "open a pipe": os.pipe,
        "raise a limit": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)),
        "have another descriptor": having_another,
    }
    found = {name: outcome(way) for name, way in ways.items()}
    return {"ways": found, "environment": dict(os.environ), "descriptors": descriptors()}, b""


def outcome(way: Callable[[], object]) -> int:
    try:
        given = way()
    except OSError as error:
        return error.errno or -1
    except RuntimeError:  # "can't start new thread"
        return errno.EAGAIN
    except ValueError:  # "not allowed to raise maximum limit"
        return errno.EPERM
    return given if isinstance(given, int) and given > 0 else 0


def opening(path: str, how: int = os.O_RDONLY) -> None:
    os.close(os.open(path, how))


def reaching(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as way:
        way.connect(path)


def reaching_with_own(path: str) -> None:
    """The channel is a socket already: another end for it would do."""
    own = socket.socket(fileno=descriptors()[-1])
    try:
        own.connect(path)
    finally:
        own.detach()


def having_another() -> None:
    """The server's sockets or the channel of another cell would be a descriptor of its own."""
    held = [descriptor for descriptor in descriptors() if descriptor > 2]
    if len(held) == 1:
        raise OSError(errno.EBADF, "only the channel")


def descriptors() -> list[int]:
    held = list[int]()
    for descriptor in range(256):
        try:
            os.lseek(descriptor, 0, os.SEEK_CUR)
        except OSError as error:
            if error.errno == errno.EBADF:
                continue
        held.append(descriptor)
    return held


def forking() -> None:
    if os.fork() == 0:
        os._exit(0)


def making_code() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with mmap.mmap(-1, 4096) as area:
        view = ctypes.c_char.from_buffer(area)
        result = libc.mprotect(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(4096), 7)
        del view
    if result:
        raise OSError(ctypes.get_errno(), "mprotect")


def cloning(number: int, *arguments: int | bytes) -> None:
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *given)
    if result == 0:
        os._exit(0)  # the child of a clone that was not refused
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
