"""signal-cli-rest-api over HTTP: what only this bridge does."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
import signalbot
from aiohttp import web

from bot.errors import (
    ConfigError,
    Disconnected,
    NetworkFailed,
    NotSent,
    NotUploaded,
    SendUnknown,
    Undeliverable,
    Untrusted,
)
from bot.events import Account, ChatId, Removal, Style, Styled, StyleRange
from bot.signal.protocol import Linking
from bot.signal.rest_api.transport import RestApi, RestApiLinking, styled_text
from tests.bot.signal.bridges import (
    OWN_ACCOUNT,
    Bridge,
    bridge_to,
    received,
    reply,
)
from tests.servers.base import answer_json, hang
from tests.servers.envelopes import ACCOUNT, ALICE, GROUP
from tests.servers.signal_rest_api import SignalRestApi, parsed
from tests.servers.signal_server import Plan
from tests.waiting import eventually


@pytest.fixture
async def server() -> AsyncIterator[SignalRestApi]:
    async with SignalRestApi() as server:
        yield server


@pytest.fixture
async def bridge(server: SignalRestApi) -> AsyncIterator[Bridge]:
    async with bridge_to(server, RestApi) as bridge:
        yield bridge


@pytest.mark.parametrize(("mode", "version", "says"), [("", "0.101", "MODE=json-rpc"), ("json-rpc", "0.100", "0.101")])
async def test_what_cannot_work_is_the_operators_to_mend(
    server: SignalRestApi, bridge: Bridge, mode: str, version: str, says: str
) -> None:
    """They hear what to change, instead of nothing for ever; what may pass, or is another server, is tried again."""
    transport = bridge.transport()
    server.faults += [answer_json({}, status=404), lambda _: web.Response(text="<html>"), answer_json([])]
    for error in (Disconnected, Disconnected, ConfigError):
        with pytest.raises(error):
            await received(transport, 1)
    server.mode, server.version = mode, version
    with pytest.raises(ConfigError, match=says):
        await received(transport, 1)


async def test_signalbot_writes_into_no_log_of_its_own(bridge: Bridge) -> None:
    """It is quiet about what people write, and leaves standard error to Aldis."""
    await bridge.transport().typing(ChatId(ALICE.chat), started=True)
    log = logging.getLogger(signalbot.LOGGER_NAME)
    assert (log.handlers, log.isEnabledFor(logging.INFO)) == ([], False)


STYLED: tuple[tuple[str, str, tuple[tuple[int, int, Style], ...]], ...] = (
    ("a bold b", "a **bold** b", ((2, 4, Style.BOLD),)),
    ("🪴 b", "🪴 *b*", ((3, 1, Style.ITALIC),)),
    ("ab", "*a*b", ((0, 1, Style.ITALIC), (1, 1, Style.ITALIC))),
    ("abc", "**ab**c", ((0, 2, Style.BOLD), (1, 2, Style.ITALIC))),
    ("a b c", "~a~ `b` ||c||", ((0, 1, Style.STRIKETHROUGH), (2, 1, Style.MONOSPACE), (4, 1, Style.SPOILER))),
    ("🪴", "🪴", ((0, 1, Style.BOLD),)),
    ("ab", "ab", ((1, 5, Style.BOLD), (1, 0, Style.BOLD))),
    *((f"2 {special} is", f"2 {special} is", ((4, 2, Style.BOLD),)) for special in "*~`|\\"),
)


@pytest.mark.parametrize(("text", "message", "styles"), STYLED)
def test_a_style_can_get_lost_and_a_character_never(
    text: str, message: str, styles: tuple[tuple[int, int, Style], ...]
) -> None:
    """Ranges become markers where the bridge's parser reads them as they are meant."""
    ranges = tuple(StyleRange(start=start, length=length, style=style) for start, length, style in styles)
    assert styled_text(Styled(text=text, styles=ranges)) == message
    if message != text:
        assert parsed(message)[0] == text


