"""The text of a PDF, page by page. Runs in a cell (`bot.media.cell`); the home of pypdf.

Source: pypdf 7.1.0, whose text of a page has nothing of what is filled into a form (2026-11-29).
"""

import io
import logging
import time
from collections.abc import Sequence

import pypdf
from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from bot.media.cell import Facts, FileRefused, load_all

READING_SECONDS = 15.0
"""After this long no further page is begun."""

_BROKEN = (PyPdfError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError)
"""pypdf lets through whatever exception its parsing of a damaged file runs into."""
_LOCKED = "it is locked by a password"


def preload() -> None:
    """See `bot.media.cell`: loads all of pypdf."""
    load_all(pypdf)
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    """See `bot.media.cell`; the arguments are the most pages and characters.

    Returns the text in UTF-8, each page under a line `Page 1:`, then what is filled into a form; empty for a scan.
    The facts are `pages` (all of them) and `pages_read`, which is lower if one of the limits was reached.
    """
    max_pages, max_characters = map(int, arguments)
    ends_at = time.monotonic() + READING_SECONDS
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise FileRefused(_LOCKED)
        pages, words, size, done = len(reader.pages), list[str](), 0, 0
        for page in reader.pages[:max_pages]:
            if size >= max_characters or time.monotonic() > ends_at:
                break
            text = page.extract_text().strip()
            done += 1
            if text:
                words.append(f"Page {done}:\n{text}")
                size += len(words[-1])
        words += _filled_in(reader)
    except (FileNotDecryptedError, DependencyError) as error:
        raise FileRefused(_LOCKED) from error
    except _BROKEN as error:
        raise FileRefused("it is damaged") from error
    except RecursionError as error:
        raise FileRefused("it is nested too deeply") from error
    return {"pages": pages, "pages_read": done}, "\n\n".join(words)[:max_characters].encode(errors="replace")


def _filled_in(reader: PdfReader) -> list[str]:
    """The fields of a form that are filled in or ticked, a line each; empty if none can be read."""
    lines: list[str] = []
    try:
        fields = reader.get_fields() or {}
    except _BROKEN:
        return []
    for name, each in fields.items():
        value = each.value
        if isinstance(value, str) and value not in {"", "/Off"}:
            lines.append(f"{each.alternate_name or name}: {value.removeprefix('/')}")
    return ["\n".join(["Filled in:", *lines])] if lines else []
