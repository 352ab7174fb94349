"""Upkeep: the doctor's findings, backups and the master key; and the last page of setup."""

import asyncio
from pathlib import Path

from aiohttp import web

from bot.clock import Clock
from bot.doctor.checkup import examine
from bot.version import build, describe_build
from bot.web.admin.forms import AdminPage, Ask, Field, Form, NotDone

_MAX_BACKUPS = 20
_HINT = "Empty: none. What has been forgotten since is still in older copies."
_DAYS = Field("STORE__BACKUP_DAYS", "Every night, kept for so many days", "number", _HINT)


async def _values(ask: Ask) -> dict[str, object]:
    return {
        "findings": ask.world.findings,
        "has_key": ask.settings.store.key_path.is_file(),
        "key_file": ask.settings.store.key_path.name,
        "backups": [path.name for path in _backups(ask)],
        "version": describe_build(build()),
    }


async def _examine(ask: Ask) -> str:
    ask.world.findings = await examine(ask.settings, ask.deps, Clock())
    return "Checked."


def _folder(ask: Ask) -> Path:
    return ask.settings.store.path.absolute().parent / "backups"


def _backups(ask: Ask) -> list[Path]:
    """The newest copies, made here and nightly."""
    found = [*_folder(ask).glob("aldis-*.db"), *_folder(ask).glob("nightly/aldis-*.db")]
    return sorted(found, key=lambda path: path.name, reverse=True)[:_MAX_BACKUPS]


async def _back_up(ask: Ask) -> str:
    running = ask.running()
    await running.store.backup(_folder(ask), now=running.clock.now())
    ask.write_down("backup.made")
    return "Backup made."


async def _restore(ask: Ask) -> str:
    """Restarts Aldis with one of the copies in the place of its store."""
    copy = next((path for path in _backups(ask) if path.name == ask.entry("file")), None)
    if copy is None:
        raise NotDone("That copy is no longer there.")
    ask.write_down("backup.restored", copy.name)
    await ask.world.restore(copy)
    return f"Restored: Aldis goes on from {copy.name}. What was there before is kept beside the store."


async def _hand_over(ask: Ask) -> web.Response:
    """Sends one of the two files of a copy, or that with the master key, without which no copy can be read."""
    files = [file for path in _backups(ask) for file in (path, path.with_name(f"{path.name}-keys"))]
    files.append(ask.settings.store.key_path)
    file = next((file for file in files if file.name == ask.entry("file") and file.is_file()), None)
    if file is None:
        raise NotDone("That file is no longer there.")
    ask.write_down("file.downloaded", file.name)
    body = await asyncio.to_thread(file.read_bytes)
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return web.Response(body=body, content_type="application/octet-stream", headers=headers)


_ACTIONS = {"examine": _examine, "file": _hand_over}
DONE = AdminPage(path="/setup/done", template="done", values=_values, actions=_ACTIONS)
PAGE = AdminPage(
    path="/upkeep",
    template="upkeep",
    values=_values,
    actions={**_ACTIONS, "backup": _back_up, "restore": _restore},
    forms=(Form(name="nightly", title="Every night", fields=(_DAYS,)),),
)
