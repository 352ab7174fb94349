"""The tool `web_fetch`: reads a web page or PDF piece by piece.

    address --allowed in this turn? (the bot)--> robots.txt --> guarded fetch --> HTML, text or JSON --> text
                                                                             '--> a PDF, by its bytes --> text

Left to others: which addresses a turn can ask for (`bot.trust.rules`), where an address really leads
(`tools.web.fetch`), who opens pages and PDFs (`tools.web.papers`).

A site without a robots.txt lets everybody in; a site whose server fails is left alone until it answers. Aldis reads
pages only because a person asked for them, and still obeys the rules for crawlers.

Source: RFC 9309 (Robots Exclusion Protocol): at least 500 kB, statuses 4xx as if there were no file; protego 0.7.0
(BSD), whose time grows with the agents of a group times its rules: 100 kB of 3,000 each took it 48 s and 640 MB, and
1 MB of rules for one agent 0.9 s (measured 2026-11-27).
"""

import asyncio
import math
import re
import time
from collections.abc import Iterator
from http import HTTPStatus
from itertools import accumulate

from protego import Protego
from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, Denied, NotFound, RateLimited, ToolError, Unavailable
from tools.web.addresses import MAX_CHARS as MAX_URL_CHARS
from tools.web.addresses import WebAddress
from tools.web.fetch import FetchedPage, Fetcher
from tools.web.papers import PageText, Paper, Papers

_MAX_CHARS = 6_000
"""How many characters of a page or a PDF the model reads at a time."""
_MIN_CHARS = 200
_TIMEOUT_SECONDS = 15.0
"""The time limit for fetching a page and its site's robots.txt, redirects included."""
MAX_BYTES = 3_000_000
"""The largest page to fetch."""

MAX_PAPER_BYTES = 15_000_000
"""The largest PDF to fetch."""

_HARDLY_ANY_CHARS = 300
"""A page with a password field, or one that sends browsers on, and no more text than this shows nothing by itself."""
_WAITS_FOR_SCRIPT = re.compile(r"^\W*$|javascript|^\W*(?:loading|please wait)\W*$", re.IGNORECASE)
"""The text of a page that is nothing without its scripts; any other short page is just short."""
_MAX_LINKS = 25
_MAX_LINKS_CHARS = 4_000
_OTHER_CHARS = 16_000
"""Space in a result for everything but the text: addresses, title, links, in JSON."""
_ROBOTS_SECONDS = 5.0
_OPEN_SECONDS = 25.0
"""The time for opening the page or PDF."""
_HTML = frozenset({"text/html", "application/xhtml+xml"})
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
_NAMED_PDF = "application/pdf"
_NAMED_ANYTHING = "application/octet-stream"
_UNREADABLE_PAGE = "The page cannot be read; why stands beside this."
_UNREADABLE_PDF = "The PDF cannot be read; why stands beside this."
"""The reason comes from the process that opened it, which the page may have taken over."""
_ACCEPTED = (
    "text/html",
    "application/xhtml+xml",
    "text/*",
    "application/*",
    "*+xml",
    "*+json",
    "",
)
_UNNAMED = frozenset({"", _NAMED_ANYTHING, "application/unknown", "unknown/unknown"})
_MAX_MOVES = 2
_LARGER = {_NAMED_PDF: MAX_PAPER_BYTES, _NAMED_ANYTHING: MAX_PAPER_BYTES}


ROBOT_NAME = "aldis"
"""The name of Aldis in a robots.txt."""

MAX_SITES = 16
"""The most cached sites; the least recently used goes first."""

REMEMBERED_SECONDS = 3_600.0

_MAX_ROBOTS_BYTES = 1_000_000
"""The part beyond is not read; RFC 9309, 2.5, demands the first 500 KiB."""
_AGENT = re.compile(r"^[ \t]*user[- ]?agent[ \t]*:?[ \t]*(\*|[a-z_-]*)[^\n]*", re.IGNORECASE | re.MULTILINE)
"""A line that names a robot, and the name without its version or anything else that follows."""


class PageArguments(Arguments):
    """The page, and the piece of it to read."""

    rare = frozenset({"max_chars", "timeout_ms"})

    url: str = Field(min_length=1, max_length=MAX_URL_CHARS, description="A complete address as given, with https://.")
    offset: int = Field(
        default=0, ge=0, le=10_000_000, description="Where to continue: the next_offset of an earlier answer."
    )
    max_chars: int | None = Field(default=None, ge=_MIN_CHARS, description="The most characters; default: as usual.")
    timeout_ms: int | None = Field(default=None, ge=1, description="The longest wait for the page; default: as usual.")


