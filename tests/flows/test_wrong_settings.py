"""Settings that are misspelt or wrong: a real start refuses them, or a real doctor names them. None is silently taken.

Names that are slips of ours are in `tests/bot/test_settings.py` by the dozen; here are the dearest ones, and values.
"""

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.processes import Ended, started
from tests.servers import brave, serpapi, tavily
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli

CLAUDE = {"ANTHROPIC_API_KEY": "k"}
OPENAI = {"OPENAI_API_KEY": "k"}

REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "a budget with one underscore": ({"BUDGET_ALL_DAY_USD": "5"}, "BUDGET_ALL_DAY_USD"),
    "a misspelt group": ({"ACCES__ALLOWED": ALICE.uuid}, "ACCES__ALLOWED"),
    "a key by half its name": ({"ANTHROPIC_KEY": "k"}, "ANTHROPIC_KEY"),
    "the address as others call it": ({"OPENAI_API_BASE": "http://gpu/v1"}, "OPENAI_API_BASE"),
    "a tool that there is not": ({"TOOLS__WEATHR__ENABLED": "false"}, "TOOLS__WEATHR__ENABLED"),
    "a budget with its currency": ({"BUDGET__ALL_DAY_USD": "5 USD"}, "BUDGET__ALL_DAY_USD"),
    "a budget with a comma": ({"BUDGET__ALL_DAY_USD": "1,50"}, "BUDGET__ALL_DAY_USD"),
    "one price instead of two": ({"BUDGET__PRICES": "claude=3"}, "BUDGET__PRICES"),
    "a person by name": ({"ACCESS__ALLOWED": "Anna"}, "ACCESS__ALLOWED"),
    "a number without its country": ({"ACCESS__ALLOWED": "0170 1234567"}, "ACCESS__ALLOWED"),
    "everybody an admin": ({"ACCESS__ADMINS": "*"}, "ACCESS__ADMINS"),
    "a folder for the database": ({"STORE__PATH": "/"}, "STORE__PATH"),
    "half a master key": ({"STORE__KEY": "00" * 16}, "STORE__KEY"),
    "a key twice": ({**CLAUDE, "ANTHROPIC_API_KEY_FILE": "/run/key"}, "ANTHROPIC_API_KEY"),
    "a provider that there is not": ({"LLM__PROVIDERS": "claude"}, "LLM__PROVIDERS"),
    "an address without http": ({"OPENAI_BASE_URL": "localhost:11434"}, "OPENAI_BASE_URL"),
    "a bridge without http": ({"SIGNAL__URL": "signal:8080"}, "SIGNAL__URL"),
    "a city for a time zone": ({"LOCALE__TIMEZONE": "Berlin"}, "LOCALE__TIMEZONE"),
    "a port by name": ({"WEB__PORT": "http"}, "WEB__PORT"),
    "servers that are no JSON": ({"TOOLS__MCP__SERVERS": "{files: mcp-files}"}, "TOOLS__MCP__SERVERS"),
    "databases that are no JSON": ({"TOOLS__DB_QUERY__DATABASES": "shop"}, "TOOLS__DB_QUERY__DATABASES"),
    "a feed without http": ({"TOOLS__NEWS__FEEDS": "example.org/feed"}, "TOOLS__NEWS__FEEDS"),
    "a day in words": ({"INTAKE__MAX_AGE": "1d"}, "INTAKE__MAX_AGE"),
    "a stop that docker would not wait for": ({"WORKER__SHUTDOWN_SECONDS": "60"}, "WORKER__SHUTDOWN_SECONDS"),
}
"""What is set, and the variable that the refusal begins with."""

ALONE: tuple[tuple[dict[str, str], str], ...] = (
    ({"BUDGET__PRICES_FILE": "/nowhere/prices.json"}, "BUDGET__PRICES_FILE"),
    ({"STORE__KEY_FILE": "/nowhere/key"}, "STORE__KEY_FILE"),
    ({"TOOLS__APPROVE": "rememeber"}, "TOOLS__APPROVE"),
    ({"LLM__PROVIDERS": "openai"}, "LLM__OPENAI__API_KEY"),
    ({**OPENAI, "LLM__CHOICES": "anthropic/claude-haiku-5-5"}, "LLM__ANTHROPIC__API_KEY"),
    ({"WEB__HOST": "192.0.2.7", "WEB__PORT": "8787"}, "WEB__"),
    (
        {**CLAUDE, "LLM__ANTHROPIC__MODEL": "claude-of-next-year", "BUDGET__ALL_DAY_USD": "5"},
        "BUDGET__ALL_DAY_USD",
    ),
    (
        {**CLAUDE, "BUDGET__ALL_DAY_USD": "5", "AUDIO__BASE_URL": "http://127.0.0.1:9/v1"},
        "AUDIO__PRICE",
    ),
)
"""The same of what is found out only where all else is right."""

