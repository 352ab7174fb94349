"""Answers of servers that only speak Claude's API, odd in what they say besides: words and calls are taken."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from tests.bot.models.vendors import QUESTION, Vendor, calls, opened, texts
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
    ("usage", "end", "counts"),
    [
        ([1], END, (0, 5)),
        ("x", {**END, "usage": [5]}, (0, 0)),
        ({"input_tokens": 7.0, "cache_creation": "x"}, {**END, "usage": None}, (0, 0)),
        ({"input_tokens": 7, "cache_creation": {"ephemeral_1h_input_tokens": "x"}}, END, (7, 5)),
        ({"input_tokens": -7}, {**END, "usage": {"output_tokens": 10**400}}, (0, 10**12)),
    ],
)
async def test_a_usage_that_is_none(vendor: Vendor, usage: object, end: Json, counts: tuple[int, int]) -> None:
    """Counts as not told, or as far as it is a number."""
    streams(vendor, HI, usage=usage, end=end)
    completion = await vendor.provider.complete(QUESTION)
    assert (texts(completion), completion.usage.input_tokens, completion.usage.output_tokens) == (["Hi"], *counts)


@pytest.mark.parametrize("reason", [4, "banana", None, ["end_turn"]])
async def test_an_end_that_nobody_knows(vendor: Vendor, reason: object) -> None:
    """Is an end."""
    streams(vendor, HI, end={"type": "message_delta", "delta": {"stop_reason": reason}})
    assert texts(await vendor.provider.complete(QUESTION)) == ["Hi"]


async def test_a_text_that_begins_with_none(vendor: Vendor) -> None:
    """Has only the words that follow."""
    streams(vendor, ({"type": "text", "text": None}, {"type": "text_delta", "text": "Hi"}))
    assert texts(await vendor.provider.complete(QUESTION)) == ["Hi"]


@pytest.mark.parametrize("odd", [{"id": None}, {"id": 5}, {}])
async def test_calls_without_ids(vendor: Vendor, odd: Json) -> None:
    """They are calls, each by itself."""
    block = {"type": "tool_use", "name": "get_weather", "input": {}, **odd}
    arguments = {"type": "input_json_delta", "partial_json": '{"place": "Oslo"}'}
    streams(vendor, (block, arguments), ({"type": "tool_use", "name": "current_time"}, {"type": "of_tomorrow"}))
    asked = calls(await vendor.provider.complete(QUESTION))
    assert [(one.name, dict(one.arguments)) for one in asked] == [
        ("get_weather", {"place": "Oslo"}),
        ("current_time", {}),
    ]
    assert len({one.id for one in asked}) == 2