class WebFetch:
    """Reads web pages and PDFs."""

    def __init__(self, fetcher: Fetcher, papers: Papers, *, max_chars: int = _MAX_CHARS) -> None:
        self._max_chars = max_chars
        self._fetcher = fetcher
        self._papers = papers
        self._robots = Robots(fetcher, timeout_seconds=_ROBOTS_SECONDS)
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
            timeout_seconds=_TIMEOUT_SECONDS + _OPEN_SECONDS,
            max_result_chars=2 * max_chars + _OTHER_CHARS,
        )

    async def run(self, arguments: PageArguments, context: ToolContext) -> Result:
        """Returns a piece of the page.

        Raises:
            BadArguments: no web address, nothing readable, or an offset beyond the end.
            Denied: a private network, or the site does not want programs; NotFound: there is no such page.
            RateLimited, TimedOut, TooLarge, Unavailable: it cannot be read now, or at all.
        """
        most = min(arguments.max_chars or self._max_chars, self._max_chars)
        seconds = min(_TIMEOUT_SECONDS, (arguments.timeout_ms or math.inf) / 1000)
        page, read = await self._opened(arguments.url, arguments.offset + most, context.person, seconds)
        for _ in range(_MAX_MOVES):
            if not (isinstance(read, PageText) and _sends_on(read)):
                break
            try:
                page, read = await self._opened(read.moves_to, arguments.offset + most, context.person, seconds)
            except ToolError:
                break
        offset = arguments.offset
        piece = _paper_piece(page, read, offset, most) if isinstance(read, Paper) else _piece(page, read, offset, most)
        return Result(data=dict(piece))

    async def _opened(self, url: str, most: int, person: str, seconds: float) -> tuple[FetchedPage, PageText | Paper]:
        """Returns what is at an address, and its content, or of a PDF its first `most` characters and one more."""
        page = await self._fetcher.get(
            url,
            accept=_ACCEPTED,
            max_bytes=MAX_BYTES,
            timeout_seconds=seconds,
            consent=self._robots.consent,
            larger=_LARGER,
        )
        if not page.ok:
            raise _refusal(page)
        is_paper = _is_paper(page)
        try:
            if is_paper:
                # One more character tells whether there is more; later pages are not even opened.
                return page, await self._papers.read(page.body, max_chars=most + 1, person=person)
            read = await self._papers.read_page(
                page.body, url=page.url, charset=page.charset or "", is_html=_is_html(page), person=person
            )
        except BadArguments as error:
            raise BadArguments(_UNREADABLE_PDF if is_paper else _UNREADABLE_PAGE, quoted=str(error)) from error
        return page, read


def _is_paper(page: FetchedPage) -> bool:
    """Whether it is a PDF by its bytes, as the content types of servers are unreliable.

    Raises:
        BadArguments: it is neither a PDF nor a text, or says PDF although it is none.
    """
    begins = page.body[:_PDF_BYTES]
    if begins.lstrip(_BLANK_BYTES).startswith(_PDF) or (page.content_type == _NAMED_PDF and _PDF in begins):
        return True
    is_open = page.content_type in _UNNAMED or page.content_type.startswith("application/")
    is_marked = begins.startswith(_MARKED) or page.charset is not None
    is_binary = is_open and not is_marked and _BINARY.search(page.body[:_SNIFFED_BYTES]) is not None
    if page.content_type == _NAMED_PDF or is_binary:
        raise BadArguments("What stands at this address is neither a PDF nor a page that can be read.")
    return False


def _is_html(page: FetchedPage) -> bool:
    """Whether it has markup, as the server says, or by its beginning if the server does not say."""
    return page.content_type in _HTML or (
        page.content_type in _UNNAMED and _BEGINS_AS_HTML.match(page.body) is not None
    )


def _paper_piece(page: FetchedPage, paper: Paper, offset: int, most: int) -> Iterator[tuple[str, object]]:
    """Yields the entries of the answer about a PDF."""
    text = paper.text
    if offset > 0 and offset >= len(text):
        raise BadArguments(f"There is nothing to read in this PDF from {offset:,} on.")
    yield from (("url", page.url), ("pages", paper.pages))
    if not text and paper.pages_read == paper.pages:
        note = "The PDF contains no text; a scan has only pictures. The person can send it as a file to have it seen."
        yield "note", note
    elif paper.pages_read < paper.pages and not paper.is_cut:
        yield "note", f"Only {paper.pages_read} of the {paper.pages} pages could be read; the others take too long."
    end = _end(text, offset, most)
    yield "text", text[offset:end]
    if end < len(text):
        yield "next_offset", end


