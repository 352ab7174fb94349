"""The same Aldis over signal-cli-rest-api, which it recognises by itself."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bot.transports.bridges import SECRET
from tests.flows.gates import Gate
from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.ports import free_port
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, BOB, GROUP, MALLORY, message, quote_of
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_rest_api import SignalRestApi
from tests.waiting import eventually_found


@dataclass
class World(Outside[SignalRestApi, OpenAIServer]):
    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "ACCESS__ALLOWED": ALICE.number or "",
            "ACCESS__GROUPS": GROUP,
        }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalRestApi() as signal, OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path)


async def test_a_day_over_the_other_bridge(world: World) -> None:
    """Direct and in a group, with styles, quote, typing, receipts; strangers get nothing; a clean close is no end."""
    signal = world.signal
    world.model.scripted(say("It is **3 degrees** & `5 * 3`."), say("They *bloom*."), say("Still here."))
    async with started("run", settings=world.settings, folder=world.folder, is_warm=False) as process:
        await signal.connected()
        asked = message("How cold is it?")
        await signal.deliver(message("let me in", author=MALLORY), asked)
        [direct] = await signal.sent_count(1)
        assert (direct.text, direct.recipient) == ("It is 3 degrees & 5 * 3.", ALICE.uuid)
        assert direct.styles == ("6:9:BOLD", "18:5:MONOSPACE")
        assert direct.quote_timestamp is None
        assert await signal.read_count(1) == [(ALICE.uuid, asked["envelope"]["timestamp"])]
        assert await signal.typing_count(2) == [(ALICE.chat, True), (ALICE.chat, False)]

        await signal.deliver(message("just us", group=GROUP, author=BOB))
        roses = message("what about the roses?", group=GROUP, author=BOB, mention=True)
        await signal.deliver(roses)
        grouped = (await signal.sent_count(2))[1]
        assert (grouped.text, grouped.group, grouped.styles) == ("They bloom.", GROUP, ("5:5:ITALIC",))
        assert (grouped.quote_author, grouped.quote_timestamp) == (BOB.uuid, roses["envelope"]["timestamp"])
        assert "roses" in (grouped.quote_text or "")

        await signal.end_streams("close")
        await signal.connected(2)
        await signal.deliver(message("and the tulips?", group=GROUP, quote=quote_of(ALDIS, grouped.timestamp, "They")))
        assert (await signal.sent_count(3))[2].text == "Still here."
        ended = await process.terminate()
    assert ended.status == 0
    assert len(world.model.requests) == 3
    assert all(stranger not in str(world.model.requests) for stranger in ("let me in", "just us"))
    assert {recipient for recipient, _ in signal.read} == {ALICE.uuid, BOB.uuid}
    assert ACCOUNT not in ended.stderr


async def listens(port: int) -> bool:
    """Whether somebody does there."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    return True


async def test_what_comes_while_aldis_stops_is_taken_and_answered_by_the_next(world: World) -> None:
    """This bridge keeps nothing, so listening ends last: after the answer that runs, which is sent through it."""
    port, signal = free_port(), world.signal
    signal.webhook_url = f"http://bridge:{SECRET}@127.0.0.1:{port}/"
    settings = world.settings | {"SIGNAL__WEBHOOK_SECRET": SECRET, "SIGNAL__WEBHOOK_PORT": str(port)}
    gate = Gate(world.model, say("Just in time."))
    world.model.script.append(gate)
    async with started("run", settings=settings, folder=world.folder) as process:
        await signal.connected()
        await eventually_found(lambda: listens(port))
        await signal.deliver(message("How long?"))
        await gate.arrived()
        ending = asyncio.create_task(process.terminate())
        for number in range(3):
            await signal.deliver(message(f"While it stops: {number}", author=BOB, group=GROUP, mention=True))
            await signal.until(lambda so_many=number + 2: len(signal.posted) == so_many)
        gate.opened.set()
        ended = await ending
    assert (ended.status, signal.unposted, signal.dropped) == (0, [], [])
    assert [sent.text for sent in signal.sent] == ["Just in time."]
    world.model.scripted(say("All of it."))
    async with started("run", settings=settings, folder=world.folder) as process:
        late = (await signal.sent_count(2))[1]
        await process.terminate()
    assert (late.text, late.group) == ("All of it.", GROUP)
    assert all(f"While it stops: {number}" in str(world.model.requests[-1].json()) for number in range(3))


async def test_the_wrong_mode_is_told_with_what_to_do(world: World) -> None:
    """One line and status 2, instead of a silence that nobody understands."""
    world.signal.mode = "normal"
    keyless = {"SIGNAL__URL": world.signal.url}
    async with started("run", settings=keyless, folder=world.folder, is_warm=False) as process:
        ended = await process.ended()
    assert ended.status == 2
    complaint = "aldis: SIGNAL__URL: signal-cli-rest-api runs in mode normal; start it with MODE=json-rpc"
    assert ended.stderr.splitlines()[-1] == complaint
    assert "Traceback" not in ended.stderr
