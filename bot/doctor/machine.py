"""The clock, what holds cells, the database with its key, the room that is left, and what guards the pages."""

import base64
import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bot.chat.notices import Notice
from bot.clock import Clock
from bot.doctor.findings import Deps, Finding, ok, problem, warning
from bot.doctor.models import is_loopback
from bot.errors import ConfigError
from bot.invocation import spell_commands
from bot.media.cell import FileRefused
from bot.media.confinement import Level
from bot.settings import Settings
from store import StoreError, StoreInUse, open_store

_LITTLE_ROOM_BYTES, _NO_ROOM_BYTES = 500_000_000, 50_000_000
_MIN_SECRET_BYTES = 16
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""


async def check_machine(settings: Settings, deps: Deps, clock: Clock) -> list[Finding]:
    """Returns what is to be said of the clock, the cells for strangers' files, and the disk."""
    found = [ok("clock", f"{clock.now():%Y-%m-%d %H:%M} UTC, people's time zone is {settings.locale.timezone}")]
    if clock.now() < _WRITTEN:
        found = [problem("clock", "it is off by months or years", "set the machine's clock; Signal needs it")]
    try:
        found.append(check_cell_level(await deps.sandbox().level()))
    except FileRefused:
        what = "the process that opens strangers' files and pages does not start"
        found.append(problem("cells", what, "its output is above; is there memory, and room for more processes?"))
    return [*found, check_disk(free_bytes_of(settings))]


def words_of_level(level: Level) -> str:
    """Returns the layers in force, `Landlock 7, seccomp`, and what is not without one."""
    landlock = f"Landlock {level.landlock}" if level.landlock else "no Landlock"
    code = "" if level.landlock and level.seccomp else "; run_code cannot be offered"
    return f"{landlock}, {'' if level.seccomp else 'no '}seccomp{code}"


def check_cell_level(level: Level) -> Finding:
    """Returns how well strangers' files are confined on a machine that can do so much."""
    what = f"strangers' files and pages are opened in processes of their own ({words_of_level(level)})"
    if level.seccomp:
        return ok("cells", what)
    reach = "use sockets and start processes" if level.landlock else "do whatever Aldis's user can"
    how = "use Linux 5.13 or later on x86-64 or aarch64; in a container see what its runtime allows"
    return warning("cells", f"{what}: a file that takes one over can {reach}", how)


async def check_store(settings: Settings) -> list[Finding]:
    """Returns whether the store opens, or can be made."""
    path = settings.store.path
    if not any(path.with_name(path.name + suffix).exists() for suffix in ("", "-keys")):
        there = _nearest_place(path)
        try:
            tempfile.TemporaryFile(dir=there).close()
        except OSError as error:
            what = f"user {os.geteuid()} cannot write to {there}: {error.strerror}"
            return [problem("store", what, f"make that user the folder's owner, or set STORE__PATH (it is {path})")]
        return [ok("store", f"{path} will be created at the first start")]
    try:
        async with open_store(path, realm="signal", key=settings.store.master_key):
            pass
    except StoreInUse:
        return [ok("store", f"{path} is in use by a running Aldis")]
    except StoreError as error:
        return [problem("store", spell_commands(str(error)), "fix this before the next start")]
    return [ok("store", f"{path} opens with its key, and is intact")]


def check_disk(free_bytes: int) -> Finding:
    """Returns whether that is enough to go on with."""
    what = f"{free_bytes // 1_000_000:,} MB are free where the store is"
    notice = Notice(kind="disk")
    if free_bytes < _NO_ROOM_BYTES:
        return problem("disk", what, "free some space: without it Aldis takes in no messages", notice)
    if free_bytes < _LITTLE_ROOM_BYTES:
        return warning("disk", what, "free some space before it is full", notice)
    return ok("disk", what, notice=notice)


def free_bytes_of(settings: Settings) -> int:
    """Returns what is free in the nearest folder that exists."""
    return shutil.disk_usage(_nearest_place(settings.store.path)).free


def _nearest_place(path: Path) -> Path:
    return next(place for place in path.absolute().parents if place.exists())


def secret_of(settings: Settings, *, is_contained: bool = False) -> bytes | None:
    """What the codes of the pages are made of; None where only this machine reaches them and no secret is set.

    Raises:
        ConfigError: others reach them and there is no secret, or it is too short or not base32.
    """
    web = settings.web
    if web.admin_totp is None:
        host = f"[{web.admin_host}]" if ":" in web.admin_host else web.admin_host
        # A container listens on 0.0.0.0, and is reached as it is published.
        is_here = is_contained if is_every_address(web.admin_host) else is_loopback(f"http://{host}")
        if is_here and (web.admin_url is None or is_loopback(web.admin_url)):
            return None
        name = "WEB__ADMIN_URL" if web.admin_url else "WEB__ADMIN_HOST"
        raise ConfigError(
            f"WEB__ADMIN_TOTP: must be set, because {name} publishes the pages: 32 letters in base32, which "
            "you give to an authenticator app, too; `head -c 20 /dev/urandom | base32` makes some"
        )
    letters = web.admin_totp.get_secret_value().upper().replace(" ", "").rstrip("=")
    try:
        found = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except ValueError as error:
        raise ConfigError("WEB__ADMIN_TOTP: must be base32: letters and the digits 2 to 7") from error
    if len(found) < _MIN_SECRET_BYTES:
        raise ConfigError("WEB__ADMIN_TOTP: must be longer; 32 letters are good")
    return found


def is_contained() -> bool:
    """Whether the process runs in a container of Docker or Podman, going by their marker files."""
    return any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))


def is_every_address(host: str) -> bool:
    """Whether a host stands for every address of the machine: it is written in zeros alone, as 0.0.0.0 and ::0."""
    return not host.strip("0.:")
