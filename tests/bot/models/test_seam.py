"""One suite over the real providers: whatever the vendor, the same stories end the same way."""

import asyncio
import json
import logging
import platform
import traceback
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.errors import BadKey, ContextTooLong, NoSuchModel, Overloaded, ProviderError, Rejected, Unavailable
from bot.messages import (
    AssistantMessage,
    CallId,
    Message,
    Opaque,
    Text,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    UserMessage,
    without_opaque,
)
from bot.models import tool_list, wire
from bot.models.anthropic import Anthropic
from bot.models.base import Stop, ToolOffer
from bot.settings.groups import AnthropicSettings
from tests.bot.models.vendors import (
    QUESTION,
    TIME,
    Vendor,
    answered,
    calls,
    followed_by,
    openai_of,
    provider_of,
    server_of,
    stripped,
    texts,
)
from tests.invariants import is_sendable
from tests.servers.base import Answer, Seen, answer_json, hang, redirect
from tests.servers.script import Tokens, call, cut_body, cut_connection, cut_off, empty, filtered, refuse, say, think
from tests.waiting import WAIT_SECONDS

SECRET = "my-sister-hides-the-key-under-the-mat"


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_no_redirect_is_followed(vendor: Vendor) -> None:
    """Nobody has chosen the server it leads to, and it would be told what people say."""
    async with server_of(vendor.kind) as other:
        for status in (301, 307):
            vendor.server.faults.append(lambda seen, status=status: redirect(f"{other.url}{seen.path}", status)(seen))
            with pytest.raises(NoSuchModel, match=f"answered {status}"):
                await vendor.provider.complete(QUESTION)
        assert (other.requests, len(vendor.server.requests)) == ([], 2)


async def test_a_plain_answer(vendor: Vendor) -> None:
    """Words come back as text, with their cost and who said them; a request may be as bare as a question."""
    vendor.server.scripted(say("It is cold.").using(Tokens(fresh=70, cache_read=20, cache_write=10, output=5)))
    completion = await vendor.provider.complete(QUESTION)
    assert completion.message == AssistantMessage(parts=(Text(text="It is cold."),))
    assert completion.stop is Stop.END
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (100, 5)
    assert (completion.usage.cached_input_tokens, completion.usage.cache_write_tokens) == (20, 10)
    assert (completion.provider, completion.model) == (vendor.provider.name, vendor.sent["model"])
    assert completion.latency_seconds >= 0
    assert (completion.cost_usd is not None) == (vendor.kind in {"anthropic", "chat", "responses"})
    completion = await vendor.provider.complete(replace(QUESTION, system=" ", tools=(), conversation=""))
    assert completion.stop is Stop.END


async def test_several_calls_at_once(vendor: Vendor) -> None:
    """Calls of one answer come in the order asked, each with an id of its own."""
    vendor.server.scripted(
        say("I look.") + call("get_weather", {"place": "Oslo"}) + call("get_weather", {"place": "Bergen"})
    )
    completion = await vendor.provider.complete(QUESTION)
    assert completion.stop is Stop.TOOLS
    assert texts(completion) == ["I look."]
    assert [dict(asked.arguments) for asked in calls(completion)] == [{"place": "Oslo"}, {"place": "Bergen"}]
    assert len({asked.id for asked in calls(completion)}) == 2


async def test_a_tool_loop_carries_the_thinking_back(vendor: Vendor) -> None:
    """Through several rounds of a turn the blocks of the vendor go back unchanged, in their places."""
    vendor.server.scripted(
        think() + call("get_weather", {"place": "Oslo"}) + call("current_time", {}),
        think("Now the other.") + say("One more.") + call("get_weather", {"place": "Bergen"}),
        think() + say("Both are cold."),
    )
    request = QUESTION
    for _ in range(2):
        completion = await vendor.provider.complete(request)
        request = followed_by(request, *answered(completion.message))
    completion = await vendor.provider.complete(request)
    assert texts(completion) == ["Both are cold."]
    blocks = [part for message in request.messages if isinstance(message, AssistantMessage) for part in message.parts]
    thoughts = sum(1 for part in blocks if isinstance(part, Opaque) and part.vendor == vendor.opaque_name)
    # Anthropic's calls stand among them, too, as they came.
    assert thoughts == {"anthropic": 2 + 3, "responses": 2}.get(vendor.kind, 0)


