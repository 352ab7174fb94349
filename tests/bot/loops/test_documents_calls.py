"""The calls that the founding documents write, as a model that was shown those would: through the whole of Aldis."""

import json
import sqlite3
from contextlib import AsyncExitStack, closing
from pathlib import Path

from bot.clock import SetClock
from store import Store
from tests.bot.chat.turn_helpers import calls, contents, says
from tests.bot.loops.app_harness import app_harness
from tests.servers.envelopes import message
from tests.servers.open_meteo import OpenMeteo
from tests.servers.polymarket import Polymarket
from tests.servers.searches import Tavily
from tests.tools.conftest import USER_AGENT, Repository
from tests.tools.databases.samples import options
from tests.tools.sites import HERE, Names, Site, only_here
from tools import CATALOG, Fetcher, Http, ToolDeps, build
from tools.databases.tool import database_tools
from tools.markets import market_tools

WRITTEN = (
    ("calculator", {"a": 6, "b": 7, "operation": "multiply"}, '"result":"42"'),
    ("get_weather", {"location": "52°31'12\"N 13°24'18\"E"}, '"longitude":13.405'),
    ("market_search", {"query": "lamp", "limit": 30}, "At most 20 markets"),
    ("market_get", {"market_id": 512801}, "Will the keeper light it?"),
    ("web_search", {"query": "lamps", "max_results": 2, "include_domains": ["lamps.example"]}, '"source":"Tavily"'),
    ("db_query", {"table": "people", "columns": ["town"], "where": {"name": "Alice"}, "limit": 5}, '"rows":[["Kiel"]]'),
    ("db_query", {"table": "people", "where": {"name": "Bob"}}, '"not_found"'),
    ("web_fetch", {"url": "https://site.example/page", "timeout_ms": 5000, "max_chars": 500}, '"text":"page /page"'),
)
"""The tool as it is named there, its arguments, and what is to be seen in the answer."""


async def test_calls_are_understood_as_the_documents_write_them(store: Store, clock: SetClock, tmp_path: Path) -> None:
    """Their names, their arguments, bounds that are fitted; an address without a scheme is one that the person gave."""
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.executescript(
            "CREATE TABLE people (name TEXT, town TEXT); INSERT INTO people VALUES('Alice', 'Kiel')"
        )
    async with AsyncExitStack() as stack:
        weather, markets, tavily, site = [
            await stack.enter_async_context(server) for server in (OpenMeteo(), Polymarket(), Tavily(), Site())
        ]
        http = await stack.enter_async_context(Http(USER_AGENT))
        fetcher = Fetcher(USER_AGENT, **only_here(site.port), resolve=Names({"site.example": [[HERE]]}))
        await stack.enter_async_context(fetcher)
        deps = ToolDeps(http=http, fetcher=fetcher, features={}, papers=Repository())
        found = {"base_url": weather.url, "geocoding_base_url": weather.url}
        searched = {"providers": "tavily", "tavily_api_key": Tavily.KEY, "tavily_base_url": tavily.url}
        given = {"weather": found, "web_search": searched}
        made = build({name: CATALOG[name].options.model_validate(one) for name, one in given.items()}, deps)
        listed = {"club": {"address": f"sqlite://{tmp_path}/people.db", "tables": {"people": ["name", "town"]}}}
        used = {"calculate", "get_weather", "web_search", "web_fetch"}
        own = [tool for tool in made if tool.spec.name in used]
        own += [*market_tools(http, base_url=markets.url), *database_tools(options(listed))]
        async with app_harness(store, clock, tools=tuple(own)) as aldis:
            page = f"site.example:{site.port}/page"
            asked = [
                (name, {**given, "url": f"http://{page}"} if "url" in given else given) for name, given, _ in WRITTEN
            ]
            aldis.model.script = [calls(*asked), says("All of it.")]
            await aldis.deliver(message(f"Read {page} and tell me of the lamp."))
            assert [reply.content.text for reply in await aldis.answered(1)] == ["All of it."]
            answers = contents(aldis.model.requests[-1])
    for (name, _, seen), answer in zip(WRITTEN, answers, strict=True):
        assert seen in json.dumps(json.loads(answer), ensure_ascii=False, separators=(",", ":")), f"{name}: {answer}"
