"""The list of tools: a line each for the model, and calls of the tools themselves for all else; and what is cached."""

from dataclasses import replace

from bot.messages import AssistantMessage, CallId, Message, Opaque, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage
from bot.models.base import Request, ToolOffer
from bot.models.caching import outlives_half_an_hour, plan
from bot.models.tool_list import NAME, own_calls, with_list
from tests.bot.chat.turn_helpers import calls

LOOK = ToolOffer(name="look", description="", parameters={}, line="look(at): looks")
BET = ToolOffer(name="bet", description="", parameters={}, line="bet(on): a bet")
MORE = ToolOffer(name=NAME, description="More:", parameters={})
ASKED = Request(
    system="You are Aldis.",
    messages=(UserMessage(text="Bet on it."),),
    tools=(LOOK, BET, MORE),
    may_call_tools=True,
    max_output_tokens=100,
    timeout_seconds=10,
    conversation="c1",
)


def test_a_call_by_the_list_is_one_of_the_tool() -> None:
    """However the model puts it; malformed if it is no object. A question, and what makes no sense, stays as it is."""
    for written, called in (
        ({"tool": "bet", "arguments": {"on": "rain"}}, ("bet", {"on": "rain"})),
        ({"tool": "bet", "arguments": '{"on": "rain"}'}, ("bet", {"on": "rain"})),
        ({"tool": "bet", "on": "rain"}, ("bet", {"on": "rain"})),
        ({"tool": "look", "arguments": {}}, ("look", {})),
        # Another name for a tool, or of none: the toolbox says so.
        ({"tool": "wager", "arguments": {}}, ("wager", {})),
        ({"tool": "bet"}, (NAME, {"tool": "bet"})),
        ({"tool": NAME, "arguments": {"tool": "bet"}}, (NAME, {"tool": "bet"})),
        ({"tool": NAME, "arguments": {"tool": "bet", "arguments": {"on": "rain"}}}, ("bet", {"on": "rain"})),
        ({"tool": NAME, "arguments": "bet"}, (NAME, {"tool": NAME, "arguments": "bet"})),
        ({"tool": ["bet"], "arguments": {}}, (NAME, {"tool": ["bet"], "arguments": {}})),
        ({}, (NAME, {})),
    ):
        completion = own_calls(calls((NAME, written)), ASKED)
        assert completion.message is not None
        assert [(call.name, call.arguments) for call in completion.message.calls] == [called]
    completion = own_calls(calls((NAME, {"tool": "bet", "arguments": "rain"})), ASKED)
    assert completion.message is not None
    assert [(call.name, call.malformed) for call in completion.message.calls] == [("bet", "rain")]
    unlisted = calls((NAME, {"tool": "bet", "arguments": {}}))
    assert own_calls(unlisted, replace(ASKED, tools=(LOOK,))) == unlisted


def test_what_was_called_before_goes_out_as_the_model_may_write_it() -> None:
    """With the same ids, and as the same objects in every request, so that caches know them again."""
    call = ToolCall(id=CallId("a"), name="bet", arguments={"on": "rain"})
    answer = ToolAnswer(call_id=CallId("a"), name="bet", content="{}", ok=True)
    past = (UserMessage(text="Bet."), AssistantMessage(parts=(call,)), ToolMessage(answers=(answer,)))
    request = replace(ASKED, messages=past)
    _, asked, answered = sent = with_list(request).messages
    assert isinstance(asked, AssistantMessage)
    assert isinstance(answered, ToolMessage)
    assert asked.calls == (replace(call, name=NAME, arguments={"tool": "bet", "arguments": {"on": "rain"}}),)
    assert answered.answers == (replace(answer, name=NAME),)
    assert all(one is again for one, again in zip(sent, with_list(request).messages, strict=True))
    question = AssistantMessage(parts=(replace(call, name=NAME, arguments={"tool": "bet"}),))
    assert with_list(replace(ASKED, messages=(question,))).messages == (question,)


def test_one_tool_tells_of_all() -> None:
    """Where there is a list; a few tools in full go out as they are."""
    [listing] = with_list(ASKED).tools
    assert (listing.name, listing.description) == (NAME, "More:\nlook(at): looks\nbet(on): a bet")
    few = replace(ASKED, tools=(replace(LOOK, description="Looks.", line=""),))
    assert with_list(few) is few


# What a request has its vendor's cache keep, and for how long, by the pauses of its chat

_MINUTE = 60_000


def _request(*messages: Message) -> Request:
    return replace(ASKED, tools=(LOOK,), messages=messages)


def _talk(*pauses: float) -> list[Message]:
    """Questions with so many minutes between them, each but the last answered."""
    at, messages = 1_795_000_000_000, list[Message]()
    for pause in pauses:
        messages += [UserMessage(text="Hm?", sent_at=(at,)), AssistantMessage(parts=(Text(text="Hm."),))]
        at += round(pause * _MINUTE)
    return [*messages, UserMessage(text="And?", sent_at=(at,))]


def _round(*parts: Opaque) -> list[Message]:
    call = ToolCall(id=CallId("a"), name="look", arguments={})
    answer = ToolAnswer(call_id=CallId("a"), name="look", content="{}", ok=True)
    return [AssistantMessage(parts=(*parts, call)), ToolMessage(answers=(answer,))]


def test_the_end_is_kept_as_long_as_people_pause() -> None:
    """An hour as soon as one of the last pauses was one that five minutes do not outlast and an hour does."""
    for pauses, life in (
        ((), "1h"),
        ((4, 4), "5m"),
        ((4.8,), "1h"),
        ((0.1, 45, 0.1), "1h"),
        ((90, 300), "5m"),
        ((90, 30, 300), "1h"),
        ((30, *[0.1] * 10), "5m"),
    ):
        assert {*(plan(_request(*_talk(*pauses))) or {}).values()} == {life}


def test_a_question_the_one_before_and_the_rounds_of_tools_are_marked() -> None:
    """The next turn begins at the question before, without thoughts; what is not read again is not kept."""
    messages = [*_talk(10), *_round()]
    assert plan(_request(*messages)) == {0: "1h", 2: "1h", 4: "1h"}
    thought = Opaque(vendor="anthropic", data={"type": "thinking"})
    assert plan(_request(*_talk(10), *_round(thought))) == {0: "1h", 2: "1h", 4: "5m"}
    request = _request(*_talk(10), *_round())
    assert plan(replace(request, is_one_off=True)) is None
    assert plan(replace(request, may_call_tools=False)) == {}


def test_half_an_hour_is_outlived_by_a_longer_pause() -> None:
    """OpenAI's caches live half an hour; old turns have no times, phones may be wrong, and nothing fails."""
    assert [outlives_half_an_hour(_talk(pause)) for pause in (5, 28, 45)] == [False, False, True]
    assert not outlives_half_an_hour(_talk())
    assert plan(_request(UserMessage(text="a"), *_talk()[1:], UserMessage(text="b"))) == {0: "1h", 1: "1h"}
    assert plan(_request(*_talk(-100, 0.1))) == {2: "5m", 4: "5m"}
