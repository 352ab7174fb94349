"""`/export`: what Aldis keeps about the person who asks."""

import asyncio

from bot.commands.base import Call, CommandContext, CommandGroup, CommandReply, command
from bot.features.export import phrases
from bot.features.export.service import MAX_FILE_BYTES, gather_export
from bot.formatting.split import parts
from bot.i18n.language import use_language
from store import Repositories

_MIN_PARTS = 2
"""An export of at least this many messages is sent as a file instead."""
_MAX_BYTES_IN_WORDS = 100_000
"""The largest file size at which sending the export as a message is tried."""


class ExportCommands(CommandGroup):
    """The command that shows people what is kept about them."""

    def __init__(self, context: CommandContext, *, name: str, timezone: str) -> None:
        """`name` is the name of Aldis, `timezone` that of a person whose own is not known."""
        self._context = context
        self._name = name
        self._timezone = timezone

    @command("/export", phrases.ABOUT_EXPORT, section="data")
    async def _export(self, call: Call) -> None:
        """Shows what is kept about the person; if it is long or has pictures, as a page to read (with the pictures) and
        as JSON. In a group, only what they asked there.
        """
        author, now = call.message.author, self._context.clock.now()
        # In a group nobody is shown more than the group has already seen.
        direct = None if call.is_in_group else call.message.chat

        found = await gather_export(
            self._context.store,
            author,
            direct,
            now=now,
            conversation=call.conversation,
            max_bytes=MAX_FILE_BYTES,
            timezone=self._timezone,
        )
        file, shown = await asyncio.to_thread(found.as_file, in_group=call.is_in_group)
        with use_language(await self._context.language(call)):
            page = await asyncio.to_thread(found.as_page, self._name, in_group=call.is_in_group)

        def reply(_: Repositories) -> CommandReply:
            if len(file.data) < _MAX_BYTES_IN_WORDS and not (found.has_pictures and not call.is_in_group):
                words = found.words()
                if len(parts(words, max_parts=_MIN_PARTS)) < _MIN_PARTS:
                    return CommandReply(text=words)
            return CommandReply(text=phrases.kept_in_file(found.count, shown), files=(page, file))

        await self._context.answer(call, reply)
