"""Asks the servers what their models can do: beside the work at the start, and when a model has answered first.

    start           --> every model that may be asked -----> lessons --> the adapters, the room of a turn, /status
    first answer    --> that model again: a server at home loads it then, and knows its real window only from there on

No turn waits for it, and what is known from before counts until there is an answer.
"""

import asyncio

from bot.app.models import server_of
from bot.doctor.capabilities import ask_capabilities
from bot.doctor.models import checked_server
from bot.providers.base import Completion
from bot.providers.capabilities import LESSON, NOTHING
from bot.providers.lessons import ModelLessons
from bot.settings import Settings
from tools import Http


class CapabilityProbe:
    """Learns what the models can do that may be asked."""

    def __init__(self, settings: Settings, http: Http, lessons: ModelLessons) -> None:
        self._settings = settings
        self._http = http
        self._lessons = lessons
        self._server = server_of(settings)
        self._answered: set[str] = set()
        self._asking: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Ask about every model, side by side, in the background."""
        llm = self._settings.llm
        models = dict.fromkeys((*(llm.model_of(name) for name in llm.providers_in_order), *llm.choices))
        for model in models:
            self._ask(model)

    def on_answer(self, completion: Completion) -> None:
        """A model has answered; it is asked about again where it was the first time."""
        model = f"{completion.provider}/{completion.model}"
        if model not in self._answered and completion.provider == "openai":
            self._answered.add(model)
            self._ask(model if model in self._settings.llm.choices else self._settings.llm.model_of("openai"))

    async def settle(self) -> None:
        """Wait until everything that was asked is answered, or will not be."""
        await asyncio.gather(*self._asking)

    async def aclose(self) -> None:
        """Ask no more."""
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
