"""Questions first: at a server at home, what nobody waits for gives way to the questions of people.

    a summary waits until nobody has asked for a while --> is asked --a question comes--> is broken off, waits again
                                                             '-------------------------> its completion

Such a server often answers one request at a time, so that a person would wait for the summary. It gives way only so
often, because a conversation that goes on must be summarized all the same. An answer that is there is never thrown
away. Elsewhere requests do not wait for each other, and one that is broken off costs money.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from bot.errors import ProviderError
from bot.providers.base import Attempt, Completion, OnText, Provider, Request

REST_SECONDS = 5.0
"""How long nobody must have asked: tools run between two requests of one question."""
MAX_GIVEN_WAY = 2
"""How often a request gives way before it is asked whoever else asks."""
_MAX_WAIT_SECONDS = 900.0
"""How long it waits each time; then it is asked whoever else asks."""


class QuestionsFirst:
    """A provider that lets requests of which `may_wait` is true give way to all others.

    `is_at_home` says of a model (`Request.model`) whether its server is one that people run on their own machines.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        is_at_home: Callable[[str | None], bool],
        rest_seconds: float = REST_SECONDS,
    ) -> None:
        self._provider = provider
        self._is_at_home = is_at_home
        self._rest_seconds = rest_seconds
        self._questions = 0
        self._is_asked = asyncio.Event()
        self._is_at_rest = asyncio.Event()
        self._is_at_rest.set()

    @property
    def name(self) -> str:
        """The inner provider's name."""
        return self._provider.name

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The inner provider's completion.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`.
        """
        if not self._is_at_home(request.model):
            return await self._provider.complete(request, on_text)
        if request.may_wait:
            return await self._complete_later(request)
        self._questions += 1
        self._is_at_rest.clear()
        self._is_asked.set()
        try:
            return await self._provider.complete(request, on_text)
        finally:
            self._questions -= 1
            if not self._questions:
                self._is_asked.clear()
                self._is_at_rest.set()

    async def aclose(self) -> None:
        """Closes the inner provider."""
        await self._provider.aclose()

    async def _complete_later(self, request: Request) -> Completion:
        broken_off: list[Attempt] = []
        try:
            completion = await self._give_way(replace(request, on_broken_off=broken_off.extend))
        except asyncio.CancelledError:
            request.on_broken_off(broken_off)
            raise
        except ProviderError as error:
            error.attempts = (*broken_off, *error.attempts)
            raise
        return replace(completion, attempts=(*broken_off, *completion.attempts)) if broken_off else completion

    async def _give_way(self, request: Request) -> Completion:
        for _ in range(MAX_GIVEN_WAY):
            with suppress(TimeoutError):
                async with asyncio.timeout(_MAX_WAIT_SECONDS):
                    await self._rest()
            asking = asyncio.create_task(self._provider.complete(request), name="may wait")
            await self._until_asked(asking)
            if not asking.cancelled():
                return asking.result()
        return await self._provider.complete(request)

    async def _rest(self) -> None:
        """Waits until nobody has asked for a while."""
        is_over = False
        while not is_over:
            await self._is_at_rest.wait()
            is_over = not await _comes_within(self._rest_seconds, self._is_asked)

    async def _until_asked(self, asking: asyncio.Task[Completion]) -> None:
        """Waits until this is answered; breaks it off if somebody asks."""
        asked = asyncio.create_task(self._is_asked.wait(), name="asked")
        try:
            await asyncio.wait((asking, asked), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end((asked, asking))


async def _comes_within(seconds: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def _end(tasks: Iterable[asyncio.Task[object]]) -> None:
    """Cancels what is not done and waits for its end."""
    left = [task for task in tasks if not task.done() and task.cancel()]
    if left:
        await asyncio.wait(left)
