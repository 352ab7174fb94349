"""What is OpenAI's own: two APIs, names of the output limit, reasoning items, and the habits of compatible servers."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, get_args

import pytest

from bot.chat import phrases
from bot.errors import (
    BadKey,
    ContextTooLong,
    NoSuchModel,
    Overloaded,
    ProviderError,
    Rejected,
    TooSlow,
    Unavailable,
    Unreadable,
)
from bot.messages import AssistantMessage, Opaque, Text, ToolCall, UserMessage
from bot.models import openai_chat
from bot.models.base import Completion, Provider, Request, Stop, Usage
from bot.models.capabilities import Capabilities, ModelLessons
from bot.models.fallback import Fallback
from bot.models.openai import OpenAI
from tests.bot.models.vendors import QUESTION, Vendor, answered, calls, followed_by, openai_of, stripped, texts
from tests.servers.base import Answer, answer_json
from tests.servers.openai import OpenAIServer, error_body
from tests.servers.openai_rules import Carried
from tests.servers.script import call, cut_off, say, think
from tests.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _asked(
    server: OpenAIServer,
    *,
    model: str,
    api_key: str | None = "test-key",
    times: int = 1,
    api: str = "auto",
    effort: str | None = None,
) -> Completion:
    async with server, aclosing(_provider(server, model=model, api_key=api_key, api=api, effort=effort)) as provider:
        for _ in range(times - 1):
            await provider.complete(QUESTION)
        return await provider.complete(QUESTION)


def _provider(server: OpenAIServer, *, model: str, api_key: str | None, api: str, effort: str | None = None) -> OpenAI:
    return openai_of(api_key=api_key, model=model, base_url=server.base_url, api=api, effort=effort)


async def test_which_api_is_asked() -> None:
    """OpenAI itself is asked by responses, everybody else by chat completions, unless the operator says otherwise."""
    rows: tuple[tuple[str | None, str, bool], ...] = (
        (None, "auto", True),
        ("https://API.OpenAI.com/v1/", "auto", True),
        ("https://api.openai.com.example.org/v1", "auto", False),
        (None, "chat", False),
        ("http://localhost:11434/v1", "responses", True),
    )
    for base_url, api, expected in rows:
        async with aclosing(openai_of(api_key="k", model="gpt-6-sol", base_url=base_url, api=api)) as provider:
            assert ("responses" in provider._set) is expected, base_url


async def test_the_name_of_the_output_limit() -> None:
    """It goes by the name of the model; a server that refuses the one is asked by the other, from then on at once."""
    old, new = "max_tokens", "max_completion_tokens"
    for model, expected in (("gpt-4.1", old), ("olmo-3", old), ("o3", new), ("gpt-6-sol", new)):
        server = OpenAIServer(local=True)
        await _asked(server, model=model)
        assert server.requests[0].json()[expected] == QUESTION.max_output_tokens
    for model, known in (("my-deployment", new), ("o3-clone", old)):
        server = OpenAIServer(local=True, refuses=frozenset({old, new} - {known}))
        await _asked(server, model=model, times=2)
        assert [known in seen.json() for seen in server.requests] == [False, True, True]


async def test_the_body_of_a_chat_completion(chat: Vendor) -> None:
    """Strings as content, the system first, nothing unknown to compatible servers; OpenAI alone has a cache's key."""
    await chat.provider.complete(QUESTION)
    assert chat.sent.keys() == {"model", "max_tokens", "messages", "tools"}
    assert chat.sent["messages"] == [
        {"role": "system", "content": "You are Aldis."},
        {"role": "user", "content": "What is the weather in Oslo?"},
    ]
    body = openai_chat.body(
        QUESTION, model="gpt-4.1", effort=None, limit="max_tokens", official=True, quirks=frozenset()
    )
    assert body["prompt_cache_key"] == "aldis"


async def test_a_call_goes_back_as_json_without_null(local: Vendor) -> None:
    """A message of calls alone has empty words, for gateways refuse null, and arguments that are a JSON object."""
    local.server.scripted(call("get_weather", '{"place": "Zürich"') + call("current_time", ""))
    first = await local.provider.complete(QUESTION)
    await local.provider.complete(followed_by(QUESTION, *answered(first.message)))
    spoken = local.sent["messages"][2]
    assert spoken["content"] == ""
    assert [asked["function"]["arguments"] for asked in spoken["tool_calls"]] == ["{}", "{}"]


