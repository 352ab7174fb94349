"""Decodes what strangers send, pages, feeds and texts, by the names and rules of the web's standards.

Source: WHATWG Encoding and HTML, 13.2.3 "determining the character encoding" (2026-11-27).
"""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
    (b"<\0?\0", "utf-16le"),
    (b"\0<\0?", "utf-16be"),
)
_READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "utf-16": "utf-16-le",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_jp": "euc_jis_2004",
    "euc_kr": "cp949",
}
"""Python's names of encodings that the Encoding Standard, and so every page, takes for another."""
_CODECS = re.compile(
    r"utf-8|utf-16-[bl]e|iso8859-\d+|cp(125\d|866|874|932|949)|koi8-[ru]|mac-(roman|cyrillic)|gb18030|big5hkscs|"
    "euc_jis_2004|iso2022_jp"
)
"""All that a body may be decoded by: Python has others, which unpack or run code."""
_LABEL = re.compile(r"(?:x-|(?:windows|dos|ibm)-?(?=\d{3,4}$))?([a-z0-9_.:-]+?)(?:-[ei])?")
_ALSO = {"user-defined": "cp1252", "windows-31j": "cp932", "unicode-1-1-utf-8": "utf-8"}
"""Names that Python lacks; pages that say x-user-defined mean none."""
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_XML = re.compile(r"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([^\"']{1,40})", re.IGNORECASE)
_META = re.compile(r"<meta[^>]{0,500}?charset\s*=\s*[\"']?([^\s;\"'/>]{1,40})", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that texts do not contain: all but tab, newlines, form feed, and escape (for colours)."""
_DECLARING_BYTES = 4_096


def decode(body: bytes, charset: str = "", *, is_html: bool = False) -> str:
    """Returns the text of a body: by its byte order mark, `charset` or what it says itself, whichever fits first.

    A body that names none is in UTF-8, or if that does not fit, in the encoding of western Windows.
    """
    marked = _known(next((name for sign, name in _MARKS if body.startswith(sign)), ""))
    beginning = _COMMENT.sub("", body[:_DECLARING_BYTES].decode("latin-1"))
    xml = _XML.match(beginning.lstrip())
    labels = [*([xml[1]] if xml else []), *(_META.findall(beginning) if is_html else [])]
    declared = next(filter(None, map(_known, labels)), None)
    found = filter(None, (marked, _known(charset), declared))
    is_wide = b"\0" in body[:2] or not body[:2].isascii()  # or it could not have been read so far
    named = [each for each in found if is_wide or not each.name.startswith("utf-16")]
    for encoding in named:
        try:
            return encoding.decode(body, "strict")[0].removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue
    if named:
        return named[0].decode(body, "replace")[0].removeprefix("\ufeff")
    text = body.decode("utf-8", errors="replace")
    foreign = len(text) - len(text.encode("ascii", errors="ignore"))
    return text if 2 * text.count("\ufffd") < foreign or not foreign else body.decode("cp1252", errors="replace")


def _known(label: str) -> codecs.CodecInfo | None:
    """The codec for a name of an encoding; None for anything else, such as those that unpack or run code."""
    named = _LABEL.fullmatch(label.strip().lower())
    if named is None:
        return None
    name = _ALSO.get(named[1], named[1])
    try:
        found = codecs.lookup(f"cp{name}" if name.isdecimal() else re.sub(r"^iso8859(?=\d)", "iso8859-", name))
    except LookupError:
        return None
    read_as = codecs.lookup(_READ_AS.get(found.name, found.name))
    return read_as if _CODECS.fullmatch(read_as.name) else None


def decode_text(data: bytes) -> str | None:
    """Returns the text with plain newlines as line ends; None if the bytes are no text in any usual encoding."""
    if b"\0" in data and not data.startswith(tuple(sign for sign, _ in _MARKS)):
        return None  # without the second that decoding an archive takes, in which nothing else runs
    text = decode(data)
    return None if _CONTROL.search(text) else "\n".join(text.splitlines())
