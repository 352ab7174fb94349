"""The model: one of the servers that speak OpenAI's API. It takes its time, and for some it never answers."""

import asyncio
import random
import time
from dataclasses import dataclass, field

from aiohttp import web

from tests.campaigns.chaos.crowd import CANARY
from tests.campaigns.chaos.record import Forgetful
from tests.campaigns.soak.letters import named, numbers_in
from tests.servers.base import Seen
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, parsed, say

_LOOK_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True)
class Thought:
    """The model was at work for a conversation, known by its canary; the times are of the monotonic clock."""

    canary: str
    numbers: tuple[int, ...]
    """The letters that the turn is to answer."""
    began_seconds: float
    ended_seconds: float
    """When the answer had been written, or whoever asked was gone."""
    was_left: bool
    """Whether there was no answer, and Aldis did not wait for it any longer."""


@dataclass
class SlowModel(Forgetful, OpenAIServer):
    """Answers name what they answer. How long they take is drawn from the seed and from what was asked."""

    seed: int = 0
    takes_seconds: tuple[float, float] = (0.5, 3.0)
    """At least, and at most."""
    silent_for: set[str] = field(default_factory=set[str])
    """The canaries of the conversations whose questions get no answer, as long as somebody waits for it."""
    thoughts: list[Thought] = field(default_factory=list[Thought])

    def __post_init__(self) -> None:
        self.local = True
        self.reply = _echoed

    def hang_up(self) -> None:
        """Close the connections on which nothing is asked, as servers do after a while."""
        server = self._runner.server if self._runner else None
        for connection in server.connections if server else ():
            connection.force_close()  # the gentle way ends the reading and leaves the connection open

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        began_seconds = time.monotonic()
        heard = self.heard(seen, parsed(seen.body))
        if not heard.tools:  # a summary of older turns, which no turn waits for
            return await super().respond(seen, request)
        text = heard.text
        [canary, *_] = CANARY.findall(text)
        is_silent = canary in self.silent_for
        try:
            return await (_silence(request) if is_silent else self._answered(seen, request, text))
        finally:
            self.thoughts.append(
                Thought(
                    canary=canary,
                    numbers=numbers_in(text),
                    began_seconds=began_seconds,
                    ended_seconds=time.monotonic(),
                    was_left=request.transport is None,
                )
            )

    async def _answered(self, seen: Seen, request: web.Request, text: str) -> web.StreamResponse:
        lots = random.Random(f"{self.seed}|model|{CANARY.findall(text)[0]}|{numbers_in(text)}")
        await asyncio.sleep(lots.uniform(*self.takes_seconds))
        return await super().respond(seen, request)


async def _silence(request: web.Request) -> web.StreamResponse:
    """No answer, until whoever asked is gone: aiohttp tells that in no other way."""
    while request.transport is not None:
        await asyncio.sleep(_LOOK_SECONDS)
    return web.Response()


def _echoed(heard: Heard) -> Scripted:
    if not heard.tools:
        return say("They spoke of what grows.")
    return say(f"On {CANARY.findall(heard.text)[0]}: to {named(numbers_in(heard.text))} I say that it grows.")
