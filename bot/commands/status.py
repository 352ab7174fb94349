"""The commands about the current state: what is under way in a conversation, and who is asking."""

import asyncio
from collections.abc import Mapping
from datetime import datetime

from bot.commands import phrases
from bot.commands.base import Call, CommandContext, CommandGroup, command
from bot.commands.names import model_name
from bot.i18n.catalogues import Sentence, say
from bot.i18n.phrases import duration
from bot.policy.chat_settings import ChatSettings
from bot.turn.intents import plain_name
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
            here, settings = call.conversation, self._context.settings(repos, call)
            is_answering = repos.inbox.is_answering(here)
            words = len(repos.inbox.put_off_turns(here))
            # The command itself counts as well.
            waiting = max(0, repos.inbox.waiting(here) - 1 - words - is_answering)
            model, last = settings.model or self._model, repos.ledger.last_model(here)
            # Vendors answer under longer names than the ones they are asked by.
            other = last if last is not None and not last.startswith(model) else ""
            taken = _seconds_taken(settings, self._context.clock.now())
            lines: tuple[tuple[object, Sentence, Mapping[str, object]], ...] = (
                (True, phrases.STATUS_ANSWERING if is_answering else phrases.NOTHING_TO_STOP, {}),
                (taken, phrases.STATUS_TAKEN, {"duration": duration(taken)}),
                (waiting, phrases.STATUS_WAITING, {"count": waiting}),
                (words, phrases.STATUS_WORDS, {"count": words}),
                (model, phrases.STATUS_MODEL, {"model": model_name(model)}),
                (other, phrases.STATUS_ANSWERED, {"model": model_name(other)}),
                (settings.tools_off, phrases.STATUS_TOOLS, {"tools": ", ".join(settings.tools_off)}),
                (settings.persona, phrases.STATUS_PERSONA, {}),
                (settings.answers_always, phrases.STATUS_ALWAYS, {}),
                (settings.is_paused, phrases.STATUS_PAUSED, {}),
            )
            return "\n".join([*(say(line, **values) for holds, line, values in lines if holds), f"Aldis {version}"])

        await self._context.answer(call, reply)

    @command("/whoami", phrases.ABOUT_WHOAMI, section="data")
    async def _whoami(self, call: Call) -> None:
        """Shows how Aldis knows the person: name, label, id for the lists, admin or not."""
        message, group = call.message, f"`{call.message.chat.id}`"
        name = plain_name(message.name or "")

        def reply(repos: Repositories) -> str:
            lines = (
                *([say(phrases.WHO_NAME, name=name)] if name else ()),
                say(phrases.WHO_LABEL, label=repos.people.label(message.author, account=self._account)),
                say(phrases.WHO_UUID, person=message.author),
                say(phrases.WHO_ADMIN if call.is_admin else phrases.WHO_NOT_ADMIN),
                say(phrases.WHO_IN_GROUP, group=group) if call.is_in_group else say(phrases.WHO_DIRECTLY),
            )
            return "\n".join(lines)

        await self._context.answer(call, reply)


def _seconds_taken(settings: ChatSettings, now: datetime) -> float:
    """How long an admin still answers there; 0 if none does."""
    until = settings.taken_until
    return (until - now).total_seconds() if until is not None and settings.is_taken(now) else 0.0
