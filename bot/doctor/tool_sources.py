"""Where tools come from that are known only while Aldis runs: each is started, asked what it gives, and ended.

Left to others: the tools that are always there (`tools`).
"""

from bot.doctor.findings import Finding, ok, problem
from bot.settings import Settings
from tools import sources


async def check_tool_sources(settings: Settings) -> list[Finding]:
    """How many tools the servers of `TOOLS__MCP__SERVERS` give, and which of them do not answer; empty without any."""
    found: list[Finding] = []
    for source in sources(settings.tools.options_by_name, taken=()) if settings.tools.enabled else ():
        try:
            tools = await source.tools()
            found.append(ok(f"tools: the servers of mcp give {len(tools)} tools"))
            found += [
                problem(f"tools: the server {name} of mcp does not answer", "check it in TOOLS__MCP__SERVERS")
                for name in source.absent
            ]
        finally:
            await source.aclose()
    return found
