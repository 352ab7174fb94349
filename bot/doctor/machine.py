"""The machine and the store: the clock, SQLite, what holds cells, the database with its key, the room that is left."""

import errno
import os
import shutil
import socket
import sqlite3
import ssl
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from bot.clock import Clock
from bot.doctor.findings import Finding, ok, problem, warning
from bot.invocation import command_line, spell_commands
from bot.media.cell import FileRefused
from bot.media.confinement import Level
from bot.media.sandbox import Sandbox
from bot.settings import SETTINGS_FILE_NAME, Settings, unread_zone
from bot.transports.envelope.files import comes_with_first_file
from bot.turn.notices import Notice
from store import Store, StoreError, StoreInUse, open_store
from tools import has_certificates

_LITTLE_ROOM_BYTES, _NO_ROOM_BYTES = 500_000_000, 50_000_000
_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""

_RESET_BUG_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""From each of these on within its line, and from the last on in all later ones, several connections are safe.

Source: https://sqlite.org/wal.html#walresetbug (2026-11).
"""


def _check_zone(now: str, zone: str) -> Finding:
    unread = unread_zone()
    if unread is None or zone != "UTC":
        return ok("clock", f"{now} UTC, people's time zone is {zone}")
    what = f"{now} UTC, people's time zone is {zone}, because TZ ({unread[:60]}) is not the name of a time zone"
    return warning("clock", what, "set LOCALE__TIMEZONE to theirs, such as Europe/Berlin, or to UTC if you mean that")


def check_machine(settings: Settings, clock: Clock, *, is_contained: bool = False) -> Iterator[Finding]:
    """Whether its clock can be right, and its SQLite is sound; `is_contained`: nothing else runs where Aldis does."""
    if clock.wall() < _WRITTEN:
        yield problem("clock", "it is off by months or years", "set the machine's clock; Signal needs it to be right")
    else:
        yield _check_zone(f"{clock.wall():%Y-%m-%d %H:%M}", settings.locale.timezone)
    yield check_sqlite(sqlite3.sqlite_version_info, is_contained=is_contained)


def check_sqlite(version: tuple[int, ...], *, is_contained: bool) -> Finding:
    """Whether other programs may open the database beside Aldis; in a container (`is_contained`) there are none."""
    named = f"SQLite {'.'.join(map(str, version))}"
    if not _has_reset_bug(version):
        return ok(named, "")
    if is_contained:
        return ok(named, "it can damage a database that several programs have open; Aldis alone is safe")
    return warning(
        named,
        "it can damage a database that several programs have open; Aldis alone is safe",
        ("do not open the database with anything else while Aldis runs (no sqlite3, no litestream), or update SQLite"),
    )


async def check_cells(sandbox: Sandbox) -> Finding:
    """Whether there can be any, and how well they hold."""
    try:
        return check_cell_level(await sandbox.level())
    except FileRefused:
        return problem(
            "cells",
            "the process that opens strangers' files and pages does not start",
            "its output is above; is there enough memory, and room for more processes?",
        )


def words_of_level(level: Level) -> str:
    """The layers in force: `Landlock 7 and seccomp`."""
    if level.landlock:
        how = "Landlock {version} and seccomp" if level.seccomp else "Landlock {version} but no seccomp"
        return (how).format(version=level.landlock)
    return "no Landlock but seccomp" if level.seccomp else "no Landlock and no seccomp"


def check_cell_level(level: Level) -> Finding:
    """How well cells hold on a machine that can do so much."""
    words = words_of_level(level)
    if level.holds:
        return ok(
            "cells",
            (
                "strangers' files and pages are opened in processes that cannot open files, use the "
                f"network or start anything ({words})"
            ),
        )
    if level.landlock:
        return warning(
            "cells",
            (
                "strangers' files and pages are opened in processes that cannot open files, but can "
                f"use sockets and start processes ({words})"
            ),
            "use a 64-bit system on x86-64 or aarch64; in a container see what its runtime allows",
        )
    return warning(
        "cells",
        (
            f"strangers' files and pages are opened in processes restricted by limits alone ({words}): "
            "if a file takes one over, it can do whatever Aldis's user can"
        ),
        ("use Linux 5.13 or later on x86-64 or aarch64; in a container see what its runtime allows"),
    )


def check_proxies(environ: Mapping[str, str]) -> list[Finding]:
    """That the environment names a proxy, where it does: nothing of Aldis goes through one."""
    named = sorted(name for name, value in environ.items() if name.lower() in _PROXIES and value)
    if not named:
        return []
    return [
        warning(
            "network",
            f"{', '.join(named)} is set, but Aldis uses no proxy",
            (
                "route the traffic on the machine itself, or name a gateway as the address of a "
                "service (OPENAI_BASE_URL)"
            ),
        )
    ]


def check_certificates(environ: Mapping[str, str]) -> list[Finding]:
    """That certificates can be read where the environment names some: OpenSSL skips what it cannot read."""
    kinds = {"SSL_CERT_FILE": _is_readable, "SSL_CERT_DIR": has_certificates}
    return [
        problem(
            "network",
            f"{name} is {path}, but no certificates can be read there",
            (
                "name a file in PEM form (SSL_CERT_FILE) or a folder after `openssl rehash` "
                "(SSL_CERT_DIR), or remove the variable"
            ),
        )
        for name, has_any in kinds.items()
        if (path := environ.get(name)) and not has_any(path)
    ]


def _is_readable(file: str) -> bool:
    try:
        ssl.create_default_context(cafile=file)
    except OSError:
        return False
    return True


def _has_reset_bug(version: tuple[int, ...]) -> bool:
    line = [fixed for fixed in _RESET_BUG_FIXED if fixed[:2] == version[:2]]
    return version < (line[0] if line else _RESET_BUG_FIXED[-1])


async def check_store(settings: Settings, stack: AsyncExitStack) -> tuple[Store | None, bool, list[Finding]]:
    """The open store, where it can be opened, and whether somebody else holds it."""
    given = settings.store
    if not any(given.path.with_name(given.path.name + suffix).exists() for suffix in ("", "-keys")):
        return None, False, [ok("store", f"{given.path} will be created at the first start")]
    opening = open_store(given.path, realm="signal", key=given.master_key, old_key=given.old_master_key)
    try:
        store = await stack.enter_async_context(opening)
        inbox = await store.read(lambda repos: repos.inbox.backlog())
        guests = await store.read(lambda repos: repos.people.approvals())
        restoration = await store.read(lambda repos: repos.restored.restoration())
    except StoreInUse:
        return None, True, [ok("store", f"{given.path} is in use by a running Aldis")]
    except StoreError as error:
        return None, False, [problem("store", spell_commands(str(error)), "fix this before the next start")]
    found = [ok("store", f"{given.path} opens with its key, is intact, and takes {_megabytes(given.path)} MB")]
    if restoration is not None:
        how = f"decide with: {command_line('restore --settle')}, or --replay"
        found.append(
            problem(
                "store",
                (
                    "it was restored, and nobody has decided what to do with the work left open in it: "
                    "Aldis does not start"
                ),
                how,
            )
        )
    if inbox.dead:
        found.append(
            warning(
                "store",
                (
                    f"{inbox.dead} message of the last weeks was given up"
                    if inbox.dead == 1
                    else f"{inbox.dead} messages of the last weeks were given up"
                ),
                "look in Aldis's log",
            )
        )
    if guests:
        found.append(
            ok(
                "store",
                (
                    f"{len(guests)} person was let in by a code"
                    if len(guests) == 1
                    else f"{len(guests)} people were let in by a code"
                ),
                "an admin sees them with /people",
            )
        )
    return store, False, found


def check_attachments(settings: Settings) -> Iterator[Finding]:
    """Whether Aldis can delete what people send, where it is told the folder."""
    folder = settings.signal.attachments
    if folder is None:
        return
    can_delete = folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    if can_delete or comes_with_first_file(folder):
        yield ok("files", f"files that people send are deleted from {folder} after use")
    else:
        yield problem(
            "files",
            (f"SIGNAL__ATTACHMENTS is {folder}, where Aldis cannot delete files: those that people send stay there"),
            "set it to signal-cli's attachment folder, and let Aldis write there",
        )


def check_disk(free_bytes: int) -> Finding:
    """Whether that is enough to go on with."""
    what, notice = f"{free_bytes // 1_000_000:,} MB are free where the store is", Notice(kind="disk")
    if free_bytes < _NO_ROOM_BYTES:
        return problem(
            "disk", what, "free some space: without it Aldis takes in no messages", topic="disk", notice=notice
        )
    if free_bytes < _LITTLE_ROOM_BYTES:
        return warning("disk", what, "free some space before it is full", topic="disk", notice=notice)
    return ok("disk", what, topic="disk")


def check_store_folder(settings: Settings) -> list[Finding]:
    """Whether this user can write where the store is or will be; nothing where they can."""
    folder = settings.store.path.absolute().parent
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return []
    except OSError as error:
        if error.errno == errno.ENOSPC:  # told of where the room is looked at
            return []
        what = f"user {os.geteuid()} cannot write to {there}: {error.strerror}"
        return [
            problem(
                "store", what, f"make that user the folder's owner, or set STORE__PATH (it is {settings.store.path})"
            )
        ]


def check_rights(settings: Settings) -> Iterator[Finding]:
    """Which of the files that hold keys or words others may read; nothing where there are none."""
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


def check_ports(settings: Settings, *, is_held: bool) -> list[Finding]:
    """Whether what Aldis listens on is free; `is_held`: an Aldis runs, and has them itself."""
    web = settings.web
    advice = "set another WEB__PORT, or 0 for none"
    found = [_port("WEB", web.host, web.port, advice, is_held=is_held)] if web.port else []
    if web.admin_port:
        advice = "set another WEB__ADMIN_PORT, or 0 for none"
        found.append(_port("WEB__ADMIN", web.admin_host, web.admin_port, advice, is_held=is_held))
    return [finding for finding in found if finding is not None]


def _port(group: str, host: str, port: int, advice: str, *, is_held: bool) -> Finding | None:
    names = (f"{group}__PORT", f"{group}__HOST") if group == "WEB" else (f"{group}_PORT", f"{group}_HOST")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as those who listen do
            trial.bind(address)
            trial.listen(1)
    except socket.gaierror:
        what = f"{names[1]} is {host}, which does not exist"
        return problem("network", what, f"correct {names[1]}")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            what = f"{names[0]} is {port}, which is already in use at {host}"
            return None if is_held else problem("network", what, advice)
        if error.errno == errno.EADDRNOTAVAIL:
            what = f"{names[1]} is {host}, which is not an address of this machine"
            return problem("network", what, f"set {names[1]} to 127.0.0.1, or to 0.0.0.0 for every address")
        what = f"{names[0]} is {port}, where Aldis may not listen: {error.strerror}"
        return problem("network", what, advice)
    return None


def free_bytes_of(settings: Settings) -> int:
    """What is free in the nearest folder that exists."""
    return shutil.disk_usage(next(place for place in settings.store.path.absolute().parents if place.exists())).free


def _megabytes(path: Path) -> str:
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-keys")]
    return f"{sum(file.stat().st_size for file in files if file.exists()) / 1_000_000:.1f}"