SAID = (
        (429, error_body("You exceeded your quota.", code="insufficient_quota"), BadKey),
        (400, error_body("No.", code="billing_hard_limit_reached"), BadKey),
        (400, error_body("Too long.", code="context_length_exceeded"), ContextTooLong),
        (400, error_body("This model's maximum context length is 8192 tokens."), ContextTooLong),
        (400, error_body("Too long.", kind="exceed_context_size_error"), ContextTooLong),
        (500, error_body("the request exceeds the available context size"), ContextTooLong),
        (404, error_body("The model `x` does not exist", code="model_not_found"), NoSuchModel),
        (429, error_body("Request too large for gpt-4.1 in organization org-x on tokens per min (TPM): Limit 30000, "
                         "Requested 30500.", kind="tokens", code="rate_limit_exceeded"), ContextTooLong),
        (400, error_body("Failed to call a function. Please adjust your prompt.", code="tool_use_failed"), Unavailable),
        (400, {"error": {"message": 7, "type": {}, "code": 400}}, Rejected),
        (500, {"error": "flat"}, Unavailable),
)  # fmt: skip


async def test_what_the_service_says_decides(chat: Vendor, responses: Vendor) -> None:
    """Known words and codes say more than the status: who can mend it."""
    for vendor in (chat, responses):
        for status, error, kind in SAID:
            vendor.server.faults.append(answer_json(error, status))
            with pytest.raises(ProviderError) as raised:
                await vendor.provider.complete(QUESTION)
            assert type(raised.value) is kind, error


async def test_the_body_of_a_response(responses: Vendor) -> None:
    """Nothing is stored, reasoning comes sealed, tools are flat; what is asked once is kept in no cache."""
    await responses.provider.complete(replace(QUESTION, max_output_tokens=1))
    sent = responses.sent
    assert (sent["store"], sent["include"]) == (False, ["reasoning.encrypted_content"])
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    assert sent["input"] == [
        {"role": "developer", "content": [{"type": "input_text", "text": "You are Aldis.", **mark}]},
        {"role": "user", "content": [{"type": "input_text", "text": "What is the weather in Oslo?", **mark}]},
    ]
    assert sent["prompt_cache_options"] == {"mode": "explicit", "ttl": "30m"}
    assert sent["max_output_tokens"] == 16
    assert [(tool["name"], tool["strict"]) for tool in sent["tools"]] == [
        ("get_weather", False),
        ("current_time", False),
    ]
    assert sent["prompt_cache_key"] == "aldis"
    await responses.provider.complete(replace(QUESTION, is_one_off=True))
    sent = responses.sent
    assert (sent["instructions"], sent["prompt_cache_options"]["mode"]) == ("You are Aldis.", "explicit")
    assert b"breakpoint" not in responses.server.requests[-1].body
    assert "prompt_cache_key" not in sent


async def test_what_a_model_is_told_goes_by_its_name_and_api() -> None:
    """Older models refuse marks of the cache and sealed reasoning; each API has its own name for the effort."""
    rows: tuple[tuple[str, str, str | None, dict[str, object]], ...] = (
        ("gpt-5.4", "responses", None, {"instructions": "You are Aldis.", "prompt_cache_options": None}),
        ("gpt-4.1", "responses", None, {"include": None}),
        ("gpt-5.5", "chat", "low", {"reasoning_effort": "low"}),
        ("gpt-5.5", "responses", "low", {"reasoning": {"effort": "low"}}),
    )
    for model, api, effort, said in rows:
        server = OpenAIServer()
        await _asked(server, model=model, api=api, effort=effort)
        sent = server.requests[0].json()
        assert {name: sent.get(name) for name in said} == said
        assert server.refused == []


