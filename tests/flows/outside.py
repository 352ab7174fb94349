"""What most flows stand between: a bridge, a model, and the folder of an Aldis that runs as a process of its own."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from tests.flows.processes import Ended, Process, run_to_end, started
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import message
from tests.servers.openai import OpenAIServer
from tests.servers.signal_server import SignalServer

SignalT = TypeVar("SignalT", bound=SignalServer)
ModelT = TypeVar("ModelT", bound=AnthropicServer | OpenAIServer)


@dataclass
class Outside(Generic[SignalT, ModelT]):
    signal: SignalT
    model: ModelT
    folder: Path
    more: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def settings(self) -> dict[str, str]:
        """How Aldis finds the bridge and the model; one of OpenAI's API is a local one, which wants no key."""
        if isinstance(self.model, AnthropicServer):
            model = {"ANTHROPIC_API_KEY": self.model.key or "", "LLM__ANTHROPIC__BASE_URL": self.model.url}
        else:
            model = {"OPENAI_BASE_URL": self.model.base_url, "LLM__OPENAI__MODEL": "llama"}
        return {"SIGNAL__URL": self.signal.url, **model, **self.more}

    async def verb(self, *arguments: str, module: str = "bot", **settings: str) -> Ended:
        return await run_to_end(*arguments, settings={**self.settings, **settings}, folder=self.folder, module=module)

    @asynccontextmanager
    async def running(self, *arguments: str, module: str = "bot", **settings: str) -> AsyncGenerator[Process]:
        """Aldis by the verb `run`, or by these arguments, connected; it ends well unless it is killed."""
        streams, given = self.signal.streams_opened, {**self.settings, **settings}
        verb = arguments or ("run",)
        async with started(*verb, settings=given, folder=self.folder, module=module) as process:
            await self.signal.connected(streams + 1)
            yield process
            if process.is_running:
                ended = await process.terminate()
                assert ended.status == 0, ended.stderr

    async def ask(self, text: str, **more: Any) -> str:
        """Ask, as Alice unless `author` says otherwise, and give the answer."""
        before = len(self.signal.sent)
        await self.signal.deliver(message(text, **more))
        return (await self.signal.sent_count(before + 1))[-1].text
