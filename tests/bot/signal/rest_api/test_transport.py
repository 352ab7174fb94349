"""signal-cli-rest-api over HTTP: what only this bridge does."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

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
from bot.events import Account, ChatId, Kind, Removal, Style, Styled, StyleRange
from bot.signal.protocol import Linking
from bot.signal.rest_api.transport import RestApiLinking, styled_text
from tests.bot.signal.bridges import OWN_ACCOUNT, Bridge, Listening, received, reply, rest_api_bridge
from tests.servers.base import answer_json, hang
from tests.servers.envelopes import ACCOUNT, ALICE, GROUP, message
from tests.servers.signal_rest_api import SignalRestApi, parsed
from tests.servers.signal_server import Plan
from tests.waiting import eventually


@pytest.fixture
async def bridge() -> AsyncIterator[Bridge]:
    async with rest_api_bridge() as bridge:
        yield bridge


@pytest.fixture
def server(bridge: Bridge) -> SignalRestApi:
    assert isinstance(bridge.server, SignalRestApi)
    return bridge.server


async def test_what_cannot_work_is_the_operators_to_mend(server: SignalRestApi, bridge: Bridge) -> None:
    """They hear what to change, instead of nothing for ever; what may pass, or is another server, is tried again."""
    transport = bridge.transport()
    server.faults += [answer_json({}, status=404), lambda _: web.Response(text="<html>"), answer_json([])]
    for error in (Disconnected, Disconnected, ConfigError):
        with pytest.raises(error):
            await received(transport, 1)
    for mode, version, says in (("", "0.101", "MODE=json-rpc"), ("json-rpc", "0.100", "0.101")):
        server.mode, server.version = mode, version
        with pytest.raises(ConfigError, match=says):
            await received(transport, 1)


async def test_a_stop_hands_out_what_has_come(server: SignalRestApi, bridge: Bridge) -> None:
    """Then the stream ends, and the bridge sees that."""
    transport = bridge.transport()
    async with Listening(transport) as stream:
        await server.connected()
        for number in range(20):
            await server.deliver(message(str(number)))
        transport.stop_receiving()
        assert [(await stream.next()).kind for _ in range(20)] == [Kind.MESSAGE] * 20
        with pytest.raises(StopAsyncIteration):
            await stream.next()
    await server.disconnected()


async def test_a_stop_ends_in_time_while_messages_come(server: SignalRestApi, bridge: Bridge) -> None:
    """A shutdown has two and a half seconds for it; a reader that is cancelled loses what it has in hand."""
    transport = bridge.transport()

    async def deliver() -> None:
        for number in range(100):
            await server.deliver(message(str(number)))
            await asyncio.sleep(0.1)

    async with Listening(transport) as stream:
        await server.connected()
        delivering = asyncio.create_task(deliver())
        await stream.next()
        stopped_at = time.monotonic()
        transport.stop_receiving()
        with pytest.raises(StopAsyncIteration):
            await stream.end()
        assert time.monotonic() - stopped_at < 2.5
        delivering.cancel()


async def test_a_reader_that_stood_still_says_nothing_of_the_bridge(server: SignalRestApi, bridge: Bridge) -> None:
    """The store may take long, or the machine sleep: the bridge is asked for a sign of life before it is given up."""
    transport = bridge.transport(silence_seconds=0.8)
    async with aclosing(transport.envelopes()) as stream:
        coming = asyncio.ensure_future(anext(stream))
        await server.connected()
        await server.deliver(message("one"))
        await coming
        await asyncio.sleep(0.9)
        coming = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.7)
        await server.deliver(message("two"))
        assert (await coming).kind is Kind.MESSAGE


async def test_signalbot_writes_into_no_log_of_its_own(bridge: Bridge) -> None:
    """It is quiet about what people write, and leaves standard error to Aldis."""
    await bridge.transport().typing(ChatId(ALICE.chat), started=True)
    log = logging.getLogger(signalbot.LOGGER_NAME)
    assert (log.handlers, log.isEnabledFor(logging.INFO)) == ([], False)


def test_a_style_can_get_lost_and_a_character_never() -> None:
    """Ranges become markers where the bridge's parser reads them as they are meant."""
    rows: tuple[tuple[str, str, tuple[tuple[int, int, Style], ...]], ...] = (
        ("a bold b", "a **bold** b", ((2, 4, Style.BOLD),)),
        ("🪴 b", "🪴 *b*", ((3, 1, Style.ITALIC),)),
        ("ab", "*a*b", ((0, 1, Style.ITALIC), (1, 1, Style.ITALIC))),
        ("abc", "**ab**c", ((0, 2, Style.BOLD), (1, 2, Style.ITALIC))),
        ("a b c", "~a~ `b` ||c||", ((0, 1, Style.STRIKETHROUGH), (2, 1, Style.MONOSPACE), (4, 1, Style.SPOILER))),
        ("🪴", "🪴", ((0, 1, Style.BOLD),)),
        ("ab", "ab", ((1, 5, Style.BOLD), (1, 0, Style.BOLD))),
        *((f"2 {special} is", f"2 {special} is", ((4, 2, Style.BOLD),)) for special in "*~`|\\"),
    )
    for text, marked, styles in rows:
        ranges = tuple(StyleRange(start=start, length=length, style=style) for start, length, style in styles)
        assert styled_text(Styled(text=text, styles=ranges)) == marked
        assert marked == text or parsed(marked)[0] == text


