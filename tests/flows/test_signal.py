"""Whole stories in Signal: the bot as a process between the doubles of signal-cli, a model and the weather."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.outside import Outside
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import answer_json
from tests.servers.envelopes import ALDIS, ALICE, BOB, GROUP, message, quote_of
from tests.servers.open_meteo import OpenMeteo
from tests.servers.script import call, say
from tests.servers.signal_cli import SignalCli


@dataclass
class World(Outside[SignalCli, AnthropicServer]):
    weather: OpenMeteo

    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.number}",
            "ACCESS__GROUPS": GROUP,
            "TOOLS__WEATHER__BASE_URL": self.weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": self.weather.url,
        }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalCli() as signal, AnthropicServer() as model, OpenMeteo() as weather:
        yield World(signal, model, tmp_path, weather)


async def test_a_question_is_answered_with_a_tool_and_remembered(world: World) -> None:
    """A message comes in, is read, looked up and answered; the next one knows of it, also after a restart."""
    world.model.scripted(call("get_weather", {"place": "Hamlet"}), say("It is **3 degrees**."))
    async with world.running():
        asked = message("How cold is it in Hamlet?")
        await world.signal.deliver(asked)
        [answer] = await world.signal.sent_count(1)
        assert (answer.text, answer.recipient, answer.styles) == ("It is 3 degrees.", ALICE.uuid, ("6:9:BOLD",))
        assert answer.quote_timestamp is None
        assert await world.signal.first(world.signal.read, 1) == [(ALICE.uuid, asked["envelope"]["timestamp"])]
    async with world.running():
        await world.signal.deliver(message("And now?"))
        await world.signal.sent_count(2)
    last = world.model.requests[-1].json()["messages"]
    assert [entry["role"] for entry in last] == ["user", "assistant", "user", "assistant", "user"]
    assert "How cold" in str(last[0])
    assert world.model.refused == []


async def test_in_a_group_aldis_answers_who_addresses_it(world: World) -> None:
    """Mention, quote or name; the answer quotes the question. Talk among others is left alone."""
    async with world.running():
        await world.signal.deliver(message("just us", group=GROUP))
        await world.signal.deliver(message("what about the roses?", group=GROUP, mention=True))
        [mentioned] = await world.signal.sent_count(1)
        assert mentioned.group == GROUP
        assert mentioned.quote_author == ALICE.uuid
        quoted = quote_of(ALDIS, mentioned.timestamp, mentioned.text)
        await world.signal.deliver(message("and the tulips?", group=GROUP, author=BOB, quote=quoted))
        await world.signal.sent_count(2)
        await world.signal.deliver(message("Aldis, when?", group=GROUP))
        await world.signal.sent_count(3)
    assert len(world.model.requests) == 3
    assert "Alice" in world.model.requests[0].body.decode()
    assert "just us" not in world.model.requests[-1].body.decode()


async def test_the_model_is_down_and_comes_back(world: World) -> None:
    """People hear a sentence that helps, and the next message works."""
    down = answer_json({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}, 401)
    world.model.faults += [down]
    async with world.running():
        await world.signal.deliver(message("anybody there?"))
        [sorry] = await world.signal.sent_count(1)
        assert "has stopped working" in sorry.text
        await world.signal.deliver(message("and now?"))
        assert (await world.signal.sent_count(2))[1].text.startswith("You said:")
    assert "anybody there" not in world.model.requests[-1].body.decode()
