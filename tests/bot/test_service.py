"""Aldis put together, and its end: whatever hangs is waited for no longer than it is worth."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from bot import app
from bot.events import ChatId
from bot.service import Service
from bot.settings import Settings, load_settings
from store import open_store
from tests.bot.loops.fake_transport import FakeTransport, envelope
from tests.servers.base import hang
from tests.servers.openai import OpenAIServer
from tests.waiting import WAIT_SECONDS


class HungTransport(FakeTransport):
    """A bridge that takes messages in, and answers nothing else ever."""

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        await super().typing(chat, started=started)
        if not started:
            await asyncio.Event().wait()

    async def aclose(self) -> None:
        await asyncio.Event().wait()


@dataclass
class Outside:
    """What an Aldis under test stands on."""

    transport: FakeTransport
    model: OpenAIServer
    path: Path

    @property
    def settings(self) -> Settings:
        environ = {
            "ACCESS__GREETING": "false",
            "ACCESS__ALLOWED": "*",
            "OPENAI_BASE_URL": self.model.base_url,
            "LLM__OPENAI__MODEL": "llama",
            "STORE__PATH": str(self.path),
        }
        return load_settings({**environ, "OPENAI_API_KEY": self.model.key or ""}, None)

    async def is_asked(self) -> None:
        """Wait until the model thinks."""
        while not self.model.requests:
            await asyncio.sleep(0.01)

    async def open_items(self) -> int:
        async with open_store(self.path, realm="signal") as store:
            return await store.read(lambda repos: repos.inbox.backlog().items)


def given_time(aldis: Service, seconds: float) -> Service:
    """The same with another time to end than the settings allow."""
    worker = aldis.settings.worker.model_copy(update={"shutdown_seconds": seconds})
    return replace(aldis, settings=aldis.settings.model_copy(update={"worker": worker}))


async def test_hurry_cuts_the_time_short(path: Path) -> None:
    """What runs is handed back at once, however much time it has."""
    stop, hurry = asyncio.Event(), asyncio.Event()
    async with OpenAIServer(local=True, faults=[hang]) as model, asyncio.timeout(WAIT_SECONDS):
        outside = Outside(FakeTransport([[envelope()]]), model, path)
        async with app.build_service(outside.settings, outside.transport, realm="signal") as aldis:
            running = asyncio.create_task(given_time(aldis, 86_400).chat(stop, hurry))
            await outside.is_asked()
            stop.set()
            hurry.set()
            await running
        assert await outside.open_items() == 1


async def test_a_bridge_that_hangs_holds_no_end_up(path: Path) -> None:
    """It takes the indicator off never, nor is it ever closed: the store is closed in order all the same."""
    stop = asyncio.Event()
    async with OpenAIServer(local=True, faults=[hang]) as model, asyncio.timeout(WAIT_SECONDS):
        outside = Outside(HungTransport([[envelope()]]), model, path)
        async with app.build_service(outside.settings, outside.transport, realm="signal") as aldis:
            running = asyncio.create_task(given_time(aldis, 0).chat(stop))
            await outside.is_asked()
            stop.set()
            await running
        assert outside.transport.typed[-1][1] is False
        assert await outside.open_items() == 1
