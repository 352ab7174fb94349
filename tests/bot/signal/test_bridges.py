"""Which bridge to Signal answers at an address, and how old it is, before that costs the account."""

from datetime import date, timedelta

import pytest
from aiohttp import web

from bot.errors import ConfigError, Disconnected
from bot.signal.bridges import MAX_DAYS, WARN_DAYS, age_days, bridge_at, warnings
from bot.signal.protocol import Bridge, Release
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
        with pytest.raises(Disconnected, match=r"nothing answers .* http://"):
            await bridge_at(server.url.replace("http:", "tcp:"))


async def test_an_address_that_is_none_is_the_operators_mistake() -> None:
    """A typing error is named as such."""
    addresses = ("", "signal-cli:8080", "http://signal-cli:port", "ftp://signal-cli", "unix://socket", "tcp://host")
    for address in addresses:
        with pytest.raises(ConfigError, match="SIGNAL__URL is not an address"):
            await bridge_at(address)


# How old it is


OUT = date(2026, 9, 16)
"""By when signal-cli 0.14.8 was out."""


def cli(version: str) -> Release:
    return Release(bridge="signal_cli", version=version)


def told(version: str, today: date, **more: bool) -> list[tuple[bool, str]]:
    return [(concern.is_urgent, concern.words) for concern in warnings(cli(version, **more), today)]


def test_the_age_is_told_a_month_before_signal_may_drop_it() -> None:
    """Nothing while it is young, a warning from sixty days on, something urgent from ninety on."""
    assert told("0.14.8", OUT + timedelta(days=WARN_DAYS - 1)) == []
    [(is_urgent, words)] = told("0.14.8", OUT + timedelta(days=WARN_DAYS))
    assert (is_urgent, "0.14.8 is 60 days old or more; from 90 on" in words) == (False, True)
    [(is_urgent, words)] = told("0.14.8", OUT + timedelta(days=MAX_DAYS))
    assert (is_urgent, "any day" in words) == (True, True)


@pytest.mark.parametrize(
    ("version", "days"),
    [
        ("0.14.8", 67),
        ("v0.14.8", 67),
        ("0.14.8-SNAPSHOT", 67),
        ("0.14.7.1", 67),  # as old as the next one that is known
        ("0.14.9", 5),
        ("0.14.10", 5),
        ("0.13.24", 133),
        ("0.14.11", None),
        ("unset", None),
        ("latest", None),
        ("9" * 5000, None),
    ],
)
def test_how_old_a_release_is_at_least(version: str, days: int | None) -> None:
    """By the day on which it, or the next one, was out; what nobody can know is not guessed."""
    assert age_days(cli(version), date(2026, 11, 22)) == days


def test_a_clock_before_the_release_makes_nothing_old() -> None:
    """Machines without a battery begin in 1970."""
    assert age_days(cli("0.14.8"), date(1970, 1, 1)) == 0
    assert told("0.14.8", date(1970, 1, 1)) == []


@pytest.mark.parametrize("bridge", ["signal_cli", "rest_api"])
@pytest.mark.parametrize("version", ["", "unset", "dev"])
def test_a_bridge_that_does_not_know_its_version(bridge: Bridge, version: str) -> None:
    """It is told as unknown, and no more."""
    [concern] = warnings(Release(bridge=bridge, version=version), date(2026, 11, 22))
    assert (concern.is_urgent, "no telling how old" in concern.words) == (False, True)
