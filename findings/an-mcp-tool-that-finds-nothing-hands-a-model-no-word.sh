#!/bin/sh
# mcp 2.3.0, fastmcp 4.2.3, openai-agents 0.24.0, pydantic-ai-slim 2.68.0. Seen on 2026-11-29.
#
# Guess, written down before: a tool that returns an empty list answers "[]", as one that returns an empty object
# answers "{}".
# Seen: with both servers its result has no content at all, only `structured_content` says {"result": []}; openai-agents
# hands its model an empty list of parts, pydantic-ai an empty text. The empty object comes as "{}".
# Whom it hurts: programs that show a model the content of a result: asked which tables are free, it reads nothing, which
# is how a tool that failed looks, too.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check \
    mcp==2.3.0 fastmcp==4.2.3 openai-agents==0.24.0 "pydantic-ai-slim[mcp]==2.68.0"
cat > official.py <<'PY'
from mcp.server.mcpserver import MCPServer

server = MCPServer("tables")


@server.tool()
def free_tables(day: str) -> list[str]:
    """Lists the tables that are free on a day."""
    return []


@server.tool()
def guests(day: str) -> dict[str, int]:
    """Tells how many guests each table expects on a day."""
    return {}


if __name__ == "__main__":
    server.run("stdio")
PY
sed 's/from mcp.server.mcpserver import MCPServer/from fastmcp import FastMCP as MCPServer/' official.py > fast.py
cat > ask.py <<'PY'
import asyncio
import logging
import sys
from importlib.metadata import version

from agents import RunContextWrapper
from agents.mcp import MCPServerStdio, MCPUtil
from fastmcp.client.transports import StdioTransport
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

logging.disable(logging.CRITICAL)
DAY = {"day": "Monday"}


async def contents(file):
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=[file]))) as client:
        answers = [await client.call_tool(name, DAY) for name in ("free_tables", "guests")]
    return [([part.text for part in answer.content], answer.structured_content) for answer in answers]


async def by_agents(file):
    async with MCPServerStdio({"command": sys.executable, "args": [file]}) as server:
        tool = next(tool for tool in await server.list_tools() if tool.name == "free_tables")
        return await MCPUtil.invoke_mcp_tool(server, tool, RunContextWrapper(None), '{"day": "Monday"}')


async def by_pydantic(file):
    read = []

    def model(messages, _):
        last = messages[-1].parts[-1]
        if last.part_kind == "tool-return":
            read.append(last.model_response_str())
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("free_tables", DAY)])

    toolset = MCPToolset(StdioTransport(sys.executable, [file]))
    await Agent(FunctionModel(model), toolsets=[toolset]).run("Which tables are free on Monday?")
    return read


async def main():
    for name, file in (("mcp", "official.py"), ("fastmcp", "fast.py")):
        lists, objects = await contents(file)
        agents, pydantic = await by_agents(file), await by_pydantic(file)
        print(f"{name} {version(name)}: an empty list {lists}, an empty object {objects}")
        print(f"    openai-agents {version('openai-agents')}: {agents!r}; pydantic-ai {version('pydantic-ai-slim')}: {pydantic!r}")
        assert lists == ([], {"result": []}), lists
        assert objects == (["{}"], {}), objects
        assert (agents, pydantic) == ([], [""]), (agents, pydantic)


asyncio.run(main())
PY
venv/bin/python -W ignore ask.py 2>/dev/null
