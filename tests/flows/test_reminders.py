"""A reminder as people see it, over both ways to Signal: planned by the model, due in a later life, said once."""

from pathlib import Path

from tests.flows.processes import started
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, GROUP, message
from tests.servers.script import call, say
from tests.servers.signal_cli import SignalCli

HOUR = 3600


async def test_a_reminder_outlives_the_process_and_comes_once(signal: SignalCli, tmp_path: Path) -> None:
    """It comes after a restart, quoting in the group the message that wished for it, once."""
    async with AnthropicServer() as model:
        settings = {
            "SIGNAL__URL": signal.url,
            "ACCESS__ALLOWED": ALICE.uuid,
            "ACCESS__GROUPS": GROUP,
            "ANTHROPIC_API_KEY": model.key or "",
            "LLM__ANTHROPIC__BASE_URL": model.url,
            "SIGNAL__ACK": "none",
        }
        wish = {"action": "set", "text": "bins out", "delay_seconds": HOUR}
        model.scripted(call("remind", wish), say("I will."))
        asked = message("remind me in a moment to put the bins out", group=GROUP, mention=True)
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected()
            await signal.deliver(asked)
            answers = await signal.sent_count(1)
            assert (await process.terminate()).status == 0
            assert answers[0].text == "I will."
        later = (str(HOUR), "run")
        async with started(*later, settings=settings, folder=tmp_path, module="tests.flows.later") as process:
            reminder = (await signal.sent_count(2))[1]
            # On a machine that is very slow it says that it is late.
            assert (reminder.text.splitlines()[0], reminder.group) == ("⏰ bins out", GROUP)
            assert (reminder.quote_author, reminder.quote_timestamp) == (ALICE.uuid, asked["envelope"]["timestamp"])
            assert (await process.terminate()).status == 0
        assert len(signal.sent) == 2
        assert model.refused == []
