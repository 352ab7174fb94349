"""What waits delays nobody: models that never answer, over the real connections of a real process."""

import asyncio
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from tests.flows.processes import started
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Seen, hang
from tests.servers.envelopes import ALICE, Person, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import ModelServer
from tests.servers.signal_cli import SignalCli
from tests.waiting import WAIT_SECONDS

HANGING = 120
"""More than sixteen, more than the hundred connections that HTTP libraries like to have."""


WORD = b"hush-a-bye"
"""In no prompt and no description of a tool."""


@dataclass
class Hanging(OpenAIServer):
    """Gives no answer to what has `WORD` in it."""

    local: bool = True

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return await (hang(seen) if WORD in seen.body else super().respond(seen, request))


@dataclass
class HangingClaude(AnthropicServer):
    """Likewise."""

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return await (hang(seen) if WORD in seen.body else super().respond(seen, request))


def settings_of(model: ModelServer) -> dict[str, str]:
    if isinstance(model, OpenAIServer):
        return {"OPENAI_BASE_URL": model.base_url, "LLM__OPENAI__MODEL": "llama"}
    return {"ANTHROPIC_API_KEY": model.key or "", "LLM__ANTHROPIC__BASE_URL": model.url}


@pytest.mark.parametrize("double", [Hanging, HangingClaude])
async def test_models_that_hang_delay_nobody_else(double: type[ModelServer], tmp_path: Path) -> None:
    """More people ask than any pool has room for, and their models never answer; one more is served at once."""
    async with SignalCli() as signal, double() as model:
        settings = {"SIGNAL__URL": signal.url, "ACCESS__ALLOWED": "*", **settings_of(model)}
        async with started("run", settings=settings, folder=tmp_path), asyncio.timeout(WAIT_SECONDS):
            await signal.connected()
            for _ in range(HANGING):
                await signal.deliver(message(WORD.decode(), author=Person(uuid=str(uuid.uuid4()), name=None)))
            while sum(WORD in seen.body for seen in model.requests) < HANGING:
                await asyncio.sleep(0.01)
            await signal.deliver(message("quick", author=ALICE))
            await signal.until(lambda: any("quick" in sent.text for sent in signal.sent))
