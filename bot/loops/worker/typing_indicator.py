"""The typing indicator, which Signal hides again and again."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from bot.events import ChatId
from bot.signal.protocol import Transport

_TYPING_SECONDS = 8.0
"""Signal hides the indicator after 15 s. Source: Signal-Android, TypingStatusRepository (2026)."""
_TYPING_ENDS_SECONDS = 1.0
"""How long the bridge may take to hide the indicator, which disappears by itself: neither the conversation nor a
shutdown waits longer."""
_MAX_TYPING = 50
"""The limit of conversations that see it at the same time: it is renewed every few seconds, and the bridge has answers
to send."""


class TypingIndicator:
    """Shows in conversations that Aldis is writing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._conversations = 0
        """The number of conversations in which it is shown."""

    @asynccontextmanager
    async def show(self, chat: ChatId) -> AsyncGenerator[None]:
        """Shows it until the block ends, unless it is shown in too many already."""
        if self._conversations >= _MAX_TYPING:
            yield
            return
        self._conversations += 1
        is_shown = False

        async def keep_typing() -> None:
            nonlocal is_shown
            while True:
                is_shown = True
                await self._transport.typing(chat, started=True)
                await asyncio.sleep(_TYPING_SECONDS)

        task = asyncio.create_task(keep_typing(), name="typing")
        try:
            yield
        finally:
            self._conversations -= 1
            task.cancel()
            await asyncio.wait([task])
            if is_shown:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_TYPING_ENDS_SECONDS):
                        await self._transport.typing(chat, started=False)
