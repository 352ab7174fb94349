"""What people see in their chats, one after the other, and the page `docs/signal.md` that shows it.

Alice   │ Bob: The roses are dry.
        Aldis, what about these?
        [roses.jpg]
      · Aldis puts 👀 on “Aldis, what about these?”
"""

import html
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

PATH = Path(__file__).parents[3] / "docs" / "signal.md"

_HEAD = """\
# What people see in Signal

Each conversation below really took place: with all of Aldis, over a double of signal-cli that shows what phones
would show, and with a scripted model. `make transcripts` plays them and writes this page; a test
plays them again and compares. Text in ‹these marks› differs every time.

A name is followed by a message, │ by what it quotes, · by what happens to a message; native mentions are
underlined. Where the model reads something, that is the question it really gets.

Over signal-cli-rest-api a few things differ: [this table](operating.md#in-signal) lists them.
"""

_WIDTH = 92

_TAGS = {"BOLD": "b", "MENTION": "u", "ITALIC": "i", "STRIKETHROUGH": "s", "MONOSPACE": "code"}
_FOLDING = textwrap.TextWrapper(120, break_long_words=False, break_on_hyphens=False)
_MARGIN = 8
_SHORT = 44
_ASIDE = frozenset({"ITALIC"})


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


def said_as(text: Sequence[Letter], words: Mapping[str, str]) -> tuple[Letter, ...]:
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
        while len(row) > _WIDTH:
            blanks = [at for at in range(1, _WIDTH + 1) if row[at].character == " "]
            cut = blanks[-1] if blanks else _WIDTH
            found.append(row[:cut])
            row = row[cut + 1 :] if blanks else row[cut:]
        found.append(row)
    return [row[: len("".join(letter.character for letter in row).rstrip())] for row in found]


def as_html(line: Iterable[Letter]) -> str:
    written = ""
    for styles, group in groupby(line, lambda letter: letter.styles):
        tags = [_TAGS[style] for style in sorted(styles)]
        words = html.escape("".join(letter.character for letter in group), quote=False)
        written += "".join(f"<{tag}>" for tag in tags) + words + "".join(f"</{tag}>" for tag in reversed(tags))
    return written


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message; `quote` is the line above it, `instead_of` what stood in its place, `files` what came with it."""

    chat: str
    who: str
    text: Sequence[Letter]
    quote: str | None = None
    instead_of: str | None = None
    files: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Done:
    """Something that happens to a message, or beside the chat."""

    chat: str | None
    """None: in no chat."""
    what: str


Sight = Said | Done


def short(text: str) -> str:
    """A message as others refer to it: its first words."""
    first, _, more = text.partition("\n")
    if len(first) > _SHORT:
        first, more = first[: first.rfind(" ", 0, _SHORT)], "…"
    return f"“{first}{' …' if more else ''}”"


def written(sights: Sequence[Sight]) -> str:
    """All that was seen, in the order in which it was; the name of the chat stands wherever it changes."""
    rows: list[str] = []
    chat: str | None = None
    for sight in sights:
        if sight.chat is not None and sight.chat != chat:
            rows += [""] * bool(rows) + [f"<b>{sight.chat}</b>"]
            chat = sight.chat
        rows += _said(sight) if isinstance(sight, Said) else _done(sight.what)
    return "\n".join(rows)


def _said(said: Said) -> list[str]:
    aside = [f"in place of {said.instead_of}:"] if said.instead_of else []
    quote = [f"│ {said.quote}"] if said.quote else []
    text: list[Sequence[Letter]] = [_aside(line) for line in (*quote, *aside)]
    text += lines(said.text)
    text += [letters(f"[{file}]") for file in said.files]
    margins = [f"{said.who:<{_MARGIN}}", *[" " * _MARGIN] * len(text)]
    return [(margin + as_html(line)).rstrip() for margin, line in zip(margins, text, strict=False)]


def _done(what: str) -> list[str]:
    margins = [" " * (_MARGIN - 2) + "· ", *[" " * _MARGIN] * len(what)]
    return [(margin + as_html(line)).rstrip() for margin, line in zip(margins, lines(_aside(what)), strict=False)]


def _aside(text: str) -> tuple[Letter, ...]:
    return tuple(Letter(character, _ASIDE if character != "\n" else frozenset()) for character in text)


def page(told: Iterable[tuple[str, str, Sequence[Sight]]]) -> str:
    """The page, as Markdown; of each story its title, what stands above it, and what was seen."""
    sections = [
        f"## {title}\n\n{_FOLDING.fill(words)}\n\n<pre>\n{written(sights)}\n</pre>\n" for title, words, sights in told
    ]
    return "\n".join([_HEAD, *sections])
