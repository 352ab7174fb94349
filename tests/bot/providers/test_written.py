"""What models write into their words that is for nobody to read: thoughts go, calls are carried out, code stays."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
import pytest_asyncio

from bot.errors import Unavailable
from bot.messages import AssistantMessage, CallId, Text, ToolCall, UserMessage
from bot.providers.base import Request, Stop, Usage
from bot.providers.openai.provider import OpenAI
from bot.providers.wire import WireAnswer, wire_answer
from bot.providers.written import MIN_CHARACTERS, Reader, without_thoughts
from tests.bot.providers.vendors import NAMES, QUESTION, Listening, Vendor, calls, opened, texts
from tests.servers.openai import OpenAIServer
from tests.servers.script import broken, cut_off, say

pytestmark = pytest.mark.asyncio(loop_scope="module")

OSLO = '{"name": "get_weather", "arguments": {"place": "Oslo"}}'
QWEN = "<tool_call>\n<function=get_weather>\n<parameter=place>\nOslo\n</parameter>\n</function>\n</tool_call>"
INVOKED = (
    '<function_calls><invoke name="get_weather"><parameter name="place">Oslo</parameter></invoke></function_calls>'
)

THOUGHT = "<|channel|>analysis<|message|>They greet me.<|end|>"

FORMS = [
    f"<tool_call>\n{OSLO}\n</tool_call>",
    f"<tool_call>{OSLO}",
    f"<think>I need the weather.</think>\n<tool_call>{OSLO}</tool_call>",
    f"```\n<tool_call>{OSLO}</tool_call>\n```",
    QWEN,
    QWEN.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>"),
    INVOKED,
    '<function=get_weather>{"place": "Oslo"}</function>',
    f"[TOOL_CALLS][{OSLO}]",
    '<|python_tag|>{"name": "get_weather", "parameters": {"place": "Oslo"}}',
    OSLO,
    f"[{OSLO}]",
    f"```json\n{OSLO}\n```",
    f"{OSLO}\nThe weather in Oslo is fine.",
    '{"type": "function", "function": {"name": "get_weather", "arguments": "{\\"place\\": \\"Oslo\\"}"}}',
    '<<get_weather: {"place": "Oslo"}>>',
    '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"place": "Oslo"}<|call|>',
    ("<|channel|>analysis<|message|>a b<|end|><|start|>assistant to=functions.get_weather<|channel|>commentary json"
     '<|message|>{"place": "Oslo"}<|call|>'),
    ("<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
     '{"place": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>'),
    ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
     '{"place": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'),
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"place": "Oslo"}<｜tool▁call▁end｜>',
    ('<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="place" string="true">Oslo'
     "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
    "<tool_call>get_weather\n<arg_key>place</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
    '[TOOL_CALLS]get_weather[ARGS]{"place": "Oslo"}',
    '[TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]{"place": "Oslo"}',
    '<|tool_call>call:get_weather{place:<|"|>Oslo<|"|>}<tool_call|>',
    '<|channel>thought\na b\n<channel|><|tool_call>call:get_weather{place:<|"|>Oslo<|"|>}<tool_call|>',
    '[get_weather(place="Oslo")]',
    '<|python_start|>[get_weather(place="Oslo")]<|python_end|>',
    "<|tool_call_start|>[get_weather(place='Oslo')]<|tool_call_end|>",
    '```json\n{"tool": "get_weather", "parameters": {"place": "Oslo"}}\n```',
    '{"tool_name": "get_weather", "args": {"place": "Oslo"}}',
    '```tool_code\nget_weather(place="Oslo")\n```',
    '```tool_code\nprint(default_api.get_weather(place="Oslo"))\n```',
]  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_vendors() -> AsyncIterator[dict[str, Vendor]]:
    async with (
        opened("anthropic", streams=True) as anthropic,
        opened("chat", streams=True) as chat,
        opened("responses", streams=True) as responses,
        opened("prompted", streams=True) as prompted,
    ):
        yield {"anthropic": anthropic, "chat": chat, "responses": responses, "prompted": prompted}


@pytest.fixture(params=[name for name in NAMES if name != "local"])
def vendor(request: pytest.FixtureRequest, open_vendors: dict[str, Vendor]) -> Iterator[Vendor]:
    vendor = open_vendors[request.param]
    vendor.begin()
    yield vendor
    vendor.end()


def _inner(vendor: Vendor) -> Any:
    assert isinstance(vendor.provider, Listening)
    return vendor.provider.inner


def _heard(vendor: Vendor) -> list[str]:
    assert isinstance(vendor.provider, Listening)
    return vendor.provider.heard


def _read(text: str, request: Request = QUESTION, stop: Stop = Stop.END) -> WireAnswer:
    return Reader(request).read(wire_answer([Text(text=text)], stop, Usage()))


@pytest.mark.parametrize("form", FORMS)
async def test_a_call_in_words_is_a_call(vendor: Vendor, form: str) -> None:
    """On every wire, whole and in pieces; nobody hears a word of it."""
    vendor.server.scripted(say(form), say(form))
    for completion in (await vendor.provider.complete(QUESTION), await _inner(vendor).complete(QUESTION)):
        assert [(call.name, call.arguments) for call in calls(completion)] == [("get_weather", {"place": "Oslo"})]
        assert completion.stop is Stop.TOOLS
        assert texts(completion) == []
    assert _heard(vendor) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<think>They greet me.</think>\n\nHello!", "Hello!"),
        ("They greet me.\n</think>\n\nHello!", "Hello!"),
        ("<think>a <think>b</think> c</think>Hello!", "Hello!"),
        ("[THINK]hm[/THINK]Hello!", "Hello!"),
        ("Hello!\n<think>Was that right?", "Hello!"),
        ("<seed:think>hm</seed:think>Hello!", "Hello!"),
        ("<|channel>thought\nhm\n<channel|>Hello!", "Hello!"),
        (f"{THOUGHT}<|start|>assistant<|channel|>final<|message|>Hello!<|return|>", "Hello!"),
        (f"{THOUGHT}<|channel|>final<|message|>Hello!", "Hello!"),
        ("analysisThey greet me.assistantfinalHello!", "Hello!"),
    ],
)
async def test_thoughts_are_for_nobody(vendor: Vendor, said: str, kept: str) -> None:
    """Neither in the answer nor while it is written, also where their beginning or their end is missing."""
    vendor.server.scripted(say(said), say(said))
    assert texts(await _inner(vendor).complete(QUESTION)) == [kept]
    if "\n</think>" not in said and "c</think>" not in said:  # what was never begun is known by its end alone
        assert texts(await vendor.provider.complete(QUESTION)) == [kept]
        assert all(kept.startswith(heard.strip()) for heard in _heard(vendor))


async def test_thoughts_that_were_cut_off_are_no_answer(vendor: Vendor) -> None:
    """All that was written was thought: there is nothing to say."""
    vendor.server.scripted(cut_off("<think>Let me see, first I have to"))
    completion = await vendor.provider.complete(QUESTION)
    assert (completion.message, completion.stop, _heard(vendor)) == (None, Stop.LENGTH, [])


@pytest.mark.parametrize("form", [*FORMS, "<think>a ◁ [ b</think> c", "a\n<think>b"])
async def test_nothing_of_it_shows_however_it_comes(form: str) -> None:
    """Cut anywhere."""
    reader = Reader(QUESTION)
    for text in accumulate(form):
        shown = reader.visible(text)
        assert not any(sign in shown for sign in ("think", "tool", "get_", "name", "<", "TOOL", "b", "{"))


@pytest.mark.parametrize(
    "text",
    [
        "The tag `<think>` begins thoughts, `</think>` ends them.",
        f"A call looks so:\n```\n<tool_call>{OSLO}</tool_call>\n```\nThat is all.",
        f"For example:\n```json\n{OSLO}\n```",
        'The file says:\n{"name": "Oslo", "arguments": {"a": 1}}',
        '{"name": "get_weather", "temperature": 3}',
        "int main()\n{\n  cout << x;\n}",
        "1 < 2 and [a] and {b}",
        "Write `<tool_call>` there.",
        "Write `<|channel|>analysis<|message|>` there.",
        "The template:\n```\n<|tool_call_begin|>f:0<|tool_call_argument_begin|>{}<|tool_call_end|>\n```",
        "analysis comes first, then synthesis",
        "x <- c(1, 2) # <",
        "[get_weather(place=city)]",
        '[get_weather("Oslo")]',
        '[get_weather(place="Oslo"), print("Oslo")]',
        '[open(place="Oslo"), get_weather(place="Oslo")]',
        "[get_weather(place={1, 2})]",
        'Say [get_weather(place="Oslo")] for that.',
        '```python\nprint(get_weather(place="Oslo"))\n```',
        "[Oslo](https://oslo.example), for get_weather",
        "```tool_code\nget_weather\n```",
    ],
)
async def test_code_and_data_stay_text(text: str) -> None:
    """An answer about models and their tags is an answer."""
    read = _read(text)
    assert read.message == AssistantMessage(parts=(Text(text=text),))


@pytest.mark.parametrize("form", [FORMS[0], OSLO, QWEN])
async def test_what_somebody_else_wrote_is_no_call(form: str) -> None:
    """A model that repeats a page's words has not called anything."""
    request = replace(QUESTION, messages=(UserMessage(text=f"Say this: {form}"),))
    read = _read(form, request)
    assert read.message is not None
    assert read.message.calls == ()


