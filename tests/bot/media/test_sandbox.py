"""Cells: what a file that takes one over can reach from there, which is nothing, and what becomes of cells."""

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from bot.media import feed_parser, pictures
from bot.media import pdf as papers
from bot.media.cell import FileRefused
from bot.media.confinement import Level
from tests.bot.media.samples import noise, pdf, picture, saved
from tests.bot.media.test_pdf import locked
from tests.cells import sandbox, server_pid
from tests.servers.feeds import Item, rss
from tests.waiting import DEADLINE_SECONDS, eventually

SECRET = "a-secret-that-no-file-may-see"
HOSTILE = "tests.bot.media"


async def opened(*arguments: str, data: bytes = b"", seconds: float = DEADLINE_SECONDS) -> tuple[Any, bytes]:
    return await sandbox(HOSTILE).open("hostile", data, *arguments, timeout_seconds=seconds)


@pytest.fixture
async def level() -> Level:
    return await sandbox().level()


def needs(level: Level) -> None:
    """Skip where the kernel lacks what is tried, and say so."""
    if not (level.seccomp and level.landlock):
        pytest.skip(f"THE CELLS DO NOT HOLD HERE: the kernel of this machine offers only {level}")


async def test_nothing_leads_out_of_a_cell(tmp_path: Path, level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file, socket, program, process or right, each way tried; no environment, no descriptor but its channel."""
    needs(level)
    monkeypatch.setenv("STORE__KEY", SECRET)
    tmp_path.chmod(0o777)  # noqa: ASYNC240  (what is refused is not to be refused for want of rights alone)
    database, key, scratch = (tmp_path / name for name in ("aldis.db", "aldis.db-keys", "scratch"))
    for file in (database, key):
        file.write_text(SECRET)
        file.chmod(0o666)
    bridge = str(tmp_path / "bridge")
    with socket.socket(socket.AF_UNIX) as listening:  # such as signal-cli's
        listening.bind(bridge)
        listening.listen()
        tried, _ = await sandbox(HOSTILE).open(
            *("escapes", b"", str(database), str(key), bridge, str(os.getpid()), str(scratch)),
            timeout_seconds=DEADLINE_SECONDS,
        )
    assert database.read_text() == key.read_text() == SECRET
    assert not scratch.exists()
    assert {name: number for name, number in tried["ways"].items() if number == 0} == {}
    # Refused by the rule, and not for what it was called with.
    odd = {name: number for name, number in tried["ways"].items() if number not in {errno.EPERM, errno.EMFILE}}
    assert odd == {
        "begin a process by clone3": errno.ENOSYS,
        "begin a thread": errno.EAGAIN,
        "have another descriptor": errno.EBADF,
    }
    assert tried["environment"] == {}
    assert len(tried["descriptors"]) == 4
    assert tried["descriptors"][:3] == [0, 1, 2]


# mov eax, 20 (`getpid` of 32 bits, `writev` of 64); int 0x80; ret
INT_80 = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
# mov eax, 0x40000000 + 39 (`getpid` of x32); syscall; ret
X32 = b"\xb8\x27\x00\x00\x40\x0f\x05\xc3"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only x86-64 has a second and a third way into the kernel")
async def test_the_numbers_of_another_architecture_end_the_cell(level: Level) -> None:
    """They mean other calls: what is `writev` for one is `getpid` for the other."""
    needs(level)
    for code in (INT_80, X32):
        said = alone(f"""
            import ctypes, mmap
            area = mmap.mmap(-1, 4096, prot=7)
            area.write({code!r})
            function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(area)))
            confinement.confine()
            function()
            say(still="here")
        """)
        assert said == -signal.SIGSYS


def alone(program: str) -> Any:
    """What a process of its own says in which only some of the layers are in force; else how it ended."""
    start = """if True:
        import errno, json, os, socket, sys
        from bot.media import confinement
        def say(**words):
            os.write(1, json.dumps(words).encode())
        def outcome(way):
            try:
                way()
            except OSError as error:
                return errno.errorcode[error.errno]
    """
    done = subprocess.run(
        [sys.executable, "-c", start + indent(dedent(program), " " * 8)], stdout=subprocess.PIPE, check=False
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.returncode


EACH = """
        found, parent = {}, os.getppid()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            LOCK
            found["open"] = outcome(lambda: os.open(os.__file__, os.O_RDONLY))
            found["list"] = outcome(lambda: os.listdir("/"))
            found["write"] = outcome(lambda: os.open("/tmp/aldis-escape", os.O_WRONLY | os.O_CREAT))
            found["environment"] = outcome(lambda: os.open(f"/proc/{parent}/environ", os.O_RDONLY))
            found["socket"] = outcome(lambda: socket.socket(socket.AF_UNIX))
            found["connect"] = outcome(lambda: socket.create_connection(listening.getsockname()))
            found["kill"] = outcome(lambda: os.kill(parent, 0))
            found["run"] = outcome(lambda: os.execv("/bin/true", ["true"]))
            found["fork"] = outcome(lambda: os._exit(0) if os.fork() == 0 else None)
        say(**found)
