"""A cell: a process that opens one file of a stranger, and then exits; and what runs in it from its first call on.

    Aldis --channel: the file--> a cell: confined; reads, answers, exits --channel: facts and bytes--> Aldis
                                   '-- forked by multiprocessing's forkserver, which has loaded the libraries

A file can be crafted to crash, stall or bloat whatever opens it, or to take it over. So a cell's memory holds nothing
of Aldis, no key, no other message and no environment, and a cell can neither open nor reach anything
(`bot.media.confinement`). The answers of cells are treated as data from the stranger.

Each module that opens files has two functions, and is imported only by cells and their server:

    preload()                      loads everything that its library would load later, when no file can be opened
    serve(data, arguments)         returns the content of the file: facts, and bytes

A cell can also become a program, which then answers in its place.
"""

import encodings
import gc
import importlib
import json
import os
import pkgutil
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from multiprocessing import spawn
from types import ModuleType
from typing import Any, NoReturn

from bot.media import confinement
from tools import BadArguments

Facts = Mapping[str, Any]
"""Values that JSON knows."""

LEVEL = "level"
"""Used in place of a module name to ask which layers confine a cell."""

PROGRAM = "program"
"""The same for a cell that is to become a program; the arguments are how that is called, first its path."""

_MAX_DESCRIPTORS = 256
_FIRST_DESCRIPTOR = 3  # the standard ones below it lead nowhere
_PIECE_BYTES = 1 << 20
_serving = dict[str, Callable[[bytes, Sequence[str]], tuple[Facts, bytes]]]()
"""What opens files, by the name of its module."""


class FileRefused(BadArguments):
    """The file cannot be opened; the message completes "which cannot be opened: ..." for the model."""


def load_all(package: ModuleType) -> None:
    """Loads every module of a package, except those that lack a library; for `preload`."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        with suppress(ImportError):
            importlib.import_module(module.name)


def prepare(modules: Sequence[ModuleType]) -> None:
    """Has these modules load everything, in the server: whatever is missing in a cell cannot be loaded there."""
    for module in modules:
        module.preload()
        _serving[module.__name__] = module.serve
    # Or multiprocessing would run the program in each cell; its own option for that has no effect up to Python 3.13
    # (https://github.com/python/cpython/issues/126631).
    for name in ("_fixup_main_from_name", "_fixup_main_from_path"):
        setattr(spawn, name, str)
    load_all(encodings)  # a file names its own encoding
    time.tzset()
    confinement.refuse_dumps()
    gc.collect()
    gc.freeze()


def run(channel: socket.socket, name: str, arguments: Sequence[str]) -> NoReturn:
    """Becomes a cell, and answers about the channel's file: a line of JSON (facts, size), then the bytes."""
    try:
        # It gives up everything but the channel, its environment and the standard descriptors included.
        descriptor = channel.fileno()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(_FIRST_DESCRIPTOR):
            os.dup2(nowhere, standard)
        os.closerange(_FIRST_DESCRIPTOR, descriptor)
        os.closerange(descriptor + 1, _MAX_DESCRIPTORS)
        os.environ.clear()
        os.chdir("/")
        parent = os.getppid()
        program = os.open(arguments[0], os.O_RDONLY) if name == PROGRAM else None
        if program is not None:  # it reads a file in memory: what stands in its arguments, other users could read
            for standard, given in enumerate((os.memfd_create("text"), descriptor, descriptor)):
                os.dup2(given, standard)
        confinement.become_nobody()
        confinement.end_with_parent(parent)  # behind the change of user, which would undo it
        level = confinement.confine(program)
        # A missing module fails at once, instead of being searched in folders that cannot be opened.
        sys.meta_path.clear()
        sys.path_importer_cache.clear()
        data = b"".join(iter(lambda: os.read(descriptor, _PIECE_BYTES), b""))
        if program is not None:
            os.write(0, data)
            os.execve(program, list(arguments), {})  # noqa: S606  (no shell is wanted)
        try:
            is_level = name == LEVEL and bool(_serving)
            facts, answer = (asdict(level), b"") if is_level else _serving[name](data, arguments)
        except FileRefused as refusal:
            facts, answer = {"refused": str(refusal)}, b""
        left = memoryview(json.dumps([facts, len(answer)]).encode() + b"\n" + answer)
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os._exit(0)
