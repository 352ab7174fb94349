"""The command about attestation: proof of which Aldis answers."""

import asyncio
import logging

from bot.commands.base import Call, CommandContext, CommandGroup, CommandReply, command
from bot.errors import Disconnected
from bot.features.attestation import phrases
from bot.features.attestation.service import Attestation, is_word
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from bot.version import build

_log = logging.getLogger(__name__)


class AttestationCommands(CommandGroup):
    """The command that asks for proof, for everybody."""

    def __init__(self, context: CommandContext, attestation: Attestation) -> None:
        self._context = context
        self._attestation = attestation

    @command("/verify [WORD]", phrases.ABOUT_VERIFY, section="data", examples=("/verify violet-2718-otter",))
    async def _run(self, call: Call) -> None:
        """Gives a quote of the machine for this word if Aldis runs in a TEE; elsewhere it says that nothing is proved
        ([how to check it](attestation.md)).
        """
        with use_language(await self._context.language(call)):
            reply = await self._reply(call.command.rest)
        await self._context.answer(call, lambda _: reply)

    async def _reply(self, word: str) -> str | CommandReply:
        if not self._attestation.is_possible():
            source = (await asyncio.to_thread(build))["source"]
            return say(phrases.NOTHING_PROVED, source=source)
        if not is_word(word):
            return say(phrases.VERIFY_HOW)
        try:
            evidence = await self._attestation.evidence(word)
        except Disconnected as error:
            _log.warning("no quote: %s", error)
            return say(phrases.VERIFY_FAILED)
        return CommandReply(text=evidence.text, files=(evidence.file,))