async def test_the_next_turn_goes_without_thinking(vendor: Vendor) -> None:
    """What the history keeps of a turn, without the vendor's blocks, is taken back with a new question."""
    vendor.server.scripted(think() + call("get_weather", {"place": "Oslo"}), think() + say("Cold."))
    asked = followed_by(QUESTION, *answered((await vendor.provider.complete(QUESTION)).message))
    last = await vendor.provider.complete(asked)
    assert last.message is not None
    turn = (*stripped((*asked.messages, last.message)), UserMessage(text="And tomorrow?"))
    completion = await vendor.provider.complete(replace(QUESTION, messages=turn))
    assert texts(completion) == ["You said: And tomorrow?"]


async def test_tools_can_be_switched_off_for_the_last_round(vendor: Vendor) -> None:
    """They stay described, and the model hears not to call them; without any, conversations that used them go on."""
    heard = []
    vendor.server.scripted(call("get_weather", {"place": "Oslo"}))
    vendor.server.reply = lambda said: heard.append(said) or say("My best answer.")
    first = await vendor.provider.complete(QUESTION)
    last = replace(followed_by(QUESTION, *answered(first.message)), may_call_tools=False)
    completion = await vendor.provider.complete(last)
    assert completion.stop is Stop.END
    assert heard[0].tools == ("get_weather", "current_time")
    assert not heard[0].may_call
    assert heard[0].answers == ('{"ok": true}',)
    vendor.server.scripted(call("get_weather", {"place": "Oslo"}) + call("get_weather", {"place": "Rome"}))
    first = await vendor.provider.complete(QUESTION)
    without = replace(followed_by(QUESTION, *answered(first.message)), tools=(), may_call_tools=False)
    assert (await vendor.provider.complete(without)).stop is Stop.END


async def test_a_tool_of_the_list_is_called_through_it(vendor: Vendor) -> None:
    """The model reads one line of it, and calls it so, or by its own name in words; we read a call of the tool."""
    more = ToolOffer(name=tool_list.NAME, description="More:", parameters={})
    vendor.server.scripted(call("current_time", {"zone": "UTC"}) + call("current_time", {"zone": "CET"}), say("Noon."))
    asked = replace(QUESTION, tools=(more, replace(TIME, line="current_time(zone): the time <<b>>")))
    first = await vendor.provider.complete(asked)
    assert [(one.name, one.arguments["zone"]) for one in calls(first)] == [
        ("current_time", "UTC"),
        ("current_time", "CET"),
    ]
    await vendor.provider.complete(followed_by(asked, *answered(first.message)))
    sent, is_in_words = vendor.server.requests[-1].body, vendor.kind == "prompted"
    assert b"\\ncurrent_time(zone): the time" in sent
    assert b"The time." not in sent
    assert [piece in sent for piece in (b"<<use_tool: ", b"<<current_time: ")] == [is_in_words] * 2
    assert [piece in sent for piece in (b'"name":"use_tool"', b"<<b>>")] == [not is_in_words] * 2


async def test_ends_that_are_no_plain_answer(vendor: Vendor) -> None:
    """A refusal keeps its words without calls; blank text is no message; of a cut-off answer the words are one."""
    for said, stop, words in (
        (call("get_weather", {}) + refuse("I would rather not."), Stop.REFUSAL, "I would rather not."),
        (call("get_weather", {}) + filtered("I would rather not."), Stop.REFUSAL, "I would rather not."),
        (filtered(), Stop.REFUSAL, None),
        (empty(), Stop.END, None),
        (say(" \n"), Stop.END, None),
        (think("hm") + empty(), Stop.END, None),
        (cut_off("It is"), Stop.LENGTH, "It is"),
        (cut_off(), Stop.LENGTH, None),
        (think("long") + cut_off(), Stop.LENGTH, None),
    ):
        vendor.server.scripted(said)
        completion = await vendor.provider.complete(QUESTION)
        message = None if words is None else AssistantMessage(parts=(Text(text=words),))
        assert completion.stop is stop
        assert (completion.message and without_opaque(completion.message)) == message


