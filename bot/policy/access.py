"""Pure: who may write to Aldis. Deny by default; decided from the envelope alone, before anything is stored or fetched.

A person is known by uuid; a phone number on the list is an alias for whoever Signal says has it. Groups and direct
chats are separate: a listed group lets its members ask in the group, and nothing else; a listed person may write
directly, and in groups only where the group is listed too.
"""

from dataclasses import dataclass

from bot.events import Envelope

EVERYBODY = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessList:
    """Who may write. Persons are lower-case uuids, `+...` numbers or `*`; groups are exact ids or `*`."""

    persons: frozenset[str]
    groups: frozenset[str]

    @property
    def is_empty(self) -> bool:
        """Whether nobody at all may write."""
        return not (self.persons or self.groups)


def may_write(envelope: Envelope, allowed: AccessList) -> bool:
    """Whether the author may write where the envelope came from."""
    if envelope.author is None or envelope.chat is None or envelope.from_self:
        return False
    place, _, group = envelope.chat.partition(":")
    if place != "group":
        return _is_listed(envelope, allowed)
    if group in allowed.groups:
        return True
    # Anybody can make a group and add Aldis to it: "every group" opens none to people who are not listed.
    return EVERYBODY in allowed.groups and _is_listed(envelope, allowed)


def _is_listed(envelope: Envelope, allowed: AccessList) -> bool:
    return not allowed.persons.isdisjoint({envelope.author, envelope.number or envelope.author, EVERYBODY})
