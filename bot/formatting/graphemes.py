"""Characters as people see them: which may be in a message, and where a text can be cut without splitting one.

Pure. Texts for models are cut in `tools.text`.
"""

import re

from wcwidth import iter_graphemes

MAX_CODE_POINTS = 32
"""Longer clusters (stacked accents) are not readable characters: they may be cut after this many."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_NO_CLUSTERS = re.compile(
    "[\0-\x7f\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u2bff]*"
)
"""Latin, Greek and Cyrillic letters, bullets, quotation marks, arrows and boxes: none of them combines with another.
The library scans a text in Python, character by character; most answers consist only of these."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def sendable_text(text: str) -> str:
    """The text as Signal can carry it: with plain line feeds, and without control characters except tabs.

    Adjacent halves of a surrogate pair become their character, a lone one becomes U+FFFD.
    """
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CONTROL.sub("", _LINE_END.sub("\n", text))


def borders(text: str) -> bytes:
    """For each index of the text and its end: 1 if it can be cut there, 0 inside a character.

    A character is an extended grapheme cluster: a base with its accents, joined emoji, a flag, a syllable of Korean
    letters, an Indic conjunct.
    Source: Unicode Standard Annex 29, revision 47 (2025), whose tables are the library's.
    """
    if _NO_CLUSTERS.fullmatch(text):
        return b"\x01" * (len(text) + 1)
    marks = bytearray(len(text) + 1)
    start = 0
    for cluster in iter_graphemes(text):
        end = start + len(cluster)
        for at in range(start, end, MAX_CODE_POINTS):
            marks[at] = 1
        start = end
    marks[start] = 1
    return bytes(marks)


def fitting(text: str, start: int, limit_bytes: int) -> int:
    """The largest index for which the text from `start` takes at most `limit_bytes` in UTF-8."""
    head = text[start : start + limit_bytes].encode()[:limit_bytes]
    return start + len(head.decode(errors="ignore"))
