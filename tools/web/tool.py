"""The tool `web_fetch`: reads a web page or PDF piece by piece.

    address --allowed in this turn? (the bot)--> robots.txt --> guarded fetch --> HTML, text or JSON --> text
                                                                             '--> a PDF, by its bytes --> text

Left to others: which addresses a turn can ask for (`bot.trust.rules`), where an address really leads (`fetch`).

A site without a robots.txt lets everybody in; a site whose server fails is left alone until it answers. Aldis reads
pages only because a person asked for them, and still obeys the rules for crawlers.

Source: RFC 9309 (Robots Exclusion Protocol): at least 500 kB, statuses 4xx as if there were no file; protego 0.7.0
(BSD), whose time grows with the agents of a group times its rules: 100 kB of 3,000 each took it 48 s and 640 MB, and
1 MB of rules for one agent 0.9 s (measured 2026-11-27).
"""

import asyncio
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from protego import Protego
from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, Denied, NotFound, RateLimited, TooLarge, ToolError, Unavailable
from tools.web.addresses import MAX_CHARS as MAX_URL_CHARS
from tools.web.addresses import WebAddress
from tools.web.fetch import FetchedPage, Fetcher
from tools.web.papers import PageKind, PageText, Papers

_MAX_CHARS = 6_000
"""How many characters of a page or a PDF the model reads at a time."""
_MIN_CHARS = 200
_USUAL_SECONDS = 15.0
"""The time limit for fetching a page and its site's robots.txt, redirects included, unless a model names another."""
_OPEN_SECONDS = 25.0
MAX_BYTES = 15_000_000
_MAX_MOVES = 2
_HARDLY_ANY_CHARS = 300
"""A page with a password field, or one that sends browsers on, and no more text than this shows nothing by itself."""
_WAITS_FOR_SCRIPT = re.compile(r"^\W*$|javascript|^\W*(?:loading|please wait)\W*$", re.IGNORECASE)
"""The text of a page that is nothing without its scripts; any other short page is just short."""
_MAX_LINKS = 25
_MAX_LINK_CHARS = 200
_OTHER_CHARS = 16_000
"""Space in a result for everything but the text: addresses, title, links, in JSON."""
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_NAMED_PDF = "application/pdf"
_UNNAMED = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown"})
_ACCEPTED = ("text/html", "application/xhtml+xml", "text/*", "application/*", "*+xml", "*+json", "")
_PDF = b"%PDF-"
_PDF_BYTES = 1_024
"""The marker of a PDF is within these bytes. Source: the implementation notes of ISO 32000, H.3."""
_BLANK_BYTES = b"\xef\xbb\xbf\x00 \t\r\n"
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""What no text contains. Source: WHATWG MIME Sniffing, "binary data byte" (2026-11-27)."""
_SNIFFED_BYTES = 1_445
_MARKED = (b"\xfe\xff", b"\xff\xfe")
_TAGS = rb"html|head|body|title|meta|script|style|table|div|h1|a|b|br|p"
_BEGINS_AS_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|!--|(?:" + _TAGS + rb")[\s>])", re.IGNORECASE)

_ROBOT_NAME = "aldis"
_ROBOTS_SECONDS = 5.0
_MAX_ROBOTS_BYTES = 512_000
_MAX_SITES = 16
_REMEMBERED_SECONDS = 3_600.0
_AGENT = re.compile(r"^[ \t]*user[- ]?agent[ \t]*:?[ \t]*(\*|[a-z_-]*)[^\n]*", re.IGNORECASE | re.MULTILINE)
"""A line that names a robot, and the name without its version or anything else that follows."""


class PageArguments(Arguments):
    """The page, and the piece of it to read."""

    rare = frozenset({"max_chars", "timeout_ms"})

    url: str = Field(min_length=1, max_length=MAX_URL_CHARS, description="A complete address as given, with https://.")
    offset: int = Field(default=0, ge=0, le=10_000_000, description="The next_offset of an earlier answer.")
    max_chars: int | None = Field(default=None, ge=_MIN_CHARS, description="The most characters; default: as usual.")
    timeout_ms: int = Field(default=int(1000 * _USUAL_SECONDS), ge=1, description="The longest wait for the page.")


class WebFetch:
    """Reads web pages and PDFs."""

    def __init__(
        self, fetcher: Fetcher, papers: Papers, *, call_seconds: float = _USUAL_SECONDS, max_chars: int = _MAX_CHARS
    ) -> None:
        """`call_seconds` is the longest that the operator lets a model wait for a page."""
        self._call_seconds = call_seconds
        self._max_chars = max_chars
        self._fetcher = fetcher
        self._papers = papers
        self._robots: dict[str, tuple[float, str]] = {}
        """The robots.txt of sites, and when each is forgotten; the least recently used goes first."""
        self.spec = ToolSpec(
            name="web_fetch",
            description=(
                "Reads a web page or PDF: text, title, date and links, piece by piece; continue with `offset` if there"
                " is a `next_offset`. Accepts only addresses in the person's message (`example.com` there is"
                " https://example.com), in the search results of this turn, cited by the last answer with sources, or"
                " linked by such a page to its own site. Runs no JavaScript, does not log in, reads no pictures: people"
                " can send those as files."
            ),
            arguments=PageArguments,
            intent=lambda given: Intent("page", {"url": given.url}),
            fetches="url",
            timeout_seconds=call_seconds + _OPEN_SECONDS,
            max_result_chars=2 * max_chars + _OTHER_CHARS,
        )

    async def run(self, arguments: PageArguments, context: ToolContext) -> Result:
        """Returns a piece of the page."""
        start, most = arguments.offset, min(arguments.max_chars or self._max_chars, self._max_chars)
        seconds = min(self._call_seconds, arguments.timeout_ms / 1000)
        url, read = await self._opened(arguments.url, start + most, context.person, seconds)
        for _ in range(_MAX_MOVES):
            if not _sends_on(read):
                break
            try:
                url, read = await self._opened(read.moves_to, start + most, context.person, seconds)
            except ToolError:
                break
        total = len(read.text)
        if 0 < start >= total:
            raise BadArguments(f"There are {total:,} characters; there is nothing from {start:,} on.")
        end = min(start + most, total)
        if end < total:  # after a word, if one ends in the second half: half of a number is another number
            end = max(read.text.rfind(sign, start + most // 2, end) for sign in "\n ") + 1 or end
        data: dict[str, Any] = {"url": url, **(_about(read) if start == 0 or read.pages else {})}
        data["text"] = read.text[start:end]
        if end < total:
            data["next_offset"] = end
        if read.pages is None and end < total:
            data["total_chars"] = total
        if start == 0:
            links = [link for link in read.links if len(link.url) <= _MAX_LINK_CHARS][:_MAX_LINKS]
            data |= {"links": [{"text": link.text, "url": link.url} for link in links]} if links else {}
        return Result(data=data)

    async def _opened(self, url: str, most: int, person: str, seconds: float) -> tuple[str, PageText]:
        """Returns where the page is, and its content, or of a PDF its first `most` characters and one more."""
        page = await self._fetcher.get(
            url, accept=_ACCEPTED, max_bytes=MAX_BYTES, timeout_seconds=seconds, consent=self._consent
        )
        if not page.ok:
            raise _refusal(page)
        kind = _kind(page)
        try:
            # One more character tells whether there is more; later pages of a PDF are not even opened.
            read = await self._papers.read(
                page.body, kind, url=page.url, charset=page.charset or "", max_chars=most + 1, person=person
            )
        except BadArguments as error:
            # The reason comes from the process that opened it, which the page may have taken over.
            what = "PDF" if kind == "pdf" else "page"
            raise BadArguments(f"The {what} cannot be read; why stands beside this.", quoted=str(error)) from error
        return page.url, read

    async def _consent(self, address: WebAddress) -> None:
        """Returns if the site's robots.txt, cached for an hour, lets the address be read, else raises a `ToolError`."""
        site, now = f"{address.scheme}://{address.authority}", time.monotonic()
        until, text = self._robots.pop(site, (now, ""))
        if now >= until:
            url = f"{site}/robots.txt"
            most = _MAX_ROBOTS_BYTES
            seconds = _ROBOTS_SECONDS
            until, text = now + _REMEMBERED_SECONDS, ""
            with suppress(BadArguments, TooLarge):  # something else, such as a picture or a megabyte
                page = await self._fetcher.get(url, accept=("text/*",), max_bytes=most, timeout_seconds=seconds)
                if page.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise Unavailable("The site's server fails, so that it is unknown whether the page may be read.")
                if page.content_type == "text/plain":
                    text = page.body.decode("utf-8-sig", errors="replace")
        self._robots = dict([*self._robots.items(), (site, (until, text))][-_MAX_SITES:])
        # The longest files take half a second, during which others must get their turn.
        if not await asyncio.to_thread(allows, text, address.target):
            raise Denied("This site does not let programs read this page (its robots.txt says so).")


