"""What the tools look things up in: a search engine and a weather service, slow or out of order now and then."""

import asyncio
import random
import re
from dataclasses import dataclass, field

from aiohttp import web

from tests.campaigns.chaos.record import Forgetful, Record, Searched
from tests.servers.base import Seen
from tests.servers.open_meteo import OpenMeteo
from tests.servers.searches import SearXNG

_QUERY = re.compile(r"lamps (q\d{6}) (\d)")


@dataclass
class Searches(Forgetful, SearXNG):
    seed: int = 0
    record: Record = field(default_factory=Record)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        query = request.query.get("q", "")
        if found := _QUERY.fullmatch(query):
            self.record.note(Searched(label=found[1], step=int(found[2])))
        if await self.record.passed("tool asked"):
            return web.Response(status=503)
        lots = random.Random(f"{self.seed}|search|{query}")
        if lots.random() < 0.05:
            return web.Response(status=500)
        await asyncio.sleep(lots.uniform(0, 0.3))
        return await super().handle(request)


@dataclass
class Weather(Forgetful, OpenMeteo):
    """A weather service; one request at a time is all that it takes, as the real one."""

    record: Record = field(default_factory=Record)

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if await self.record.passed("tool asked"):
            return web.Response(status=503)
        return await super().respond(seen, request)
