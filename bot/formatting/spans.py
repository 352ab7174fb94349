"""A styled text in the making: joined from pieces, cut into parts, converted to `Styled`.

Indices are Python's (code points) until `StyledText.for_signal` counts UTF-16 code units, as Signal does. Pure. Left to
others: what is bold (`bot.formatting.markdown`), where a text is cut (`bot.formatting.split`).
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.events import Style, Styled, StyleRange, utf16_offsets
from bot.formatting.graphemes import borders

Styles = frozenset[Style]
Piece = tuple[str, Styles]
"""Words and the styles that apply to all of them."""

PLAIN: Styles = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A style from `start` up to, but excluding, `end`."""

    start: int
    end: int
    style: Style


@dataclass(frozen=True, kw_only=True, slots=True)
class StyledText:
    """A text with its spans, sorted by start.

    No span is empty, begins or ends with white space, splits a character, or touches another of its style.
    """

    text: str
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, content: Styled) -> "StyledText":
        """Reverses `for_signal`; drops ranges that do not fit the text."""
        places = {unit: place for place, unit in enumerate(utf16_offsets(content.text))}
        edges = ((places.get(given.start), places.get(given.start + given.length), given) for given in content.styles)
        spans = (
            Span(start=start, end=end, style=given.style)
            for start, end, given in edges
            if start is not None and end is not None
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
    """The first of these ordered, separate stretches that overlaps this one; None if none does. An equal `start` and
    `end` mean a position between two characters.
    """
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
    edges: dict[Style, list[tuple[int, int]]] = {style: [] for style in Style}
    for span in spans:
        if span.start < span.end:
            edges[span.style].append((where.rfind(1, 0, span.start + 1), where.find(1, span.end)))
    tidied = (
        Span(start=start, end=end, style=style)
        for style in Style
        for start, end in (_trimmed(text, where, *edge) for edge in _merged(sorted(edges[style])))
        if start < end
    )
    return tuple(sorted(tidied, key=lambda span: (span.start, -span.end)))


def _merged(edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted edges, merged where they overlap or touch."""
    merged: list[tuple[int, int]] = []
    for start, end in edges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _trimmed(text: str, where: bytes, start: int, end: int) -> tuple[int, int]:
    """The span without surrounding white space; a space that carries an accent is a visible character."""
    while start < end and text[start].isspace() and where[start + 1]:
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
