"""The operator's verbs for the store: `backup`, `restore`, `export`, `upgrade-check`; and `captcha`.

Only one process can have the store open. While Aldis runs, a verb asks it through its control socket; otherwise the
verb opens the store itself.

`upgrade-check` tries this version on a copy before it replaces the running one; nothing in use changes ("An upgrade,
and the way back" in docs/operating.md):

    backup (by the running Aldis, or else of the files as they lie) --> a copy of it is migrated and read
        --> the changes are reported --> the copy goes, the backup stays
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path

from bot import app, logs
from bot.clock import Clock
from bot.errors import ConfigError
from bot.events import ChatId
from bot.features.export import gather_export
from bot.invocation import command_line
from bot.settings import Settings
from bot.version import build, describe_build
from bot.web.control import ask_running, uuid_of
from store import NOT_INCLUDED, copy_closed, open_store, restore

_CLOSED = """\
What was open in it may have been answered, sent and said since, so the next start closes it. Messages that arrived
after the backup are gone, because Signal delivers nothing twice: people who still wait have to write again."""


def back_up(given: Settings, options: argparse.Namespace) -> int:
    """`backup FOLDER`: copies the store, even while Aldis runs."""
    print(asyncio.run(_back_up(given.store.path, Path(options.folder).absolute())), flush=True)
    print(NOT_INCLUDED, file=sys.stderr)
    return 0


def restore_backup(given: Settings, options: argparse.Namespace) -> int:
    """`restore FILE`: replaces the store with a copy; the previous store is kept beside it."""
    former = replace_store(given, Path(options.file).absolute())
    before = f" What was there before is at {former}." if former else ""
    print(f"Restored {given.store.path}.{before}", file=sys.stderr)
    print(_CLOSED, file=sys.stderr)
    return 0


def replace_store(given: Settings, copy: Path) -> Path | None:
    """Puts the copy in the place of the store, kept beside it; returns where. A StoreError leaves all as it is."""
    return restore(copy, given.store.path, now=Clock().now(), key=given.store.master_key)


def export(given: Settings, options: argparse.Namespace) -> int:
    """`export PERSON`: prints what is kept about a person, as JSON."""
    found = asyncio.run(_export(given, options.person))
    print(found)
    if not any(json.loads(found).values()):
        print("Nothing is kept about this person.", file=sys.stderr)
    return 0


async def _export(given: Settings, wanted: str) -> str:
    """Returns what the running Aldis exports, or else the store, which is then opened here."""
    answer = await ask_running(given.store.path, "export", {"person": wanted})
    if answer is not None:
        return answer["json"]
    _must_exist(given.store.path)
    async with open_store(given.store.path, realm="signal", key=given.store.master_key) as store:
        person = uuid_of(wanted)
        if person is None:
            raise ConfigError("export: name the person by UUID, or do this while Aldis runs, which knows other names")
        now = (await app.resumed_clock(store)).now()
        return (await gather_export(store, person, ChatId.direct(person), now=now)).as_json()


def _must_exist(path: Path) -> None:
    if not path.exists():
        raise ConfigError(
            f"STORE__PATH: there is nothing at {path} yet: Aldis has never run here, or this is the wrong folder"
        )


def captcha(given: Settings, options: argparse.Namespace) -> int:
    """`captcha LINK`: hands in the captcha that Signal wants solved, and sends what was waiting."""
    answer = asyncio.run(ask_running(given.store.path, "captcha", {"captcha": " ".join(options.link)}))
    if answer is None:
        raise ConfigError(
            f"captcha: Aldis is not running. Start it (`{command_line('run')}`) and hand the captcha in while it runs; "
            f"`{command_line('health')}` says whether Signal still wants one"
        )
    print("Signal has accepted it. What was waiting is being sent.", file=sys.stderr)
    return 0


def check(given: Settings, _: argparse.Namespace) -> int:
    """`upgrade-check`: status 0 if this version opens a copy of the store."""
    logs.set_up("ERROR", given.log.format)
    path = given.store.path.absolute()
    folder = path.parent / "backups"
    backup = asyncio.run(_back_up(path, folder))
    running = (asyncio.run(ask_running(path, "state")) or {}).get("build")
    ours = f"Aldis {describe_build(build())}"
    print(f"version  {f'Aldis {describe_build(running)} -> {ours}' if running else f'{ours}, while none is running'}")
    print(f"backup   {backup} and the same with -keys: keep it, and the master key, for the way back")
    with tempfile.TemporaryDirectory(prefix=".upgrade-check-", dir=folder) as place:
        copy = given.store.model_copy(update={"path": Path(place) / path.name})
        if given.store.key_path.exists():
            shutil.copyfile(given.store.key_path, copy.key_path)
        tried = given.model_copy(update={"store": copy})
        replace_store(tried, backup)
        asyncio.run(_migrate(tried))
    print("This version works on it. Nothing that is in use was changed.")
    return 0


async def _migrate(given: Settings) -> None:
    async with app.opened_store(given, "signal"):
        pass


async def _back_up(path: Path, folder: Path) -> Path:
    """Returns a backup, by the running Aldis or else of the files as they lie."""
    answer = await ask_running(path, "backup", {"folder": str(folder)})
    if answer is not None:
        return Path(answer["file"])
    _must_exist(path)
    return await asyncio.to_thread(copy_closed, path, folder, now=Clock().now())
