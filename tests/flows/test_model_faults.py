"""A model that fails for the operator's fault: who hears of it, over restarts, until it is mended."""

import re
from pathlib import Path

from bot.chat import phrases
from tests.flows.outside import Outside
from tests.flows.test_health import page
from tests.ports import free_port
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, BOB, Person, message
from tests.servers.signal_cli import SignalCli
from tests.waiting import eventually


async def test_a_wrong_name_of_a_model_is_the_operator_s_matter(signal: SignalCli, tmp_path: Path) -> None:
    """The person hears that, the log and the health page say which, and the admin is told once, also over a restart."""
    port = free_port()
    more = {"ACCESS__ALLOWED": ALICE.uuid, "ACCESS__ADMINS": BOB.uuid, "WEB__PORT": str(port)}

    def said(person: Person) -> list[str]:
        return [sent.text for sent in signal.sent if sent.recipient == person.uuid]

    async with AnthropicServer() as model:
        world = Outside(signal, model, tmp_path, more)
        async with world.running():
            await world.ask("I am the admin.", author=BOB)
        for run in (1, 2):
            async with world.running(LLM__ANTHROPIC__MODEL="claude-9") as process:
                for number in (2 * run - 1, 2 * run):
                    await signal.deliver(message(f"sesame {number}"))
                    await eventually(lambda number=number: len(said(ALICE)) == number)
                await eventually(lambda: len(said(BOB)) == 2)
                state = await page(port, until=200)
            ended = await process.ended()
            [found] = [one for one in state["findings"] if one["level"] == "problem"]
            assert "claude-9 (anthropic answered 404 not_found_error)" in found["what"]
            assert "404 not_found_error" in ended.stderr
            assert "sesame" not in ended.stderr
        assert said(ALICE) == [phrases.NO_SUCH_MODEL.text] * 4
        told = [re.sub(r"\S+ -m bot", "aldis", text) for text in said(BOB)[1:]]
        assert told == [phrases.notice("model", "claude-9").replace("`", "")]
        async with world.running():
            await world.ask("And now?")
            state = await page(port, until=200)
        assert [one for one in state["findings"] if one["level"] == "problem"] == []
