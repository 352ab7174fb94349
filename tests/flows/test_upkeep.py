"""The operator's verbs, as an operator gives them: beside a running Aldis, and without one."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.processes import Ended, started
from tests.servers.envelopes import ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli


@dataclass
class World:
    signal: SignalCli
    model: OpenAIServer
    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SIGNAL__URL": self.signal.url,
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number}",
            "OPENAI_BASE_URL": self.model.base_url,
            "LLM__OPENAI__MODEL": "llama",
        }

    async def verb(self, *arguments: str, **settings: str) -> Ended:
        async with started(*arguments, settings={**self.settings, **settings}, folder=self.folder) as process:
            return await process.ended()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalCli() as signal, OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path)


@asynccontextmanager
async def running(world: World) -> AsyncGenerator[None]:
    streams = world.signal.streams_opened
    async with started("run", settings=world.settings, folder=world.folder) as process:
        await world.signal.connected(streams + 1)
        yield
        ended = await process.terminate()
        assert ended.status == 0, ended.stderr


async def test_a_backup_a_new_key_and_the_way_back(world: World) -> None:
    """Beside a running Aldis a copy is made and the key is turned; the copy is put back and remembers."""
    async with running(world):
        await world.signal.deliver(message("My cat is called Tabby."))
        await world.signal.sent_count(1)
        kept = await world.verb("backup", "copies")
        assert kept.status == 0, kept.stderr
        assert "master key is in neither" in kept.stderr
        told = await world.verb("export", ALICE.uuid)
        assert "Tabby" in json.loads(told.stdout)["turns"][0]["messages"][0]["text"]
        await world.signal.deliver(message("/forget"))
        await world.signal.sent_count(2)
        in_use = await world.verb("restore", kept.stdout.strip())
        assert in_use.status == 2
        assert "another Aldis uses" in in_use.stderr
    put_back = await world.verb("restore", kept.stdout.strip())
    assert put_back.status == 0, put_back.stderr
    async with running(world):
        turned = await world.verb("rotate-key")
        assert turned.status == 0, turned.stderr
        await world.signal.deliver(message("What is she called?"))
        await world.signal.sent_count(3)
    async with running(world):
        await world.signal.deliver(message("Who?"))
        await world.signal.sent_count(4)
    assert all("Tabby" in seen.body.decode() for seen in world.model.requests[-2:])


async def test_without_a_running_aldis_the_verbs_do_it_themselves(world: World) -> None:
    """And say in one line what is wrong where they cannot."""
    nothing = await world.verb("backup", "copies")
    assert (nothing.status, len(nothing.stderr.splitlines())) == (2, 1)
    assert "there is no store" in nothing.stderr
    async with running(world):
        await world.signal.deliver(message("hello"))
        await world.signal.sent_count(1)
    assert (await world.verb("rotate-key")).status == 0
    assert (await world.verb("backup", "copies")).status == 0
    found = json.loads((await world.verb("export", BOB.uuid)).stdout)
    assert not any(found.values())
    unknown = await world.verb("export", "+15550100002")
    assert (unknown.status, "by uuid" in unknown.stderr) == (2, True)


async def test_the_doctor_finds_what_is_wrong_and_what_is_not(world: World) -> None:
    """A healthy Aldis has status 0; one whose bridge is away has a problem on a line of its own, and status 1."""
    healthy = await world.verb("doctor")
    assert healthy.status == 0, healthy.stdout
    assert ALICE.uuid in healthy.stdout
    away = await world.verb("doctor", SIGNAL__URL="http://127.0.0.1:9")
    assert away.status == 1
    assert any(line.startswith("problem") and "bridge" in line for line in away.stdout.splitlines())
