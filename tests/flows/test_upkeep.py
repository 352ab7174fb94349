"""The operator's verbs, as an operator gives them: beside a running Aldis, and without one."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from store import open_store
from tests.flows.gates import Hanging
from tests.flows.outside import Outside
from tests.servers.envelopes import ALDIS, ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Plan
from tests.waiting import WAIT_SECONDS, eventually_found

World = Outside[SignalCli, OpenAIServer]


@pytest.fixture
async def world(signal: SignalCli, tmp_path: Path) -> AsyncGenerator[World]:
    more = {
        "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number}",
        "SIGNAL__LIVE": "off",
        "SIGNAL__UNKNOWN_GRACE_SECONDS": "1",
    }
    async with OpenAIServer(local=True) as model:
        yield Outside(signal, model, tmp_path, more)


async def test_a_backup_and_the_way_back(world: World) -> None:
    """Beside a running Aldis a copy is made; it is put back and remembers."""
    async with world.running():
        await world.ask("My cat is called Tabby.")
        kept = await world.verb("backup", "copies")
        assert kept.status == 0, kept.stderr
        assert "master key is in neither" in kept.stderr
        told = await world.verb("export", ALICE.uuid)
        assert "Tabby" in json.loads(told.stdout)["turns"][0]["messages"][0]["text"]
        await world.ask("/forget yes")
        in_use = await world.verb("restore", kept.stdout.strip())
        assert (in_use.status, "another Aldis uses" in in_use.stderr) == (2, True)
        no_pages = await world.verb("setup")
        assert (no_pages.status, "WEB__ADMIN_PORT: Aldis runs without pages" in no_pages.stderr) == (2, True)
    put_back = await world.verb("restore", kept.stdout.strip())
    assert put_back.status == 0, put_back.stderr
    for question in ("What is she called?", "Who?"):
        async with world.running():
            await world.ask(question)
    assert all("Tabby" in seen.body.decode() for seen in world.model.requests[-2:])


async def test_without_a_running_aldis_the_verbs_do_it_themselves(world: World) -> None:
    """And say in one line what is wrong where they cannot."""
    nothing = await world.verb("backup", "copies")
    assert (nothing.status, len(nothing.stderr.splitlines())) == (2, 1)
    assert "Aldis has never run here, or this is the wrong folder" in nothing.stderr
    async with world.running():
        await world.ask("hello")
    assert (await world.verb("backup", "copies")).status == 0
    stranger = await world.verb("export", BOB.uuid)
    assert not any(json.loads(stranger.stdout).values())
    assert "Nothing is kept about this person" in stranger.stderr
    assert (await world.verb("export", ALICE.uuid)).stderr == ""
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
    link = f"signalcaptcha://{signal.captcha}"
    alone = await world.verb("captcha", link)
    assert (alone.status, "Aldis is not running" in alone.stderr) == (2, True)
    async with world.running():
        nothing = await world.verb("captcha", link)
        assert (nothing.status, "wants no captcha" in nothing.stderr) == (2, True)
        signal.limited_by = "c0ffee00-0000-4000-8000-00000000cafe"
        await signal.deliver(message("How long?"))

        async def is_refused() -> bool:
            wrong = await world.verb("captcha", "signalcaptcha://wrong")
            return "Captcha rejected, it may be outdated" in wrong.stderr

        await eventually_found(is_refused)  # the refusal of the send may still be on its way
        assert signal.sent == []
        right = await world.verb("captcha", f"'{link}'")
        assert right.status == 0, right.stderr
        await signal.sent_count(1)


async def test_what_was_open_in_a_backup_is_closed(world: World) -> None:
    """A copy of a moment at which one answer is being sent and another asked for, put back after a kill: only what
    comes anew is answered.
    """
    signal, sending, asking = world.signal, Hanging(), Hanging()
    signal.plans.append(Plan(answer=sending, goes_out=False))
    async with world.running() as process, asyncio.timeout(WAIT_SECONDS):
        await signal.deliver(message("to Bob", author=BOB))
        await sending.reached.wait()
        world.model.faults.append(asking)
        await signal.deliver(message("to Alice", author=ALICE))
        await asking.reached.wait()
        kept = await world.verb("backup", "copies")
        await process.kill()
    await signal.disconnected()
    restored = await world.verb("restore", kept.stdout.strip())
    assert restored.status == 0, restored.stderr
    assert "Messages that arrived\nafter the backup are gone" in restored.stderr
    async with world.running():
        assert (await world.ask("anew")).endswith("anew")
    assert len(signal.sent) == 1
