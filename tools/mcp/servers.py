"""All MCP servers and their tools, as models and people see them; known only while Aldis runs."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tools.base import Approval, Result, Tool, ToolContext, ToolSpec
from tools.errors import Unavailable, UnknownOutcome
from tools.mcp.base import AnswerLost, ListedTool, SessionFailed
from tools.mcp.names import names_of
from tools.mcp.options import Approve, McpOptions
from tools.mcp.server import McpServer, ServerTimeouts, import_way_in

MAX_TOOLS = 96
"""The limit for all servers together; OpenAI's API takes 128 tools in all.

Source: its reference of chat completions, 2026-11-21.
"""


@dataclass(frozen=True, kw_only=True)
class McpTool:
    """A tool of a server."""

    name: str
    """Its name here."""
    server: McpServer
    listed: ListedTool

    @property
    def spec(self) -> ToolSpec:
        """Its specification, as far as the operator trusts the server."""
        return self._spec

    @cached_property
    def _spec(self) -> ToolSpec:
        options = self.server.options
        writes = self.listed.effects != "none"
        # What a server that is not public is asked stays with it, unless it says otherwise.
        label = "public" if not options.private else "private_open" if writes or self.listed.reaches_out else "private"
        said = self.listed.description.replace("“", '"').replace("”", '"')
        return ToolSpec(
            name=self.name,
            # A stranger's words: quoted, and attributed to the server.
            description=f"A tool of the server {options.name}, which says of it: “{said}”",
            arguments=self.listed.arguments,
            server=options.name,
            effects=self.listed.effects,
            label=label,
            approval=_approval(options.approve, self.listed),
            timeout_seconds=options.timeout,
        )

    async def run(self, arguments: Any, context: ToolContext) -> Result:  # noqa: ARG002  (the seam's; servers learn nothing of who asks)
        """Returns the server's result. `arguments` has the JSON object of the call as `given`."""
        try:
            return await self.server.call(self.listed.name, arguments.given, shown_as=self.name)
        except AnswerLost as error:
            if self.listed.effects == "once":
                raise UnknownOutcome(f"{error}; it may have happened, so do not repeat it unasked") from error
            raise Unavailable(f"{error}; try once more") from error


def _approval(approve: Approve, listed: ListedTool) -> Approval:
    """Returns when a call of the tool asks first: as the operator says, and more often if it says that it deletes."""
    if approve == "all":
        return "always"
    if approve == "writes" and listed.effects != "none":
        return "unless_named"
    return "each_by_labels" if listed.deletes else "by_labels"


class McpServers:
    """The servers that are set; a `ToolSource`."""

    def __init__(
        self, options: McpOptions, *, taken: Collection[str] = (), timeouts: ServerTimeouts | None = None
    ) -> None:
        """`taken` are the names of the tools that are always there."""
        self._timeouts = timeouts or ServerTimeouts()
        self._servers = [McpServer(server, self._timeouts) for server in options.servers if not server.disabled]
        self._taken = frozenset(taken)
        self._patient_until: float | None = None
        self._made: dict[str, tuple[object, tuple[McpTool, ...]]] = {}

    async def tools(self) -> Sequence[Tool]:
        """Returns the tools of the servers that are up or being restarted, in the order of the settings."""
        for server in self._servers:
            server.start()
        await self._first_start()
        tools = [tool for server in self._servers for tool in self._tools_of(server)]
        return tools[:MAX_TOOLS]

    @property
    def absent(self) -> Mapping[str, str]:
        """The servers that are down or not yet started, and why."""
        return {server.options.name: server.why_down for server in self._servers if not server.is_up}

    @property
    def unfit(self) -> Mapping[str, tuple[str, ...]]:
        """See `tools.base.ToolSource`."""
        return {server.options.name: server.unfit for server in self._servers if server.unfit}

    async def aclose(self) -> None:
        """Ends all servers."""
        await asyncio.gather(*(server.aclose() for server in self._servers))

    async def _first_start(self) -> None:
        """Waits for the servers, but only once for slow ones: later questions do not wait for them."""
        if not self._servers:
            return
        loop = asyncio.get_running_loop()
        if self._patient_until is None:
            # On a small machine the SDK takes several seconds, for which no server is to blame.
            with suppress(SessionFailed):  # each server tells it
                await import_way_in()
            self._patient_until = loop.time() + self._timeouts.wait_seconds
        waits = [asyncio.ensure_future(server.wait_settled()) for server in self._servers]
        try:
            await asyncio.wait(waits, timeout=self._patient_until - loop.time())
        finally:
            for wait in waits:
                wait.cancel()

    def _tools_of(self, server: McpServer) -> tuple[McpTool, ...]:
        """Returns the server's tools; the same objects as long as its listing does not change."""
        name = server.options.name
        listing, made = self._made.get(name, (None, ()))
        if listing is not server.tools:
            by_name = {listed.name: listed for listed in reversed(server.tools)}
            servers = [other.options.name for other in self._servers]
            names = names_of(name, [listed.name for listed in server.tools], servers=servers, taken=self._taken)
            made = tuple(McpTool(name=here, server=server, listed=by_name[raw]) for here, raw in names.items())
            self._made[name] = (server.tools, made)
        return made
