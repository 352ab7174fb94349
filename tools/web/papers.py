"""What the bot makes of PDFs and web pages for `web_fetch`, where they can do no harm."""

from dataclasses import dataclass
from typing import Literal, Protocol

PageKind = Literal["pdf", "html", "text"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLink:
    """A link on a page: its words, perhaps "", and its full canonical address."""

    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PageText:
    """The content of a web page or a PDF: a stranger's words, plain and cleaned by `clean_text`."""

    text: str
    """Of a PDF each page with words follows a line `Page 1:`; empty for a scan."""
    title: str = ""
    """"" if the page has none."""
    date: str = ""
    """`YYYY-MM-DD`, perhaps with the time, as the page says; "" if it does not."""
    language: str = ""
    links: tuple[PageLink, ...] = ()
    """The links within the text in order, each address once."""
    has_password: bool = False
    """Whether the page asks for a password."""
    has_script: bool = False
    """Whether it has JavaScript, which may add content."""
    moves_to: str = ""
    """The address to which it sends browsers on after some seconds; "" if it does not."""
    pages: int | None = None
    """The number of pages in a PDF; None if it is none."""
    pages_read: int = 0
    is_cut: bool = False
    """Whether the text of a PDF was cut at the requested length."""


class Papers(Protocol):
    """Reads strangers' PDFs and pages where they can do no harm."""

    async def read(
        self, body: bytes, kind: PageKind, *, url: str, charset: str, max_chars: int, person: str = ""
    ) -> PageText:
        """Returns what was found at `url`, of a PDF at most the first `max_chars` characters.

        `charset` is what its server says, or ""; `person` is who asks: others do not wait for it. Raises `BadArguments`
        if it cannot be opened; the message completes "The PDF cannot be read: ".
        """
        ...
