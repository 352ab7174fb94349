"""PDFs that all hold the same: words, eight thousand characters that nobody sees, and more words. Run in a cell."""

from collections.abc import Sequence

from bot.media.cell import Facts

TEXT = "Page 1:\nseen" + "\u200b" * 8_000 + " and words" * 30


def preload() -> None:
    pass


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    return {"pages": 1, "pages_read": 1}, TEXT[: int(arguments[1])].encode()
