"""Both bridges to Signal in the same words: a double of the server and a transport that talks to it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from bot.errors import ConfigError, TransportError
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
NUMBERLESS = Account(id=PersonId(ALDIS.uuid))


@dataclass
class Bridge:
    server: SignalServer
    build: Callable[..., SignalTransport]
    transports: list[SignalTransport] = field(default_factory=list[SignalTransport])

    def transport(self, account: Account = OWN_ACCOUNT, **more: Any) -> SignalTransport:
        transport = self.build(self.server.url, account, **(PATIENT | more))
        self.transports.append(transport)
        return transport


@asynccontextmanager
async def bridge_to(server: SignalServer, build: Callable[..., SignalTransport]) -> AsyncGenerator[Bridge]:
    bridge = Bridge(server=server, build=build)
    async with server:
        try:
            yield bridge
        finally:
            for transport in bridge.transports:
                await transport.aclose()


def signal_cli_bridge(way: signal_cli.Way = "unix") -> AbstractAsyncContextManager[Bridge]:
    return bridge_to(signal_cli.SignalCli(way=way), SignalCli)


def rest_api_bridge() -> AbstractAsyncContextManager[Bridge]:
    return bridge_to(signal_rest_api.SignalRestApi(), RestApi)


class Listening:
    """A transport whose stream is open and read as the intake reads it: `next` takes what came, one by one."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._came = asyncio.Queue[Envelope | Exception]()
        self._reading = asyncio.create_task(self._read())

    async def next(self) -> Envelope:
        found = await self._came.get()
        if isinstance(found, Exception):
            raise found
        return found

    async def end(self) -> None:
        while True:
            await self.next()

    async def _read(self) -> None:
        try:
            async with aclosing(self.transport.envelopes()) as envelopes:
                async for envelope in envelopes:
                    self._came.put_nowait(envelope)
            self._came.put_nowait(StopAsyncIteration())
        except (TransportError, ConfigError) as error:
            self._came.put_nowait(error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        await asyncio.wait([self._reading])


async def received(transport: Transport, count: int) -> list[Envelope]:
    async with asyncio.timeout(WAIT_SECONDS), Listening(transport) as stream:
        return [await stream.next() for _ in range(count)]


def reply(text: str = "Sow them in April.", chat: str = ALICE.chat, **more: Any) -> Reply:
    return Reply(chat=ChatId(chat), content=Styled(text=text), **more)