def allows(text: str, target: str) -> bool:
    """Returns whether a robots.txt lets Aldis read a path with its query."""

    def renamed(line: re.Match[str]) -> str:
        # One of three names, however many there are: Aldis's, the one for all, and one for all others.
        name = line[1].lower()
        return f"User-agent: {name if name in {_ROBOT_NAME, '*'} else 'another'}"

    ours = _AGENT.sub(renamed, text.replace("\r", "\n"))
    return Protego.parse(ours).can_fetch(f"https://site.example{target}", _ROBOT_NAME)


def _kind(page: FetchedPage) -> PageKind:
    """What it is by its bytes, as the types of servers are unreliable; raises `BadArguments` for no text."""
    begins = page.body[:_PDF_BYTES]
    named = page.content_type
    if begins.lstrip(_BLANK_BYTES).startswith(_PDF) or (named == _NAMED_PDF and _PDF in begins):
        return "pdf"
    is_open = named in _UNNAMED or named.startswith("application/")
    is_marked = begins.startswith(_MARKED) or page.charset is not None
    is_binary = is_open and not is_marked and _BINARY.search(page.body[:_SNIFFED_BYTES]) is not None
    if named == _NAMED_PDF or is_binary:
        raise BadArguments("What stands at this address is neither a PDF nor a page that can be read.")
    return "html" if named in _HTML or (named in _UNNAMED and _BEGINS_AS_HTML.match(page.body)) else "text"


