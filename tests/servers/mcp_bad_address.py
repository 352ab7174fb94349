"""An MCP server by streamable HTTP that greets as it should, and is then as bad as it is told to be.

Like the real ones it wants its session named, once there is one: 400 without, 404 where it is over.

Source: Model Context Protocol 2025-11-25, "Transports", streamable HTTP and session management; read 2026-11-24.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@dataclass
class BadAddress(Server):
    """Counts its sessions; `how` is

    `again`, `far off`: its stream of events ends at once, to be asked for again at once, or in ages;
    `deaf`: a call, and whatever needs no answer, is never answered in its first session;
    `gone`: its first session is over with the first call, and never taken leave of;
    `pieces`: it answers calls with a million numbers, in pieces that end within texts;
    a number: it answers calls with this status.
    """

    how: str = ""
    sessions: int = 0
    held: asyncio.Event = field(default_factory=asyncio.Event)

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.method == "GET":
            return self._events()
        if seen.method == "DELETE":
            return await self._answered(web.Response(), is_late=self.how == "gone")
        asked: dict[str, Any] = seen.json()
        if asked.get("method") == "initialize":
            self.sessions += 1
            about = {"name": "bad", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
            return web.json_response(_said(asked, result), headers={"Mcp-Session-Id": str(self.sessions)})
        if asked.get("method") == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        session = seen.headers.get("mcp-session-id")
        if session != str(self.sessions):
            return web.Response(status=404 if session else 400)
        return await self._in_session(asked, request)

    async def _in_session(self, asked: dict[str, Any], request: web.Request) -> web.StreamResponse:
        is_first = self.sessions == 1
        match asked.get("method"):
            case "tools/list":
                tools = [{"name": "post", "inputSchema": SCHEMA}]
                return web.json_response(_said(asked, {"tools": tools}))
            case "tools/call" if self.how == "deaf" and is_first:
                self.held.set()
                return await self._answered(web.Response(), is_late=True)
            case "tools/call" if self.how == "gone" and is_first:
                return web.Response(status=404)
            case "tools/call" if self.how == "pieces":
                return await _in_pieces(asked, request)
            case "tools/call" if self.how.isdecimal():
                return web.Response(status=int(self.how), text="canary")
            case "tools/call":
                return web.json_response(_said(asked, {"content": [{"type": "text", "text": "posted"}]}))
            case "notifications/initialized":
                return web.Response(status=202)
            case _:
                return await self._answered(web.Response(status=202), is_late=self.how == "deaf" and is_first)

    def _events(self) -> web.StreamResponse:
        retry = {"again": "0", "far off": "9" * 400}.get(self.how)
        if retry is None:
            return web.Response(status=405)
        return web.Response(text=f"retry: {retry}\nid: 1\ndata:\n\n", content_type="text/event-stream")

    async def _answered(self, answer: web.Response, *, is_late: bool) -> web.Response:
        if is_late:
            await asyncio.Event().wait()
        return answer


def _said(asked: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


async def _in_pieces(asked: dict[str, Any], request: web.Request) -> web.StreamResponse:
    numbers = {"numbers": (["x"] + [1] * 500) * 2_000}
    written = json.dumps(_said(asked, {"content": [], "structuredContent": numbers})).encode()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in (b': "\ndata: ', *written.replace(b'"x"', b'"|x"').split(b"|"), b"\n\n"):
        await response.write(piece)
    return response
