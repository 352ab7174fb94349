"""The machine and the store: the clock, SQLite, what holds cells, the database with its key, the room that is left."""

import errno
import os
import shutil
import socket
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from bot.clock import Clock
from bot.doctor.findings import Finding, ok, problem, warning
from bot.invocation import command_line
from bot.media.cell import FileRefused
from bot.media.confinement import Level
from bot.media.sandbox import Sandbox
from bot.settings import SETTINGS_FILE_NAME, Settings, unread_zone
from bot.turn.notices import Notice
from store import Store, StoreError, StoreInUse, open_store

_LITTLE_ROOM_BYTES, _NO_ROOM_BYTES = 500_000_000, 50_000_000
_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})
_CELLS = "cells: files and pages of strangers are opened in processes that"
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""

_RESET_BUG_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""From each of these on within its line, and from the last on in all later ones, several connections are safe.

Source: https://sqlite.org/wal.html#walresetbug (2026-11).
"""


def _check_zone(now: str, zone: str) -> Finding:
    unread = unread_zone()
    told = f"clock: {now}, people's time zone is {zone}"
    if unread is None or zone != "UTC":
        return ok(told)
    return warning(
        f"{told}, for TZ ({unread[:60]}) is no name of a time zone",
        "set LOCALE__TIMEZONE to theirs, like Europe/Berlin, or to UTC if that is meant",
    )


def check_machine(settings: Settings, clock: Clock, *, is_contained: bool = False) -> Iterator[Finding]:
    """Whether its clock can be right, and its SQLite is sound; `is_contained`: nothing else runs where Aldis does."""
    if clock.wall() < _WRITTEN:
        yield problem("clock: it is wrong by months or years", "set the machine's clock; Signal needs it to be right")
    else:
        yield _check_zone(f"{clock.wall():%Y-%m-%d %H:%M} UTC", settings.locale.timezone)
    yield check_sqlite(sqlite3.sqlite_version_info, is_contained=is_contained)


def check_sqlite(version: tuple[int, ...], *, is_contained: bool) -> Finding:
    """Whether other programs may open the database beside Aldis; in a container (`is_contained`) there are none."""
    named = f"SQLite {'.'.join(map(str, version))}"
    if not _has_reset_bug(version):
        return ok(named)
    what = f"{named}: it can damage a database that several programs have open; Aldis alone is safe"
    how = "open the database with nothing else while Aldis runs (no sqlite3, no litestream), or update SQLite"
    return ok(what) if is_contained else warning(what, how)


async def check_cells(sandbox: Sandbox) -> Finding:
    """Whether there can be any, and how well they hold."""
    try:
        return check_cell_level(await sandbox.level())
    except FileRefused:
        what = "cells: the process that opens files and pages of strangers does not start"
        return problem(what, "what it said stands above; is there memory left, and room for processes?")


def check_cell_level(level: Level) -> Finding:
    """How well cells hold on a machine that can do so much."""
    if level.holds:
        return ok(f"{_CELLS} can open, reach and start nothing ({level.words})")
    if level.landlock:
        what = f"{_CELLS} can open no file, but make sockets and processes ({level.words})"
        return warning(what, "use a 64-bit system on x86-64 or aarch64; in a container see what its runtime allows")
    what = f"{_CELLS} are held by limits alone ({level.words}): one that a file takes over is Aldis's user"
    return warning(what, "use Linux 5.13 or later on x86-64 or aarch64; in a container see what its runtime allows")


def check_proxies(environ: Mapping[str, str]) -> list[Finding]:
    """That the environment names a proxy, where it does: nothing of Aldis goes through one."""
    named = sorted(name for name, value in environ.items() if name.lower() in _PROXIES and value)
    if not named:
        return []
    how = "let the machine's own routes do it, or name a gateway as the address of a service (OPENAI_BASE_URL)"
    return [warning(f"network: {', '.join(named)} is set, and Aldis goes through no proxy", how)]


def _has_reset_bug(version: tuple[int, ...]) -> bool:
    line = [fixed for fixed in _RESET_BUG_FIXED if fixed[:2] == version[:2]]
    return version < (line[0] if line else _RESET_BUG_FIXED[-1])


async def check_store(settings: Settings, stack: AsyncExitStack) -> tuple[Store | None, bool, list[Finding]]:
    """The open store, where it can be opened, and whether somebody else holds it."""
    given = settings.store
    if not any(given.path.with_name(given.path.name + suffix).exists() for suffix in ("", "-keys")):
        return None, False, [ok(f"store: {given.path} is made at the first start")]
    opening = open_store(given.path, realm="signal", key=given.master_key, old_key=given.old_master_key)
    try:
        store = await stack.enter_async_context(opening)
        inbox = await store.read(lambda repos: repos.inbox.backlog())
        guests = await store.read(lambda repos: repos.people.approvals())
        restoration = await store.read(lambda repos: repos.restored.restoration())
        tampering = await store.tampering()
    except StoreInUse:
        return None, True, [ok(f"store: {given.path} is held by a running Aldis")]
    except StoreError as error:
        return None, False, [problem(f"store: {error}", "put it right before the next start")]
    found = [ok(f"store: {given.path} opens with its key, is whole, and has {_size(settings)}")]
    advice = "see “Somebody has changed the database” in docs/operating.md"
    found += [problem(f"store: {sentence}", advice) for sentence in tampering.sentences]
    if restoration is not None:
        what = "store: it was restored, and nobody has decided what becomes of what was open: Aldis does not start"
        found.append(problem(what, f"decide with: {command_line('restore --settle')}, or --replay"))
    if inbox.dead:
        found.append(warning(f"store: {inbox.dead} messages of the last weeks were given up", "look into the log"))
    if guests:
        found.append(ok(f"store: {len(guests)} people were let in by a code", "an admin sees them with /people"))
    return store, False, found


def check_attachments(settings: Settings) -> Iterator[Finding]:
    """Whether Aldis can delete what people send, where it is told the folder."""
    folder = settings.signal.attachments
    if folder is None:
        return
    if folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield ok(f"files: what people send is deleted from {folder} when it is done with")
    else:
        what = f"files: SIGNAL__ATTACHMENTS is {folder}, where Aldis cannot delete: what people send stays there"
        yield problem(what, "make it signal-cli's folder of attachments, in which Aldis may write")


def check_disk(free_bytes: int) -> Finding:
    """Whether that is enough to go on with."""
    what, notice = f"disk: {free_bytes // 1_000_000:,} MB are free where the store is", Notice(kind="disk")
    if free_bytes < _NO_ROOM_BYTES:
        return problem(what, "make room: without it Aldis takes no messages in", topic="disk", notice=notice)
    if free_bytes < _LITTLE_ROOM_BYTES:
        return warning(what, "make room before it is full", topic="disk", notice=notice)
    return ok(what, topic="disk")


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
        what = f"store: {there} cannot be written by user {os.geteuid()}: {error.strerror}"
        return [problem(what, f"give that user the folder, or set STORE__PATH (it is {settings.store.path})")]


def check_rights(settings: Settings) -> Iterator[Finding]:
    """Which of the files that hold keys or words others may read; nothing where there are none."""
    path = settings.store.path
    files = (path.with_name(SETTINGS_FILE_NAME), *sorted(path.parent.glob(f"{path.name}*")))
    exposed = [file.name for file in files if _is_exposed(file)]
    if exposed:
        what = f"files: others on this machine may read {', '.join(exposed)} in {path.parent}"
        yield warning(what, f"`{command_line('doctor --fix')}` takes that right away")


def _is_exposed(file: Path) -> bool:
    try:
        mode = file.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))


def check_ports(settings: Settings, *, is_held: bool) -> list[Finding]:
    """Whether what Aldis listens on is free; `is_held`: an Aldis runs, and has them itself."""
    web, signal = settings.web, settings.signal
    found = (
        [_port("WEB", web.host, web.port, "set another WEB__PORT, or 0 for none", is_held=is_held)] if web.port else []
    )
    if web.admin_port:
        advice = "set another WEB__ADMIN_PORT, or 0 for none"
        found.append(_port("WEB__ADMIN", web.admin_host, web.admin_port, advice, is_held=is_held))
    if signal.webhook_secret is None and signal.model_fields_set & {"webhook_host", "webhook_port"}:
        what = "network: SIGNAL__WEBHOOK_HOST and SIGNAL__WEBHOOK_PORT have no effect without a secret"
        found.append(warning(what, "set SIGNAL__WEBHOOK_SECRET"))
    if signal.webhook_secret is not None:
        advice = "set another SIGNAL__WEBHOOK_PORT, there and in RECEIVE_WEBHOOK_URL"
        found.append(_port("SIGNAL__WEBHOOK", signal.webhook_host, signal.webhook_port, advice, is_held=is_held))
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
        return problem(f"network: {names[1]} is {host}, and there is no such address", f"correct {names[1]}")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return None if is_held else problem(f"network: {names[0]} is {port}, and that is taken at {host}", advice)
        if error.errno == errno.EADDRNOTAVAIL:
            what = f"network: {names[1]} is {host}, which is no address of this machine"
            return problem(what, f"set {names[1]} to 127.0.0.1, or to 0.0.0.0 for every address")
        return problem(f"network: {names[0]} is {port}, where Aldis may not listen: {error.strerror}", advice)
    return None


def free_bytes_of(settings: Settings) -> int:
    """What is free in the nearest folder that exists."""
    return shutil.disk_usage(next(place for place in settings.store.path.absolute().parents if place.exists())).free


def _size(settings: Settings) -> str:
    path = settings.store.path
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-keys")]
    return f"{sum(file.stat().st_size for file in files if file.exists()) / 1_000_000:,.1f} MB"
