"""The same Aldis over signal-cli-rest-api, which it recognises by itself."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, BOB, GROUP, MALLORY, message, quote_of
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_rest_api import SignalRestApi


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
        assert direct.quote_timestamp is None
        assert await signal.first(signal.read, 1) == [(ALICE.uuid, asked["envelope"]["timestamp"])]
        assert await signal.first(signal.typing, 2) == [(ALICE.chat, True), (ALICE.chat, False)]

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
