"""The same frames through signal-cli's stream and the whole intake into a store.

After every batch of bad frames comes a good one of a person who is in none of them. It arrives, whatever came before:
the stream has not ended. Of strangers nothing is stored.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bot import app, settings
from bot.events import Envelope, load_envelope
from bot.signal.json import parse_frame, text_in
from bot.signal.rest_api.transport import MAX_FRAME_BYTES
from bot.signal.signal_cli.transport import SignalCli
from store import InboxItem, Repositories, Store, open_store
from tests.bot.signal import bridges
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.campaigns.fuzz import oracle
from tests.campaigns.fuzz.envelopes import frame_of
from tests.campaigns.fuzz.rounds import Round
from tests.conftest import NOON
from tests.servers.envelopes import ALICE, BOB, GROUP, Person, message
from tests.servers.signal_server import SignalServer

COUNT = 10_000

BYSTANDER = Person(uuid="57a4d000-0000-4000-8000-0000000000e1", name="Dora")
"""Writes the good frames; no mutation knows the uuid."""

_BATCH = 40
_WAIT_SECONDS = 120.0
_ALL = 1_000_000


def _batches(round_: Round) -> Iterator[list[str]]:
    """The frames of the round in batches; those that no bridge would hand on are left out."""
    now_ms = time.time_ns() // 1_000_000
    batch: list[str] = []
    for random in round_.randoms():
        raw = frame_of(random, now_ms=now_ms)
        # Of another account's none comes where Aldis has subscribed to its own; and a stream ends at a frame that is
        # larger than what Signal carries a hundred times.
        is_own = text_in(parse_frame(raw), "account") in {"", OWN_ACCOUNT.number, OWN_ACCOUNT.id}
        if is_own and len(raw.encode("utf-8", "surrogatepass")) < MAX_FRAME_BYTES:
            batch.append(raw)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch


async def check(round_: Round, folder: Path) -> None:
    path = folder / "aldis.db"
    async with bridges.signal_cli_bridge() as bridge, _taking_in(bridge.server, path):
        await bridge.server.connected()
        await bridge.server.deliver(message("it is me who has this number", author=BOB))
        for number, batch in enumerate(_batches(round_)):
            with round_.trying(batch):
                for raw in batch:
                    await bridge.server.deliver_data(raw)
                good = message(f"still here, {number}", author=BYSTANDER)
                await bridge.server.deliver(good)
                await _read(bridge.server, good["envelope"]["timestamp"])
            round_.outcomes["frames"] += len(batch)
    async with open_store(path, realm="signal") as store:
        with round_.trying("the store", is_example=False):
            await _judge_store(round_, store)


@asynccontextmanager
async def _taking_in(server: SignalServer, path: Path) -> AsyncGenerator[None]:
    given = settings.load_settings(
        {
            "STORE__PATH": str(path),
            "ACCESS__GREETING": "false",
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number},{BYSTANDER.uuid}",
            "ACCESS__GROUPS": GROUP,
            "LIMITS__MESSAGES_PER_MINUTE": "10000",
            "LIMITS__CONVERSATION_MESSAGES_PER_MINUTE": "10000",
            "LIMITS__MAX_WAITING": "100000",
        },
        None,
    )
    transport = SignalCli(server.url, OWN_ACCOUNT, silence_seconds=_WAIT_SECONDS)
    async with app.build_service(given, transport, realm="signal") as aldis:
        taking = asyncio.create_task(aldis.intake.run())
        try:
            yield
        finally:
            taking.cancel()
            await asyncio.wait([taking])
            await aldis.intake.aclose()


async def _read(server: SignalServer, sent_at: int) -> None:
    """Wait until the good frame of that time is marked as read: all that came before it is kept, or never will be."""
    mark = (BYSTANDER.uuid, sent_at)
    await server.until(lambda: mark in server.read[-2 * _BATCH :] or server.streams_opened > 1)
    assert server.streams_opened == 1, "the stream was opened anew"


async def _judge_store(round_: Round, store: Store) -> None:
    """Whatever is kept is what somebody wrote who may, where he may, and there is no conversation beside these."""
    kept = await _kept(store)
    for envelope in kept:
        # The number beside it may be the one that the author had before.
        oracle.judge(envelope.raw, replace(envelope, number=None), None)
        assert _may_write(envelope), "a stranger's words are kept"
        round_.outcomes[f"kept: {envelope.kind}"] += 1
    chats = {envelope.chat for envelope in kept}
    [(conversations,)] = await store.read(lambda repos: repos.inbox.rows("SELECT count(*) FROM conversations"))
    assert conversations == len(chats), "a conversation of nobody who may write"
    assert {f"direct:{ALICE.uuid}", f"group:{GROUP}", BYSTANDER.chat} <= chats


def _may_write(envelope: Envelope) -> bool:
    """The rule of the access list, told anew: the listed group for whoever is in it, else the listed people alone."""
    if envelope.from_self or envelope.author is None or envelope.chat is None:
        return False
    if envelope.chat.startswith("group:"):
        return envelope.chat == f"group:{GROUP}"
    return envelope.author in {ALICE.uuid, BOB.uuid, BYSTANDER.uuid}


async def _kept(store: Store) -> list[Envelope]:
    """All that stands in the inbox: what is to be answered, and what is seen to beside that."""
    items = await store.transaction(_waiting)
    [(rows,)] = await store.read(lambda repos: repos.inbox.rows("SELECT count(*) FROM inbox"))
    assert rows == len(items), "something is kept that nobody will look at"
    return [load_envelope(item.envelope) for item in items]


def _waiting(repos: Repositories) -> list[InboxItem]:
    found = list(repos.inbox.urgent_items(limit=_ALL))
    while claim := repos.inbox.claim(now=NOON, until=NOON, busy=(), limit=_ALL):  # one person's messages
        found += claim.items
        for item in claim.items:
            repos.inbox.settle(item.id)
    return found
