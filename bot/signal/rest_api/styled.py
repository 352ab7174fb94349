r"""Styles for signal-cli-rest-api, which takes no ranges, but markers in the text that it strips.

The bridge's parser deletes markers without a partner and knows one escape, a backslash before a marker. So every
character that could be a marker is escaped, and a range is left out if its markers would be misread, or if it overlaps
another. People always see the text itself: a style can get lost, a character never.

Source: signal-cli-rest-api, `src/utils/textstyleparser.go`, commit a08db23 (2026-11-21).
"""

import re

from bot.events import Style, Styled, utf16_offsets

_MARKERS = {
    Style.BOLD: "**",
    Style.ITALIC: "*",
    Style.STRIKETHROUGH: "~",
    Style.MONOSPACE: "`",
    Style.SPOILER: "||",
}
_SPECIAL = re.compile(r"[*~`|]")


def styled_text(content: Styled) -> tuple[str, bool]:
    """Returns the text to send and whether to send it as `styled`; the plain text if no range can be expressed."""
    text, places = content.text, {unit: index for index, unit in enumerate(utf16_offsets(content.text))}
    parts: list[str] = []
    done = 0
    for style in sorted(content.styles, key=lambda style: (style.start, -style.length)):
        start, end = places.get(style.start), places.get(style.start + style.length)
        if start is None or end is None or start >= end or start < done or not _is_clear(text, start, end):
            continue
        if parts and start == done:
            continue  # two markers in a row can be read as another one
        marker = _MARKERS[style.style]
        parts += _escaped(text[done:start]), marker, _escaped(text[start:end]), marker
        done = end
    return ("".join((*parts, _escaped(text[done:]))), True) if parts else (text, False)


def _is_clear(text: str, start: int, end: int) -> bool:
    """Whether markers at these places are read as such: a backslash before one would escape it, and an escaped star or
    bar would swallow its first character.
    """
    return all(text[place - 1 : place] not in {"\\", "*", "|"} for place in (start, end))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
