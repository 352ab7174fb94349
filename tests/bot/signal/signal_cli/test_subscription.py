"""signal-cli's sockets: what is received comes whole and in order, and an orderly end loses nothing of it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from bot.errors import ConfigError, Disconnected, NotSent, SendUnknown
from bot.events import Envelope, Kind
from bot.service import _READING_SECONDS
from bot.signal.bridges import bridge_at
from bot.signal.signal_cli.subscription import _BUSY_SECONDS, Deadlines
from bot.signal.signal_cli.transport import SignalCli
from tests.bot.signal.bridges import OWN_ACCOUNT, Bridge, Listening, received, reply, signal_cli_bridge
from tests.servers import signal_cli
from tests.servers.envelopes import message
from tests.servers.signal_cli import ReceiveMode
from tests.waiting import WAIT_SECONDS, eventually, with_enough_time

WAYS: tuple[signal_cli.Way, ...] = ("unix", "tcp")


@pytest.fixture(params=WAYS)
async def bridge(request: pytest.FixtureRequest) -> AsyncIterator[Bridge]:
    async with signal_cli_bridge(request.param) as bridge:
        yield bridge


def daemon(bridge: Bridge) -> signal_cli.SignalCli:
    assert isinstance(bridge.server, signal_cli.SignalCli)
    return bridge.server


def numbered(count: int) -> list[dict[str, object]]:
    return [message(f"{number}") for number in range(count)]


def times(frames: list[dict[str, object]]) -> list[object]:
    return [json.loads(json.dumps(frame))["envelope"]["timestamp"] for frame in frames]


async def to_the_end(envelopes: AsyncGenerator[Envelope]) -> list[int]:
    async with aclosing(envelopes):
        return [envelope.sent_at async for envelope in envelopes]


# What is kept, what is lost


async def test_what_comes_without_a_subscription_stays_with_signal(bridge: Bridge) -> None:
    """Before, after a listener has gone, and between two of them: it comes with the answer to the subscription."""
    server = daemon(bridge)
    await server.deliver(message("one"))
    await received(bridge.transport(silence_seconds=10 * WAIT_SECONDS), 1)
    await server.disconnected()
    await server.deliver(message("two"), message("three"))
    assert server.waiting == 2
    assert len(await received(bridge.transport(silence_seconds=10 * WAIT_SECONDS), 2)) == 2
    assert server.lost == []


@pytest.mark.parametrize("count", [0, 1, 300])
async def test_an_orderly_end_loses_nothing(bridge: Bridge, count: int) -> None:
    """What signal-cli has fetched is handed out in order, the rest stays with Signal; no stopped stream opens again."""
    server, transport = daemon(bridge), bridge.transport(hold_seconds=0.01)
    ending = asyncio.create_task(to_the_end(transport.envelopes()))
    await server.connected()
    frames = numbered(count)
    await server.deliver(*frames)
    transport.stop_receiving()
    came = await ending
    assert came == times(frames)[: len(came)]
    assert len(came) + server.waiting == count
    assert (server.lost, transport.stream.is_open, server.streams_open) == ([], False, 0)
    assert await to_the_end(transport.envelopes()) == []
    assert server.streams_opened == 1


async def test_an_end_while_people_write_loses_nothing(bridge: Bridge) -> None:
    """What signal-cli has in hand is held up where it is handed on, and handed on; the next stays with Signal."""
    server = daemon(bridge)
    server.handling_seconds = 0.01

    async def attempt(seconds: float) -> bool:
        kept, transport = server.waiting, bridge.transport(hold_seconds=seconds)
        in_hand, next_one = numbered(2)
        ending = asyncio.create_task(to_the_end(transport.envelopes()))
        await eventually(lambda: transport.stream.is_open)
        transport.stop_receiving()
        await eventually(lambda: server.is_held_up or ending.done())
        await server.deliver(in_hand)
        await eventually(lambda: server.is_handing_on or ending.done())
        was_in_time = server.is_handing_on
        await server.deliver(next_one)
        came = await ending
        assert not was_in_time or (came[kept:], server.waiting) == (times([in_hand]), 1)
        return was_in_time

    assert await with_enough_time(attempt, is_enough=bool)
    assert server.lost == []


async def test_an_end_that_signal_cli_does_not_answer_is_bounded(
    bridge: Bridge, caplog: pytest.LogCaptureFixture
) -> None:
    """It finishes what it has in hand, which may be a file that never comes."""
    server, transport = daemon(bridge), bridge.transport(hold_seconds=0, unsubscribe_seconds=0.1)
    server.handling_seconds = 3600
    ending = asyncio.create_task(to_the_end(transport.envelopes()))
    await server.connected()
    await eventually(lambda: transport.stream.is_open)
    await server.deliver(message("with a large file"))
    transport.stop_receiving()
    assert await ending == []
    assert "did not unsubscribe" in caplog.text


def test_an_end_leaves_time_to_store_what_was_read() -> None:
    """What has been read by the deadline of unsubscribing is lost if the stop is over as well."""
    wait = Deadlines(call_seconds=1, silence_seconds=1)
    assert wait.hold_seconds + _BUSY_SECONDS + wait.unsubscribe_seconds <= _READING_SECONDS - 1


async def test_a_signal_cli_that_stopped_receiving_is_made_to_receive_again(bridge: Bridge) -> None:
    """Anybody can end its receiving with one message, and nothing shows that: what comes then is only late."""
    server, transport = daemon(bridge), bridge.transport(hold_seconds=0.01, renew_seconds=0.05)
    frames = numbered(3)
    async with Listening(transport) as stream, asyncio.timeout(WAIT_SECONDS):
        await server.connected()
        await server.deliver(frames[0])
        came = [(await stream.next()).sent_at]
        await server.delivered()
        await server.die_receiving()
        await server.deliver(*frames[1:])
        came += [(await stream.next()).sent_at for _ in range(2)]
        assert transport.stream.is_open
    assert (came, server.lost) == (times(frames), [])


async def test_another_account_of_the_daemon_is_left_to_itself(bridge: Bridge) -> None:
    """One that is linked while Aldis listens joins its subscription: it leaves with the first of its messages."""
    server, transport = daemon(bridge), bridge.transport(hold_seconds=0.01)
    async with Listening(transport) as stream, asyncio.timeout(WAIT_SECONDS):
        await server.connected()
        await server.add_account("+15550109998")
        await server.deliver(message("for the other", account="+15550109998"))
        await server.connected(2)
        await server.deliver(message("for it alone", account="+15550109998"), message("for us"))
        assert "for us" in (await stream.next()).raw
    [kept] = server.kept_for_others
    assert json.loads(kept)["envelope"]["dataMessage"]["message"] == "for it alone"


async def test_what_nobody_reads_stays_with_signal(bridge: Bridge) -> None:
    """A transport reads no further than it is asked to, and the kernels keep little: a kill can lose no more."""
    server, transport = daemon(bridge), bridge.transport()
    async with aclosing(transport.envelopes()) as envelopes:
        first = asyncio.ensure_future(anext(envelopes))
        await eventually(lambda: transport.stream.is_open)
        await server.deliver(*numbered(12_000))
        await first
        await eventually(lambda: server.is_held_up or not server.waiting)
        assert server.waiting > 6000


# Receive modes


@pytest.mark.parametrize("mode", ["on-start", "on-connection"])
async def test_a_signal_cli_that_receives_by_itself_is_refused(bridge: Bridge, mode: ReceiveMode) -> None:
    """It shows with the first message, which is handed out before."""
    server, transport = daemon(bridge), bridge.transport()
    server.receive_mode = mode
    async with Listening(transport) as stream:
        await eventually(lambda: transport.stream.is_open)
        await server.deliver(message("hi"))
        assert (await stream.next()).kind is Kind.MESSAGE
        with pytest.raises(ConfigError, match="--receive-mode=manual"):
            await stream.end()


# Whatever else a socket may say


async def test_a_socket_that_does_not_answer(tmp_path: Path) -> None:
    """Every wait is bounded, and what was sent there is unknown."""
    writers: list[asyncio.StreamWriter] = []
    url = f"unix://{tmp_path}/socket"
    async with await asyncio.start_unix_server(lambda _, writer: writers.append(writer), tmp_path / "socket"):
        transport = SignalCli(url, OWN_ACCOUNT, call_seconds=0.2, send_seconds=0.2)
        with pytest.raises(Disconnected):
            await received(transport, 1)
        with pytest.raises(Disconnected):
            await bridge_at(url, timeout_seconds=0.2)
        with pytest.raises(SendUnknown):
            await transport.send(reply())
        for writer in writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers))


@pytest.mark.parametrize("url", ["unix:///nowhere/socket", "tcp://localhost:1"])
async def test_a_socket_that_is_not_there(url: str) -> None:
    """Surely not sent, and no word of where it would be: a path may tell who runs it."""
    transport = SignalCli(url, OWN_ACCOUNT)
    with pytest.raises(NotSent) as refusal:
        await transport.send(reply())
    assert "nowhere" not in str(refusal.value)
    with pytest.raises(Disconnected):
        await received(transport, 1)
    with pytest.raises(Disconnected, match="nothing answers at SIGNAL__URL yet"):
        await bridge_at(url)
