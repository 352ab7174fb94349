"""A real PostgreSQL server from Debian's package, created in a folder of its own and deleted at the end.

It listens on a socket in its folder, where everyone is trusted, and on a loopback port, which requires a password. It
never syncs, as nothing in it has to last.
"""

import asyncio
import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from tests.ports import free_port

PASSWORD = "lamp-4711-secret"
_PACKAGES = Path("/usr/lib/postgresql")
_START_SECONDS = 60
_FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=4MB", "max_connections=20")


def programs() -> Path | None:
    """The folder with `initdb` and `postgres`, the newest; None where the package is not installed."""
    found = sorted(_PACKAGES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    path = shutil.which("initdb")
    return Path(path).parent if path and (Path(path).parent / "postgres").exists() else None


@dataclass(frozen=True, kw_only=True)
class PostgresServer:
    """A server that runs."""

    folder: Path
    port: int

    def address(self, user: str = "keeper") -> str:
        """By the socket, trusted."""
        return f"postgresql://{user}@/lighthouse?host={self.folder}&port={self.port}"

    def tcp_address(self, password: str, database: str = "lighthouse") -> str:
        """By the loopback, with a password."""
        return f"postgresql://keeper:{password}@127.0.0.1:{self.port}/{database}"

    async def run(self, *statements: str) -> list[Any]:
        """Statements as the owner of everything; gives the rows of the last one."""
        connection = await asyncpg.connect(self.address())
        try:
            rows: list[Any] = []
            for statement in statements:
                rows = await connection.fetch(statement)
            return rows
        finally:
            await connection.close()


@contextmanager
def running(folder_of_programs: Path) -> Iterator[PostgresServer]:
    """A fresh server with the database `lighthouse`, whose owner is `keeper`."""
    folder = Path(tempfile.mkdtemp(prefix="aldis-pg-", dir="/tmp"))  # a socket's path has at most 107 characters
    owner = _owner()
    try:
        if owner:
            os.chown(folder, owner["user"], owner["group"])
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        data = folder / "data"
        _initialised(folder_of_programs, data, secret, owner)
        with _started(folder_of_programs, data, owner) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> dict[str, int]:
    """Who runs the server: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam("postgres")
    except KeyError:
        entry = pwd.getpwnam("nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid}


def _initialised(programs: Path, data: Path, secret: Path, owner: dict[str, Any]) -> None:
    options = ["--username=keeper", "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}"]
    options += ["--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions"]
    subprocess.run(
        [programs / "initdb", f"--pgdata={data}", *options],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=data.parent,
        timeout=_START_SECONDS,
        **owner,
    )


@contextmanager
def _started(programs: Path, data: Path, owner: dict[str, Any]) -> Iterator[PostgresServer]:
    server = PostgresServer(folder=data.parent, port=free_port())
    settings = [f"port={server.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={server.folder}", *_FAST]
    command = [programs / "postgres", "-D", data, *(part for setting in settings for part in ("-c", setting))]
    with (data.parent / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=data.parent, **owner)
    try:
        asyncio.run(_ready(server, process))
        yield server
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing has to last
        process.wait(_START_SECONDS)


async def _ready(server: PostgresServer, process: subprocess.Popen[Any]) -> None:
    """Wait until it answers, then make the database."""
    first = server.address().replace("/lighthouse", "/postgres")
    async with asyncio.timeout(_START_SECONDS):
        while True:
            assert process.poll() is None, (server.folder / "log").read_text()
            with contextlib.suppress(OSError, asyncpg.CannotConnectNowError):
                connection = await asyncpg.connect(first)
                break
            await asyncio.sleep(0.02)
        try:
            await connection.execute("CREATE DATABASE lighthouse")
        finally:
            await connection.close()
