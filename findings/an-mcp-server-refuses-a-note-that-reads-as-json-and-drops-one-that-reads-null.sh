#!/bin/sh
# mcp 2.3.0 (the Python SDK). Seen on 2026-11-28.
#
# Guess, written down before: a tool with a parameter of type `str | None`, whose schema asks for a string or null, gets
# each string as it was sent.
# Seen: "null" arrives as None, as if nothing had been said, and "[1]" and '{"a": 1}' are refused as a list and an
# object ("Input should be a valid string"): text for a parameter that is not `str` alone is parsed as JSON first, and
# what comes out counts unless it is text or a number again. With `str` alone all of them arrive as they are.
# Whom it hurts: servers that keep notes, files or code: a JSON file cannot be stored, and a one-word note is lost
# without an error. The model sees a refusal of what the schema allows and tries the same again.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check mcp==2.3.0
cat > notes.py <<'PY'
import asyncio
import logging
import sys
from importlib.metadata import version

from mcp import Client
from mcp.server import MCPServer

logging.disable(logging.CRITICAL)
server = MCPServer("notes")


@server.tool()
def optional(text: str | None = None) -> str:
    return repr(text)


@server.tool()
def required(text: str) -> str:
    return repr(text)


async def main():
    print("mcp", version("mcp"))
    found = {}
    async with Client(server) as client:
        schema = (await client.list_tools()).tools[0].input_schema
        print("asked for:", schema["properties"]["text"]["anyOf"])
        for name in ("optional", "required"):
            for text in ("null", "[1]", '{"a": 1}', "12", "plain"):
                result = await client.call_tool(name, {"text": text})
                found[name, text] = "refused" if result.is_error else result.structured_content["result"]
                print(f"{name}({text!r}) -> {found[name, text]}")
    kept = all(said == repr(text) for (name, text), said in found.items() if name == "required")
    odd = [found["optional", text] for text in ("null", "[1]", '{"a": 1}', "12", "plain")]
    same = kept and odd == ["None", "refused", "refused", "'12'", "'plain'"]
    sys.exit(0 if same else "this is no longer what was seen")


asyncio.run(main())
PY
venv/bin/python notes.py