def _piece(page: FetchedPage, reading: PageText, offset: int, most: int) -> Iterator[tuple[str, object]]:
    """Yields the entries of the answer, leaving out empty ones."""
    total = len(reading.text)
    if offset > 0 and offset >= total:
        raise BadArguments(f"The page has {total:,} characters; there is nothing from {offset:,} on.")
    yield "url", page.url
    if offset == 0:
        about = (("title", reading.title), ("date", reading.date), ("language", reading.language))
        yield from (entry for entry in about if entry[1])
        if note := _note(reading):
            yield "note", note
    end = _end(reading.text, offset, most)
    yield "text", reading.text[offset:end]
    if end < total:
        yield from (("next_offset", end), ("total_chars", total))
    sizes = accumulate(len(link.text) + len(link.url) for link in reading.links[:_MAX_LINKS])
    links = [link for link, size in zip(reading.links, sizes, strict=False) if size <= _MAX_LINKS_CHARS]
    if offset == 0 and links:
        yield "links", [{"text": link.text, "url": link.url} for link in links]


def _end(text: str, start: int, most: int) -> int:
    """Returns the end of a piece: after a line or word if one ends in its second half."""
    end = start + most
    if end >= len(text):
        return len(text)
    for sign in ("\n", " "):
        if (found := text.rfind(sign, start + most // 2, end)) >= 0:
            return found + 1
    return end


def _sends_on(reading: PageText) -> bool:
    """Whether there is hardly anything on it but where browsers are sent on."""
    return bool(reading.moves_to) and len(reading.text) < _HARDLY_ANY_CHARS


def _note(reading: PageText) -> str:
    """Returns what a model should know before it takes this for the whole page, or ""."""
    is_bare = len(reading.text) < _HARDLY_ANY_CHARS
    if _sends_on(reading):
        return f"The page sends browsers on to another, which could not be read: {reading.moves_to}"
    if reading.has_password and is_bare:
        return "The page asks for a login, which Aldis does not have; what is behind it cannot be read."
    if reading.has_script and is_bare and _WAITS_FOR_SCRIPT.search(reading.text):
        return "The page shows hardly anything without JavaScript, which Aldis does not run."
    return "" if reading.text else "The page contains no text."


def _refusal(page: FetchedPage) -> ToolError:
    """Returns the error for an unsuccessful status."""
    if page.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return NotFound(f"There is no page at this address (status {page.status}).")
    if page.status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited("The site wants fewer requests.")
    if page.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN}:
        return Denied(f"The page needs a login, or its site does not let programs in (status {page.status}).")
    return Unavailable(f"The page cannot be read (status {page.status}).")


def allows(text: str, target: str) -> bool:
    """Returns whether a robots.txt lets Aldis read a path with its query."""
    ours = _AGENT.sub(_renamed, text.replace("\r", "\n"))
    return Protego.parse(ours).can_fetch(f"https://site.example{target}", ROBOT_NAME)


def _renamed(line: re.Match[str]) -> str:
    """The line with one of three names: Aldis's, everybody's, or one for all others, however many there are."""
    name = line[1].lower()
    return f"User-agent: {name if name in {ROBOT_NAME, '*'} else 'another'}"


class Robots:
    """The files of sites, cached in memory for an hour."""

    def __init__(self, fetcher: Fetcher, *, timeout_seconds: float) -> None:
        self._fetcher = fetcher
        self._timeout_seconds = timeout_seconds
        self._remembered: dict[str, tuple[float, str]] = {}

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
        until, text = self._remembered.pop(site, (now, ""))
        if now >= until:
            text = await self._fetch(f"{site}/robots.txt")
            until = now + REMEMBERED_SECONDS
        self._remembered = dict([*self._remembered.items(), (site, (until, text))][-MAX_SITES:])
        return text

    async def _fetch(self, url: str) -> str:
        """Returns the file; "" where there is none, or something else, such as a picture."""
        try:
            page = await self._fetcher.get(
                url, accept=("text/*",), max_bytes=_MAX_ROBOTS_BYTES, timeout_seconds=self._timeout_seconds, cuts=True
            )
        except BadArguments:
            return ""
        if page.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable("The site's server fails, so that it is unknown whether the page may be read.")
        if not page.ok or page.content_type != "text/plain":
            return ""
        # A line that was cut could close more than the site wants.
        body = page.body if len(page.body) < _MAX_ROBOTS_BYTES else page.body.rpartition(b"\n")[0]
        return body.decode("utf-8-sig", errors="replace")
