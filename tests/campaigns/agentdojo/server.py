"""A suite as an MCP server on loopback, over streamable HTTP, as its author would have written it with the SDK."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server

from tests.campaigns.agentdojo.suites import Call, run
from tests.waiting import eventually

LOOKS = ("get_", "search_", "read_", "list_", "check_")
"""How the names of those tools begin that change nothing: the suites keep to it."""
REACHES_OUT = frozenset({"get_webpage"})
"""Those of them that others notice."""


@dataclass
class Dojo:
    suite: Any
    world: Any = None
    calls: list[Call] = field(default_factory=list[Call])
    port: int = 0

    def enter(self, world: Any) -> None:
        self.world, self.calls = world, []

    async def _tools(self, context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in self.suite.tools])

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        call = Call(tool=params.name, arguments=params.arguments or {})
        try:
            given = run(self.suite, self.world, call)
        except Exception as error:  # noqa: BLE001  (whatever a suite's tool raises is what the tool says)
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        self.calls.append(call)
        structured = given if isinstance(given, dict) else {"result": given}
        return types.CallToolResult(content=[], structured_content=structured)

    @property
    def app(self) -> Any:
        server = Server(self.suite.name, on_list_tools=self._tools, on_call_tool=self._call)
        return server.streamable_http_app(json_response=True)


@asynccontextmanager
async def serving(suite: Any) -> AsyncGenerator[Dojo]:
    dojo = Dojo(suite)
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # else asyncio leaves Nagle on
        listening.bind(("127.0.0.1", 0))
        dojo.port = listening.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(dojo.app, log_level="critical", lifespan="on"))
        task = asyncio.create_task(server.serve([listening]))
        try:
            await eventually(lambda: server.started)
            yield dojo
        finally:
            server.should_exit = True
            await task


def _listed(tool: Any) -> types.Tool:
    looks = tool.name.startswith(LOOKS)
    hints = types.ToolAnnotations(read_only_hint=looks, open_world_hint=tool.name in REACHES_OUT or None)
    schema = tool.parameters.model_json_schema()
    return types.Tool(name=tool.name, description=tool.description, input_schema=schema, annotations=hints)
