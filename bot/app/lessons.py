"""What was learnt of models, in the store: read at the start, written beside the turns."""

import asyncio
import json
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from bot.clock import Clock
from bot.providers.lessons import ModelLessons
from store import Store, StoreError

_log = logging.getLogger(__name__)

_KEPT = timedelta(days=30)
"""Then it is learnt again: a server was updated, most likely, or has another model under the same name."""


class KeptLessons:
    """The lessons of one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._saving: set[asyncio.Task[None]] = set()

    async def read(self) -> ModelLessons:
        """What is known; more is kept as it is learnt.

        Raises:
            StoreError: the store cannot be read.
        """
        since = self._clock.wall() - _KEPT
        rows = await self._store.read(lambda repos: repos.lessons.all(since=since))
        return ModelLessons({subject: found for subject, row in rows.items() if (found := _loaded(row))}, self._keep)

    async def aclose(self) -> None:
        """Wait until everything is written."""
        await asyncio.gather(*self._saving)

    def _keep(self, subject: str, lessons: Mapping[str, Any]) -> None:
        task = asyncio.create_task(self._save(subject, json.dumps(lessons, sort_keys=True)), name="lessons")
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def _save(self, subject: str, lessons: str) -> None:
        now = self._clock.wall()
        try:
            await self._store.transaction(lambda repos: repos.lessons.keep(subject, lessons, now=now))
        except StoreError as error:
            _log.warning("what was learnt of a model is forgotten with the process: %s", error)


def _loaded(row: str) -> dict[str, Any]:
    try:
        found = json.loads(row)
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
