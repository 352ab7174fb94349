"""The commands for admins: who may write besides the people on the operator's list, which groups there are, and
a message to every conversation.

    /broadcast TEXT --> the admin is asked --yes--> the outbox of everybody who has written before and may still write
                                            '-- no, ten minutes, or a restart: nothing is sent
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bot.access.access import EVERYBODY, AccessList, is_welcome
from bot.access.pairing import Pairing, Stranger, clean_name, fold_name
from bot.access.routing import Command, Verdict
from bot.chat import outgoing
from bot.chat.intents import plain_name
from bot.chat.journal import origin_of
from bot.chat.notices import Admins
from bot.commands import phrases
from bot.commands.base import Answer, Call, CommandGroup, WrongForm, command
from bot.commands.conversation import forget
from bot.errors import ConfigError, TransportError
from bot.events import ChatId, Incoming, PersonId, Reply, Styled
from bot.formatting.split import one_message
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import Language, use_language
from bot.i18n.locale import day, join_list, quotation
from bot.signal.protocol import Contact, Group, Groups, Identities, Transport
from store import ConversationId, InboxId, Repositories, StoreError

_log = logging.getLogger(__name__)

T = TypeVar("T")

_BRIDGE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Names:
    """What people call themselves, in lists and commands: two with one name differ by their labels."""

    people: Mapping[str, str]
    """The name of each person, which may be empty, by label."""

    def word(self, label: str) -> str:
        """Returns what a command calls a person: their name if it means no one else, or the label."""
        name = self.people.get(label, "")
        return name if self.labels(name) == [label] else label

    def entry(self, label: str) -> str:
        """Returns what a list calls a person: their name, with the label if it could mean others, too; in Markdown."""
        name = self.people.get(label, "")
        return plain_name(f"{name} ({label})" if name and self.word(label) != name else name or label)

    def labels(self, word: str) -> list[str]:
        """Returns the labels of those whom a word may mean: a label or a name."""
        named = fold_name(word)
        found = [label for label, name in self.people.items() if named and fold_name(name) == named]
        return [word] if word in self.people else found


class Audience:
    """The people and groups that the bridge knows, and which of them can write."""

    def __init__(self, transport: Transport, allowed: Callable[[], AccessList]) -> None:
        self.transport = transport
        self._allowed = allowed

    async def contacts(self) -> tuple[Contact, ...] | None:
        """Returns the people; None if the bridge does not answer within seconds: other commands wait for this one."""
        return await in_time(self.transport.contacts()) if isinstance(self.transport, Identities) else ()

    async def groups(self) -> tuple[tuple[Group, bool], ...] | None:
        """Returns the groups that Aldis is in, then those that it is only invited to (True); None as for `contacts`."""
        if not isinstance(self.transport, Groups):
            return ()
        found = await in_time(asyncio.gather(self.transport.groups(), self.transport.invitations()))
        return None if found is None else (*((one, False) for one in found[0]), *((one, True) for one in found[1]))

    def is_open(self, group: Group) -> bool:
        """Whether the members of a group can write there."""
        allowed = self._allowed()
        return not (allowed.note_to_self or allowed.groups.isdisjoint({group.id, EVERYBODY}))

    def may_write(self, repos: Repositories, contact: Contact) -> bool:
        """Whether this person can write directly, at the moment."""
        allowed = self._allowed()
        person = contact.person
        account = self.transport.account
        # A person's own account lists people whom that person knows.
        return not allowed.note_to_self and is_welcome(repos, person, ChatId.direct(person), allowed, account=account)

    def label(self, repos: Repositories, person: str) -> str:
        """Returns the label of a person, by which the store knows them."""
        return repos.people.label(person, account=self.transport.account)


async def in_time(answer: Awaitable[T]) -> T | None:
    """What the bridge answers; None if it does not within seconds."""
    try:
        async with asyncio.timeout(_BRIDGE_SECONDS):
            return await answer
    except (TransportError, ConfigError, TimeoutError):
        return None


@dataclass
class AdminCommands(CommandGroup):
    """The commands that only admins can give, and the question whether a stranger may write."""

    pairing: Pairing
    audience: Audience
    admins: Admins
    on_allowed: Callable[[PersonId], Awaitable[None]]
    """Called with each person whom an admin has let in."""

    def __post_init__(self) -> None:
        self.pairing.on_stranger = self._put

    async def _put(self, stranger: Stranger) -> None:
        """Asks every admin whether the stranger may write; the answer is a reaction, or a yes that quotes the question.

        It is sent past the outbox, so that nothing about a stranger reaches the disk.
        """
        known = await self.audience.contacts()
        others = [one.name or "" for one in known or () if one.person != stranger.person]
        others += [one.name for one in self.pairing.strangers.values() if one.person != stranger.person]
        is_alone = known is not None and fold_name(stranger.name) not in {"", *map(fold_name, others)}

        def chats(repos: Repositories) -> list[tuple[PersonId, Language]]:
            found = self.admins.chats(repos, known or ())
            return [(admin, self.admins.language(repos, conversation)) for admin, conversation in found]

        try:
            for admin, language in await self.context.store.read(chats):
                with use_language(language):
                    asks = phrases.STRANGER_ASKS_TOO if stranger.name else phrases.STRANGER_NAMELESS
                    asks = phrases.STRANGER_ASKS if is_alone else asks
                    text = say(asks, name=quotation(stranger.name), code=stranger.code)
                sent = await self.audience.transport.send(Reply(chat=ChatId.direct(admin), content=Styled(text=text)))
                self.pairing.note_question(admin, sent, stranger)
        except (TransportError, StoreError) as error:
            _log.info("the admins were not asked about a stranger: %s", error)

    def command_of(self, verdict: Verdict) -> Command | None:
        """The command that an admin's verdict on a stranger means; None if it is about none."""
        person = None if verdict.target is None else self.pairing.asked_about(verdict.author, verdict.target)
        if person is None or verdict.target is None:
            return None
        chat = ChatId.direct(verdict.author)
        message = verdict.instead.message if verdict.instead else None
        message = message or Incoming(author=verdict.author, name=None, chat=chat, sent_at=verdict.target, text="")
        return Command(message=message, name="allow" if verdict.is_yes else "deny", rest=person, is_addressed=True)

    @command("/allow CODE|NAME", phrases.ABOUT_ALLOW, for_admins=True, section="admins")
    async def _allow(self, call: Call) -> Answer | None:
        """Lets in the stranger who was given this code, or by whose name the admins were asked about them."""
        word, clock = call.command.rest, self.context.clock
        found = self.pairing.find(word, clock.now())
        if len(found) != 1:
            codes = [one.code for one in found]
            return phrases.which(word, codes) if codes else say(phrases.UNKNOWN_CODE)
        person, contacts = found[0].person, await self.audience.contacts() or ()

        def allow(repos: Repositories) -> str:
            account = self.audience.transport.account
            repos.people.allow(person, account=account, by=call.message.author, now=clock.now())
            names, label = self._names(repos, contacts), self.audience.label(repos, person)
            return say(phrases.LET_IN, name=names.entry(label), word=names.word(label))

        await self.context.answer(call, allow)
        await self.on_allowed(person)
        return None

    @command("/deny NAME", phrases.ABOUT_DENY, for_admins=True, section="admins")
    async def _deny(self, call: Call) -> Answer:
        """Shuts out a person who was let in, or keeps out a stranger whom the admins were asked about."""
        word, contacts = call.command.rest, await self.audience.contacts() or ()
        waiting = self.pairing.find(word, self.context.clock.now())

        def deny(repos: Repositories) -> str:
            names, let_in = self._names(repos, contacts), {one.label for one in repos.people.approvals()}
            strangers = {self.audience.label(repos, one.person): one for one in waiting}
            meant = [*names.labels(word), self.audience.label(repos, word)]  # the last if it is an id
            found = [*(label for label in meant if label in let_in - set(strangers)), *strangers]
            if not found:
                return say(phrases.UNKNOWN_PERSON)
            if len(found) > 1:
                return phrases.which(word, [strangers[one].code if one in strangers else one for one in found])
            [label] = found
            if label in strangers:
                self.pairing.refuse(strangers[label].person)
            name = names.entry(label)
            if repos.people.deny(label):
                return say(phrases.SHUT_OUT, name=name)
            return say(phrases.STAYS_OUT, name=quotation(name))

        return deny

    def _names(self, repos: Repositories, contacts: Iterable[Contact]) -> Names:
        """What people call themselves; of a stranger the bridge may not know it yet."""
        named = {one.person: one.name for one in self.pairing.strangers.values()}
        named |= {one.person: clean_name(one.name) or named.get(one.person, "") for one in contacts}
        known = {self.audience.label(repos, person): name for person, name in named.items()}
        return Names({one.label: "" for one in repos.people.approvals()} | known)

    @command("/people", phrases.ABOUT_PEOPLE, for_admins=True, section="admins")
    async def _people(self, _: Call) -> Answer:
        """Shows who was let in, by whom, and when."""
        contacts = await self.audience.contacts() or ()

        def reply(repos: Repositories) -> str:
            names, page = self._names(repos, contacts), self.audience.label(repos, self.audience.transport.account)
            lines = [
                say(
                    phrases.GUEST_BY_PAGE if one.by == page else phrases.GUEST,
                    name=names.entry(one.label),
                    day=day(one.at),
                    by=names.entry(one.by),
                )
                for one in repos.people.approvals()
            ]
            return "\n".join(f"- {line}" for line in lines) or say(phrases.NOBODY_LET_IN)

        return reply

    @command("/groups [forget ID]", phrases.ABOUT_GROUPS, for_admins=True, directly_only=True, section="admins")
    async def _groups(self, call: Call) -> Answer | None:
        """Shows the groups that Aldis is in or invited to, with their ids for `ACCESS__GROUPS`. With `forget` and an
        id, what was said in that group is destroyed, as `/forget all` there would do it; also after Aldis has left it.
        """
        verb, _, group = call.command.rest.partition(" ")
        if verb:
            if verb.lower() != "forget" or not group:
                raise WrongForm
            address = ChatId.group(group.strip().strip("`"))
            if await self.context.store.read(lambda repos: repos.conversations.at(address)) is None:
                return phrases.UNKNOWN_GROUP
            return await forget(self.context, call, address)
        groups = await self.audience.groups()
        if groups is None:
            return phrases.BRIDGE_SILENT

        lines: list[str] = []
        for one, is_invitation in groups:
            # Every account on Signal can invite this one to a group, by whatever name.
            line = f"- {'✓' if self.audience.is_open(one) else '✗'} {plain_name(one.name)}: `{one.id}`"
            lines.append(f"{line} {say(phrases.GROUP_INVITATION)}" if is_invitation else line)
        return "\n".join(lines) or say(phrases.NO_GROUPS)

    @command("/broadcast TEXT", phrases.ABOUT_BROADCAST, for_admins=True, directly_only=True, section="admins")
    async def _broadcast(self, call: Call) -> Answer | None:
        """Sends one message to all people and groups that have written before and can still write, after a yes."""
        text = call.command.rest
        origin = call.command.confirms
        now = self.context.clock.now()
        if not text:
            raise WrongForm
        if origin is not None and text.endswith("no"):
            return common_phrases.NOT_DONE
        contacts, groups = await self.audience.contacts(), await self.audience.groups()
        if contacts is None or groups is None:
            return phrases.BRIDGE_SILENT

        def chats(repos: Repositories) -> list[tuple[ChatId, ConversationId]]:
            others = (one for one in contacts if one.person != call.message.author)
            found = [ChatId.direct(one.person) for one in others if self.audience.may_write(repos, one)]
            found += [
                ChatId.group(one.id)
                for one, is_invitation in groups
                if not is_invitation and self.audience.is_open(one)
            ]
            places = ((chat, repos.conversations.at(chat)) for chat in found)
            return [(chat, place) for chat, place in places if place is not None]

        def send(repos: Repositories) -> str:
            content, _ = one_message(text.removesuffix("yes").strip(), cut_mark=say(common_phrases.CUT_PARTS))
            reached = chats(repos) if content else []
            for chat, place in reached:  # while it waits in the outbox, deleting the command takes it back
                turn = repos.turns.begin(place, now=now, origin=origin_of(InboxId(origin or 0)))
                repos.journal.close(turn, "ignored", now=now)
                outgoing.add_message(repos, place, turn, Reply(chat=chat, content=content or Styled(text="")), now)
            return say(phrases.BROADCAST_DONE, count=len(reached))

        if origin is not None:
            return send
        found = await self.context.store.read(chats)
        if not found:
            return phrases.NOBODY_TO_TELL
        of_groups = sum(chat.is_group for chat, _ in found)
        counts = ((phrases.BROADCAST_PEOPLE, len(found) - of_groups), (phrases.BROADCAST_GROUPS, of_groups))
        reached = join_list([say(sentence, count=count) for sentence, count in counts if count])
        return await self.context.confirm(call, say(phrases.BROADCAST_ASKS, chats=reached, text=text))
