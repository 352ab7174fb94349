"""Reads one feed: fetches it only if it has changed, opens it in a cell, and puts it into plain words.

    what is known about it --validators--> 304, or the same bytes --------> nothing new
                                       '-> other bytes --> a cell --------> its articles
                                       '-> 410 --------------------------> gone for good
                                       '-> anything else, or no answer ---> trouble, in a word

Its content comes from a stranger, even if an admin chose it: only the public web is asked, sizes and times are bounded,
and it is opened in a process of its own.

Source: RFC 9110 (13.1, 15.4, 15.5.11, 10.2.3) and RFC 9111 (5.2.2.1); most feed servers answer conditional requests,
some ignore them, so the bytes are compared as well (2026-11).
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.media.cell import FileRefused
from bot.media.sandbox import Sandbox, check_facts
from tools import (
    BadArguments,
    Denied,
    FetchedPage,
    Fetcher,
    NotFound,
    TimedOut,
    TooLarge,
    ToolError,
    canonical_url,
    plain,
    shorten,
)

MAX_BYTES = 2_000_000
"""The largest feed that is read."""

GONE = "gone"
_FETCH_SECONDS = 30.0
_CELL_SECONDS = 20.0
_MAX_TITLE_CHARS = 300
_MAX_SUMMARY_CHARS = 800
_MAX_MARK_CHARS = 500
_ACCEPTED = ("application/atom+xml", "application/rss+xml", "application/xml", "application/*", "text/*", "")
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_WAITS = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})

_TROUBLES: tuple[tuple[type[ToolError], str], ...] = (
    (Denied, "denied"),
    (NotFound, "no_host"),
    (TimedOut, "slow"),
    (TooLarge, "too_large"),
    (BadArguments, "no_feed"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedValidators:
    """The validators of a feed, which its server wants back word for word, so that it need not send the same content
    again.
    """

    etag: str | None = None
    last_modified: str | None = None
    digest: bytes | None = None
    """A digest of the bytes that were read last, for servers that know neither of the two."""


def _plain(max_chars: int) -> AfterValidator:
    return AfterValidator(lambda words: shorten(plain(words), max_chars))


class Piece(BaseModel):
    """One article of a feed, in plain words; made of what a cell reports, see `bot.media.feed_parser`."""

    model_config = ConfigDict(frozen=True, val_temporal_unit="seconds")

    key: str = Field(min_length=1, max_length=64)
    """A short fingerprint of its id in the feed."""
    url: Annotated[str | None, AfterValidator(lambda url: url and canonical_url(url))]
    """In canonical form; None if it has none that leads anywhere."""
    title: Annotated[str, Field(max_length=1_000), _plain(_MAX_TITLE_CHARS)]
    summary: Annotated[str, Field(max_length=10_000), _plain(_MAX_SUMMARY_CHARS)]
    published_at: datetime | None
    """None if the feed does not say."""


class _Content(BaseModel):
    """What a cell reports about a feed."""

    title: Annotated[str, Field(max_length=1_000), _plain(_MAX_TITLE_CHARS)]
    ttl_minutes: int = Field(ge=0, le=1_000_000)
    entries: tuple[Piece, ...] = Field(max_length=100)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The result of asking for a feed: it has changed, or it has not, or there is `trouble`."""

    trouble: str = ""
    """`denied`, `no_host`, `slow`, `too_large`, `no_feed`, `unreadable`, `unreachable`, `status <number>`, or `gone`:
    its server says that it has ended for good."""
    url: str = ""
    """Where it is from now on: it may have moved permanently."""
    marks: FeedValidators = FeedValidators()
    is_changed: bool = False
    title: str = ""
    """Empty if it has none, or has not changed."""
    pieces: tuple[Piece, ...] = ()
    pause_seconds: float = 0.0
    """How many seconds it wants to be left alone at least; 0 if it does not say."""


class FeedReader:
    """Reads feeds on request."""

    def __init__(self, fetcher: Fetcher, sandbox: Sandbox) -> None:
        self._fetcher = fetcher
        self._sandbox = sandbox

    async def read(self, url: str, marks: FeedValidators) -> Reading:
        """Asks for what is new since `marks`. Raises nothing but cancellation; takes a minute at most."""
        try:
            page = await self._fetcher.get(
                url, accept=_ACCEPTED, max_bytes=MAX_BYTES, timeout_seconds=_FETCH_SECONDS, headers=_conditions(marks)
            )
        except ToolError as error:
            return Reading(trouble=next((word for kind, word in _TROUBLES if isinstance(error, kind)), "unreachable"))
        here, pause_seconds = page.moved_to or url, _pause_seconds(page)
        if page.status == HTTPStatus.NOT_MODIFIED and _conditions(marks):
            return Reading(url=here, marks=marks, pause_seconds=pause_seconds)
        if not page.ok:
            trouble = GONE if page.status == HTTPStatus.GONE else f"status {page.status}"
            return Reading(trouble=trouble, pause_seconds=pause_seconds)
        digest = hashlib.sha256(page.body).digest()[:16]
        fresh = FeedValidators(etag=_mark(page, "etag"), last_modified=_mark(page, "last-modified"), digest=digest)
        if digest == marks.digest:
            return Reading(url=here, marks=fresh, pause_seconds=pause_seconds)
        try:
            facts, _ = await self._sandbox.open(
                "feed_parser", page.body, page.url, page.charset or "", timeout_seconds=_CELL_SECONDS
            )
            found = check_facts(_Content, facts)
        except FileRefused:
            return Reading(trouble="unreadable", pause_seconds=pause_seconds)
        return Reading(
            url=here,
            marks=fresh,
            is_changed=True,
            title=found.title,
            pieces=found.entries,
            pause_seconds=max(pause_seconds, 60.0 * found.ttl_minutes),
        )


def _conditions(marks: FeedValidators) -> Mapping[str, str]:
    found = {"If-None-Match": marks.etag, "If-Modified-Since": marks.last_modified}
    return {name: value for name, value in found.items() if value is not None}


def _mark(page: FetchedPage, name: str) -> str | None:
    """A header to be sent back; None if it is missing or could not be sent unchanged."""
    value = page.headers.get(name, "")
    return value if value and len(value) <= _MAX_MARK_CHARS and value.isascii() and value.isprintable() else None


def _pause_seconds(page: FetchedPage) -> float:
    """Returns how many seconds the server wants to be left alone; 0 if it does not say."""
    if page.status in _WAITS:
        found = page.headers.get("retry-after", "")
        return float(found) if re.fullmatch(r"[0-9]{1,9}", found) else 0.0
    age = _MAX_AGE.search(page.headers.get("cache-control", ""))
    return float(age[1]) if age else 0.0
