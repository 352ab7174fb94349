"""The models: doubles of both vendors that do what a question wishes, and fail now and then.

A question's wishes are worked off one after the other, each in a step of its own; then comes an answer that names the
labels and canaries of what was asked. A summary of older turns names none. Which requests fail is drawn from the seed,
the labels, the step and the number of the attempt; a hundredth of the questions is never answered. The life that asks
is known by its key.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from aiohttp import web

from tests.campaigns.chaos.crowd import CANARY, Pen, labels_in
from tests.campaigns.chaos.record import Answered, Asked, Forgetful, Record, SummedUp
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Seen
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

Round = tuple[Scripted, int]


def rounds(text: str, labels: Sequence[str]) -> list[Round]:
    last = labels[-1]
    found: list[Round] = []
    for line in text.splitlines():
        searching = call("web_search", {"query": f"lamps {last} {len(found)}"})
        if "calculate please" in line:
            found.append((call("calculate", {"expression": f"{len(found)} + {int(last[1:])}"}), 1))
        elif "weather and search please" in line:
            found.append((call("get_weather", {"place": "Hamlet"}) + searching, 2))
        elif "weather please" in line:
            found.append((call("get_weather", {"place": "Hamlet"}), 1))
        elif "search please" in line:
            found.append((searching, 1))
    return found[:_MAX_STEPS]


@dataclass
class UnreliableModel(Forgetful, ModelServer):
    seed: int = 0
    is_calm: bool = False
    record: Record = field(default_factory=Record)
    pen: Pen | None = None
    _attempts: Counter[tuple[object, ...]] = field(default_factory=Counter[tuple[object, ...]])

    def __post_init__(self) -> None:
        self.key = None
        self.reply = self._replied

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if not self.heard(seen, parsed(seen.body)).tools:
            # A summary of what the window cuts off is the only request without tools.
            summary = await super().respond(seen, request)
            if summary.status == 200:
                self.record.note(SummedUp())
            return summary
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
        labels = labels_in(heard.text)
        assert self.pen is not None
        chat = self.pen.chats[labels[0]]
        return Asked(
            life=seen.headers.get("x-api-key") or seen.headers.get("authorization", "").removeprefix("Bearer "),
            vendor=f"{type(self).__name__} {seen.path}",
            labels=labels,
            step=_step(rounds(heard.text, labels), len(heard.answers)),
            foreign=tuple(sorted(self.pen.foreign(seen.body.decode(), chat))),
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
        wished = rounds(heard.text, labels) if heard.may_call else []
        step = _step(wished, len(heard.answers))
        if step < len(wished):
            return think("let me look") + wished[step][0]
        canaries = ", ".join(dict.fromkeys(CANARY.findall(heard.text)))
        words = f"Answer to {' '.join(labels)} about {canaries}."
        return say(f"{words}\n\n{_LONG_ANSWER}\n\n{_LONG_ANSWER}" if ", long" in heard.text else words)


@dataclass
class Anthropic(UnreliableModel, AnthropicServer):
    """Anthropic's messages."""


@dataclass
class OpenAI(UnreliableModel, OpenAIServer):
    """OpenAI's chat completions and responses."""


def _step(wished: Sequence[Round], answers: int) -> int:
    step = 0
    while answers > 0 and step < len(wished):
        answers -= wished[step][1]
        step += 1
    return step
