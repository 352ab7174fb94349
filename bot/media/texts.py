"""Pure: decides whether bytes are text; tidies text."""

import re

from bot.media.charsets import decode

_BLANK_LINES = re.compile(r"\n{3,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that texts do not contain: all but tab, newlines, form feed, and escape (for colours)."""


def decode_text(data: bytes) -> str | None:
    """Returns the text with plain newlines as line ends; None if the bytes are no text in any usual encoding.

    Its encoding is found as that of a page. Control characters tell anything else from text.
    """
    text = decode(data)
    return None if _CONTROL.search(text) else "\n".join(text.splitlines())


def tidy(text: str) -> str:
    """Returns the text of a page without clutter: white space at the ends of lines, a cell's bar there, more than one
    empty line in a row.
    """
    lines = (line.rstrip().removesuffix(" |") for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
