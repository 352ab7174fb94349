"""The commands that tell where things stand: what is under way in a conversation, and who asks."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, command
from bot.i18n.catalogues import say
from bot.policy.chat_settings import ChatSettings
from bot.providers.capabilities import Capabilities
from bot.version import current_version, described_build
from store import Repositories


class StatusCommands(CommandGroup):
    """What everybody may ask about Aldis and themselves. `account` is the number that Aldis answers for.

    `model` is the one that answers where none was chosen; empty where nobody can say. `known` gives what is known of a
    model.
    """

    def __init__(
        self, context: CommandContext, *, account: str, model: str, known: Callable[[str | None], Capabilities]
    ) -> None:
        self._context = context
        self._account = account
        self._model = model
        self._known = known
        self._version = current_version()

    @command("/status", phrases.ABOUT_STATUS, section="data")
    async def _status(self, call: Call) -> None:
        """Tells what is under way in this chat and what is set, and which model answered last where another was to."""
        version = await asyncio.to_thread(described_build) if call.is_admin else self._version

        def reply(repos: Repositories) -> str:
            here = call.conversation
            is_answering = repos.chats.is_answering(here)
            words = len(repos.inbox.put_off_turns(here))
            # The command itself is under way as well.
            waiting = repos.inbox.waiting(here) - 1 - words - is_answering
            settings = self._context.settings(repos, call)
            model, last = settings.model or self._model, repos.ledger.last_model(here)
            known = self._known(model or None)
            # Vendors answer under longer names than they are asked by.
            is_other = last is not None and not last.startswith(model)
            figures = phrases.status(
                waiting=waiting,
                words=words,
                model=phrases.model_figures(model, window_tokens=known.window_tokens, rates=known.rates),
                answered_by=last if is_other and last else "",
                taken_minutes=_minutes_left(settings, self._context.clock.now()),
                tools_off=settings.tools_off,
            )
            doing = phrases.STATUS_ANSWERING if is_answering else phrases.NOTHING_TO_STOP
            return "\n".join([say(doing), *figures, *_set(settings), f"Aldis {version}"])

        await self._context.answer(call, reply)

    @command("/whoami", phrases.ABOUT_WHOAMI, section="data")
    async def _whoami(self, call: Call) -> None:
        """Tells how Aldis knows the person: name, label, id for the lists, admin or not."""
        message = call.message
        here = message.chat.id if call.is_in_group else None

        def reply(repos: Repositories) -> str:
            label = repos.people.label(message.author, account=self._account)
            return phrases.who(message.name, label, message.author, here, is_admin=call.is_admin)

        await self._context.answer(call, reply)


def _minutes_left(settings: ChatSettings, now: datetime) -> float:
    """How long an admin still answers there; 0: nobody does."""
    until = settings.taken_until
    return (until - now).total_seconds() / 60 if until is not None and settings.is_taken(now) else 0.0


def _set(settings: ChatSettings) -> list[str]:
    """A line for each thing that is set in the conversation and has no figure."""
    lines = {
        phrases.STATUS_PERSONA: settings.persona is not None,
        phrases.STATUS_ALWAYS: settings.answers_always,
        phrases.STATUS_PAUSED: settings.is_paused,
    }
    return [say(line) for line, holds in lines.items() if holds]
