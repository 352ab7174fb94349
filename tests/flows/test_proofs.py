"""Sends of which the bridge does not tell what became of them: receipts prove them, each its own and no other.

Aldis with its loops, its store and the real transport, in this process. The grace period is so long that no test sees
its end, but where one waits for it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot import app, settings
from bot.signal.signal_cli.transport import SignalCli
from store import Repositories, open_store
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.flows.gates import Gate
from tests.servers import signal_cli
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, Person, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_server import Plan, cut
from tests.waiting import eventually

OTHER_GROUP = "T3JjaGFyZENsdWJPcmNoYXJkQ2x1Yk9yY2hhcmRDbHU="
LONG_SECONDS = 600.0


@dataclass
class World:
    """A bridge and a model, and an Aldis between them while `running`."""

    signal: signal_cli.SignalCli
    model: OpenAIServer
    folder: Path

    @asynccontextmanager
    async def running(self, *, grace_seconds: float = LONG_SECONDS, send_seconds: float = 30) -> AsyncGenerator[None]:
        """Aldis, until the block ends; it stops in good order."""
        chosen = {
            "ACCESS__GREETING": "false",
            "ACCESS__ALLOWED": ",".join(person.uuid for person in (ALICE, BOB, CAROL)),
            "ACCESS__GROUPS": f"{GROUP},{OTHER_GROUP}",
            "OPENAI_BASE_URL": self.model.base_url,
            "LLM__OPENAI__MODEL": "llama",
            "SIGNAL__SEND_TIMEOUT_SECONDS": f"{max(send_seconds, 1):g}",
            "SIGNAL__UNKNOWN_GRACE_SECONDS": f"{grace_seconds:g}",
            "STORE__PATH": str(self.folder / "aldis.db"),
            "WEB__PORT": "0",
        }
        transport, stop = SignalCli(self.signal.url, OWN_ACCOUNT, send_seconds=send_seconds), asyncio.Event()
        async with app.build_service(settings.load_settings(chosen, None), transport, realm="signal") as aldis:
            running = asyncio.create_task(aldis.run(stop))
            try:
                await self.signal.connected()
                yield
            finally:
                stop.set()
                await running

    async def ask(self, text: str, author: Person = ALICE, group: str | None = None) -> None:
        await self.signal.deliver(message(text, author=author, group=group, mention=group is not None))

    def heard(self, chat: str) -> list[str]:
        """What people read of Aldis in a chat: the last word of each message, which is the last word of a question."""
        return [sent.text.split()[-1] for sent in self.signal.visible(chat)]

    async def resent(self) -> int:
        """How many messages were sent again for want of a proof."""

        def count(repos: Repositories) -> int:
            [(number,)] = repos.outbox.rows("SELECT count(*) FROM ledger WHERE outcome = 'resent'")
            return number

        async with open_store(self.folder / "aldis.db", realm="signal") as store:
            return await store.read(count)


@pytest.fixture
async def world(signal: signal_cli.SignalCli, tmp_path: Path) -> AsyncGenerator[World]:
    async with OpenAIServer(local=True) as model:
        signal.receipts_mode = "on_call"
        signal.groups = {GROUP: (ALICE, BOB), OTHER_GROUP: (BOB, CAROL)}
        yield World(signal, model, tmp_path)


def doubts(caplog: pytest.LogCaptureFixture) -> int:
    """How many sends have fallen in doubt."""
    return caplog.text.count("waiting for a receipt")


LOST, OUT = Plan(answer=cut, goes_out=False), Plan(answer=cut, goes_out=True)


async def test_a_bridge_slower_than_the_timeout_answers_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """It takes the request up, and names the message, when nobody waits for it any more; the receipt proves it."""
    taken_up = asyncio.Event()
    world.signal.plans.append(Plan(held=taken_up))
    async with world.running(send_seconds=1):
        await world.ask("And now, quince?")
        await eventually(lambda: doubts(caplog) == 1)
        taken_up.set()
        await world.signal.sent_count(1)
        await world.signal.confirm()
        await world.ask("And then, medlar?")
        await world.signal.sent_count(2)
    assert world.heard(ALICE.chat) == ["quince?", "medlar?"]
    assert await world.resent() == 0


async def test_after_a_restart_they_are_proved_as_well(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Who is in which group is asked anew, and what was confirmed meanwhile counts."""
    world.signal.plans.extend([OUT, OUT])
    async with world.running():
        await world.ask("Aldis, quince?", group=GROUP)
        await world.ask("Aldis, medlar?", CAROL, group=OTHER_GROUP)
        await world.signal.sent_count(2)
        await eventually(lambda: doubts(caplog) == 2)
    async with world.running():
        await world.signal.confirm()
        await world.ask("Aldis, damson?", group=GROUP)
        await world.ask("Aldis, bullace?", CAROL, group=OTHER_GROUP)
        await world.signal.sent_count(4)
    assert await world.resent() == 0


async def test_a_status_that_shows_up_beside_the_answer_goes(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The bridge never told that it had sent it, and the phone was off: its receipt comes after the answer."""
    gate = Gate(world.model, say("And quince."))
    world.model.script.append(gate)
    world.signal.plans.append(OUT)
    async with world.running(grace_seconds=1):
        await world.ask("And now, quince?")
        await gate.arrived()
        await eventually(lambda: doubts(caplog) == 1)
        gate.opened.set()
        await world.signal.sent_count(2)
        await world.signal.confirm()
        await world.signal.removed_count(1)
        await world.ask("And then, medlar?")
        await world.signal.sent_count(3)
    assert world.heard(ALICE.chat) == ["quince.", "medlar?"]


async def test_what_may_be_a_copy_is_taken_away(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Alice alone confirms one message of two, and nobody can tell which: both are sent again, and seen once."""
    world.signal.plans.extend([LOST, OUT])
    async with world.running(grace_seconds=5):
        await world.ask("Aldis, medlar?", BOB, group=GROUP)
        await eventually(lambda: doubts(caplog) == 1)
        await world.ask("And now, quince?")
        await world.signal.sent_count(1)
        await world.signal.confirm()
        await world.signal.sent_count(3)
        await world.signal.removed_count(2)
    assert world.heard(ALICE.chat) == ["quince?"]
    assert world.heard(f"group:{GROUP}") == ["medlar?"]
    assert await world.resent() == 2
