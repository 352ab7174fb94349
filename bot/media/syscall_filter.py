"""Pure: the program of a seccomp filter that leaves a process what it needs for computing, and nothing else.

What is left: memory that is not executable, open descriptors, clocks, random numbers, locks, its own signals, its end.
Anything else fails with EPERM: opening files, sockets, programs, processes, threads, other processes. A call with the
numbers of another architecture (`int 0x80`, x32, 32-bit ARM), which mean something else, ends the process.

Source: seccomp(2) and `linux/seccomp.h`, `linux/bpf_common.h`, `linux/audit.h`; the numbers are those of
`asm/unistd_64.h` of x86-64 and of `asm-generic/unistd.h`, which aarch64 uses (Linux 6.12, 2026-11).
"""

import errno
import platform
import struct
import sys
from dataclasses import dataclass

ALLOW, REFUSE, KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
"""The answers of a filter: `REFUSE` is combined with an error number."""

_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _THIRD_ARGUMENT_AT = 0, 4, 32
_EXECUTABLE = 4
_CLONE3 = 435
"""If it does not exist, the C library falls back to older calls; it takes any other error as final."""
_X32_NUMBERS = 0x4000_0000


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """The system call numbers of an architecture."""

    audit: int
    """The kernel's name for it."""
    allowed: tuple[int, ...]
    mapping: tuple[int, int]
    """`mmap` and `mprotect`, allowed for memory that is not executable."""
    has_x32: bool = False


_ARCHITECTURES = {
    # read write close fstat lseek munmap brk rt_sigaction rt_sigprocmask rt_sigreturn writev sched_yield mremap madvise
    # nanosleep getpid exit getcwd gettimeofday getrusage sigaltstack gettid time futex restart_syscall clock_gettime
    # clock_getres clock_nanosleep exit_group set_robust_list getrandom rseq
    "x86_64": Architecture(
        audit=0xC000_003E,
        allowed=(
            *(0, 1, 3, 5, 8, 11, 12, 13, 14, 15, 20, 24, 25, 28, 35, 39, 60, 79, 96, 98, 131, 186, 201, 202, 219, 228),
            *(229, 230, 231, 273, 318, 334),
        ),
        mapping=(9, 10),
        has_x32=True,
    ),
    # The same without `time`, which does not exist there.
    "aarch64": Architecture(
        audit=0xC000_00B7,
        allowed=(
            *(63, 64, 57, 80, 62, 215, 214, 134, 135, 139, 66, 124, 216, 233, 101, 172, 93, 17, 169, 165, 132, 178, 98),
            *(128, 113, 114, 115, 94, 99, 278, 293),
        ),
        mapping=(222, 226),
    ),
}


def architecture() -> Architecture | None:
    """Returns that of this process; None if it is unknown, so that there is no filter for it.

    A 32-bit Python on a 64-bit kernel, as on many a Raspberry Pi, has other numbers than its machine's name suggests.
    """
    is_known = sys.maxsize > 2**32 and sys.byteorder == "little"
    return _ARCHITECTURES.get(platform.machine()) if is_known else None


def program(of: Architecture) -> bytes:
    """Returns the instructions, 8 bytes each: they examine every system call and decide about it."""
    body = [(_LOAD, 0, 0, _NUMBER_AT)]
    if of.has_x32:
        body += [(_AT_LEAST, 0, 1, _X32_NUMBERS), (_ANSWER, 0, 0, KILL)]
    body += [(_EQUALS, 0, 1, _CLONE3), (_ANSWER, 0, 0, REFUSE | errno.ENOSYS)]
    for number in of.mapping:
        body += [
            (_EQUALS, 0, 4, number),
            (_LOAD, 0, 0, _THIRD_ARGUMENT_AT),
            (_HAS_BITS, 0, 1, _EXECUTABLE),
            (_ANSWER, 0, 0, REFUSE | errno.EPERM),
            (_ANSWER, 0, 0, ALLOW),
        ]
    for number in of.allowed:
        body += [(_EQUALS, 0, 1, number), (_ANSWER, 0, 0, ALLOW)]
    # The numbers mean something only for one architecture, so that is checked first.
    head = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUALS, 1, 0, of.audit), (_ANSWER, 0, 0, KILL)]
    return b"".join(struct.pack("=HBBI", *one) for one in (*head, *body, (_ANSWER, 0, 0, REFUSE | errno.EPERM)))
