"""Letters: a text with its styles as Signal sends it, folded to the width of the page and written as HTML."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

WIDTH = 92
"""How many characters a line of the page holds beside the name."""

_TAGS = {"BOLD": "b", "MENTION": "u", "ITALIC": "i", "STRIKETHROUGH": "s", "MONOSPACE": "code"}


@dataclass(frozen=True)
class Letter:
    """One character and the styles that it has; `MENTION` is one of them here."""

    character: str
    styles: frozenset[str] = frozenset()


def letters(text: str, styles: Iterable[str] = ()) -> tuple[Letter, ...]:
    """A text, its styles as `start:length:STYLE` in UTF-16 units."""
    ranges = [(int(start), int(start) + int(length), name) for start, length, name in (s.split(":") for s in styles)]
    found: list[Letter] = []
    at = 0
    for character in text:
        found.append(Letter(character, frozenset(name for start, end, name in ranges if start <= at < end)))
        at += len(character.encode("utf-16-le")) // 2
    return tuple(found)


def said_as(text: Sequence[Letter], words: dict[str, str]) -> tuple[Letter, ...]:
    """The text with other words for what differs from run to run: by the pattern that it has."""
    for pattern, word in words.items():
        whole = "".join(letter.character for letter in text)
        for match in reversed(list(re.finditer(pattern, whole))):
            styles = text[match.start()].styles
            new = (Letter(character, styles) for character in word)
            text = (*text[: match.start()], *new, *text[match.end() :])
    return tuple(text)


def lines(text: Sequence[Letter]) -> list[Sequence[Letter]]:
    """The text in lines that fit the page; a line is broken at its last blank that allows it."""
    found: list[Sequence[Letter]] = []
    for is_break, group in groupby(text, lambda letter: letter.character == "\n"):
        row = list(group)
        if is_break:
            found += [()] * (len(row) - 1 if found else len(row))
            continue
        while len(row) > WIDTH:
            blanks = [at for at in range(1, WIDTH + 1) if row[at].character == " "]
            cut = blanks[-1] if blanks else WIDTH
            found.append(row[:cut])
            row = row[cut + 1 :] if blanks else row[cut:]
        found.append(row)
    return [_stripped(row) for row in found]


def _stripped(line: Sequence[Letter]) -> Sequence[Letter]:
    end = len("".join(letter.character for letter in line).rstrip())
    return line[:end]


def as_html(line: Iterable[Letter]) -> str:
    """A line with its styles as tags."""
    written = ""
    for styles, group in groupby(line, lambda letter: letter.styles):
        tags = [_TAGS[style] for style in sorted(styles)]
        words = html.escape("".join(letter.character for letter in group), quote=False)
        written += "".join(f"<{tag}>" for tag in tags) + words + "".join(f"</{tag}>" for tag in reversed(tags))
    return written
