"""What is Anthropic's own: thinking blocks, pauses, caching, its way of counting and of refusing."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected
from bot.messages import AssistantMessage, CallId, Opaque, Text, ToolCall, UserMessage
from bot.models.base import Stop
from tests.bot.models.vendors import QUESTION, Vendor, answered, followed_by
from tests.servers.anthropic import error_body
from tests.servers.base import answer_json
from tests.servers.script import Tokens, call, say, think, window_full

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def vendor(anthropic: Vendor) -> Vendor:
    return anthropic


def _content(vendor: Vendor, number: int) -> list[dict[str, Any]]:
    return vendor.sent["messages"][number]["content"]


async def test_thoughts_between_calls_go_back_as_they_came(vendor: Vendor) -> None:
    """Thoughts are bound to the calls before them, ids included, whatever ids and names the loop gives to these.

    Source: anthropics/claude-code#63835 and #63269, gotgenes/pi-anthropic-auth#66 (blocks that came back changed).
    """
    for first_is_redacted, second_is_redacted in ((False, True), (True, True), (True, False), (False, False)):
        first_thought, second_thought = think("a", redacted=first_is_redacted), think("", redacted=second_is_redacted)
        asked = first_thought + call("get_weather", {"place": "Oslo"}) + second_thought + call("current_time", {})
        vendor.server.scripted(asked)
        message = (await vendor.provider.complete(QUESTION)).message
        assert message is not None
        renamed = AssistantMessage(
            parts=tuple(
                replace(part, id=CallId(f"call_{place}"), name=f"own_{part.name}")
                if isinstance(part, ToolCall)
                else part
                for place, part in enumerate(message.parts)
            )
        )
        await vendor.provider.complete(followed_by(QUESTION, *answered(renamed)))
        kinds = [block["type"].removeprefix("redacted_") for block in _content(vendor, 1)]
        assert kinds == ["thinking", "tool_use", "thinking", "tool_use"]
        assert vendor.server.refused == []


async def test_thinking_that_is_refused_is_left_out_once(vendor: Vendor) -> None:
    """Thoughts behind another system prompt are refused, without them it is answered; with none left it fails."""
    vendor.mistakes = True
    vendor.server.scripted(think() + call("current_time", {}))
    first = await vendor.provider.complete(QUESTION)
    again = followed_by(QUESTION, *answered(first.message))
    assert (await vendor.provider.complete(replace(again, system="You are another."))).stop is Stop.END
    assert "bound to a different conversation" in vendor.server.refused[-1]
    assert [block["type"] for block in _content(vendor, 1)] == ["tool_use"]
    for words in (
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        # anthropics/claude-code#19539
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
        "messages.1: The final block in an assistant message cannot be `thinking`.",
    ):
        vendor.fails(400, words, "invalid_request_error")
        with pytest.raises(Rejected):
            await vendor.provider.complete(QUESTION)
        vendor.fails(400, words, "invalid_request_error")
        assert (await vendor.provider.complete(again)).stop is Stop.END


async def test_the_body_of_a_request(vendor: Vendor) -> None:
    """The cache is marked behind the system prompt and at the end; a persona stands behind what all share."""
    await vendor.provider.complete(replace(QUESTION, persona="Be a pirate."))
    assert vendor.sent["system"][1] == {"type": "text", "text": "Be a pirate."}
    shared = vendor.sent["system"][0]
    await vendor.provider.complete(QUESTION)
    sent, kept = vendor.sent, {"type": "ephemeral", "ttl": "1h"}
    assert sent.keys() == {"model", "max_tokens", "system", "metadata", "tools", "messages"}
    assert sent["system"] == [shared] == [{"type": "text", "text": "You are Aldis.", "cache_control": kept}]
    assert [tool["name"] for tool in sent["tools"]] == ["get_weather", "current_time"]
    assert sent["tools"][1]["input_schema"] == {"type": "object", "properties": {}}
    assert sent["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "What is the weather in Oslo?", "cache_control": kept}]},
    ]


async def test_answers_stand_in_one_message_before_the_next_question(vendor: Vendor) -> None:
    """Results come first, marked where they failed, and a question that follows them is in the same message."""
    vendor.server.scripted(call("get_weather", {"place": "Oslo"}) + call("current_time", {}))
    first = await vendor.provider.complete(QUESTION)
    request = followed_by(QUESTION, *answered(first.message, ok=False), UserMessage(text="Never mind."))
    await vendor.provider.complete(request)
    assert [block["type"] for block in _content(vendor, 2)] == ["tool_result", "tool_result", "text"]
    assert [block.get("is_error") for block in _content(vendor, 2)] == [True, True, None]


async def test_what_a_cache_keeps_for_an_hour_costs_more(vendor: Vendor) -> None:
    """Twice the input instead of five quarters of it; a compatible server may count nothing, or less."""
    vendor.server.scripted(say("Hi.").using(Tokens(fresh=100, cache_write=400, cache_write_hour=300)))
    completion = await vendor.provider.complete(QUESTION)
    assert (completion.usage.cache_write_tokens, completion.usage.cache_write_hour_tokens) == (400, 300)
    assert completion.cost_usd == Decimal("0.10") * (100 + 125 + 600) / 1_000_000 + Decimal("0.000005")
    for usage in (None, {"cache_read_input_tokens": None, "input_tokens": 3}):
        body = {"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "usage": usage}
        vendor.server.script.append(answer_json(body))
        assert (await vendor.provider.complete(QUESTION)).usage.input_tokens == (3 if usage else 0)


async def test_a_full_window(vendor: Vendor) -> None:
    """With words it is a cut-off answer, without any the prompt was too long."""
    vendor.server.scripted(window_full("It is"), think() + window_full())
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.LENGTH
    with pytest.raises(ContextTooLong):
        await vendor.provider.complete(QUESTION)


SAID = (
        (400, error_body("invalid_request_error", "prompt is too long: 200 tokens > 100 maximum"), ContextTooLong),
        (400, error_body("invalid_request_error", "input length and `max_tokens` exceed context limit: 9 + 9 > 10"),
         ContextTooLong),
        (400, error_body("invalid_request_error", "Your credit balance is too low to access the API."), BadKey),
        (400, error_body("invalid_request_error", "You have reached your specified API usage limits."), BadKey),
        (429, error_body("rate_limit_error", "No.", error_code="contract_spend_limit_reached"), BadKey),
        (500, error_body("overloaded_error", "Overloaded"), Overloaded),
        (400, {"error": {"type": 7, "message": ["no text"]}}, Rejected),
        (400, {"error": "flat"}, Rejected),
)  # fmt: skip


async def test_what_the_service_says_decides(vendor: Vendor) -> None:
    """Known words and codes say more than the status: who can mend it."""
    for status, error, kind in SAID:
        vendor.server.faults.append(answer_json(error, status))
        with pytest.raises(ProviderError) as raised:
            await vendor.provider.complete(QUESTION)
        assert type(raised.value) is kind, error


async def test_a_block_of_an_unknown_kind_is_handed_back(vendor: Vendor) -> None:
    """What the vendor invents next is carried, not lost and not read as words."""
    block = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    words = {"type": "text", "text": "Cold."}
    vendor.server.script.append(answer_json({"content": [block, words], "stop_reason": "end_turn"}))
    completion = await vendor.provider.complete(QUESTION)
    assert completion.message == AssistantMessage(parts=(Opaque(vendor="anthropic", data=block), Text(text="Cold.")))