async def test_a_cut_off_call(vendor: Vendor) -> None:
    """A call whose arguments the limit cut is not in the message; one that was complete is, and the stop warns."""
    vendor.server.scripted(
        think() + call("current_time", {}) + call("get_weather", '{"place": "Os') + cut_off(),
        say("Hm.") + think() + call("get_weather", '{"place": "Os') + cut_off(),
    )
    completion = await vendor.provider.complete(QUESTION)
    assert (completion.stop, [asked.name for asked in calls(completion)]) == (Stop.LENGTH, ["current_time"])
    completion = await vendor.provider.complete(QUESTION)
    assert completion.message == AssistantMessage(parts=(Text(text="Hm."),))


async def test_malformed_arguments(vendor: Vendor) -> None:
    """What is no JSON object is kept for the error, and the history that goes back holds valid JSON instead."""
    for written in ("[1, 2]", '"Oslo"', '{"x": NaN}', "[" * 9999):
        vendor.server.scripted(call("get_weather", written), say("Sorry."))
        first = await vendor.provider.complete(QUESTION)
        assert [(asked.malformed, dict(asked.arguments)) for asked in calls(first)] == [(written, {})]
        again = followed_by(QUESTION, *answered(first.message, ok=False))
        assert texts(await vendor.provider.complete(again)) == ["Sorry."]


async def test_a_tool_name_that_was_made_up(vendor: Vendor) -> None:
    """A name that no vendor takes reaches the toolbox as it is, and goes back as one that they take."""
    name = "get.weather." + "x" * 80 if vendor.kind == "prompted" else "get weather, please! " + "x" * 200
    vendor.server.scripted(call(name, {"place": "Oslo"}), say("There is no such tool."))
    first = await vendor.provider.complete(QUESTION)
    assert calls(first)[0].name == name
    await vendor.provider.complete(followed_by(QUESTION, *answered(first.message, ok=False)))
    assert name not in vendor.server.requests[-1].body.decode()


async def test_a_bad_key() -> None:
    """A refused key is the operator's to mend."""
    for kind in ("anthropic", "chat", "responses"):
        async with server_of(kind) as server, aclosing(provider_of(kind, server, key="wrong")) as provider:
            with pytest.raises(BadKey) as raised:
                await provider.complete(QUESTION)
        assert "wrong" not in str(raised.value)
        assert raised.value.provider == provider.name


async def test_a_rate_limit(vendor: Vendor) -> None:
    """A rate limit says when to come back, as a number of seconds however absurd, or not at all; nothing waits here."""
    rows: tuple[tuple[dict[str, str], float | None], ...] = (
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": "99999999999"}, 99999999999),
        ({"retry_after": "-5"}, 0),
        ({"retry_after": "inf"}, None),
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ({"retry_after": "Sat, 21 Nov 2026 12:00:40 GMT"}, None),
        ({}, None),
    )
    for headers, seconds in rows:
        vendor.fails(429, code="rate_limit_error", **headers)
        with pytest.raises(Overloaded) as raised:
            await vendor.provider.complete(QUESTION)
        assert raised.value.retry_after_seconds == seconds
    assert len(vendor.server.requests) == len(rows)


async def test_every_status_has_its_error(vendor: Vendor) -> None:
    """The status alone decides who must act where the words are unknown, and it is asked once."""
    rows: tuple[tuple[int, type[ProviderError]], ...] = (
        (400, Rejected), (401, BadKey), (402, BadKey), (403, BadKey), (404, NoSuchModel), (408, Unavailable),
        (409, Unavailable), (413, ContextTooLong), (418, Rejected), (500, Unavailable), (503, Overloaded),
        (529, Overloaded),
    )  # fmt: skip
    for status, kind in rows:
        vendor.fails(status)
        with pytest.raises(ProviderError, match=str(status)) as raised:
            await vendor.provider.complete(QUESTION)
        assert type(raised.value) is kind
        assert (raised.value.provider, raised.value.model) == (vendor.provider.name, vendor.sent["model"])
    assert len(vendor.server.requests) == len(rows)


async def test_a_prompt_that_is_too_long(vendor: Vendor) -> None:
    """What does not fit the model's window is told apart, for the bot can cut it."""
    vendor.mistakes = True
    vendor.server.window_tokens = 100
    with pytest.raises(ContextTooLong):
        await vendor.provider.complete(QUESTION)


