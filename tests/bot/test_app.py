"""Aldis put together: who may write, which model answers, which account, and how long one waits."""

import logging
from collections.abc import Callable, Mapping
from functools import partial

import pytest
from aiohttp import web

from bot.access.access import may_write
from bot.app import access_list, models, transports
from bot.app.tools import check_names, own_tools, user_agent
from bot.errors import ConfigError
from bot.events import Envelope
from bot.messages import UserMessage
from bot.models.base import Completion, Request
from bot.settings import Settings, load_settings
from bot.signal.rest_api.transport import RestApi, RestApiLinking
from bot.signal.signal_cli.transport import SignalCli, SignalCliLinking
from bot.web.admin.world import Wait
from tests.bot.loops.fake_transport import envelope
from tests.servers import signal_cli, signal_rest_api
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import Seen, Server
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, BOB, GROUP
from tests.servers.openai import OpenAIServer
from tests.servers.signal_server import SignalServer
from tests.surroundings import standalone_deps
from tests.tools.test_catalog import all_deps
from tests.waiting import DEADLINE_SECONDS


class Site(Server):
    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return web.json_response({})


def given(values: Mapping[str, str] | None = None, **more: str) -> Settings:
    return load_settings({**(values or {}), **more}, env_file=None)


# Who may write


def from_(author: str, group: str | None = None) -> Envelope:
    return envelope(author=author, chat=f"group:{group}" if group else None)


def test_those_allowed_and_the_admins_may_write() -> None:
    """Directly; in a group who is in one that is listed. Nobody else."""
    settings = given(ACCESS__ALLOWED=ALICE.uuid, ACCESS__ADMINS=BOB.uuid, ACCESS__GROUPS=GROUP)
    allowed = access_list(settings, "signal")
    assert may_write(from_(ALICE.uuid), allowed)
    assert may_write(from_(BOB.uuid), allowed)
    assert may_write(from_("stranger", GROUP), allowed)
    assert not may_write(from_("stranger"), allowed)
    assert not may_write(from_(ALICE.uuid, "another"), allowed)


# Which model answers


async def completion(settings: Settings, model: str | None = None) -> Completion:
    provider = models.provider(settings)
    try:
        return await provider.complete(
            Request(
                system="Be brief.",
                messages=(UserMessage(text="hello"),),
                tools=(),
                may_call_tools=False,
                max_output_tokens=256,
                timeout_seconds=DEADLINE_SECONDS,
                conversation="c1",
                model=model,
            )
        )
    finally:
        await provider.aclose()


async def test_the_first_of_the_list_or_the_one_that_is_chosen_answers() -> None:
    """Any of those listed, and the one of another provider; a name that is no longer listed means the first."""
    async with AnthropicServer() as first, OpenAIServer(local=True) as second:
        keys = {
            "ANTHROPIC_API_KEY": first.key or "",
            "LLM__ANTHROPIC__BASE_URL": first.url,
            "LLM__ANTHROPIC__EFFORT": "low",
            "OPENAI_BASE_URL": second.base_url,
            "LLM__OPENAI__MODEL": "llama",
        }
        for order, provider in (("openai,anthropic", "openai"), ("offline", "offline"), ("", "anthropic")):
            assert (await completion(given(keys, LLM__PROVIDERS=order))).provider == provider
        settings = given(keys, LLM__CHOICES="anthropic/claude-opus-5-5,openai/qwen/qwen-9")
        asked = ["anthropic/claude-opus-5-5", "openai/qwen/qwen-9", "openai/llama", "openai/gone", None]
        answered = [(await completion(settings, name)).model for name in asked]
    assert answered == ["claude-opus-5-5", "qwen/qwen-9", "llama", "claude-haiku-5-5", "claude-haiku-5-5"]
    assert all('"low"' in seen.body.decode() for seen in first.requests)


# Which bridge, which account


@pytest.mark.parametrize(
    ("server", "transport", "linking"),
    [(signal_cli.SignalCli(), SignalCli, SignalCliLinking), (signal_rest_api.SignalRestApi(), RestApi, RestApiLinking)],
)
async def test_the_bridge_is_asked_what_it_is(server: SignalServer, transport: type, linking: type) -> None:
    """And for its only account, where none is set; one of several is named."""
    async with server:
        for name, others in (("", []), (ACCOUNT, []), (ALDIS.uuid, []), (ACCOUNT, ["+15550100099"])):
            server.accounts = [*others, ACCOUNT]
            found = await transports.signal_transport(given(SIGNAL__URL=server.url, SIGNAL__ACCOUNT=name))
            assert isinstance(found, transport)
            assert (found.account, found.number) == (ALDIS.uuid, ACCOUNT)
            await found.aclose()
        link, accounts = await transports.linking_ready(given(SIGNAL__URL=server.url), transports.log_waits())
        assert isinstance(link, linking)
        assert len(accounts) == 2


