"""Answers of servers that only speak Claude's API, in pieces and odd: read, or no answer."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from bot.errors import Unavailable
from tests.bot.models.vendors import QUESTION, Vendor, opened, texts
from tests.servers.script import event

pytestmark = pytest.mark.asyncio(loop_scope="module")

Json = Mapping[str, Any]
END: Json = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def vendor() -> AsyncIterator[Vendor]:
    async with opened("anthropic", streams=True) as vendor:
        yield vendor


def streams(vendor: Vendor, *blocks: tuple[Json, Json], usage: object = None, end: Json = END) -> None:
    """The next answer has these blocks, as they begin and what is added to each."""
    pieces: list[Json] = [{"type": "message_start", "message": {"id": "m", "content": [], "usage": usage}}]
    for index, (block, delta) in enumerate(blocks):
        pieces.append({"type": "content_block_start", "index": index, "content_block": block})
        pieces.append({"type": "content_block_delta", "index": index, "delta": delta})
        pieces.append({"type": "content_block_stop", "index": index})
    body = b"".join(event(piece, piece["type"]) for piece in [*pieces, end, {"type": "message_stop"}])
    vendor.server.faults.append(lambda _: web.Response(body=body, content_type="text/event-stream"))


HI: tuple[Json, Json] = ({"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi"})


@pytest.mark.parametrize(
    ("block", "usage", "end"),
    [
        (({"type": "text"}, HI[1]), {"input_tokens": 7}, END),
        (HI, None, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        (({"type": "text", "text": None}, HI[1]), {"input_tokens": 7}, END),
    ],
)
async def test_what_the_sdk_cannot_read_is_no_answer(vendor: Vendor, block: Any, usage: object, end: Json) -> None:
    """Another provider is asked then; nothing else leaves the adapter."""
    streams(vendor, block, usage=usage, end=end)
    with pytest.raises(Unavailable, match="cannot be read"):
        await vendor.provider.complete(QUESTION)


@pytest.mark.parametrize("reason", [4, "banana", None])
async def test_an_end_that_nobody_knows(vendor: Vendor, reason: object) -> None:
    """Is an end."""
    streams(vendor, HI, usage={"input_tokens": -7}, end={**END, "delta": {"stop_reason": reason}})
    completion = await vendor.provider.complete(QUESTION)
    assert (texts(completion), completion.usage.input_tokens) == (["Hi"], 0)
