"""Characters as people see them: what may stand in a message, and where a text may be cut without breaking one.

Pure. Left to others: styles over a text (`bot.formatting.spans`), where an answer is cut (`bot.formatting.split`).
"""

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate

MAX_CODE_POINTS = 32
"""Longer clusters are no characters that anybody reads (stacked accents): they may be cut after so many."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_ZWJ = "\u200d"
_SUSPECTS = re.compile(
    "[\u0300-\u1fff\u200c\u200d\u20d0-\u20ff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua640-\uabff"
    "\ud7b0-\ud7ff\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\uff9e\uff9f\U00010000-\U0010ffff]+"
)
"""Characters that may join their neighbours: only these and the one behind them are looked at."""
_EXTENDING = re.compile(
    "[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"  # joiners, skin tones, tags
    "\u1160-\u11ff\ud7b0-\ud7ff]"  # vowels and finals of Korean syllables written in letters
)
_LEADING_JAMO = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_JAMO_OR_SYLLABLE = re.compile("[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7ff]")
_PREPENDED = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
_VIRAMA = 9
"""The combining class of the sign that joins two consonants in the scripts of India."""


def clean_text(text: str) -> str:
    """The text as Signal can carry it: line ends are one line feed, control characters but the tab are gone.

    The halves of a surrogate pair that stand side by side become their character, a lone one becomes U+FFFD.
    """
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CONTROL.sub("", _LINE_END.sub("\n", text))


def borders(text: str) -> bytes:
    """For each index of the text and its end: 1 where it may be cut there, 0 inside a character.

    A character is a grapheme cluster, taken a little wider than Unicode's rules where that needs no tables: a base
    with its accents, joined emoji, skin tones, pairs of regional indicators (flags), conjuncts of India's scripts.
    Source: Unicode Standard Annex 29, revision 45 (2024).
    """
    if text.isascii():
        return b"\x01" * (len(text) + 1)
    marks = bytearray(b"\x01" * (len(text) + 1))
    for suspects in _SUSPECTS.finditer(text):
        length, flags = 1, 0
        for index in range(max(suspects.start(), 1), min(suspects.end() + 1, len(text))):
            before, char = text[index - 1], text[index]
            flags = flags + 1 if _is_flag_half(before) else 0
            joined = flags % 2 == 1 if _is_flag_half(char) else _joins(before, char)
            length = length + 1 if joined and length < MAX_CODE_POINTS else 1
            marks[index] = length == 1
    return bytes(marks)


def utf16_offsets(text: str) -> list[int]:
    """For each index of the text and its end: how many UTF-16 code units stand before it."""
    return list(accumulate((2 if char > "\uffff" else 1 for char in text), initial=0))


def fitting(text: str, start: int, limit_bytes: int) -> int:
    """The largest index up to which the text from `start` on takes at most `limit_bytes` in UTF-8."""
    head = text[start : start + limit_bytes].encode()[:limit_bytes]
    return start + len(head.decode(errors="ignore"))


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _joins(before: str, char: str) -> bool:
    if before in "\n\t" or char.isspace():
        return False
    return _extends(char) or _reaches_out(before) or _is_korean_pair(before, char)


@lru_cache(maxsize=4096)
def _extends(char: str) -> bool:
    return unicodedata.category(char) in {"Mn", "Mc", "Me"} or _EXTENDING.match(char) is not None


@lru_cache(maxsize=4096)
def _reaches_out(char: str) -> bool:
    return char == _ZWJ or unicodedata.combining(char) == _VIRAMA or _PREPENDED.match(char) is not None


def _is_korean_pair(before: str, char: str) -> bool:
    return _LEADING_JAMO.match(before) is not None and _JAMO_OR_SYLLABLE.match(char) is not None
