"""What the tests of the tools share: an open client, and the surroundings of a call."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from tools import Http, ToolContext

USER_AGENT = "Aldis/test (+https://aldis.example)"


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    async with Http(USER_AGENT) as client:
        yield client


class Plenty:
    """Quotas that are never used up."""

    async def take(self, service: str, *, most: int) -> bool:
        return True


@pytest.fixture
def context() -> ToolContext:
    return ToolContext(now=datetime(2026, 11, 21, 14, 30, 15, tzinfo=UTC), timezone="Europe/Berlin")