async def test_a_server_that_knows_no_marks_is_asked_without(responses: Vendor) -> None:
    """A gateway may call its model as OpenAI does: a refusal is learned from, for good."""
    unknown = error_body("Unknown parameter: 'prompt_cache_options'.", param="prompt_cache_options")
    responses.server.scripted(answer_json(unknown, 400))
    for _ in range(2):
        assert (await responses.provider.complete(QUESTION)).message is not None
    assert ["prompt_cache_options" in seen.json() for seen in responses.server.requests] == [True, False, False]


async def test_reasoning_stays_beside_its_call(responses: Vendor) -> None:
    """Reasoning, words and calls go back in their order, sealed; reasoning whose successor was cut off does not."""
    responses.server.scripted(think("hm") + say("I look.") + think() + call("current_time", {}))
    first = await responses.provider.complete(QUESTION)
    assert first.message is not None
    assert [type(part) for part in first.message.parts] == [Opaque, Text, Opaque, ToolCall]
    await responses.provider.complete(followed_by(QUESTION, *answered(first.message)))
    kinds = [item.get("type", item.get("role")) for item in responses.sent["input"]]
    assert kinds == ["user", "reasoning", "assistant", "reasoning", "function_call", "function_call_output"]
    responses.server.scripted(say("Well.") + think() + cut_off())
    completion = await responses.provider.complete(QUESTION)
    assert completion.message == AssistantMessage(parts=(Text(text="Well."),))


async def test_reasons_that_are_not_openais(chat: Vendor) -> None:
    """Compatible services have some of their own; a broken answer is none, and calls count more than a reason."""
    message = {"role": "assistant", "content": "It is"}
    for reason, stop in (
        ("model_length", Stop.LENGTH),
        ("sensitive", Stop.REFUSAL),
        ("eos", Stop.END),
        (3, Stop.END),
        (None, Stop.END),
        ("network_error", None),
        ("insufficient_system_resource", None),
    ):
        chat.server.script.append(answer_json({"choices": [{"message": message, "finish_reason": reason}]}))
        with nullcontext() if stop else pytest.raises(Unavailable):
            assert (await chat.provider.complete(QUESTION)).stop is stop, reason
    server = OpenAIServer(local=True, says_stop=True).scripted(call("current_time", {}))
    assert (await _asked(server, model="llama-4")).stop is Stop.TOOLS


LLAMA = "Failed to parse input at pos 395: <|tool_call_start|>[get_weather(place='Oslo')] does not support tools"
PEG = "The model produced output that does not match the expected peg-native format"
OLLAMA = "error parsing tool call: raw='{\"place\": Oslo}', err=invalid character 'O' looking for beginning of value"


def unreadable(words: str) -> Answer:
    return answer_json({"error": {"code": 500, "message": words, "type": "server_error"}}, 500)


async def test_what_a_server_cannot_read_is_asked_for_once_more() -> None:
    """The lost answer is kept for the ledger, and what the model wrote counts as no refusal of tools."""
    for words in (LLAMA, PEG, OLLAMA):
        server = OpenAIServer(local=True)
        server.faults.append(unreadable(words))
        async with server, aclosing(_provider(server, model="llama-4", api_key=None, api="auto")) as provider:
            completion = await Fallback({"openai/llama-4": provider}).complete(QUESTION)
        assert completion.stop is Stop.END
        [lost] = completion.attempts
        assert (lost.provider, lost.name, lost.outcome, lost.cost_usd) == ("openai", "llama-4", "Unreadable", None)
        assert ["tools" in request.json() for request in server.requests] == [True, True]


async def test_what_a_server_never_can_read_is_asked_for_twice_only() -> None:
    """By a fallback, too: each answer may take a model minutes. People hear what they can do, and no word of it."""
    server = OpenAIServer(local=True)
    server.faults += [unreadable(LLAMA)] * 9
    async with server, aclosing(_provider(server, model="llama-4", api_key=None, api="auto")) as provider:
        with pytest.raises(Unreadable) as raised:
            await Fallback({"openai/llama-4": provider}).complete(QUESTION)
    assert len(server.requests) == 2
    assert "Oslo" not in str(raised.value)
    assert phrases.for_error(raised.value) == phrases.UNREADABLE.text


