"""The worker of summaries: one conversation after the other, in the background, after one of its turns was kept.

A restart forgets what waits here: the conversation's next turn shows again that it is due.
"""

import asyncio
import logging
from dataclasses import replace

from bot.features.summaries.service import Summaries
from bot.logs import describe_error
from bot.messages import UserMessage
from bot.metrics import Counts
from bot.turn.journal import Turn
from store import ConversationId

_log = logging.getLogger(__name__)

_MAX_WAITING = 200


class SummaryWorker:
    """The loop of summaries. `summaries` None means that there are none."""

    def __init__(self, summaries: Summaries | None, counts: Counts) -> None:
        self._summaries = summaries
        self._counts = counts
        self._waiting: dict[ConversationId, Turn] = {}
        self._wakeup = asyncio.Event()
        self._is_attending = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being summarized or waits for it."""
        return not (self._waiting or self._is_attending)

    def note(self, turn: Turn) -> None:
        """Takes note of a turn that was kept: its conversation may have outgrown its window."""
        if self._summaries is None or not self._summaries.may_be_due(turn):
            return
        if turn.conversation in self._waiting or len(self._waiting) < _MAX_WAITING:
            # The content is read again later: the pictures of many turns would take a lot of memory until then.
            self._waiting[turn.conversation] = replace(
                turn, question=UserMessage(text=""), history=(), steps=(), talk=()
            )
            self._wakeup.set()

    async def run(self) -> None:
        """Looks at what was noted, again and again; ends only by cancellation."""
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            await self.attend_all()

    async def attend_all(self) -> None:
        """Looks at what was noted, oldest first."""
        while self._waiting and self._summaries is not None:
            turn = self._waiting.pop(next(iter(self._waiting)))
            self._is_attending = True
            try:
                if await self._summaries.renew(turn):
                    self._counts.add("summaries")
            except Exception as error:  # noqa: BLE001  (a summary that fails does no harm)
                _log.error("conversation %d was not summarized: %s", turn.conversation, describe_error(error))
            finally:
                self._is_attending = False
