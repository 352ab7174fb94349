"""What fits a model's window: a small one is no dead end on any wire, and tools are left out or deferred."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import cast

import pytest

from bot.app.tools import own_tools
from bot.chat.prompt import labels_of
from bot.chat.room import OFFER_TOKENS, SIZES, ContextRoom
from bot.clock import SetClock
from bot.errors import ContextTooLong
from bot.messages import CallId, ToolAnswer, ToolMessage
from bot.models import tool_list
from bot.models.base import Provider, ToolOffer
from bot.models.wire import window_tokens
from bot.settings import load_settings
from store import Store
from tests.bot.chat.turn_helpers import Desk, Echo, Scripted, calls, says, toolbox, turn_settings
from tests.bot.models.vendors import NAMES, provider_of, server_of
from tests.conftest import NOON
from tests.servers.anthropic import AnthropicServer
from tests.servers.openai import OpenAIServer
from tests.servers.script import call, say
from tests.surroundings import standalone_deps


@pytest.fixture(params=NAMES)
async def wire(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Provider, AnthropicServer | OpenAIServer]]:
    async with server_of(request.param) as server, aclosing(provider_of(request.param, server)) as provider:
        yield provider, server


def _tools() -> tuple[Echo, ...]:
    """More than fit such a window, though each is but a line of forty tokens."""
    return tuple(Echo(name=f"echo_{number}", description="Gives back a word, " * 60) for number in range(80))


async def test_a_small_window_is_no_dead_end(
    store: Store, clock: SetClock, wire: tuple[Provider, AnthropicServer | OpenAIServer]
) -> None:
    """Long talk, many tools, a call with a long answer: every message is answered, and what was learnt stays."""
    provider, server = wire
    server.window_tokens = 3000
    there = Desk(store, clock, cast("Scripted", provider), _tools())
    refused = 0
    for number in range(6):
        outcome = await there.kept(f"question {number}: " + "and so on " * 150)
        assert (outcome.ok, "question" in outcome.text) == (True, True)
        if number == 0:
            refused = len(server.refused)
    assert 0 < refused <= len(SIZES)
    assert len(server.refused) <= refused + 2
    server.scripted(call("echo_0", {"word": "x" * 200, "times": 100}), say("Done."))
    assert (await there.kept("use echo_0")).text == "Done."


async def test_earlier_turns_that_only_a_shorter_request_holds_are_known_by_their_sources(
    store: Store, clock: SetClock
) -> None:
    """Without the tools that no longer fit, a turn is its question and answer, for which there is room."""
    script = [says("A."), says("B."), calls(("echo_0", {"word": "x", "times": 900})), *map(says, ("C.", "D.", "E."))]
    provider = Scripted([*script])
    there = Desk(store, clock, provider, (_tools()[0],), turn_settings(max_history_tokens=300))
    for _ in range(3):
        await there.kept()
    assert not labels_of((await there.kept()).messages).sources
    too_long = ContextTooLong("long", provider="p")
    too_long.window_tokens = 900
    provider.script.insert(0, too_long)
    [source] = labels_of((await there.kept()).messages).sources
    assert source.name == "echo_0"


def _offers(*names: str, size: int = 300) -> tuple[ToolOffer, ...]:
    return tuple(ToolOffer(name=name, description=f"{name} " * (size // len(name)), parameters={}) for name in names)


def test_tools_that_do_not_fit_are_left_out() -> None:
    """The one that calls the others stays, what is called in this turn, then the first."""
    room = ContextRoom()
    offers = _offers("chart", "convert", "news", "translate", "weather", tool_list.NAME)
    room.on_refusal("m", 14 * OFFER_TOKENS.of(offers[0]))  # so that some four tools fit
    few = room.offers(offers, SIZES[0], "m", called={"weather"})
    assert [offer.name for offer in few] == ["chart", "convert", "weather", tool_list.NAME]
    assert room.offers(offers, SIZES[-1], "m", called={"chart"}) == ()
    assert room.offers(offers, SIZES[0], "another", called=()) == offers


async def test_the_default_tools_fit_into_the_window_of_a_small_server() -> None:
    """All of them, in half of what llama.cpp and LM Studio give by default."""
    settings, room = load_settings({}, None), ContextRoom()
    async with standalone_deps(None) as around:
        offers = await toolbox(SetClock(NOON), *own_tools(settings, around)).offers()
    room.on_refusal("m", 4096)
    assert room.offers(offers, SIZES[0], "m", called=()) == offers


def test_a_known_window_sizes_history_and_answers() -> None:
    """So that nothing is refused again."""
    room = ContextRoom()
    room.on_refusal("m", 8000)
    assert room.output_tokens(4096, SIZES[0], "m") == 2000
    assert room.history_tokens(16_000, SIZES[0], "m", beside_tokens=5000) == 3000
    assert room.history_tokens(16_000, SIZES[0], "m", beside_tokens=9000) == 0
    assert room.history_tokens(16_000, SIZES[1], None, beside_tokens=9000) == 8000


def test_a_shortened_answer_is_still_an_answer() -> None:
    """With its beginning, under the label of what comes from outside."""
    answer = ToolAnswer(
        call_id=CallId("a"), name="fetch", content='{"ok": true, "untrusted_data": "' + "x" * 9000, ok=True
    )
    message = SIZES[-1].shorten(ToolMessage(answers=(answer,)))
    assert isinstance(message, ToolMessage)
    assert len(message.answers[0].content) < 1200
    assert '"untrusted_data"' in message.answers[0].content[:40]


def test_how_services_tell_their_window() -> None:
    """In their own words."""
    for words, tokens in (
        ("This model's maximum context length is 8192 tokens. However, you requested 9000", 8192),
        ("prompt is too long: 215000 tokens > 200000 maximum", 200_000),
        ("the request exceeds the available context size (9216 tokens), try increasing it", 9216),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length", 200_000),
        ("Input is too long.", None),
        ("maximum context length is 3 tokens", None),
    ):
        assert window_tokens(words) == tokens
