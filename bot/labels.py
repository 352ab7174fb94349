"""Labels: where content comes from. They stay with it for as long as it is part of any request.

    a person's message   people: who wrote it; sources: their files, whom they quote
    a tool's answer      sources: the page, the search, the tool
    the model's words    the labels of everything it had read by then, and so whatever it had Aldis keep

`bot.trust.rules` decides by labels; `bot.trust.provenance` assigns them.

Source: Costa and others, "Securing AI Agents with Information-Flow Control" (FIDES), arXiv 2505.23643, 2025.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

SourceKind = Literal["page", "search", "tool", "file", "voice", "person", "talk", "unknown"]
"""`person`: the words of a person other than the asker; `talk`: what people in a group say to each other; `unknown`:
read before labels existed, or no longer known."""

MAX_SOURCES, MAX_PEOPLE = 8, 16
"""In one label: the newest sources of each kind of trust, and people; of more it is known only that there are some."""
_MAX_NAME_CHARACTERS, _MAX_PLAIN_CHARACTERS = 60, 30
_PLAIN_NAME = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?(?: [^\W\d_]+(?:['’-][^\W\d_]+)*\.?)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One source that was read."""

    kind: SourceKind
    name: str = ""
    """The host of a page, or the name of a file, a person or a tool, safe to show; empty if it has none."""
    is_trusted: bool = False
    """Whether only the person and Aldis can have written it."""
    is_private: bool = False
    """Whether people entrust it to Aldis: a file, rows of a database, the answer of a server that is not public."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Writer:
    """A person whose words are part of the content."""

    id: str
    name: str = ""
    """The profile name they chose."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """The people and sources a piece of content comes from, oldest first, each once."""

    people: tuple[Writer, ...] = ()
    sources: tuple[Source, ...] = ()
    is_scheduled: bool = False
    """Whether Aldis stored it earlier as a question to itself; lost when labels are joined."""


UNKNOWN = Labels(sources=(Source(kind="unknown", is_private=True),))
"""For content older than labels, which may come from anywhere."""

_labels: TypeAdapter[Labels] = TypeAdapter(Labels)


def join_labels(labels: Iterable[Labels]) -> Labels:
    """The labels of something made from content with these labels."""
    people: dict[str, Writer] = {}
    sources: dict[Source, None] = {}
    for one in labels:
        for writer in one.people:
            people[writer.id] = writer
        for source in one.sources:
            sources.pop(source, None)  # a source that is read again moves to the newest
            sources[source] = None
    if len(people) > MAX_PEOPLE:
        people = dict(list(people.items())[-MAX_PEOPLE:])
        sources.setdefault(Source(kind="person"))
    # Some of each kind of trust stay: dropping one must not make the rest look harmless.
    room = dict.fromkeys(((source.is_trusted, source.is_private) for source in sources), MAX_SOURCES)
    kept: list[Source] = []
    for source in reversed(sources):
        room[source.is_trusted, source.is_private] -= 1
        if room[source.is_trusted, source.is_private] >= 0:
            kept.append(source)
    return Labels(people=tuple(people.values()), sources=tuple(reversed(kept)))


def dump_labels(labels: Labels) -> bytes:
    """The labels as JSON."""
    return _labels.dump_json(labels, exclude_defaults=True)


def load_labels(data: bytes | str | None) -> Labels:
    """The labels written by `dump_labels`; `UNKNOWN` if there are none or they cannot be read."""
    try:
        return _labels.validate_json(data) if data else UNKNOWN
    except ValueError:
        return UNKNOWN


def shown_name(name: str | None) -> str:
    """A name that is safe in a sentence: on one line, without characters that style or hide; may be empty."""
    kept = "".join(character for character in name or "" if character.isprintable() and character not in "`*~|[]<>")
    return " ".join(kept.split())[:_MAX_NAME_CHARACTERS]


def is_plain_name(name: str) -> bool:
    """Whether a chosen name leaves no room for anything else: one or two words of letters."""
    return len(name) <= _MAX_PLAIN_CHARACTERS and _PLAIN_NAME.fullmatch(name) is not None
