"""Sights: what people see in their chats, one after the other, and how a line of it is written.

Alice   │ Bob: The roses are dry.
        Aldis, what about these?
        [roses.jpg]
      · Aldis puts 👀 on “Aldis, what about these?”
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.campaigns.transcripts.letters import Letter, as_html, letters, lines

_MARGIN = 8
_SHORT = 44
_ASIDE = frozenset({"ITALIC"})


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message; `quote` is the line above it, `instead_of` what stood in its place, `files` what came with it."""

    chat: str
    """What the chat is called on the page."""
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
