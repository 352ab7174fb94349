"""The other side of the tools' port `Papers`: PDFs of the web, each opened in a cell.

Left to others: fetching them (`tools.fetch`), what happens in a cell (`bot.media.papers`), PDFs that come with messages
(`bot.media.parcels`).
"""

import asyncio

from bot.media.cell import Refused
from bot.media.sandbox import Sandbox
from tools import BadArguments, Paper, cleaned

_CELL_SECONDS = 20.0
_MOST_PAGES = 1_000
_MOST_CHARACTERS = 2_000_000
"""What stands behind is not read, however far on it is asked for."""


class Library:
    """Opens PDFs in cells."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def read(self, data: bytes, *, max_chars: int) -> Paper:
        """The first so many characters of what a PDF says; see `tools.ports.Papers`.

        Raises:
            BadArguments: it cannot be opened; the message says why.
        """
        # Some more than is asked for, because characters that nobody sees are taken out; seldom that is not enough.
        most = min(max_chars + max_chars // 4, _MOST_CHARACTERS)
        paper = await self._opened(data, most)
        while paper.is_cut and len(paper.text) < max_chars and most < _MOST_CHARACTERS:
            most = min(4 * most, _MOST_CHARACTERS)
            paper = await self._opened(data, most)
        is_cut = paper.is_cut or len(paper.text) >= max_chars
        return Paper(text=paper.text[:max_chars], pages=paper.pages, pages_read=paper.pages_read, is_cut=is_cut)

    async def _opened(self, data: bytes, most: int) -> Paper:
        try:
            facts, read = await self._sandbox.open(
                "papers", data, str(_MOST_PAGES), str(most), timeout_seconds=_CELL_SECONDS
            )
        except Refused as refusal:
            raise BadArguments(str(refusal)) from refusal
        text = read.decode()
        pages, pages_read = int(facts["pages"]), int(facts["pages_read"])
        # Work of up to a second for the longest text, in which everybody else shall have their turn.
        shown = await asyncio.to_thread(cleaned, text)
        return Paper(text=shown, pages=pages, pages_read=pages_read, is_cut=len(text) >= most)
