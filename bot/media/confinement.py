"""Confinement of a process that opens strangers' files; each layer holds where the others are missing.

    Landlock     opens no file, connects to nothing, signals no process outside       Linux 5.13, more of it from 6.7 on
    seccomp      no system call but a few harmless ones                           Linux 3.5; x86-64 and aarch64
    limits       no further descriptor, no process, bounded memory and time       everywhere
    the rest     no core dump, no tracing, no new rights, another user if Aldis is root

The filter of seccomp leaves memory that is not executable, open descriptors, clocks, random numbers, locks, its own
signals, its end. Anything else fails with EPERM: opening files, sockets, programs, processes, threads, other processes.
A call with the numbers of another architecture (`int 0x80`, x32, 32-bit ARM) ends the process.

A process that is to become a program can also start it: the filter lets it open files and have code in memory, and
Landlock leaves it only that program and the system's libraries; whether other files exist, it could see.

Source: landlock(7), seccomp(2), prctl(2), `linux/landlock.h` up to version 7 of its interface; the numbers of calls are
those of `asm/unistd_64.h` of x86-64 and of `asm-generic/unistd.h`, which aarch64 uses (Linux 6.12, 2026-11).
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

MAX_MEMORY_BYTES = 1_500_000_000
"""For the address space, a good part of which is libraries: a picture of the largest size takes a third of it."""

MAX_CPU_SECONDS = 60  # if no process is left to end it

_LIMITS = (
    (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
    (resource.RLIMIT_CPU, MAX_CPU_SECONDS),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_NPROC, 0),
    (resource.RLIMIT_NOFILE, 0),
)
_PROGRAM_LIMITS = ((resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_FSIZE, 1_000_000))
_LIBRARIES = ("/lib", "/lib64", "/usr/lib")
_NOBODY = 65_534

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_CREATE_RULESET = 444  # of Landlock, on every architecture
_ADD_RULE = 445
_RESTRICT_SELF = 446
_RULESET_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights to files there are, by the version of Landlock; later ones have no more."""
_RUN_AND_READ = 0b101
_BENEATH = 1
_NETWORK_RIGHTS, _SCOPES = 0b11, 0b11
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6

ALLOW, REFUSE, KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
"""The answers of a filter: `REFUSE` is combined with an error number."""

_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _THIRD_ARGUMENT_AT = 0, 4, 32
_EXECUTABLE = 4
_CLONE3 = 435  # the C library falls back to older calls only if it does not exist
_X32_NUMBERS = 0x4000_0000


class Architecture(NamedTuple):
    """The system call numbers of an architecture."""

    audit: int
    """The kernel's name for it."""
    mapping: tuple[int, int]
    """`mmap` and `mprotect`, allowed for memory that is not executable."""
    allowed: tuple[int, ...]
    starting: tuple[int, ...]
    """What a program needs besides until it runs."""


