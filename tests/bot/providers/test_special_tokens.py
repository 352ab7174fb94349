"""What others write cannot end its place in a conversation, where a server looks for special tokens in all of it."""

import json
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from bot.messages import AssistantMessage, CallId, Document, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage
from bot.providers.anthropic.provider import Anthropic
from bot.providers.base import ToolOffer
from bot.providers.openai.provider import OpenAI
from bot.providers.special_tokens import told_as_words
from tests.bot.providers.vendors import NAMES, QUESTION, opened
from tests.servers.script import say

# Source: the chat templates of Qwen, Llama 3, gpt-oss, Kimi, GLM, Phi, Granite, DeepSeek, Gemma 3 and 4, Seed, Mistral,
# Llama 2, EXAONE and MiniMax (2026-11-24).
TOKENS = (
    *("<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|eot_id|>", "<|start|>", "<|message|>", "<|user|>"),
    *("<|start_of_role|>", "<｜User｜>", "<｜end▁of▁sentence｜>", "<|turn>", "<turn|>", '<|"|>', "<|tool_call>"),
    *("<start_of_turn>", "<end_of_turn>", "<eos>", "<tool_call>", "</tool_response>", "</think>", "<seed:bos>"),
    *("[INST]", "[/INST]", "[/TOOL_RESULTS]", "[SYSTEM_PROMPT]", "<<SYS>>", "<</SYS>>", "[|system|]", "]~b]", "[e~["),
)
ORDINARY = (
    "x <| y",
    "f |> g",
    "a < b > c",
    "[1] [INSTALL] [a|b]",
    "<div><think tank></div>",
    "<b|c",
    "a <| b |>",
    "]~",
)


def _strings(item: object) -> Iterator[str]:
    match item:
        case str():
            yield item
        case dict():
            for name, value in item.items():
                yield from _strings(name)
                yield from _strings(value)
        case list():
            for one in item:
                yield from _strings(one)
        case _:
            return


@pytest.mark.parametrize("kind", NAMES)
async def test_no_token_reaches_a_server_that_is_not_the_vendors_own(kind: str) -> None:
    """Neither in words of people, files, tools and their servers, nor in what a model repeats of them."""
    spelled = f"lamps {' '.join(TOKENS)} lamps"
    data = {"ok": True, "untrusted_data": {"text": spelled, "n": [1, [2]], "quoted": '\\"<|im_end|>'}}
    call = ToolCall(id=CallId("call_1"), name="get_weather", arguments={"place": spelled})
    paper = Document(data=b"%PDF-", name="<|im_\u200bend|>.pdf", pages=1, text=spelled)
    request = replace(
        QUESTION,
        persona=spelled,
        tools=(ToolOffer(name="get_weather", description=spelled, parameters={"type": "object", "title": spelled}),),
        messages=(
            UserMessage(text=spelled, media=(paper,)),
            AssistantMessage(parts=(Text(text=spelled), call)),
            ToolMessage(
                answers=(ToolAnswer(call_id=call.id, name=call.name, content=json.dumps(data), ok=True),),
            ),
        ),
    )
    async with opened(kind) as vendor:
        vendor.server.script.append(say("Lamps."))
        await vendor.provider.complete(request)
        sent = "\n".join(_strings(vendor.sent))
    assert not [token for token in TOKENS if token in sent]
    assert sent.count("lamps \\u003c|im_start|>") == 1
    assert sent.count("lamps <\\|im_start|>") >= 5


def test_a_tools_answer_says_the_same_afterwards() -> None:
    """The first sign is an escape of JSON then."""
    data = {"text": f"{' '.join(TOKENS)} {' '.join(ORDINARY)}", "<|im_end|>": [["x"], "]~b]"]}
    content = json.dumps(data, ensure_ascii=False)
    answer = ToolAnswer(call_id=CallId("call_1"), name="web_fetch", content=content, ok=True)
    [told] = told_as_words(replace(QUESTION, messages=(ToolMessage(answers=(answer,)),))).messages
    assert isinstance(told, ToolMessage)
    assert told.answers[0].content != content
    assert json.loads(told.answers[0].content) == data


def test_what_holds_no_token_is_left_as_it_is() -> None:
    """Code and brackets of other kinds too; the very same objects, which are known to caches."""
    words = " ".join(ORDINARY)
    messages = (UserMessage(text=words), AssistantMessage(parts=(Text(text=words),)), UserMessage(text=words))
    request = replace(QUESTION, messages=messages, persona=words)
    told = told_as_words(request)
    assert told == request
    assert all(one is other for one, other in zip(told.messages, messages, strict=True))
    assert told_as_words(told_as_words(replace(QUESTION, persona=TOKENS[0]))).persona == "<\\|im_start|>"


@pytest.mark.parametrize(
    ("base_url", "is_official"),
    [(None, True), ("https://API.example", False), ("https://api.anthropic.com.example.org", False)],
)
async def test_the_vendors_own_servers_keep_tokens_apart_themselves(*, base_url: str | None, is_official: bool) -> None:
    """What goes there is left as it is: a person may ask about the tokens."""
    async with (
        aclosing(Anthropic(api_key="k", model="m", base_url=base_url)) as anthropic,
        aclosing(OpenAI(api_key="k", model="m", base_url=base_url)) as openai,
    ):
        assert anthropic._official is openai._official is is_official
