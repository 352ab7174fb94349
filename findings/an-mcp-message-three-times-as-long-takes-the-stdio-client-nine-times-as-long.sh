#!/bin/sh
# mcp 2.3.0 (the Python SDK). Seen on 2026-11-27.
#
# What one expects: reading one message over standard input and output takes time in proportion to its length,
# so 12 MB take three times as long as 4 MB, some tenths of a second.
# Seen: the time grows with the square. `mcp.client.stdio` keeps what it has read of a line in one string and, with each
# chunk of 64 KiB, joins and splits all of it again: 4 MB took 0.10 s of the event loop, 12 MB 0.88 s.
# Whom it hurts: clients of servers that return pictures or whole files. All other work of the program waits meanwhile.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check mcp==2.3.0
cat > server.py <<'PY'
import json
import sys

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    about = {"name": "pictures", "version": "1"}
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": "picture", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "x" * asked["params"]["arguments"]["size"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
PY
cat > client.py <<'PY'
import asyncio
import sys
import time
from importlib.metadata import version

from mcp import Client, StdioServerParameters

SIZES = (4_000_000, 12_000_000)


async def seconds(client, size):
    began = time.process_time()
    answer = await client.call_tool("picture", {"size": size})
    assert len(answer.content[0].text) == size
    return time.process_time() - began


async def main():
    server = StdioServerParameters(command=sys.executable, args=["server.py"])
    async with Client(server, mode="legacy", read_timeout_seconds=300) as client:
        return [min([await seconds(client, size) for _ in range(3)]) for size in SIZES]


print("mcp", version("mcp"))
small, large = asyncio.run(main())
print(f"4 MB: {small:.2f} s of the processor, 12 MB: {large:.2f} s, {large / small:.1f} times as long")
sys.exit(0 if large > 5 * small else "this is no longer what was seen")
PY
venv/bin/python client.py
