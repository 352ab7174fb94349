"""signal-cli's server-sent events: what an end over HTTP loses, and what it does not."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import aiohttp
import pytest

from bot.transports.signal_cli.transport import SignalCli
from tests.bot.transports.bridges import OWN_ACCOUNT, PATIENT, Bridge, bridge_to, received
from tests.servers import signal_cli
from tests.servers.envelopes import message
from tests.waiting import eventually, with_enough_time


@pytest.fixture
async def server() -> AsyncIterator[signal_cli.SignalCli]:
    async with signal_cli.SignalCli(way="http") as server:
        yield server


@pytest.fixture
async def bridge(server: signal_cli.SignalCli) -> AsyncIterator[Bridge]:
    async with bridge_to(server, SignalCli) as bridge:
        yield bridge


async def test_a_listener_that_closes_costs_two_messages(server: signal_cli.SignalCli) -> None:
    """The double must be as bad as the real one, or nobody would see what the socket is good for."""
    async with aiohttp.ClientSession() as http, http.get(f"{server.url}/api/v1/events"):
        await server.connected()
    await server.disconnected()
    await server.deliver(message("one"), message("two"), message("three"))
    await eventually(lambda: not server.is_listened_to)
    assert server.waiting == 1


async def test_a_stream_that_ends_at_once_costs_one_message(server: signal_cli.SignalCli, bridge: Bridge) -> None:
    """Its end is a reset, also where nobody could care for an orderly one: the first write to it fails."""
    await server.deliver(message("one"))
    await received(bridge.transport(), 1)
    await server.disconnected()
    await server.deliver(message("two"), message("three"))
    await eventually(lambda: not server.is_listened_to)
    assert server.waiting == 1


async def test_an_orderly_end_reads_on(server: signal_cli.SignalCli, bridge: Bridge) -> None:
    """What people write while Aldis ends what it has begun is handed on, for signal-cli cannot be asked to leave it."""
    transport = bridge.transport()
    async with aclosing(transport.envelopes()) as envelopes:
        first = asyncio.ensure_future(anext(envelopes))
        await server.connected()
        transport.stop_receiving()
        await asyncio.sleep(0)
        await server.deliver(message("one"))
        assert '"one"' in (await first).raw
        second = asyncio.ensure_future(anext(envelopes))
        await server.deliver(message("two"))
        assert '"two"' in (await second).raw


@pytest.mark.parametrize("keep_alives", [0, 1])
async def test_an_orderly_end_comes_just_before_a_keep_alive(keep_alives: int) -> None:
    """That is the write that fails, soon: nobody's message is. Ended at once, a message might well have been it.

    The stream is asked to end when so many have come.
    """

    async def attempt(seconds: float) -> bool:
        server = signal_cli.SignalCli(way="http", keep_alive_seconds=seconds)
        async with server, bridge_to(server, SignalCli) as bridge:
            transport = bridge.transport(keep_alive_seconds=seconds)
            ending = asyncio.create_task(_to_the_end(transport))
            await eventually(lambda: transport.is_open)
            opened_at = transport.heard_at
            await eventually(lambda: keep_alives == 0 or transport.heard_at != opened_at)
            transport.stop_receiving()
            asked_at = time.monotonic()
            await ending
            ended_at = time.monotonic()
            await eventually(lambda: not server.is_listened_to)
            unseen_seconds = time.monotonic() - ended_at
            await server.deliver(message("one"))
            assert (server.waiting, server.lost) == (1, [])
            return ended_at - asked_at < seconds and unseen_seconds < min(seconds / 2, 1)

    assert await with_enough_time(attempt, is_enough=bool)


@pytest.mark.parametrize(("version", "seconds"), [("0.14.3", 0.3), ("0.14.4", 5)])
async def test_headers_that_come_late_are_waited_for(version: str, seconds: float) -> None:
    """Before 0.14.4 the headers of an event stream came with the first keep-alive: 15 seconds, where nobody writes."""
    server = signal_cli.SignalCli(way="http", version=version, keep_alive_seconds=seconds)
    async with server:
        deadlines: dict[str, Any] = PATIENT | {"call_seconds": 0.1, "keep_alive_seconds": 0.2}
        transport = SignalCli(server.url, OWN_ACCOUNT, **deadlines)
        ending = asyncio.create_task(_to_the_end(transport))
        await server.connected()
        await eventually(lambda: transport.is_open)
        transport.stop_receiving()
        assert await ending == []
        await transport.aclose()


async def _to_the_end(transport: SignalCli | Any) -> list[int]:
    async with aclosing(transport.envelopes()) as envelopes:
        return [envelope.sent_at async for envelope in envelopes]
