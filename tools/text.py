"""Prepares text for a model: strips tags, drops invisible characters, cuts results to size. Pure functions.

`plain`, `clean_line` and `clean_text` are for single texts, `fit_json` for the whole result of a tool. Callers have to
say what the text means, and that it is data and no instruction.
"""

import html
import json
import math
import re
import unicodedata
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

# Invisible characters, which can hide instructions from people: control characters (except tab and line feed), lone
# surrogates (which also break every later encoder), zero-width and bidirectional controls, Unicode tags, and the
# variation selectors that no emoji uses.
# The flags of England, Scotland and Wales are spelled with tags: one symbol, then invisible letters.
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in place) + "\U000e007f"
    for place in ("gbeng", "gbsct", "gbwls")
)
_INVISIBLE = re.compile(
    f"({_FLAGS})|"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Characters that are, or can become, emoji: the only ones that a variation selector changes.
_EMOJI = "\u00a9\u00ae\u203c\u2049\u2100-\u214f\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_IDLE_SELECTORS = re.compile(f"(?<![#*0-9{_EMOJI}])[\ufe0e\ufe0f]")
# Joiners belong between two letters of a joining script (Arabic, the Indic ones), or between two emoji; anywhere else
# they can only hide something.
_JOINED = f"\u0600-\u10ff\u1700-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe0f\ufe70-\ufefe\U00010a00-\U00011fff{_EMOJI}"
_JOINERS = re.compile(f"(?<=[{_JOINED}])([\u200c\u200d])(?=[{_JOINED}])|[\u200c\u200d]+")

# Possessive, so that an unclosed tag is given up at once and the time stays linear.
_TAG = re.compile(r"<[/!?]?+([a-zA-Z-][a-zA-Z0-9]*+)[^<>]*+>")
# No character has a number this long, and Python refuses to read integers of more than 4,300 digits.
_ENDLESS_ENTITY = re.compile(r"&#[0-9]{9,};?")
_INLINE_TAGS = frozenset(
    {"a", "abbr", "b", "code", "em", "font", "i", "mark", "small", "span", "strong", "sub", "sup", "u", "wbr"}
)
_RAISED = re.compile(r"<sup>(?=[+\u2212-]?[0-9])", re.IGNORECASE)
_STRUCK = re.compile(r"</?(?:s|del|strike)>", re.IGNORECASE)

MIN_FITTED_CHARS = 200
"""The smallest limit for `fit_json`, which leaves space for a mark."""

_MIN_CUT_CHARS = 40  # texts keep at least this many characters
_CHARS_PER_ITEM = 10
_MAX_DEPTH = 24  # levels; far above any result, far below Python's recursion limit
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def clean_text(text: str) -> str:
    """Removes control characters, lone surrogates, and bidirectional, zero-width and Unicode tag characters.

    Tabs and line feeds stay (other line ends become line feeds), as do joiners within scripts and emoji, and the
    selectors that turn a character into an emoji.
    """
    if text.isascii() and text.isprintable():  # true of most texts, and much cheaper than a search
        return text
    with_line_feeds = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    visible = _IDLE_SELECTORS.sub("", _INVISIBLE.sub(lambda found: found[1] or "", with_line_feeds))
    return _JOINERS.sub(lambda joiner: joiner[1] or "", visible)


def clean_line(text: str) -> str:
    """Like `clean_text`, with white space collapsed to one line."""
    return " ".join(clean_text(text).split())


def fold_name(text: str) -> str:
    """Returns a name or text without case, accents, underscores and double spaces, to compare it."""
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))
    return " ".join(bare.casefold().replace("_", " ").split())


def plain(html_snippet: str) -> str:
    """Returns the text of an HTML snippet on one line, without tags, cleaned by `clean_line`, in linear time."""
    # An inline tag leaves nothing, a block tag a space; but 10 to the 5th is not 105, and what is struck out not so.
    marked = _STRUCK.sub("~~", _RAISED.sub("^", html_snippet))
    bare = _TAG.sub(lambda tag: "" if tag[1].lower() in _INLINE_TAGS else " ", marked)
    return clean_line(html.unescape(_ENDLESS_ENTITY.sub("", bare)))


def shorten(text: str, max_chars: int) -> str:
    """Returns at most `max_chars` characters (at least 1): cut after a word, or else a character, with an ellipsis."""
    if len(text) <= max_chars:
        return text
    kept = text[: _character_end(text, max_chars - 1)]
    words, _, _ = kept.rpartition(" ")
    return (words if len(words) > max_chars // 2 else kept).rstrip() + _ELLIPSIS


def fit_json(data: Mapping[str, Any], max_chars: int) -> str:
    """Returns `data` as compact JSON in plain Unicode, in at most `max_chars` characters (at least 200).

    All texts are cleaned by `clean_text`, unknown types become their `str`, and floats that are no numbers become null.
    If it is too long, the longest texts are cut, and very long lists and objects lose items; each cut leaves a mark.
    """
    if max_chars < MIN_FITTED_CHARS:
        raise ValueError(f"max_chars must be at least {MIN_FITTED_CHARS}")
    whole = cast("dict[str, Any]", _jsonable(dict(data), _MAX_DEPTH))
    if len(text := _dump(whole)) <= max_chars:
        return text
    size = max_chars
    while len(text := _dump(_cut(whole, size))) > max_chars and size:
        size = size * 7 // 8
    return text


def _cut(item: Any, size: int) -> Any:
    """Returns the item with texts of about `size` characters, and lists and objects of a tenth as many items."""
    count = size // _CHARS_PER_ITEM
    if isinstance(item, str):
        end = _character_end(item, max(size, _MIN_CUT_CHARS))
        mark = f"{_ELLIPSIS} [cut: {len(item) - end} characters more]"
        return item[:end] + mark if end + len(mark) < len(item) else item
    if isinstance(item, list):
        items = cast("list[Any]", item)
        missing = len(items) - count
        mark = f"{_ELLIPSIS} [left out: {missing} items more]"
        return [*(_cut(each, size) for each in items[:count]), *([mark] if missing > 0 else [])]
    if isinstance(item, dict):
        entries = cast("dict[str, Any]", item)
        missing = len(entries) - count
        kept = {name: _cut(entry, size) for name, entry in islice(entries.items(), count)}
        return kept | ({_ELLIPSIS: f"[left out: {missing} entries more]"} if missing > 0 else {})
    return item


def _character_end(text: str, end: int) -> int:
    """Returns the last end of a grapheme at or before `end`."""
    if end >= len(text):
        return len(text)
    from wcwidth import grapheme_boundary_before  # noqa: PLC0415 - only when something is cut, its tables

    return grapheme_boundary_before(text, end + 1)


def _jsonable(item: Any, levels: int) -> Any:
    """Converts an item to types that `json` writes faithfully, at most `levels` deep."""
    match item:
        case dict() | list() | tuple() if levels == 0:
            return f"[cut: {len(cast('list[Any]', item))} more, too deep]"
        case dict():
            entries = cast("dict[Any, Any]", item).items()
            return {clean_text(str(name)): _jsonable(entry, levels - 1) for name, entry in entries}
        case list() | tuple():
            return [_jsonable(each, levels - 1) for each in cast("list[Any]", item)]
        case None | int() | float():
            return None if isinstance(item, float) and not math.isfinite(item) else item
        case _:
            return clean_text(str(item))


def _dump(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))
