"""Aldis as `bot.app` puts it together, over the doubles of one story; everything that has to fit to it is here."""

import asyncio
from functools import lru_cache

from bot.app import Services, resumed_clock, service
from bot.media.sandbox import Sandbox
from bot.models.fallback import Fallback
from bot.service import Service
from bot.settings import Settings, load_settings
from store import Store
from tests.campaigns.simulation.crashes import Life
from tests.campaigns.simulation.disk import REALM
from tests.campaigns.simulation.model import Model
from tests.campaigns.simulation.network import SEND_SECONDS, Line, Network
from tests.campaigns.simulation.scenario import Scenario
from tests.campaigns.simulation.timeline import MachineClock
from tests.campaigns.simulation.tools import SPECS, RecordedTool

GRACE_SECONDS = 90


async def assembled(store: Store, network: Network, life: Life) -> Service:
    clock = await resumed_clock(store, MachineClock())
    line = Line(network, life)
    shared = Services(settings(network.scenario), line, store, REALM, clock=clock, sandbox=Sandbox())
    provider = Fallback({"model": Model(network, life)}, monotonic=asyncio.get_running_loop().time)
    return service(shared, provider, [RecordedTool(spec, network, life) for spec in SPECS])


@lru_cache(maxsize=4)
def settings(scenario: Scenario) -> Settings:
    addresses = [chat.address.partition(":") for chat in scenario.chats if chat.is_allowed]
    environ = {
        "ACCESS__GREETING": "false",
        "ACCESS__ALLOWED": ",".join(name for kind, _, name in addresses if kind == "direct"),
        "ACCESS__GROUPS": ",".join(name for kind, _, name in addresses if kind == "group"),
        "APPROVALS__TIMEOUT": "60",
        "LOCALE__TIMEZONE": "UTC",
        "SIGNAL__LIVE": "status" if scenario.shows_status else "off",
        "SIGNAL__SEND_TIMEOUT_SECONDS": f"{SEND_SECONDS:g}",
        "SIGNAL__UNKNOWN_GRACE_SECONDS": str(GRACE_SECONDS),
        "WORKER__CONVERSATIONS_AT_ONCE": str(scenario.conversations_at_once),
    }
    return load_settings({name: value for name, value in environ.items() if value}, None)
