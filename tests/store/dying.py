"""What a kill at any step would leave: `python -m tests.store.dying PATH COPIES VERB` works on the store at PATH.

Before every SQL statement, every renaming and removal and every opening of a file it leaves a copy of the store's
folder in COPIES, numbered from 000, unless nothing has changed since the last one: the very bytes that another process
would find if this one had been killed there.
"""

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from store import InboxId, Repositories, open_store, restore
from tests.conftest import NOON
from tests.store.lives import Answer

_path, _copies = Path(sys.argv[1]), Path(sys.argv[2])
_connect = sqlite3.connect
_last: dict[str, bytes] = {}
_is_copying = True


def _step(_: object = None) -> None:
    global _is_copying  # noqa: PLW0603  (copying opens files, which are steps of their own otherwise)
    if _is_copying:
        return
    _is_copying = True
    now = {file.name: file.read_bytes() for file in _path.parent.iterdir() if not file.name.endswith(("-shm", "-lock"))}
    if now != _last:
        shutil.copytree(_path.parent, _copies / f"{len(list(_copies.iterdir())):03}")
        _last.clear()
        _last.update(now)
    _is_copying = False


def _traced(*args: Any, **kwargs: Any) -> sqlite3.Connection:
    connection = _connect(*args, **kwargs)
    connection.set_trace_callback(_step)
    return connection


def _audited(event: str, args: tuple[Any, ...]) -> None:
    if event in {"open", "os.rename", "os.remove", "os.truncate"} and str(args[0]).startswith(str(_path)):
        _step()


def _command(repos: Repositories) -> InboxId:
    [urgent_item] = repos.inbox.urgent_items()
    return urgent_item.id


async def _forget() -> None:
    async with open_store(_path, realm="signal") as store:
        command = await store.read(_command)
        await store.forget("direct:a", before=command, now=NOON, then=Answer(command))


async def _forget_person() -> None:
    async with open_store(_path, realm="signal") as store:
        command = await store.read(_command)
        await store.forget("direct:a", person="alice", before=command, now=NOON, then=Answer(command))


async def _restore() -> None:
    restore(_path.parent.parent / "copies" / "copy.db", _path, now=NOON)


_VERBS: dict[str, Callable[[], Awaitable[None]]] = {
    "forget": _forget,
    "forget-person": _forget_person,
    "restore": _restore,
}


async def _main() -> None:
    global _is_copying  # noqa: PLW0603
    _copies.mkdir()  # noqa: ASYNC240  (nothing else runs)
    sqlite3.connect = _traced
    sys.addaudithook(_audited)
    _is_copying = False
    await _VERBS[sys.argv[3]]()
    _is_copying = True


if __name__ == "__main__":
    asyncio.run(_main())
