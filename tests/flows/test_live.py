"""A long answer as people see it, over both bridges, by the clock: the mark, the status, the answer in its place."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bot import app, settings
from tests.flows.gates import Gate
from tests.servers.envelopes import ALICE, BOB, GROUP, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi

STATUS = "Thinking …"


@asynccontextmanager
async def running(
    signal: SignalCli | SignalRestApi, model: OpenAIServer, folder: Path, **more: str
) -> AsyncGenerator[None]:
    """The whole of Aldis, connected to this bridge."""
    environ = {
        "SIGNAL__URL": signal.url,
        "ACCESS__GREETING": "false",
        "ACCESS__ALLOWED": ALICE.uuid,
        "ACCESS__GROUPS": GROUP,
        "OPENAI_API_KEY": model.key or "",
        "OPENAI_BASE_URL": model.base_url,
        "LLM__OPENAI__MODEL": "llama",
        "STORE__PATH": str(folder / "aldis.db"),
        **more,
    }
    given, stop = settings.load_settings(environ, None), asyncio.Event()
    transport = await app.signal_transport(given)
    async with app.build_service(given, transport, realm="signal") as aldis, asyncio.TaskGroup() as group:
        group.create_task(aldis.chat(stop))
        await signal.connected()
        yield
        stop.set()


async def long_answer(signal: SignalCli | SignalRestApi, folder: Path) -> None:
    """In a group, with what somebody said before; the model answers when the status is there."""
    async with OpenAIServer(local=True) as model, running(signal, model, folder, GROUPS__CONTEXT_MESSAGES="5"):
        gate = Gate(model, say("Water **them**, @Alice, as @Bob says."))
        model.script.append(gate)
        await signal.deliver(message("The roses are dry.", author=BOB, group=GROUP))
        asked = message("Aldis, what about the roses?", group=GROUP)
        at = asked["envelope"]["timestamp"]
        await signal.deliver(asked)
        await gate.arrived()
        assert "- Bob: 'The roses are dry.'" in model.requests[-1].json()["messages"][-1]["content"]
        [status] = await signal.sent_count(1)
        assert (status.text, status.group, status.quote_timestamp, status.edits) == (STATUS, GROUP, at, None)
        await signal.reaction_count(1)
        assert signal.shown_on(ALICE.uuid, at) == "👀"
        gate.opened.set()
        _, answer = await signal.sent_count(2)
        assert (answer.text, answer.edits, answer.quote_timestamp) == (
            "Water them, @Alice, as @Bob says.", status.timestamp, at,
        )  # fmt: skip
        assert answer.mentions == (f"12:6:{ALICE.uuid}", f"23:4:{BOB.uuid}")
        await signal.reaction_count(2)
        assert signal.shown_on(ALICE.uuid, at) is None
        assert model.refused == []


async def test_a_long_answer_over_both_bridges(tmp_path: Path) -> None:
    """Side by side, for the status comes after seconds by the clock."""
    for name in ("signal-cli", "rest-api"):
        (tmp_path / name).mkdir()
    async with SignalCli() as signal_cli, SignalRestApi() as rest_api, asyncio.TaskGroup() as group:
        group.create_task(long_answer(signal_cli, tmp_path / "signal-cli"))
        group.create_task(long_answer(rest_api, tmp_path / "rest-api"))
