"""What a process is denied in which files of strangers are opened; each layer holds where the others are missing.

    Landlock     opens no file, connects to nothing, signals nobody outside       Linux 5.13, more of it from 6.7 on
    seccomp      no call of the system but a few harmless ones                    Linux 3.5; x86-64 and aarch64
    limits       no further descriptor, no process, bounded memory and time       everywhere
    the rest     no core dump, not to be traced, no new rights, another user where Aldis is root

Small libraries for the first two stand on libseccomp or a helper process of their own, or want a newer kernel than many
have (pyseccomp, sandlock, py-landlock; 2026-11), and the whole of what is needed of them is below.

Left to others: which calls of the system are left (`bot.media.syscall_filter`), when (`bot.media.zygote`).

Source: landlock(7), seccomp(2), prctl(2), and `linux/landlock.h` up to version 7 of its interface (2026-11).
"""

import ctypes
import errno
import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.media.syscall_filter import architecture, program

MAX_MEMORY_BYTES = 1_500_000_000
"""Of address space, of which a good part is libraries: a picture of the largest size takes a third of it."""

MAX_CPU_SECONDS = 60
"""For when nobody is left who would end it."""

_LIMITS = (
    (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
    (resource.RLIMIT_CPU, MAX_CPU_SECONDS),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_NPROC, 0),
    (resource.RLIMIT_NOFILE, 0),
)
_NOBODY = 65_534

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # of Landlock, on every architecture
_RULESET_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights to files there are, by the version of Landlock; no later one has more."""
_NETWORK_RIGHTS, _SCOPES = 0b11, 0b11
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """Which of the layers that not every machine has are in force."""

    landlock: int
    """The version of its interface; 0: there is none."""
    seccomp: bool

    @property
    def holds(self) -> bool:
        """Whether a cell can open, reach and start nothing; without Landlock that hangs on one layer alone."""
        return self.seccomp

    @property
    def words(self) -> str:
        """For the operator: `Landlock 7 and seccomp`."""
        landlock = f"Landlock {self.landlock}" if self.landlock else "no Landlock"
        if self.seccomp:
            return f"{landlock} {'and' if self.landlock else 'but'} seccomp"
        return f"{landlock} {'but' if self.landlock else 'and'} no seccomp"


def refuse_dumps() -> None:
    """Let nothing of this process's memory reach a file or another process of the same user; for good.

    A core dump would hold keys and messages; so would what a debugger reads. Programs that are started from here may
    be traced again, but leave no core dump either.
    """
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _prctl(_PR_SET_DUMPABLE, 0)


def end_with_parent(parent: int) -> None:
    """End when the process of this id ends, which is to be the parent; where Linux does not see to it, others must."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def become_nobody() -> None:
    """Be an ordinary user without any rights, where this is root and may choose."""
    if os.geteuid() == 0:
        with suppress(OSError):
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)


def go_first() -> None:
    """Where memory runs out after all, the kernel is to end this process, and not Aldis."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def close_files() -> Level:
    """Open no file from here on, connect to nothing, signal nobody who has not done the same below; for good.

    The level says what of it the kernel can do.

    Raises:
        OSError: it can, and failed.
    """
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    version = _landlock_version()
    if version:
        _landlock(version)
    return Level(landlock=version, seccomp=_knows_filters())


def confine(expected: Level) -> None:
    """Take from this process all but computing and the descriptors it has; for good.

    `expected` is what `close_files` said.

    Raises:
        OSError: that level cannot be reached; nothing of a stranger may be opened.
    """
    if expected.landlock:
        _landlock(expected.landlock)  # apart from its like, too
    for what, most in _LIMITS:
        with suppress(ValueError, OSError):  # not every system has each
            resource.setrlimit(what, (most, most))
    if expected.seccomp:
        _filter_calls()


def _landlock_version() -> int:
    """The version of Landlock's interface; 0: the kernel has none, or may not be asked."""
    return max(_call(_CREATE_RULESET, None, 0, _RULESET_VERSION)[0], 0) if sys.platform == "linux" else 0


def _landlock(version: int) -> None:
    """Take all rights that this version knows, and give none back."""
    rights = (1 << _FILE_RIGHTS.get(version, _FILE_RIGHTS[max(_FILE_RIGHTS)])) - 1
    attributes = struct.pack("=Q", rights)
    attributes += struct.pack("=Q", _NETWORK_RIGHTS) if version >= _NETWORK_SINCE else b""
    attributes += struct.pack("=Q", _SCOPES) if version >= _SCOPES_SINCE else b""
    ruleset = _called(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        _called(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _knows_filters() -> bool:
    """Whether seccomp takes a filter: asked with none at all, it complains of the address and not of the question."""
    if sys.platform != "linux" or architecture() is None:
        return False
    return _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None) == errno.EFAULT


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _filter_calls() -> None:
    of = architecture()
    if of is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    instructions = program(of)
    given = _Program(len(instructions) // 8, instructions)
    if error := _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(given)):
        raise OSError(error, os.strerror(error))


def _prctl(option: int, *arguments: object) -> int:
    """The number of the error; 0 where there was none, or nothing like it on this system."""
    if sys.platform != "linux":
        return 0
    whole = [*arguments, 0, 0, 0, 0][:4]
    given = (ctypes.c_ulong(one) if isinstance(one, int) else one for one in whole)
    return ctypes.get_errno() if _libc().prctl(option, *given) else 0


def _called(number: int, *arguments: int | bytes | None) -> int:
    result, error = _call(number, *arguments)
    if result < 0:
        raise OSError(error, os.strerror(error))
    return result


def _call(number: int, *arguments: int | bytes | None) -> tuple[int, int]:
    """What a call of the system gives, and the number of the error where that is -1."""
    given = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    result: int = _libc().syscall(ctypes.c_long(number), *given)
    return result, ctypes.get_errno()


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
