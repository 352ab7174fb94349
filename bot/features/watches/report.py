"""What is said of watches, as JSON for programs of the operator's; a kill or a stop right after the commit loses it."""

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.errors import ConfigError
from tools import Http, ToolError, Unavailable, is_base_url


@dataclass(frozen=True, kw_only=True, slots=True)
class Reports:
    """Takes reports to `place`: a line of that file, or at most three POSTs to that address, which is trusted."""

    place: str
    http: Http
    pause_seconds: float = 1.0
    timeout_seconds: float = 10.0

    def __post_init__(self) -> None:
        """Raises ConfigError if it is neither an address, which is not asked, nor a file that can be written."""
        there = self.place if os.access(self.place, os.F_OK) else f"{Path(self.place).parent}/"
        is_file = os.access(there, os.W_OK) and not os.access(f"{self.place}/", os.F_OK)
        if self.place and not (is_base_url(self.place.partition("?")[0]) if "://" in self.place else is_file):
            raise ConfigError("WATCHES__REPORT: must be an http(s) address, or a writable file in an existing folder")

    async def put(self, report: Mapping[str, object]) -> None:
        """Hands it over within the timeout; raises ToolError or OSError if the place does not take it."""
        async with asyncio.timeout(self.timeout_seconds):
            await (self._post(report) if "://" in self.place else asyncio.to_thread(self._append, report))

    async def _post(self, report: Mapping[str, object], tries: int = 3) -> None:
        try:
            answer = await self.http.post(self.place, service="It", timeout_seconds=self.timeout_seconds, json=report)
            if not answer.ok:
                raise Unavailable(f"It answers with status {answer.status}.")
        except ToolError:
            if tries == 1:
                raise
            await asyncio.sleep(self.pause_seconds)
            await self._post(report, tries - 1)

    def _append(self, report: Mapping[str, object]) -> None:
        with open(self.place, "ab", buffering=0, opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(json.dumps(report, ensure_ascii=False).encode() + b"\n")  # at once: others write, too