async def _html(_: Seen) -> web.StreamResponse:
    return web.Response(text="<html>Sign in to the hotel's network</html>", content_type="text/html")


async def _half_surrogate(_: Seen) -> web.StreamResponse:
    return web.Response(body=b'{"content": "\\ud800"}', content_type="application/json")


async def test_an_answer_that_is_none(vendor: Vendor) -> None:
    """A connection that breaks and an answer of another shape are the same: try again, or ask another."""
    for fault in (
        cut_connection, cut_body, _html, _half_surrogate, answer_json({}), answer_json(None),
        answer_json({"content": [7], "choices": [7], "output": [{"type": "message", "content": [7]}]}),
        answer_json({"content": "words", "choices": [], "output": [{"type": "function_call"}]}),
        answer_json({"error": {"message": "upstream failed", "code": 502}}),
    ):  # fmt: skip
        vendor.server.faults.append(fault)
        with pytest.raises(Unavailable):
            await vendor.provider.complete(QUESTION)
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


async def test_a_server_that_does_not_speak_http_or_none_at_all() -> None:
    """The error is one of ours; a refused connection names its cause by class, unlike a bad certificate."""
    for kind in ("anthropic", "chat"):

        async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HELLO\r\n\r\n")
            await writer.drain()
            writer.close()

        listening = await asyncio.start_server(respond, "127.0.0.1", 0)
        server = server_of(kind)
        server.port = listening.sockets[0].getsockname()[1]
        async with aclosing(provider_of(kind, server)) as provider:
            with pytest.raises(Unavailable):
                await provider.complete(QUESTION)
            listening.close()
            await listening.wait_closed()
            with pytest.raises(Unavailable, match="ConnectionRefusedError"):
                await provider.complete(QUESTION)


async def _trickle(_: Seen) -> web.StreamResponse:
    async def drops() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    return web.Response(body=drops(), content_type="application/json")


async def _flood(_: Seen) -> web.StreamResponse:
    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1_000_000

    return web.Response(body=pieces(), content_type="application/json")


@pytest.mark.parametrize("vendor", ["anthropic", "chat"], indirect=True)
async def test_no_service_keeps_a_turn_with_what_never_ends(vendor: Vendor) -> None:
    """Nor the memory of everybody: the deadline would come much later."""
    vendor.server.faults.append(_flood)
    with pytest.raises(Unavailable, match="ReadError"):
        await vendor.provider.complete(QUESTION)


@pytest.mark.parametrize("fault", [hang, _trickle])
async def test_silence_ends_at_the_deadline(vendor: Vendor, fault: Answer) -> None:
    """The deadline holds for the whole answer, also for one that trickles in for ever; what it has cost is not told."""
    vendor.server.faults.append(fault)
    with pytest.raises(Unavailable, match=r"no answer in 0\.1 s") as raised:
        async with asyncio.timeout(
            WAIT_SECONDS
        ):  # so that a deadline that does not hold fails the test instead of hanging it
            await vendor.provider.complete(replace(QUESTION, timeout_seconds=0.1))
    assert raised.value.cost_usd is None
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


async def test_cancelling_is_clean(vendor: Vendor) -> None:
    """A cancelled request ends as cancelled, leaves no connection in use, and the provider goes on."""
    arrived = asyncio.Event()

    async def wait(seen: Seen) -> web.StreamResponse:
        arrived.set()
        return await hang(seen)

    vendor.server.faults.append(wait)
    asking = asyncio.create_task(vendor.provider.complete(QUESTION))
    await arrived.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await vendor.provider.complete(QUESTION)).stop is Stop.END


async def test_half_a_surrogate_pair_is_cleaned(vendor: Vendor) -> None:
    """Text that UTF-8 cannot hold, from a person or from a tool, is sent with a question mark in its place."""
    vendor.server.scripted(call("get_weather", {"place": "Oslo"}))
    request = replace(QUESTION, system="Hi \ud83d", messages=(UserMessage(text="cut emoji \ud83d here 😀"),))
    first = await vendor.provider.complete(request)
    completion = await vendor.provider.complete(followed_by(request, *answered(first.message, '{"x": "\udc00"}')))
    assert texts(completion) == ["You said: cut emoji ? here 😀"]