def _sends_on(page: PageText) -> bool:
    """Whether there is hardly anything on it but where browsers are sent on."""
    return bool(page.moves_to) and len(page.text) < _HARDLY_ANY_CHARS


def _about(read: PageText) -> Mapping[str, Any]:
    """Describes a page or PDF, with a note on what a model should know before it takes the text for the whole."""
    note = ""
    if read.pages is not None:
        if not read.text and read.pages_read == read.pages:
            note = (
                "The PDF contains no text; a scan has only pictures. The person can send it as a file to have it seen."
            )
        elif read.pages_read < read.pages and not read.is_cut:
            note = f"Only {read.pages_read} of the {read.pages} pages could be read; the others take too long."
        return {"pages": read.pages, **({"note": note} if note else {})}
    is_bare = len(read.text) < _HARDLY_ANY_CHARS
    if _sends_on(read):
        note = f"The page sends browsers on to another, which could not be read: {read.moves_to}"
    elif read.has_password and is_bare:
        note = "The page asks for a login, which Aldis does not have; what is behind it cannot be read."
    elif read.has_script and is_bare and _WAITS_FOR_SCRIPT.search(read.text):
        note = "The page shows hardly anything without JavaScript, which Aldis does not run."
    elif not read.text:
        note = "The page contains no text."
    about = {"title": read.title, "date": read.date, "language": read.language, "note": note}
    return {name: item for name, item in about.items() if item}


def _refusal(page: FetchedPage) -> ToolError:
    match page.status:
        case HTTPStatus.NOT_FOUND | HTTPStatus.GONE:
            return NotFound(f"There is no page at this address (status {page.status}).")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return RateLimited("The site wants fewer requests.")
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.PAYMENT_REQUIRED | HTTPStatus.FORBIDDEN:
            return Denied(f"The page needs a login, or its site does not let programs in (status {page.status}).")
        case _:
            return Unavailable(f"The page cannot be read (status {page.status}).")
