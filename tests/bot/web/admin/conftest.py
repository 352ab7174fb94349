"""A visitor of the pages who is signed in."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.bot.web.admin.browsers import Visitor, visited


@pytest.fixture
async def visitor(tmp_path: Path) -> AsyncGenerator[Visitor]:
    """The visitor of an Aldis that waits, its settings below `tmp_path`."""
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        yield visitor
