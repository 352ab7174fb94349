"""MCP servers by HTTP that are none, or bad ones: bounded, followed nowhere, told without a word of theirs."""

import asyncio
import json
import logging
from dataclasses import dataclass

import pytest
from aiohttp import web

from tests.servers.base import Seen, Server
from tests.servers.mcp_bad_address import BadAddress
from tests.tools.mcp.test_servers import by_name, called, running
from tests.waiting import eventually
from tools import ToolContext, Unavailable, UnknownOutcome
from tools.mcp.servers import MAX_ANSWER_BYTES


@dataclass
class Bad(Server):
    how: str = ""
    elsewhere: str = ""
    sent_bytes: int = 0

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if self.how == "endless":
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            while self.sent_bytes < 4 * MAX_ANSWER_BYTES:
                await response.write(b" " * 1_000_000)
                self.sent_bytes += 1_000_000
            await response.write(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode())
            return response
        return {
            "elsewhere": web.Response(status=307, headers={"Location": self.elsewhere}),
            "no json": web.Response(text="{canary", content_type="application/json"),
            "a page": web.Response(text="<p>canary</p>", content_type="text/html"),
            "broken": web.Response(status=500, text="canary"),
        }[self.how]


@pytest.mark.parametrize("how", ["elsewhere", "endless", "no json", "a page", "broken"])
async def test_what_is_no_server_is_left_out(how: str, caplog: pytest.LogCaptureFixture) -> None:
    """No key goes to another host, no answer fills the memory, nothing of it is in the log."""
    caplog.set_level(logging.DEBUG)
    async with Server() as other, Bad(how=how, elsewhere=f"{other.url}/mcp") as bad:
        headers = {"Authorization": "Bearer canary"}
        async with running({"bad": {"url": f"{bad.url}/mcp?key=canary", "headers": headers}}) as source:
            assert await source.tools() == []
            assert source.absent == ["bad"]
            await eventually(lambda: f"bad is down ({'HTTP 500' if how == 'broken' else ''}" in caplog.text)
    assert bad.requests[0].headers["authorization"] == "Bearer canary"
    assert bad.requests[0].query == {"key": "canary"}
    assert other.requests == []
    assert bad.sent_bytes < 4 * MAX_ANSWER_BYTES
    assert "canary" not in caplog.text


async def test_a_call_that_is_refused_has_not_happened(context: ToolContext) -> None:
    """What is told so by HTTP; after any other failure nobody knows."""
    for status, failure, why in (
        (401, Unavailable, "refuses the call .HTTP 401"),
        (429, Unavailable, "refuses the call .HTTP 429"),
        (500, UnknownOutcome, "failed"),
    ):
        async with BadAddress(how=str(status)) as bad, running({"bad": {"url": f"{bad.url}/mcp"}}) as source:
            post = (await by_name(source))["bad_post"]
            with pytest.raises(failure, match=why):
                await called(post, context, text="")
            assert not source.absent


async def test_a_session_that_is_over_is_begun_anew(context: ToolContext) -> None:
    """The next call is answered in another one, though the first is never taken leave of."""
    async with BadAddress(how="gone") as bad, running({"bad": {"url": f"{bad.url}/mcp"}}) as source:
        post = (await by_name(source))["bad_post"]
        await asyncio.wait([asyncio.create_task(called(post, context, text=""))])
        await eventually(lambda: bad.sessions == 2 and not source.absent)
        assert (await called(post, context, text="")).data == {"text": "posted"}
