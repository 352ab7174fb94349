"""The models: doubles of both vendors that do what a question wishes, and fail now and then; and the weather.

A question's wishes are worked off one after the other, each in a step of its own; then comes an answer that names the
labels and canaries of what was asked. A summary of older turns names none. Which requests fail is drawn from the seed,
the labels, the step and the number of the attempt; a hundredth of the questions is never answered. The life that asks
is known by its key.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field

from aiohttp import web

from tests.campaigns.chaos.crowd import CANARY, labels_in
from tests.campaigns.chaos.record import Answered, Asked, Forgetful, Record
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Seen
from tests.servers.open_meteo import OpenMeteo
from tests.servers.openai import OpenAIServer
from tests.servers.script import (
    Heard,
    Mistake,
    ModelServer,
    Scripted,
    call,
    cut_body,
    cut_connection,
    parsed,
    say,
    think,
)

_MAX_STEPS = 3
_LONG_ANSWER = " ".join(["and", "so", "on"] * 200)


def rounds(text: str) -> list[Scripted]:
    """The calls that a question wishes for, one by one."""
    found: list[Scripted] = []
    for line in text.splitlines():
        if "calculate please" in line:
            found.append(call("calculate", {"expression": f"{len(found)} + 1"}))
        elif "weather please" in line:
            found.append(call("get_weather", {"place": "Hamlet"}))
    return found[:_MAX_STEPS]


@dataclass
class Weather(Forgetful, OpenMeteo):
    """A weather service; one request at a time is all that it takes, as the real one."""

    record: Record = field(default_factory=Record)

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if await self.record.passed("tool asked"):
            return web.Response(status=503)
        return await super().respond(seen, request)


@dataclass
class UnreliableModel(Forgetful, ModelServer):
    """What both vendors' doubles share; `life` is in the key of each request."""

    seed: int = 0
    is_calm: bool = False
    """In calm no request fails."""
    record: Record = field(default_factory=Record)
    _attempts: Counter[tuple[object, ...]] = field(default_factory=Counter[tuple[object, ...]])

    def __post_init__(self) -> None:
        self.key = None
        self.reply = self._replied

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if not self.heard(seen, parsed(seen.body)).tools:  # a summary of older turns
            return await super().respond(seen, request)
        asked = self._asked(seen)
        self.record.note(asked)
        if await self.record.passed("model asked"):
            return web.Response(status=503)
        fault = await self._fault(asked, seen)
        if fault is not None:
            return fault
        response = await super().respond(seen, request)
        if response.status == 200:
            self.record.note(Answered(life=asked.life, labels=asked.labels, step=asked.step))
            await self.record.passed("model answered")
        return response

    def _asked(self, seen: Seen) -> Asked:
        heard = self.heard(seen, parsed(seen.body))
        return Asked(
            life=seen.headers.get("x-api-key") or seen.headers.get("authorization", "").removeprefix("Bearer "),
            vendor=f"{type(self).__name__} {seen.path}",
            labels=labels_in(heard.text),
            step=min(len(heard.answers), len(rounds(heard.text))),
        )

    async def _fault(self, asked: Asked, seen: Seen) -> web.StreamResponse | None:
        """What goes wrong with this request; None when nothing does, and then some time has passed."""
        attempt = self._attempts[asked.labels, asked.step]
        self._attempts[asked.labels, asked.step] += 1
        lots = random.Random(f"{self.seed}|model|{asked.labels}|{asked.step}|{attempt}")
        draw = 1.0 if self.is_calm else lots.random()
        if not self.is_calm and random.Random(f"{self.seed}|hopeless|{asked.labels}").random() < 0.01:
            return self._refused(500)
        if draw < 0.08 and attempt < 2:
            return self._refused(lots.choice((429, 500, 503, 529)))
        if draw < 0.10:
            return await lots.choice((cut_connection, cut_body))(seen)
        await asyncio.sleep(lots.uniform(0.5, 2) if draw < 0.15 else lots.uniform(0.01, 0.1))
        return None

    def _refused(self, status: int) -> web.Response:
        response = self.refusal(Mistake("not now", status=status, kind="overloaded_error"))
        if status == 429:
            response.headers["retry-after"] = "1"
        return response

    def _replied(self, heard: Heard) -> Scripted:
        if not heard.tools:
            return say("They spoke of lamps and of the weather in Hamlet.")
        labels = labels_in(heard.text)
        wished = rounds(heard.text) if heard.may_call else []
        if len(heard.answers) < len(wished):
            return think("let me look") + wished[len(heard.answers)]
        canaries = ", ".join(dict.fromkeys(CANARY.findall(heard.text)))
        words = f"Answer to {' '.join(labels)} about {canaries}."
        return say(f"{words}\n\n{_LONG_ANSWER}\n\n{_LONG_ANSWER}" if ", long" in heard.text else words)


@dataclass
class Anthropic(UnreliableModel, AnthropicServer):
    """Anthropic's messages."""


@dataclass
class OpenAI(UnreliableModel, OpenAIServer):
    """OpenAI's chat completions and responses."""