"""


async def test_landlock_alone_keeps_files_and_the_network(level: Level) -> None:
    """Where nobody filters calls; a socket may be made then, and a process."""
    if not level.landlock:
        pytest.skip("THE KERNEL HAS NO LANDLOCK")
    lock = "confinement._prctl(38, 1); confinement._landlock(confinement._landlock_version())"
    found = alone(EACH.replace("LOCK", lock))
    refused = {name for name, number in found.items() if number == "EACCES"}
    assert refused >= {"open", "list", "write", "environment", "run"}
    assert ("connect" in refused) == (level.landlock >= 4)
    assert (found["kill"] == "EPERM") == (level.landlock >= 6)


async def test_seccomp_alone_keeps_everything(level: Level) -> None:
    """Where there is no Landlock."""
    if not level.seccomp:
        pytest.skip("THE KERNEL HAS NO SECCOMP")
    lock = "confinement._prctl(38, 1); confinement._filter_calls()"
    found = alone(EACH.replace("LOCK", lock))
    assert set(found.values()) == {"EPERM"}


async def test_limits_alone_keep_descriptors_and_processes() -> None:
    """Where there is neither; as on another system than Linux."""
    without = "confinement._landlock_version = confinement._knows_filters = int"
    limited = f"{without}; confinement.become_nobody(); confinement.confine()"
    # A program would begin, and find no file of its own.
    found = alone(EACH.replace("LOCK", limited).replace('os.execv("/bin/true", ["true"])', "None"))
    refused = {name for name, number in found.items() if number in {"EMFILE", "EAGAIN", "EACCES"}}
    assert refused >= {"open", "list", "write", "environment", "socket", "connect"}
    if sys.platform == "linux":
        assert found["fork"] == "EAGAIN"


async def test_what_becomes_a_program_reaches_nothing_besides_its_libraries(level: Level) -> None:
    """Already before it does; where a layer is missing it becomes none."""
    needs(level)
    lock = "confinement.confine(os.open(sys.executable, os.O_RDONLY))"
    found = alone(EACH.replace("LOCK", lock).replace("os.__file__", '"/etc/passwd"'))
    assert len(found) == 9
    assert set(found.values()) == {"EACCES", "EPERM"}
    for layer in ("_landlock_version", "_knows_filters"):
        said = alone(f"""
            confinement.{layer} = int
            confinement.confine(os.open(sys.executable, os.O_RDONLY))
            say(still="here")
        """)
        assert said in {1, 120}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other ways")
def test_a_process_that_refuses_dumps_is_not_looked_into() -> None:
    """Neither by a core dump nor by another process; and it cannot be had back by its limit."""
    said = alone("""
        import resource
        confinement.refuse_dumps()
        say(dumpable=confinement._libc().prctl(3), limits=resource.getrlimit(resource.RLIMIT_CORE))
    """)
    assert said == {"dumpable": 0, "limits": [0, 0]}


# What is in a file is the same as outside


def test_a_level_that_was_there_must_be_reached() -> None:
    """Rather no file at all than one in a cell that does not hold."""
    said = alone("""
        confinement.program = lambda of: bytes(8)
        confinement.confine()
        say(still="here")
    """)
    assert said in {1, 120}  # 120: what it still had to say could not be written at its end


FEED = rss(Item(title="Lit <b>&amp;</b> bright", link="/lit", summary="<p>At <i>dusk</i>"))
URL = "http://a.example/"


async def test_a_file_is_the_same_in_a_cell() -> None:
    """Nothing is missing that its library would have loaded later: all formats, locks, encodings, whole or cut off."""
    exif = Image.Exif()
    exif[0x0112] = 6
    shots = [saved(Image.new("CMYK", (30, 20)), "TIFF", exif=exif)]
    shots += [noise(300, 200, name) for name in ("PNG", "GIF", "WEBP", "AVIF", "BMP", "TIFF", "JPEG")]
    shots += [picture(2000, 1000, name) for name in ("PNG", "AVIF", "JPEG")]
    modes = ("L", "1", "P", "LA", "RGBA")
    shots += [saved(Image.new(mode, (30, 20)), "PNG", exif=exif) for mode in modes]
    papers.preload()
    locks = [locked("", cipher) for cipher in ("AES-256", "AES-128", "RC4-128")]
    charsets = ("", "utf-8", "windows-1252", "koi8-r", "big5", "shift_jis", "cp437", "no-such")
    files: list[tuple[ModuleType, bytes, tuple[str, ...]]] = [(pictures, data, ()) for data in shots]
    files += [(papers, data, ("9", "999")) for data in (pdf("Rent", "Deposit"), pdf("", ""), *locks)]
    files += [(feed_parser, feed, (URL, name)) for name in charsets for feed in (FEED, FEED[:-30])]
    for module, data, arguments in files:
        name = module.__name__.rpartition(".")[2]
        found = await sandbox().open(name, data, *arguments, timeout_seconds=DEADLINE_SECONDS)
        assert found == module.serve(data, arguments), (name, arguments)
    with pytest.raises(FileRefused, match="no feed"):
        await sandbox().open("feed_parser", b"<feed" + FEED, URL, "", timeout_seconds=DEADLINE_SECONDS)


# What becomes of cells


async def server() -> int:
    """The process that all cells of this test's process are forked from."""
    await sandbox().level()
    return server_pid()


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_there(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def hanging(*, seconds: float = DEADLINE_SECONDS) -> tuple[asyncio.Task[Any], int]:
    pid = await server()
    before = set(children_of(pid))
    task = asyncio.create_task(opened("hangs", seconds=seconds))
    await eventually(lambda: set(children_of(pid)) - before)
    [cell] = set(children_of(pid)) - before
    return task, cell


async def test_a_cell_that_takes_too_long_is_killed() -> None:
    """Before the refusal is said, as is one that goes on after its answer; what all are forked from stays."""
    task, cell = await hanging(seconds=2)
    with pytest.raises(FileRefused, match="too long"):
        await task
    assert not is_there(cell)
    pid = await server()
    assert await opened("goes on") == ({"ok": True}, b"")
    assert (await server(), children_of(pid)) == (pid, [])


async def test_a_file_that_is_no_longer_wanted_is_left() -> None:
    """A question that is stopped takes its cell along, long before the file's time is up."""
    task, cell = await hanging()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(DEADLINE_SECONDS / 2):
        await eventually(lambda: not is_there(cell))


async def test_without_the_server_there_is_no_cell_and_then_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when memory ran out: the next file finds another, without Aldis's environment, that no one can trace."""
    monkeypatch.setenv("STORE__KEY", SECRET)
    own = sandbox(HOSTILE)
    await own.level()
    task, cell = await hanging()
    os.kill(server_pid(), signal.SIGKILL)
    with pytest.raises(FileRefused):
        await task
    await eventually(lambda: not is_there(cell))
    assert await own.open("hostile", b"a", "remembers", timeout_seconds=DEADLINE_SECONDS) == ({"seen": 1}, b"a")
    assert os.environ["STORE__KEY"] == SECRET
    environ = Path(f"/proc/{await server()}/environ")
    assert environ.stat().st_uid == 0  # noqa: ASYNC240  (which is said of those that may not be traced)
    if os.geteuid() == 0:
        kept = b"\0" + environ.read_bytes()  # noqa: ASYNC240
        assert (b"STORE__KEY" in kept, b"\0PATH=" in kept) == (False, False)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_ctrl_c_while_the_server_of_cells_starts_is_not_its_matter() -> None:
    """A terminal sends it to the whole group: the server, which comes second, has it blocked from its first moment."""
    program = (
        "import os, pathlib\n"
        "from bot.media.sandbox import start_server\n"
        "start_server('bot.media.preloaded')\n"
        "children = pathlib.Path(f'/proc/self/task/{os.getpid()}/children').read_text().split()\n"
        "stats = [pathlib.Path(f'/proc/{child}/status').read_text() for child in children]\n"
        "print(*(stat.split('SigBlk:')[1].split()[0] for stat in stats))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    [_, mask] = [int(mask, 16) for mask in done.stdout.split()]
    assert mask & 1 << signal.SIGINT - 1


async def test_everything_ends_with_aldis() -> None:
    """However it ends: no cell goes on computing."""
    program = """if True:
        import asyncio
        from tests.cells import sandbox, server_pid
        async def run():
            own = sandbox("tests.bot.media")
            await own.level()
            print(server_pid(), flush=True)
            await own.open("hostile", b"", "hangs", timeout_seconds=60)
        asyncio.run(run())
    """
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    own = int(await parent.stdout.readline())
    await eventually(lambda: children_of(own))
    cells = children_of(own)
    parent.kill()
    await parent.wait()
    await eventually(lambda: not any(map(is_there, [own, *cells])))


async def test_what_a_cell_says_is_not_trusted() -> None:
    """It could write without end, what bloats where it is read, or nonsense; die in the middle; import something."""
    for said in (("endless",), ("bloats",), ("no JSON",), ("7",), ("[" * 9_999,), ("dies",), ("too much",), ()):
        with pytest.raises(FileRefused, match="damaged"):
            await opened(*said, data=b"x" * 1_000_000)
    with pytest.raises(FileRefused, match="damaged"):
        await sandbox("os").open("path", b"", timeout_seconds=DEADLINE_SECONDS)


async def test_many_files_are_opened_side_by_side() -> None:
    """Each gets its own answer, from a process that has read no other file."""
    found = await asyncio.gather(*(opened("remembers", data=b"%d" % number) for number in range(40)))
    assert found == [({"seen": 1}, b"%d" % number) for number in range(40)]
