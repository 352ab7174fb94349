"""The indicator that Aldis is writing, which Signal hides again and again."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from bot.events import ChatId
from bot.transports.base import Transport
from bot.turn.work import waiting

_TYPING_SECONDS = 8.0
"""Signal hides the indicator after 15 s. Source: Signal-Android, TypingStatusRepository (2026)."""
_TYPING_ENDS_SECONDS = 1.0
"""How long the bridge may take to hide the indicator, which goes by itself: neither the conversation nor the end of
Aldis waits for that."""
_MAX_TYPING = 50
"""Conversations that see at the same time that Aldis is writing: it is told again every few seconds, and the bridge has
answers to send."""


class TypingIndicator:
    """Shows in conversations that Aldis is writing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._conversations = 0
        """In how many it is shown."""

    @asynccontextmanager
    async def show(self, chat: ChatId) -> AsyncGenerator[None]:
        """Show it until the block ends, unless so many see it already."""
        if self._conversations >= _MAX_TYPING:
            yield
            return
        self._conversations += 1
        try:
            async with self._kept(chat):
                yield
        finally:
            self._conversations -= 1

    @asynccontextmanager
    async def _kept(self, chat: ChatId) -> AsyncGenerator[None]:
        shown = asyncio.Event()

        async def keep_typing() -> None:
            while True:
                shown.set()
                await self._transport.typing(chat, started=True)
                await asyncio.sleep(_TYPING_SECONDS)

        task = asyncio.create_task(keep_typing(), name="typing")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            if shown.is_set():
                with suppress(TimeoutError):
                    async with waiting(), asyncio.timeout(_TYPING_ENDS_SECONDS):
                        await self._transport.typing(chat, started=False)
