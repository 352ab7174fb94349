"""The zygote: a process that has loaded what opens strangers' files, and forks a cell for each of them.

    Aldis --two descriptors for each file--> the zygote --fork--> a cell: confined; reads, answers, exits
                 |                                  '--its exit status, when it has ended-.
                 |-- channel: question and file in, answer out (with the cell alone)      |
                 '-- leash: when Aldis lets go of it, the cell is killed  <---------------'

The libraries are loaded once, so that a file costs a fork and not the start of a Python. The zygote itself reads
nothing of any file: what a file does to the memory of its cell ends with it, and no word of one person's file can reach
another's. Once it has loaded everything it opens no more files, and it ends when Aldis does.

Left to others: Aldis's side (`bot.media.sandbox`), what is denied (`bot.media.confinement`), the files.
"""

import encodings
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType, ModuleType

from bot.media import confinement
from bot.media.cell import Facts, FileRefused, load_all
from bot.media.confinement import Level

LEVEL = "level"
"""Used in place of a module name to ask which layers confine a cell."""

_MAX_DESCRIPTORS = 256
"""More than the zygote ever has: its control, and a leash for each cell."""
_FIRST_DESCRIPTOR = 3  # the standard ones below it lead nowhere
_PIECE_BYTES = 1 << 20


class _Zygote:
    def __init__(self, control: socket.socket, modules: dict[str, ModuleType], level: Level) -> None:
        self._control = control
        self._modules = modules
        self._level = level
        self._pid = os.getpid()
        self._poll = select.poll()
        self._leashes: dict[int, socket.socket] = {}
        """By the id of their cell."""
        self._wake, woken = socket.socketpair()
        self._wake.settimeout(0)
        woken.settimeout(0)
        self._woken = woken
        signal.signal(signal.SIGCHLD, _on_end)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Forks cells until Aldis closes the control."""
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._wake.fileno():
                    self._reap()
                elif descriptor != self._control.fileno():
                    self._kill(descriptor)
                elif not self._take():
                    return

    def kill_all(self) -> None:
        """Ends every cell; for systems where they do not end with their parent."""
        for pid in self._leashes:
            os.kill(pid, signal.SIGKILL)

    def _take(self) -> bool:
        """Takes one file; False if there will be no more."""
        sign, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
        if not sign:
            return False
        channel, leash = descriptors
        try:
            pid = os.fork()
        except OSError:  # no room; Aldis notices that nobody holds the other ends
            os.close(channel)
            os.close(leash)
            return True
        if pid == 0:
            self._become_cell(channel)
        os.close(channel)
        self._leashes[pid] = socket.socket(fileno=leash)
        self._poll.register(leash, select.POLLIN)
        return True

    def _kill(self, leash: int) -> None:
        for pid, held in self._leashes.items():
            if held.fileno() == leash:
                self._poll.unregister(leash)
                os.kill(pid, signal.SIGKILL)  # it is not reaped yet, so the id is still its own

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            self._wake.recv(_PIECE_BYTES)
        while self._leashes:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            leash = self._leashes.pop(pid)
            with suppress(KeyError):  # already unregistered when it was killed
                self._poll.unregister(leash)
            with suppress(OSError):  # the other end is gone
                leash.send(b"%d" % os.waitstatus_to_exitcode(status))
            leash.close()

    def _become_cell(self, channel: int) -> None:
        """Becomes the cell; never returns."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.closerange(_FIRST_DESCRIPTOR, channel)
            os.closerange(channel + 1, _MAX_DESCRIPTORS)
            confinement.end_with_parent(self._pid)
            confinement.confine(self._level)
            head, _, data = _received(channel).partition(b"\n")
            facts, answer = self._answer(json.loads(head), data)
            _send(channel, json.dumps(facts).encode() + b"\n" + answer)
            os._exit(0)
        finally:
            os._exit(1)  # the reason is not reported: the file could have made it up

    def _answer(self, head: Sequence[str], data: bytes) -> tuple[Facts, bytes]:
        name, *arguments = head
        if name == LEVEL:
            return {"landlock": self._level.landlock, "seccomp": self._level.seccomp}, b""
        try:
            return self._modules[name].serve(data, arguments)
        except FileRefused as refusal:
            return {"refused": str(refusal)}, b""


def _on_end(_signal: int, _frame: FrameType | None) -> None:
    """Does nothing: the signal itself wakes the zygote when a cell has ended."""


def _received(channel: int) -> bytes:
    pieces = list[bytes]()
    while piece := os.read(channel, _PIECE_BYTES):
        pieces.append(piece)
    return b"".join(pieces)


def _send(channel: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(channel, left) :]


def _loaded(names: Sequence[str]) -> dict[str, ModuleType]:
    """The modules, with everything that they would load later; nothing can be imported after that."""
    modules = {name: importlib.import_module(name) for name in names}
    for module in modules.values():
        module.preload()
    load_all(encodings)  # a file names its own encoding
    importlib.import_module("array")  # `socket.recv_fds` would do so when it is first called
    time.tzset()
    # A missing module fails at once, instead of being searched in folders that cannot be opened.
    sys.meta_path.clear()
    sys.path_importer_cache.clear()
    return modules


def main(names: Sequence[str]) -> None:
    """Forks cells whose files the modules of these names open; the control is standard input."""
    parent = os.getppid()
    control = socket.socket(fileno=os.dup(0))
    os.environ.clear()
    try:
        modules = _loaded(names)
    except ImportError as error:
        sys.exit(f"aldis: no file or page can be opened: {error}; install Aldis's packages again")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(_FIRST_DESCRIPTOR):  # standard error too: no stranger's file has been read so far
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_DESCRIPTORS, _MAX_DESCRIPTORS))
    confinement.go_first()
    confinement.become_nobody()
    confinement.refuse_dumps()
    level = confinement.close_files()
    confinement.end_with_parent(parent)  # a change of user would have undone it
    gc.collect()
    gc.freeze()
    zygote = _Zygote(control, modules, level)
    try:
        zygote.run()
    finally:
        zygote.kill_all()


if __name__ == "__main__":
    main(sys.argv[1:])
