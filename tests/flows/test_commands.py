"""What people set, as they see it, over both ways to Signal: it survives a restart, and Aldis speaks their language."""

from pathlib import Path

from tests.flows.conftest import Signal
from tests.flows.processes import started
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, message
from tests.servers.script import say


async def test_what_is_set_outlives_the_process(signal: Signal, tmp_path: Path) -> None:
    """The persona reaches the model, a tool that is off does not, and commands are answered in German."""
    async with AnthropicServer() as model:
        settings = {
            "SIGNAL__URL": signal.url,
            "ACCESS__ALLOWED": ALICE.uuid,
            "ANTHROPIC_API_KEY": model.key or "",
            "LLM__ANTHROPIC__BASE_URL": model.url,
            "SIGNAL__ACK": "none",
        }
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected()
            for number, text in enumerate(("/persona You are a pirate.", "/tools off weather", "/sprache deutsch"), 1):
                await signal.deliver(message(text))
                await signal.sent_count(number)
            assert signal.sent[-1].text == "Ich spreche hier von jetzt an Deutsch."
            assert (await process.terminate()).status == 0
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected(2)
            model.scripted(say("Arr."))
            await signal.deliver(message("Who are you?"))
            assert (await signal.sent_count(4))[-1].text == "Arr."
            await signal.deliver(message("/undo"))
            assert (await signal.sent_count(5))[-1].text == "Zurückgenommen: „Who are you?“"
            assert (await process.terminate()).status == 0
        asked = model.requests[-1].json()
        assert "You are a pirate." in str(asked["system"])
        assert "get_weather" not in {tool["name"] for tool in asked["tools"]}
        assert model.refused == []
