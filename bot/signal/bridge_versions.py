"""The age of a bridge, and known problems of its version: warns weeks before Signal drops it.

Signal's own apps expire 90 days after they were built; from then on its server may change what older programs rely on,
and signal-cli says that its own releases may stop working after three months. That has cost accounts: when Signal began
to require a new key exchange (April 2026), every account behind a signal-cli older than 0.14.1 was unregistered.
Problems of features that Aldis does not use are left out: `receive` with `maxMessages: 1` skips messages in manual mode
(https://github.com/AsamK/signal-cli/issues/2055); Aldis subscribes.

Left to others: asking a bridge for its version (the transports, `bot.doctor.bridge`).

Source: the README, CHANGELOG and issues of AsamK/signal-cli and the tags of bbernhard/signal-cli-rest-api, read
2026-11-22. A release that is not listed counts as old as the next one that is; one newer than all of them counts as
fine.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

Bridge = Literal["signal_cli", "rest_api"]

WARN_DAYS = 60
"""From this age on the operator is told: that leaves a month to find an hour for it."""
MAX_DAYS = 90
"""From this age on Signal may drop a version at any time."""

Version = tuple[int, ...]

_NAMES: Mapping[Bridge, str] = {"signal_cli": "signal-cli", "rest_api": "signal-cli-rest-api"}

_OUT_BY: Mapping[Bridge, Mapping[Version, date]] = {
    "signal_cli": {
        (0, 14, 0): date(2026, 3, 1),
        (0, 14, 1): date(2026, 3, 8),
        (0, 14, 2): date(2026, 4, 4),
        (0, 14, 3): date(2026, 4, 22),
        (0, 14, 4): date(2026, 5, 23),
        (0, 14, 5): date(2026, 6, 11),
        (0, 14, 6): date(2026, 7, 12),
        (0, 14, 7): date(2026, 8, 16),  # in the Dockerfile of signal-cli-rest-api by then
        (0, 14, 8): date(2026, 9, 16),  # https://github.com/AsamK/signal-cli/issues/2121
        (0, 14, 10): date(2026, 11, 17),  # built by Alpine Linux 3.24
    },
    "rest_api": {
        (0, 98): date(2026, 3, 8),
        (0, 99): date(2026, 4, 26),
        (0, 100): date(2026, 6, 11),
        (0, 101): date(2026, 11, 21),  # wanted by signalbot 2.2.1 by then
    },
}
"""When each release was out: its date, or the first day on which it is known to have existed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A running bridge."""

    bridge: Bridge
    version: str
    """As it reports itself; empty or "unset" if it does not know."""

    @property
    def name(self) -> str:
        """Its name for people, with its version."""
        name = _NAMES[self.bridge]
        return f"{name} {self.version}" if self.version else f"{name} of unknown version"


@dataclass(frozen=True, kw_only=True, slots=True)
class Concern:
    """A problem of a version, present or near."""

    words: str
    """A sentence for the operator, without the full stop."""
    advice: str
    is_urgent: bool = False
    """Whether messages or the account itself can be lost today."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Flaw:
    """A known problem of signal-cli, from one version (included) to another (not included; None if not fixed yet)."""

    since: Version
    until: Version | None
    words: str
    """With a place for the `release`."""
    advice: str
    is_urgent: bool = False


_FLAWS = (
    _Flaw(
        since=(0,),
        until=(0, 14, 1),
        words=("{release} lacks what Signal has wanted since April 2026: accounts behind it are unregistered"),
        advice="install a newer signal-cli before anything else (AsamK/signal-cli #1993, #1997, #2004)",
        is_urgent=True,
    ),
    _Flaw(
        since=(0, 14, 0),
        until=(0, 14, 5),
        words=("{release} loses nearly every incoming message: since June 2026 it fails on what Signal's server sends"),
        advice="install 0.14.5 or later (AsamK/signal-cli #2059)",
        is_urgent=True,
    ),
    _Flaw(
        since=(0, 14, 3),
        until=(0, 14, 4),
        words="{release} hangs when it writes to somebody for the first time",
        advice="install a newer signal-cli (nanocoai/nanoclaw #3671)",
        is_urgent=True,
    ),
    _Flaw(
        since=(0, 14, 6),
        until=(0, 14, 8),
        words="the native build of {release} crashes or hangs when it sends to groups",
        advice="use the Java build, or 0.14.8 or later (AsamK/signal-cli #2101, #2113)",
    ),
)
"""Each with the issue that reports it."""


def warnings(release: Release, today: date) -> tuple[Concern, ...]:
    """Returns what the operator should know about this release, the urgent first."""
    known = _parsed(release.version)
    if known is None:
        words = f"{_NAMES[release.bridge]} does not report its version, so there is no telling how old it is"
        return (Concern(words=words, advice="run a released image or package of it"),)
    found = (*_flaws(release, known), *_age(release, today))
    return tuple(sorted(found, key=lambda concern: not concern.is_urgent))


def age_days(release: Release, today: date) -> int | None:
    """Returns how many days ago a release was out at the latest; None if unknown."""
    known = _parsed(release.version)
    if known is None:
        return None
    out_by = next((day for version, day in sorted(_OUT_BY[release.bridge].items()) if version >= known), None)
    return None if out_by is None else max(0, (today - out_by).days)


def _parsed(version: str) -> Version | None:
    found = re.match(r"v?(\d{1,4}(?:\.\d{1,4}){1,3})(?![\d.])", version)
    return tuple(map(int, found[1].split("."))) if found else None


def _flaws(release: Release, version: Version) -> Iterator[Concern]:
    for flaw in _FLAWS if release.bridge == "signal_cli" else ():
        is_there = flaw.since <= version and (flaw.until is None or version < flaw.until)
        if is_there:
            words = (flaw.words).format(release=release.name)
            yield Concern(words=words, advice=flaw.advice, is_urgent=flaw.is_urgent)


def _age(release: Release, today: date) -> Iterator[Concern]:
    days = age_days(release, today)
    if days is None or days < WARN_DAYS:
        return
    is_urgent = days >= MAX_DAYS
    values = {"release": release.name, "days": days}
    old = ("{release} is {days} days old or more; from {limit} on Signal may drop it, and the account with it").format(
        **values, limit=MAX_DAYS
    )
    yield Concern(
        words=("{release} is {days} days old or more: Signal may drop it any day, and the account with it").format(
            **values
        )
        if is_urgent
        else old,
        advice=f"install a newer {_NAMES[release.bridge]}; make a copy of its data folder first",
        is_urgent=is_urgent,
    )
