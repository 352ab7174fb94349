"""What people set, as they see it, over both ways to Signal: it survives a restart, and Aldis speaks their language."""

from pathlib import Path

from bot.commands.phrases import RESUMED
from bot.turn import phrases
from tests.flows.conftest import Signal
from tests.flows.processes import started
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, BOB, GROUP, message
from tests.servers.script import say
from tests.waiting import eventually


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
            assert signal.sent[-1].text == "Ab jetzt spreche ich hier Deutsch."
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


async def test_an_admin_takes_a_group_over(signal: Signal, tmp_path: Path) -> None:
    """The answer that the model is still making never goes out, also after a restart; nobody else may do it."""
    async with AnthropicServer() as model:
        model.latency_seconds = 3600  # it is never done
        settings = {
            "SIGNAL__URL": signal.url,
            "ACCESS__GROUPS": GROUP,
            "ACCESS__ADMINS": BOB.uuid,
            "ANTHROPIC_API_KEY": model.key or "",
            "LLM__ANTHROPIC__BASE_URL": model.url,
            "SIGNAL__ACK": "none",
            "SIGNAL__LIVE": "off",
        }
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected()
            await signal.deliver(message("Aldis, who are you?", group=GROUP))
            await eventually(lambda: len(model.requests) == 1)
            await signal.deliver(message("/takeover", group=GROUP, author=ALICE))
            await signal.deliver(message("Aldis, /takeover 20m", group=GROUP, author=BOB))
            told = [sent.text for sent in await signal.sent_count(2)]
            assert told[0].startswith("It's all yours for 20 min")
            assert told[1] == phrases.IS_TAKEN_OVER.text
            assert (await process.terminate()).status == 0
        model.latency_seconds = 0
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected(2)
            await signal.deliver(message("Aldis, /takeover off", group=GROUP, author=BOB))
            await signal.sent_count(3)
            model.scripted(say("I am Aldis."))
            await signal.deliver(message("Aldis, who are you?", group=GROUP))
            assert [sent.text for sent in await signal.sent_count(4)][2:] == [
                RESUMED.text,
                "I am Aldis.",
            ]
            assert (await process.terminate()).status == 0
