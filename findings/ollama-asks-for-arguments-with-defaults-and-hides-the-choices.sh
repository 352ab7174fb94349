#!/bin/sh
# ollama 0.6.3 (the Python client). Seen on 2026-11-29.
#
# Guess, written down before: of a function that is handed over as a tool, a parameter with a default may be left out, a
# Literal becomes an enum, and a list says of what.
# Seen: `loud: bool = False` is required, only an Optional is not; Literal["small", "large"] is any string, list[int] an
# array of anything, and no default stands there. The call is carried out with whatever comes.
# Whom it hurts: tools for small models, which need a narrow schema most: they must make up arguments that the function
# would have known, and send words that it has no case for.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check ollama==0.6.3
cat > tool.py <<'PY'
import asyncio
import json
import sys
from importlib.metadata import version
from typing import Literal, Optional

import ollama
from aiohttp import web


def book(room: Literal["small", "large"], days: list[int], loud: bool = False, note: Optional[str] = None) -> str:
    """Book a room.

    Args:
        room: which one
        days: of the month
        loud: whether there is music
        note: for the porter
    """
    return "booked"


async def sent():
    """What the client writes to a server."""
    asked = []

    async def answer(request):
        asked.append(await request.json())
        return web.json_response({"model": "m", "message": {"role": "assistant", "content": "ok"}, "done": True})

    app = web.Application()
    app.router.add_post("/api/chat", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0]
    client = ollama.AsyncClient(f"http://{host}:{port}")
    await client.chat(model="m", messages=[{"role": "user", "content": "Book it"}], tools=[book])
    await runner.cleanup()
    return asked[0]["tools"][0]["function"]["parameters"]


found = asyncio.run(sent())
print("ollama", version("ollama"))
print(json.dumps(found, sort_keys=True))
fields = found["properties"]
same = (
    found["required"] == ["room", "days", "loud"]
    and fields["room"] == {"type": "string", "description": "which one"}
    and fields["days"] == {"type": "array", "description": "of the month"}
    and "default" not in fields["loud"]
)
sys.exit(0 if same else "this is no longer what was seen")
PY
venv/bin/python -m pip install --quiet --disable-pip-version-check aiohttp==3.14.5
venv/bin/python tool.py
