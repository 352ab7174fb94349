"""Answers that are odd in what they say besides: the words and calls, which are paid for, are taken all the same."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from bot.models.base import Usage
from tests.bot.models.vendors import QUESTION, Vendor, calls, opened, texts
from tests.servers.base import answer_json

pytestmark = pytest.mark.asyncio(loop_scope="module")

Json = Mapping[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def vendor() -> AsyncIterator[Vendor]:
    async with opened("local") as vendor:
        yield vendor


def answers(vendor: Vendor, message: Json, *, reason: object = "stop", **more: object) -> None:
    """The next answer is this message."""
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    vendor.server.faults.append(answer_json({"id": "x", "created": 1, "model": "m", "choices": [choice], **more}))


async def test_a_usage_that_is_none(vendor: Vendor) -> None:
    """Counts as not told, or as far as it is a number."""
    for usage, counted in (
        ({"prompt_tokens": -5, "completion_tokens": 3}, Usage(output_tokens=3)),
        ({"prompt_tokens": 10**400, "completion_tokens": 10**30}, Usage(input_tokens=10**12, output_tokens=10**12)),
        ({"prompt_tokens": "12", "completion_tokens": 3.5}, Usage(output_tokens=3)),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, Usage()),
        ({"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": [4]}}, Usage(input_tokens=12)),
        ("a lot", Usage()),
    ):
        answers(vendor, {"content": "Hi"}, usage=usage)
        completion = await vendor.provider.complete(QUESTION)
        assert (texts(completion), completion.usage) == (["Hi"], counted)


async def test_words_in_another_form(vendor: Vendor) -> None:
    """As a list, alone, beside fields of another kind than OpenAI's."""
    for message in (
        {"content": ["Hi"]},
        {"content": [{"type": "text", "text": "Hi"}, {"type": "of_tomorrow"}]},
        {"content": "Hi", "refusal": False, "reasoning_details": {"type": "reasoning.text"}},
        {"content": "Hi", "reasoning_details": ["hm", None], "annotations": 7, "tool_calls": None, "role": 1},
    ):
        answers(vendor, message)
        assert texts(await vendor.provider.complete(QUESTION)) == ["Hi"]


async def test_a_call_with_odd_names(vendor: Vendor) -> None:
    """Its id may be of any kind; of one of nothing the words beside it stay, and the model hears of no such tool."""
    oslo = {"name": "get_weather", "arguments": '{"place": "Oslo"}'}
    for call in (
        {"index": 0.0, "id": ["a"], "function": oslo},
        {"index": "0", "id": 7, "function": {"name": "get_weather", "arguments": {"place": "Oslo"}}},
        {"function": oslo, "extra_content": "none"},
    ):
        answers(vendor, {"tool_calls": [call]}, reason="tool_calls")
        asked = calls(await vendor.provider.complete(QUESTION))
        assert [(one.name, dict(one.arguments)) for one in asked] == [("get_weather", {"place": "Oslo"})]
    for function in ({"name": None, "arguments": "{}"}, {"name": ["x"]}):
        answers(vendor, {"content": "I look.", "tool_calls": [{"index": 0, "id": "a", "function": function}]})
        completion = await vendor.provider.complete(QUESTION)
        assert (texts(completion), [one.name for one in calls(completion)]) == (["I look."], [""])