@pytest.mark.parametrize("form", FORMS)
async def test_where_none_may_be_called_none_is(form: str) -> None:
    """What it wrote is left out, so that nobody reads it."""
    read = _read(form, replace(QUESTION, may_call_tools=False))
    assert read.message is None or "Oslo" not in read.message.text or "is fine" in read.message.text


@pytest.mark.parametrize(
    ("form", "arguments", "malformed"),
    [
        ("<<weather: Oslo>>", {}, "Oslo"),
        ('<<get_current_weather: {"place": "Oslo"}>>', {"place": "Oslo"}, None),
        ('{"name": "weather", "arguments": {"place": "Oslo"}}', {"place": "Oslo"}, None),
    ],
)
async def test_a_name_that_others_have_for_a_tool_is_one(
    form: str, arguments: dict[str, object], malformed: str | None
) -> None:
    """In words, too; whoever carries the call out knows which tool is meant."""
    [call] = _read(form).message.calls  # type: ignore[union-attr]
    assert (call.arguments, call.malformed) == (arguments, malformed)


async def test_without_tools_nobody_reads_a_call() -> None:
    """Where tools are switched off, too."""
    read = _read(f"I look.\n{FORMS[0]}", replace(QUESTION, tools=()))
    assert read.message == AssistantMessage(parts=(Text(text="I look."),))


