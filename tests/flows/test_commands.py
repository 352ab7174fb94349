"""What people set, as they see it, over both ways to Signal: it survives a restart, and Aldis speaks their language."""

from pathlib import Path

import pytest

from bot.commands.phrases import DONE_BEFORE
from tests.flows.processes import started
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, edit, message
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli


def settings_of(signal: SignalCli, model: AnthropicServer) -> dict[str, str]:
    """Alice may write, and no 👀 stands among what is counted."""
    return {
        "SIGNAL__URL": signal.url,
        "ACCESS__ALLOWED": ALICE.uuid,
        "ANTHROPIC_API_KEY": model.key or "",
        "LLM__ANTHROPIC__BASE_URL": model.url,
        "SIGNAL__ACK": "none",
    }


async def test_what_is_set_outlives_the_process(signal: SignalCli, tmp_path: Path) -> None:
    """The persona reaches the model, a tool that is off does not, and commands are answered in German."""
    async with AnthropicServer() as model:
        settings = settings_of(signal, model)
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected()
            for number, text in enumerate(("/persona You are a pirate.", "/tools off weather", "/sprache deutsch"), 1):
                await signal.deliver(message(text))
                await signal.sent_count(number)
            assert signal.sent[-1].text == "Ab jetzt spreche ich hier Deutsch."
            assert (await process.terminate()).status == 0
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected(2)
            model.scripted(say("Arr."))
            await signal.deliver(message("Who are you?"))
            assert (await signal.sent_count(4))[-1].text == "Arr."
            await signal.deliver(message("/undo"))
            assert (await signal.sent_count(5))[-1].text == "Rückgängig gemacht: „Who are you?“"
            assert (await process.terminate()).status == 0
        asked = model.requests[-1].json()
        assert "You are a pirate." in str(asked["system"])
        assert "get_weather" not in {tool["name"] for tool in asked["tools"]}
        assert model.refused == []


async def test_a_slip_that_is_edited_into_a_command_is_carried_out(signal: SignalCli, tmp_path: Path) -> None:
    """Without a model; and what cannot be taken back only once, however often its message is edited."""
    async with AnthropicServer() as model:
        settings = settings_of(signal, model)
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected()
            slip = message("/whomai")
            await signal.deliver(message("/frobnicate"), slip)
            await signal.sent_count(2)
            await signal.deliver(edit("/language de", slip["envelope"]["timestamp"]))
            assert (await signal.sent_count(3))[-1].text == "Ab jetzt spreche ich hier Deutsch."
            await signal.deliver(edit("/language en", slip["envelope"]["timestamp"]))
            await signal.sent_count(4)
            forgets = message("/forget yes")
            await signal.deliver(forgets)
            await signal.sent_count(5)
            await signal.deliver(edit("/forget everything yes", forgets["envelope"]["timestamp"]))
            assert (await signal.sent_count(6))[-1].text == DONE_BEFORE.text
            assert (await process.terminate()).status == 0
    assert model.requests == []


STEPS_OF_AN_EDIT = {
    "arrival": ("Intake._commit", 2),
    "former words gone": ("Revisions.correct", 1),
    "carried out": ("ReminderCommands._remind", 2),
    "sent": ("Sender._deliver", 2),
}
"""What changes the store on the way of an edit into a command: the function that does it, and which of its changes. The
answer and the beginning of its send are one commit.
"""


@pytest.mark.parametrize(("when", "step"), [*(("after", step) for step in STEPS_OF_AN_EDIT), ("before", "sent")])
async def test_killed_while_an_edit_becomes_a_command(tmp_path: Path, when: str, step: str) -> None:
    """One reminder is planned, it is told of once, and the former is gone."""
    name, number = STEPS_OF_AN_EDIT[step]
    async with SignalCli() as signal:
        # Long where the proof of the send is on its way.
        grace_seconds = "600" if (when, step) == ("before", "sent") else "1"
        settings = {
            "SIGNAL__URL": signal.url,
            "ACCESS__ALLOWED": ALICE.uuid,
            "SIGNAL__UNKNOWN_GRACE_SECONDS": grace_seconds,
        }
        former = message("/remind tomorrow at 9 call the clinic")
        change = edit("/remind tomorrow at 10 call the doctor", former["envelope"]["timestamp"])
        arguments = (when, str(number), name, "run")
        signal.receipts_mode = "on_call"  # one of the first answer would be an arrival, too
        async with started(*arguments, settings=settings, folder=tmp_path, module="tests.flows.dying") as process:
            await signal.connected()
            await signal.deliver(former)
            await signal.sent_count(1)
            await signal.deliver(change)
            assert (await process.ended()).status == -9
        # A receipt that comes while Aldis is down waits at Signal's server, as everything does.
        await signal.confirm()
        signal.receipts_mode = "at_once"
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected(2)
            await signal.deliver(message("/remind"))
            texts = [sent.text for sent in await signal.sent_count(3)]
            assert (await process.terminate()).status == 0
    assert [("clinic" in text, "doctor" in text) for text in texts] == [(True, False), (False, True), (False, True)]
    assert (texts[1].count("10:00"), texts[2].count("doctor")) == (1, 1)
