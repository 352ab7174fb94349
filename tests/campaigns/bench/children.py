"""Child processes driven by the benchmark line by line, so that the cost of one is not mixed with that of another."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.campaigns.bench.blocks import TURN_SECONDS, Block, Measured

REPOSITORY = Path(__file__).parents[3]
_START_SECONDS = 60.0
_LINE_BYTES = 16 * 1024 * 1024
_PASSED_ON = ("PATH", "HOME", "TMPDIR")


class Child:
    """A running Python module. `line` and `measured` raise where it has ended instead of answering."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process = process
        self._name = name

    async def line(self, seconds: float = _START_SECONDS) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(seconds):
            line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended before it answered; what it said stands above")
        return line.decode()

    async def told(self) -> Any:
        """What its next line says, as JSON."""
        return json.loads(await self.line())

    async def measured(self, block: Block) -> Measured:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(block)).encode() + b"\n")
        await self._process.stdin.drain()
        turns = len(block.conversations) * block.turns_each
        return Measured(**json.loads(await self.line(turns * TURN_SECONDS)))

    def cpu_seconds(self) -> float | None:
        """The user and system time that it has taken so far, all threads; None where the system does not tell."""
        path = Path(f"/proc/{self._process.pid}/stat")
        if not path.exists():
            return None
        # The name of the program comes before, in brackets. Source: proc_pid_stat(5), fields 14 and 15 (2024).
        fields = path.read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def aclose(self) -> None:
        """End its input and wait for it; killed where it does not end by itself."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._process.wait()
        finally:
            if self._process.returncode is None:
                self._process.kill()
                await self._process.wait()


@asynccontextmanager
async def started(
    module: str, *arguments: str, folder: Path, settings: Mapping[str, str] | None = None
) -> AsyncGenerator[Child]:
    """`python -m module` in an otherwise empty environment, so that no proxy, key or `.env` of the machine counts."""
    inherited = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(REPOSITORY), **(settings or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
    )
    child = Child(process, module)
    try:
        yield child
    finally:
        await child.aclose()
