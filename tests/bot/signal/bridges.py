"""Both bridges to Signal in the same words: a double of the server and a transport that talks to it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.events import Account, ChatId, Envelope, PersonId, Reply, Styled
from bot.signal.protocol import SignalTransport, Transport
from bot.signal.rest_api.transport import RestApi
from bot.signal.signal_cli.transport import SignalCli
from tests.servers import signal_cli, signal_rest_api
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE
from tests.servers.signal_server import SignalServer
from tests.waiting import DEADLINE_SECONDS, WAIT_SECONDS

PATIENT = dict.fromkeys(("silence_seconds", "send_seconds", "call_seconds", "connect_seconds"), DEADLINE_SECONDS)
"""Deadlines that no working connection comes near; a test that waits for one gives a short one instead."""


OWN_ACCOUNT = Account(id=PersonId(ALDIS.uuid), number=ACCOUNT)
"""Aldis's own account."""
NUMBERLESS = Account(id=PersonId(ALDIS.uuid))
"""The same without a phone number."""


@dataclass
class Bridge:
    """A running double and the transports that a test made for it."""

    server: SignalServer
    build: Callable[..., SignalTransport]
    transports: list[SignalTransport] = field(default_factory=list[SignalTransport])

    def transport(self, account: Account = OWN_ACCOUNT, **more: Any) -> SignalTransport:
        """A transport to this server; it is closed with the bridge."""
        transport = self.build(self.server.url, account, **(PATIENT | more))
        self.transports.append(transport)
        return transport


@asynccontextmanager
async def bridge_to(server: SignalServer, build: Callable[..., SignalTransport]) -> AsyncGenerator[Bridge]:
    """A bridge to a running double, for the time of a test."""
    bridge = Bridge(server=server, build=build)
    try:
        yield bridge
    finally:
        for transport in bridge.transports:
            await transport.aclose()


@asynccontextmanager
async def signal_cli_bridge(way: signal_cli.Way = "unix") -> AsyncGenerator[Bridge]:
    """The bridge by signal-cli's own daemon."""
    server = signal_cli.SignalCli(way=way)
    async with server, bridge_to(server, SignalCli) as bridge:
        yield bridge


@asynccontextmanager
async def rest_api_bridge() -> AsyncGenerator[Bridge]:
    """The bridge by signal-cli-rest-api."""
    server = signal_rest_api.SignalRestApi()
    async with server, bridge_to(server, RestApi) as bridge:
        yield bridge


async def received(transport: Transport, count: int) -> list[Envelope]:
    """The next envelopes of one new connection, which is then closed."""
    found: list[Envelope] = []
    async with asyncio.timeout(WAIT_SECONDS), aclosing(transport.envelopes()) as envelopes:
        while len(found) < count:
            found.append(await anext(envelopes))
    return found


def reply(text: str = "Sow them in April.", chat: str = ALICE.chat, **more: Any) -> Reply:
    return Reply(chat=ChatId(chat), content=Styled(text=text), **more)
