"""What models can do is asked of their servers beside the work, each in its own way, and kept."""

import asyncio
from dataclasses import replace
from decimal import Decimal

from bot.app.models import CapabilityProbe, lesson_of
from bot.chat.room import ContextRoom
from bot.doctor.models import TIMEOUT_SECONDS
from bot.models.capabilities import NOTHING, Capabilities, ModelLessons
from bot.models.prices import Price
from bot.settings import Settings, load_settings
from tests.bot.chat.turn_helpers import says
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import answer_json, hang
from tests.servers.model_hosts import ModelHost
from tests.servers.openai import OpenAIServer
from tests.waiting import eventually
from tools import Http

ANSWER = replace(says("Hi."), provider="openai", model="home-8b")
SOLD = Price(input=Decimal("0.3"), output=Decimal("1.2"))


def settings_of(server: OpenAIServer, *, model: str | None = "home-8b", **more: str) -> Settings:
    given = {"OPENAI_BASE_URL": server.base_url, **({"LLM__OPENAI__MODEL": model} if model else {}), **more}
    return load_settings(given, env_file=None)


async def learned(settings: Settings, lessons: ModelLessons, *, answered: bool = False) -> Capabilities:
    async with Http("aldis-test") as http:
        probe = CapabilityProbe(settings, http, lessons)
        probe.start()
        await asyncio.gather(*probe.aside.tasks)
        if answered:
            probe.on_answer(ANSWER)
            await asyncio.gather(*probe.aside.tasks)
        await probe.aside.aclose()
    return lesson_of(settings, lessons)(None).capabilities


HOME = Capabilities(window_tokens=8192, pictures=False, is_at_home=True)
LLAMA = HOME.model_copy(update={"tools": True})
OLLAMA = HOME.model_copy(update={"tools": True, "thinking": False})
HOSTS = (
    (ModelHost("vllm"), Capabilities(window_tokens=8192)),
    (ModelHost("llama_cpp"), LLAMA),
    (ModelHost("llama_cpp", sees=True, tools=False), LLAMA.model_copy(update={"pictures": True, "tools": False})),
    (ModelHost("lm_studio"), HOME),
    (ModelHost("lm_studio", is_loaded=False), HOME.model_copy(update={"window_tokens": 131_072})),
    (ModelHost("ollama"), OLLAMA),
    (
        ModelHost("ollama", is_loaded=False, num_ctx=16_384, tools=False),
        OLLAMA.model_copy(update={"window_tokens": 16_384, "tools": False}),
    ),
    (
        ModelHost("ollama", is_loaded=False, sees=True),
        OLLAMA.model_copy(update={"window_tokens": 131_072, "pictures": True}),
    ),
    (
        ModelHost("openrouter", tools=False),
        Capabilities(
            window_tokens=8192, max_output_tokens=2048, tools=False, pictures=False, thinking=True, price=SOLD
        ),
    ),
    (None, NOTHING),
)


async def test_each_server_is_understood() -> None:
    """What it gives the model counts before what the model was made for; also where the server chooses the model."""
    for host, expected in HOSTS:
        async with OpenAIServer(local=True, models=("embed-1", "home-8b"), host=host) as server:
            for name in ("home-8b", None):
                lessons = ModelLessons()
                assert await learned(settings_of(server, model=name), lessons) == expected
                assert lessons.of(server.base_url, "home-8b").capabilities == expected
            assert server.refused == []


async def test_claude_is_asked_by_its_name() -> None:
    """An alias is understood, too."""
    async with AnthropicServer(aliases={"claude-haiku": "claude-haiku-5-5"}, lacks=frozenset({"effort"})) as server:
        given = {"LLM__ANTHROPIC__BASE_URL": server.url, "LLM__ANTHROPIC__MODEL": "claude-haiku"}
        settings = load_settings({"ANTHROPIC_API_KEY": server.key or "", **given}, env_file=None)
        lessons = ModelLessons()
        told = await learned(settings, lessons)
        assert told == Capabilities(
            window_tokens=1_000_000,
            max_output_tokens=128_000,
            pictures=True,
            documents=True,
            thinking=True,
            effort=False,
        )
        assert ContextRoom(lesson_of(settings, lessons)).window_tokens(None) == 1_000_000


async def test_after_the_first_answer_it_is_asked_again() -> None:
    """A server at home gives a model less than it was made for, and says so only once it is loaded."""
    host = ModelHost("ollama", is_loaded=False)
    async with OpenAIServer(local=True, models=("home-8b",), host=host) as server:
        settings, lessons = settings_of(server), ModelLessons()
        assert (await learned(settings, lessons)).window_tokens == 131_072
        host.is_loaded = True
        assert (await learned(settings, lessons, answered=True)).window_tokens == 8192
        asked = len(server.looks)  # five times: the list, and what each kind of server may know besides
        async with Http("aldis-test") as http:
            probe = CapabilityProbe(settings, http, lessons)
            for _ in range(3):
                probe.on_answer(ANSWER)
            probe.on_answer(replace(ANSWER, provider="offline", model="offline"))
            await asyncio.gather(*probe.aside.tasks)
        assert len(server.looks) == asked + 5


async def test_a_wrong_answer_leaves_what_was_known() -> None:
    """So does a server that is down, or answers nothing."""
    async with OpenAIServer(local=True, models=("home-8b",), host=ModelHost("vllm")) as server:
        settings, lessons = settings_of(server), ModelLessons()
        known = await learned(settings, lessons)
        for body in ({"data": "many"}, [1], {"data": [None, {"id": ["home-8b"]}, {"id": "home-8b"}]}):
            server.look_faults += [answer_json(body)]
            assert await learned(settings, lessons) == known
    assert await learned(settings, lessons) == known


async def test_a_server_that_hangs_holds_up_no_end() -> None:
    """The questions end by themselves, and with the process."""
    async with OpenAIServer(local=True, models=("home-8b",)) as server, Http("aldis-test") as http:
        server.look_faults += [hang]
        probe = CapabilityProbe(settings_of(server), http, ModelLessons())
        probe.start()
        await eventually(lambda: server.look_faults == [])
        async with asyncio.timeout(TIMEOUT_SECONDS / 2):
            await probe.aside.aclose()
