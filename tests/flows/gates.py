"""Answers of doubles that are held back: until the test lets them through, or for ever."""

import asyncio

from aiohttp import web

from tests.servers.base import Seen
from tests.servers.script import ModelServer, Scripted, parsed
from tests.waiting import WAIT_SECONDS


class Gate:
    """Put it into the `script` of a model: the request that reaches it waits there; `opened` lets it be answered."""

    def __init__(self, server: ModelServer, answer: Scripted) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self._server = server
        self._answer = answer

    async def __call__(self, seen: Seen) -> web.StreamResponse:
        self.reached.set()
        await self.opened.wait()
        return web.json_response(self._server.answer(seen, parsed(seen.body), self._answer))

    async def arrived(self) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            await self.reached.wait()


class Hanging:
    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def __call__(self, seen: Seen) -> web.StreamResponse:
        self.reached.set()
        await asyncio.Event().wait()
        return web.Response()
