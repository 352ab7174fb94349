"""Pure: whether what a call is given stands in the message of the person who asked, so that no question is needed.

    "Write 'see you' to anna@example.org" + send {to: "anna@example.org"}                   -> theirs
                                          + send {to: "anna@example.org", text: "see you"}  -> theirs
                                          + send {to: "anna@example.org", text: "see"}      -> not theirs

A value is the person's if it stands as whole words, three characters or more, in one message of theirs. Of a quotation
only the whole counts, and nothing of what follows the first paragraph, where people paste what others wrote; files and
quoted messages are not part of the message. A value that the schema fixes (a choice, a flag, the default) needs no
naming, but never suffices alone. Everything else needs a question.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

MESSAGE_END = "\f"
"""Separates consecutive messages of the same person."""

MIN_CHARACTERS = 3
_MAX_CHARACTERS = 20_000
"""The limit of a message that names anything: people do not write longer ones by hand."""
_QUOTED = re.compile(
    r"```.*?```|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|‘[^’]*’|(?<!\w)'[^']*'(?!\w)", re.DOTALL
)
_MARKS = "`'\"“”„«»‘’ "
_CITED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_PASTED = re.compile(r":[ \t]*\n|\n[ \t]*\n")
"""Where a message goes on with what was pasted: after an empty line, or a line that ends in a colon."""
_PARTS = r"\w@./\\#=&%+~$:-"
"""Signs that belong to a word, an address, a path or an amount; before a space the last of them is punctuation."""


def names_all(words: str, arguments: Mapping[str, object], schema: Mapping[str, Any]) -> bool:
    """Whether one of the person's messages names every value of a call that its schema does not fix, and at least one.

    `words` are the messages, separated by `MESSAGE_END`; `schema` is that of the arguments object.
    """
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    given = {name: value for name, value in arguments.items() if value not in (None, "", [], {})}
    free = [value for name, value in given.items() if not _is_fixed(value, properties.get(name, {}))]
    return bool(free) and any(_names(_own_part(message), free) for message in words.split(MESSAGE_END))


@dataclass(frozen=True, slots=True)
class _Said:
    """What of a message the person wrote themselves, in plain letters."""

    words: str
    """Without its quotations."""
    quotations: frozenset[str]


def _is_fixed(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether the schema leaves no room in this value: a flag, a choice, or what is taken without it."""
    if isinstance(value, bool) or value == schema.get("default"):
        return True
    if isinstance(value, list):
        return all(_is_fixed(item, schema.get("items", {})) for item in cast("list[object]", value))
    kinds = [schema, *schema.get("anyOf", ())]
    return any(value in kind.get("enum", ()) or value == kind.get("const") for kind in kinds)


def _own_part(message: str) -> _Said:
    first = _PASTED.split(message.strip(), maxsplit=1)[0] if len(message) <= _MAX_CHARACTERS else ""
    first = _CITED_LINE.sub(" ", first)
    quotations = frozenset(_plain(found[0].strip(_MARKS)) for found in _QUOTED.finditer(first) if found[0][:3] != "```")
    return _Said(_plain(_QUOTED.sub(" ", first)), quotations)


def _names(said: _Said, values: Iterable[object]) -> bool:
    return all(_stands_in(said, value) for value in values)


def _stands_in(said: _Said, value: object) -> bool:
    """Whether a value, or each value in it, stands in the message as whole words."""
    if isinstance(value, list):
        return all(_stands_in(said, item) for item in cast("list[object]", value))
    if isinstance(value, dict):
        items = cast("dict[str, object]", value)
        return bool(items) and all(_stands_in(said, item) for item in items.values())
    text = _plain(str(value))
    if isinstance(value, bool) or len(text) < MIN_CHARACTERS:
        return False
    if text in said.quotations:
        return True
    whole = rf"(?<![{_PARTS}]){re.escape(text.rstrip(_MARKS + '.!?,;'))}(?![\w@/\\#=&%+~$-]|[.:,]\w)"
    return re.search(whole, said.words) is not None


def _plain(text: str) -> str:
    """Returns a text in one line, without differences of case and of how letters are composed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
