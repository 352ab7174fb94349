"""Which bridge to Signal answers at an address, and how old it is, before that costs the account."""

from datetime import UTC, date, datetime, timedelta

import pytest
from aiohttp import web

from bot.clock import SetClock
from bot.doctor.bridge import check_release
from bot.errors import ConfigError, Disconnected
from bot.signal.bridges import MAX_DAYS, WARN_DAYS, age_days, bridge_at
from bot.signal.protocol import Bridge, Release
from tests.servers.base import Seen, Server, hang
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi


class Other(Server):
    status = 404

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        return web.Response(text="hello", status=self.status)


async def test_each_bridge_is_known() -> None:
    """By what it alone answers, with any slash at the end; signal-cli over HTTP loses messages, which is said."""
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


async def test_a_wrong_address_is_named_as_such() -> None:
    """A socket asked by HTTP waits for ever, an HTTP server answers no line: each is named."""
    async with SignalCli(way="tcp") as server:
        with pytest.raises(Disconnected, match=r"no answer in time; .* tcp://host:port"):
            await bridge_at(server.url.replace("tcp:", "http:"), timeout_seconds=0.3)
    async with SignalRestApi() as server:
        with pytest.raises(Disconnected, match=r"nothing answers .* http://"):
            await bridge_at(server.url.replace("http:", "tcp:"))


# How old it is


def release(version: str, bridge: Bridge = "signal_cli") -> Release:
    return Release(bridge=bridge, version=version)


AGES = {
    "0.14.8": 67,
    "v0.14.8": 67,
    "0.14.8-SNAPSHOT": 67,
    "0.14.7.1": 67,  # as old as the next one that is known
    "0.14.9": 5,
    "0.14.10": 5,
    "0.13.24": 133,
    "0.14.11": 0,
    "unset": None,
    "latest": None,
    "9" * 5000: None,
}


def test_how_old_a_release_is_at_least() -> None:
    """By the day on which it, or the next one, was out; never guessed, and no clock before it makes it old."""
    today = date(2026, 11, 22)
    assert {version: age_days(release(version), today) for version in AGES} == AGES
    assert age_days(release("0.14.8"), date(1970, 1, 1)) == 0


def test_a_warning_comes_a_month_before_signal_may_drop_it() -> None:
    """From sixty days on a warning, from ninety on something urgent; an unknown version is named, no more."""
    out = datetime(2026, 9, 16, tzinfo=UTC)  # of signal-cli 0.14.8
    assert check_release(release("0.14.8"), SetClock(out + timedelta(days=WARN_DAYS - 1))) == []
    [near] = check_release(release("0.14.8"), SetClock(out + timedelta(days=WARN_DAYS)))
    assert (near.level, "0.14.8 is 60 days old or more; from 90 on" in near.words) == ("warning", True)
    [old] = check_release(release("0.14.8"), SetClock(out + timedelta(days=MAX_DAYS)))
    assert (old.level, "any day" in old.words) == ("problem", True)
    for unknown in (release(""), release("unset"), release("dev", "rest_api")):
        [concern] = check_release(unknown, SetClock(out))
        assert (concern.level, "no telling how old" in concern.words) == ("warning", True)
