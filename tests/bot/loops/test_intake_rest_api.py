"""The intake behind signal-cli-rest-api: what the webhook brings is written down before the answer, and none twice."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from bot.clock import SetClock
from bot.loops.intake.loop import Intake
from bot.metrics import Counts
from bot.policy.access import EVERYBODY, AccessList
from bot.transports.rest_api.transport import RestApi
from bot.transports.rest_api.webhook import POST_WAITS, UNPOSTED, PostWaits
from store import Store
from tests.bot.transports.bridges import OWN_ACCOUNT, PATIENT, SECRET
from tests.ports import free_port
from tests.servers.envelopes import ALICE, BOB, Frame, message, receipt
from tests.servers.signal_rest_api import SignalRestApi
from tests.waiting import eventually, eventually_found

BURST = 300


@pytest.fixture
async def server() -> AsyncIterator[SignalRestApi]:
    async with SignalRestApi(webhook_url=f"http://bridge:{SECRET}@127.0.0.1:{free_port()}/") as server:
        yield server


@asynccontextmanager
async def listening(
    server: SignalRestApi,
    store: Store,
    clock: SetClock,
    post_waits: PostWaits = POST_WAITS,
    *,
    first: Sequence[Frame] = (),
) -> AsyncGenerator[tuple[RestApi, Counts]]:
    """An intake that reads from this bridge; `first` comes in a burst as soon as a websocket is open."""
    port = int(server.webhook_url.rstrip("/").rpartition(":")[2]) if server.webhook_url else None
    webhook = ("127.0.0.1", port, SECRET) if port else None
    transport = RestApi(server.url, OWN_ACCOUNT, webhook=webhook, post_waits=post_waits, **PATIENT)
    counts = Counts()
    intake = Intake(
        transport,
        store,
        clock,
        counts,
        allowed=AccessList(persons=frozenset({EVERYBODY}), groups=frozenset()),
        name="Aldis",
        pause_factor=0.01,
    )
    task = asyncio.create_task(intake.run())
    opened = server.streams_opened
    try:
        await server.connected(opened + 1)
        await server.burst(*first)
        if transport.webhook is not None:
            listens = transport.webhook
            await eventually(lambda: listens.is_open)
        yield transport, counts
    finally:
        task.cancel()
        await asyncio.wait([task])
        await intake.aclose()
        await transport.aclose()


async def kept(store: Store) -> list[int]:
    """When the messages in the inbox were sent, in the order in which they were written down."""
    return [at for (at,) in await store.read(lambda repos: repos.inbox.rows("SELECT sent_at FROM inbox ORDER BY id"))]


def sent_at(*frames: Frame) -> list[int]:
    return [frame["envelope"]["timestamp"] for frame in frames]


async def test_a_burst_loses_nothing_by_the_webhook(server: SignalRestApi, store: Store, clock: SetClock) -> None:
    """Every frame is written down, once and in order, although each comes twice; the bridge was answered for each."""
    frames = [message(f"{number}") for number in range(BURST)]
    async with listening(server, store, clock) as (_, counts):
        await server.burst(*frames)
        await eventually(lambda: len(server.posted) == BURST)
        assert await kept(store) == sent_at(*frames)
    assert (server.unposted, server.dropped) == ([], [])
    told = counts.all()
    assert (told["envelopes_message"], told.get("redelivered", 0)) == (BURST, 0)


async def test_a_burst_in_the_first_moment_loses_nothing_either(
    server: SignalRestApi, store: Store, clock: SetClock
) -> None:
    """The bridge and Aldis start together: what piled up comes before it is told whether the bridge has the account."""
    server.has_signal_cli = False
    frames = [message(f"{number}") for number in range(BURST)]
    async with listening(server, store, clock, first=frames):
        await eventually(lambda: len(server.posted) + len(server.unposted) == BURST)
        assert await kept(store) == sent_at(*frames)
    assert (server.unposted, server.dropped) == ([], [])


async def test_a_burst_loses_some_without(server: SignalRestApi, store: Store, clock: SetClock) -> None:
    """The double drops what the real one drops; nothing here can bring it back."""
    server.webhook_url = None
    async with listening(server, store, clock):
        await server.burst(*(message(f"{number}") for number in range(30)))
        await eventually_found(lambda: _has(store, 20))
    assert len(server.dropped) == 10


async def _has(store: Store, count: int) -> bool:
    return len(await kept(store)) == count


async def test_receipts_count_once(server: SignalRestApi, store: Store, clock: SetClock) -> None:
    """Whatever comes twice is counted once, whatever its kind."""
    async with listening(server, store, clock) as (_, counts):
        await server.deliver(receipt([1], author=ALICE), receipt([2], author=BOB), message("end"))
        await eventually(lambda: len(server.posted) == 3)
        await eventually_found(lambda: _has(store, 1))
    assert {kind: counts.all()[f"envelopes_{kind}"] for kind in ("receipt", "message")} == {"receipt": 2, "message": 1}


async def test_what_the_disk_has_no_room_for_waits_at_the_bridge(
    server: SignalRestApi, store: Store, clock: SetClock
) -> None:
    """The one in hand may be told as not written down, and is kept all the same; the others are not posted before."""

    async def rename(one: str, other: str) -> None:
        await store.transaction(lambda repos: repos.inbox.execute(f"ALTER TABLE {one} RENAME TO {other}"))

    frames = [message(f"{number}") for number in range(5)]
    async with listening(server, store, clock) as (_, counts):
        await rename("inbox", "away")
        await server.deliver(*frames)
        await eventually(lambda: counts.all()["streams"] > 3)
        assert server.posted == []
        await rename("away", "inbox")
        await eventually(lambda: len(server.posted) + len(server.unposted) == 5)
        await eventually_found(lambda: _has(store, 5))
        assert await kept(store) == sent_at(*frames)
    assert len(server.unposted) <= 1


async def test_nothing_is_asked_of_a_bridge_that_waits(server: SignalRestApi, store: Store, clock: SetClock) -> None:
    """Until a post is answered it answers nothing that signal-cli has to: opening a stream must not wait for that."""
    async with listening(server, store, clock) as (transport, _):
        await server.end_streams("drop")
        await server.deliver(message("between two streams"))
        await server.connected(2)
        await eventually_found(lambda: _has(store, 1))
        assert await transport.is_linked()


async def test_other_accounts_of_the_bridge_are_none_of_ours(
    server: SignalRestApi, store: Store, clock: SetClock
) -> None:
    """The webhook brings them, too: they are let go, and count as nothing."""
    async with listening(server, store, clock) as (transport, counts):
        await server.deliver(message("to somebody else", account="+15550109998"), message("to us"))
        await eventually(lambda: len(server.posted) == 2)
        await eventually_found(lambda: _has(store, 1))
    assert (transport.unreadable_frames, counts.all()["envelopes_message"]) == (0, 1)


async def test_a_webhook_that_the_bridge_does_not_know_is_a_problem(
    server: SignalRestApi, store: Store, clock: SetClock
) -> None:
    """People are answered all the same, by the websocket; the first post ends it."""
    async with listening(server, store, clock, PostWaits(forgotten_seconds=0)) as (transport, _):
        known, server.webhook_url = server.webhook_url, None
        assert transport.problem is None
        await server.deliver(message("over the websocket alone"))
        await eventually_found(lambda: _has(store, 1))
        assert transport.problem == UNPOSTED
        server.webhook_url = known
        await server.deliver(message("by both ways"))
        await eventually(lambda: server.posted)
        assert transport.problem is None


async def test_in_manual_receive_mode_signal_keeps_what_nobody_takes(
    server: SignalRestApi, store: Store, clock: SetClock
) -> None:
    """The bridge fetches only while there is a websocket: so there is one beside the webhook."""
    server.manual = True
    early, later = message("early"), message("later")
    await server.deliver(early)
    async with listening(server, store, clock) as (_, counts):
        await eventually_found(lambda: _has(store, 1))
        await server.deliver(later)
        await eventually_found(lambda: _has(store, 2))
    assert await kept(store) == sent_at(early, later)
    assert counts.all()["envelopes_message"] == 2
