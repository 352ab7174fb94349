"""What the tests of the tools share: an open client, and the surroundings of a call."""

import tracemalloc
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.app.tools import user_agent
from bot.media.library import page_text
from bot.media.pages import serve
from tools import Http, PageKind, PageText, Result, Tool, ToolContext

USER_AGENT = user_agent()


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    async with Http(USER_AGENT) as client:
        yield client


@contextmanager
def memory_below(max_bytes: int) -> Generator[None]:
    """No more memory than that is taken within it, at any moment."""
    tracemalloc.start()
    try:
        yield
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < max_bytes


@dataclass
class Asked:
    """A tool as the toolbox calls it; values without a name are those of its first arguments."""

    tool: Tool
    context: ToolContext

    async def __call__(self, *values: Any, **arguments: Any) -> Any:
        return (await self.result(*values, **arguments)).data

    async def result(self, *values: Any, **arguments: Any) -> Result:
        kind = self.tool.spec.arguments
        given = dict(zip(kind.model_fields, values, strict=False)) | arguments
        return await self.tool.run(kind.model_validate(given), self.context)


Opened = Callable[..., Asked]


@pytest.fixture
def ask(opened: Opened) -> Asked:
    return opened()


class Plenty:
    async def take(self, service: str, *, limit: int, amount: int) -> bool:
        return True


class Repository:
    """Opens pages in this process, and PDFs that are text behind their sign, pages parted by a form feed."""

    async def read(
        self, body: bytes, kind: PageKind, *, url: str, charset: str, max_chars: int, person: str = ""
    ) -> PageText:
        if kind != "pdf":
            return page_text(*serve(body, (charset, kind)), url=url)
        pages = body.decode().partition("%PDF-")[2].split("\f")
        text = "\n\n".join(f"Page {number}:\n{words}" for number, words in enumerate(pages, 1) if words)
        cut = text[:max_chars]
        return PageText(text=cut, pages=len(pages), pages_read=len(pages), is_cut=len(cut) == max_chars)


@pytest.fixture
def context() -> ToolContext:
    return ToolContext(now=datetime(2026, 11, 21, 14, 30, 15, tzinfo=UTC), timezone="Europe/Berlin")
