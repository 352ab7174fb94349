"""The settings of the tool `web_fetch`."""

from typing import Annotated

from tools.base import FIXED, Options

MAX_PAGE_CHARS = 50_000
MIN_PAGE_CHARS = 200


class PageOptions(Options):
    """The settings `TOOLS__WEB_FETCH__<FIELD>`."""

    max_chars: Annotated[int, FIXED] = 6_000
    """How many characters of a page or a PDF the model reads at a time."""
    obey_robots: Annotated[bool, FIXED] = True
    """Whether pages that a site's robots.txt closes to programs are left alone."""
    timeout_seconds: Annotated[float, FIXED] = 15
    """The time limit for fetching a page and its site's robots.txt, redirects included."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("the page's site",)