FILES = {
    "LOG_LEVEL=debug": "LOG_LEVEL",
    "MY_PASSWORD=x": "MY_PASSWORD",
    "budget__all_day_us=5": "BUDGET__ALL_DAY_US",
    "ANTHROPIC_BASE_URL=http://gateway": "ANTHROPIC_BASE_URL",
    "export ACCESS_ADMINS=+12025550123": "ACCESS_ADMINS",
}
"""What stands in `.env`, and the name that is refused."""


async def ended(verb: str, folder: Path, settings: Mapping[str, str]) -> Ended:
    async with started(verb, settings=settings, folder=folder) as process:
        return await process.ended()


def batches() -> list[tuple[dict[str, str], list[str]]]:
    """The settings that one start can refuse together, and the names that it says: none is set twice."""
    found: list[tuple[dict[str, str], list[str]]] = [(settings.copy(), [name]) for settings, name in ALONE]
    together: list[tuple[dict[str, str], list[str]]] = []
    for settings, name in REFUSED.values():
        place = next((batch for batch in together if not batch[0].keys() & settings and name not in batch[1]), None)
        if place is None:
            together.append(place := ({}, []))
        place[0].update(settings)
        place[1].append(name)
    return found + together


async def test_a_start_refuses(tmp_path: Path) -> None:
    """All that is wrong, in a line each that begins with the variable; the bridge is not asked, no database is made."""
    for settings, names in batches():
        refused = await ended("run", tmp_path, {"SIGNAL__URL": "http://127.0.0.1:9", **settings})
        assert (refused.status, refused.stdout) == (2, "")
        lines = refused.stderr.splitlines()
        assert len(lines) == len(names), refused.stderr
        assert [name for name in names if not any(line.startswith(f"aldis: {name}") for line in lines)] == []
    assert not (tmp_path / "aldis.db").exists()


async def test_a_start_refuses_what_stands_in_the_file(tmp_path: Path) -> None:
    """Every unknown name, in whatever case."""
    (tmp_path / ".env").write_text("".join(f"{line}\n" for line in FILES), encoding="utf-8")
    refused = await ended("run", tmp_path, {})
    assert refused.status == 2
    for name in FILES.values():
        assert f"aldis: {name}: there is no such setting" in refused.stderr
    assert refused.stderr.count("(it is set in .env)") == len(FILES)


