"""What several flows share: a way to Signal. `tests/bot/signal/test_seam.py` holds the other bridge to the same."""

from collections.abc import AsyncGenerator

import pytest

from tests.servers.signal_cli import SignalCli


@pytest.fixture
async def signal() -> AsyncGenerator[SignalCli]:
    async with SignalCli() as server:
        yield server