async def test_a_model_at_home_has_the_whole_turns_time() -> None:
    """Every other has the time of one answer, and what it had not sent by then has cost an unknown amount."""
    async with OpenAIServer(local=True) as server:
        server.latency_seconds = 0.3
        lessons = ModelLessons()
        provider = openai_of(api_key=None, model="qwen4:8b", base_url=server.base_url, lessons=lessons)
        slow = replace(QUESTION, timeout_seconds=0.1, total_seconds=DEADLINE_SECONDS)
        async with aclosing(provider):
            with pytest.raises(TooSlow, match=r"gave no answer in 0\.1 s") as raised:
                await provider.complete(slow)
            assert raised.value.cost_usd is None
            lessons.of(server.base_url, "qwen4:8b").capabilities = Capabilities(is_at_home=True)
            assert (await provider.complete(slow)).stop is Stop.END


async def test_a_template_without_answers_of_tools_or_with_one_call_alone() -> None:
    """Tools are described in its prompt then, after one refusal; the question is answered."""
    one = call("get_weather", {"place": "Oslo"})
    for server, asked in (
        (OpenAIServer(local=True, knows_parallel_calls=False), say("I look.") + one + call("current_time", {})),
        (OpenAIServer(local=True, knows_tools=False), one),
    ):
        server.scripted(asked)
        async with server, aclosing(_provider(server, model="gemma2:9b", api_key=None, api="auto")) as provider:
            first = await provider.complete(QUESTION)
            for _ in range(2):
                completion = await provider.complete(followed_by(QUESTION, *answered(first.message)))
                assert completion.stop is Stop.END
        sent = server.requests[-1].json()
        assert (len(server.refused), "tools" in sent) == (1, False)
        assert "<<get_weather" in str(sent["messages"])


async def test_a_response_that_failed(responses: Vendor) -> None:
    """A failure told in a 200 is one of our errors, without the service's words."""
    for code, kind in (
        ("server_error", Unavailable),
        ("rate_limit_exceeded", Overloaded),
        ("invalid_prompt", Rejected),
        ("bio_policy", Rejected),
        ("misalignment_policy_violation", Rejected),
        ("data_residency_mismatch", BadKey),
        (None, Unavailable),
    ):
        error = {"code": code, "message": "my sister's words"} if code else None
        responses.server.script.append(answer_json({"status": "failed", "error": error, "output": []}))
        with pytest.raises(ProviderError) as raised:
            await responses.provider.complete(QUESTION)
        assert (type(raised.value), "sister" in str(raised.value)) == (kind, False)


async def test_without_a_model_the_servers_first_one_answers() -> None:
    """The list is asked for once; models that cannot chat are passed over; with no others it is said what to set."""
    for models in (("nomic-embed-text", "llama-9", "qwen-7"), ("nomic-embed-text",)):
        async with (
            OpenAIServer(local=True, key=None, models=models) as server,
            aclosing(openai_of(api_key=None, model=None, base_url=server.base_url)) as provider,
        ):
            if len(models) == 1:
                with pytest.raises(Rejected, match="LLM__OPENAI__MODEL"):
                    await provider.complete(QUESTION)
                continue
            assert [(await provider.complete(QUESTION)).model for _ in range(2)] == ["llama-9", "llama-9"]
            assert (len(server.looks), len(server.requests)) == (1, 2)


# Odd answers: the words and calls, which are paid for, are taken all the same


def answers(local: Vendor, message: Mapping[str, Any], *, reason: object = "stop", **more: object) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    local.server.faults.append(answer_json({"id": "x", "created": 1, "model": "m", "choices": [choice], **more}))


async def test_a_usage_that_is_none(local: Vendor) -> None:
    """Counts as unknown, or as far as it is a number."""
    for usage, counted in (
        ({"prompt_tokens": -5, "completion_tokens": 3}, Usage(output_tokens=3)),
        ({"prompt_tokens": 10**400, "completion_tokens": 10**30}, Usage(input_tokens=10**12, output_tokens=10**12)),
        ({"prompt_tokens": "12", "completion_tokens": 3.5}, Usage(output_tokens=3)),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, Usage()),
        ({"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": [4]}}, Usage(input_tokens=12)),
        ("a lot", Usage()),
    ):
        answers(local, {"content": "Hi"}, usage=usage)
        completion = await local.provider.complete(QUESTION)
        assert (texts(completion), completion.usage) == (["Hi"], counted)