async def test_a_start_refuses_a_port_that_is_taken(tmp_path: Path) -> None:
    """With the variable that says another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = await ended("run", tmp_path, {"WEB__PORT": str(taken.getsockname()[1])})
    assert (refused.status, refused.stderr.startswith("aldis: WEB__PORT: ")) == (2, True)


async def test_a_start_refuses_a_store_before_it_waits_for_the_bridge(tmp_path: Path) -> None:
    """Which may never come: nothing would say that even then nobody is answered."""
    (tmp_path / "aldis.db").write_bytes(b"no database" * 1000)
    refused = await ended("run", tmp_path, {"SIGNAL__URL": "http://127.0.0.1:9"})
    assert (refused.status, refused.stderr.startswith("aldis: the file is not a database")) == (2, True)


@dataclass
class World:
    """An outside in which everything answers, and the settings of an Aldis that is well."""

    folder: Path
    well: dict[str, str]
    model: AnthropicServer
    other: OpenAIServer
    addresses: dict[str, str]

    async def examined(self, **slips: str) -> Ended:
        given = {name: value.format(**self.addresses) for name, value in slips.items()}
        return await ended("doctor", self.folder, {**self.well, **given})


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with AsyncExitStack() as stack:
        signal = await stack.enter_async_context(SignalCli())
        model = await stack.enter_async_context(AnthropicServer())
        other = await stack.enter_async_context(OpenAIServer(local=True, models=("qwen3",)))
        services = [await stack.enter_async_context(kind()) for kind in (brave.Brave, tavily.Tavily, serpapi.SerpApi)]
        taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        well = {
            "SIGNAL__URL": signal.url,
            "ACCESS__ALLOWED": ALICE.uuid,
            "ANTHROPIC_API_KEY": model.key or "",
            "LLM__ANTHROPIC__BASE_URL": model.url,
        }
        addresses = {
            "model": model.url,
            "other": other.url,
            "brave": services[0].url,
            "tavily": services[1].url,
            "serpapi": services[2].url,
            "port": str(taken.getsockname()[1]),
            "folder": str(tmp_path),
        }
        yield World(tmp_path, well, model, other, addresses)


SEARCH = "TOOLS__WEB_SEARCH__"
NAMED: dict[str, tuple[Mapping[str, str], str]] = {
    "a wrong key of a model": ({"ANTHROPIC_API_KEY": "wrong-canary"}, "ANTHROPIC_API_KEY"),
    "an address with too much": ({"LLM__ANTHROPIC__BASE_URL": "{model}/v1"}, "LLM__ANTHROPIC__BASE_URL={model}\n"),
    "an address with too little": ({"OPENAI_BASE_URL": "{other}"}, "set LLM__OPENAI__BASE_URL={other}/v1"),
    "an unknown model": ({"LLM__ANTHROPIC__MODEL": "claude-hiaku-5-5"}, "did you mean claude-haiku-5-5?"),
    "a model of a vendor without a key": ({"LLM__OPENAI__MODEL": "gpt-6-sol"}, "LLM__OPENAI__MODEL has no effect"),
    "a server that is not there": (
        {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
        "LLM__OPENAI__BASE_URL or OPENAI_BASE_URL",
    ),
    "pictures without a key": ({"TOOLS__IMAGES__MODEL": "gpt-image-2"}, "TOOLS__IMAGES__API_KEY"),
    "a wrong key of Brave": (
        {"BRAVE_API_KEY": "wrong-canary", f"{SEARCH}BASE_URL": "{brave}/res/v1"},
        "BRAVE_API_KEY",
    ),
    "a wrong key of Tavily": (
        {"TAVILY_API_KEY": "wrong-canary", f"{SEARCH}TAVILY_BASE_URL": "{tavily}"},
        "TAVILY_API_KEY",
    ),
    "a wrong key of SerpApi": (
        {"SERPAPI_API_KEY": "wrong-canary", f"{SEARCH}SERPAPI_BASE_URL": "{serpapi}"},
        "SERPAPI_API_KEY",
    ),
    "a search service without its key": ({f"{SEARCH}PROVIDERS": "brave,wikipedia"}, f"{SEARCH}API_KEY"),
    "a tool to approve that there is not": ({"TOOLS__APPROVE": "rememeber"}, "did you mean remember?"),
    "a folder that cannot be written": ({"STORE__PATH": "/proc/1/aldis.db"}, "set STORE__PATH"),
    "another account than there is": ({"SIGNAL__ACCOUNT": "+12025550123"}, "(SIGNAL__ACCOUNT)"),
    "somebody whom nobody knows": ({"ACCESS__ALLOWED": "+12025550123"}, "ACCESS__ALLOWED: +12025550123 is not known"),
    "a group in which it is not": (
        {"ACCESS__GROUPS": "A" * 43 + "="},
        "the account is not in the group",
    ),
}
"""What is set in an Aldis that is well otherwise, and what a line that is no `ok` says of it."""


async def test_an_aldis_that_is_well_has_nothing_of_that(world: World) -> None:
    """So what is named below is named for what is wrong."""
    well = await world.examined()
    assert (well.status, "problem" in well.stdout) == (0, False), well.stdout


def part_of(variable: str) -> str:
    """The part of Aldis of which only one slip can be told at a time."""
    parts = {
        "model": ("ANTHROPIC_", "OPENAI_", "LLM__"),
        "bridge": ("SIGNAL__", "ACCESS__"),
        "audio": ("AUDIO__",),
        "images": ("TOOLS__IMAGES__",),
        "search": (f"{SEARCH}PROVIDERS", "BRAVE_"),
        "store": ("STORE__", "TOOLS__APPROVE"),
    }
    return next((part for part, prefixes in parts.items() if variable.startswith(prefixes)), variable)


async def test_the_doctor_names(world: World) -> None:
    """Each slip on a line that is no `ok`, or on the one below it; no key is shown, and no model is asked."""
    together: list[tuple[dict[str, str], list[str]]] = []
    for slips, words in NAMED.values():
        taken = part_of(next(iter(slips)))
        place = next((batch for batch in together if taken not in map(part_of, batch[0])), None)
        if place is None:
            together.append(place := ({}, []))
        place[0].update(slips)
        place[1].append(words.format(**world.addresses))
    for slips, wanted in together:
        found = await world.examined(**slips)
        lines = found.stdout.splitlines(keepends=True)
        told = [
            line + (lines[number + 1] if lines[number + 1 : number + 2] and "->" in lines[number + 1][:12] else "")
            for number, line in enumerate(lines)
            if line.startswith(("warning", "problem"))
        ]
        assert [words for words in wanted if not any(words in line for line in told)] == [], found.stdout
        assert "canary" not in found.stdout + found.stderr
    assert world.model.requests + world.other.requests == []


HIDES = """
import importlib.machinery, sys

class Without(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "asyncpg" else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Without
"""


async def test_the_doctor_names_an_extra_that_is_missing(world: World) -> None:
    """On a machine on which it is not installed."""
    (world.folder / "sitecustomize.py").write_text(HIDES, encoding="utf-8")
    databases = '{"shop": {"address": "postgresql://a:b@127.0.0.1/shop", "tables": {"sold": ["day"]}}}'
    path = f"{world.folder}:{Path(__file__).parent.parent.parent}"
    settings = {**world.well, "TOOLS__DB_QUERY__DATABASES": databases, "PYTHONPATH": path}
    async with started("doctor", settings=settings, folder=world.folder, is_warm=False) as process:
        found = await process.ended()
    said = found.stdout + found.stderr
    assert "TOOLS__DB_QUERY__DATABASES: needs the package asyncpg" in said, said
    assert "EXTRAS=postgres" in said
