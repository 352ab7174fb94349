"""Public figures in a conversation: what people read of them."""

import json

from bot.clock import SetClock
from store import Store
from tests.bot.chat.turn_helpers import calls, contents, says
from tests.bot.loops.app_harness import app_harness
from tests.servers.base import answer_json
from tests.servers.envelopes import message
from tests.servers.open_data import CONTACT, OpenDataServer
from tests.tools.conftest import USER_AGENT
from tests.tools.open_data.test_tool import options_for
from tools import Http
from tools.open_data.tool import OpenData

ORIGIN = "Price data by CoinGecko (https://www.coingecko.com)"


async def test_a_figure_is_told_with_its_origin(store: Store, clock: SetClock) -> None:
    """Its links stay, those that the model adds do not; a failure of the service reaches the model as one."""
    async with OpenDataServer() as service, Http(USER_AGENT) as http:
        tool = OpenData(options_for(service.url), http, CONTACT)
        async with app_harness(store, clock, tools=(tool,)) as aldis:
            aldis.model.script = [
                calls(("open_data", {"kind": "coin", "query": "btc", "filter": "EUR"})),
                says(f"61,808.12 EUR. {ORIGIN}, more at https://coins.example/btc"),
            ]
            await aldis.deliver(message("What is Bitcoin at?"))
            [reply] = await aldis.answered(1)
            assert reply.content.text == f"61,808.12 EUR. {ORIGIN}, more at coins[.]example"
            given = json.loads(contents(aldis.model.requests[-1])[0])["untrusted_data"]
            assert (given["value"], given["as_of"]) == ("61808.123456789", "2026-11-28T22:30:00Z")
            service.faults += [answer_json({}, 429, {"Retry-After": "50"})]
            aldis.model.script = [calls(("open_data", {"kind": "chain", "query": "fee"})), says("Ask me in a minute.")]
            await aldis.deliver(message("And a transaction?"))
            await aldis.answered(2)
            heard = contents(aldis.model.requests[-1])[-1]
            assert "rate_limited" in heard
            assert "ask again in 50 seconds" in heard
