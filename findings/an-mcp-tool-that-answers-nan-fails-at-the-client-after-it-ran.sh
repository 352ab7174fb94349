#!/bin/sh
# mcp 2.3.0 (the Python SDK), its server and its client together. Seen on 2026-11-28.
#
# Guess, written down before: a tool that returns a float can return NaN or infinity (no value, no bound); the client
# gets it as text and, where JSON has no form for it, as null.
# Seen: the server sends the text "NaN" and, beside it, null as structured content under its own schema, which says
# "number"; the client checks that and raises RuntimeError, so nothing of the answer arrives, not even its text. The
# tool has run by then. A list of floats with one NaN in it fails in the same way.
# Whom it hurts: servers for weather, statistics and markets, where a missing value is NaN (as in pandas and numpy):
# one gap makes the whole answer a failure, and a client that tries again calls a tool with an effect a second time.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check mcp==2.3.0
cat > gaps.py <<'PY'
import asyncio
import logging
import sys
from importlib.metadata import version

from mcp import Client
from mcp.server import MCPServer

logging.disable(logging.CRITICAL)
server = MCPServer("weather")
ran = []


@server.tool()
def rain() -> float:
    ran.append("rain")
    return float("nan")


@server.tool()
def week() -> list[float]:
    ran.append("week")
    return [1.5, float("nan")]


@server.tool()
def full_week() -> list[float]:
    return [1.5, 2.5]


async def main():
    print("mcp", version("mcp"))
    found = {}
    async with Client(server) as client:
        for name in ("rain", "week", "full_week"):
            try:
                found[name] = (await client.call_tool(name, {})).structured_content
            except RuntimeError as error:
                found[name] = f"RuntimeError: {str(error).splitlines()[0]}"
            print(name, "->", found[name])
    print("ran:", ran)
    same = (
        found["rain"].startswith("RuntimeError: Invalid structured content")
        and found["week"].startswith("RuntimeError: Invalid structured content")
        and found["full_week"] == {"result": [1.5, 2.5]}
        and ran == ["rain", "week"]
    )
    sys.exit(0 if same else "this is no longer what was seen")


asyncio.run(main())
PY
venv/bin/python gaps.py
