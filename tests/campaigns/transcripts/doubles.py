"""Aldis as a whole in this process, between the doubles of a story: of Signal, of a model and of the services."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot import app, settings
from bot.app import transports
from bot.errors import Disconnected
from bot.service import Service
from tests.servers.envelopes import ALICE, GROUP
from tests.servers.open_meteo import OpenMeteo
from tests.servers.openai import OpenAIServer
from tests.servers.openai_audio import KEY, OpenAIAudio
from tests.servers.openai_images import OpenAIImages
from tests.servers.signal_cli import SignalCli


@dataclass(frozen=True, kw_only=True)
class Doubles:
    """What is around Aldis."""

    signal: SignalCli = field(default_factory=SignalCli)
    model: OpenAIServer = field(default_factory=lambda: OpenAIServer(local=True, sees=True))
    weather: OpenMeteo = field(default_factory=OpenMeteo)
    audio: OpenAIAudio = field(default_factory=OpenAIAudio)
    images: OpenAIImages = field(default_factory=lambda: OpenAIImages(local=True))

    def settings(self, folder: Path) -> dict[str, str]:
        """Aldis as it is in most stories: it answers Alice, and the members of one group."""
        return {
            "SIGNAL__URL": self.signal.url,
            "SIGNAL__ACK": "none",
            "SIGNAL__LIVE": "off",
            "HISTORY__SUMMARIES": "false",
            "ACCESS__GREETING": "false",
            "ACCESS__ALLOWED": ALICE.uuid,
            "ACCESS__GROUPS": GROUP,
            "OPENAI_API_KEY": self.model.key or "",
            "OPENAI_BASE_URL": self.model.base_url,
            "LLM__OPENAI__MODEL": "llama",
            "TOOLS__WEATHER__BASE_URL": self.weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": self.weather.url,
            "AUDIO__BASE_URL": f"{self.audio.url}/v1",
            "AUDIO__API_KEY": KEY,
            "TOOLS__IMAGES__BASE_URL": self.images.base_url,
            "STORE__PATH": str(folder / "aldis.db"),
        }


@asynccontextmanager
async def opened(folder: Path, more: Mapping[str, str]) -> AsyncGenerator[tuple[Doubles, Service]]:
    """The doubles and Aldis, running, the store in this folder; `more` are the story's own settings."""
    doubles, stop = Doubles(), asyncio.Event()
    async with AsyncExitStack() as stack:
        for server in (doubles.signal, doubles.model, doubles.weather, doubles.audio, doubles.images):
            await stack.enter_async_context(server)
        given = settings.load_settings({**doubles.settings(folder), **more}, None)
        transport = await transports.signal_transport(given)
        aldis = await stack.enter_async_context(app.build_service(given, transport, realm="signal"))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        group.create_task(_chatting(aldis, stop))
        await doubles.signal.connected()
        yield doubles, aldis
        stop.set()


async def _chatting(aldis: Service, stop: asyncio.Event) -> None:
    """Aldis, which connects again where the machine is so busy that the bridge seems silent."""
    while not stop.is_set():
        try:
            await aldis.chat(stop)
            break
        except* Disconnected:
            await asyncio.sleep(0)
