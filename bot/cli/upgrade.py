"""The verb `upgrade-check`: tries this version on a copy of the store before it replaces the running one.

    backup (by the running Aldis, or else of the files as they lie) --> a copy of it is brought up to date
        --> a question is answered over the copy --> the changes are reported --> the copy goes, the backup stays

Nothing that is in use changes, nobody gets a message, and no model is paid unless asked for. The backup is the way
back: "An upgrade, and the way back" in docs/operating.md.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot import app, logs, settings
from bot.cli import store as upkeep
from bot.clock import MachineClock
from bot.errors import ConfigError
from bot.settings import Settings
from bot.terminal.transport import Terminal
from bot.version import build, describe_build
from bot.web.control import ask_running
from store import copy_closed, master_key_path, restore, schema_of

_QUESTION, _ANSWER = "What is 17 * 23?", "391"
_CANARY_SECONDS = 300.0
_LEFT_SECONDS = 3600.0
"""Longer than any check takes."""
_DRAFT = ".upgrade-check-"
_QUIET = {"TOOLS__MCP__ENABLED": "false", "TOOLS__NEWS__ENABLED": "false", "WEB__PORT": "0"}
"""What the question does not need: other people's servers, and a page."""
_ALONE = {"LLM__PROVIDERS": "offline"}


def check(given: Settings, options: argparse.Namespace) -> int:
    """`upgrade-check [FOLDER]`: status 0 if this version works on the store, 1 if it does not answer.

    Raises:
        ConfigError, StoreError: there is nothing to try it on, or it cannot be brought up to date.
    """
    logs.set_up("ERROR", given.log.format)
    path = given.store.path.absolute()
    if not path.exists():
        raise ConfigError(f"STORE__PATH: there is no store at {path}")
    folder = Path(options.folder).absolute() if options.folder else path.parent / "backups"
    backup, running = asyncio.run(_back_up(path, folder))
    ours = build()
    before = "" if running is None else f"{_named(running)} -> "
    print(f"version  {before}{_named(ours)}{'' if before else ', while none is running'}")
    print(f"backup   {backup} and the same with -keys: keep it, and the master key, for the way back")
    print("settings understood")
    _clear(folder)
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=folder) as place:
        copy = Path(place) / path.name
        _put_beside(path, copy)
        more = _QUIET if options.model else {**_QUIET, **_ALONE}
        chosen = settings.load_settings({**os.environ, "STORE__PATH": str(copy), **more})
        _bring_up_to_date(chosen, backup)
        answer = asyncio.run(_canary(chosen))
    is_right = _ANSWER in answer
    print(f"answer   {_QUESTION} {' '.join(answer.split()) or 'no answer'}{'' if is_right else ': that is wrong'}")
    print("Nothing that is in use was changed." if is_right else "Do not start this version; look at what it said.")
    return 0 if is_right else 1


async def _back_up(path: Path, folder: Path) -> tuple[Path, Mapping[str, Any] | None]:
    """Returns a backup, and the build of the running Aldis; None if none runs."""
    answer = await ask_running(path, "backup", {"folder": str(folder)})
    if answer is None:
        return await asyncio.to_thread(copy_closed, path, folder, now=MachineClock().wall()), None
    state = await ask_running(path, "state") or {}
    return Path(answer["file"]), state.get("build", {})


def _clear(folder: Path) -> None:
    """Removes what a killed check left behind: sealed words, and perhaps a key."""
    for place in folder.glob(f"{_DRAFT}*"):
        if not place.is_symlink() and time.time() - place.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(place, ignore_errors=True)


def _put_beside(path: Path, copy: Path) -> None:
    """Copies the key and the settings file beside the store, if they exist."""
    for name in (master_key_path(path).name, settings.SETTINGS_FILE_NAME):
        if path.with_name(name).exists():
            os.close(os.open(copy.with_name(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            shutil.copyfile(path.with_name(name), copy.with_name(name))


def _bring_up_to_date(chosen: Settings, backup: Path) -> None:
    version = schema_of(backup)
    kept = chosen.store
    restore(backup, kept.path, now=MachineClock().wall(), key=kept.master_key, old_key=kept.old_master_key)
    upkeep.settle_quietly(chosen)
    brought_to = schema_of(kept.path)
    print(f"schema   {version}" + (f" -> {brought_to}" if brought_to != version else ", as it is"))


async def _canary(chosen: Settings) -> str:
    """The answer to a question in a conversation of its own, over the copy."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said, tempfile.TemporaryFile("w+") as noted:
        terminal = Terminal(stdin=sys.stdin, stdout=said, stderr=noted, conversation="upgrade-check", once=_QUESTION)
        async with app.build_service(chosen, terminal, realm="terminal") as aldis, asyncio.timeout(_CANARY_SECONDS):
            await aldis.chat(asyncio.Event())
        said.seek(0)
        return said.read()


def _named(built: Mapping[str, Any]) -> str:
    return f"Aldis {describe_build(built)}" if built else "an Aldis that does not say its version"
