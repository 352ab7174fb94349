"""The machine and the store: the clock, what holds cells, the database with its key, the room that is left."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bot.chat.notices import Notice
from bot.clock import Clock
from bot.doctor.findings import Finding, ok, problem, warning
from bot.invocation import command_line, spell_commands
from bot.media.cell import FileRefused
from bot.media.confinement import Level
from bot.media.sandbox import Sandbox
from bot.settings import SETTINGS_FILE_NAME, Settings
from bot.signal.files import comes_with_first_file
from store import StoreError, StoreInUse, open_store

_LITTLE_ROOM_BYTES, _NO_ROOM_BYTES = 500_000_000, 50_000_000
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""


async def check_machine(settings: Settings, clock: Clock, sandbox: Sandbox) -> list[Finding]:
    """Returns whether the clock can be right, and how well strangers' files are confined."""
    try:
        cells = check_cell_level(await sandbox.level())
    except FileRefused:
        what = "the process that opens strangers' files and pages does not start"
        cells = problem("cells", what, "its output is above; is there memory, and room for more processes?")
    return [_check_clock(clock, settings.locale.timezone), cells]


def _check_clock(clock: Clock, zone: str) -> Finding:
    if clock.wall() < _WRITTEN:
        return problem("clock", "it is off by months or years", "set the machine's clock; Signal needs it to be right")
    return ok("clock", f"{clock.wall():%Y-%m-%d %H:%M} UTC, people's time zone is {zone}")


def words_of_level(level: Level) -> str:
    """Returns the layers in force: `Landlock 7 and seccomp`."""
    landlock = f"Landlock {level.landlock}" if level.landlock else "no Landlock"
    joint = "and" if bool(level.landlock) == level.seccomp else "but"
    return f"{landlock} {joint} {'' if level.seccomp else 'no '}seccomp"


def check_cell_level(level: Level) -> Finding:
    """Returns how well strangers' files are confined on a machine that can do so much."""
    what = f"strangers' files and pages are opened in processes of their own ({words_of_level(level)})"
    if level.holds:
        return ok("cells", what)
    reach = "use sockets and start processes" if level.landlock else "do whatever Aldis's user can"
    how = "use Linux 5.13 or later on x86-64 or aarch64; in a container see what its runtime allows"
    return warning("cells", f"{what}: a file that takes one over can {reach}", how)


async def check_store(settings: Settings) -> tuple[bool, list[Finding]]:
    """Returns whether another process holds the store, and what was found."""
    given = settings.store
    if not any(given.path.with_name(given.path.name + suffix).exists() for suffix in ("", "-keys")):
        return False, [ok("store", f"{given.path} will be created at the first start")]
    opening = open_store(given.path, realm="signal", key=given.master_key, old_key=given.old_master_key)
    try:
        async with opening as store:
            inbox, guests, restoration = await store.read(
                lambda repos: (repos.inbox.backlog(), repos.people.approvals(), repos.restored.restoration())
            )
    except StoreInUse:
        return True, [ok("store", f"{given.path} is in use by a running Aldis")]
    except StoreError as error:
        return False, [problem("store", spell_commands(str(error)), "fix this before the next start")]
    found = [ok("store", f"{given.path} opens with its key, is intact, and takes {_megabytes(given.path)} MB")]
    if restoration is not None:
        how = f"decide with: {command_line('restore --settle')}, or --replay"
        what = "it was restored, and what becomes of the work left open in it is not decided: Aldis does not start"
        found.append(problem("store", what, how))
    if inbox.dead:
        found.append(warning("store", f"messages given up in the last weeks: {inbox.dead}", "look in Aldis's log"))
    if guests:
        found.append(ok("store", f"let in by a code: {len(guests)}", "an admin sees them with /people"))
    return False, found


def _megabytes(path: Path) -> str:
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-keys")]
    return f"{sum(file.stat().st_size for file in files if file.exists()) / 1_000_000:.1f}"


def check_attachments(settings: Settings) -> Iterator[Finding]:
    """Yields whether Aldis can delete what people send, where it is told the folder."""
    folder = settings.signal.attachments
    if folder is None:
        return
    can_delete = folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    if can_delete or comes_with_first_file(folder):
        yield ok("files", f"files that people send are deleted from {folder} after use")
    else:
        what = f"SIGNAL__ATTACHMENTS is {folder}, where Aldis cannot delete files: those that people send stay there"
        yield problem("files", what, "set it to signal-cli's attachment folder, and let Aldis write there")


def check_disk(free_bytes: int) -> Finding:
    """Returns whether that is enough to go on with."""
    what, notice = f"{free_bytes // 1_000_000:,} MB are free where the store is", Notice(kind="disk")
    if free_bytes < _NO_ROOM_BYTES:
        return problem("disk", what, "free some space: without it Aldis takes in no messages", notice)
    if free_bytes < _LITTLE_ROOM_BYTES:
        return warning("disk", what, "free some space before it is full", notice)
    return ok("disk", what, notice=notice)


def free_bytes_of(settings: Settings) -> int:
    """Returns what is free in the nearest folder that exists."""
    return shutil.disk_usage(next(place for place in settings.store.path.absolute().parents if place.exists())).free


def check_store_folder(settings: Settings) -> list[Finding]:
    """Returns that this user cannot write where the store is or will be; nothing where they can."""
    folder = settings.store.path.absolute().parent
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return []
    except OSError as error:
        if error.errno == errno.ENOSPC:  # reported where the room is looked at
            return []
        what = f"user {os.geteuid()} cannot write to {there}: {error.strerror}"
        how = f"make that user the folder's owner, or set STORE__PATH (it is {settings.store.path})"
        return [problem("store", what, how)]


def check_rights(settings: Settings) -> Iterator[Finding]:
    """Yields which of the files that hold keys or words others may read; nothing where there are none."""
    path = settings.store.path
    files = (path.with_name(SETTINGS_FILE_NAME), *sorted(path.parent.glob(f"{path.name}*")))
    exposed = [file for file in files if _is_exposed(file)]
    if exposed:
        what = f"others on this machine may read {', '.join(file.name for file in exposed)} in {path.parent}"
        yield warning("files", what, f"`chmod go-rwx {' '.join(map(str, exposed))}` removes that permission")


def _is_exposed(file: Path) -> bool:
    try:
        mode = file.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))
