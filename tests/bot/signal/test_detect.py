"""Which bridge to Signal answers at an address."""

import pytest
from aiohttp import web

from bot.errors import ConfigError, Disconnected
from bot.signal.bridges import bridge_at
from tests.servers.base import Seen, Server, hang
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi


class Other(Server):
    """Some other server: every path has the same answer."""

    status = 404

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return web.Response(text="hello", status=self.status)


async def test_each_bridge_is_known() -> None:
    """By what each of them alone answers; a slash at the end of the address changes nothing."""
    async with SignalCli() as server:
        assert await bridge_at(server.url) == "signal_cli"
    async with SignalRestApi() as server:
        assert await bridge_at(server.url + "/") == "rest_api"


async def test_signal_cli_over_http_is_refused() -> None:
    """There it loses messages, so the operator hears which ways lose none."""
    async with SignalCli() as server:
        with pytest.raises(ConfigError, match=r"^SIGNAL__URL: .* over HTTP, .* --receive-mode=manual"):
            await bridge_at(server.http_url)


async def test_another_server_is_the_operators_mistake() -> None:
    """The variable is named, and what it may be."""
    async with Other() as server:
        with pytest.raises(ConfigError, match=r"SIGNAL__URL.*404"):
            await bridge_at(server.url)


@pytest.mark.parametrize("status", [500, 503])
async def test_a_server_that_is_not_ready_is_asked_again(status: int) -> None:
    """A proxy in front of a bridge that still starts."""
    server = Other()
    server.status = status
    async with server:
        with pytest.raises(Disconnected):
            await bridge_at(server.url)


async def test_nothing_there_is_asked_again() -> None:
    """Neither a server that is down nor one that does not answer is a mistake in the settings."""
    async with Other() as server:
        server.faults.append(hang)
        with pytest.raises(Disconnected):
            await bridge_at(server.url, timeout_seconds=0.2)
    with pytest.raises(Disconnected):
        await bridge_at(server.url)


async def test_one_bridge_under_the_address_of_the_other_is_told() -> None:
    """A socket that is asked by HTTP waits for ever, and an HTTP server answers no line: each is told as what it is."""
    async with SignalCli(way="tcp") as server:
        with pytest.raises(Disconnected, match=r"no answer in time; .* tcp://host:port"):
            await bridge_at(server.url.replace("tcp:", "http:"), timeout_seconds=0.3)
    async with SignalRestApi() as server:
        with pytest.raises(Disconnected, match=r"not a signal-cli socket .* http://"):
            await bridge_at(server.url.replace("http:", "tcp:"))


@pytest.mark.parametrize("address", ["", "signal-cli:8080", "http://signal-cli:port", "ftp://signal-cli"])
async def test_an_address_that_is_none_is_the_operators_mistake(address: str) -> None:
    """A typing error is told as such."""
    with pytest.raises(ConfigError, match="SIGNAL__URL is not an address"):
        await bridge_at(address)
