"""The clock of the machine is set while an answer waits for its next try: it goes out all the same."""

from pathlib import Path

import pytest

from tests.flows.processes import started
from tests.flows.set_clock import set_hands
from tests.servers.envelopes import ALICE, message
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Plan
from tests.waiting import eventually

LIMITED = "RATE_LIMIT_FAILURE"
DAY = 86_400


@pytest.mark.parametrize(("seconds", "is_killed"), [(-DAY, True), (DAY, False)])
async def test_a_clock_that_is_set_mutes_nobody(tmp_path: Path, seconds: int, *, is_killed: bool) -> None:
    """Neither in the process that runs, nor in the next one."""
    hands = tmp_path / "hands"
    set_hands(hands, 0)
    async with SignalCli() as signal:
        # A kill before the refusal is written down leaves the send in doubt; that wait is not what is tried here.
        settings = {"SIGNAL__URL": signal.url, "ACCESS__ALLOWED": ALICE.uuid, "SIGNAL__UNKNOWN_GRACE_SECONDS": "5"}
        arguments = (str(hands), "run")
        signal.plans.append(Plan(results=(LIMITED,), retry_after_seconds=3))
        async with started(*arguments, settings=settings, folder=tmp_path, module="tests.flows.set_clock") as process:
            await signal.connected()
            await signal.deliver(message("What is 17*23?"))
            await eventually(lambda: not signal.plans)
            set_hands(hands, seconds)
            if is_killed:
                await process.kill()
            else:
                [sent] = await signal.sent_count(1)
                assert "391" in sent.text
                return
        async with started(*arguments, settings=settings, folder=tmp_path, module="tests.flows.set_clock"):
            [sent] = await signal.sent_count(1)
            assert "391" in sent.text
