"""The files of a store as tests look at them from outside, and a store as a kill at each step would leave it."""

import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent


def keys_of(path: Path) -> Path:
    return path.with_name(path.name + "-keys")


def master_of(path: Path) -> Path:
    return path.with_name(path.name + "-master-key")


def wrapped(path: Path) -> list[bytes]:
    """The wrapped keys in the key file of a store, that of the index among them."""
    with closing(sqlite3.connect(f"file:{keys_of(path)}?mode=ro", uri=True)) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM wrapped")]


def stores(copies: Path, name: str) -> list[Path]:
    return [folder / name for folder in sorted(copies.iterdir())]


def content(path: Path) -> bytes:
    return path.read_bytes()


def replace(path: Path, content: bytes) -> None:
    path.write_bytes(content)


async def each_step(path: Path, copies: Path, verb: str) -> AsyncGenerator[Path]:
    """Carry out a verb of `tests.store.dying`; gives the store as it was at each step, and at last as it is then."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.store.dying", str(path), str(copies), verb),
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"]},
    )
    assert await process.wait() == 0
    for copy in stores(copies, path.name):
        yield copy
    yield path
