r"""Styles for signal-cli-rest-api, which takes no ranges, but markers in the text that it strips.

The bridge's parser deletes markers without a partner and knows one escape, a backslash before a marker. So every
character that could be a marker is escaped, and a range is left out if its markers would be misread. People always see
the text itself: a style can get lost, a character never.

Source: signal-cli-rest-api, `src/utils/textstyleparser.go`, commit a08db23 (2026-11-21).
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bot.events import Style, Styled, utf16_offsets

_MARKERS = {
    Style.BOLD: "**",
    Style.ITALIC: "*",
    Style.STRIKETHROUGH: "~",
    Style.MONOSPACE: "`",
    Style.SPOILER: "||",
}
_TOKEN = re.compile(r"\*\*|\*|\|\||~|`")
"""How the parser splits a row of markers: the longest first."""

_SPECIAL = re.compile(r"[*~`|]")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Span:
    """A range in characters, `end` not included."""

    start: int
    end: int
    style: Style


def styled_text(content: Styled) -> tuple[str, bool]:
    """Returns the text to send and whether to send it as `styled`; the plain text if no range can be expressed."""
    text = content.text
    kept: list[_Span] = []
    for span in _spans(content):
        if _nests(span, kept) and _survives(text, [*kept, span]):
            kept.append(span)
    return (_marked(text, kept), True) if kept else (text, False)


def _spans(content: Styled) -> list[_Span]:
    """The ranges in characters instead of UTF-16 code units, outer ones before inner ones."""
    places = {unit: index for index, unit in enumerate(utf16_offsets(content.text))}
    found = [(places.get(style.start), places.get(style.start + style.length), style.style) for style in content.styles]
    spans = [
        _Span(start=start, end=end, style=style)
        for start, end, style in found
        if start is not None and end is not None and start < end
    ]
    return sorted(spans, key=lambda span: (span.start, -span.end))


def _nests(span: _Span, kept: Sequence[_Span]) -> bool:
    """Whether a span crosses none of the others, and is not inside one of its own style, whose marker it would
    close.
    """
    for other in kept:
        apart = span.start >= other.end or span.end <= other.start
        within = other.start <= span.start and span.end <= other.end
        if not apart and (not within or span.style == other.style):
            return False
    return True


def _survives(text: str, spans: Sequence[_Span]) -> bool:
    """Whether the parser reads all markers as intended."""
    for place, markers in _markers(spans).items():
        before = text[place - 1] if place else ""
        # A backslash would escape the marker; an escaped star or bar would swallow the marker's first character.
        if before == "\\" or (before in {"*", "|"} and markers[0].startswith(before)):
            return False
        if _TOKEN.findall("".join(markers)) != markers:
            return False
    return True


def _markers(spans: Sequence[_Span]) -> dict[int, list[str]]:
    """By position in the text: the markers that end a span there, inner ones first, then those that begin one.

    The spans come in the order of `_spans`.
    """
    places: defaultdict[int, list[str]] = defaultdict(list)
    for span in reversed(spans):
        places[span.end].append(_MARKERS[span.style])
    for span in spans:
        places[span.start].append(_MARKERS[span.style])
    return places


def _marked(text: str, spans: Sequence[_Span]) -> str:
    markers = _markers(spans)
    parts: list[str] = []
    done = 0
    for place in sorted(markers):
        parts += _escaped(text[done:place]), *markers[place]
        done = place
    return "".join((*parts, _escaped(text[done:])))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
