"""How long `verify_news` takes for a claim, and what it costs, over doubles with the delays of the real services.

A search takes 1 to 2 s, as a basic one of Tavily does. The model begins after 0.8 s and writes 68 tokens a second: the
median of three providers of Claude 3.5 Haiku by artificialanalysis.ai (2026-11-30); a token is four characters, at the
published price of the model. Each search finds eight pages about the claim, so that there is all the work there can be.
"""

import asyncio
import json
import random
import statistics
import time
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.chat.judge import ReportJudge
from bot.clock import SetClock
from bot.messages import CallId, ToolCall
from bot.models.base import Completion, Request, Usage
from bot.models.prices import published_prices
from store import open_store
from tests.bot.chat.turn_helpers import completion, unlimited
from tests.campaigns.bench.figures import Figure
from tests.conftest import NOON
from tests.ledger_sums import ledger_sum
from tests.servers.base import Seen
from tests.servers.searches import Tavily
from tools import Http, ToolContext
from tools.evidence.sources import VerifyNewsOptions
from tools.evidence.tool import VerifyNews, VerifyNewsArguments
from tools.search.options import SearchOptions
from tools.search.services import SearchService

_SEARCH_SECONDS = (1.0, 2.0)
_FIRST_TOKEN_SECONDS, _TOKENS_PER_SECOND = 0.8, 68
_MODEL = "claude-haiku-5-5"
_CLAIM = "A bridge in Larkhaven number {} collapsed and 43 people died"
_STORY = "The middle of the bridge gave way in the night while forty cars were crossing the river. " * 4


@dataclass
class _Press(Tavily):
    delays: random.Random = field(default_factory=lambda: random.Random(7))

    async def regular(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(self.delays.uniform(*_SEARCH_SECONDS))
        words, number = seen.json()["query"], len(self.requests)
        self.results = [
            {"title": f"{words} {page}", "url": f"https://paper{number}x{page}.example/", "content": f"{page} {_STORY}"}
            for page in range(8)
        ]
        return self.respond(seen, request)


class _Reader:
    name = "reader"

    async def complete(self, request: Request) -> Completion:
        [asked] = request.messages
        assert asked.role == "user"
        text = asked.text
        rows = [json.loads(line) for line in text.splitlines()]
        found = [{"report": row["report"], "stance": "agrees", "tone": "neutral"} for row in rows if "report" in row]
        given: dict[str, Any] = {"judgements": found}
        usage = Usage(
            input_tokens=len(request.system + text + json.dumps(request.tools[0].parameters)) // 4,
            output_tokens=len(json.dumps(given)) // 4,
        )
        await asyncio.sleep(_FIRST_TOKEN_SECONDS + usage.output_tokens / _TOKENS_PER_SECOND)
        price = published_prices().of(_MODEL)
        assert price is not None
        made = completion(ToolCall(id=CallId("call_0"), name=request.tools[0].name, arguments=given))
        return Completion(
            message=made.message,
            stop=made.stop,
            usage=usage,
            provider=self.name,
            model=_MODEL,
            latency_seconds=0.0,
            cost_usd=price.cost(usage),
        )

    async def aclose(self) -> None:
        """Nothing is open."""


async def measured(folder: Path, claims: int) -> list[Figure]:
    """So many claims side by side; the figures are medians."""
    clock = SetClock(NOON)
    async with _Press() as press, Http("bench") as http, open_store(folder / "aldis.db", realm="signal") as store:
        options: Any = {"tavily_api_key": press.KEY, "tavily_base_url": press.url}
        search = SearchService(SearchOptions(**options), http)
        tool = VerifyNews(VerifyNewsOptions(), search, ReportJudge(store, clock, _Reader(), unlimited(store, clock)))

        async def check(number: int) -> tuple[float, Decimal]:
            began = time.monotonic()
            context = ToolContext(now=clock.now(), timezone="UTC", person=f"p{number}", chat=f"direct:p{number}")
            result = await tool.run(VerifyNewsArguments(claim=_CLAIM.format(number)), context)
            assert not result.data["data_incomplete"], result.data
            return time.monotonic() - began, result.cost_usd or Decimal(0)

        found = await asyncio.gather(*map(check, range(claims)))
        _, paid_usd, _ = await store.read(ledger_sum)
        reading_usd = paid_usd / claims
    seconds, searching_usd = (statistics.median(column) for column in zip(*found, strict=True))
    return [
        Figure(name="evidence on a claim", value=float(seconds), unit="s", most=8),
        Figure(name="cost of it", value=100 * float(searching_usd + reading_usd), unit="US cents", most=5),
    ]
