"""Seldom tools: a line each for the model, and calls of the tools themselves for everybody else."""

from dataclasses import replace

from bot.messages import AssistantMessage, CallId, ToolAnswer, ToolCall, ToolMessage, UserMessage
from bot.models.base import Request, ToolOffer
from bot.models.more_tools import NAME, MoreTools, defer_tools
from tests.bot.chat.turn_helpers import Scripted, calls

LOOK = ToolOffer(name="look", description="Looks.", parameters={})
RARE = ToolOffer(name="bet", description="Bets a lot.", parameters={}, line="bet(on): a bet", is_deferred=True)
MORE = ToolOffer(name=NAME, description="More:", parameters={})
ASKED = Request(
    system="You are Aldis.",
    messages=(UserMessage(text="Bet on it."),),
    tools=(LOOK, RARE, MORE),
    may_call_tools=True,
    max_output_tokens=100,
    timeout_seconds=10,
    conversation="c1",
)


async def test_a_call_by_the_list_is_one_of_the_tool() -> None:
    """However the model puts it; a question about a tool, and what makes no sense, stays what it is."""
    for written, called in (
        ({"tool": "bet", "arguments": {"on": "rain"}}, ("bet", {"on": "rain"})),
        ({"tool": "bet", "arguments": '{"on": "rain"}'}, ("bet", {"on": "rain"})),
        ({"tool": "bet", "on": "rain"}, ("bet", {"on": "rain"})),
        ({"tool": "look", "arguments": {}}, ("look", {})),
        ({"tool": "bet"}, (NAME, {"tool": "bet"})),
        ({"tool": "nothing", "arguments": {}}, (NAME, {"tool": "nothing", "arguments": {}})),
        ({"tool": NAME, "arguments": {"tool": "bet"}}, (NAME, {"tool": NAME, "arguments": {"tool": "bet"}})),
        ({"tool": ["bet"], "arguments": {}}, (NAME, {"tool": ["bet"], "arguments": {}})),
        ({}, (NAME, {})),
    ):
        completion = await MoreTools(Scripted([calls((NAME, written))])).complete(ASKED)
        assert completion.message is not None
        assert [(call.name, call.arguments) for call in completion.message.calls] == [called]


async def test_arguments_that_are_no_object_are_malformed() -> None:
    """So that the toolbox says so, as to any other call."""
    completion = await MoreTools(Scripted([calls((NAME, {"tool": "bet", "arguments": "rain"}))])).complete(ASKED)
    assert completion.message is not None
    [call] = completion.message.calls
    assert (call.name, call.malformed) == ("bet", "rain")


async def test_what_was_called_before_goes_out_as_the_model_may_write_it() -> None:
    """With the same ids, and in every request alike, so that a cache knows it again."""
    call = ToolCall(id=CallId("a"), name="bet", arguments={"on": "rain"})
    answer = ToolAnswer(call_id=CallId("a"), name="bet", content="{}", ok=True)
    past = (UserMessage(text="Bet."), AssistantMessage(parts=(call,)), ToolMessage(answers=(answer,)))
    provider = Scripted([calls(("look", {}))])
    await MoreTools(provider).complete(replace(ASKED, messages=past))
    [request] = provider.requests
    _, asked, answered = request.messages
    assert isinstance(asked, AssistantMessage)
    assert isinstance(answered, ToolMessage)
    assert asked.calls == (replace(call, name=NAME, arguments={"tool": "bet", "arguments": {"on": "rain"}}),)
    assert answered.answers == (replace(answer, name=NAME),)


def test_messages_without_deferred_tools_stay_the_objects_that_they_are() -> None:
    """By that the adapters know the JSON that they have made of them, which is not made with each request."""
    call = ToolCall(id=CallId("a"), name="look", arguments={})
    answer = ToolAnswer(call_id=CallId("a"), name="look", content="{}", ok=True)
    past = (UserMessage(text="Look."), AssistantMessage(parts=(call,)), ToolMessage(answers=(answer,)))
    sent = defer_tools(replace(ASKED, messages=past)).messages
    assert all(one is other for one, other in zip(sent, past, strict=True))


def test_the_list_names_the_deferred_tools_and_only_the_others_are_told() -> None:
    """What is told in full is the same whatever is called."""
    request = defer_tools(ASKED)
    assert [offer.name for offer in request.told_tools] == ["look", NAME]
    assert request.told_tools[-1].description == "More:\n- bet(on): a bet"