def missed(reason: str) -> object:
    return [{"timestamp": "1", "errors": {"recipients": [{"uuid": ALICE.uuid, "reason": reason}]}}]


LIMITED = (
    "Failed to send message: [429] Rate limit exceeded: 429 (RateLimitException)",
    "StatusCode: 413 (RateLimitException) [413]",
)
ANSWERS: tuple[tuple[int, object, type[Exception]], ...] = (
    (400, {"error": "Couldn't process request - invalid request"}, Undeliverable),
    (400, {"error": "Unregistered user"}, Undeliverable),
    (400, {"error": "Unable to complete request due to untrusted recipient keys"}, Untrusted),
    (400, {"error": "+15554290413 is unwell"}, SendUnknown),
    (400, {"error": ""}, SendUnknown),
    (400, {"error": LIMITED[0]}, NotUploaded),
    (400, {"error": LIMITED[1]}, NotSent),
    (201, missed("UNREGISTERED_FAILURE"), Undeliverable),
    (201, missed("RATE_LIMIT_FAILURE"), NotSent),
    (201, missed("NETWORK_FAILURE"), NetworkFailed),
    *((201, body, SendUnknown) for body in (b"", b"[]", b'[{"timestamp": "soon"}]', b"\xff")),
    (500, b"", SendUnknown),
)


def answered(status: int, body: object) -> Plan:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Plan(answer=lambda _: web.Response(body=data, status=status))


async def test_status_words_and_reasons_decide(server: SignalRestApi, bridge: Bridge) -> None:
    """It answers 400 to all, and 201 may be a failure; an unreadable success is in doubt until a receipt."""
    for status, body, outcome in ANSWERS:
        server.plans.append(answered(status, body))
        with pytest.raises(outcome) as refusal:
            await bridge.transport().send(reply())
        assert type(refusal.value) is outcome, body
    for words in LIMITED:  # to one person nothing went out; in a group it may have struck in the middle
        server.plans.append(answered(400, {"error": words}))
        with pytest.raises(SendUnknown):
            await bridge.transport().send(reply(chat=f"group:{GROUP}"))
    target = await bridge.transport().send(reply())
    server.plans.append(answered(201, b"[]"))
    with pytest.raises(SendUnknown):
        await bridge.transport().remove(Removal(chat=ChatId(ALICE.chat), target=target))


async def test_linking_an_account(server: SignalRestApi) -> None:
    """The new number in the list shows the end; a bridge silent for long (seen 2026-11-26) needs no new code."""
    server.accounts = ["+15550109998"]
    linking: Linking = RestApiLinking(server.url, poll_seconds=0.01, accounts_seconds=1)
    uri = await linking.start_link()
    assert uri == server.link_uri
    assert server.requests[-1].query == {"device_name": "Aldis"}
    server.faults.append(hang)
    finishing = asyncio.ensure_future(linking.finish_link(uri))
    await eventually(lambda: not server.faults)
    await server.scan(ACCOUNT)
    assert await finishing == ACCOUNT
    accounts = await linking.accounts()
    assert accounts == (Account(id=None, number="+15550109998"), Account(id=None, number=ACCOUNT))
    assert await linking.identify(accounts[1]) == OWN_ACCOUNT


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