_ARCHITECTURES = {
    # read write close fstat lseek munmap brk rt_sigaction rt_sigprocmask rt_sigreturn writev sched_yield mremap madvise
    # nanosleep getpid exit getcwd gettimeofday getrusage sigaltstack gettid time futex restart_syscall clock_gettime
    # clock_getres clock_nanosleep exit_group set_robust_list getrandom rseq
    "x86_64": Architecture(
        0xC000_003E,
        (9, 10),
        (
            *(0, 1, 3, 5, 8, 11, 12, 13, 14, 15, 20, 24, 25, 28, 35, 39, 60, 79, 96, 98, 131, 186, 201, 202, 219, 228),
            *(229, 230, 231, 273, 318, 334),
        ),
        # execveat openat newfstatat statx pread64 arch_prctl set_tid_address poll
        (322, 257, 262, 332, 17, 158, 218, 7),
    ),
    # The same without `time`, which does not exist there.
    "aarch64": Architecture(
        0xC000_00B7,
        (222, 226),
        (
            *(63, 64, 57, 80, 62, 215, 214, 134, 135, 139, 66, 124, 216, 233, 101, 172, 93, 17, 169, 165, 132, 178, 98),
            *(128, 113, 114, 115, 94, 99, 278, 293),
        ),
        (281, 56, 79, 291, 67, 96, 73),  # the same; `ppoll`, and no `arch_prctl`
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """The layers in force, of those that not every machine has."""

    landlock: int
    """The version of its interface; 0 if there is none."""
    seccomp: bool
    """By itself it keeps a cell from opening, reaching and starting anything; Landlock by itself does not."""


def refuse_dumps() -> None:
    """Keeps this process's memory, with keys and messages, out of core dumps and away from debuggers; permanently."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _prctl(_PR_SET_DUMPABLE, 0)


def end_with_parent(parent: int) -> None:
    """Ends this process when its parent, of this id, ends; on Linux."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def become_nobody() -> None:
    """Becomes an ordinary user without any rights, if this is root and can choose."""
    if os.geteuid() == 0:
        with suppress(OSError):
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)


def confine(program: int | None = None) -> Level:
    """Gives up all but computing and open descriptors, and returns the layers; raises `OSError` if one failed.

    `program` is the open file of what this process is to become, which takes Landlock and seccomp.
    """
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    level = Level(landlock=_landlock_version(), seccomp=_knows_filters())
    if program is not None and not (level.landlock and level.seccomp):
        raise OSError(errno.ENOSYS, "no program can be confined here")
    if level.landlock:
        _landlock(level.landlock, program)
    for what, most in _LIMITS if program is None else {**dict(_LIMITS), **dict(_PROGRAM_LIMITS)}.items():
        with suppress(ValueError, OSError):  # not every system has each
            resource.setrlimit(what, (most, most))
    if level.seccomp:
        _filter_calls(starts=program is not None)
    return level


def _landlock_version() -> int:
    """The version of Landlock's interface; 0 if the kernel has none, or it cannot be asked."""
    return max(_call(_CREATE_RULESET, None, 0, _RULESET_VERSION)[0], 0) if sys.platform == "linux" else 0


def _landlock(version: int, program: int | None = None) -> None:
    """Drops all rights that this version knows, and gives none back but to run and read a program and its libraries."""
    rights = [(1 << _FILE_RIGHTS.get(version, _FILE_RIGHTS[max(_FILE_RIGHTS)])) - 1]
    rights += [_NETWORK_RIGHTS] * (version >= _NETWORK_SINCE) + [_SCOPES] * (version >= _SCOPES_SINCE)
    attributes = struct.pack(f"={len(rights)}Q", *rights)
    ruleset, error = _call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(error, os.strerror(error))
    if program is not None:
        folders = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in _LIBRARIES if os.path.isdir(path)]  # noqa: PTH112
        for place in (program, *folders):
            _call(_ADD_RULE, ruleset, _BENEATH, struct.pack("=Qi", _RUN_AND_READ, place), 0)
    result, error = _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    if result < 0:
        raise OSError(error, os.strerror(error))


def _knows_filters() -> bool:
    """Whether seccomp accepts filters: asked without one, it complains about the address and not about the request."""
    return architecture() is not None and _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None) == errno.EFAULT


def _filter_calls(*, starts: bool = False) -> None:
    of = architecture()
    assert of is not None  # noqa: S101  (`_knows_filters` has seen it)
    instructions = program(of, starts=starts)
    there = ctypes.create_string_buffer(instructions)
    given = struct.pack("HP", len(instructions) // 8, ctypes.addressof(there))  # a `struct sock_fprog`
    if error := _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, given):
        raise OSError(error, os.strerror(error))


def _prctl(option: int, *arguments: object) -> int:
    """The error number; 0 if there was none, or this system has no such call."""
    if sys.platform != "linux":
        return 0
    whole = [*arguments, 0, 0, 0, 0][:4]
    given = (ctypes.c_ulong(one) if isinstance(one, int) else one for one in whole)
    return ctypes.get_errno() if _libc().prctl(option, *given) else 0


def _call(number: int, *arguments: int | bytes | None) -> tuple[int, int]:
    """The result of a system call, and the error number if that is -1."""
    given = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    result: int = _libc().syscall(ctypes.c_long(number), *given)
    return result, ctypes.get_errno()


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def architecture() -> Architecture | None:
    """Returns that of this process; None if it is unknown, as of a 32-bit Python on a 64-bit kernel."""
    is_known = sys.platform == "linux" and sys.maxsize > 2**32 and sys.byteorder == "little"
    return _ARCHITECTURES.get(platform.machine()) if is_known else None


def program(of: Architecture, *, starts: bool = False) -> bytes:
    """Returns the instructions, 8 bytes each: they examine every call and decide about it, also if a program starts."""
    # The numbers mean something only for one architecture, so that is checked first. Those of x32 are far above others.
    steps = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUALS, 1, 0, of.audit), (_ANSWER, 0, 0, KILL)]
    steps += [(_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, 0, 1, _X32_NUMBERS), (_ANSWER, 0, 0, KILL)]
    steps += [(_EQUALS, 0, 1, _CLONE3), (_ANSWER, 0, 0, REFUSE | errno.ENOSYS)]
    for number in () if starts else of.mapping:
        steps += [(_EQUALS, 0, 4, number), (_LOAD, 0, 0, _THIRD_ARGUMENT_AT), (_HAS_BITS, 0, 1, _EXECUTABLE)]
        steps += [(_ANSWER, 0, 0, REFUSE | errno.EPERM), (_ANSWER, 0, 0, ALLOW)]
    for number in (*of.allowed, *of.mapping, *of.starting) if starts else of.allowed:
        steps += [(_EQUALS, 0, 1, number), (_ANSWER, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in (*steps, (_ANSWER, 0, 0, REFUSE | errno.EPERM)))