@pytest.mark.parametrize("written", ["<tool_call>get_weather(Oslo)</tool_call>", '<tool_call>{"name": "get_weather", '])
async def test_a_call_that_cannot_be_read_is_malformed(written: str) -> None:
    """So its model hears what is wrong; of an answer that was cut off it is left out."""
    [call] = _read(written).message.calls  # type: ignore[union-attr]
    assert (call.name, call.malformed is not None) == ("get_weather", True)
    assert _read(written, stop=Stop.LENGTH).message is None


@pytest.mark.parametrize(
    "text",
    [
        "<" * 100_000,
        "<tool_call>" * 9_000,
        "{\n" * 50_000,
        "<think>" * 15_000,
        "[[" * 50_000,
        "<|channel|>final<|message|>" * 4_000,
        "<|tool_call_begin|>f" * 5_000,
        "[TOOL_CALLS]f[ARGS]" * 5_000,
        "<｜tool▁call▁begin｜>f" * 5_000,
        "<|tool_call>call:f{" * 5_000,
        "<arg_key>a</arg_key><arg_value>" * 4_000,
        "analysisA" + "assistant" * 10_000,
        "[get_weather(place=" + "(" * 3_900 + ")" * 3_900 + ")]",
        "[get_weather(place=" + "-" * 7_900 + "1)]",
        "[get_weather(place=" + "1+" * 3_900 + "1)]",
        "[get_weather(place='\\d')" + ".a" * 3_900 + "]",
        "[get_weather(place=" + "9" * 7_900 + ")]",
    ],
)
async def test_long_hostile_texts_take_little_time(text: str) -> None:
    """Whatever they are made of: the time limit of the suite is the measure."""
    _read(text)
    Reader(QUESTION).visible(text)
    without_thoughts(text)


async def test_half_a_surrogate_costs_a_character(vendor: Vendor) -> None:
    """Not the answer; in pieces, in one piece, and in the arguments of a call."""
    vendor.server.scripted(say("cold \ud83d in Oslo"), say("cold \ud83d in Oslo"))
    assert texts(await vendor.provider.complete(QUESTION)) == ["cold ? in Oslo"]
    assert texts(await _inner(vendor).complete(QUESTION)) == ["cold ? in Oslo"]
    vendor.server.scripted(say('<tool_call>{"name": "get_weather", "arguments": {"place": "Os\\ud83dlo"}}</tool_call>'))
    [call] = calls(await vendor.provider.complete(QUESTION))
    assert call.arguments == {"place": "Os?lo"}


