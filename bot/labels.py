"""Labels: where content comes from. They stay with it for as long as it is anywhere in a request.

    a person's message   people: who wrote it; sources: their files, whom they quote
    a tool's answer      sources: the page, the search, the tool
    the model's words    the labels of all that it had read by then
    what these words     the same: a fact, a reminder, a prediction, a summary
    had Aldis keep

Integrity and confidentiality are told apart: a source may be written by anybody (`is_trusted` false), and it may be
private. What is decided by them stands in `bot.policy.trust`; which content gets which, in `bot.turn.provenance`.

Source: Costa and others, "Securing AI Agents with Information-Flow Control" (FIDES), arXiv 2505.23643, 2025.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

SourceKind = Literal["page", "search", "tool", "file", "voice", "person", "talk", "unknown"]
"""`person`: words of somebody who does not ask; `talk`: what people in a group say to each other; `unknown`: read
before there were labels, or forgotten which."""

MAX_SOURCES = 8
"""Of each kind of trust in one label; of more, the oldest are left out."""
MAX_PEOPLE = 16
"""In one label; of more it is only known that there were others."""
_MAX_NAME_CHARACTERS = 60
_MAX_PLAIN_CHARACTERS = 30
_PLAIN_NAME = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?(?: [^\W\d_]+(?:['’-][^\W\d_]+)*\.?)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One thing that was read."""

    kind: SourceKind
    name: str = ""
    """The host of a page, the name of a file, a person or a tool; empty: it has none. Made fit to be shown."""
    is_trusted: bool = False
    """Whether nobody but the person and Aldis has written it."""
    is_private: bool = False
    """Whether people trust Aldis with it: a file, rows of a database, the answer of a server that is not public."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Writer:
    """A person whose words are in the content."""

    id: str
    name: str = ""
    """The profile name that they chose; empty: none is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """Where one piece of content comes from: from these people and these sources, oldest first, each once."""

    people: tuple[Writer, ...] = ()
    sources: tuple[Source, ...] = ()
    is_scheduled: bool = False
    """Whether Aldis wrote it earlier, as a question to itself: not joined to other labels."""


UNKNOWN = Labels(sources=(Source(kind="unknown", is_private=True),))
"""Of content from before there were labels that may have come from anywhere."""

_labels: TypeAdapter[Labels] = TypeAdapter(Labels)


def join_labels(labels: Iterable[Labels]) -> Labels:
    """The labels of something that was made of content with these labels."""
    people: dict[str, Writer] = {}
    sources: dict[Source, None] = {}
    for one in labels:
        people.update((writer.id, writer) for writer in one.people)
        for source in one.sources:
            sources.pop(source, None)  # what was read again is among the newest
            sources[source] = None
    if len(people) > MAX_PEOPLE:
        people = dict(list(people.items())[-MAX_PEOPLE:])
        sources.setdefault(Source(kind="person"))
    return Labels(people=tuple(people.values()), sources=_bounded(tuple(sources)))


def dump_labels(labels: Labels) -> bytes:
    """The labels as JSON."""
    return _labels.dump_json(labels, exclude_defaults=True)


def load_labels(data: bytes | str | None) -> Labels:
    """The labels that `dump_labels` wrote; those of unknown content where there are none, or none that can be read."""
    try:
        return _labels.validate_json(data) if data else UNKNOWN
    except ValueError:
        return UNKNOWN


def shown_name(name: str | None) -> str:
    """A name as it may stand in a sentence: on one line, without signs that style or hide; perhaps empty."""
    kept = "".join(character for character in name or "" if character.isprintable() and character not in "`*~|[]<>")
    return " ".join(kept.split())[:_MAX_NAME_CHARACTERS]


def is_plain_name(name: str) -> bool:
    """Whether a name that somebody chose has no room for anything else: one or two words of letters."""
    return len(name) <= _MAX_PLAIN_CHARACTERS and _PLAIN_NAME.fullmatch(name) is not None


def _bounded(sources: tuple[Source, ...]) -> tuple[Source, ...]:
    """Not more than there is room for, and some of each kind of trust: what is left out must not seem harmless."""
    if len(sources) <= MAX_SOURCES:
        return sources
    kept: set[Source] = set()
    for trust in {(source.is_trusted, source.is_private) for source in sources}:
        kept.update([source for source in sources if (source.is_trusted, source.is_private) == trust][-MAX_SOURCES:])
    return tuple(source for source in sources if source in kept)
