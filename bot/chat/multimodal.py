"""The agent with eyes, ears and a voice: opens the files of a question, and speaks answers to voice notes.

    files came with the question --> each is opened and journaled --> the question is composed --> the agent
    the agent answered a voice note --> the answer is journaled, spoken, journaled --> its outcome

Opened files and spoken answers are journaled at once: after a crash nothing is fetched, transcribed or paid again.
"""

import asyncio
import logging
from dataclasses import replace

from bot.chat import prompt
from bot.chat.agent import Agent, OnProgress, side_by_side
from bot.chat.journal import SPEAKING, Journal, Outcome, Pause, Turn
from bot.chat.steps import Opened, Spoken
from bot.events import Attachment, File
from bot.formatting.split import parts
from bot.media.attachments import AttachmentReader
from bot.media.speech import MAX_SPOKEN_CHARACTERS, Fee, Speech

_log = logging.getLogger(__name__)

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
        self, agent: Agent, attachments: AttachmentReader, *, timezone: str, turn_seconds: float, speech: Speech | None
    ) -> None:
        self._agent = agent
        self._attachments = attachments
        self._timezone = timezone
        self._turn_seconds = turn_seconds
        self._speech = speech

    async def answer(self, turn: Turn, journal: Journal, on_progress: OnProgress) -> Outcome | Pause:
        """The agent's answer to the question with everything that came with it.

        Raises:
            StoreError: a step could not be journaled; the turn can be tried again later.
        """
        now = asyncio.get_running_loop().time
        ends_at = now() + self._turn_seconds
        margin_seconds = min(_MARGIN_SECONDS, _MARGIN_SHARE * self._turn_seconds)
        asked = await self._asked(turn, journal)
        left_seconds = ends_at - margin_seconds - now()
        outcome = await self._agent.answer(asked, journal, on_progress, seconds=left_seconds)
        is_spoken = any(attachment.is_voice_note for attachment in turn.incoming[-1].attachments)
        if self._speech is None or isinstance(outcome, Pause) or not (outcome.ok and is_spoken):
            return outcome
        return await self._spoken(outcome, journal, self._speech, ends_at - _MARGIN_SECONDS - now())

    async def _asked(self, turn: Turn, journal: Journal) -> Turn:
        """The turn with its files opened, unless an earlier attempt already asked."""
        attached = {one.id: one for message in turn.incoming for one in message.files}.values()  # each once
        if not attached or journal.is_asked:
            return turn
        await side_by_side(
            self._open(turn, journal, attachment, number)
            for number, attachment in enumerate(attached, 1)
            if attachment.id not in journal.opened
        )
        found = prompt.question(
            turn.incoming, now=turn.wall_at, timezone=turn.timezone or self._timezone, findings=journal.opened
        )
        asked = replace(turn, question=found)
        journal.ask(asked)
        return asked

    async def _open(self, turn: Turn, journal: Journal, attachment: Attachment, number: int) -> None:
        async def may_spend(fee: Fee) -> bool:
            return await journal.reserve_fee(attachment.id, fee) is None

        unpacked = await self._attachments.read_attachment(
            turn.chat, attachment, number=number, person=turn.person, may_spend=may_spend
        )
        await journal.keep_opened(Opened(attachment=attachment.id, finding=unpacked.finding, fee=unpacked.fee))

    async def _spoken(self, outcome: Outcome, journal: Journal, speech: Speech, left_seconds: float) -> Outcome:
        """The outcome with its text spoken, if that succeeds in time."""
        # Nothing else holds the last completion until the turn is kept, and speaking takes a while.
        await journal.keep_answer()
        if journal.spoken is None and left_seconds > _WORTHWHILE_SECONDS:
            # Without style marks, up to what a voice accepts at once.
            text = "".join(part.text for part in parts(outcome.text, limit_bytes=MAX_SPOKEN_CHARACTERS, max_parts=1))
            await journal.reserve_fee(SPEAKING, speech.speaking_fee(text), is_limited=False)
            sound, fee = await speech.speak(text, timeout_seconds=left_seconds)
            if sound is None:
                _log.warning("an answer could not be turned into speech: %s", fee.outcome)
            file = None if sound is None else File(name="answer.aac", content_type="audio/aac", data=sound)
            await journal.keep_spoken(Spoken(file=file, fee=fee))
        voice = journal.spoken.file if journal.spoken else None
        return replace(outcome, voice=voice, bills=journal.bills)
