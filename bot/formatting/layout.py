"""How Markdown looks in Signal, which has five styles and one proportional font on a narrow screen.

A heading is a bold line between blank lines; bullets are "• ", numbers stay, tasks are "☐" and "☑", nested items are
indented; quoted lines begin with "> "; a rule is "———"; code is monospace, without its fences and language; a link is
"text (address)", or just the address if the text says no more; line breaks and blank lines are the author's.
A table is aligned in monospace if it fits into 28 characters of equal width; any other becomes a block of
"Header: value" lines per row, because columns do not line up in a proportional font and wrapped lines cannot be read.

Pure.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from bot.events import Style
from bot.formatting.markdown import Token, tokens
from bot.formatting.spans import PLAIN, Piece, StyledText, Styles, join_pieces

Cell = list[Piece]

_GRID_CHARS = 28
"""How many monospace characters fit side by side in a bubble on a small phone (360 dp wide, 16 sp)."""
_GRID_TEXT = re.compile("[ -~\u00a0-\u024f\u0370-\u0482\u048a-\u052f–—‘’“”…€]*")
"""Characters that have the same width in every monospace font."""
_EMPTY = "–"
_GAP = "  "
_RULE = "———"
_BULLET = "• "
_BOXES = {" ": "☐ ", "x": "☑ ", "X": "☑ "}
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_BREAK_TAG = re.compile(r"[ \t]*<br[ \t]*/?>[ \t]*", re.IGNORECASE)
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_SCHEME = re.compile(r"(?:https?://|mailto:|tel:)")
_STYLES = {"strong": Style.BOLD, "em": Style.ITALIC, "s": Style.STRIKETHROUGH, "spoiler": Style.SPOILER}
_BOLD: Styles = frozenset({Style.BOLD})
_CODE: Styles = frozenset({Style.MONOSPACE})
_APART = frozenset({"heading_open", "fence", "table_open", "hr"})
"""Blocks with a blank line before and after them, outside lists, whether or not the author left one."""
_FLUSH = frozenset({"fence", "table_open"})
"""Blocks that a list does not indent: code is meant to be copied, and a table needs the width."""


def style_beginning(markdown: str, limit_chars: int) -> StyledText:
    """The first `limit_chars` of a Markdown text as Signal can show them; a table may end slightly beyond."""
    source = markdown[:limit_chars]
    page = _Page(source.split("\n"), limit_chars)
    page.fill(tokens(source))
    styled = join_pieces(page.pieces)
    return styled if styled.text else StyledText(text=markdown.strip()[:limit_chars].rstrip())


@dataclass
class _Container:
    """A quote or a list item: the prefixes of its first line and of the others."""

    first: str
    rest: str
    begun: bool = False

    @property
    def is_item(self) -> bool:
        return not self.rest.strip()

    def prefix(self) -> str:
        """The prefix of the next line."""
        prefix = self.rest if self.begun else self.first
        self.begun = True
        return prefix


@dataclass
class _Page:
    """The text so far: blocks one below the other, each line after the prefixes of its containers."""

    lines: Sequence[str]
    room_chars: int
    pieces: list[Piece] = field(default_factory=list[Piece])
    containers: list[_Container] = field(default_factory=list[_Container])
    is_apart: bool = False
    """Whether the last block is set apart."""

    def fill(self, blocks: Sequence[Token]) -> None:
        """Sets all blocks."""
        rest = iter(blocks)
        for block in rest:
            match block.type:
                case "blockquote_open":
                    self.containers.append(_Container("> ", "> "))
                case "list_item_open":
                    marker = f"{block.info}{block.markup} " if block.info else _BULLET
                    self.containers.append(_Container(marker, " " * len(marker)))
                case "blockquote_close" | "list_item_close":
                    self._close_container()
                case "paragraph_open":
                    self._set(block, self._paragraph(block, _words(next(rest))))
                case "heading_open":
                    words = [(text, styles | _BOLD) for text, styles in _words(next(rest))]
                    self._set(block, words or [(block.markup, PLAIN)])
                case "table_open":
                    header, *rows = _rows(rest, self.lines)
                    self._set(block, table(header, rows))
                case "fence" if code := block.content.strip("\n") if block.content.strip() else block.info.strip():
                    self._set(block, [(code, _CODE)])  # between two fences, or if there is none behind the first one
                case "hr":
                    self._set(block, [(_RULE, PLAIN)])
                case _:  # the outside of lists, and the ends of blocks already read
                    pass

    def _paragraph(self, block: Token, words: list[Piece]) -> list[Piece]:
        """A paragraph's words: a task's box becomes its item's marker; meaningless indentation stays."""
        if not self.containers:
            line = self.lines[block.map[0]] if block.map else ""
            return [(line[: len(line) - len(line.lstrip(" \t"))], PLAIN), *words]
        item = self.containers[-1]
        task = _TASK.match(words[0][0]) if words and item.is_item and not item.begun else None
        if task is None:
            return words
        item.first = item.first.removesuffix(_BULLET) + _BOXES[task[1]]
        return [(words[0][0][task.end() :], words[0][1]), *words[1:]]

    def _set(self, block: Token, content: Iterable[Piece]) -> None:
        """Adds a block, below a blank line if the author left one or if it or the last block is set apart."""
        is_apart, is_flush = block.type in _APART, block.type in _FLUSH
        is_listed = any(container.is_item and container.begun for container in self.containers)
        if self.pieces:
            first = block.map[0] if block.map else 0
            is_below_blank = first > 0 and not self.lines[first - 1].strip(" \t>")
            is_blank = is_below_blank or ((is_apart or self.is_apart) and not is_listed)
            bars = "".join(container.rest for container in self.containers if container.begun).rstrip()
            self._put(f"\n{bars}\n" if is_blank else "\n", PLAIN)
        self.is_apart = is_apart
        is_first = any(container.is_item and not container.begun for container in self.containers)
        prefix = self._next_prefix()
        others = "".join(container.rest for container in self.containers if not (is_flush and container.is_item))
        if is_flush:
            prefix = (prefix.rstrip() + "\n" if is_first else "") + others
        self._put(prefix, PLAIN)
        # A style continues over a line's indentation, but over a quote's bar only in code.
        for text, styles in content:
            first_line, *lines = text.split("\n")
            self._put(first_line, styles)
            for line in lines:
                self._put("\n" + others, styles if is_flush or not others.strip() else PLAIN)
                self._put(line, styles)
            if self.room_chars <= 0:
                break

    def _close_container(self) -> None:
        """Leaves a quote or an item; one without content consists of its marker."""
        if not self.containers[-1].begun:
            self._put(("\n" if self.pieces else "") + self._next_prefix().rstrip(), PLAIN)
        self.containers.pop()

    def _next_prefix(self) -> str:
        return "".join(container.prefix() for container in self.containers)

    def _put(self, text: str, styles: Styles) -> None:
        if text:
            self.pieces.append((text, styles))
            self.room_chars -= len(text)


