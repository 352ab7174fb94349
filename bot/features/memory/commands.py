"""The command about memory: shows what Aldis remembers about the person, and forgets it."""

import re

from bot import labels
from bot.chat import phrases as turn_phrases
from bot.commands.base import Call, CommandContext, CommandGroup, WrongForm, command
from bot.events import PersonId
from bot.features.memory import phrases
from bot.features.memory.service import Memory
from bot.i18n.catalogues import say
from bot.trust.links import inert
from bot.trust.rules import untrusted_sources
from store import Repositories
from tools import RememberedFact

_FORGET = re.compile(r"forget\s+(?:(?P<number>\d{1,9})|all)", re.IGNORECASE)


class MemoryCommands(CommandGroup):
    """The command about what is remembered, for everybody."""

    def __init__(self, context: CommandContext, memory: Memory) -> None:
        self._context = context
        self._memory = memory

    @command(
        "/memory [forget N|forget all]",
        phrases.ABOUT_MEMORY,
        section="later",
        examples=("/memory", "/memory forget 2", "/memory forget all"),
        directly_only=True,
    )
    async def _run(self, call: Call) -> None:
        """Shows what Aldis remembers about the person, and forgets one of these facts or all."""
        match = _FORGET.fullmatch(call.command.rest)
        if match is not None:
            number = None if match["number"] is None else int(match["number"])
            await self._context.answer(call, lambda repos: self._forget(repos, call, number))
        elif call.command.rest:
            raise WrongForm
        else:
            await self._context.answer(call, lambda repos: self._list(repos, call))

    def _list(self, repos: Repositories, call: Call) -> str:
        person = call.message.author
        lines = [_line(kept, person) for kept in self._memory.all(repos, call.conversation)]
        return "\n".join(lines) or say(phrases.NOTHING_REMEMBERED)

    def _forget(self, repos: Repositories, call: Call, number: int | None) -> str:
        count = repos.facts.forget(call.conversation, number)
        if not count:
            return say(phrases.NO_SUCH_FACT)
        self._context.once(repos, call)  # the next fact may get the same number
        return say(phrases.FACTS_FORGOTTEN, count=count)


def _line(remembered: RememberedFact, person: PersonId) -> str:
    """A fact; if the person did not tell it themselves, with its source and without links."""
    origin = turn_phrases.origin(untrusted_sources(labels.load_labels(remembered.origin), person))
    if not origin:
        return say(phrases.FACT, number=remembered.number, fact=remembered.fact)
    return say(phrases.FACT_FROM, number=remembered.number, fact=inert(remembered.fact), origin=origin)
