"""Signal goes away and comes back, Aldis is stopped in the middle, nobody is ready at the start: nothing is lost."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from store import open_store
from tests.flows.gates import Gate
from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.servers.envelopes import ACCOUNT, ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Plan

MALFORMED = (
    "",
    "null",
    "[]",
    "{}",
    "7",
    '"envelope"',
    '{"envelope": null}',
    '{"envelope": [], "account": 3}',
    '{"envelope": {"sourceUuid": {}, "timestamp": "soon", "dataMessage": []}}',
    '{"envelope": {"sourceUuid": "sesame"}',
    "[" * 100_000,
    json.dumps({"envelope": {"sourceName": "sesame", "dataMessage": {"message": "x" * 1024 * 1024}}}),
)


@dataclass
class World(Outside[SignalCli, OpenAIServer]):
    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number}",
            "LOG__LEVEL": "debug",
        }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    # The double learns with its next keep-alive that a stream was closed.
    async with SignalCli() as signal, OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path)


async def test_streams_end_in_every_way_and_carry_garbage(world: World) -> None:
    """After a break, a clean end, frames of any shape and a restart of signal-cli the next message is answered.

    The log, at its most talkative, holds no word of a person, no name, no number and no key.
    """
    signal = world.signal
    async with started("run", settings=world.settings, folder=world.folder) as process:
        await signal.connected(1)
        await signal.end_streams("drop")
        await signal.connected(2)
        await signal.deliver(message("sesame one"))
        await signal.sent_count(1)

        await signal.end_streams("close")
        await signal.connected(3)
        for frame in ("\ud800\x00no UTF-8", *MALFORMED):
            await signal.deliver_data(frame)
        await signal.deliver(message("sesame two"))
        await signal.sent_count(2)
        assert signal.streams_opened == 3

        await signal.stop()
        await signal.deliver(message("sesame three"))
        await signal.start()
        await signal.connected(4)
        await signal.sent_count(3)
        ended = await process.terminate()
    assert ended.status == 0
    assert [sent.text[-12:].split()[-1] for sent in signal.sent] == ["one", "two", "three"]
    for secret in ("sesame", "Alice", ALICE.number or "", ACCOUNT, world.model.key or "", "You said"):
        assert secret not in ended.stderr


async def test_a_stop_lets_the_running_answer_end(world: World) -> None:
    """SIGTERM: nothing new is taken, what runs is answered and sent, and that is written down; then it ends with 0."""
    gate = Gate(world.model, say("Just in time."))
    world.model.script.append(gate)
    world.signal.plans.append(Plan(delay_seconds=0.3))
    async with started("run", settings=world.settings, folder=world.folder) as process:
        await world.signal.connected()
        await world.signal.deliver(message("How long?"))
        await gate.arrived()
        ending = asyncio.create_task(process.terminate())
        await world.signal.disconnected()
        gate.opened.set()
        ended = await ending
    assert ended.status == 0
    assert [sent.text for sent in world.signal.sent] == ["Just in time."]
    async with open_store(world.folder / "aldis.db", realm="signal") as store:
        inbox, outbox = await store.read(lambda repos: (repos.inbox.backlog(), repos.outbox.backlog()))
    assert (inbox.items, outbox.items, outbox.dead) == (0, 0, 0)
