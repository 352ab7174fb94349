"""Stopped in the middle: what runs is answered, what hangs is handed to the next start, which answers it once.

What hangs is given hardly any time to end by itself; nothing here waits for a clock.
"""

import asyncio
import signal as signals
from pathlib import Path

from store import open_store
from tests.flows.consoles import seated
from tests.flows.gates import Gate, Hanging
from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.servers.envelopes import ALICE, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Plan
from tests.waiting import WAIT_SECONDS

NO_TIME = {"WORKER__SHUTDOWN_SECONDS": "0.2", "SIGNAL__LIVE": "off"}


async def left_open(folder: Path, realm: str) -> tuple[int, int]:
    async with open_store(folder / "aldis.db", realm=realm) as store:
        return await store.read(lambda repos: (repos.inbox.backlog().items, repos.outbox.backlog().items))


async def test_a_stop_lets_the_running_answer_end(signal: SignalCli, tmp_path: Path) -> None:
    """SIGTERM: nothing new is taken, what runs is answered and sent, and that is written down; then it ends with 0."""
    async with OpenAIServer(local=True) as model:
        gate = Gate(model, say("Just in time."))
        model.script.append(gate)
        signal.plans.append(Plan(delay_seconds=0.3))
        async with Outside(signal, model, tmp_path).running(ACCESS__ALLOWED=ALICE.uuid) as process:
            await signal.deliver(message("How long?"))
            await gate.arrived()
            ending = asyncio.create_task(process.terminate())
            await signal.disconnected()
            gate.opened.set()
            ended = await ending
    assert ended.status == 0
    assert [sent.text for sent in signal.sent] == ["Just in time."]
    assert await left_open(tmp_path, "signal") == (0, 0)


async def test_while_a_model_hangs(signal: SignalCli, tmp_path: Path) -> None:
    """However it is asked to stop: status 0; a later start asks the model again and answers, once."""
    async with OpenAIServer(local=True) as model:
        world = Outside(signal, model, tmp_path)
        settings = {**world.settings, "ACCESS__ALLOWED": ALICE.uuid, **NO_TIME}
        await signal.deliver(message("How cold is it?"))
        for number in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP):
            hanging = Hanging()
            model.faults.append(hanging)
            async with started("run", settings=settings, folder=tmp_path) as process, asyncio.timeout(WAIT_SECONDS):
                await hanging.reached.wait()
                process.signal(number)
                ended = await process.ended()
            assert (ended.status, "cut short" in ended.stderr) == (0, False), ended.stderr
            assert "unfinished work resumes at the next start" in ended.stderr
        model.scripted(say("It is 3 degrees."), say("At your service."))
        async with world.running(ACCESS__ALLOWED=ALICE.uuid):
            await signal.sent_count(1)
            assert await world.ask("thanks") == "At your service."
    assert [sent.text for sent in signal.visible(ALICE.chat)] == ["It is 3 degrees.", "At your service."]
    assert await left_open(tmp_path, "signal") == (0, 0)


async def test_a_terminal_that_is_closed_ends_a_chat(tmp_path: Path) -> None:
    """In order: the next one finds the store as it should be, and whoever sat there is told nothing twice."""
    async with OpenAIServer(local=True) as model:
        hanging = Hanging()
        model.faults.append(hanging)
        settings = {"OPENAI_BASE_URL": model.base_url, "LLM__OPENAI__MODEL": "llama", **NO_TIME}
        async with seated("chat", settings=settings, folder=tmp_path) as console:
            await console.out.until("/help lists commands")
            console.type("How long?\r")
            async with asyncio.timeout(WAIT_SECONDS):
                await hanging.reached.wait()
            console.signal(signals.SIGHUP)
            ended = await console.ended()
    assert ended.status == 0, ended.stdout
    assert await left_open(tmp_path, "terminal") == (1, 0)
