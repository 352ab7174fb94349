"""Keys, addresses and names of models, looked at for nothing: each mistake is named with its variable."""

import re
from pathlib import Path

import pytest

from bot.doctor.findings import Finding, format_findings
from bot.settings.load import NAMES
from tests.bot.doctor.test_doctor import examined
from tests.ports import free_port
from tests.servers.anthropic import AnthropicServer
from tests.servers.model_hosts import ModelHost
from tests.servers.openai import OpenAIServer
from tests.servers.openai_audio import KEY as AUDIO_KEY
from tests.servers.openai_audio import OpenAIAudio
from tests.servers.openai_images import KEY as IMAGES_KEY
from tests.servers.openai_images import OpenAIImages
from tests.servers.script import call, say
from tests.servers.searches import Brave, SearXNG, SerpApi, Tavily

KEY = "test-key"


def wrong(findings: tuple[Finding, ...]) -> list[str]:
    """What is wrong with what to do, but for the bridge, what it leaves open, and what the tests' machine lacks."""
    passed = ("bridge:", "access:", "ACCESS__", "SQLite", "network: HTTP", "settings: not read")
    return [
        f"{finding.what} -> {finding.advice}"
        for finding in findings
        if finding.level in {"warning", "problem"} and not finding.what.startswith(passed)
    ]


async def test_a_wrong_key_or_name_is_found_for_nothing(tmp_path: Path) -> None:
    """At either vendor, of the first model and of one that people may choose; neither key is shown, no model asked."""
    slip = "claude-hiaku-5-5"
    async with AnthropicServer() as anthropic, OpenAIServer() as openai:
        given = {
            "ANTHROPIC_API_KEY": "wrong-canary",
            "LLM__ANTHROPIC__BASE_URL": anthropic.url,
            "LLM__ANTHROPIC__MODEL": slip,
            "LLM__CHOICES": "openai/gpt-6-lunar",
            "OPENAI_API_KEY": "wrong-canary",
            "OPENAI_BASE_URL": openai.base_url,
            "LLM__OPENAI__MODEL": "gpt-6-sol",
        }
        ill = await examined(tmp_path, given)
        named = wrong(await examined(tmp_path, given | {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}))
        assert anthropic.requests + openai.requests == []
    assert wrong(ill) == [
        "models: anthropic refuses the key -> correct LLM__ANTHROPIC__API_KEY or ANTHROPIC_API_KEY",
        "models: openai refuses the key -> correct LLM__OPENAI__API_KEY or OPENAI_API_KEY",
    ]
    assert "canary" not in format_findings(ill)
    assert named == [
        f"models: anthropic has no model {slip}; did you mean claude-haiku-5-5? -> correct LLM__ANTHROPIC__MODEL",
        "models: openai does not list the model gpt-6-lunar; did you mean gpt-6-luna? -> correct LLM__CHOICES",
    ]


async def test_an_address_without_v1_is_told(tmp_path: Path) -> None:
    """And one with it, where it does not belong."""
    async with AnthropicServer() as anthropic, OpenAIServer(local=True) as openai:
        given = {
            "ANTHROPIC_API_KEY": KEY,
            "LLM__ANTHROPIC__BASE_URL": f"{anthropic.url}/v1",
            "OPENAI_BASE_URL": openai.url,
        }
        found = wrong(await examined(tmp_path, given))
    unlisted = "answers, but lists no models, so key and model were not tried"
    assert found == [
        f"models: anthropic at {anthropic.url}/v1 {unlisted} -> does LLM__ANTHROPIC__BASE_URL end without /v1?",
        f"models: openai at {openai.url} {unlisted} -> does LLM__OPENAI__BASE_URL or OPENAI_BASE_URL end with /v1?",
    ]


async def test_a_model_that_is_known_and_not_listed(tmp_path: Path) -> None:
    """An alias of Anthropic's, and a name without its tag at Ollama, are no mistakes."""
    async with AnthropicServer(aliases={"claude-haiku": "claude-haiku-5-5"}) as anthropic:
        given = {
            "ANTHROPIC_API_KEY": KEY,
            "LLM__ANTHROPIC__BASE_URL": anthropic.url,
            "LLM__ANTHROPIC__MODEL": "claude-haiku",
        }
        assert wrong(await examined(tmp_path, given)) == []
    async with OpenAIServer(local=True, models=("qwen3:latest",)) as ollama:
        given = {"OPENAI_BASE_URL": ollama.base_url, "LLM__OPENAI__MODEL": "qwen3"}
        assert wrong(await examined(tmp_path, given)) == []


