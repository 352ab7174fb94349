"""What tools stand on that are called without a conversation."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.app.tools import idle_features, user_agent
from bot.media.library import Library
from bot.media.sandbox import Sandbox
from tools import Fetcher, Http, ToolDeps


@asynccontextmanager
async def standalone_deps(contact: str | None) -> AsyncGenerator[ToolDeps]:
    """The network with the product's own clients, and no store."""
    async with Http(user_agent(contact)) as http, Fetcher(user_agent()) as fetcher:
        yield ToolDeps(http=http, fetcher=fetcher, features=idle_features(), papers=Library(Sandbox()))
