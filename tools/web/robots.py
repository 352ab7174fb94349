"""Whether a site lets programs like Aldis read a page: checks its robots.txt, fetched once an hour.

    Robots.consent(address) -> None        the page can be read
                            -> Denied      the site says no
                            -> Unavailable the site cannot tell at present

A site without the file lets everybody in; a site whose server fails is left alone until it answers. Aldis reads pages
only because a person asked for them, and still obeys the rules for crawlers. The only home of protego.

Source: RFC 9309 (Robots Exclusion Protocol): at least 500 kB, statuses 4xx as if there were no file; protego 0.7.0
(BSD), whose time grows with the agents of a group times its rules: 100 kB of 3,000 each took it 48 s and 640 MB, and
1 MB of rules for one agent 0.9 s (measured 2026-11-27).
"""

import asyncio
import re
import time
from collections import OrderedDict
from http import HTTPStatus

from protego import Protego

from tools.errors import BadArguments, Denied, Unavailable
from tools.web.addresses import WebAddress
from tools.web.fetch import Fetcher

NAME = "aldis"
"""The name of Aldis in such a file."""

MAX_SITES = 16
"""The most cached sites; the least recently used goes first."""

REMEMBERED_SECONDS = 3_600.0

_MAX_BYTES = 1_000_000
"""The part beyond is not read; RFC 9309, 2.5, demands the first 500 KiB."""
_AGENT = re.compile(r"^[ \t]*user[- ]?agent[ \t]*:?[ \t]*(\*|[a-z_-]*)[^\n]*", re.IGNORECASE | re.MULTILINE)
"""A line that names a robot, and the name without its version or anything else that follows."""


def allows(text: str, target: str) -> bool:
    """Returns whether a robots.txt lets Aldis read a path with its query."""
    ours = _AGENT.sub(_renamed, text.replace("\r", "\n"))
    return Protego.parse(ours).can_fetch(f"https://site.example{target}", NAME)


def _renamed(line: re.Match[str]) -> str:
    """The line with one of three names: Aldis's, everybody's, or one for all others, however many there are."""
    name = line[1].lower()
    return f"User-agent: {name if name in {NAME, '*'} else 'another'}"


class Robots:
    """The files of sites, cached in memory for an hour."""

    def __init__(self, fetcher: Fetcher, *, timeout_seconds: float) -> None:
        self._fetcher = fetcher
        self._timeout_seconds = timeout_seconds
        self._remembered: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def consent(self, address: WebAddress) -> None:
        """Returns if the address can be read.

        Raises:
            Denied: the site's robots.txt forbids it.
            Unavailable: the site's server fails.
            ToolError: as `Fetcher.get`: the site cannot be reached, or must not be.
        """
        # The longest files take seconds, during which others must get their turn.
        if not await asyncio.to_thread(allows, await self._text(address), address.target):
            raise Denied("This site does not let programs read this page (its robots.txt says so).")

    async def _text(self, address: WebAddress) -> str:
        site, now = f"{address.scheme}://{address.authority}", time.monotonic()
        until, text = self._remembered.get(site, (now, ""))
        if now >= until:
            text = await self._fetch(f"{site}/robots.txt")
            until = now + REMEMBERED_SECONDS
        self._remembered[site] = until, text
        self._remembered.move_to_end(site)
        if len(self._remembered) > MAX_SITES:
            self._remembered.popitem(last=False)
        return text

    async def _fetch(self, url: str) -> str:
        """Returns the file; "" where there is none, or something else, such as a picture."""
        try:
            page = await self._fetcher.get(
                url, accept=("text/*",), max_bytes=_MAX_BYTES, timeout_seconds=self._timeout_seconds, cuts=True
            )
        except BadArguments:
            return ""
        if page.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable("The site's server fails, so that it is unknown whether the page may be read.")
        if not page.ok or page.content_type != "text/plain":
            return ""
        # A line that was cut could close more than the site wants.
        body = page.body if len(page.body) < _MAX_BYTES else page.body.rpartition(b"\n")[0]
        return body.decode("utf-8-sig", errors="replace")
