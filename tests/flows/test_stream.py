"""Stopped while people write all the time, behind signal-cli's sockets: nothing of it is lost."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from store import open_store
from tests.flows.processes import Process, started
from tests.servers.envelopes import ALICE, message
from tests.servers.signal_cli import SignalCli

STOPS = 3
BURST = 300


@dataclass
class Writing:
    """Alice writes, in bursts with pauses between them."""

    signal: SignalCli
    sent: list[int] = field(default_factory=list[int])

    async def burst(self, count: int) -> None:
        for _ in range(count):
            frame = message(f"{len(self.sent)}")
            self.sent.append(frame["envelope"]["timestamp"])
            await self.signal.deliver(frame)


@asynccontextmanager
async def running(signal: SignalCli, folder: Path) -> AsyncGenerator[Process]:
    settings = {
        "SIGNAL__URL": signal.url,
        "ACCESS__ALLOWED": ALICE.uuid,
        "LIMITS__MESSAGES_PER_MINUTE": "10000",
        "LIMITS__CONVERSATION_MESSAGES_PER_MINUTE": "10000",
        "LIMITS__MAX_WAITING": "100000",
        "SIGNAL__LIVE": "off",
        # What is answered is not what these stories are about: nothing is, until it stops.
        "WORKER__CONVERSATIONS_AT_ONCE": "1",
    }
    streams = signal.streams_opened
    async with started("run", settings=settings, folder=folder) as process:
        await signal.connected(streams + 1)
        yield process


async def kept(folder: Path) -> list[int]:
    """The times of everything in the inbox, in order."""
    async with open_store(folder / "aldis.db", realm="signal") as store:
        rows = await store.read(lambda repos: repos.inbox.rows("SELECT sent_at FROM inbox ORDER BY id"))
    return [at for (at,) in rows]


@pytest.mark.parametrize("way", ["unix", "tcp"])
async def test_stops_and_starts_while_people_write_lose_nothing(way: str, tmp_path: Path) -> None:
    """Each end comes in the middle of a burst: what signal-cli has fetched is written down, the rest is fetched by the
    next start, and all of it once and in order.
    """
    async with SignalCli(way=way) as signal:  # pyright: ignore[reportArgumentType] (its name)
        writing = Writing(signal)
        for _ in range(STOPS):
            async with running(signal, tmp_path) as process:
                await writing.burst(BURST)
                await signal.until(lambda: signal.handed_on > 0)
                ended = await process.terminate()
                assert ended.status == 0, ended.stderr
            await writing.burst(5)
        async with running(signal, tmp_path) as process:
            await signal.until(lambda: signal.waiting == 0)
            await process.terminate()
        assert signal.lost == []
    assert await kept(tmp_path) == writing.sent