ACCOUNTS = pytest.mark.parametrize(
    "build",
    [partial(signal_cli.SignalCli, tells_ids=False), signal_cli.SignalCli, signal_rest_api.SignalRestApi],
    ids=["signal_cli that lists numbers", "signal_cli", "rest_api"],
)


@ACCOUNTS
async def test_an_account_whose_id_the_bridge_does_not_tell(
    build: Callable[[], SignalServer], caplog: pytest.LogCaptureFixture
) -> None:
    """After some answers it is taken by its number: what comes meanwhile may be lost."""
    server = build()
    server.own = None
    with caplog.at_level(logging.WARNING, "bot.app.transports"):
        async with server:
            transport = await transports.signal_transport(given(SIGNAL__URL=server.url))
            assert (transport.account, transport.number) == (ACCOUNT, ACCOUNT)
            await transport.aclose()
    assert caplog.text.count("does not tell the account's id") == 1
    assert ACCOUNT not in caplog.text


@ACCOUNTS
async def test_an_account_that_is_not_clear_is_the_operators_choice(build: Callable[..., SignalServer]) -> None:
    """One that the bridge does not have, or one of several, named or not: the variable is named, no number is."""
    async with build() as server:
        for name, first, words in (
            ("+15550100098", ACCOUNT, "the bridge has another account"),
            (ALICE.uuid, ACCOUNT, "the bridge has another account"),
            ("", ACCOUNT, "the bridge has several accounts"),
            ("", ALDIS.uuid, "the bridge has several accounts"),
        ):
            server.accounts = [first, "+15550100099"]
            with pytest.raises(ConfigError, match=f"^SIGNAL__ACCOUNT: {words}") as refused:
                await transports.signal_transport(given(SIGNAL__URL=server.url, SIGNAL__ACCOUNT=name))
            assert "+1555" not in str(refused.value)


async def test_a_page_may_mend_what_is_not_clear() -> None:
    """While Aldis is being set up, an account or an address that cannot be used is awaited with its reason."""
    async with Site() as other, signal_cli.SignalCli(accounts=[ACCOUNT, "+15550100099"]) as server:
        for url, words in ((server.url, "the bridge has several accounts"), (other.url, "")):
            waits: list[str] = []

            def note(wait: Wait, waits: list[str] = waits) -> None:
                waits.append(wait.words)
                if len(waits) == 2:
                    raise InterruptedError

            with pytest.raises(InterruptedError):
                await transports.signal_transport(given(SIGNAL__URL=url), note, is_being_set_up=True)
            assert waits[0] == waits[1]
            assert words in waits[0]


# Tools


def test_tools_that_ask_first_are_named() -> None:
    """Also one of an MCP server, which tells its tools only while it runs; one that is none must not run unasked."""
    for approve, close in (
        ("all", ""),
        ("get_weather,calculate", ""),
        ("files_read", ""),
        ("remnid", "remind"),
        ("remind,weather", "get_weather"),
        ("ALL", "all"),
    ):
        settings = given(TOOLS__APPROVE=approve, TOOLS__MCP__SERVERS='{"files": {"command": "mcp-files"}}')
        own = own_tools(settings, all_deps())
        if not close:
            check_names(settings, own)
            continue
        words = f"is called {approve.rpartition(',')[2]}; did you mean {close}"
        with pytest.raises(ConfigError, match=f"^TOOLS__APPROVE: no tool that is switched on {words}"):
            check_names(settings, own)


def test_tools_can_be_switched_off() -> None:
    """All at once, or one by one."""
    around = all_deps()
    every = {tool.spec.name for tool in own_tools(given(), around)}
    assert {"calculate", "get_weather", "web_search", "web_fetch", "current_time"} <= every
    assert own_tools(given(TOOLS__ENABLED="false"), around) == ()
    fewer = {tool.spec.name for tool in own_tools(given(TOOLS__WEATHER__ENABLED="false"), around)}
    assert every - fewer == {"get_weather"}


def test_a_page_is_waited_for_no_longer_than_the_operator_lets_a_tool_take() -> None:
    """Opening it comes on top."""
    bounds: list[float] = []
    for seconds in (3, 60):
        tools = {tool.spec.name: tool for tool in own_tools(given(TOOLS__TIMEOUT_SECONDS=str(seconds)), all_deps())}
        bounds.append((tools["web_fetch"].spec.timeout_seconds or 0) - seconds)
    assert bounds[0] == bounds[1] > 0


async def test_services_hear_how_the_operator_can_be_reached_and_strangers_do_not() -> None:
    """The setting stands in what Aldis calls itself where an API is asked, not where a page is read."""
    contact = given(TOOLS__CONTACT="keeper@lamps.example").tools.contact
    async with standalone_deps(contact) as around, Site() as site:
        await around.http.get_json(site.url, service="Site", params={}, timeout_seconds=DEADLINE_SECONDS)
    assert [seen.headers["user-agent"] for seen in site.requests] == [user_agent(contact)]
    assert "keeper@lamps.example" in user_agent(contact)
    assert "@" not in str(around.fetcher._headers)
    assert user_agent().startswith("Aldis/")
