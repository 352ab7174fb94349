"""The command that sends a message to every conversation, after a confirmation.

    /broadcast TEXT --> the recipients are looked up --> the admin is asked --yes--> the outbox of each
                                                             '-- no, ten minutes, or a restart: nothing is sent

Until the confirmation, the text and the counted chats live in memory only: nothing of it is on disk before it is
certain, and it goes to no more chats than the admin was told, nor to anybody shut out since. If the message with the
text disappears before that, so does the text; deleting the message also takes back what is not sent yet. Recipients are
people and groups who have written before and can still write; the store keeps no addresses, so they come from the
bridge's contacts and groups.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.access.access import EVERYBODY, AccessList
from bot.chat import outgoing
from bot.chat.journal import origin_of
from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, WrongForm, command
from bot.errors import Disconnected
from bot.events import ChatId, PersonId, Reply, SentId
from bot.formatting.split import one_message
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.signal.protocol import Contact, Group, Transport
from store import InboxId, Repositories

_GOOD_FOR = timedelta(minutes=10)
_BRIDGE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Planned:
    text: str
    people: tuple[Contact, ...]
    groups: tuple[ChatId, ...]
    at: datetime
    expires_at: datetime | None
    """When the message with the text disappears; None: it stays."""
    item: InboxId
    """The message with the text: while it waits to be sent, deleting that message takes it back."""
    sent_at: SentId


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownGroup:
    """A group that Aldis is in, or is invited to."""

    id: str
    name: str
    may_write: bool
    """Whether its members can write there."""
    is_invitation: bool = False
    """Whether Aldis has not joined it yet."""


class Audience:
    """The people and groups that the bridge knows."""

    def __init__(self, transport: Transport, allowed: Callable[[], AccessList]) -> None:
        self._transport = transport
        self._allowed = allowed

    async def contacts(self) -> tuple[Contact, ...] | None:
        """Returns the people; None if the bridge does not answer within seconds, because other commands wait for this
        one.
        """
        try:
            async with asyncio.timeout(_BRIDGE_SECONDS):
                return await self._transport.contacts()
        except (Disconnected, TimeoutError):
            return None

    async def groups(self) -> tuple[KnownGroup, ...] | None:
        """Returns the groups that Aldis is in, then those that it is invited to; None as for `contacts`."""
        try:
            async with asyncio.timeout(_BRIDGE_SECONDS):
                joined, invited = await self._transport.groups(), await self._transport.invitations()
        except (Disconnected, TimeoutError):
            return None
        return (*map(self._known, joined), *(replace(self._known(group), is_invitation=True) for group in invited))

    async def former_groups(self) -> tuple[str, ...] | None:
        """Returns the ids of the groups that Aldis is in no more, in order; None as for `contacts`."""
        try:
            async with asyncio.timeout(_BRIDGE_SECONDS):
                return tuple(sorted(await self._transport.former_groups()))
        except (Disconnected, TimeoutError):
            return None

    def _known(self, group: Group) -> KnownGroup:
        allowed = self._allowed()
        may_write = not (allowed.note_to_self or allowed.groups.isdisjoint({group.id, EVERYBODY}))
        return KnownGroup(id=group.id, name=group.name, may_write=may_write)

    def may_write(self, repos: Repositories, contact: Contact) -> bool:
        """Whether this person can write directly, at the moment."""
        allowed = self._allowed()
        if allowed.note_to_self:
            return False  # these are people that the account's owner knows
        if EVERYBODY in allowed.persons or contact.person in allowed.persons | allowed.admins | allowed.members:
            return True
        # A number on the list stands for the account that first used it.
        pin = (
            repos.people.pin_of(contact.number, contact.person)
            if contact.number and contact.number in allowed.numbers
            else None
        )
        if pin is not None and pin.is_theirs:
            return True
        return repos.people.is_allowed(contact.person, account=self._transport.account)

    def person(self, repos: Repositories, contacts: Iterable[Contact], name: str) -> PersonId | None:
        """Returns whoever of these people has this label or UUID; None if nobody does."""
        people = (contact.person for contact in contacts)
        return next((person for person in people if name in {person, self.label(repos, person)}), None)

    def label(self, repos: Repositories, person: PersonId) -> str:
        """Returns the label of a person in lists and commands."""
        return repos.people.label(person, account=self._transport.account)


class BroadcastCommands(CommandGroup):
    """The one command that speaks to everybody."""

    def __init__(self, context: CommandContext, audience: Audience) -> None:
        self._context = context
        self._audience = audience
        self._planned: dict[PersonId, _Planned] = {}

    @command(
        "/broadcast TEXT",
        phrases.ABOUT_BROADCAST,
        for_admins=True,
        section="admins",
        exact_only=True,
        directly_only=True,
    )
    async def _broadcast(self, call: Call) -> None:
        """Sends one message to all people and groups that have written before and can still write, after a yes."""
        text = call.command.rest
        if not text:
            raise WrongForm
        planned = self._planned.get(call.message.author)
        before = "" if planned is None else f"{planned.text} "
        if text.lower() == "yes" or (planned and text == f"{before}yes"):
            await self._send(call)
        elif planned and text in {"no", f"{before}no"}:
            del self._planned[call.message.author]
            await self._context.reply(call, phrases.NOT_BROADCAST)
        else:
            await self._plan(call, text)

    async def _plan(self, call: Call, text: str) -> None:
        contacts, groups = await self._audience.contacts(), await self._audience.groups()
        if contacts is None or groups is None:
            await self._context.reply(call, phrases.BRIDGE_SILENT)
            return

        def plan(repos: Repositories) -> _Planned:
            places = (ChatId.group(one.id) for one in groups if one.may_write and not one.is_invitation)
            return _Planned(
                text=text,
                people=tuple(
                    one
                    for one in contacts
                    if one.person != call.message.author
                    and self._audience.may_write(repos, one)
                    and repos.conversations.at(ChatId.direct(one.person)) is not None
                ),
                groups=tuple(place for place in places if repos.conversations.at(place) is not None),
                at=self._context.clock.now(),
                expires_at=call.urgent_item.item.expires_at,
                item=call.urgent_item.item.id,
                sent_at=call.message.sent_at,
            )

        planned = await self._context.store.read(plan)
        if planned.people or planned.groups:
            self._planned[call.message.author] = planned
            counts = len(planned.people), len(planned.groups)
            await self._context.confirm(call, lambda _: phrases.broadcast_asks(*counts, text))
        else:
            await self._context.reply(call, phrases.NOBODY_TO_TELL)

    async def _send(self, call: Call) -> None:
        planned = self._planned.get(call.message.author)
        now = self._context.clock.now()
        if planned is None or now - planned.at > _GOOD_FOR or (planned.expires_at and planned.expires_at <= now):
            await self._context.reply(call, phrases.NO_BROADCAST)
            return

        def send(repos: Repositories) -> str:
            people = [one for one in planned.people if self._audience.may_write(repos, one)]
            chats = [*(ChatId.direct(one.person) for one in people), *planned.groups]
            sent = [self._put(repos, chat, planned, now) for chat in chats]
            return say(phrases.BROADCAST_DONE, count=sum(sent))

        await self._context.answer(call, send)
        # Only now: after a failed transaction the command runs again and needs it.
        self._planned.pop(call.message.author, None)

    def take_back(self, author: PersonId, names: Collection[int]) -> None:
        """Drops a broadcast whose message is gone from the chat."""
        planned = self._planned.get(author)
        if planned is not None and planned.sent_at in names:
            del self._planned[author]

    def _put(self, repos: Repositories, chat: ChatId, planned: _Planned, now: datetime) -> bool:
        """Puts the message into the outbox of one conversation; returns whether that still exists."""
        conversation = repos.conversations.at(chat)
        if conversation is None:
            return False
        turn = repos.turns.begin(conversation, now=now, origin=origin_of(planned.item))
        repos.journal.close(turn, "ignored", now=now)
        content, _ = one_message(planned.text, cut_mark=say(common_phrases.CUT_PARTS))
        if content is None:
            return False
        outgoing.add_message(repos, conversation, turn, Reply(chat=chat, content=content), now)
        return True
