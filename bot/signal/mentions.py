"""Native mentions: whom they name, and the text with names in place of Signal's placeholders.

Left to others: everything else in a message (`envelope`).

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonMention` (2026-11-21).
"""

import re
from dataclasses import dataclass

from bot.events import NamedPerson, PersonId
from bot.signal.json import Json, name_of, person_in, text_in, whole_in

MENTION_SIGN = "\ufffc"
"""The placeholder for a native mention; its position and length (1) count UTF-16 code units."""

_SCHEME = re.compile(r"\w+:/+")
"""What turns a name into an address: whoever is mentioned chose it, and it ends up among somebody else's words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Own:
    """The account as others name it in mentions and quotes."""

    number: str | None
    uuid: PersonId | None
    """None until the bridge has told."""
    name: str = "Aldis"

    def is_me(self, person: PersonId | None, number: str) -> bool:
        """Whether a person is the account itself: by UUID, or by number if that is known."""
        return bool(number and number == self.number) or (person is not None and person == self.uuid)

    @property
    def id(self) -> str:
        """The account's UUID, or its number as long as that is all that is known."""
        return self.uuid or self.number or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A mention in a text, in UTF-16 code units, and how it is spelled out."""

    start: int
    length: int
    written: str
    is_me: bool
    person: PersonId | None = None
    """None if the bridge does not say who it is."""

    @property
    def others(self) -> tuple[NamedPerson, ...]:
        """The person with the name used in the text; empty for the account itself, or somebody unknown."""
        person = None if self.is_me else self.person
        return () if person is None else (NamedPerson(name=self.written.removeprefix("@"), person=person),)


def mention_in(item: Json, own: Own) -> Mention:
    """Returns the mention that an object of a frame describes; one without a position points nowhere."""
    person, number = person_in(item, "uuid"), text_in(item, "number")
    is_me = own.is_me(person, number)
    name = (
        own.name if is_me else name_of(text_in(item, "name"), number) or f"member-{person[:8] if person else 'unknown'}"
    )
    name = _SCHEME.sub("", name)
    start, length = whole_in(item, "start"), whole_in(item, "length")
    return Mention(
        start=-1 if start is None else start, length=length or 0, written=f"@{name}", is_me=is_me, person=person
    )


def with_names(text: str, mentions: list[Mention]) -> str:
    """Returns the text with its placeholders spelled out; Aldis's own mention at the very beginning is left out.

    A mention that does not point to a placeholder (or points to the same one again) changes nothing.
    """
    units = text.encode("utf-16-le")
    written, end, addressed, is_blank = "", 0, False, True
    for mention in sorted(mentions, key=lambda mention: mention.start):
        start, stop = 2 * mention.start, 2 * (mention.start + mention.length)
        if start < end or units[start:stop].decode("utf-16-le", "replace") != MENTION_SIGN:
            continue
        before = units[end:start].decode("utf-16-le", "replace")
        # Looking at all of it again for each of thousands of mentions would block everybody for a second.
        is_blank = is_blank and not before.strip()
        leads = mention.is_me and is_blank
        addressed, is_blank = addressed or leads, is_blank and leads
        written += before + ("" if leads else mention.written)
        end = stop
    written += units[end:].decode("utf-16-le", "replace")
    return written.lstrip(" \t\r\n,:") if addressed else written
