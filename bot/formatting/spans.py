"""A styled text in the making: joined from pieces, cut into parts, converted to `Styled`; and where it can be cut.

Indices are Python's (code points) until `StyledText.for_signal` counts UTF-16 code units, as Signal does. Pure. Left to
others: what is bold (`bot.formatting.markdown`), where a text is cut (`bot.formatting.split`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from wcwidth import iter_graphemes

from bot.events import Style, Styled, StyleRange, utf16_offsets

Styles = frozenset[Style]
Piece = tuple[str, Styles]
"""Words and the styles that apply to all of them."""

PLAIN: Styles = frozenset()

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_NO_CLUSTERS = re.compile(
    "[\0-\x7f\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u2bff]*"
)
"""Latin, Greek and Cyrillic letters, bullets, quotation marks, arrows and boxes: none of them combines with another.
The library scans a text in Python, character by character; most answers consist only of these."""
_COVERED = re.compile(b"\x01+")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A style from `start` up to, but excluding, `end`."""

    start: int
    end: int
    style: Style


@dataclass(frozen=True, kw_only=True, slots=True)
class StyledText:
    """A text with its spans by start, none of which is empty, begins or ends in a space, or touches its like."""

    text: str
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, content: Styled) -> "StyledText":
        """Reverses `for_signal`."""
        places = {unit: place for place, unit in enumerate(utf16_offsets(content.text))}
        spans = (
            Span(start=places[given.start], end=places[given.start + given.length], style=given.style)
            for given in content.styles
        )
        return cls(text=content.text, spans=_tidied(content.text, spans))

    def part(self, start: int, end: int) -> "StyledText":
        """The text between two indices without trailing white space; styles that extend beyond are cut there."""
        text = self.text[start:end].rstrip()
        spans = (
            Span(start=max(span.start - start, 0), end=min(span.end - start, len(text)), style=span.style)
            for span in self.spans
            if span.start < end and span.end > start
        )
        return StyledText(text=text, spans=_tidied(text, spans))

    def followed_by(self, line: str) -> "StyledText":
        """The text followed by a blank line and a plain line."""
        return StyledText(text=f"{self.text}\n\n{line}", spans=self.spans)

    def for_signal(self) -> Styled:
        """The text for Signal, with ranges in UTF-16 code units."""
        units = utf16_offsets(self.text)
        return Styled(
            text=self.text,
            styles=tuple(
                StyleRange(start=units[span.start], length=units[span.end] - units[span.start], style=span.style)
                for span in self.spans
            ),
        )


def overlapping(stretches: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """The first of these ordered, separate stretches that overlaps this one, which may be empty; None if none does."""
    at = bisect_right(stretches, start, key=lambda stretch: stretch[1])
    return stretches[at] if at < len(stretches) and stretches[at][0] < end else None


def join_pieces(pieces: Iterable[Piece]) -> StyledText:
    """The pieces as one text, without surrounding white space."""
    words: list[str] = []
    spans: list[Span] = []
    size = 0
    for piece, styles in pieces:
        spans += (Span(start=size, end=size + len(piece), style=style) for style in styles)
        words.append(piece)
        size += len(piece)
    whole = StyledText(text="".join(words), spans=tuple(spans))
    return whole.part(size - len(whole.text.lstrip()), size)


def _tidied(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Normalises spans for `StyledText`; a style that covers part of a character covers all of it."""
    spans = tuple(spans)
    if not spans:
        return ()
    where = borders(text)
    covered = {style: bytearray(len(text)) for style in Style}
    for span in spans:
        if span.start < span.end:
            start, end = where.rfind(1, 0, span.start + 1), where.find(1, span.end)
            covered[span.style][start:end] = b"\x01" * (end - start)
    tidied: list[Span] = []
    for style, marks in covered.items():
        for run in _COVERED.finditer(marks):
            start, end = run.span()
            # A space that carries an accent is a visible character.
            while start < end and text[start].isspace() and where[start + 1]:
                start += 1
            while start < end and text[end - 1].isspace():
                end -= 1
            tidied += [Span(start=start, end=end, style=style)] if start < end else []
    return tuple(sorted(tidied, key=lambda span: (span.start, -span.end)))


def sendable_text(text: str) -> str:
    """The text as Signal can carry it: plain line feeds, no control characters but tabs, no half surrogate pairs."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CONTROL.sub("", _LINE_END.sub("\n", text))


def borders(text: str) -> bytes:
    """For each index of the text and its end: 1 if it can be cut there, 0 inside a letter with its accents or a flag.

    Source: Unicode Standard Annex 29, revision 47 (2025), whose tables are the library's.
    """
    if _NO_CLUSTERS.fullmatch(text):
        return b"\x01" * (len(text) + 1)
    marks = bytearray(len(text) + 1)
    for place in accumulate(map(len, iter_graphemes(text)), initial=0):
        marks[place] = 1
    return bytes(marks)


def fitting(text: str, start: int, limit_bytes: int) -> int:
    """The largest index for which the text from `start` takes at most `limit_bytes` in UTF-8."""
    head = text[start : start + limit_bytes].encode()[:limit_bytes]
    return start + len(head.decode(errors="ignore"))
