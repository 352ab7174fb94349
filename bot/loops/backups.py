"""Nightly backups: a copy of the store each night, kept for as many days as the operator wants."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.clock import Clock
from bot.logs import describe_error
from store import Store

_log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0
_HOUR = 3
"""The hour of the night in which a copy is made; a machine that was off then makes it up."""


def nightly_folder(store_path: Path) -> Path:
    """Returns the folder of the nightly copies; others stand above it, and are never deleted."""
    return store_path.absolute().parent / "backups" / "nightly"


class NightlyBackups:
    """The loop that makes the copies and deletes the old ones."""

    def __init__(self, store: Store, clock: Clock, folder: Path, *, days: int | None, timezone: str) -> None:
        """`days` is how long a copy is kept; None makes none."""
        self._store = store
        self._clock = clock
        self._folder = folder
        self._days = days
        self._zone = ZoneInfo(timezone)

    async def run(self) -> None:
        """Looks every few minutes whether a copy is due; ends only by cancellation."""
        while self._days is not None:
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001  (a full disk must not end Aldis; it is tried again)
                _log.error("the nightly backup failed: %s", describe_error(error))
            await asyncio.sleep(LOOK_SECONDS)
        await asyncio.Event().wait()

    async def look(self) -> None:
        """Makes the copy of last night if it is missing, then deletes those that are too old.

        Raises:
            StoreError, OSError: no copy could be written; the old ones are kept.
        """
        now = self._clock.wall()
        night = now.astimezone(self._zone).replace(hour=_HOUR, minute=0, second=0, microsecond=0)
        night -= timedelta(days=night > now)
        copies = await asyncio.to_thread(self._copies)
        if all(made_at < night for made_at in copies.values()):
            path = await self._store.backup(self._folder, now=now)
            _log.info("nightly backup: %s", path)
        for path, made_at in copies.items():
            if self._days is not None and made_at < now - timedelta(days=self._days):
                await asyncio.to_thread(_delete, path)

    def _copies(self) -> dict[Path, datetime]:
        """The copies and when each was made, by its name."""
        return {path: _made_at(path) for path in sorted(self._folder.glob("aldis-*.db"))}


def _made_at(path: Path) -> datetime:
    """When a copy was made: its name says so, as `store.backup` gives it."""
    return datetime.strptime(path.stem.split("-")[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def _delete(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}-keys").unlink(missing_ok=True)
