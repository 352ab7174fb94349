"""The vendors' providers with their doubles, for the stories of this folder."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio

from tests.bot.models.vendors import NAMES, Vendor, opened


def _opened(kind: str) -> Callable[..., Any]:
    """One for a module: an SDK's client takes 30 ms to make, most of them for reading certificates."""

    @pytest_asyncio.fixture(scope="module", loop_scope="module", name=f"open_{kind}")
    async def fixture() -> AsyncIterator[Vendor]:
        async with opened(kind) as vendor:
            yield vendor

    return fixture


def _begun(kind: str) -> Callable[..., Any]:
    """A vendor that was asked nothing so far, and whose double has refused nothing in the end."""

    @pytest.fixture(name=kind)
    def fixture(request: pytest.FixtureRequest) -> Iterator[Vendor]:
        vendor: Vendor = request.getfixturevalue(f"open_{kind}")
        vendor.begin()
        yield vendor
        vendor.end()

    return fixture


open_anthropic, open_chat, open_responses, open_local, open_prompted = map(_opened, NAMES)
anthropic, chat, responses, local, prompted = map(_begun, NAMES)


@pytest.fixture(params=NAMES)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return request.getfixturevalue(request.param)
