"""The command with which an admin takes over a chat: for a while Aldis keeps quiet there, and does not send the answer
that it was working on.

    /takeover --> only commands are answered there --the time is over, or /takeover off--> as before
                  '-- the running turn is stopped, and a turn that ends at that moment says nothing

In a group it applies to that group; directly to the chat of the person with the label, or without one to the admin's
own.
"""

import re
from dataclasses import replace
from datetime import timedelta

from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, WrongForm, command
from bot.commands.broadcast import Audience
from bot.commands.names import fold
from bot.events import TERMINAL_PERSON, ChatId
from bot.i18n.catalogues import say
from bot.i18n.phrases import duration
from bot.turn import chats
from bot.turn.approvals import Approvals
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
        rest, label = fold(call.command.rest), ""
        if not _TIME.fullmatch(rest) and (found := _LABEL.match(rest)) is not None:
            label, rest = found["label"], rest[found.end() :].strip()
        length = None if rest in _OFF else _length(rest)
        if label and call.is_in_group:
            await self._context.reply(call, phrases.ONLY_DIRECTLY)
            return
        contacts = await self._audience.contacts() if label else ()
        if contacts is None:
            await self._context.reply(call, phrases.BRIDGE_SILENT)
            return

        def find(repos: Repositories) -> ConversationId | None:
            person = self._audience.person(repos, contacts, label)
            return None if person is None else repos.conversations.at(ChatId.direct(person))

        conversation = await self._context.store.read(find) if label else call.conversation
        if conversation is None:
            await self._context.reply(call, phrases.UNKNOWN_LABEL)
        else:
            await self._take(call, conversation, label, length)

    async def _take(self, call: Call, conversation: ConversationId, label: str, length: timedelta | None) -> None:
        now = self._context.clock.now()
        until = None if length is None else now + length

        def take(repos: Repositories) -> str:
            chats.change(repos, conversation, now, lambda before: replace(before, taken_until=until, told_paused=False))
            if length is None:
                return say(phrases.RESUMED)
            self._approvals.end_all(repos, conversation)
            how_long = duration(length.total_seconds())
            return say(phrases.TAKEN_OVER_OF if label else phrases.TAKEN_OVER, label=label, duration=how_long)

        await self._context.answer(call, take)
        if length is not None:
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
