"""The operator's verbs, as an operator gives them: beside a running Aldis, and without one."""

import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from store import open_store
from tests.flows.gates import Gate
from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.ports import free_port
from tests.servers.envelopes import ALDIS, ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.waiting import eventually, eventually_found


@dataclass
class World(Outside[SignalCli, OpenAIServer]):
    port: int = field(default_factory=free_port)
    admins: str = ""

    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number}",
            "ACCESS__ADMINS": self.admins,
            "WEB__PORT": str(self.port),
        }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalCli() as signal, OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path)


async def test_a_backup_and_the_way_back(world: World) -> None:
    """Beside a running Aldis a copy is made; it is put back and remembers."""
    async with world.running():
        await world.signal.deliver(message("My cat is called Tabby."))
        await world.signal.sent_count(1)
        kept = await world.verb("backup", "copies")
        assert kept.status == 0, kept.stderr
        assert "master key is in neither" in kept.stderr
        told = await world.verb("export", ALICE.uuid)
        assert "Tabby" in json.loads(told.stdout)["turns"][0]["messages"][0]["text"]
        await world.signal.deliver(message("/forget yes"))
        await world.signal.sent_count(2)
        in_use = await world.verb("restore", kept.stdout.strip())
        assert in_use.status == 2
        assert "another Aldis uses" in in_use.stderr
    put_back = await world.verb("restore", kept.stdout.strip())
    assert put_back.status == 0, put_back.stderr
    async with world.running():
        await world.signal.deliver(message("What is she called?"))
        await world.signal.sent_count(3)
    async with world.running():
        await world.signal.deliver(message("Who?"))
        await world.signal.sent_count(4)
    assert all("Tabby" in seen.body.decode() for seen in world.model.requests[-2:])


async def test_without_a_running_aldis_the_verbs_do_it_themselves(world: World) -> None:
    """And say in one line what is wrong where they cannot."""
    nothing = await world.verb("backup", "copies")
    assert (nothing.status, len(nothing.stderr.splitlines())) == (2, 1)
    assert "Aldis has never run here, or this is the wrong folder" in nothing.stderr
    async with world.running():
        await world.signal.deliver(message("hello"))
        await world.signal.sent_count(1)
    assert (await world.verb("backup", "copies")).status == 0
    stranger = await world.verb("export", BOB.uuid)
    assert not any(json.loads(stranger.stdout).values())
    assert "Nothing is kept about this person" in stranger.stderr
    assert (await world.verb("export", ALICE.uuid)).stderr == ""
    for wrong, words in (("", "name the folder"), ("a\nb", "one line")):
        refused = await world.verb("backup", wrong)
        assert (refused.status, words in refused.stderr, len(refused.stderr.splitlines())) == (2, True, 1)
    for wrong in ("copies", "/", "copies/aldis-20261121T120000Z.db-keys"):
        refused = await world.verb("restore", wrong)
        assert (refused.status, "is no backup: name the file that ends in .db" in refused.stderr) == (2, True)
    unknown = await world.verb("export", "+15550109999")
    assert (unknown.status, "name the person by UUID" in unknown.stderr) == (2, True)
    async with open_store(world.folder / "aldis.db", realm="signal") as store:
        label = await store.read(lambda repos: repos.people.label(ALICE.uuid, account=ALDIS.uuid))
    async with world.running():
        for name in (ALICE.number, ALICE.name, label):
            assert name is not None
            known = await world.verb("export", name)
            assert (known.status, any(json.loads(known.stdout).values())) == (0, True), known.stderr
        assert "name the person by UUID" in (await world.verb("export", "Nobody")).stderr


async def test_a_captcha_is_solved_on_the_command_line(world: World) -> None:
    """A wrong one is told in signal-cli's own words; the right one lets go what waits, at once."""
    signal = world.signal
    alone = await world.verb("captcha", f"signalcaptcha://{signal.captcha}")
    assert (alone.status, "Aldis is not running" in alone.stderr) == (2, True)
    async with world.running():
        nothing = await world.verb("captcha", f"signalcaptcha://{signal.captcha}")
        assert (nothing.status, "wants no captcha" in nothing.stderr) == (2, True)
        signal.limited_by = "c0ffee00-0000-4000-8000-00000000cafe"
        await signal.deliver(message("How long?"))

        async def is_refused() -> bool:
            wrong = await world.verb("captcha", "signalcaptcha://wrong")
            assert wrong.status == 2
            return "Captcha rejected, it may be outdated" in wrong.stderr

        await eventually_found(is_refused)  # the refusal of the send may still be on its way
        assert signal.sent == []
        right = await world.verb("captcha", f"'signalcaptcha://{signal.captcha}'")
        assert right.status == 0, right.stderr
        await signal.sent_count(1)


async def test_what_is_held_survives_a_kill(world: World) -> None:
    """It goes out once when an admin tells the next run that the number is right; the health page has its label."""
    signal, world.admins = world.signal, BOB.uuid
    async with started("run", settings=world.settings, folder=world.folder) as process:
        await signal.connected()
        await signal.deliver(message("My cat is called Tabby."))
        await signal.sent_count(1)
        gate = Gate(world.model, say("And my dog Rex."))
        world.model.script.append(gate)
        await signal.deliver(message("And my dog?"))
        await gate.arrived()
        await signal.change_key(ALICE)
        gate.opened.set()

        async def is_told() -> bool:
            return "has changed" in (await world.verb("health")).stdout

        await eventually_found(is_told)
        await process.kill()
    async with world.running():
        health = await world.verb("health")
        label = re.findall(r"/trust ([0-9a-f]{8})", health.stdout)[0]
        await signal.deliver(message(f"/trust {label}", author=BOB))
        await eventually(lambda: len(signal.visible(ALICE.chat)) == 2)
        assert signal.key(ALICE).level == "TRUSTED_UNVERIFIED"
    assert [sent.text for sent in signal.visible(ALICE.chat)][1:] == ["And my dog Rex."]
