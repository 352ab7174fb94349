"""The commands about the current state: what is under way in a conversation, and who is asking."""

import asyncio

from bot.access.chat_settings import ChatSettings
from bot.chat.intents import plain_name
from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, command
from bot.commands.names import model_name
from bot.i18n.catalogues import say
from bot.version import current_version, described_build
from store import Repositories


class StatusCommands(CommandGroup):
    """Commands about Aldis and the caller, for everybody. `account` is the number of Aldis's own account.

    `model` is the one that answers if none was chosen; empty if unknown.
    """

    def __init__(self, context: CommandContext, *, account: str, model: str) -> None:
        self._context = context
        self._account = account
        self._model = model
        self._version = current_version()

    @command("/status", phrases.ABOUT_STATUS, section="data")
    async def _status(self, call: Call) -> None:
        """Shows what is under way in this chat and what is set, and which model answered last if it was not the chosen
        one.
        """
        version = await asyncio.to_thread(described_build) if call.is_admin else self._version

        def reply(repos: Repositories) -> str:
            here = call.conversation
            is_answering = repos.inbox.is_answering(here)
            words = len(repos.inbox.put_off_turns(here))
            # The command itself counts as well.
            waiting = max(0, repos.inbox.waiting(here) - 1 - words - is_answering)
            settings = self._context.settings(repos, call)
            model, last = settings.model or self._model, repos.ledger.last_model(here)
            # Vendors answer under longer names than the ones they are asked by.
            is_other = last is not None and not last.startswith(model)
            figures = phrases.status(
                waiting=waiting,
                words=words,
                model=model_name(model),
                answered_by=model_name(last) if is_other and last else "",
                tools_off=settings.tools_off,
            )
            doing = phrases.STATUS_ANSWERING if is_answering else phrases.NOTHING_TO_STOP
            return "\n".join([say(doing), *figures, *_set(settings), f"Aldis {version}"])

        await self._context.answer(call, reply)

    @command("/whoami", phrases.ABOUT_WHOAMI, section="data")
    async def _whoami(self, call: Call) -> None:
        """Shows how Aldis knows the person: name, label, id for the lists, admin or not."""
        message = call.message
        here = message.chat.id if call.is_in_group else None

        def reply(repos: Repositories) -> str:
            label = repos.people.label(message.author, account=self._account)
            name = plain_name(message.name or "")
            return phrases.who(name, label, message.author, here, is_admin=call.is_admin)

        await self._context.answer(call, reply)


def _set(settings: ChatSettings) -> list[str]:
    """A line for each setting of the conversation that has no figure."""
    lines = {
        phrases.STATUS_PERSONA: settings.persona is not None,
        phrases.STATUS_ALWAYS: settings.answers_always,
        phrases.STATUS_PAUSED: settings.is_paused,
    }
    return [say(line) for line, holds in lines.items() if holds]
