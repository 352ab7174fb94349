"""Doubles as fixtures: `weather = fixture_of(OpenMeteo)` in a test module starts one for each test that uses it."""

from collections.abc import AsyncGenerator, Callable
from typing import TypeVar

import pytest

from tests.servers.base import Server

_Double = TypeVar("_Double", bound=Server)


def fixture_of(make: Callable[[], _Double]) -> Callable[[], AsyncGenerator[_Double]]:
    """A fixture of the name that it is given in the module: a running double, stopped behind the test."""

    @pytest.fixture
    async def double() -> AsyncGenerator[_Double]:
        async with make() as running:
            yield running

    return double
