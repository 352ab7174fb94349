"""An Aldis with three tools, for the stories that want no other."""

from collections.abc import AsyncGenerator

import pytest

from bot.clock import SetClock
from store import Store
from tests.bot.chat.turn_helpers import Echo
from tests.bot.loops.app_harness import Harness, app_harness


@pytest.fixture
def look() -> Echo:
    return Echo(name="look")


@pytest.fixture
def post() -> Echo:
    return Echo(name="post", effects="once")


@pytest.fixture
def plan() -> Echo:
    return Echo(name="plan", effects="once")


@pytest.fixture
async def aldis(store: Store, clock: SetClock, look: Echo, post: Echo, plan: Echo) -> AsyncGenerator[Harness]:
    async with app_harness(store, clock, tools=(look, post, plan)) as aldis:
        yield aldis
