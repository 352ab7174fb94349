"""The same frames on their way: through both bridges, and through the whole intake into a store.

After every batch of bad frames comes a good one of somebody who is in none of them. It arrives, whatever came before:
no stream has ended, nothing was held back, lost or taken twice. Of strangers nothing is stored.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bot import app, settings
from bot.event_json import load_envelope
from bot.events import ChatId, Envelope, Incoming
from bot.signal.envelope import FrameReader
from bot.signal.json import parse_frame, text_in
from bot.signal.protocol import Transport
from bot.signal.rest_api.transport import MAX_FRAME_BYTES
from bot.signal.signal_cli.transport import SignalCli
from store import InboxItem, Repositories, Store, open_store
from tests.bot.signal import bridges
from tests.bot.signal.bridges import OWN_ACCOUNT, Bridge
from tests.campaigns.fuzz import oracle
from tests.campaigns.fuzz.envelopes import frame_of
from tests.campaigns.fuzz.rounds import Round
from tests.conftest import NOON
from tests.servers.envelopes import ACCOUNT, ALICE, BOB, GROUP, Person, message
from tests.servers.signal_rest_api import is_for
from tests.servers.signal_server import SignalServer

COUNT = 100_000
INTAKE_COUNT = 10_000

BYSTANDER = Person(uuid="57a4d000-0000-4000-8000-0000000000e1", name="Dora")
"""Writes the good frames; no mutation knows the uuid."""

_BATCH = 40
_WAIT_SECONDS = 120.0
_ALL = 1_000_000


async def check_signal_cli(round_: Round, _: Path) -> None:
    """The event stream of signal-cli's daemon."""
    await _check_stream(round_, bridges.signal_cli_bridge)


async def check_rest_api(round_: Round, _: Path) -> None:
    """The websocket of signal-cli-rest-api."""
    await _check_stream(round_, bridges.rest_api_bridge, hands_on=lambda raw: is_for(raw, ACCOUNT))


async def _check_stream(
    round_: Round,
    bridge_of: Callable[[], AbstractAsyncContextManager[Bridge]],
    hands_on: Callable[[str], bool] = lambda _: True,
) -> None:
    """`hands_on` says which frames such a bridge lets through at all."""
    async with bridge_of() as bridge:
        transport = bridge.transport(silence_seconds=_WAIT_SECONDS)
        async with aclosing(transport.envelopes()) as stream:
            first = asyncio.ensure_future(anext(stream))
            await bridge.server.connected()
            arriving = _resumed(first, stream)
            for number, frames in enumerate(_batches(round_)):
                batch = [raw for raw in frames if hands_on(raw)]
                with round_.trying(batch):
                    await _pass(bridge.server, transport, arriving, batch, f"still here, {number}")
                round_.outcomes["frames"] += len(batch)
                round_.outcomes["good frames, all heard"] += 1
        assert bridge.server.streams_opened == 1, "the stream was opened anew"


async def _resumed(first: asyncio.Future[Envelope], stream: AsyncGenerator[Envelope]) -> AsyncIterator[Envelope]:
    """The stream with the envelope that was asked for to open it."""
    yield await first
    async for envelope in stream:
        yield envelope


async def _pass(
    server: SignalServer, transport: Transport, arriving: AsyncIterator[Envelope], batch: list[str], words: str
) -> None:
    """Let a batch and a good frame arrive, and see that all that are envelopes come out, in order, as they are."""
    for raw in batch:
        await server.deliver_data(raw)
    await server.deliver(message(words, author=BYSTANDER))
    expected = [envelope for raw in batch if (envelope := _peeked(raw)) is not None]
    found: list[Envelope] = []
    async with asyncio.timeout(_WAIT_SECONDS):
        async for envelope in arriving:
            if envelope.author == BYSTANDER.uuid:
                assert _says(transport, envelope, words)
                break
            oracle.judge(envelope.raw, envelope, transport.event(envelope))
            found.append(envelope)
    assert list(map(_plain, found)) == list(map(_plain, expected))


def _plain(envelope: Envelope) -> tuple[Envelope, str]:
    """The envelope, and its frame without what is said twice: signal-cli's frames are written anew on their way."""
    return replace(envelope, raw=""), json.dumps(json.loads(envelope.raw))


def _says(transport: Transport, envelope: Envelope, words: str) -> bool:
    event = transport.event(envelope)
    return (
        isinstance(event, Incoming)
        and (event.text, event.author) == (words, BYSTANDER.uuid)
        and event.chat == envelope.chat == ChatId(BYSTANDER.chat)
    )


def _batches(round_: Round) -> Iterator[list[str]]:
    """The frames of the round in batches; those that no bridge would hand on are left out."""
    now_ms = time.time_ns() // 1_000_000
    batch: list[str] = []
    for random in round_.randoms():
        raw = frame_of(random, now_ms=now_ms)
        if _may_come(raw):
            batch.append(raw)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch


def _may_come(raw: str) -> bool:
    """Whether a bridge may hand on such a frame.

    Of another account's none comes where Aldis has subscribed to its own. And a websocket ends at a frame that is
    larger than what Signal carries a hundred times.
    """
    if text_in(parse_frame(raw), "account") not in {"", OWN_ACCOUNT.number, OWN_ACCOUNT.id}:
        return False
    return len(raw.encode("utf-8", "surrogatepass")) < MAX_FRAME_BYTES


def _peeked(raw: str) -> Envelope | None:
    """The envelope of the text as it comes out of UTF-8, which has no half surrogate pairs."""
    wired = raw.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return FrameReader(OWN_ACCOUNT, "Aldis").envelope(wired)


# The intake


async def check_intake(round_: Round, folder: Path) -> None:
    """Run the intake alone over signal-cli's stream, then read what it has kept."""
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
