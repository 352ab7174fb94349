"""The cost of fifty turns at several rhythms, as a share of that without caches; and of talk, with and without tools.

Runs Aldis with all default tools against doubles whose caches bill as the vendors do (`tests.servers.caches`). Every
second turn calls a tool. The time between messages passes only on the doubles' clocks and in the messages' timestamps,
so nothing waits. All requests count, including those for summaries; answers cost the same with and without caches, and
are left out of the share.
"""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from bot.models.base import Usage
from bot.models.prices import published_prices
from tests.campaigns.bench import aldis, model
from tests.servers import caches
from tests.servers.anthropic import AnthropicServer
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, Tokens, say
from tests.waiting import eventually

Wire = Literal["anthropic", "openai chat", "openai responses"]

WIRES: tuple[Wire, ...] = ("anthropic", "openai chat", "openai responses")
MODELS = {"anthropic": "claude-haiku-5-5", "openai chat": "gpt-5.4", "openai responses": "gpt-6-luna"}
RHYTHMS: dict[str, float] = {"5 s": 5, "1 min": 60, "4 min": 240, "10 min": 600, "20 min": 1200, "45 min": 2700}
TURNS = 50
MAX_PERCENT = 21.0
TALK_TURNS = 10
TALK_TOKENS = 60
"""Of an answer in talk: a short one, so that what is asked weighs more."""
MAX_TIMES = 1.3


@dataclass
class Bill:
    """What was asked of a double, in US dollars for the prompts alone: as billed, and with everything sent anew."""

    model: str
    cache: caches.Cache = field(default_factory=caches.Cache)
    billed_usd: Decimal = Decimal(0)
    anew_usd: Decimal = Decimal(0)

    def add(self, tokens: Tokens) -> Tokens:
        total = tokens.fresh + tokens.cache_read + tokens.cache_write
        usage = Usage(
            input_tokens=total,
            cached_input_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            cache_write_hour_tokens=tokens.cache_write_hour,
        )
        price = published_prices().of(self.model)
        assert price is not None, self.model
        self.billed_usd += price.cost(usage) or Decimal(0)
        self.anew_usd += price.cost(Usage(input_tokens=total)) or Decimal(0)
        return tokens

    def anthropic(self, body: dict[str, Any]) -> Tokens:
        return self.add(caches.anthropic_tokens(self.cache, body))

    def openai(self, body: dict[str, Any]) -> Tokens:
        return self.add(caches.openai_tokens(self.cache, body))


async def percent(wire: Wire, *, people: int, rhythm: str, turns: int = TURNS) -> float:
    """The bill, as a share of sending everything anew, of so many turns of each of so many people."""
    bill = await _bill(wire, people=people, pause_seconds=RHYTHMS[rhythm], turns=turns, products=True)
    return float(100 * bill.billed_usd / bill.anew_usd)


async def times(wire: Wire) -> float:
    """What ten turns of plain talk cost with all tools, answers included, as a multiple of the cost without tools."""
    price = published_prices().of(MODELS[wire])
    assert price is not None
    answers_usd = TALK_TURNS * (price.cost(Usage(output_tokens=TALK_TOKENS)) or 0)
    bills = [await _bill(wire, turns=TALK_TURNS, TOOLS__ENABLED=enabled) for enabled in ("true", "false")]
    with_tools, without = (bill.billed_usd + answers_usd for bill in bills)
    return float(with_tools / without)


async def _bill(
    wire: Wire, *, people: int = 1, pause_seconds: float = 60, turns: int, products: bool = False, **settings: str
) -> Bill:
    """The bill of so many turns; with `products` every second one wants the calculator."""
    bill = Bill(model=MODELS[wire])
    server = AnthropicServer() if wire == "anthropic" else OpenAIServer()
    server.billed = bill.anthropic if wire == "anthropic" else bill.openai
    server.reply = _reply
    async with server, at_work(wire, server, **settings) as pier:
        for turn in range(turns):
            for person in range(people):
                bill.cache.now = (turn + person / people) * pause_seconds
                pier.at(bill.cache.now)
                number = 1001 + turn * people + person
                question = f"And why is {number} a number that people like? Two or three sentences are enough, thanks."
                if products and not turn % 2:
                    question = f"What is {number} * 37? I need the exact figure for the report, please."
                await pier.ask(f"person {person}", question)
                await eventually(pier.is_at_rest)
    return bill


@asynccontextmanager
async def at_work(wire: Wire, server: AnthropicServer | OpenAIServer, **settings: str) -> AsyncGenerator[aldis.Pier]:
    with tempfile.TemporaryDirectory(prefix="aldis-bill-") as folder:
        variables = {
            **aldis.variables("anthropic" if wire == "anthropic" else "openai", server.base_url),
            "STORE__PATH": str(Path(folder) / "aldis.db"),
            **settings,
        }
        if wire != "anthropic":
            variables |= {"LLM__OPENAI__MODEL": MODELS[wire], "LLM__OPENAI__API": wire.split()[1]}
        async with aldis.at_work(variables) as pier:
            yield pier


def _reply(heard: Heard) -> Scripted:
    return model.reply(heard) if " * 37?" in heard.text[-120:] else say(_TALK)


_TALK = """\
People like it because it is easy to say and to remember, and because it stands close to a round number without \
being one. In lists it marks a beginning: the first thousand is over, and something new is counted. Whether you like \
it, too, is a matter of taste; there is no deeper reason in mathematics for it.
"""
