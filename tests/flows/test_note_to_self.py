"""Aldis as a further device of a person's own phone: it answers in Note to Self, and nowhere else, by either bridge."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.flows.outside import Outside
from tests.servers import envelopes, signal_cli, signal_rest_api
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, BOB, GROUP, attachment, message, note, sync_sent
from tests.servers.script import say
from tests.servers.signal_server import DEVICE, SignalServer

BRIDGES = {"signal_cli": signal_cli.SignalCli, "rest_api": signal_rest_api.SignalRestApi}


World = Outside[SignalServer, AnthropicServer]


@pytest.fixture(params=BRIDGES)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[World]:
    more = {
        "SIGNAL__NOTE_TO_SELF": "true",
        "ACCESS__ALLOWED": "*",
        "ACCESS__GROUPS": GROUP,
        "ACCESS__STRANGERS": "pair",
    }
    # Everything that Aldis sends comes back, and the bridge does not tell which device Aldis is.
    async with BRIDGES[request.param](echoes=True, devices=[(1, "phone")]) as signal, AnthropicServer() as model:
        yield Outside(signal, model, tmp_path, more)


async def test_a_person_and_aldis_under_one_account(world: World) -> None:
    """A note is answered once, with a kill in between, too; what the person writes with others is not looked at."""
    signal, picture = world.signal, attachment()
    signal.files[picture["id"]] = b"x"
    world.model.scripted(say("In **April**."), say("In pots, too."))
    async with world.running() as process:
        await signal.deliver(
            message("the quince is ours", author=ALICE, attachments=[picture]),
            message("Aldis, a medlar?", author=BOB, group=GROUP, mention=True),
            sync_sent("I bring damsons", to=ALICE),
            envelopes.note("sloes for all", group=GROUP),
        )
        await signal.deliver(note("When do I sow beans?"))
        [first] = await signal.first(signal.notes, 1)
        assert (first.text, first.styles, first.chat) == ("In April.", ("3:5:BOLD",), ALDIS.chat)
        assert first.notifies_self
        await process.kill()
    async with world.running() as process:
        await signal.deliver(note("In April.", device=DEVICE, sent_at=first.timestamp))
        await signal.deliver(note("And in pots?", device=2))
        await signal.first(signal.notes, 2)
    assert [sent.text for sent in signal.notes] == ["In April.", "In pots, too."]
    assert [len(request.json()["messages"]) for request in world.model.requests] == [1, 3]
    assert all(fruit not in str(world.model.requests) for fruit in ("quince", "medlar", "damsons", "sloes"))
    assert (signal.sent, signal.read, signal.typing) == ([], [], [])
    assert ACCOUNT not in (await process.ended()).stderr
