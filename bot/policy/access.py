"""Pure: who may write to Aldis. Deny by default; decided from the envelope alone, before anything is stored or fetched.

                          direct chat   listed group   any group (groups: *)
    listed person         yes           yes            yes
    let in by pairing     yes           yes            no
    member of a listed    if set so     yes            no
    group
    anybody else          no            no             no

Where the account is a person's own (`note_to_self`), all this is void: what the account writes to itself may come in
and nothing else, for the person's other chats are no affair of Aldis's.

A person is known by uuid; a phone number on the list is an alias for the account that had it when it first wrote.
Groups and direct chats are separate: a listed group lets its members ask in the group, and nothing else unless the
operator wants it; a person who was let in may write directly, and in groups only where the group is listed.
Left to others: who was let in, who is a member now, and whether a number is still the same account's
(`bot.loops.intake`, `store.people`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from bot.events import ChatId, Envelope, PersonId
from bot.policy.chat_settings import Askers
from bot.transports.base import Group

EVERYBODY = "*"

_MAX_MEMBERS = 20_000
"""Twenty groups of the largest size, a thousand. Source: Signal Support, "Group chats" (2026-11)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessList:
    """Who may write. Persons are lower-case uuids, `+...` numbers or `*`; groups are exact ids or `*`."""

    persons: frozenset[str]
    groups: frozenset[str]
    admins: frozenset[str] = frozenset()
    """Who may give the operator's commands, by uuid or number; they may write as well."""
    group_members_may_write: bool = False
    """Whether the members of the groups that are listed by id may write directly, too."""
    members: frozenset[PersonId] = frozenset()
    """Who is in those groups, as the bridge said last; counts only together with the line above."""
    note_to_self: bool = False
    """Whether the account is a person's own: then its owner alone may write, to themselves, and is an admin there."""

    @property
    def is_empty(self) -> bool:
        """Whether nobody at all may write."""
        return not (self.persons or self.groups or self.admins or self.note_to_self)

    @property
    def numbers(self) -> frozenset[str]:
        """The phone numbers among persons and admins."""
        return frozenset(entry for entry in self.persons | self.admins if entry.startswith("+"))

    @property
    def needs_members(self) -> bool:
        """Whether it has to be known who is in the listed groups."""
        return self.group_members_may_write and bool(self.groups - {EVERYBODY}) and not self.note_to_self


def may_write(envelope: Envelope, allowed: AccessList, *, is_approved: bool = False) -> bool:
    """Whether the author may write where the envelope came from; `is_approved`: was let in by pairing.

    A number in the envelope counts as the author's: the intake takes one off that is pinned to another account.
    """
    if envelope.author is None or envelope.chat is None:
        return False
    if allowed.note_to_self or envelope.from_self:
        return allowed.note_to_self and envelope.from_self and is_direct(envelope)
    if envelope.chat.is_group:
        # Anybody can make a group and add Aldis to it: "every group" opens none to people who are not listed.
        is_open = EVERYBODY in allowed.groups and _is_listed(envelope, allowed)
        return is_open or envelope.chat.id in allowed.groups
    is_welcome = is_approved or _is_listed(envelope, allowed) or _is_welcome_member(envelope, allowed)
    return is_welcome and envelope.chat == ChatId.direct(envelope.chat.id)


def is_direct(envelope: Envelope) -> bool:
    """Whether it came in the author's own chat with Aldis."""
    return envelope.author is not None and envelope.chat == ChatId.direct(envelope.author)


def is_admin(envelope: Envelope, allowed: AccessList) -> bool:
    """Whether the author may give the operator's commands.

    The envelope is to come from the inbox: what stands there has no number that is pinned to another account.
    """
    if allowed.note_to_self or envelope.from_self:
        return allowed.note_to_self and envelope.from_self
    return not allowed.admins.isdisjoint(_names(envelope))


def may_ask(envelope: Envelope, allowed: AccessList, askers: Askers, *, is_approved: bool = False) -> bool:
    """Whether the author may ask in a group that is open to these; directly everybody may who may write."""
    if askers == "all" or envelope.chat is None or not envelope.chat.is_group:
        return True
    if is_admin(envelope, allowed):
        return True
    if askers != "list" or envelope.author is None:
        return False
    return may_write(replace(envelope, chat=ChatId.direct(envelope.author)), allowed, is_approved=is_approved)


def accepts(invitation: Group, allowed: AccessList) -> bool:
    """Whether Aldis joins a group that it is invited to: one that is listed; and where every group is, one in which
    somebody is who is listed by their uuid, for anybody can make a group.
    """
    if allowed.note_to_self:
        return False
    if invitation.id in allowed.groups:
        return True
    return EVERYBODY in allowed.groups and not invitation.members.isdisjoint(allowed.persons | allowed.admins)


def members_of(groups: Iterable[Group], allowed: AccessList) -> frozenset[PersonId]:
    """Everybody who is in a group that is listed by its id, up to a bound."""
    people = (person for group in groups if group.id in allowed.groups for person in group.members)
    return frozenset(islice(people, _MAX_MEMBERS))


def _is_listed(envelope: Envelope, allowed: AccessList) -> bool:
    return EVERYBODY in allowed.persons or not (allowed.persons | allowed.admins).isdisjoint(_names(envelope))


def _is_welcome_member(envelope: Envelope, allowed: AccessList) -> bool:
    return allowed.group_members_may_write and envelope.author in allowed.members


def _names(envelope: Envelope) -> frozenset[str]:
    return frozenset(name for name in (envelope.author, envelope.number) if name)