async def test_words_in_another_form(local: Vendor) -> None:
    """As a list, alone, beside fields of another kind than OpenAI's."""
    for message in (
        {"content": ["Hi"]},
        {"content": [{"type": "text", "text": "Hi"}, {"type": "of_tomorrow"}]},
        {"content": "Hi", "refusal": False, "reasoning_details": {"type": "reasoning.text"}},
        {"content": "Hi", "reasoning_details": ["hm", None], "annotations": 7, "tool_calls": None, "role": 1},
    ):
        answers(local, message)
        assert texts(await local.provider.complete(QUESTION)) == ["Hi"]


async def test_a_call_with_odd_names(local: Vendor) -> None:
    """Its id may be of any kind; of one of nothing the words beside it stay, and the model hears of no such tool."""
    oslo = {"name": "get_weather", "arguments": '{"place": "Oslo"}'}
    for odd in (
        {"index": 0.0, "id": ["a"], "function": oslo},
        {"index": "0", "id": 7, "function": {"name": "get_weather", "arguments": {"place": "Oslo"}}},
        {"function": oslo, "extra_content": "none"},
    ):
        answers(local, {"tool_calls": [odd]}, reason="tool_calls")
        asked = calls(await local.provider.complete(QUESTION))
        assert [(one.name, dict(one.arguments)) for one in asked] == [("get_weather", {"place": "Oslo"})]
    for function in ({"name": None, "arguments": "{}"}, {"name": ["x"]}):
        answers(local, {"content": "I look.", "tool_calls": [{"index": 0, "id": "a", "function": function}]})
        completion = await local.provider.complete(QUESTION)
        assert (texts(completion), [one.name for one in calls(completion)]) == (["I look."], [""])


# What servers of others give beside words and calls, and refuse the next request of the turn without


LOOKED = think("I need the weather of both places.") + call("get_weather", {"place": "Oslo"}) + call("current_time", {})


@asynccontextmanager
async def _opened(server: OpenAIServer, lessons: ModelLessons | None = None) -> AsyncIterator[Provider]:
    async with server:
        own = openai_of(api_key="k", model="model-of-others", base_url=server.base_url, lessons=lessons)
        async with aclosing(own):
            yield own


async def _looked_twice(provider: Provider) -> Request:
    request = QUESTION
    for _ in range(2):
        request = followed_by(request, *answered((await provider.complete(request)).message))
    return request


@pytest.mark.parametrize("whose", get_args(Carried))
async def test_what_a_call_came_with_goes_back_with_it(whose: Carried) -> None:
    """Through all rounds of a turn; a server that refuses its own thoughts says so once, and is not sent them."""
    server = OpenAIServer(local=True, carries=whose).scripted(LOOKED, LOOKED, say("Both are cold."))
    async with _opened(server) as provider:
        completion = await provider.complete(await _looked_twice(provider))
    assert texts(completion) == ["Both are cold."]
    assert len(server.refused) == (whose == "nothing")


async def test_a_call_of_another_model_is_taken_after_one_refusal() -> None:
    """Its thoughts are lost, as are each former turn's: the server says so once in this run, and no other does."""
    for whose in ("deepseek", "kimi", "gemini"):
        server = OpenAIServer(local=True, carries=whose).scripted(LOOKED, *[say("Cold.")] * 4)
        lessons = ModelLessons()
        async with _opened(server, lessons) as provider:
            turn = followed_by(QUESTION, *answered((await provider.complete(QUESTION)).message))
            last = (await provider.complete(turn)).message
            assert last is not None
            turn = replace(turn, messages=stripped(turn.messages))
            former = (*turn.messages, *stripped([last]), UserMessage(text="And tomorrow?"))
            for request in (turn, replace(turn, messages=former)):
                assert texts(await provider.complete(request)) == ["Cold."]
                assert "weather of both" not in server.requests[-1].body.decode()
            again = openai_of(api_key="k", model="model-of-others", base_url=server.base_url, lessons=lessons)
            async with aclosing(again):
                assert texts(await again.complete(turn)) == ["Cold."]
            assert len(server.refused) == 1
