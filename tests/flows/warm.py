"""Processes that need not import anything any more: `python -m tests.flows.warm FD` forks one whenever it is told to.

To import Aldis and a vendor's SDK takes seconds of CPU, and the flows start hundreds of processes. What is forked has
one thread, no event loop and nothing open; from there on it is `python -m MODULE ...` in its own folder and
environment. Flows about the start itself start as an operator does it (`is_warm=False` in `tests.flows.processes`).

An order comes over the socket FD: a line of JSON with three descriptors, which are standard output and error, and where
the process id and then the exit status are written, each on a line. There is nothing on standard input.
"""

import ctypes
import gc
import json
import os
import random
import runpy
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import bot.cli.chat
import bot.cli.look
import bot.cli.main
import bot.cli.run
import bot.cli.settings
import bot.cli.store
import bot.models.anthropic
import bot.models.offline
import bot.models.openai
import bot.signal.rest_api.transport
import bot.signal.signal_cli.transport
import bot.terminal.transport  # noqa: F401 - all are imported here so that no process has to

_DIES_WITH_PARENT = 1
"""Source: PR_SET_PDEATHSIG of Linux, prctl(2) (2026)."""

_CRASHED = 70
_MAX_BYTES = 1_000_000
_DESCRIPTORS = 3


def serve(orders: socket.socket) -> None:
    """One process after the other, until nobody is there to order any."""
    die_with_parent()
    while True:
        data, descriptors, _, _ = socket.recv_fds(orders, _MAX_BYTES, _DESCRIPTORS)
        if not data:
            return
        if os.fork() == 0:
            orders.close()
            _keep(json.loads(data), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _keep(order: dict[str, Any], descriptors: Sequence[int]) -> None:
    """Begin the process, tell its id, and its status when it has ended."""
    die_with_parent()
    *streams, told = descriptors
    process_id = os.fork()
    if process_id == 0:
        os.close(told)
        _be(order, streams)
    for stream in streams:
        os.close(stream)
    os.write(told, f"{process_id}\n".encode())
    _, status = os.waitpid(process_id, 0)
    with suppress(BrokenPipeError):
        os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _be(order: dict[str, Any], streams: Sequence[int]) -> None:
    """Be the module, and leave without anything of this one's being done twice."""
    die_with_parent()
    status: object = _CRASHED
    try:
        os.environ.clear()
        os.environ.update(order["environment"])
        os.chdir(order["folder"])
        for place, stream in enumerate(streams, 1):
            os.dup2(stream, place)
            os.close(stream)
        random.seed()  # or all would draw the same lots
        sys.path[:1] = [order["folder"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        sys.argv = [order["module"], *order["arguments"]]
        runpy.run_module(order["module"], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as leaving:
        status = 0 if leaving.code is None else leaving.code
    except BaseException as error:  # noqa: BLE001 - as the interpreter does at its end
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 1)


def die_with_parent() -> None:
    """Tests that are killed must not leave a process behind; only Linux has this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


if __name__ == "__main__":
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
