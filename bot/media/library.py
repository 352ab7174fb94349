"""The implementation of the tools' port `Papers`: PDFs and web pages, each opened in a cell.

A cell's answer is a stranger's data, as the file was: it is checked, and invisible characters are removed.
"""

import asyncio
import re
from dataclasses import dataclass
from urllib.parse import urljoin

from pydantic import BaseModel, Field

from bot.media.cell import Facts
from bot.media.sandbox import Sandbox, check_facts
from tools import PageKind, PageLink, PageText, canonical_url, clean_line, clean_text, shorten

_PAPER_SECONDS = 25.0
_PAGE_SECONDS = 10.0
_MAX_PAGES = 1_000
_MAX_CHARACTERS = 2_000_000
_MAX_TITLE_CHARS = 300
_MAX_LINK_CHARS = 500
_MAX_LABEL_CHARS = 80
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?")


class _PaperFacts(BaseModel):
    pages: int = Field(ge=0)
    pages_read: int = Field(ge=0)


class _PageFacts(BaseModel):
    """The facts that a cell reports about a page, all as they are on the page."""

    title: str = Field(default="", max_length=1_000)
    date: str = Field(default="", max_length=1_000)
    language: str = Field(default="", max_length=1_000)
    base: str = Field(default="", max_length=10_000)
    refresh: str = Field(default="", max_length=10_000)
    links: list[tuple[str, str]] = Field(default=[], max_length=100)
    has_password: bool = False
    has_script: bool = False


@dataclass(frozen=True, slots=True)
class Library:
    """Opens PDFs and pages in cells."""

    sandbox: Sandbox

    async def read(
        self,
        body: bytes,
        kind: PageKind,
        *,
        url: str = "",
        charset: str = "",
        max_chars: int,
        max_pages: int = _MAX_PAGES,
        person: str = "",
    ) -> PageText:
        """Returns the content of a page, or the beginning of a PDF's text; see `tools.Papers`."""
        if kind != "pdf":
            facts, data = await self.sandbox.open(
                "pages", body, charset, kind, timeout_seconds=_PAGE_SECONDS, person=person
            )
            return await asyncio.to_thread(page_text, facts, data, url=url)
        most = min(2 * max_chars, _MAX_CHARACTERS)  # more than asked for, because invisible characters are removed
        facts, data = await self.sandbox.open(
            "pdf", body, str(max_pages), str(most), timeout_seconds=_PAPER_SECONDS, person=person
        )
        known = check_facts(_PaperFacts, facts)
        text = data.decode(errors="replace")
        # Up to a second of work for the longest text, during which everybody else must have their turn.
        shown = await asyncio.to_thread(clean_text, text)
        is_cut = len(text) >= most or len(shown) >= max_chars
        return PageText(text=shown[:max_chars], pages=known.pages, pages_read=known.pages_read, is_cut=is_cut)


def page_text(facts: Facts, data: bytes, *, url: str) -> PageText:
    """Returns a cell's answer about the page at `url`; raises `FileRefused` if no cell gives such an answer."""
    known, text = check_facts(_PageFacts, facts), clean_text(data.decode(errors="replace"))
    date, here = _ISO_DATE.search(known.date), canonical_url(url)
    base = _joined(url, known.base) or url
    moves_to = _joined(base, known.refresh) if known.refresh else None
    links = dict[str, PageLink]()
    for words, address in known.links:
        if (whole := _joined(base, address)) is not None and whole != here:
            links.setdefault(whole, PageLink(text=shorten(clean_line(words), _MAX_LABEL_CHARS), url=whole))
    return PageText(
        text=text.strip(),
        title=shorten(clean_text(known.title), _MAX_TITLE_CHARS),
        date=date[0].replace("T", " ") if date else "",
        language=clean_text(known.language)[:20],
        links=tuple(links.values()),
        moves_to=moves_to if moves_to and moves_to != here else "",
        has_password=known.has_password,
        has_script=known.has_script,
    )


def _joined(base: str, address: str) -> str | None:
    """The address on a page in canonical form; None if it is none of the web, or very long."""
    try:
        whole = canonical_url(urljoin(base, address.strip()))
    except ValueError:
        return None
    return whole if whole is not None and len(whole) <= _MAX_LINK_CHARS else None
