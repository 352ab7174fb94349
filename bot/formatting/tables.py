"""A table on a narrow screen with a proportional font: aligned in monospace if it fits, else one block per row.

Columns do not line up in a proportional font, and wrapped monospace lines cannot be read. So a table wider than 28
characters, or with characters of another width (emoji, Chinese), becomes blocks of "Header: value" lines. Pure.
"""

import re
from collections.abc import Iterator, Sequence

from bot.events import Style
from bot.formatting.spans import PLAIN, Piece, Styles

Cell = list[Piece]

_GRID_CHARS = 28
"""How many monospace characters fit side by side in a bubble on a small phone (360 dp wide, 16 sp)."""
_GRID_TEXT = re.compile("[ -~\u00a0-\u024f\u0370-\u0482\u048a-\u052f–—‘’“”…€]*")
"""Characters that have the same width in every monospace font."""
_EMPTY = "–"
_GAP = "  "
_BOLD: Styles = frozenset({Style.BOLD})
_CODE: Styles = frozenset({Style.MONOSPACE})


def table(header: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> Iterator[Piece]:
    """The table's pieces. Every row has as many cells as the header; an empty cell is shown as "–"."""
    widths = [max(map(_width, column)) for column in zip(header, *rows, strict=True)]
    cells = [cell for row in (header, *rows) for cell in row]
    if rows and sum(widths) + len(_GAP) * (len(widths) - 1) <= _GRID_CHARS and all(map(_is_even, cells)):
        return _grid(header, rows, widths)
    return _records(header, rows) if rows else _listed(header)


def _grid(header: Sequence[Cell], rows: Sequence[Sequence[Cell]], widths: Sequence[int]) -> Iterator[Piece]:
    yield from _grid_line(header, widths)
    yield "\n" + _GAP.join("─" * width for width in widths), _CODE
    for row in rows:
        yield "\n", _CODE
        yield from _grid_line(row, widths)


def _grid_line(row: Sequence[Cell], widths: Sequence[int]) -> Iterator[Piece]:
    missing = 0
    for cell, width in zip(row, widths, strict=True):
        yield " " * missing, _CODE
        yield from ((text, styles | _CODE) for text, styles in _shown(cell))
        missing = width - _width(cell) + len(_GAP)


def _records(header: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> Iterator[Piece]:
    gap = ""
    for row in rows:
        for label, cell in zip(header, row, strict=True):
            yield gap, PLAIN
            yield from _label(label)
            yield from _shown(cell)
            gap = "\n"
        gap = "\n\n"


def _label(cell: Cell) -> Iterator[Piece]:
    words = _text(cell).rstrip()
    if words:
        yield from ((text, styles | _BOLD) for text, styles in cell)
        yield (" " if words.endswith(":") else ": "), _BOLD


def _listed(header: Sequence[Cell]) -> Iterator[Piece]:
    """A header without rows."""
    for index, cell in enumerate(header):
        yield (" | " if index else ""), PLAIN
        yield from _shown(cell)


def _shown(cell: Cell) -> Cell:
    return cell if _text(cell).strip() else [(_EMPTY, PLAIN)]


def _text(cell: Cell) -> str:
    return "".join(text for text, _ in cell)


def _width(cell: Cell) -> int:
    return len(_text(_shown(cell)))


def _is_even(cell: Cell) -> bool:
    return _GRID_TEXT.fullmatch(_text(cell)) is not None
