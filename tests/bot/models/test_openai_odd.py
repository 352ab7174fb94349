"""Answers that are odd in what they say besides: the words and calls, which are paid for, are taken all the same."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from bot.models.base import Stop, Usage
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


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"prompt_tokens": -5, "completion_tokens": 3}, Usage(output_tokens=3)),
        ({"prompt_tokens": 10**400, "completion_tokens": 10**30}, Usage(input_tokens=10**12, output_tokens=10**12)),
        ({"prompt_tokens": 12.0, "completion_tokens": 3.5}, Usage(input_tokens=12, output_tokens=3)),
        ({"prompt_tokens": "12", "completion_tokens": None}, Usage()),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, Usage()),
        ({"prompt_tokens": 12, "prompt_tokens_details": "none"}, Usage(input_tokens=12)),
        ({"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": [4]}}, Usage(input_tokens=12)),
        ([12, 3], Usage()),
        ("a lot", Usage()),
    ],
)
async def test_a_usage_that_is_none(vendor: Vendor, usage: object, told: Usage) -> None:
    """Counts as not told, or as far as it is a number."""
    answers(vendor, {"content": "Hi"}, usage=usage)
    completion = await vendor.provider.complete(QUESTION)
    assert (texts(completion), completion.usage) == (["Hi"], told)


@pytest.mark.parametrize(
    "message",
    [
        {"content": ["Hi"]},
        {"content": [{"type": "text", "text": "Hi"}, {"type": "of_tomorrow"}]},
        {"content": "Hi", "refusal": False},
        {"content": "Hi", "reasoning_details": {"type": "reasoning.text"}, "reasoning_content": ["hm"]},
        {"content": "Hi", "reasoning_details": ["hm", None], "annotations": 7, "tool_calls": None, "role": 1},
    ],
)
async def test_words_in_another_form(vendor: Vendor, message: Json) -> None:
    """As a list, alone, beside fields of another kind than OpenAI's."""
    answers(vendor, message)
    assert texts(await vendor.provider.complete(QUESTION)) == ["Hi"]


@pytest.mark.parametrize("reason", [3, "banana", "eos_token"])
async def test_an_end_that_nobody_knows(vendor: Vendor, reason: object) -> None:
    """Is an end."""
    answers(vendor, {"content": "Hi"}, reason=reason)
    completion = await vendor.provider.complete(QUESTION)
    assert (texts(completion), completion.stop) == (["Hi"], Stop.END)


@pytest.mark.parametrize(
    "call",
    [
        {"index": 0, "id": 7, "function": {"name": "get_weather", "arguments": '{"place": "Oslo"}'}},
        {"index": "0", "id": "a", "function": {"name": "get_weather", "arguments": {"place": "Oslo"}}},
        {"index": 0.0, "id": ["a"], "function": {"name": "get_weather", "arguments": '{"place": "Oslo"}'}},
        {"function": {"name": "get_weather", "arguments": '{"place": "Oslo"}'}, "extra_content": "none"},
    ],
)
async def test_a_call_with_odd_names(vendor: Vendor, call: Json) -> None:
    """Its id may be of any kind."""
    answers(vendor, {"tool_calls": [call]}, reason="tool_calls")
    asked = calls(await vendor.provider.complete(QUESTION))
    assert [(one.name, dict(one.arguments)) for one in asked] == [("get_weather", {"place": "Oslo"})]


@pytest.mark.parametrize("function", [{"name": None, "arguments": "{}"}, {"arguments": "{}"}, {"name": ["x"]}])
async def test_a_call_of_nothing(vendor: Vendor, function: Json) -> None:
    """The words beside it stay; that there is no such tool is told to the model."""
    answers(vendor, {"content": "I look.", "tool_calls": [{"index": 0, "id": "a", "function": function}]})
    completion = await vendor.provider.complete(QUESTION)
    assert texts(completion) == ["I look."]
    assert [one.name for one in calls(completion)] == [""]
