"""Pure: decides whether bytes are text, and in which encoding; tidies text."""

import re

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_BLANK_LINES = re.compile(r"\n{3,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that texts do not contain: all but tab, newlines, form feed, and escape (for colours)."""


def decode_text(data: bytes) -> str | None:
    """Returns the text with plain newlines as line ends; None if the bytes are no text in any usual encoding.

    Decoded by its byte order mark if it has one, or else as UTF-8, or else in the encoding of western Windows, which
    fits most of what is not UTF-8. Control characters tell anything else from text.
    """
    marked = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    for encoding in (marked,) if marked else ("utf-8", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if _CONTROL.search(text) else "\n".join(text.splitlines())
    return None


def tidy(text: str) -> str:
    """Returns the text of a page without clutter: white space at the ends of lines, a cell's bar there, more than one
    empty line in a row.
    """
    lines = (line.rstrip().removesuffix(" |") for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
