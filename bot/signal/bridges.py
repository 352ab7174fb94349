"""The bridge at `SIGNAL__URL`: which of the two it is, and how old its version is.

Signal's own apps expire 90 days after they were built, and signal-cli says that its releases may stop working then.
That has cost accounts: when Signal began to require a new key exchange (April 2026), every account behind a signal-cli
older than 0.14.1 was unregistered.

Source: signal-cli 0.14.6, `org.asamk.signal.http`; the README, CHANGELOG and issues of AsamK/signal-cli and the tags of
bbernhard/signal-cli-rest-api, read 2026-11-22.
"""

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus

import httpx

from bot.errors import ConfigError, Disconnected, SendUnknown
from bot.signal.json import parse_frame
from bot.signal.protocol import BRIDGE_NAMES, Bridge, Release
from bot.signal.signal_cli.rpc import Rpc
from tools import trusted_certificates, why_unreachable

WARN_DAYS = 60
MAX_DAYS = 90
"""The ages from which on the operator is warned, and from which on Signal may drop a version at any time."""

Version = tuple[int, ...]

_OUT_BY: Mapping[Bridge, Mapping[Version, date]] = {
    "signal_cli": {
        (0, 14, 6): date(2026, 7, 12),
        (0, 14, 8): date(2026, 9, 16),  # https://github.com/AsamK/signal-cli/issues/2121
        (0, 14, 10): date(2026, 11, 17),  # built by Alpine Linux 3.24
    },
    "rest_api": {(0, 100): date(2026, 6, 11), (0, 101): date(2026, 11, 21)},
}
"""When each release was out, or the first day on which it is known to have existed. One that is not listed counts as
old as the next one that is, and one newer than all as fine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Concern:
    """A problem of a version, in words for the operator."""

    words: str
    advice: str
    is_urgent: bool = False
    """Whether messages or the account itself can be lost today."""


def warnings(release: Release, today: date) -> tuple[Concern, ...]:
    """Returns what the operator should know about this release."""
    if _parsed(release.version) is None:
        words = f"{BRIDGE_NAMES[release.bridge]} does not report its version, so there is no telling how old it is"
        return (Concern(words=words, advice="run a released image or package of it"),)
    days = age_days(release, today) or 0
    if days < WARN_DAYS:
        return ()
    is_urgent = days >= MAX_DAYS
    when = ": Signal may drop it any day" if is_urgent else f"; from {MAX_DAYS} on Signal may drop it"
    words = f"{release.name} is {days} days old or more{when}, and the account with it"
    advice = f"install a newer {BRIDGE_NAMES[release.bridge]}; make a copy of its data folder first"
    return (Concern(words=words, advice=advice, is_urgent=is_urgent),)


def age_days(release: Release, today: date) -> int | None:
    """Returns how many days ago a release was out at the latest; None if unknown."""
    known = _parsed(release.version)
    days = (day for version, day in sorted(_OUT_BY[release.bridge].items()) if known is not None and version >= known)
    out_by = next(days, None)
    return None if out_by is None else max(0, (today - out_by).days)


def _parsed(version: str) -> Version | None:
    found = re.match(r"v?(\d{1,4}(?:\.\d{1,4}){1,3})(?![\d.])", version)
    return tuple(map(int, found[1].split("."))) if found else None


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
    logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it logs every address, which can hold a password
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
