"""A real MCP server as a process of its own, by the SDK: `python mcp_server.py` over standard input and output, or
`python mcp_server.py PORT` over streamable HTTP.
"""

import asyncio
import base64
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import ToolAnnotations

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
READS = ToolAnnotations(read_only_hint=True)
REACHES_OUT = ToolAnnotations(read_only_hint=True, open_world_hint=True)

server = MCPServer("lamps", log_level="ERROR")


@server.tool(annotations=READS)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=READS)
def environment() -> dict[str, str]:
    """All that this process finds in its environment, and its id."""
    return dict(os.environ) | {"pid": str(os.getpid())}


@server.tool(annotations=READS, structured_output=False)
def picture() -> list[Any]:
    """A lamp, drawn."""
    return ["Here it is.", Image(data=PNG, format="png"), Image(data=b"<svg>", format="svg+xml")]


@server.tool(annotations=READS)
def boom() -> str:
    """Always fails."""
    raise ValueError("the bulb is broken")


@server.tool(annotations=REACHES_OUT)
def shine(where: str) -> str:
    """Look at the lamp from somewhere else."""
    return where


@server.tool(annotations=READS)
async def grow(ctx: Context) -> str:
    """One more tool."""
    server.add_tool(lambda: "grown", name="grown", annotations=READS)
    await ctx.notify_tools_changed()
    return "grown"


@server.tool(annotations=READS)
def badge(ctx: Context) -> str:
    """What the caller wears."""
    request: Any = ctx.request_context.request
    return str(request.headers.get("x-badge"))


@server.tool(annotations=READS)
def big(n: int) -> str:
    """A long text."""
    return "x" * n


@server.tool(annotations=READS)
async def slow(path: str) -> str:
    """Takes for ever; writes to the path that it began, and that it was called off."""
    light(path, "began")
    try:
        await asyncio.Event().wait()
    finally:
        light(path, "called off")
    return "never"


@server.tool(name="Light.Up", annotations=ToolAnnotations(idempotent_hint=True))
def light(path: str, word: str = "lit") -> str:
    """Light the lamp."""
    return str(Path(path).write_text(word))


@server.tool()
def die() -> str:
    """Put out everything."""
    os._exit(1)


if __name__ == "__main__":
    sys.stderr.write("standard error of the server\n")
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
