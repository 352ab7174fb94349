"""Aldis put together, and its end: whatever hangs is waited for no longer than it is worth."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot import app
from bot.events import ChatId, Envelope
from bot.settings import load_settings
from store import open_store
from tests.bot.chat.turn_helpers import settings_with
from tests.bot.loops.fake_transport import FakeTransport, envelope
from tests.servers.base import hang
from tests.servers.openai import OpenAIServer
from tests.waiting import WAIT_SECONDS, eventually


class SlowToEnd(FakeTransport):
    """A bridge that still hands on what it has fetched when all other work is done."""

    work = frozenset({"worker", "sender"})

    async def envelopes(self) -> AsyncGenerator[Envelope]:
        async for came in super().envelopes():
            yield came
        await eventually(lambda: self.work.isdisjoint(task.get_name() for task in asyncio.all_tasks()))
        yield envelope(sent_at=2)


class HungTransport(SlowToEnd):
    work = frozenset({"worker"})

    async def typing(self, chat: ChatId, *, started: bool) -> None:
        await super().typing(chat, started=started)
        if not started:
            await asyncio.Event().wait()

    async def aclose(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize(("bridge", "seconds", "hurries"), [(FakeTransport, 86_400, True), (HungTransport, 0, False)])
async def test_whatever_hangs_holds_no_end_up(
    path: Path, bridge: type[FakeTransport], seconds: float, hurries: bool
) -> None:
    """A model, or a bridge: what runs is handed back while the stream is read on, and the store is closed in order."""
    transport = bridge([[envelope()]])
    stop, hurry = asyncio.Event(), asyncio.Event()
    async with OpenAIServer(local=True, faults=[hang]) as model, asyncio.timeout(WAIT_SECONDS):
        environ = {"ACCESS__GREETING": "false", "ACCESS__ALLOWED": "*", "STORE__PATH": str(path)}
        environ |= {"OPENAI_BASE_URL": model.base_url, "LLM__OPENAI__MODEL": "llama"}
        # It may be more than the settings allow.
        settings = settings_with(load_settings(environ, None), worker={"shutdown_seconds": seconds})
        async with app.build_service(settings, transport, realm="signal") as aldis:
            running = asyncio.create_task(aldis.chat(stop, hurry))
            await eventually(lambda: bool(model.requests))
            stop.set()
            if hurries:
                hurry.set()
            await running
    assert transport.typed[-1][1] is False
    async with open_store(path, realm="signal") as store:
        assert await store.read(lambda repos: repos.inbox.backlog().items) == 1 + (bridge is HungTransport)


async def test_a_stop_waits_for_what_the_bridge_has_fetched(path: Path) -> None:
    """It is nowhere else any more; the next start answers it."""
    settings = load_settings({"ACCESS__ALLOWED": "*", "STORE__PATH": str(path), "LLM__PROVIDERS": "offline"}, None)
    stop, transport = asyncio.Event(), SlowToEnd()
    async with asyncio.timeout(WAIT_SECONDS), app.build_service(settings, transport, realm="signal") as aldis:
        running = asyncio.create_task(aldis.run(stop, asyncio.Event()))
        await transport.until(lambda: transport.opened == 1)
        stop.set()
        await running
    async with open_store(path, realm="signal") as store:
        assert await store.read(lambda repos: repos.inbox.backlog().items) == 1


@dataclass
class Loop:
    runs: int = 0

    async def run(self) -> None:
        self.runs += 1
        await asyncio.Event().wait()

    async def recover(self) -> None:
        """Nothing is left from before."""


async def test_every_loop_runs(path: Path) -> None:
    """Without one of them Aldis looks well, and does nothing of what that is for."""
    stop, names = asyncio.Event(), ("watchdog", "reminders", "summaries", "feed_poller")
    loops: dict[str, Any] = {name: Loop() for name in (*names, "maintenance", "doorkeeper")}
    identities: Any = Loop()
    settings = load_settings({"STORE__PATH": str(path), "LLM__PROVIDERS": "offline"}, None)
    async with asyncio.timeout(WAIT_SECONDS), app.build_service(settings, FakeTransport(), realm="signal") as aldis:
        stubbed = replace(aldis, running=replace(aldis.running, identities=identities), **loops)
        running = asyncio.create_task(stubbed.run(stop, asyncio.Event()))
        await eventually(lambda: all(loop.runs for loop in (*loops.values(), identities)))
        stop.set()
        await running


async def test_no_feed_is_read_where_news_are_off(path: Path) -> None:
    """Neither where the feeds are switched off, nor where all tools are."""
    for name in ("TOOLS__NEWS__ENABLED", "TOOLS__ENABLED"):
        settings = load_settings({"STORE__PATH": str(path), "LLM__PROVIDERS": "offline", name: "false"}, None)
        async with app.build_service(settings, FakeTransport(), realm="signal") as aldis:
            assert aldis.feed_poller is None
