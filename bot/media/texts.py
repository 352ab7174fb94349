"""Pure: whether bytes are a text, and which; how one looks best."""

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
"""All but those that stand in texts: tab, line feed, form feed, carriage return, and escape for colours."""


def decode_text(data: bytes) -> str | None:
    """The text, its lines ending in a newline alone; None where the bytes are no text in any usual encoding.

    By its byte order mark where it has one, else UTF-8, else the encoding of western Windows, which fits most of what
    is not UTF-8. Control characters tell a text from everything else.
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
    """The text of a page without what stands for nothing: white space at the ends of lines, a cell's bar there, more
    than one empty line at once.
    """
    lines = (line.rstrip().removesuffix(" |") for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
