"""signal-cli's own daemon: what only this bridge does."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.errors import (
    CallRefused,
    ConfigError,
    Disconnected,
    NetworkFailed,
    NotSent,
    SendUnknown,
    Undeliverable,
    Untrusted,
)
from bot.events import Account, Incoming
from bot.signal.protocol import Linking
from bot.signal.signal_cli.transport import SignalCliLinking
from tests.bot.signal.bridges import NUMBERLESS, OWN_ACCOUNT, Bridge, received, reply, signal_cli_bridge
from tests.servers import signal_cli
from tests.servers.base import answer_json
from tests.servers.envelopes import ACCOUNT, ALDIS, message
from tests.servers.signal_server import Plan
from tests.waiting import WAIT_SECONDS


@pytest.fixture
async def bridge() -> AsyncIterator[Bridge]:
    async with signal_cli_bridge() as bridge:
        yield bridge


@pytest.fixture
def server(bridge: Bridge) -> signal_cli.SignalCli:
    assert isinstance(bridge.server, signal_cli.SignalCli)
    return bridge.server


async def test_a_sticker_is_told_by_its_emoji(server: signal_cli.SignalCli, bridge: Bridge) -> None:
    """The daemon knows it where a frame names but pack and number; it is not asked for each that is unknown."""
    server.stickers |= {("00ff", 3): "🌻", ("00ff", 4): "Obey"}
    frames = [message(None, sticker={"packId": "00ff", "stickerId": number}) for number in (3, 3, 4, 5)]
    await server.deliver(*frames)
    transport = bridge.transport()
    events = [transport.event(envelope) for envelope in await received(transport, 4)]
    assert [isinstance(event, Incoming) and event.sticker_emoji for event in events] == ["🌻", "🌻", None, None]
    asked = [seen.json()["method"] for seen in server.requests if seen.path == "/api/v1/rpc"]
    assert asked.count("listStickerPacks") == 1


async def test_a_device_that_was_removed_is_not_linked(server: signal_cli.SignalCli, bridge: Bridge) -> None:
    """Although signal-cli still lists it; of an account that it never knew the operator hears the variable alone."""
    transport = bridge.transport()
    assert await transport.is_linked()
    server.is_removed = True
    assert not await transport.is_linked()
    with pytest.raises(ConfigError, match="SIGNAL__ACCOUNT") as refusal:
        await received(bridge.transport(Account(id=None, number="+15550109999")), 1)
    assert "5550109999" not in str(refusal.value)


async def test_codes_and_results_are_told_apart(server: signal_cli.SignalCli, bridge: Bridge) -> None:
    """Results per recipient outweigh the code; the sender waits as Signal asks, and looks more often for a captcha."""
    rows: tuple[tuple[Plan, type[Exception], float | None], ...] = (
        (Plan(results=("RATE_LIMIT_FAILURE",), retry_after_seconds=90), NotSent, 90),
        (Plan(results=("RATE_LIMIT_FAILURE", "UNREGISTERED_FAILURE"), retry_after_seconds=7), NotSent, 7),
        (Plan(results=("RATE_LIMIT_FAILURE",), error=-5), NotSent, None),
        (Plan(results=("RATE_LIMIT_FAILURE",), retry_after_seconds=86400, challenge="a-token"), NotSent, 900),
        (Plan(results=("RATE_LIMIT_FAILURE",), retry_after_seconds=30, challenge="a-token"), NotSent, 30),
        (Plan(error=-5), NotSent, None),
        (Plan(results=("UNREGISTERED_FAILURE",)), Undeliverable, None),
        (Plan(results=("INVALID_PRE_KEY_FAILURE", "IDENTITY_FAILURE")), Untrusted, None),
        (Plan(results=("NETWORK_FAILURE",), error=-1), NetworkFailed, None),
        (Plan(results=("SOMETHING_NEW",)), NetworkFailed, None),
        (Plan(error=-1), Undeliverable, None),
        (Plan(error=-32602), Undeliverable, None),
        (Plan(error=-12345), SendUnknown, None),
        (Plan(answer=answer_json({"error": {"code": "?"}})), SendUnknown, None),
        (Plan(answer=answer_json({"result": {"timestamp": 1}})), SendUnknown, None),
        (Plan(answer=answer_json({"result": {"timestamp": 1, "results": [{"type": "X"}]}})), NetworkFailed, None),
    )
    for plan, outcome, seconds in rows:
        server.plans.append(plan)
        with pytest.raises(outcome) as refusal:
            await bridge.transport().send(reply())
        assert type(refusal.value) is outcome, plan
        assert getattr(refusal.value, "retry_after_seconds", None) == seconds, plan


async def test_linking_an_account(server: signal_cli.SignalCli) -> None:
    """The address for the QR code, then the number of the phone that scanned it, or its uuid where it has none."""
    linking: Linking = SignalCliLinking(server.url)
    for scanned, account in ((ACCOUNT, OWN_ACCOUNT), (ALDIS.uuid, NUMBERLESS)):
        server.accounts.clear()
        assert await linking.accounts() == ()
        uri = await linking.start_link()
        assert uri == server.link_uri
        finishing = asyncio.ensure_future(linking.finish_link(uri))
        await server.scan(scanned)
        assert await finishing == scanned
        assert await linking.accounts() == (account,)
        assert await linking.identify(account) == account


async def test_linking_that_does_not_succeed(server: signal_cli.SignalCli) -> None:
    """One number says that a code ran out, where a new one helps, and that an account is linked, where none does."""
    linking = SignalCliLinking(server.url)
    finishing = asyncio.ensure_future(linking.finish_link(await linking.start_link()))
    await server.scan(ACCOUNT)
    already = r'The user \+\d+ already exists Delete "account.d/\d+" before trying again\.'
    with pytest.raises(CallRefused, match=already):
        await finishing
    server.link_seconds = 0.01
    with pytest.raises(Disconnected, match="not scanned in time"):
        await linking.finish_link(await linking.start_link())
    server.link_seconds = WAIT_SECONDS
    linking = SignalCliLinking(server.url, scan_seconds=0.2)
    for uri in ("sgnl://other", server.link_uri):
        with pytest.raises(Disconnected):
            await linking.finish_link(uri)
    server.faults += [answer_json({"result": {}})]
    with pytest.raises(Disconnected):
        await linking.start_link()
    await server.stop()
    with pytest.raises(Disconnected):
        await linking.accounts()