def _words(inline: Token) -> list[Piece]:
    """The styled words of a paragraph, a heading or a cell; line breaks are line feeds."""
    words: list[Piece] = []
    links: list[tuple[Token, int]] = []
    depth: Counter[Style] = Counter()
    styles = PLAIN
    for token in inline.children or ():
        match token.type:
            case "text":
                words.append((token.content, styles))
            case "softbreak":
                words.append(("\n", styles))
            case "code_inline":
                words.append((token.content, styles | _CODE))
            case "link_open":
                links.append((token, len(words)))
            case "link_close":
                link, start = links.pop()
                words[start:] = _linked(words[start:], link, styles)
            case edge:
                depth[_STYLES[edge.partition("_")[0]]] += token.nesting
                styles = frozenset(+depth)
    return words


def _linked(label: list[Piece], link: Token, styles: Styles) -> list[Piece]:
    """A link's label and address, or only one of them if they say the same."""
    address, title = str(link.attrs.get("href", "")), str(link.attrs.get("title", ""))
    text = "".join(words for words, _ in label).strip()
    bare = _SCHEME.sub("", address, count=1)
    if title:
        return [*label, (f' ({address} "{title}")', styles)]
    if not address or text == address or (text == bare and not address.startswith("http")):
        return label
    if not text or text.rstrip("/") == bare.rstrip("/"):
        return [(address, styles)]
    return [*label, (f" ({address})", styles)]


def _rows(blocks: Iterator[Token], lines: Sequence[str]) -> list[list[Cell]]:
    """The rows of a table up to its end, header first, each with as many cells as the header."""
    rows: list[list[Cell]] = []
    line = ""
    for block in takewhile(lambda block: block.type != "table_close", blocks):
        match block.type:
            case "tr_open":
                rows.append([])
                line = lines[block.map[0]] if block.map else ""
            case "inline":
                rows[-1].append([(_BREAK_TAG.sub("\n", text), styles) for text, styles in _words(block)])
            case "tr_close":
                # What a row has beyond the header's columns, as written, because Markdown drops it.
                cells = _CELL_BORDER.split(line.strip(" \t>"))
                cells = cells[cells[0] == "" :]
                surplus = [cell.strip() for cell in cells[len(rows[0]) :] if cell.strip()]
                rows[-1][-1] += [("".join(f" | {cell}" for cell in surplus), PLAIN)] if surplus else []
            case _:
                pass
    return rows


def table(header: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> Iterator[Piece]:
    """The table's pieces. Every row has as many cells as the header; an empty cell is shown as "–"."""
    widths = [max(map(_width, column)) for column in zip(header, *rows, strict=True)]
    is_even = all(_GRID_TEXT.fullmatch(_text(cell)) for row in (header, *rows) for cell in row)
    if not rows:
        for index, cell in enumerate(header):
            yield (" | " if index else ""), PLAIN
            yield from _shown(cell)
    elif is_even and sum(widths) + len(_GAP) * (len(widths) - 1) <= _GRID_CHARS:
        rule: Sequence[Cell] = [[("─" * width, PLAIN)] for width in widths]
        for index, row in enumerate((header, rule, *rows)):
            missing = 0
            yield ("\n" if index else ""), _CODE
            for cell, width in zip(row, widths, strict=True):
                yield " " * missing, _CODE
                yield from ((text, styles | _CODE) for text, styles in _shown(cell))
                missing = width - _width(cell) + len(_GAP)
    else:
        yield from _records(header, rows)


def _records(header: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> Iterator[Piece]:
    gap = ""
    for row in rows:
        for label, cell in zip(header, row, strict=True):
            yield gap, PLAIN
            if words := _text(label).rstrip():
                yield from ((text, styles | _BOLD) for text, styles in label)
                yield (" " if words.endswith(":") else ": "), _BOLD
            yield from _shown(cell)
            gap = "\n"
        gap = "\n\n"


def _shown(cell: Cell) -> Cell:
    return cell if _text(cell).strip() else [(_EMPTY, PLAIN)]


def _text(cell: Cell) -> str:
    return "".join(text for text, _ in cell)


def _width(cell: Cell) -> int:
    return len(_text(_shown(cell)))
