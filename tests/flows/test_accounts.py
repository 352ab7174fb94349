"""An account is known by its id: without a number, when it gets one, and where it was known by its number first."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALDIS, ALICE, GROUP, MENTION_SIGN, message, reaction
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer

BRIDGES = {"signal_cli": SignalCli, "rest_api": SignalRestApi}
NUMBERLESS = replace(ALDIS, number=None)


World = Outside[SignalServer, AnthropicServer]


@pytest.fixture(params=BRIDGES)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[World]:
    async with BRIDGES[request.param](accounts=[ALDIS.uuid], own=NUMBERLESS) as signal, AnthropicServer() as model:
        # signal-cli-rest-api lists an account without a number, and does not name it.
        named = {"SIGNAL__ACCOUNT": ALDIS.uuid} if isinstance(signal, SignalRestApi) else {}
        yield Outside(signal, model, tmp_path, {"ACCESS__ALLOWED": "*", "ACCESS__GROUPS": GROUP, **named})


async def test_an_account_without_a_number(world: World) -> None:
    """Linked, asked directly and in a group, killed, started again: each question is answered once."""
    signal = world.signal
    signal.accounts.clear()
    async with started("link", settings=world.settings, folder=world.folder) as console:
        await signal.until(lambda: signal.links_begun > 0)
        await signal.scan(ALDIS.uuid)
        linked = await console.ended()
    assert linked.status == 0
    assert "uuid" in linked.stderr if isinstance(signal, SignalRestApi) else ALDIS.uuid in linked.stderr

    world.model.scripted(say("In April."), say("In May."), say("In June."), say("You are welcome."))
    direct = message("When do I sow beans?")
    mention = {"uuid": ALDIS.uuid, "number": None, "name": "Aldis", "start": 0, "length": 1}
    async with world.running() as process:
        await signal.deliver(direct)
        await signal.sent_count(1)
        await signal.deliver(message("peas, I mean", group=GROUP))
        await signal.deliver(message(f"{MENTION_SIGN} and peas?", group=GROUP, mentions=[mention]))
        await signal.sent_count(2)
        await process.kill()
    async with world.running() as process:
        await signal.deliver(direct, message("And leeks?"))
        [*_, last] = await signal.sent_count(3)
        await signal.deliver(reaction("👍", last.timestamp, of=NUMBERLESS), message("Thank you."))
        await signal.sent_count(4)
    assert [sent.text for sent in signal.sent] == ["In April.", "In May.", "In June.", "You are welcome."]
    assert [sent.chat for sent in signal.sent] == [ALICE.chat, f"group:{GROUP}", ALICE.chat, ALICE.chat]
    assert ALDIS.uuid not in (await process.ended()).stderr