@pytest.mark.parametrize("is_contained", [True, False])
async def test_loopback_in_a_container_is_the_container(tmp_path: Path, *, is_contained: bool) -> None:
    """Whatever listens on the machine itself is to be named otherwise; outside a container that would be no advice."""
    port = free_port()
    given = {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "AUDIO__BASE_URL": f"http://localhost:{port}/v1",
        "TOOLS__IMAGES__BASE_URL": f"http://[::1]:{port}/v1",
        "TOOLS__WEB_SEARCH__SEARXNG_BASE_URL": f"http://localhost:{port}",
    }
    examination = await examined(tmp_path, given, is_contained=is_contained)
    [bridge] = [one for one in examination if one.what.startswith("bridge:") and one.level == "problem"]
    assert ("host.docker.internal" in bridge.advice) == is_contained
    assert "SIGNAL__URL" in bridge.advice
    found = wrong(examination)
    assert len(found) == 4
    variables = ("OPENAI_BASE_URL", "AUDIO__BASE_URL", "TOOLS__IMAGES__BASE_URL", "TOOLS__WEB_SEARCH__SEARXNG_BASE_URL")
    for line, variable in zip(found, variables, strict=True):
        assert variable in line
        assert ("host.docker.internal" in line) == is_contained


async def test_speech_and_pictures_are_looked_at(tmp_path: Path) -> None:
    """Reachable with the right key; wrong keys, addresses and names are each told."""
    async with OpenAIAudio() as audio, OpenAIImages() as images:
        right = {
            "AUDIO__BASE_URL": f"{audio.url}/v1",
            "AUDIO__API_KEY": AUDIO_KEY,
            "AUDIO__SPEAK": "true",
            "TOOLS__IMAGES__BASE_URL": images.base_url,
            "TOOLS__IMAGES__API_KEY": IMAGES_KEY,
        }
        unlisted = "the server does not list the model"
        for slips, told in (
            ({}, []),
            (
                {"AUDIO__API_KEY": "no", "TOOLS__IMAGES__API_KEY": "no"},
                [
                    "audio: the server refuses the key -> correct AUDIO__API_KEY",
                    "images: the server refuses the key -> correct TOOLS__IMAGES__API_KEY",
                ],
            ),
            (
                {"AUDIO__MODEL": "wisper-1", "TOOLS__IMAGES__MODEL": "gpt-image-3"},
                [
                    f"audio: {unlisted} wisper-1; did you mean whisper-1? -> correct AUDIO__MODEL",
                    f"images: {unlisted} gpt-image-3; did you mean gpt-image-2? -> correct TOOLS__IMAGES__MODEL",
                ],
            ),
        ):
            offline, *found = wrong(await examined(tmp_path, right | slips))
            assert offline.startswith("models: no key is set, so only the offline model answers -> ")
            assert len(found) == len(told)
            assert all(line.endswith(words) for line, words in zip(found, told, strict=True)), found


async def test_the_doctor_names_only_variables_that_there_are(tmp_path: Path) -> None:
    """Whatever is wrong: who follows its advice is not refused at the next start."""
    given = {
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_API_KEY": "no",
        "LLM__ANTHROPIC__BASE_URL": "http://127.0.0.1:9",
        "AUDIO__SPEAK": "true",
        "BUDGET__ALL_DAY_USD": "1",
        "ACCESS__STRANGERS": "pair",
    }
    for more in ({}, {"TOOLS__ENABLED": "false"}, {"AUDIO__BASE_URL": "http://127.0.0.1:9"}):
        text = format_findings(await examined(tmp_path, {**given, **more}), is_verbose=True)
        for name in re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*__[A-Z0-9_]+\b", text):
            assert name in NAMES, name


async def test_a_password_in_an_address_is_not_shown(tmp_path: Path) -> None:
    """Neither where the server answers, nor where it does not, nor in what to set."""
    async with OpenAIServer(local=True) as server:
        host = server.url.removeprefix("http://")
        for address in (f"http://me:canary@{host}/v1", f"http://me:canary@{host}", "http://me:canary@127.0.0.1:9/v1"):
            given = {
                "OPENAI_BASE_URL": address,
                "AUDIO__BASE_URL": address,
                "SIGNAL__URL": "http://me:canary@127.0.0.1:9",
            }
            text = format_findings(await examined(tmp_path, given))
            assert "canary" not in text
            assert "//...@127.0.0.1" in text


