"""What a kill at any step would leave: `python -m tests.store.dying PATH COPIES VERB` works on the store at PATH.

Before every SQL statement, every renaming and removal and every opening of a file it leaves a copy of the store's
folder in COPIES, numbered from 000, unless nothing has changed since the last one: the very bytes that another process
would find if this one had been killed there.
"""

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from store import open_store, restore
from tests.conftest import NOON
from tests.store.lives import forgotten
from tests.store.places import contents

_connect = sqlite3.connect


async def each_step(path: Path, copies: Path, verb: str) -> AsyncGenerator[Path]:
    """Carry out a verb in a process of its own; gives the store as it was at each step, and at last as it is then."""
    arguments = ("-m", "tests.store.dying", str(path), str(copies), verb)
    root = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=root, env={"PATH": os.environ["PATH"]}
    )
    assert await process.wait() == 0
    for folder in sorted(copies.iterdir()):  # noqa: ASYNC240  (nothing else runs)
        yield folder / path.name
    yield path


class _Copies:
    def __init__(self, path: Path, folder: Path) -> None:
        self._path, self._folder = path, folder
        self._last: dict[str, bytes] = {}
        self._is_copying = False
        """Copying opens files, which are steps of their own otherwise."""

    def step(self, _: object = None) -> None:
        if self._is_copying:
            return
        self._is_copying = True
        now = {name: file for name, file in contents(self._path).items() if not name.endswith(("-shm", "-lock"))}
        if now != self._last:
            shutil.copytree(self._path.parent, self._folder / f"{len(list(self._folder.iterdir())):03}")
            self._last = now
        self._is_copying = False

    def connect(self, *args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection = _connect(*args, **kwargs)
        connection.set_trace_callback(self.step)
        return connection

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event in {"open", "os.rename", "os.remove", "os.truncate"} and str(args[0]).startswith(str(self._path)):
            self.step()


async def _carry_out(path: Path, verb: str) -> None:
    if verb == "restore":
        restore(path.parent.parent / "copies" / "copy.db", path, now=NOON)
        return
    async with open_store(path, realm="signal") as store:
        [command] = await store.read(lambda repos: repos.inbox.urgent_items())
        await forgotten(store, "direct:a", command.id, "alice" if verb == "forget-person" else None)


if __name__ == "__main__":
    copies = _Copies(Path(sys.argv[1]), Path(sys.argv[2]))
    Path(sys.argv[2]).mkdir()
    sqlite3.connect = copies.connect
    sys.addaudithook(copies.audit)
    asyncio.run(_carry_out(Path(sys.argv[1]), sys.argv[3]))
