"""An MCP server by streamable HTTP that greets as it should, and is then as bad as it is told to be.

Like the real ones it wants its session named, once there is one: 400 without, 404 where it is over.

Source: Model Context Protocol 2025-11-25, "Transports", streamable HTTP and session management; read 2026-11-24.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@dataclass
class BadAddress(Server):
    """Counts its sessions; `how` is

    `gone`: its first session is over with the first call, and never taken leave of;
    a number: it answers calls with this status.
    """

    how: str = ""
    sessions: int = 0
    is_over: bool = False

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.method == "GET":
            return web.Response(status=405)
        if seen.method == "DELETE" and self.how == "gone":
            await asyncio.Event().wait()
        if seen.method == "DELETE":
            return web.Response()
        asked: dict[str, Any] = seen.json()
        if asked.get("method") == "initialize":
            self.sessions, self.is_over = self.sessions + 1, False
            about = {"name": "bad", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
            return web.json_response(_said(asked, result), headers={"Mcp-Session-Id": str(self.sessions)})
        if asked.get("method") == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        session = seen.headers.get("mcp-session-id")
        if session != str(self.sessions) or self.is_over:
            return web.Response(status=404 if session else 400)
        match asked.get("method"):
            case "tools/list":
                return web.json_response(_said(asked, {"tools": [{"name": "post", "inputSchema": SCHEMA}]}))
            case "tools/call" if self.how == "gone" and self.sessions == 1:
                self.is_over = True
                return web.Response(status=404)
            case "tools/call" if self.how.isdecimal():
                return web.Response(status=int(self.how), text="canary")
            case "tools/call":
                return web.json_response(_said(asked, {"content": [{"type": "text", "text": "posted"}]}))
            case _:
                return web.Response(status=202)


def _said(asked: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}
