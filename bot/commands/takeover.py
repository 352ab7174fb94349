"""The command with which an admin takes over a chat: for a while Aldis keeps quiet there, and does not send the answer
that it was working on.

    /takeover --> only commands are answered there --the time is over, or /takeover off--> as before
                  '-- the running turn is stopped, and a turn that ends at that moment says nothing

In a group it applies to that group; directly to the chat of the person with the label, or without one to the admin's
own.
"""

import re
from dataclasses import replace
from datetime import datetime, timedelta

from bot.chat import chats
from bot.chat.approvals import Approvals
from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, WrongForm, command
from bot.commands.broadcast import Audience
from bot.commands.names import fold
from bot.events import TERMINAL_PERSON, ChatId
from bot.i18n.catalogues import say
from store import ConversationId, Repositories

_TIME = re.compile(r"(?P<number>\d{1,4})\s*(?P<unit>m|min|h|std)[a-z]*")
_LABEL = re.compile(r"(?P<label>[0-9a-f][0-9a-f-]{3,40})")
_OFF = {"off", "aus", "ende", "end", "fin"}
_USUAL = timedelta(minutes=30)
_MAX = timedelta(days=1)


class TakeoverCommands(CommandGroup):
    """The command that lets an admin answer in person."""

    def __init__(self, context: CommandContext, approvals: Approvals, audience: Audience) -> None:
        self._context = context
        self._approvals = approvals
        self._audience = audience

    @command(
        "/takeover [LABEL] [30m|2h|off]",
        phrases.ABOUT_TAKEOVER,
        for_admins=True,
        section="admins",
        examples=("/takeover", "/takeover 2h", "/takeover LABEL 1h", "/takeover off"),
    )
    async def _run(self, call: Call) -> None:
        """Lets an admin answer in person for a while (half an hour, at most a day): the answer under way is not sent,
        and none is written until then or until `off`. In a direct chat, LABEL takes over that person's chat.
        """
        if call.message.author == TERMINAL_PERSON:
            await self._context.reply(call, phrases.NOBODY_ELSE_HERE)
            return
        rest = fold(call.command.rest)
        label = _LABEL.match(rest) if not _TIME.fullmatch(rest) else None
        wanted = rest[label.end() :].strip() if label else rest
        until = None if wanted in _OFF else self._context.clock.now() + _length(wanted)
        if label is None:
            await self._take(call, call.conversation, "", until)
        elif call.is_in_group:
            await self._context.reply(call, phrases.ONLY_DIRECTLY)
        else:
            await self._take_of(call, label["label"], until)

    async def _take_of(self, call: Call, label: str, until: datetime | None) -> None:
        """Takes over the chat of the person with this label."""
        contacts = await self._audience.contacts()
        if contacts is None:
            await self._context.reply(call, phrases.BRIDGE_SILENT)
            return

        def find(repos: Repositories) -> ConversationId | None:
            person = self._audience.person(repos, contacts, label)
            return None if person is None else repos.conversations.at(ChatId.direct(person))

        conversation = await self._context.store.read(find)
        if conversation is None:
            await self._context.reply(call, phrases.UNKNOWN_LABEL)
        else:
            await self._take(call, conversation, label, until)

    async def _take(self, call: Call, conversation: ConversationId, label: str, until: datetime | None) -> None:
        now = self._context.clock.now()

        def take(repos: Repositories) -> str:
            if until is not None:
                self._approvals.end_all(repos, conversation)
            chats.change(repos, conversation, now, lambda before: replace(before, taken_until=until, told_paused=False))
            return say(phrases.RESUMED) if until is None else phrases.taken_over(label, until - now)

        await self._context.answer(call, take)
        if until is not None:
            call.running.halt(conversation)


def _length(wanted: str) -> timedelta:
    """For how long.

    Raises:
        WrongForm: that is no length of time, or more than a day.
    """
    if not wanted:
        return _USUAL
    found = _TIME.fullmatch(wanted)
    if found is None:
        raise WrongForm
    length = timedelta(**{"minutes" if found["unit"].startswith("m") else "hours": int(found["number"])})
    if not timedelta(0) < length <= _MAX:
        raise WrongForm
    return length