async def test_blocks_of_another_vendor_are_left_out(vendor: Vendor) -> None:
    """A turn that another vendor began goes on here without that vendor's blocks."""
    call_id = CallId("call_1")
    foreign = Opaque(vendor="elsewhere", data={"type": "thinking", "thinking": "", "signature": "theirs"})
    asked = ToolCall(id=call_id, name="get_weather", arguments={"place": "Oslo"})
    answer = ToolAnswer(call_id=call_id, name="get_weather", content='{"ok": true}', ok=True)
    request = followed_by(
        QUESTION,
        AssistantMessage(parts=(foreign,)),  # what nothing is left of is not sent as an empty message
        UserMessage(text="Hello?"),
        AssistantMessage(parts=(foreign, Text(text="I look."), asked)),
        ToolMessage(answers=(answer,)),
    )
    assert (await vendor.provider.complete(request)).stop is Stop.END
    assert "theirs" not in vendor.server.requests[-1].body.decode()


async def test_errors_and_logs_hold_no_word_of_anybody(vendor: Vendor, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever a service quotes from the prompt, neither the traceback nor a log at DEBUG repeats it, nor the key."""
    caplog.set_level(logging.DEBUG)
    vendor.fails(400, words=f"Invalid prompt: {SECRET}", code=f"weird code {SECRET}")
    vendor.server.faults.append(answer_json({"content": SECRET, "choices": SECRET, "output": SECRET}))
    vendor.server.scripted(say(SECRET))
    request = replace(QUESTION, system=SECRET, messages=(UserMessage(text=SECRET),))
    told = ""
    for _ in range(2):
        with pytest.raises(ProviderError) as raised:
            await vendor.provider.complete(request)
        told += "".join(traceback.format_exception(raised.value))
    await vendor.provider.complete(request)
    for text in (told, caplog.text):
        assert SECRET not in text
        assert str(vendor.server.key) not in text


async def test_vendors_learn_neither_who_asks_nor_on_what_machine(vendor: Vendor) -> None:
    """The conversation is a hash only; neither the system, the processor nor the Python that asks are said."""
    await vendor.provider.complete(replace(QUESTION, conversation="direct:+4915112345678"))
    assert "4915112345678" not in vendor.server.requests[-1].body.decode()
    headers = vendor.server.requests[-1].headers
    described = {"os", "arch", "runtime", "runtime-version", "lang"}
    assert not {f"x-stainless-{what}" for what in described} & {name.lower() for name in headers}
    assert not {platform.system(), platform.machine(), platform.python_version()} & set(headers.values())


ELSEWHERE = "from-the-environment"


@pytest.mark.parametrize("kind", ["anthropic", "chat", "responses"])
@pytest.mark.parametrize("key", ["test-key", ""])
async def test_the_environment_is_not_read(
    kind: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings alone decide: neither variables nor a profile in the home folder change address, key, account or
    headers, with a key and without one.

    Source: the packages anthropic 2.14.0 and openai 3.57.0 (read 2026-11-27); sashiko-dev/sashiko#202 and
    ogx-ai/ogx#6228 are programs that set or take such headers.
    """
    variables = {
        "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN OPENAI_API_KEY OPENAI_ADMIN_KEY": ELSEWHERE,
        "OPENAI_ORG_ID OPENAI_PROJECT_ID OPENAI_WEBHOOK_SECRET ANTHROPIC_WEBHOOK_SIGNING_KEY": ELSEWHERE,
        "ANTHROPIC_FEDERATION_RULE_ID ANTHROPIC_ORGANIZATION_ID ANTHROPIC_IDENTITY_TOKEN": ELSEWHERE,
        "ANTHROPIC_BASE_URL OPENAI_BASE_URL HTTP_PROXY HTTPS_PROXY ALL_PROXY": "http://127.0.0.1:1",
        "ANTHROPIC_CUSTOM_HEADERS OPENAI_CUSTOM_HEADERS": f"Authorization: Bearer {ELSEWHERE}\nX-Api-Key: {ELSEWHERE}\n"
        f"X-Other: {ELSEWHERE}\nContent-Type: {ELSEWHERE}",
        "ANTHROPIC_CONFIG_DIR": str(tmp_path),
    }
    for names, value in variables.items():
        for name in names.split():
            monkeypatch.setenv(name, value)
    profile = {"authentication": {"type": "user_oauth"}, "base_url": "http://127.0.0.1:1"}
    token = {"version": "1.0", "type": "oauth_token", "access_token": ELSEWHERE, "expires_at": 4_000_000_000}
    for folder, content in (("configs", profile), ("credentials", token)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "default.json").write_text(json.dumps(content), encoding="utf-8")
    server = server_of(kind)
    server.key = None
    async with server, aclosing(provider_of(kind, server, key)) as provider:
        await provider.complete(QUESTION)
        seen = server.requests[-1]
    assert ELSEWHERE not in str(seen.headers)
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["authorization"] == f"Bearer {key or ('' if kind == 'anthropic' else 'none')}".strip()


async def test_without_an_address_it_is_the_vendors_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address in the environment does not stand in for one that the settings leave out."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    async with (
        aclosing(Anthropic(AnthropicSettings(api_key=SecretStr("k"), model="m"))) as anthropic,
        aclosing(openai_of(api_key="k", model="m")) as openai,
    ):
        assert anthropic._client.base_url.host == "api.anthropic.com"
        assert not anthropic._client.open_telemetry["traces"]["enabled"]  # a tracer would add to the headers
        assert openai._client.base_url.host == "api.openai.com"


