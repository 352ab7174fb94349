"""The agent with eyes, ears and a voice: opens the files of a question, and speaks answers to voice notes.

    files came with the question --> each is opened and journaled --> the question is composed --> the agent
    the agent answered a voice note --> the answer is journaled, spoken, journaled --> its outcome

Opened files and spoken answers are journaled at once: after a crash nothing is fetched, transcribed or paid again.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from decimal import Decimal

from bot.chat import prompt
from bot.chat.agent import Agent
from bot.chat.budget import Budget
from bot.chat.journal import SPEAKING, Journal, Outcome, Pause, Turn
from bot.chat.memory_limit import MemoryLimit
from bot.chat.state import OnProgress
from bot.chat.steps import Asked, Opened, Spoken
from bot.chat.work import side_by_side, waiting
from bot.events import Attachment, File
from bot.formatting.split import parts
from bot.media.attachments import AttachmentReader
from bot.media.findings import Fee
from bot.media.speech import MAX_SPOKEN_CHARACTERS, Speech
from bot.models.base import OnText

_log = logging.getLogger(__name__)

_ROOM_BYTES = 200_000_000
"""For the files of all running turns, including those that only wait for their model."""
_MARGIN_SECONDS = 5.0
"""The part of the turn's time that speaking leaves for keeping the answer."""
_MARGIN_SHARE = 0.1
"""The models leave as much, or this share of a short turn."""
_WORTHWHILE_SECONDS = 3.0


class MultimodalAgent:
    """An agent that sees and hears.

    `speech` speaks the answers to voice notes; None: they stay text. `turn_seconds` is the time for a whole turn: the
    answer is never put at risk for its sound.
    """

    def __init__(
        self,
        agent: Agent,
        attachments: AttachmentReader,
        *,
        timezone: str,
        turn_seconds: float,
        speech: Speech | None,
        budget: Budget,
    ) -> None:
        self._agent = agent
        self._attachments = attachments
        self._timezone = timezone
        self._turn_seconds = turn_seconds
        self._speech = speech
        self._budget = budget
        self._room = MemoryLimit(_ROOM_BYTES)

    async def answer(
        self, turn: Turn, journal: Journal, on_progress: OnProgress, on_text: OnText | None = None
    ) -> Outcome | Pause:
        """The agent's answer to the question with everything that came with it.

        Raises:
            StoreError: a step could not be journaled; the turn can be tried again later.
        """
        now = asyncio.get_running_loop().time
        ends_at = now() + self._turn_seconds
        margin_seconds = min(_MARGIN_SECONDS, _MARGIN_SHARE * self._turn_seconds)
        async with AsyncExitStack() as room:
            async with waiting():
                await room.enter_async_context(self._room.of(self._bytes_of(turn), person=turn.person))
            asked = await self._asked(turn, journal)
            left_seconds = ends_at - margin_seconds - now()
            outcome = await self._agent.answer(asked, journal, on_progress, on_text, seconds=left_seconds)
            if self._speech is None or isinstance(outcome, Pause) or not (outcome.ok and _is_spoken(turn)):
                return outcome
            return await self._spoken(outcome, journal, self._speech, ends_at - _MARGIN_SECONDS - now())

    async def _asked(self, turn: Turn, journal: Journal) -> Turn:
        """The turn with its files opened, unless an earlier attempt already asked or the budget forbids it."""
        attached = _attached(turn)
        if not attached or any(isinstance(step, Asked) for step in turn.steps):
            return turn
        if await self._budget.used_up(turn, Decimal(0)) is not None:
            return turn
        purse = _Purse(turn, self._budget, journal.fees)
        async with waiting():
            await side_by_side(
                self._open(turn, journal, attachment, number, purse)
                for number, attachment in enumerate(attached, 1)
                if attachment.id not in journal.opened
            )
        found = prompt.question(
            turn.incoming, now=turn.wall_at, timezone=turn.timezone or self._timezone, findings=journal.opened
        )
        asked = replace(turn, question=found)
        journal.ask(asked)
        return asked

    def _bytes_of(self, turn: Turn) -> int:
        """The size of the files that came with the question, and of those that are shown again."""
        return self._attachments.size_bytes(_attached(turn)) + sum(past.media_bytes for past in turn.history)

    async def _open(self, turn: Turn, journal: Journal, attachment: Attachment, number: int, purse: "_Purse") -> None:
        paid = journal.paid_call(attachment.id)
        unpacked = await self._attachments.read_attachment(
            turn.chat,
            attachment,
            number=number,
            person=turn.person,
            on_asked=paid.begin_fee,
            on_broken_off=journal.break_off,
            may_spend=purse.take,
        )
        if unpacked.fee is not None:
            paid.note_cost(unpacked.fee.cost_usd)
        await journal.keep_opened(Opened(attachment=attachment.id, finding=unpacked.finding, fee=unpacked.fee))
        paid.end()

    async def _spoken(self, outcome: Outcome, journal: Journal, speech: Speech, left_seconds: float) -> Outcome:
        """The outcome with its text spoken, if that succeeds in time."""
        if not outcome.is_journaled:
            # Nothing else holds the last completion until the turn is kept, and speaking takes a while.
            await journal.keep_completion(outcome.completions[-1])
        if journal.spoken is None and left_seconds > _WORTHWHILE_SECONDS:
            paid = journal.paid_call(SPEAKING)
            async with waiting():
                said = await speech.speak(
                    _plain(outcome.text),
                    timeout_seconds=left_seconds,
                    on_asked=paid.begin_fee,
                    on_broken_off=journal.break_off,
                )
            if said.sound is None:
                _log.warning("an answer could not be turned into speech: %s", said.fee.outcome)
            file = None if said.sound is None else File(name="answer.aac", content_type="audio/aac", data=said.sound)
            paid.note_cost(said.fee.cost_usd)
            await journal.keep_spoken(Spoken(file=file, fee=said.fee))
            paid.end()
        voice = journal.spoken.file if journal.spoken else None
        return replace(outcome, voice=voice, fees=journal.fees, is_journaled=True)


class _Purse:
    """The budget for the files of one question together: hours of sound could exceed a budget many times over."""

    def __init__(self, turn: Turn, budget: Budget, fees: Iterable[Fee]) -> None:
        """`fees` were paid earlier."""
        self._turn = turn
        self._budget = budget
        self._spent_usd = sum((fee.cost_usd or Decimal(0) for fee in fees), Decimal(0))
        self._one_by_one = asyncio.Lock()

    async def take(self, cost_usd: Decimal) -> bool:
        """As `bot.media.attachments.MaySpend`; the costs of the question's other files count as spent."""
        async with self._one_by_one:
            wanted_usd = self._spent_usd + cost_usd
            if await self._budget.used_up(self._turn, wanted_usd) is not None:
                return False
            self._spent_usd = wanted_usd
            return True


def _attached(turn: Turn) -> tuple[Attachment, ...]:
    """The files that came with the question or its quotes, each once."""
    return tuple({one.id: one for message in turn.incoming for one in message.files}.values())


def _is_spoken(turn: Turn) -> bool:
    """Whether the person's last message was spoken rather than written."""
    return any(attachment.is_voice_note for attachment in turn.incoming[-1].attachments)


def _plain(text: str) -> str:
    """The words without style marks, up to what a voice accepts at once."""
    return "".join(part.text for part in parts(text, limit_bytes=MAX_SPOKEN_CHARACTERS, max_parts=1))
