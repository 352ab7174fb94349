"""Pure: people whom an answer names become native mentions, so that their phones tell them.

A mention is `@` and a name, exactly as the question has it; the longest of several names that fit counts. A name that
two people have is nobody's, and in code stands what the code says.
Left to others: who takes part in the exchange (`bot.turn.outgoing`), sending a mention (`bot.transports`).
"""

import re
from collections.abc import Collection, Iterable

from bot.events import MentionRange, NamedPerson, PersonId, Style, Styled
from bot.formatting.graphemes import utf16_offsets
from bot.turn.prompt import shown_name


def find_mentions(content: Styled, people: Iterable[NamedPerson]) -> tuple[MentionRange, ...]:
    """The places of a part of an answer that name one of these people, in order."""
    known = _by_name(people)
    if not known or "@" not in content.text:
        return ()
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    units = utf16_offsets(content.text)
    places = [(*match.span(), known[match[1]]) for match in re.finditer(rf"(?<![\w@])@({names})(?!\w)", content.text)]
    ranges = [
        MentionRange(start=units[start], length=units[end] - units[start], person=person)
        for start, end, person in places
    ]
    code = [style for style in content.styles if style.style is Style.MONOSPACE]
    return tuple(
        one
        for one in ranges
        if not any(span.start < one.start + one.length and one.start < span.start + span.length for span in code)
    )


def _by_name(people: Iterable[NamedPerson]) -> dict[str, PersonId]:
    """Who has each name, as it is and as the model is shown it."""
    holders: dict[str, set[PersonId]] = {}
    for one in people:
        for name in {one.name, shown_name(one.name)}:
            holders.setdefault(name, set()).add(one.person)
    return {name: _only(persons) for name, persons in holders.items() if name and len(persons) == 1}


def _only(persons: Collection[PersonId]) -> PersonId:
    [person] = persons
    return person