@pytest.mark.parametrize("text", [
    "Failed to send message: [429] Rate limit exceeded: 429 (RateLimitException)",
    "StatusCode: 413 (RateLimitException) [413]",
])  # fmt: skip
async def test_a_rate_limit_in_words(server: SignalRestApi, bridge: Bridge, text: str) -> None:
    """To one person nothing went out; in a group it may have struck in the middle."""
    answer = answer_json({"error": text}, status=400)
    server.plans += [Plan(answer=answer), Plan(answer=answer)]
    with pytest.raises((NotSent, NotUploaded)):
        await bridge.transport().send(reply())
    with pytest.raises(SendUnknown):
        await bridge.transport().send(reply(chat=f"group:{GROUP}"))


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"error": "Couldn't process request - invalid request"}, Undeliverable),
        ({"error": "Unregistered user"}, Undeliverable),
        ({"error": "Unable to complete request due to untrusted recipient keys"}, Untrusted),
        ({"error": "+15554290413 is unwell"}, SendUnknown),
        ({"error": ""}, SendUnknown),
        ("UNREGISTERED_FAILURE", Undeliverable),
        ("RATE_LIMIT_FAILURE", NotSent),
        ("NETWORK_FAILURE", NetworkFailed),
    ],
)
async def test_the_words_of_a_400_and_the_reasons_of_a_201_decide(
    server: SignalRestApi, bridge: Bridge, body: Any, outcome: type[Exception]
) -> None:
    """The bridge answers 400 to everything, and 201 with the only recipient among the errors is no success; digits of a
    phone number are no rate limit.
    """
    missed = {"timestamp": "1", "errors": {"recipients": [{"uuid": ALICE.uuid, "reason": body}]}}
    is_made = isinstance(body, str)
    server.plans.append(Plan(answer=answer_json([missed] if is_made else body, status=201 if is_made else 400)))
    with pytest.raises(outcome) as told:
        await bridge.transport().send(reply())
    assert type(told.value) is outcome


@pytest.mark.parametrize(("body", "outcome"), [(b"", NotSent), (b"a proxy", SendUnknown)])
async def test_a_500_without_a_body_is_a_bridge_without_its_signal_cli(
    server: SignalRestApi, bridge: Bridge, body: bytes, outcome: type[Exception]
) -> None:
    """Nothing was written to signal-cli then, so the next try need not wait for a receipt."""
    server.plans.append(Plan(answer=lambda _: web.Response(body=body, status=500)))
    with pytest.raises(outcome):
        await bridge.transport().send(reply())


@pytest.mark.parametrize("body", [b"", b"[]", b'[{"timestamp": "soon"}]', b"\xff"])
async def test_a_success_that_cannot_be_read_is_in_doubt(server: SignalRestApi, bridge: Bridge, body: bytes) -> None:
    """A receipt proves it, or it goes out once more."""
    plan = Plan(answer=lambda _: web.Response(body=body, status=201), goes_out=True)
    server.plans += [plan]
    with pytest.raises(SendUnknown):
        await bridge.transport().send(reply())
    target = await bridge.transport().send(reply())
    server.plans += [plan]
    with pytest.raises(SendUnknown):
        await bridge.transport().remove(Removal(chat=ChatId(ALICE.chat), target=target))


async def test_linking_an_account(server: SignalRestApi) -> None:
    """The bridge links in the background: the new number in its list tells that it is done."""
    server.accounts = ["+15550109998"]
    linking: Linking = RestApiLinking(server.url, poll_seconds=0.01)
    uri = await linking.start_link()
    assert uri == server.link_uri
    assert server.requests[-1].query == {"device_name": "Aldis"}
    finishing = asyncio.ensure_future(linking.finish_link(uri))
    await server.scan(ACCOUNT)
    assert await finishing == ACCOUNT
    accounts = await linking.accounts()
    assert accounts == (Account(id=None, number="+15550109998"), Account(id=None, number=ACCOUNT))
    assert await linking.identify(accounts[1]) == OWN_ACCOUNT
    await linking.aclose()


async def test_a_bridge_that_is_silent_while_it_links_needs_no_new_code(server: SignalRestApi) -> None:
    """As the real one is, for as long as its signal-cli takes to link (observed on 2026-11-26)."""
    server.accounts.clear()
    linking = RestApiLinking(server.url, poll_seconds=0.01, accounts_seconds=1)
    uri = await linking.start_link()
    server.faults += [hang, hang]
    finishing = asyncio.ensure_future(linking.finish_link(uri))
    await eventually(lambda: not server.faults)
    await server.scan(ACCOUNT)
    assert await finishing == ACCOUNT
    await linking.aclose()


async def test_linking_that_does_not_succeed(server: SignalRestApi) -> None:
    """A phone that never comes, an answer without the address, and no server: again."""
    linking = RestApiLinking(server.url, poll_seconds=0.01, scan_seconds=0.1)
    with pytest.raises(Disconnected, match="not scanned in time"):
        await linking.finish_link(await linking.start_link())
    server.faults += [answer_json([]), answer_json({})]
    with pytest.raises(Disconnected):
        await linking.start_link()
    await server.stop()
    with pytest.raises(Disconnected):
        await linking.accounts()
    await linking.aclose()
