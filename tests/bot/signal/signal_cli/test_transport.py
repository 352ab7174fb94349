"""signal-cli's own daemon: what only this bridge does."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.errors import (
    Disconnected,
    LinkRefused,
    NetworkFailed,
    NotSent,
    SendUnknown,
    Undeliverable,
    Untrusted,
)
from bot.events import Account, Incoming
from bot.signal.protocol import Linking
from bot.signal.signal_cli.transport import SignalCli, SignalCliLinking
from tests.bot.signal.bridges import NUMBERLESS, OWN_ACCOUNT, Bridge, bridge_to, received, reply
from tests.servers import signal_cli
from tests.servers.base import answer_json
from tests.servers.envelopes import ACCOUNT, ALDIS, message
from tests.servers.signal_server import Plan
from tests.waiting import WAIT_SECONDS


@pytest.fixture
async def server() -> AsyncIterator[signal_cli.SignalCli]:
    async with signal_cli.SignalCli() as server:
        yield server


@pytest.fixture
async def bridge(server: signal_cli.SignalCli) -> AsyncIterator[Bridge]:
    async with bridge_to(server, SignalCli) as bridge:
        yield bridge


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
    """Although signal-cli still lists the account: Signal's server refuses it, while one that is down says nothing."""
    transport = bridge.transport()
    assert await transport.is_linked()
    server.is_removed = True
    assert not await transport.is_linked()


@pytest.mark.parametrize(
    ("plan", "seconds"),
    [
        (Plan(results=("RATE_LIMIT_FAILURE",), retry_after_seconds=90), 90),
        (Plan(results=("RATE_LIMIT_FAILURE", "UNREGISTERED_FAILURE"), retry_after_seconds=7), 7),
        (Plan(results=("RATE_LIMIT_FAILURE",), error=-5), None),
        (Plan(results=("RATE_LIMIT_FAILURE",), retry_after_seconds=86400, challenge="a-token"), 900),
        (Plan(results=("RATE_LIMIT_FAILURE",), retry_after_seconds=30, challenge="a-token"), 30),
        (Plan(error=-5), None),
    ],
)
async def test_a_rate_limit_tells_when(
    server: signal_cli.SignalCli, bridge: Bridge, plan: Plan, seconds: float | None
) -> None:
    """The sender waits as long as Signal asks for; a captcha may be solved before, so then it looks more often."""
    server.plans.append(plan)
    with pytest.raises(NotSent) as told:
        await bridge.transport().send(reply())
    assert told.value.retry_after_seconds == seconds


@pytest.mark.parametrize(
    ("plan", "outcome"),
    [
        (Plan(results=("UNREGISTERED_FAILURE",)), Undeliverable),
        (Plan(results=("INVALID_PRE_KEY_FAILURE", "IDENTITY_FAILURE")), Untrusted),
        (Plan(results=("NETWORK_FAILURE",), error=-1), NetworkFailed),
        (Plan(results=("SOMETHING_NEW",)), NetworkFailed),
        (Plan(error=-1), Undeliverable),
        (Plan(error=-32602), Undeliverable),
        (Plan(error=-12345), SendUnknown),
        (Plan(answer=answer_json({"error": {"code": "?"}})), SendUnknown),
        (Plan(answer=answer_json({"result": {"timestamp": 1}})), SendUnknown),
        (
            Plan(answer=answer_json({"result": {"timestamp": 1, "results": [{"type": "NETWORK_FAILURE"}]}})),
            NetworkFailed,
        ),
    ],
)
async def test_codes_and_results_are_told_apart(
    server: signal_cli.SignalCli, bridge: Bridge, plan: Plan, outcome: type[Exception]
) -> None:
    """Results per recipient say more than the code beside them; what is not known may have gone out."""
    server.plans.append(plan)
    with pytest.raises(outcome) as told:
        await bridge.transport().send(reply())
    assert type(told.value) is outcome


@pytest.mark.parametrize(
    ("scanned", "account"), [(ACCOUNT, OWN_ACCOUNT), (ALDIS.uuid, NUMBERLESS)], ids=["with a number", "without"]
)
async def test_linking_an_account(server: signal_cli.SignalCli, scanned: str, account: Account) -> None:
    """The address for the QR code, then the number of the phone that scanned it, or its uuid where it has none."""
    server.accounts.clear()
    linking: Linking = SignalCliLinking(server.url)
    assert await linking.accounts() == ()
    uri = await linking.start_link()
    assert uri == server.link_uri
    finishing = asyncio.ensure_future(linking.finish_link(uri))
    await server.scan(scanned)
    assert await finishing == scanned
    assert await linking.accounts() == (account,)
    assert await linking.identify(account) == account
    await linking.aclose()


async def test_linking_that_does_not_succeed(server: signal_cli.SignalCli) -> None:
    """A wrong code, a phone that never comes, an answer without the address or the number, and no server: again."""
    linking = SignalCliLinking(server.url, scan_seconds=0.2)
    with pytest.raises(Disconnected):
        await linking.finish_link("sgnl://other")
    with pytest.raises(Disconnected):
        await linking.finish_link(server.link_uri)
    server.faults += [answer_json({"result": {}}), answer_json({"result": {}})]
    with pytest.raises(Disconnected):
        await linking.start_link()
    with pytest.raises(Disconnected):
        await linking.finish_link(server.link_uri)
    await server.stop()
    with pytest.raises(Disconnected):
        await linking.accounts()
    await linking.aclose()


async def test_a_code_expires_and_an_account_is_linked_once(server: signal_cli.SignalCli) -> None:
    """The daemon says both with one number and another sentence: after the first a new code helps, after the second
    nothing does, and its sentence says what would.
    """
    linking = SignalCliLinking(server.url)
    server.link_seconds = 0.01
    with pytest.raises(Disconnected, match="not scanned in time"):
        await linking.finish_link(await linking.start_link())
    server.link_seconds = WAIT_SECONDS
    finishing = asyncio.ensure_future(linking.finish_link(await linking.start_link()))
    await server.scan(ACCOUNT)
    with pytest.raises(
        LinkRefused, match=r'The user \+\d+ already exists Delete "account.d/\d+" before trying again\.'
    ):
        await finishing
    await linking.aclose()
