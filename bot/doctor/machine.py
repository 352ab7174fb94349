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
from decimal import Decimal
from pathlib import Path

from bot.clock import Clock
from bot.doctor import phrases
from bot.doctor.findings import Finding, ok, problem, warning
from bot.doctor.phrases import (
    AREA_CELLS,
    AREA_CLOCK,
    AREA_DISK,
    AREA_FILES,
    AREA_NETWORK,
    AREA_STORE,
)
from bot.i18n.catalogues import Sentence
from bot.i18n.statements import Words, fill
from bot.invocation import command_line, spell_commands
from bot.media.cell import FileRefused
from bot.media.confinement import Level
from bot.media.sandbox import Sandbox
from bot.settings import SETTINGS_FILE_NAME, Settings, unread_zone
from bot.transports.envelope.files import comes_with_first_file
from bot.turn.notices import Notice
from store import Store, StoreError, StoreInUse, Tampering, open_store
from tools import has_certificates

_LITTLE_ROOM_BYTES, _NO_ROOM_BYTES = 500_000_000, 50_000_000
_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""

_RESET_BUG_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""From each of these on within its line, and from the last on in all later ones, several connections are safe.

Source: https://sqlite.org/wal.html#walresetbug (2026-11).
"""

_FORGED: Mapping[str, Sentence] = {
    "people": phrases.FOUND_FORGED_PEOPLE,
    "pins": phrases.FOUND_FORGED_PINS,
    "identities": phrases.FOUND_FORGED_IDENTITIES,
    "spent": phrases.FOUND_FORGED_SPENT,
    "grants": phrases.FOUND_FORGED_GRANTS,
    "quotas": phrases.FOUND_FORGED_QUOTAS,
    "tool_shapes": phrases.FOUND_FORGED_TOOL_SHAPES,
}
"""What the tables that the store guards are about."""


def _check_zone(now: str, zone: str) -> Finding:
    unread = unread_zone()
    if unread is None or zone != "UTC":
        return ok(AREA_CLOCK, fill(phrases.FOUND_CLOCK_ZONE, now=now, zone=zone))
    what = fill(phrases.FOUND_CLOCK_ZONE_UNREAD, now=now, zone=zone, unread=unread[:60])
    return warning(AREA_CLOCK, what, phrases.FOUND_CLOCK_ZONE_SET)


def check_machine(settings: Settings, clock: Clock, *, is_contained: bool = False) -> Iterator[Finding]:
    """Whether its clock can be right, and its SQLite is sound; `is_contained`: nothing else runs where Aldis does."""
    if clock.wall() < _WRITTEN:
        yield problem(AREA_CLOCK, phrases.FOUND_CLOCK_WRONG, phrases.FOUND_CLOCK_SET)
    else:
        yield _check_zone(f"{clock.wall():%Y-%m-%d %H:%M}", settings.locale.timezone)
    yield check_sqlite(sqlite3.sqlite_version_info, is_contained=is_contained)


def check_sqlite(version: tuple[int, ...], *, is_contained: bool) -> Finding:
    """Whether other programs may open the database beside Aldis; in a container (`is_contained`) there are none."""
    named = f"SQLite {'.'.join(map(str, version))}"
    if not _has_reset_bug(version):
        return ok(named, "")
    if is_contained:
        return ok(named, phrases.FOUND_SQLITE_RISK)
    return warning(named, phrases.FOUND_SQLITE_RISK, phrases.FOUND_SQLITE_ALONE)


async def check_cells(sandbox: Sandbox) -> Finding:
    """Whether there can be any, and how well they hold."""
    try:
        return check_cell_level(await sandbox.level())
    except FileRefused:
        return problem(AREA_CELLS, phrases.FOUND_CELLS_DEAD, phrases.FOUND_CELLS_LOOK)


def words_of_level(level: Level) -> Words:
    """The layers in force: `Landlock 7 and seccomp`."""
    if level.landlock:
        how = phrases.FOUND_LEVEL_BOTH if level.seccomp else phrases.FOUND_LEVEL_LANDLOCK
        return fill(how, version=level.landlock)
    return phrases.FOUND_LEVEL_SECCOMP if level.seccomp else phrases.FOUND_LEVEL_NONE


def check_cell_level(level: Level) -> Finding:
    """How well cells hold on a machine that can do so much."""
    words = words_of_level(level)
    if level.holds:
        return ok(AREA_CELLS, fill(phrases.FOUND_CELLS_HOLD, level=words))
    if level.landlock:
        return warning(AREA_CELLS, fill(phrases.FOUND_CELLS_HALF, level=words), phrases.FOUND_CELLS_HALF_MORE)
    return warning(AREA_CELLS, fill(phrases.FOUND_CELLS_LIMITS, level=words), phrases.FOUND_CELLS_LIMITS_MORE)


def check_proxies(environ: Mapping[str, str]) -> list[Finding]:
    """That the environment names a proxy, where it does: nothing of Aldis goes through one."""
    named = sorted(name for name, value in environ.items() if name.lower() in _PROXIES and value)
    if not named:
        return []
    return [
        warning(AREA_NETWORK, fill(phrases.FOUND_PROXY_UNUSED, names=", ".join(named)), phrases.FOUND_PROXY_INSTEAD)
    ]


def check_certificates(environ: Mapping[str, str]) -> list[Finding]:
    """That certificates can be read where the environment names some: OpenSSL skips what it cannot read."""
    kinds = {"SSL_CERT_FILE": _is_readable, "SSL_CERT_DIR": has_certificates}
    return [
        problem(
            AREA_NETWORK,
            fill(phrases.FOUND_CERTIFICATES_UNREAD, name=name, path=path),
            phrases.FOUND_CERTIFICATES_NAME,
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
        return None, False, [ok(AREA_STORE, fill(phrases.FOUND_STORE_NEW, path=given.path))]
    opening = open_store(given.path, realm="signal", key=given.master_key, old_key=given.old_master_key)
    try:
        store = await stack.enter_async_context(opening)
        inbox = await store.read(lambda repos: repos.inbox.backlog())
        guests = await store.read(lambda repos: repos.people.approvals())
        restoration = await store.read(lambda repos: repos.restored.restoration())
        tampering = await store.tampering()
    except StoreInUse:
        return None, True, [ok(AREA_STORE, fill(phrases.FOUND_STORE_HELD, path=given.path))]
    except StoreError as error:
        return None, False, [problem(AREA_STORE, spell_commands(str(error)), phrases.FOUND_STORE_RIGHT)]
    found = [ok(AREA_STORE, fill(phrases.FOUND_STORE_WELL, path=given.path, size=_megabytes(given.path)))]
    found += [problem(AREA_STORE, words, phrases.FOUND_STORE_TAMPERED) for words in words_of_tampering(tampering)]
    if restoration is not None:
        how = fill(phrases.FOUND_STORE_SETTLE, command=command_line("restore --settle"))
        found.append(problem(AREA_STORE, phrases.FOUND_STORE_RESTORED, how))
    if inbox.dead:
        found.append(warning(AREA_STORE, fill(phrases.FOUND_STORE_GIVEN_UP, count=inbox.dead), phrases.FOUND_LOOK_LOG))
    if guests:
        found.append(
            ok(AREA_STORE, fill(phrases.FOUND_STORE_GUESTS, count=len(guests)), phrases.FOUND_STORE_GUESTS_SEE)
        )
    return store, False, found


def words_of_tampering(tampering: Tampering) -> tuple[Words, ...]:
    """What others have done to the database, as `Tampering.sentences`; empty if nothing was detected."""
    told: list[Words] = [
        fill(phrases.FOUND_STORE_FORGED, count=count, what=_FORGED.get(table, table))
        for table, count in sorted(tampering.forged.items())
    ]
    if tampering.is_incomplete:
        told.append(phrases.FOUND_STORE_INCOMPLETE)
    if tampering.is_older:
        told.append(phrases.FOUND_STORE_OLDER)
    if tampering.intruders:
        told.append(fill(phrases.FOUND_STORE_INTRUDERS, count=tampering.intruders))
    return tuple(told)


def check_attachments(settings: Settings) -> Iterator[Finding]:
    """Whether Aldis can delete what people send, where it is told the folder."""
    folder = settings.signal.attachments
    if folder is None:
        return
    can_delete = folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    if can_delete or comes_with_first_file(folder):
        yield ok(AREA_FILES, fill(phrases.FOUND_FILES_DELETED, folder=folder))
    else:
        yield problem(AREA_FILES, fill(phrases.FOUND_FILES_STAY, folder=folder), phrases.FOUND_FILES_FOLDER)


def check_disk(free_bytes: int) -> Finding:
    """Whether that is enough to go on with."""
    what, notice = fill(phrases.FOUND_DISK_FREE, free=Decimal(free_bytes // 1_000_000)), Notice(kind="disk")
    if free_bytes < _NO_ROOM_BYTES:
        return problem(AREA_DISK, what, phrases.FOUND_DISK_FULL, topic="disk", notice=notice)
    if free_bytes < _LITTLE_ROOM_BYTES:
        return warning(AREA_DISK, what, phrases.FOUND_DISK_SOON, topic="disk", notice=notice)
    return ok(AREA_DISK, what, topic="disk")


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
        what = fill(phrases.FOUND_STORE_UNWRITABLE, folder=there, user=os.geteuid(), error=error.strerror)
        return [problem(AREA_STORE, what, fill(phrases.FOUND_STORE_GIVE, path=settings.store.path))]


def check_rights(settings: Settings) -> Iterator[Finding]:
    """Which of the files that hold keys or words others may read; nothing where there are none."""
    path = settings.store.path
    files = (path.with_name(SETTINGS_FILE_NAME), *sorted(path.parent.glob(f"{path.name}*")))
    exposed = [file.name for file in files if _is_exposed(file)]
    if exposed:
        what = fill(phrases.FOUND_FILES_EXPOSED, names=", ".join(exposed), folder=path.parent)
        yield warning(AREA_FILES, what, fill(phrases.FOUND_FILES_FIX, command=command_line("doctor --fix")))


def _is_exposed(file: Path) -> bool:
    try:
        mode = file.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))


def check_ports(settings: Settings, *, is_held: bool) -> list[Finding]:
    """Whether what Aldis listens on is free; `is_held`: an Aldis runs, and has them itself."""
    web, signal = settings.web, settings.signal
    advice = fill(phrases.FOUND_PORT_OTHER, name="WEB__PORT")
    found = [_port("WEB", web.host, web.port, advice, is_held=is_held)] if web.port else []
    if web.admin_port:
        advice = fill(phrases.FOUND_PORT_OTHER, name="WEB__ADMIN_PORT")
        found.append(_port("WEB__ADMIN", web.admin_host, web.admin_port, advice, is_held=is_held))
    if signal.webhook_secret is None and signal.model_fields_set & {"webhook_host", "webhook_port"}:
        how = fill(phrases.FOUND_SET, name="SIGNAL__WEBHOOK_SECRET")
        found.append(warning(AREA_NETWORK, phrases.FOUND_WEBHOOK_IDLE, how))
    if signal.webhook_secret is not None:
        host, port, advice = signal.webhook_host, signal.webhook_port, phrases.FOUND_PORT_OTHER_WEBHOOK
        found.append(_port("SIGNAL__WEBHOOK", host, port, advice, is_held=is_held))
    return [finding for finding in found if finding is not None]


def _port(group: str, host: str, port: int, advice: Words, *, is_held: bool) -> Finding | None:
    names = (f"{group}__PORT", f"{group}__HOST") if group == "WEB" else (f"{group}_PORT", f"{group}_HOST")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as those who listen do
            trial.bind(address)
            trial.listen(1)
    except socket.gaierror:
        what = fill(phrases.FOUND_HOST_UNKNOWN, name=names[1], host=host)
        return problem(AREA_NETWORK, what, fill(phrases.FOUND_CORRECT, name=names[1]))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            what = fill(phrases.FOUND_PORT_TAKEN, name=names[0], port=port, host=host)
            return None if is_held else problem(AREA_NETWORK, what, advice)
        if error.errno == errno.EADDRNOTAVAIL:
            what = fill(phrases.FOUND_HOST_ELSEWHERE, name=names[1], host=host)
            return problem(AREA_NETWORK, what, fill(phrases.FOUND_HOST_SET, name=names[1]))
        what = fill(phrases.FOUND_PORT_DENIED, name=names[0], port=port, error=error.strerror)
        return problem(AREA_NETWORK, what, advice)
    return None


def free_bytes_of(settings: Settings) -> int:
    """What is free in the nearest folder that exists."""
    return shutil.disk_usage(next(place for place in settings.store.path.absolute().parents if place.exists())).free


def _megabytes(path: Path) -> Decimal:
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-keys")]
    return Decimal(f"{sum(file.stat().st_size for file in files if file.exists()) / 1_000_000:.1f}")
