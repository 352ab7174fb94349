"""Signal's side fails, in every way that it knows: what people see, what the operator is told, that the next works.

Each story is told over both bridges, side by side: Aldis with its loops, its store and the real transport, in this
process, so that a test may shorten a deadline. How streams end and carry garbage is told in `test_reconnect`.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot import app, settings
from bot.clock import Clock
from bot.event_json import dump_value
from bot.events import Reply
from bot.loops.watchdog import CAPTCHA, Watchdog
from bot.signal.protocol import SignalTransport
from bot.signal.rest_api.transport import RestApi
from bot.signal.signal_cli.transport import SignalCli
from store import Repositories, open_store
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.flows.gates import Gate
from tests.servers import signal_cli, signal_rest_api
from tests.servers.base import answer_json
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, Person, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_server import Plan, SignalServer
from tests.waiting import eventually

UNREGISTERED, LIMITED = "UNREGISTERED_FAILURE", "RATE_LIMIT_FAILURE"
TOKEN = "c0ffee00-0000-4000-8000-00000000cafe"
MANY = 1000
"""More sends than there are before a test lets them through."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """What the store holds after a story."""

    inbox: int
    outbox: int
    dead: int
    resent: int


@dataclass
class World:
    """One bridge and one model, and an Aldis between them while `running`."""

    server: SignalServer
    build: Callable[..., SignalTransport]
    model: OpenAIServer
    folder: Path
    transports: list[SignalTransport] = field(default_factory=list[SignalTransport])

    @property
    def transport(self) -> SignalTransport:
        return self.transports[-1]

    @asynccontextmanager
    async def running(
        self, *, grace_seconds: float = 1, accepts: bool = False, **deadlines: float
    ) -> AsyncGenerator[None]:
        """Aldis, until the block ends; it stops in good order."""
        chosen = {
            "ACCESS__GREETING": "false",
            "ACCESS__ALLOWED": ",".join(person.uuid for person in (ALICE, BOB, CAROL)),
            "ACCESS__GROUPS": GROUP,
            "ACCESS__ADMINS": BOB.uuid,
            "OPENAI_BASE_URL": self.model.base_url,
            "LLM__OPENAI__MODEL": "llama",
            "SIGNAL__UNKNOWN_GRACE_SECONDS": f"{grace_seconds:g}",
            "SIGNAL__NEW_SAFETY_NUMBERS": "accept" if accepts else "ask",
            "STORE__PATH": str(self.folder / "aldis.db"),
            "WEB__PORT": "0",
        }
        self.transports.append(self.build(self.server.url, OWN_ACCOUNT, **deadlines))
        stop = asyncio.Event()
        async with app.build_service(settings.load_settings(chosen, None), self.transport, realm="signal") as aldis:
            running = asyncio.create_task(aldis.run(stop))
            try:
                yield
            finally:
                stop.set()
                await running

    async def put(self, reply: Reply) -> None:
        """Let something stand in the outbox when Aldis starts."""
        async with open_store(self.folder / "aldis.db", realm="signal") as store:
            now = Clock().now()
            conversation = await store.conversation(reply.chat, now=now)

            def put(repos: Repositories) -> None:
                turn = repos.turns.begin(conversation, now=now)
                repos.journal.close(turn, "ignored", now=now)
                in_group = reply.chat.startswith("group:")
                repos.outbox.put(conversation, turn, 0, dump_value(reply), in_group=in_group, now=now)

            await store.transaction(put)

    def told(self, chat: str) -> str:
        """The last thing that Aldis has said in a chat; nothing yet."""
        seen = self.server.visible(chat)
        return seen[-1].text if seen else ""

    async def ask(self, text: str, author: Person = ALICE, group: str | None = None) -> None:
        await self.server.deliver(message(text, author=author, group=group, mention=group is not None))

    def heard(self, chat: str) -> list[str]:
        """What people read of Aldis in a chat: the last word of each message, which is the last word of a question."""
        return [sent.text.split()[-1] for sent in self.server.visible(chat)]

    async def left(self) -> Left:
        async with open_store(self.folder / "aldis.db", realm="signal") as store:
            inbox, outbox, sends = await store.read(
                lambda repos: (
                    repos.inbox.backlog(),
                    repos.outbox.backlog(),
                    repos.ledger.rows("SELECT outcome FROM ledger WHERE kind = 'send'"),
                )
            )
        return Left(inbox=inbox.items, outbox=outbox.items, dead=outbox.dead, resent=sends.count(("resent",)))


Both = Callable[[Callable[[World], Awaitable[None]]], Awaitable[None]]


@pytest.fixture
async def both(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> AsyncGenerator[Both]:
    """Tell a story over both bridges at once."""
    caplog.set_level(logging.INFO)
    bridges = ((signal_cli.SignalCli(), SignalCli), (signal_rest_api.SignalRestApi(), RestApi))
    async with AsyncExitStack() as stack:
        worlds: list[World] = []
        for server, build in bridges:
            folder = tmp_path / build.__name__
            folder.mkdir()
            await stack.enter_async_context(server)
            model = await stack.enter_async_context(OpenAIServer(local=True))
            worlds.append(World(server, build, model, folder))

        async def told(story: Callable[[World], Awaitable[None]]) -> None:
            async with asyncio.TaskGroup() as group:
                for world in worlds:
                    group.create_task(_of(story, world), name=world.build.__name__)

        yield told


async def _of(story: Callable[[World], Awaitable[None]], world: World) -> None:
    await story(world)


ALL_WELL = Left(inbox=0, outbox=0, dead=0, resent=0)


async def test_a_server_that_is_down(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """At the start and while an answer is due: Aldis waits for it, the answer goes out once, the next one, too."""

    async def story(world: World) -> None:
        server, gate = world.server, Gate(world.model, say("Just in time."))
        world.model.script.append(gate)
        await server.stop()
        async with world.running():
            await eventually(lambda: caplog.text.count("the stream of messages broke") >= 2)
            await server.start()
            await server.connected()
            await world.ask("How long?")
            await gate.arrived()
            await server.stop()
            gate.opened.set()
            await eventually(lambda: caplog.text.count("; retrying in") >= 2)
            await server.start()
            await server.sent_count(1)
            await server.connected(2)
            await world.ask("And now?")
            await server.sent_count(2)
        assert world.heard(ALICE.chat) == ["time.", "now?"]
        assert await world.left() == ALL_WELL

    await both(story)


async def test_somebody_with_a_new_safety_number(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """What is for them waits, over a restart, too; the admin is told who it is and trusts it. Then they read their
    answer, and what they wrote meanwhile is answered, each once. No number and no name stands in the log.
    """

    async def story(world: World) -> None:
        server, gate = world.server, Gate(world.model, say("Just in time."))
        async with world.running():
            await server.connected()
            for author in (ALICE, BOB):
                await world.ask("one", author)
            await server.sent_count(2)
            world.model.script.append(gate)
            await world.ask("How long?")
            await gate.arrived()
            await server.change_key(ALICE)
            gate.opened.set()
            await eventually(lambda: "/trust " in world.told(BOB.chat))
            label = re.findall(r"/trust ([0-9a-f]{8})", world.told(BOB.chat))[0]
            await world.ask("two")
            await world.ask("three", CAROL)
            await server.sent_count(4)
        assert world.heard(ALICE.chat) == ["one"]
        assert await world.left() == Left(inbox=0, outbox=1, dead=0, resent=0)
        async with world.running():
            await server.connected(2)
            await world.ask("four", CAROL)
            await server.sent_count(5)
            await world.ask(f"/trust {label}", CAROL)
            await eventually(lambda: world.told(CAROL.chat).startswith("I don't know the command"))
            assert world.heard(ALICE.chat) == ["one"]
            await world.ask(f"/trust {label}", BOB)
            await eventually(lambda: world.heard(ALICE.chat) == ["one", "time.", "two"])
            await eventually(lambda: "is trusted" in world.told(BOB.chat))
        assert sum("/trust " in sent.text for sent in server.visible(BOB.chat)) == 1
        assert await world.left() == ALL_WELL

    await both(story)
    ours = " ".join(record.getMessage() for record in caplog.records if record.name.startswith("bot."))
    assert not any(what in ours for what in (ALICE.number, ALICE.uuid, ALICE.name) if what)


async def test_a_rate_limit_with_and_without_a_captcha(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """Every answer goes out once the limit is lifted, once. The operator is told that a captcha is wanted and what to
    do about it; the token stands on the health page, not in the log.
    """

    async def story(world: World) -> None:
        server = world.server
        async with world.running():
            watchdog = Watchdog(world.transport)
            await server.connected()
            server.plans.extend([Plan(results=(LIMITED,), retry_after_seconds=1, challenge=TOKEN)] * MANY)
            await world.ask("one")
            await eventually(lambda: world.transport.challenge)
            assert (watchdog.problems(), watchdog.challenge) == ((CAPTCHA,), TOKEN)
            server.plans.clear()
            told = Plan(answer=answer_json({}, status=429)) if world.build is RestApi else Plan(error=-5)
            for author, plan in ((BOB, told), (CAROL, Plan(error=-5))):
                server.plans.append(plan)
                await world.ask("one", author)
            await server.sent_count(3)
            await world.ask("two")
            await server.sent_count(4)
            await eventually(lambda: world.transport.challenge is None)
        chats = (ALICE.chat, BOB.chat, CAROL.chat)
        assert [world.heard(chat) for chat in chats] == [["one", "two"], ["one"], ["one"]]
        assert await world.left() == ALL_WELL

    await both(story)
    assert "Signal wants a captcha solved before it sends more (see" in caplog.text
    assert "Signal limits the rate of sending" in caplog.text
    assert TOKEN not in caplog.text
