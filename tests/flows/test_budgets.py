"""Money, as a real process spends it: what died with a process is paid, and counts against the budget of the next."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.chat import phrases
from tests.flows.outside import Outside
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, message
from tests.servers.signal_cli import SignalCli
from tests.waiting import WAIT_SECONDS, eventually

USED_UP = phrases.budget_used_up("person", "day", renews=True)
UNPRICED = "claude-of-next-year"
"""A model whose price only the operator knows."""


@pytest.mark.parametrize("how", ["killed", "stopped in good order"])
async def test_a_question_in_which_aldis_dies_is_paid(tmp_path: Path, how: str) -> None:
    """The vendor bills it, and nobody sees the answer: the next process counts it once, by an estimate, for whoever
    asked, and asks again only if that leaves something.
    """
    budget = {
        "ACCESS__ALLOWED": ALICE.uuid,
        "LLM__ANTHROPIC__MODEL": UNPRICED,
        "BUDGET__PRICES": f"other=7/7, {UNPRICED}=0.1/0.5",
        "BUDGET__PERSON_DAY_USD": "0.00001",
        # Where it is noon, so that no midnight falls into the test.
        "LOCALE__TIMEZONE": f"Etc/GMT{datetime.now(UTC).hour - 12:+d}",
    }
    async with SignalCli() as signal, AnthropicServer() as model:
        model.models, model.latency_seconds = (UNPRICED,), 10 * WAIT_SECONDS
        world = Outside(signal, model, tmp_path)
        async with world.running(**budget) as process:
            await signal.deliver(message("Well?"))
            await eventually(lambda: len(model.requests) == 1)
            await (process.kill() if how == "killed" else process.terminate())
        for _ in range(2):
            async with world.running(**budget):
                await eventually(lambda: any(sent.text == USED_UP for sent in signal.sent))
        assert len(model.requests) == 1
