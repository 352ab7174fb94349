"""MCP servers by HTTP that are none, or bad ones: bounded, followed nowhere, told without a word of theirs."""

import gzip
import json
import logging
from dataclasses import dataclass

import pytest
from aiohttp import web

from tests.servers.base import Seen, Server
from tests.tools.mcp.test_servers import running
from tests.waiting import eventually
from tools.mcp.transport import MAX_ANSWER_BYTES

ANSWER = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode()


@dataclass
class Bad(Server):
    """Answers everything in the same bad way."""

    how: str = ""
    elsewhere: str = ""
    sent_bytes: int = 0

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        match self.how:
            case "packed":
                packed = gzip.compress(ANSWER)
                return web.Response(body=packed, headers={"Content-Encoding": "gzip"}, content_type="application/json")
            case "elsewhere":
                return web.Response(status=307, headers={"Location": self.elsewhere})
            case "endless":
                return await self._endless(request)
            case "no json":
                return web.Response(text="{canary", content_type="application/json")
            case "a page":
                return web.Response(text="<p>canary</p>", content_type="text/html")
            case _:
                return web.Response(status=500, text="canary")

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while self.sent_bytes < 4 * MAX_ANSWER_BYTES:
            await response.write(b" " * 1_000_000)
            self.sent_bytes += 1_000_000
        await response.write(ANSWER)
        return response


@pytest.mark.parametrize("how", ["packed", "elsewhere", "endless", "no json", "a page", "broken"])
async def test_what_is_no_server_is_left_out(how: str, caplog: pytest.LogCaptureFixture) -> None:
    """No key goes to another host, no answer fills the memory, nothing of it is in the log."""
    caplog.set_level(logging.DEBUG)
    async with Server() as other, Bad(how=how, elsewhere=f"{other.url}/mcp") as bad:
        headers = {"Authorization": "Bearer canary"}
        async with running({"bad": {"url": f"{bad.url}/mcp", "headers": headers}}) as source:
            assert await source.tools() == []
            assert source.absent == ["bad"]
            await eventually(lambda: "bad is down" in caplog.text)
    assert bad.requests[0].headers["authorization"] == "Bearer canary"
    assert other.requests == []
    assert bad.sent_bytes < 4 * MAX_ANSWER_BYTES
    assert "canary" not in caplog.text
