"""The agent loop: ask the model, run the tools it calls side by side, ask again, until there is an answer or a limit.

    files are opened --> budget left? --> ask --> words --> spoken, if a voice note was answered --> Outcome
                          ^                   '-> calls --> may they run? --not decided--> Pause
                          '------------------------------ answers, in the order asked <-'

Every file that is opened, every completion with calls, every tool answer and every sound is journaled at once;
anything an earlier attempt of the turn has journaled is reused, and already paid. Knows neither SQL nor Signal nor a
vendor. Left to others: what a request holds (`bot.chat.room`), which calls run (`bot.chat.calls`).
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial

from bot.chat import phrases, prompt
from bot.chat.calls import Calls, side_by_side
from bot.chat.citations import Shield, words_of
from bot.chat.context import label_question
from bot.chat.journal import SPEAKING, Journal, Outcome, Pause, Turn
from bot.chat.outgoing import enclosed_files, work_out
from bot.chat.room import Models, Requests
from bot.chat.steps import Opened, Spoken
from bot.chat.toolbox import Toolbox
from bot.errors import ProviderError
from bot.events import Attachment, File
from bot.formatting.split import parts
from bot.i18n.catalogues import say
from bot.media.attachments import AttachmentReader
from bot.media.speech import MAX_SPOKEN_CHARACTERS, Speech
from bot.messages import ToolMessage
from bot.models.base import Completion
from bot.money.budgets import UsedUp
from bot.signal.protocol import ModelFailed
from bot.trust.links import GivenAddresses, defang, given_in
from bot.trust.rules import may_carry_out
from bot.trust.secrets import Secrets
from store import LedgerEntry

_log = logging.getLogger(__name__)

_MARGIN_SECONDS = 5.0
"""The part of the turn's time that speaking leaves for keeping the answer."""
_MARGIN_SHARE = 0.1
"""The models leave as much, or this share of a short turn."""
_WORTHWHILE_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """Answers turns with the configured models and one toolbox."""

    models: Models
    toolbox: Toolbox
    secrets: Secrets
    """The operator's own, hidden from models and people."""
    attachments: AttachmentReader | None = None
    """Opens the files of a question; None: they stay closed."""
    speech: Speech | None = None
    """Speaks the answers to voice notes; None: they stay text."""

    async def answer(self, journal: Journal) -> Outcome | Pause:
        """The outcome of a turn, or a pause if a person must agree; raises `StoreError` if a step was not journaled."""
        now, settings = asyncio.get_running_loop().time, self.models.settings
        most = settings.worker.turn_timeout_seconds
        ends_at = now() + most
        journal.turn = turn = label_question(await self._opened(journal))
        offers = [offer for offer in await self.toolbox.offers() if turn.settings.allows_tool(offer.name)]
        models_end_at = ends_at - min(_MARGIN_SECONDS, _MARGIN_SHARE * most)
        requests = Requests(self.models, journal, offers, ends_at=models_end_at)
        calls = Calls(self.toolbox, journal, self.secrets, settings, requests.labels)
        outcome = await self._outcome(journal, requests, calls)
        is_spoken = any(attachment.is_voice_note for attachment in turn.incoming[-1].attachments)
        if self.speech is None or isinstance(outcome, Pause) or not (outcome.ok and is_spoken):
            return outcome
        return await _spoken(outcome, journal, self.speech, ends_at - _MARGIN_SECONDS - now())

    async def _opened(self, journal: Journal) -> Turn:
        """The turn with its files opened, unless an earlier attempt already asked."""
        turn = journal.turn
        attached = {one.id: one for message in turn.incoming for one in message.files}.values()  # each once
        reader = self.attachments
        if reader is None or not attached or journal.is_asked:
            return turn

        async def open_one(attachment: Attachment, number: int) -> None:
            async def may_spend(fee: LedgerEntry) -> bool:
                return await journal.reserve_fee(attachment.id, fee) is None

            finding, fee = await reader.read_attachment(
                turn.chat, attachment, number=number, person=turn.person, may_spend=may_spend
            )
            await journal.keep_beside(Opened(attachment=attachment.id, finding=finding, fee=fee))

        await side_by_side(
            open_one(attachment, number)
            for number, attachment in enumerate(attached, 1)
            if attachment.id not in journal.opened
        )
        zone = turn.timezone or self.models.settings.locale.timezone
        found = prompt.question(turn.incoming, now=turn.loaded_at, timezone=zone, findings=journal.opened)
        return replace(turn, question=found)

    async def _outcome(self, journal: Journal, requests: Requests, calls: Calls) -> Outcome | Pause:
        """Asks and runs calls until there is an answer, a failure, a limit, or something to agree to."""
        while True:
            try:
                completion = await requests.completion(calls)
            except ProviderError as error:
                await journal.on_progress(ModelFailed(provider=error.provider, error=type(error).__name__))
                return journal.failure(phrases.for_error(error))
            if isinstance(completion, UsedUp):
                limit = completion
                return journal.failure(phrases.budget_used_up(limit.scope, limit.span, renews=limit.renews))
            if (again := requests.ask_again(completion)) is not None:
                await journal.discard(replace(completion, message=None), again)
            elif (message := requests.calling(completion)) is None:
                journal.is_over = True
                return await self._answered(completion, journal, requests, calls)
            else:
                runs = await calls.carry_out(message.calls)
                if isinstance(runs, Pause):
                    return runs
                requests.add(message, ToolMessage(answers=tuple(run.answer for run in runs)))

    async def _answered(self, completion: Completion, journal: Journal, requests: Requests, calls: Calls) -> Outcome:
        """The outcome of a completion that runs no tools, with the remarks beside its words."""
        said = requests.said
        shielded: Shield = str
        if may_carry_out(calls.labels):
            given = given_in((*requests.history, *said), self.toolbox.returning)
            shielded = partial(defang, given=GivenAddresses(given))
        text = "" if completion.message is None else completion.message.text
        text, answer = await work_out(text, words_of, completion, calls.pages, calls.runs, shielded)
        done = calls.done()
        takes_place = any(question.is_replaced_by(done) for question in journal.turn.open_questions)
        remarks = [say(phrases.TAKES_PLACE)] if takes_place else []
        if answer is not None:
            allowed = [say(phrases.ALWAYS_ALLOWED, tool=phrases.tool_name(tool)) for tool in journal.allowed]
            remarks = [*calls.left_undone(), *remarks, *(["\n".join(allowed)] if allowed else [])]
        return Outcome(
            text="\n\n".join([text, *remarks]),
            ok=answer is not None,
            messages=() if answer is None else (*said, replace(answer, labels=calls.labels)),
            bills=journal.bills,
            files=() if answer is None else enclosed_files(calls.runs),
            done=done if takes_place else (),
        )


async def _spoken(outcome: Outcome, journal: Journal, speech: Speech, left_seconds: float) -> Outcome:
    """The outcome with its text spoken, if that succeeds in time."""
    # Nothing else holds the last completion until the turn is kept, and speaking takes a while.
    await journal.keep_answer()
    if journal.spoken is None and left_seconds > _WORTHWHILE_SECONDS:
        # Without style marks, up to what a voice accepts at once.
        text = "".join(part.text for part in parts(outcome.text, limit_bytes=MAX_SPOKEN_CHARACTERS, max_parts=1))
        fee = speech.speaking_fee(text)
        await journal.reserve_fee(SPEAKING, fee, is_limited=False)
        sound, fee = await speech.speak(text, fee, timeout_seconds=left_seconds)
        if sound is None:
            _log.warning("an answer could not be turned into speech: %s", fee.outcome)
        file = None if sound is None else File(name="answer.aac", content_type="audio/aac", data=sound)
        await journal.keep_beside(Spoken(file=file, fee=fee))
    voice = journal.spoken.file if journal.spoken else None
    return replace(outcome, voice=voice, bills=journal.bills)
