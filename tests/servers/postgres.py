"""A real PostgreSQL server from Debian's package, created in a folder of its own and deleted at the end.

It listens on a socket in its folder, where everyone is trusted, and on a loopback port, which requires a password. It
never syncs, as nothing in it has to last.
"""

import asyncio
import os
import pwd
import shutil
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
    folder: Path
    port: int

    def address(self, user: str = "keeper", database: str = "lighthouse") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def tcp_address(self, password: str, database: str = "lighthouse") -> str:
        return f"postgresql://keeper:{password}@127.0.0.1:{self.port}/{database}"

    async def run(self, *statements: str, database: str = "lighthouse") -> list[Any]:
        connection = await asyncpg.connect(self.address(database=database))
        try:
            rows: list[Any] = []
            for statement in statements:
                rows = await connection.fetch(statement)
            return rows
        finally:
            await connection.close()


@contextmanager
def running(programs: Path) -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="aldis-pg-", dir="/tmp"))  # a socket's path has at most 107 characters
    server = PostgresServer(folder=folder, port=free_port())
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        owner["user"] = "postgres" if any(entry.pw_name == "postgres" for entry in pwd.getpwall()) else "nobody"
        shutil.chown(folder, owner["user"])

    def run(program: str, *arguments: str) -> None:
        command = [programs / program, "-D", folder / "data", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, timeout=_START_SECONDS, **owner)

    try:
        (folder / "password").write_text(PASSWORD)
        options = ["--username=keeper", "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile=password"]
        run("initdb", *options, "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions")
        settings = (f"port={server.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", *_FAST)
        run("pg_ctl", "-o", " ".join(f"-c {setting}" for setting in settings), "-l", str(folder / "log"), "start")
        try:
            asyncio.run(server.run("CREATE DATABASE lighthouse", database="postgres"))
            yield server
        finally:
            run("pg_ctl", "-m", "immediate", "stop")  # nothing has to last
    finally:
        shutil.rmtree(folder, ignore_errors=True)