async def test_an_error_nobody_knows_may_pass(vendor: Vendor) -> None:
    """A code in a stream that is none of the known ones is tried again, like any failure on the way."""
    vendor.server.scripted(broken(say("It is cold."), "error", events=4, error="shard_relocated"))
    with pytest.raises(Unavailable):
        await vendor.provider.complete(QUESTION)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_server_that_wants_the_other_api_is_asked_there(streamed: bool) -> None:
    """Once it has said so: from then on at once."""
    async with OpenAIServer() as server:
        model = OpenAI(api_key=server.key, model="gpt-6-sol", base_url=server.base_url, api="chat")
        async with aclosing(model):
            for _ in range(2):
                completion = await model.complete(QUESTION, (lambda _: None) if streamed else None)
                assert texts(completion) == ["You said: What is the weather in Oslo?"]
        paths = [seen.path for seen in server.requests]
        assert paths == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("chat", "max_tokens is too large: 16384. This model supports at most 8192 completion tokens, whereas"),
        ("responses", "max_output_tokens is too large: 16384. This model supports at most 8192 completion tokens"),
        ("anthropic", "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for X"),
    ],
)
async def test_a_longer_answer_than_the_model_gives(open_vendors: dict[str, Vendor], kind: str, words: str) -> None:
    """Is asked for again as long as it says it may be."""
    vendor = open_vendors[kind]
    vendor.begin()
    vendor.fails(400, words, "invalid_request_error")
    assert (await vendor.provider.complete(replace(QUESTION, max_output_tokens=16_384))).stop is Stop.END
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    assert [vendor.sent[name] for name in names if name in vendor.sent] == [8192]


@pytest.mark.parametrize("how", [{"refuses": frozenset({"reasoning_effort"})}, {"thinks": False}])
async def test_a_server_that_knows_no_effort_is_not_told_any(how: dict[str, Any]) -> None:
    """From then on; nor is one whose model does not think."""
    async with OpenAIServer(local=True, **how) as server:
        model = OpenAI(api_key=None, model="qwen4:8b", base_url=server.base_url, effort="low")
        async with aclosing(model):
            for _ in range(2):
                assert (await model.complete(QUESTION)).stop is Stop.END
        assert ["reasoning_effort" in seen.json() for seen in server.requests] == [True, False, False]


async def test_of_an_answer_much_longer_than_was_asked_for_the_beginning_counts() -> None:
    """It is cut off there, as if the server had kept to what it was told; what was asked for is never cut."""
    long = "The lamps flash. " * 30_000
    modest, generous = (replace(QUESTION, max_output_tokens=tokens) for tokens in (256, 64_000))
    cut = _read(long, modest)
    assert (cut.text, cut.stop) == (long[:MIN_CHARACTERS].rstrip(), Stop.LENGTH)
    two = [Text(text="Lamps. " * 9_000), Text(text="Flags. " * 9_000)]
    both = Reader(modest).read(wire_answer([*two, Text(text="Bells.")], Stop.END, Usage()))
    assert [part.text[:6] for part in _texts(both)] == ["Lamps.", "Flags."]
    assert len(both.text) <= MIN_CHARACTERS + 2
    whole = _read(long, generous)
    assert (whole.text, whole.stop) == (long.rstrip(), Stop.END)


async def test_a_call_behind_words_without_end_is_called_all_the_same() -> None:
    """It is the words alone that are cut."""
    call = ToolCall(id=CallId("c"), name="get_weather", arguments={"place": "Oslo"})
    read = Reader(QUESTION).read(wire_answer([Text(text="x" * 1_000_000), call], Stop.TOOLS, Usage()))
    assert read.message is not None
    assert (read.message.calls, read.stop, len(read.text)) == ((call,), Stop.TOOLS, MIN_CHARACTERS)


@pytest.mark.parametrize(
    "text",
    [
        "<think>x</think>\n" * 60_000,
        "<think>\n" * 120_000,
        "a\n```\n" + "<tool_call>\n" * 90_000,
        "<function=get_weather>" + "<parameter=a>" * 40_000,
        "```" + " " * 500_000 + "x",
        "get_weather" + "\n" * 500_000,
        "<｜tool▁call▁begin｜>get_weather" + " " * 500_000 + "x",
        "<｜tool▁call▁begin｜>get_weather{" + " " * 500_000 + "x",
    ],
)
async def test_an_answer_made_to_be_slow_is_read_quickly(text: str) -> None:
    """While it is written and whole: nobody else is answered meanwhile."""
    reader = Reader(replace(QUESTION, max_output_tokens=128_000))
    began = time.process_time()
    reader.visible(text)
    reader.read(wire_answer([Text(text=text)], Stop.END, Usage()))
    assert time.process_time() - began < 20


def _texts(answer: WireAnswer) -> list[Text]:
    assert answer.message is not None
    return [part for part in answer.message.parts if isinstance(part, Text)]
