"""All MCP servers together: where tools come from that are known only while Aldis runs."""

import asyncio
from collections.abc import Collection, Sequence

from tools.base import Tool
from tools.mcp.names import names_of
from tools.mcp.options import McpOptions
from tools.mcp.server import McpServer, ServerTimeouts
from tools.mcp.tool import McpTool

MAX_TOOLS = 96
"""Of all servers together; OpenAI's API takes 128 tools in all.

Source: its reference of chat completions, 2026-11-21.
"""


class McpServers:
    """The servers that are set; a `ToolSource`."""

    def __init__(self, options: McpOptions, *, taken: Collection[str] = (), pace: ServerTimeouts | None = None) -> None:
        """`taken` are the names of the tools that are always there."""
        self._pace = pace or ServerTimeouts()
        self._servers = [McpServer(server, self._pace) for server in options.servers if not server.disabled]
        self._taken = frozenset(taken)
        self._patient_until: float | None = None
        self._made: dict[str, tuple[object, tuple[McpTool, ...]]] = {}

    async def tools(self) -> Sequence[Tool]:
        """The tools of the servers that are up or are being started again, in the order of the settings."""
        for server in self._servers:
            server.start()
        await self._first_start()
        tools = [tool for server in self._servers for tool in self._tools_of(server)]
        return tools[:MAX_TOOLS]

    @property
    def absent(self) -> Sequence[str]:
        """The names of the servers that are down or not yet started."""
        return [server.options.name for server in self._servers if not server.is_up]

    async def aclose(self) -> None:
        """End all servers."""
        await asyncio.gather(*(server.aclose() for server in self._servers))

    async def _first_start(self) -> None:
        """Wait for the servers, but only once for slow ones: later questions do not wait for what is not there."""
        loop = asyncio.get_running_loop()
        if self._patient_until is None:
            self._patient_until = loop.time() + self._pace.wait_seconds
        if not self._servers:
            return
        waits = [asyncio.ensure_future(server.wait_settled()) for server in self._servers]
        try:
            await asyncio.wait(waits, timeout=self._patient_until - loop.time())
        finally:
            for wait in waits:
                wait.cancel()

    def _tools_of(self, server: McpServer) -> tuple[McpTool, ...]:
        """The server's tools; the same objects as long as its listing is the same."""
        name = server.options.name
        listing, made = self._made.get(name, (None, ()))
        if listing is not server.tools:
            made = tuple(self._named(server))
            self._made[name] = (server.tools, made)
        return made

    def _named(self, server: McpServer) -> list[McpTool]:
        by_name = {listed.name: listed for listed in reversed(server.tools)}
        servers = [other.options.name for other in self._servers]
        names = names_of(
            server.options.name, [listed.name for listed in server.tools], servers=servers, taken=self._taken
        )
        return [McpTool(name=name, server=server, listed=by_name[raw]) for name, raw in names.items()]
