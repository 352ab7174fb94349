"""The bridge at `SIGNAL__URL`: which of the two it is, and how old its version is.

Signal's own apps expire 90 days after they were built, and signal-cli says that its releases may stop working then.
That has cost accounts: when Signal began to require a new key exchange (April 2026), every account behind a signal-cli
older than 0.14.1 was unregistered.

Source: signal-cli 0.14.6, `org.asamk.signal.http`; the README, CHANGELOG and issues of AsamK/signal-cli and the tags of
bbernhard/signal-cli-rest-api, read 2026-11-22.
"""

import asyncio
import re
from collections.abc import Mapping
from datetime import date
from http import HTTPStatus

import httpx

from bot.errors import ConfigError, Disconnected, SendUnknown
from bot.signal.json import parse_frame
from bot.signal.protocol import Bridge, Release
from bot.signal.signal_cli.rpc import Rpc
from tools import trusted_certificates, why_unreachable

WARN_DAYS = 60
MAX_DAYS = 90
"""The ages from which on the operator is warned, and from which on Signal may drop a version at any time."""

_OUT_BY: Mapping[Bridge, Mapping[tuple[int, ...], date]] = {
    "signal_cli": {
        (0, 14, 6): date(2026, 7, 12),
        (0, 14, 8): date(2026, 9, 16),  # https://github.com/AsamK/signal-cli/issues/2121
        (0, 14, 10): date(2026, 11, 17),  # built by Alpine Linux 3.24
    },
    "rest_api": {(0, 100): date(2026, 6, 11), (0, 101): date(2026, 11, 21)},
}
"""When each release was out, the oldest first, or the first day on which it is known to have existed. One that is not
listed counts as old as the next one that is, and one newer than all as fine."""


def age_days(release: Release, today: date) -> int | None:
    """Returns how many days ago a release was out at the latest; None if it does not report its version."""
    found = re.match(r"v?(\d{1,4}(?:\.\d{1,4}){1,3})(?![\d.])", release.version)
    if found is None:
        return None
    known = tuple(map(int, found[1].split(".")))
    out_by = next((day for version, day in _OUT_BY[release.bridge].items() if version >= known), today)
    return max(0, (today - out_by).days)


async def bridge_at(url: str, *, timeout_seconds: float = 10) -> Bridge:
    """Returns which bridge answers there. Raises `Disconnected` if none does yet, `ConfigError` if none ever will."""
    if url.startswith(("unix:", "tcp:")):
        try:
            await Rpc(url, seconds=timeout_seconds).version()
        except Disconnected as error:
            why = why_unreachable(error)
            if isinstance(error.__cause__, SendUnknown):
                why = f"{error.__cause__}; the address of an HTTP server begins with http://"
            raise Disconnected(f"nothing answers at SIGNAL__URL yet ({why}): is the bridge running?") from error
        return "signal_cli"
    verify = trusted_certificates()
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            httpx.AsyncClient(base_url=url, verify=verify, trust_env=False, timeout=timeout_seconds) as http,
        ):
            about = await http.get("/v1/about")
    except (httpx.HTTPError, TimeoutError) as error:
        why = f"{why_unreachable(error)}; a socket of signal-cli is written tcp://host:port"
        raise Disconnected(f"nothing answers at SIGNAL__URL yet ({why}): is the bridge running?") from error
    if about.status_code == HTTPStatus.OK and "mode" in parse_frame(about.text):
        return "rest_api"
    if about.is_server_error:
        raise Disconnected(f"what answers at SIGNAL__URL is not ready yet: HTTP {about.status_code}")
    raise ConfigError(
        f"SIGNAL__URL: no signal-cli-rest-api answers there (HTTP {about.status_code}); signal-cli's own daemon loses "
        "messages over HTTP, so start it with --socket or --tcp and --receive-mode=manual, and write its address as "
        "unix:///path or tcp://host:port"
    )
