"""Who may write to Aldis. Deny by default; decided from the envelope alone, before anything is stored or fetched.

                          direct chat   listed group   any group (groups: *)
    listed person         yes           yes            yes
    let in by pairing     yes           yes            no
    member of a listed    if set so     yes            no
    group
    all others            no            no             no

If the account is a person's own (`note_to_self`), only what it writes to itself is admitted: the person's other chats
are none of Aldis's business. People are identified by uuid; a listed phone number stands for the account that had it
when it first wrote.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.access.chat_settings import Askers
from bot.events import ChatId, Envelope, Kind, PersonId, SentId
from bot.signal.protocol import Group
from store import Repositories

EVERYBODY = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessList:
    """Who may write. Persons are lower-case uuids, `+...` numbers or `*`; groups are exact ids or `*`."""

    persons: frozenset[str]
    groups: frozenset[str]
    admins: frozenset[str] = frozenset()
    """Who may give the operator's commands, by uuid or number; they may write as well."""
    group_members_may_write: bool = False
    """Whether members of the groups listed by id may also write directly."""
    members: frozenset[PersonId] = frozenset()
    """The members of those groups as the bridge last listed them."""
    note_to_self: bool = False
    """Whether the account is a person's own, who is an admin there."""

    @property
    def numbers(self) -> frozenset[str]:
        """The phone numbers among persons and admins."""
        return frozenset(entry for entry in self.persons | self.admins if entry.startswith("+"))

    @property
    def needs_members(self) -> bool:
        """Whether the members of the listed groups must be known."""
        return self.group_members_may_write and bool(self.groups - {EVERYBODY}) and not self.note_to_self


def may_write(envelope: Envelope, allowed: AccessList, *, is_approved: bool = False) -> bool:
    """Whether the author may write where the envelope came from; `is_approved`: they were let in by pairing."""
    if envelope.author is None or envelope.chat is None:
        return False
    if allowed.note_to_self or envelope.from_self:
        return allowed.note_to_self and envelope.from_self and is_direct(envelope)
    if envelope.chat.is_group:
        # Any sender can create a group and add Aldis to it, so "every group" lets in no unlisted people.
        is_open = EVERYBODY in allowed.groups and _is_listed(envelope, allowed)
        return is_open or envelope.chat.id in allowed.groups
    is_member = allowed.group_members_may_write and envelope.author in allowed.members
    is_welcome = is_approved or is_member or _is_listed(envelope, allowed)
    return is_welcome and envelope.chat == ChatId.direct(envelope.chat.id)


def is_welcome(repos: Repositories, person: PersonId, chat: ChatId, allowed: AccessList, *, account: str) -> bool:
    """Whether a message from this person there would be admitted now, within a transaction."""
    envelope = Envelope(
        account=account,
        author=person,
        number=repos.people.number_of(person, allowed.numbers),
        device=0,
        sent_at=SentId(0),
        kind=Kind.MESSAGE,
        chat=chat,
        raw="",
        from_self=allowed.note_to_self,
    )
    return may_write(envelope, allowed, is_approved=repos.people.is_allowed(person, account=account))


def may_still_read(
    repos: Repositories, person: PersonId, chat: ChatId, allowed: AccessList, *, account: str, since: datetime
) -> bool:
    """Whether the person would be admitted there now, and has not left that group since; within a transaction."""
    has_left = chat.is_group and repos.members.has_left(chat, ChatId.direct(person), since=since)
    return not has_left and is_welcome(repos, person, chat, allowed, account=account)


def is_direct(envelope: Envelope) -> bool:
    """Whether it came from the author's own chat with Aldis."""
    return envelope.author is not None and envelope.chat == ChatId.direct(envelope.author)


def is_admin(envelope: Envelope, allowed: AccessList) -> bool:
    """Whether the author of an envelope from the inbox may give the operator's commands."""
    if allowed.note_to_self or envelope.from_self:
        return allowed.note_to_self and envelope.from_self
    return not allowed.admins.isdisjoint(_names(envelope))


def may_ask(envelope: Envelope, allowed: AccessList, askers: Askers, *, is_approved: bool = False) -> bool:
    """Whether the author may ask in a group with this setting; in a direct chat everybody may who may write."""
    if askers == "all" or envelope.chat is None or not envelope.chat.is_group:
        return True
    if is_admin(envelope, allowed):
        return True
    if askers != "list" or envelope.author is None:
        return False
    return may_write(replace(envelope, chat=ChatId.direct(envelope.author)), allowed, is_approved=is_approved)


def accepts(invitation: Group, allowed: AccessList) -> bool:
    """Whether Aldis joins a group: a listed one, or, if every group is, one with a member who is listed by uuid."""
    if allowed.note_to_self:
        return False
    if invitation.id in allowed.groups:
        return True
    return EVERYBODY in allowed.groups and not invitation.members.isdisjoint(allowed.persons | allowed.admins)


def _is_listed(envelope: Envelope, allowed: AccessList) -> bool:
    return EVERYBODY in allowed.persons or not (allowed.persons | allowed.admins).isdisjoint(_names(envelope))


def _names(envelope: Envelope) -> frozenset[str]:
    return frozenset(name for name in (envelope.author, envelope.number) if name)
