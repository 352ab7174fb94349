"""The command that trusts a new safety number, after somebody has checked with its owner."""

import asyncio
from collections.abc import Callable, Iterable

from bot.commands import phrases as command_phrases
from bot.commands.base import Call, CommandContext, CommandGroup, command
from bot.errors import CallRefused, Disconnected
from bot.features.safety_numbers import phrases
from bot.features.safety_numbers.service import SafetyNumbers, Suspect, TrustResult
from bot.i18n.catalogues import say

_BRIDGE_SECONDS = 20.0
"""The bridge computes a safety number for everybody that it knows."""

_WORDS = {
    "nobody": phrases.NOT_SUSPECT,
    "changed_again": phrases.TRUST_CHANGED_AGAIN,
    "own": phrases.TRUST_OWN,
}


class TrustCommands(CommandGroup):
    """The one command about safety numbers."""

    def __init__(self, context: CommandContext, identities: SafetyNumbers) -> None:
        self._context = context
        self._identities = identities

    @command(
        "/trust [LABEL [NUMBER]]",
        phrases.ABOUT_TRUST,
        for_admins=True,
        section="admins",
        exact_only=True,
        directly_only=True,
    )
    async def _trust(self, call: Call) -> None:
        """Shows whose safety number has changed, with the new one; trusts it, and sends what was waiting."""
        answer = await self._answer(call)
        await self._context.answer(call, lambda _: answer())

    async def _answer(self, call: Call) -> Callable[[], str]:
        """The reply, as a function to be called once the language is known."""
        name, _, number = call.command.rest.partition(" ")
        try:
            async with asyncio.timeout(_BRIDGE_SECONDS):
                if not name:
                    suspects = await self._identities.look()
                    return lambda: _listed(suspects)
                done = await self._identities.trust(name, safety_number=number.strip() or None, by=call.message.author)
                return lambda: _reply(done)
        except (Disconnected, TimeoutError):
            return lambda: say(command_phrases.BRIDGE_SILENT)
        except CallRefused:
            return lambda: say(phrases.TRUST_REFUSED)


def _reply(done: TrustResult) -> str:
    if done.kind == "trusted" and done.suspect is not None:
        return phrases.now_trusted(done.suspect.name, done.suspect.label)
    return say(_WORDS[done.kind])


def _listed(suspects: Iterable[Suspect]) -> str:
    lines = [phrases.suspect(one.name, one.label, one.since, one.safety_number) for one in suspects]
    return "\n".join(lines) or say(phrases.NO_SUSPECTS)
