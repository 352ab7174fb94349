"""The health page: well while messages come in and are answered, else not, and why."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot import events
from bot.clock import SetClock
from bot.errors import ConfigError
from bot.loops.intake import Intake
from bot.metrics import Counts
from bot.policy.access import AccessList
from bot.web.health import HealthPage, served
from store import Arrival, Store, opened
from tests.bot.loops.quay import Quay, envelope
from tests.conftest import NOON

LOOPBACK = "127.0.0.1"
CLOSED = "the stream of messages is not open"
TOO_LONG = "a message has been waiting for too long"


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listening:
        return listening.getsockname()[1]


def page_of(store: Store, clock: SetClock, counts: Counts) -> HealthPage:
    allowed = AccessList(persons=frozenset(), groups=frozenset())
    window = timedelta(seconds=60)
    intake = Intake(Quay(), store, clock, counts, allowed=allowed, name="Aldis", receipt_window=window)
    return HealthPage(store, intake, clock, counts)


@asynccontextmanager
async def asking(page: HealthPage) -> AsyncGenerator[aiohttp.ClientSession]:
    """The page, served, and somebody who asks it."""
    port = free_port()
    async with served(page, LOOPBACK, port), aiohttp.ClientSession(f"http://{LOOPBACK}:{port}") as http:
        yield http


async def state_of(http: aiohttp.ClientSession) -> tuple[int, dict[str, Any]]:
    async with http.get("/healthz") as response:
        return response.status, await response.json()


async def arrive(store: Store) -> None:
    came = envelope("sesame", 1)
    conversation = await store.conversation("direct:alice", now=NOON)
    arrival = Arrival(
        conversation=conversation,
        account=came.account,
        author="alice",
        device=1,
        sent_at=1,
        kind=came.kind,
        envelope=events.dumped(came),
        received_at=NOON,
    )
    await store.transaction(lambda shelves: shelves.inbox.put(arrival))


async def test_what_the_page_says_of_messages_that_wait(store: Store, clock: SetClock) -> None:
    """Counted at once, a problem after a quarter of an hour; no word of them and no name."""
    counts = Counts()
    counts.add("strangers")
    async with asking(page_of(store, clock, counts)) as http:
        await arrive(store)
        clock.move(900)
        status, state = await state_of(http)
        assert state["problems"] == [CLOSED]
        clock.move(1)
        status, state = await state_of(http)
        assert (status, state["ok"], state["problems"]) == (503, False, [CLOSED, TOO_LONG])
        assert (state["inbox"], state["outbox"]) == ({"open": 1, "dead": 0}, {"open": 0, "dead": 0})
        assert state["counts"] == {"strangers": 1}
        assert "sesame" not in str(state)
        assert "alice" not in str(state)


async def test_a_store_that_fails_is_a_problem(path: Path, clock: SetClock) -> None:
    """The page answers all the same, and says what the store says."""
    async with opened(path, realm="signal") as store:
        page = page_of(store, clock, Counts())
    async with asking(page) as http:
        status, state = await state_of(http)
    assert (status, state) == (503, {"ok": False, "problems": ["the store fails: the store is closed"]})


async def test_a_port_that_is_taken_is_the_operators_mistake(store: Store, clock: SetClock) -> None:
    """The variable is named; port 0 serves nothing and needs none."""
    page = page_of(store, clock, Counts())
    with socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"^WEB__PORT: {LOOPBACK}:{port} cannot be listened on; .* 0 for none$"):
            async with served(page, LOOPBACK, port):
                raise AssertionError("it was served")
    async with served(page, "no such host", 0):
        pass


async def test_nothing_else_is_served(store: Store, clock: SetClock) -> None:
    """Other paths and other methods find nothing."""
    async with asking(page_of(store, clock, Counts())) as http:
        async with http.get("/") as response:
            assert response.status == 404
        async with http.post("/healthz") as response:
            assert response.status == 405