async def test_a_server_without_a_parser_of_calls_is_named(tmp_path: Path) -> None:
    """What its model writes comes as words: the finding names the flag."""
    async with OpenAIServer(local=True) as server:
        given = {"OPENAI_BASE_URL": server.base_url}
        server.scripted(say('<tool_call>{"name": "ping", "arguments": {}}</tool_call>'), call("ping", {}))
        [line] = [line for line in wrong(await examined(tmp_path, given, asks_models=True)) if "answered as" in line]
        assert "but called no tool -> start the server with its parser of calls (vLLM: --enable-auto-tool" in line
        [well] = [one for one in await examined(tmp_path, given, asks_models=True) if "answered as" in one.what]
        assert (well.level, "at an unknown cost" in well.what) == ("ok", True)


async def test_what_a_server_says_of_a_model_is_named(tmp_path: Path) -> None:
    """A window as Ollama's own setting gives it at first; the end of a model, with the day if one is planned."""
    host = ModelHost("ollama", is_loaded=False, num_ctx=4096)
    async with OpenAIServer(local=True, models=("home-8b",), host=host) as server:
        given = {"OPENAI_BASE_URL": server.base_url, "LLM__OPENAI__MODEL": "home-8b"}
        [line] = wrong(await examined(tmp_path, given))
        assert line.startswith("models: openai gives home-8b a window of only 4,096 tokens, so it soon forgets -> give")
    async with AnthropicServer(retires={"claude-opus-4-5": "", "claude-sonnet-4-5": "2026-11-30T00:00:00Z"}) as server:
        given = {"ANTHROPIC_API_KEY": KEY, "LLM__ANTHROPIC__BASE_URL": server.url}
        for model, when in (("claude-sonnet-4-5", "on 2026-11-30"), ("claude-opus-4-5", "soon (no day is given yet)")):
            [line] = wrong(await examined(tmp_path, {**given, "LLM__ANTHROPIC__MODEL": model}))
            assert f"{model} is deprecated; it stops answering {when} -> set LLM__ANTHROPIC__MODEL" in line
        assert wrong(await examined(tmp_path, {**given, "LLM__ANTHROPIC__MODEL": "claude-haiku-5-5"})) == []


GROUP = "TOOLS__WEB_SEARCH__"
SERVICES = {
    "Brave Search": (Brave, "API_KEY", "BASE_URL", "/res/v1"),
    "Tavily": (Tavily, "TAVILY_API_KEY", "TAVILY_BASE_URL", ""),
    "SerpApi": (SerpApi, "SERPAPI_API_KEY", "SERPAPI_BASE_URL", ""),
}


async def test_a_key_is_tried_for_nothing(tmp_path: Path) -> None:
    """Nothing is searched for, and the right key is not called wrong."""
    for name, (kind, key_variable, address_variable, path) in SERVICES.items():
        async with kind() as service:
            given = {f"{GROUP}{address_variable}": service.url + path, f"{GROUP}{key_variable}": kind.KEY}
            well = await examined(tmp_path, given)
            ill = await examined(tmp_path, given | {f"{GROUP}{key_variable}": "wrong-canary"})
            assert not [seen for seen in service.requests if seen.query.get("q") or seen.body]
        assert f"ok       search: {name} answers\n" in format_findings(well)
        [line] = [line for line in wrong(ill) if line.startswith("search:")]
        assert line.startswith(f"search: {name} refuses the key -> correct {GROUP}{key_variable} or ")
        assert "canary" not in format_findings(ill)


async def test_a_searxng_is_asked_for_nothing(tmp_path: Path) -> None:
    """Whether it answers in JSON shows without a search."""
    async with SearXNG() as server:
        given = {f"{GROUP}SEARXNG_BASE_URL": server.url}
        assert "ok       search: SearXNG answers\n" in format_findings(await examined(tmp_path, given))
        server.formats = ("html",)
        lines = wrong(await examined(tmp_path, given))
        assert any("SearXNG does not answer in JSON" in line for line in lines)
        server.refusal = 401  # of a proxy in front; there is no key that could be set
        lines = wrong(await examined(tmp_path, given))
        assert any("status 401" in line and "SEARXNG_BASE_URL" in line for line in lines)
        elsewhere = wrong(await examined(tmp_path, {f"{GROUP}SEARXNG_BASE_URL": f"{server.url}/elsewhere"}))
        assert any("SearXNG answers with something else" in line and "SEARXNG_BASE_URL" in line for line in elsewhere)
