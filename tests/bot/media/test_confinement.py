"""The filter of calls, read as the kernel reads it: for both architectures, whichever the tests run on."""

import errno
import re
import struct
from pathlib import Path

import pytest

from bot.media import confinement
from bot.media.confinement import _ARCHITECTURES, ALLOW, KILL, REFUSE, program

EPERM, ENOSYS = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS
NAMES = ("x86_64", "aarch64")
HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}
"""What the C library of this machine says of either, where it was installed for compilers."""


def judged(name: str, number: int, *, audit: int | None = None, third: int = 0, starts: bool = False) -> int:
    """What becomes of a call, by the rules of BPF as far as they are used here."""
    of = _ARCHITECTURES[name]
    data = struct.pack("=iIQ6Q", number, of.audit if audit is None else audit, 0, 0, 0, third, 0, 0, 0)
    code = list(struct.iter_unpack("=HBBI", program(of, starts=starts)))
    at = accumulator = 0
    while True:
        operation, if_so, if_not, operand = code[at]
        at += 1
        if operation == 0x20:
            [accumulator] = struct.unpack_from("=I", data, operand)
        elif operation == 0x06:
            return operand
        else:
            holds = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: bool(accumulator & operand)}
            at += if_so if holds[operation] else if_not


def numbers(name: str) -> dict[str, int]:
    header = Path("/usr/include") / HEADERS[name]
    if not header.exists():
        pytest.skip("this machine has no headers of the kernel")
    return {call: int(n) for call, n in re.findall(r"__NR(?:3264)?_(\w+)\s+(\d+)\s", header.read_text())}


@pytest.mark.parametrize("name", NAMES)
def test_every_number_is_what_it_is_meant_to_be(name: str) -> None:
    """As the kernel's headers have them: exactly what is named is allowed, and what leads out is refused."""
    known = numbers(name)
    source = Path(confinement.__file__).read_text(encoding="utf-8")
    listed = re.findall(r"# ((?:[a-z0-9_]+ ?)+)\n", source[source.index("_ARCHITECTURES = {") :])
    names = set(" ".join(listed[:3]).split()) & set(numbers("x86_64"))
    allowed = {call for call, number in known.items() if judged(name, number) == ALLOW}
    assert allowed - {"mmap", "mprotect"} == {call for call in names if call in known}
    assert {known["mmap"], known["mprotect"]} == set(_ARCHITECTURES[name].mapping)
    assert {call for call in LEADING_OUT if judged(name, known[call]) != EPERM} == set()
    assert judged(name, known["clone3"]) == ENOSYS


@pytest.mark.parametrize("name", NAMES)
def test_what_becomes_a_program_may_only_start_it_besides(name: str) -> None:
    """Open files, which Landlock decides about, have code in memory, and begin; nothing else that leads out."""
    known = numbers(name)
    more = {
        call
        for call, number in known.items()
        if judged(name, number, starts=True) == ALLOW and judged(name, number) != ALLOW
    }
    assert {one.replace("new", "") for one in more} == {
        *("execveat", "openat", "fstatat", "statx", "pread64", "set_tid_address"),
        *(("poll", "arch_prctl") if name == "x86_64" else ("ppoll",)),
    }
    assert judged(name, known["mmap"], third=4, starts=True) == ALLOW
    refused = {call for call in LEADING_OUT if judged(name, known[call], starts=True) == EPERM}
    assert set(LEADING_OUT) - refused == {"openat", "execveat"}


LEADING_OUT = (
    *("socket", "connect", "sendto", "sendmsg", "recvmsg", "openat", "openat2", "execve", "execveat", "clone", "dup"),
    *("kill", "tgkill", "ptrace", "process_vm_readv", "pidfd_getfd", "io_uring_setup", "bpf", "memfd_create"),
    *("unshare", "prctl", "prlimit64", "ioctl"),
)


@pytest.mark.parametrize("name", NAMES)
def test_memory_may_not_be_code_and_another_architecture_ends_the_process(name: str) -> None:
    """32 bits of Intel and ARM, the sister's, and x32, and a number that there is not; every number has a verdict."""
    for number in _ARCHITECTURES[name].mapping:
        assert [judged(name, number, third=how) for how in (0, 1, 2, 3)] == [ALLOW] * 4
        assert [judged(name, number, third=how) for how in (4, 5, 7, 1 << 32 | 4)] == [EPERM] * 4
    for audit in (0x4000_0003, 0x4000_0028, 0, 0xC000_003E ^ 0xC000_00B7 ^ _ARCHITECTURES[name].audit):
        assert judged(name, 0, audit=audit) == KILL
    assert judged("x86_64", 0x4000_0000) == judged(name, -1) == KILL
    verdicts = {judged(name, number, third=third) for number in range(600) for third in (0, 7)}
    assert verdicts == {ALLOW, EPERM, ENOSYS}
