"""What the bot makes of PDFs and web pages for `web_fetch`, where they can do no harm."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """The text of a PDF, as far as it was read: a stranger's words, cleaned by `clean_text`."""

    text: str
    """Each page with words follows a line `Page 1:`; empty for a scan."""
    pages: int
    """The number of pages in the PDF."""
    pages_read: int
    is_cut: bool
    """Whether the text was cut at the requested length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLink:
    """A link on a page: its words, perhaps "", and its full canonical address."""

    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PageText:
    """The content of a web page: a stranger's words, plain and cleaned by `clean_text`."""

    text: str
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


class Papers(Protocol):
    """Reads strangers' PDFs and pages where they can do no harm."""

    async def read(self, data: bytes, *, max_chars: int, person: str = "") -> Paper:
        """Returns at most the first `max_chars` characters of a PDF. `person` is who asks: others do not wait for it.
        Raises `BadArguments` if it cannot be opened; the message completes "The PDF cannot be read: ".
        """
        ...

    async def read_page(self, body: bytes, *, url: str, charset: str, is_html: bool, person: str = "") -> PageText:
        """Returns the content of the page found at `url`; `charset` is what its server says, or "". Else as `read`."""
        ...
