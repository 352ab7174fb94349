"""What is learnt about models: asked from their servers, and stored for the next process.

    start           --> every model that may be asked -----> lessons --> the adapters, the room of a turn, /status
    first answer    --> that model again: a server at home loads it then, and knows its real window only afterwards

No turn waits for it; earlier knowledge applies until there is an answer.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from bot.app.models import server_of
from bot.clock import Clock
from bot.doctor.models import checked_server
from bot.doctor.servers import ask_capabilities
from bot.models.base import Completion
from bot.models.capabilities import LESSON, NOTHING, ModelLessons
from bot.settings import Settings
from store import Store, StoreError
from tools import Http

_log = logging.getLogger(__name__)

_KEPT = timedelta(days=30)
"""When it is learnt again, because the server was probably updated, or has another model under the same name."""


class CapabilityProbe:
    """Learns what the models in use can do."""

    def __init__(self, settings: Settings, http: Http, lessons: ModelLessons) -> None:
        self._settings = settings
        self._http = http
        self._lessons = lessons
        self._server = server_of(settings)
        self._answered: set[str] = set()
        self._asking: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Asks about every model, side by side, in the background."""
        llm = self._settings.llm
        models = dict.fromkeys((*(llm.model_of(name) for name in llm.providers_in_order), *llm.choices))
        for model in models:
            self._ask(model)

    def on_answer(self, completion: Completion) -> None:
        """Asks about a model again after its first answer."""
        model = f"{completion.provider}/{completion.model}"
        if model not in self._answered and completion.provider == "openai":
            self._answered.add(model)
            self._ask(model if model in self._settings.llm.choices else self._settings.llm.model_of("openai"))

    async def aclose(self) -> None:
        """Stops asking."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    def _ask(self, model: str) -> None:
        task = asyncio.create_task(self._learn(model), name="capabilities")
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _learn(self, model: str) -> None:
        place = self._server(model)
        if place is None:
            return
        address, wanted = place
        server = checked_server(model.partition("/")[0], self._settings)
        name, told = await ask_capabilities(server, wanted, self._http)
        if told != NOTHING:
            for known_as in {wanted, name}:
                self._lessons.learn(address, known_as, **{LESSON: told.as_lesson()})


class KeptLessons:
    """The lessons in one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._saving: set[asyncio.Task[None]] = set()

    async def read(self) -> ModelLessons:
        """What is known; further lessons are stored as they are learnt.

        Raises:
            StoreError: the store cannot be read.
        """
        since = self._clock.wall() - _KEPT
        rows = await self._store.read(lambda repos: repos.lessons.all(since=since))
        return ModelLessons({subject: found for subject, row in rows.items() if (found := _loaded(row))}, self._keep)

    async def aclose(self) -> None:
        """Waits until everything is written."""
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
            _log.warning(
                "what was learnt about a model could not be stored and lasts only until the next start: %s", error
            )


def _loaded(row: str) -> dict[str, Any]:
    try:
        found = json.loads(row)
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
