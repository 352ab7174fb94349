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
    """By what each of them alone answers; a slash at the end of the address changes nothing. signal-cli over HTTP
    loses messages: the operator hears which ways lose none.
    """
    async with SignalCli() as server:
        assert await bridge_at(server.url) == "signal_cli"
        with pytest.raises(ConfigError, match=r"^SIGNAL__URL: .* over HTTP, .* --receive-mode=manual"):
            await bridge_at(server.http_url)
    async with SignalRestApi() as server:
        assert await bridge_at(server.url + "/") == "rest_api"


async def test_what_is_no_bridge_yet_is_asked_again() -> None:
    """A proxy in front of a bridge that still starts, no answer, no server; but another server is the operator's."""
    async with Other() as server:
        with pytest.raises(ConfigError, match=r"SIGNAL__URL.*404"):
            await bridge_at(server.url)
        server.status = 503
        with pytest.raises(Disconnected):
            await bridge_at(server.url)
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


async def test_an_address_that_is_none_is_the_operators_mistake() -> None:
    """A typing error is named as such."""
    addresses = ("", "signal-cli:8080", "http://signal-cli:port", "ftp://signal-cli", "unix://socket", "tcp://host")
    for address in addresses:
        with pytest.raises(ConfigError, match="SIGNAL__URL is not an address"):
            await bridge_at(address)
