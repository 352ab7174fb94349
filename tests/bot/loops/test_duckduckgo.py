"""A search without a key, in a conversation."""

from bot.clock import SetClock
from store import Store
from tests.bot.chat.turn_helpers import calls, says
from tests.bot.loops.app_harness import app_harness
from tests.servers.envelopes import message
from tests.servers.searches import DuckDuckGo
from tests.tools.conftest import USER_AGENT
from tools import Http, SearchOptions
from tools.search.services import SearchService
from tools.search.tool import WebSearch


async def test_duckduckgo_answers_a_search(store: Store, clock: SetClock) -> None:
    """Where it is named; people may follow what it found."""
    async with DuckDuckGo() as service, Http(USER_AGENT) as http:
        given = SearchOptions.model_validate({"providers": "duckduckgo", "duckduckgo_base_url": service.url})
        tool = WebSearch(given, SearchService(given, http))
        async with app_harness(store, clock, tools=(tool,)) as aldis:
            found = "https://www.lamps.example/duck"
            aldis.model.script = [calls(("web_search", {"query": "signal lamps"})), says(f"See {found}")]
            await aldis.deliver(message("What is there about lamps?"))
            [reply] = await aldis.answered(1)
            assert reply.content.text.startswith(f"See {found}")
