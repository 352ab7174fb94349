"""What several flows share: a way to Signal, once over each of the two bridges."""

from collections.abc import AsyncGenerator

import pytest

from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi

Signal = SignalCli | SignalRestApi


@pytest.fixture(params=[SignalCli, SignalRestApi])
async def signal(request: pytest.FixtureRequest) -> AsyncGenerator[Signal]:
    async with request.param() as server:
        yield server
