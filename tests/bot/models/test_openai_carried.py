"""What servers of others give beside words and calls, and refuse the next request of the turn without."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import get_args

import pytest

from bot.messages import UserMessage
from bot.models.base import Provider, Request
from bot.models.capabilities import ModelLessons
from bot.models.openai import OpenAI
from tests.bot.models.vendors import QUESTION, answered, followed_by, stripped, texts
from tests.servers.openai import OpenAIServer
from tests.servers.openai_rules import Carried
from tests.servers.script import call, say, think

LOOKED = think("I need the weather of both places.") + call("get_weather", {"place": "Oslo"}) + call("current_time", {})


@asynccontextmanager
async def _opened(server: OpenAIServer, lessons: ModelLessons | None = None) -> AsyncIterator[Provider]:
    async with server:
        own = OpenAI(api_key="k", model="model-of-others", base_url=server.base_url, lessons=lessons)
        async with aclosing(own):
            yield own


async def _looked_twice(provider: Provider) -> Request:
    """A turn in which tools were called twice."""
    request = QUESTION
    for _ in range(2):
        request = followed_by(request, *answered((await provider.complete(request)).message))
    return request


@pytest.mark.parametrize("whose", [name for name in get_args(Carried) if name != "nothing"])
async def test_what_a_call_came_with_goes_back_with_it(whose: Carried) -> None:
    """Through all rounds of a turn; nothing is refused."""
    server = OpenAIServer(local=True, carries=whose).scripted(LOOKED, LOOKED, say("Both are cold."))
    async with _opened(server) as provider:
        completion = await provider.complete(await _looked_twice(provider))
    assert texts(completion) == ["Both are cold."]
    assert server.refused == []


@pytest.mark.parametrize("whose", ["deepseek", "kimi", "gemini"])
async def test_a_call_of_another_model_is_taken_after_one_refusal(whose: Carried) -> None:
    """What another made, or what came before a crash, has lost its thoughts: the server says so once, and never again,
    nor to another provider of this run.
    """
    server = OpenAIServer(local=True, carries=whose).scripted(LOOKED, say("Cold."), say("Cold."), say("Cold."))
    lessons = ModelLessons()
    async with _opened(server, lessons) as provider:
        turn = followed_by(QUESTION, *answered((await provider.complete(QUESTION)).message))
        turn = replace(turn, messages=stripped(turn.messages))
        for _ in range(2):
            assert texts(await provider.complete(turn)) == ["Cold."]
        assert len(server.refused) == 1
        again = OpenAI(api_key="k", model="model-of-others", base_url=server.base_url, lessons=lessons)
        async with aclosing(again):
            assert texts(await again.complete(turn)) == ["Cold."]
        assert len(server.refused) == 1


async def test_the_next_turn_of_deepseek_goes_without_thoughts() -> None:
    """The history keeps none; DeepSeek wants some with each call in it, and is given a blank after one refusal."""
    server = OpenAIServer(local=True, carries="deepseek").scripted(LOOKED, say("Cold."), say("Colder."))
    async with _opened(server) as provider:
        turn = followed_by(QUESTION, *answered((await provider.complete(QUESTION)).message))
        last = (await provider.complete(turn)).message
        assert last is not None
        history = (*stripped((*turn.messages, last)), UserMessage(text="And tomorrow?"))
        completion = await provider.complete(replace(QUESTION, messages=history))
    assert texts(completion) == ["Colder."]
    assert len(server.refused) == 1
    assert "weather of both" not in server.requests[-1].body.decode()


async def test_a_server_that_refuses_its_own_thoughts_is_not_sent_them() -> None:
    """It says so once; from then on they are left out."""
    server = OpenAIServer(local=True, carries="nothing").scripted(LOOKED, LOOKED, say("Both are cold."))
    async with _opened(server) as provider:
        completion = await provider.complete(await _looked_twice(provider))
    assert texts(completion) == ["Both are cold."]
    assert len(server.refused) == 1
