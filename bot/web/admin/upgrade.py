"""What an upgrade would bring: runs `aldis upgrade-check` in a process of its own, and shows its output as it comes.

    idle --started--> running, line after line --status 0--> fine
                                               '--else, or too long--> failed

The check is that of the program on this machine's disk: after an upgrade that is not in use yet, the new one.
"""

import asyncio
import logging
import sys
from collections import deque
from typing import Literal

from bot.logs import describe_error, one_line

_log = logging.getLogger(__name__)

_MAX_LINES = 200
_MAX_LINE_CHARS = 500
_MAX_SECONDS = 1800.0
"""As long as the backup of a very large store and its migration can take."""
_COMMAND = (sys.executable, "-m", "bot", "upgrade-check")


class UpgradeCheck:
    """One check at a time, in the background; it ends with the pages."""

    def __init__(self, *command: str, max_seconds: float = _MAX_SECONDS) -> None:
        self._command = command or _COMMAND
        self._max_seconds = max_seconds
        self._task: asyncio.Task[None] | None = None
        self.kind: Literal["idle", "running", "fine", "failed"] = "idle"
        self.lines: deque[str] = deque(maxlen=_MAX_LINES)

    def start(self) -> bool:
        """Starts a check; returns False if one is already running."""
        if self.kind == "running":
            return False
        self.kind = "running"
        self.lines.clear()
        self._task = asyncio.create_task(self._run(), name="upgrade-check")
        return True

    async def stop(self) -> None:
        """Ends it, with its process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        status: int | None = None
        try:
            async with asyncio.timeout(self._max_seconds):
                status = await self._checked()
        except TimeoutError:
            self.lines.append("It took too long and was ended.")
        except OSError as error:
            _log.error("the check of an upgrade cannot be started: %s", describe_error(error))
            self.lines.append(f"It cannot be started: {error.strerror}")
        finally:
            self.kind = "fine" if status == 0 else "failed"

    async def _checked(self) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None  # noqa: S101  (a pipe was asked for)
        try:
            rest = b""
            while chunk := await process.stdout.read(65_536):
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    self._note(line)
                rest = rest[: 4 * _MAX_LINE_CHARS]
            self._note(rest)
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _note(self, line: bytes) -> None:
        text = one_line(line.decode("utf-8", "replace"))
        if text.strip():
            self.lines.append(text[:_MAX_LINE_CHARS])