_words = st.text(st.characters(categories=("L", "N", "P", "Zs", "So", "Cs", "Cc")), min_size=1).filter(str.strip)
_json = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | _words, lambda inner: st.lists(inner, max_size=3))


@st.composite
def _rounds(draw: st.DrawFn, number: int) -> list[Message]:
    asked = [
        ToolCall(
            id=CallId(f"call-{number}-{place}"),
            name=draw(_words),
            arguments=draw(st.dictionaries(_words, _json, max_size=3)),
            malformed=draw(st.none() | _words),
        )
        for place in range(draw(st.integers(1, 3)))
    ]
    words = [Text(text=text) for text in draw(st.lists(_words, max_size=1))]
    return list(answered(AssistantMessage(parts=(*words, *asked)), content=draw(_words), ok=draw(st.booleans())))


@st.composite
def _conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    messages: list[Message] = []
    for _ in range(draw(st.integers(0, 3))):
        messages.extend(UserMessage(text=text) for text in draw(st.lists(_words, min_size=1, max_size=2)))
        for _ in range(draw(st.integers(0, 2))):
            messages.extend(draw(_rounds(len(messages))))
        messages.append(AssistantMessage(parts=(Text(text=draw(_words)),)))
    return (*messages, UserMessage(text=draw(_words)))


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(_conversations())
async def test_whatever_the_history_holds_is_taken(vendor: Vendor, messages: tuple[Message, ...]) -> None:
    """Any conversation that satisfies the history invariant is taken by every vendor, in every alphabet."""
    assert is_sendable(messages)
    await vendor.provider.complete(replace(QUESTION, messages=messages))


async def test_a_history_goes_out_alike_however_often_it_did(vendor: Vendor) -> None:
    """What a message becomes is made once, and nothing of a request stays in it: no neighbour, no mark of a cache."""
    talk = followed_by(QUESTION, UserMessage(text="Or in Bergen?"), UserMessage(text="Or in Lom?"))
    sent: list[object] = []
    for request in (talk, talk, replace(talk, messages=tuple(map(replace, talk.messages)))):
        await vendor.provider.complete(request)
        sent.append(vendor.sent)
    assert sent[0] == sent[1] == sent[2]
    rain = AssistantMessage(parts=(Text(text="It rains."),))
    more = followed_by(talk, rain, UserMessage(text="And now?"), rain, UserMessage(text="And tomorrow?"))
    for request in (more, replace(more, messages=tuple(map(replace, more.messages)))):
        await vendor.provider.complete(request)
        sent.append(vendor.sent)
    assert sent[3] == sent[4]
    made = wire.made_once(lambda message, quirks: [message.role, *quirks])
    assert made(frozenset()).of(rain) is made(frozenset()).of(rain)
    assert made(frozenset({"tools"})).of(rain) == ["assistant", "tools"]
