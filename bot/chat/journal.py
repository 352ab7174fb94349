"""A turn as it goes through the loop, and its journal: every step is written down as it happens (`bot.chat.steps`).

No crash costs a step twice. Only a tool that must not run twice (`effects = "once"`) journals its start: for others
nobody would read it, and each step costs a commit. Steps that follow each other within milliseconds share a commit
(`Journal.keep_completion`); the answer of a tool that only looks does not wait for the next one (docs/decisions.md says
why). Left to others: loading and keeping turns (`bot.chat.turns`), what comes next (`bot.chat.agent`).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Self

from bot.access.chat_settings import ChatSettings
from bot.chat.paid_calls import PaidCall, step_name
from bot.chat.phrases import Deed
from bot.chat.prompt import PastTurn
from bot.chat.steps import (
    Allowance,
    Asked,
    AskedAgain,
    Completed,
    Decided,
    Discarded,
    Opened,
    OpenQuestion,
    Paused,
    Spoken,
    Started,
    Step,
    ToolRun,
    dump_step,
)
from bot.events import ChatId, File, Incoming, PersonId
from bot.i18n.language import Language
from bot.labels import Labels, Source
from bot.logs import RepeatedWarning
from bot.media.findings import Fee
from bot.messages import CallId, Message, ToolCall, UserMessage
from bot.models.base import Attempt, Completion
from bot.money.budgets import Scope
from store import ConversationId, InboxId, Repositories, StepMissing, Store, StoreError, StoreFull, TurnId

_log = logging.getLogger(__name__)

_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question with everything needed to answer it."""

    id: TurnId
    conversation: ConversationId
    chat: ChatId
    incoming: tuple[Incoming, ...]
    """The messages it answers, oldest first; at least one."""
    loaded_at: datetime
    """In own time."""
    wall_at: datetime
    """The machine's clock at that moment, which people and models are told."""
    question: UserMessage
    history: tuple[PastTurn, ...]
    """The last turns of the conversation, oldest first, each complete."""
    steps: tuple[Step, ...]
    """What earlier attempts of this turn wrote; empty on the first."""
    is_damaged: bool = False
    """Whether what they wrote cannot be read, so that the turn cannot go on."""
    expires_at: datetime | None = None
    """When everything that belongs to it must be gone; None: it stays."""
    replaces: TurnId | None = None
    """The turn it repeats after an edit, whose answer is then edited; None if it repeats none."""
    settings: ChatSettings = field(default_factory=ChatSettings)
    """The conversation's settings."""
    heard: Language | None = None
    """The language of the question; None if not certain."""
    timezone: str | None = None
    """The IANA zone the asker told; None: the one for everybody."""
    note: str = ""
    """What the model is told from before the history: remembered facts and a summary; may be empty."""
    note_labels: Labels = field(default_factory=Labels)
    """Where the note comes from."""

    allowed: frozenset[Allowance] = frozenset()
    """The tools that the asker has permanently allowed there."""
    open_questions: tuple[OpenQuestion, ...] = ()
    """Earlier questions to the asker that are still unanswered."""
    talk: tuple[Incoming, ...] = ()
    """What others said in the group since the last answer, for this attempt only: never written down."""

    @property
    def person(self) -> PersonId:
        """The person who asked: their limits count."""
        return self.incoming[-1].author

    @property
    def is_unattended(self) -> bool:
        """Whether nobody wrote just now: a reminder asks, and nobody is there to answer a question."""
        return all(message.scheduled is not None for message in self.incoming)

    @property
    def group(self) -> ChatId | None:
        """The group it was asked in; None in a direct chat."""
        return self.chat if self.chat.is_group else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The end of a turn."""

    text: str
    """Markdown for the person: the answer, or a sentence saying why there is none."""
    ok: bool
    messages: tuple[Message, ...] = ()
    """The complete turn for the history; empty if none of it should be remembered."""
    completions: tuple[Completion, ...] = ()
    runs: tuple[ToolRun, ...] = ()
    failures: tuple[Attempt, ...] = ()
    """Model calls that failed for good."""
    warned: tuple[tuple[Scope, str], ...] = ()
    """The budgets, by scope and period, that the text reports as nearly used up."""
    fees: tuple[Fee, ...] = ()
    """The costs of opening the question's files and of speaking the answer."""
    files: tuple[File, ...] = ()
    """Files sent to the person with the text."""
    voice: File | None = None
    """The spoken text; None if it is not spoken."""
    done: tuple[ToolCall, ...] = ()
    """The calls that changed something: earlier questions about the same are settled."""
    is_journaled: bool = False
    """Whether the journal has its last completion, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """A turn that cannot continue until a person decides whether these calls may run."""

    calls: tuple[ToolCall, ...]
    deeds: tuple[Deed, ...]
    """What each call would do, for the person."""
    cost_usd: Decimal
    """Their total cost, as far as it is known in advance."""
    is_asked: bool
    """Whether this turn already asked the person, before a restart."""
    causes: tuple[Source, ...] = ()
    """The sources that make it necessary to ask; empty if the operator or the tool requires it."""
    allowance: Allowance | None = None
    """The tool of all these calls, if the asker can allow it permanently."""
    shapes: Mapping[CallId, str] = field(default_factory=dict[CallId, str])
    """Each call's tool definition now."""
    is_changed: bool = False
    """Whether a tool's server describes it differently than when somebody last agreed to it."""


class Journal:
    """The steps of one running turn: those written earlier and those being written."""

    def __init__(self, store: Store, turn: Turn) -> None:
        self._store = store
        self._turn = turn
        self._position = len(turn.steps)
        self._held: tuple[Step, ...] = ()
        self._is_asked = any(isinstance(step, Asked) for step in turn.steps)
        self.opened = {step.attachment: step.finding for step in turn.steps if isinstance(step, Opened)}
        """What was found in files, by attachment id."""
        self.fees = _fees(turn.steps)
        self.spoken = next((step for step in turn.steps if isinstance(step, Spoken)), None)
        self.completions = [step.completion for step in turn.steps if isinstance(step, Completed)]
        self.discarded = [step.completion for step in turn.steps if isinstance(step, Discarded)]
        """Completions that were replaced by others: paid, and otherwise forgotten."""
        self.asked_again = {step.asked_again for step in turn.steps if isinstance(step, Discarded)}
        """How the model was asked again, each way at most once in a turn."""
        self.runs = {step.answer.call_id: step for step in turn.steps if isinstance(step, ToolRun)}
        self.started = frozenset(step.call_id for step in turn.steps if isinstance(step, Started))
        self.asked = {call: step.until for step in turn.steps if isinstance(step, Paused) for call in step.call_ids}
        """The calls a person was asked about, and until when the turn waits for their verdict."""
        self.shapes = {
            call: shape for step in turn.steps if isinstance(step, Paused) for call, shape in step.shapes.items()
        }
        """The tool definitions of these calls when the person was asked."""
        self.allowed = tuple(step.always for step in turn.steps if isinstance(step, Decided) and step.always)
        """The tools that were permanently allowed when somebody was asked."""
        self.decided = {call: step.is_yes for step in turn.steps if isinstance(step, Decided) for call in step.call_ids}
        self.replaced = {
            call for step in turn.steps if isinstance(step, Decided) and step.is_replaced for call in step.call_ids
        }
        """The calls that a newer message wants once more."""
        self._broken_off: list[Attempt | ToolRun | Fee] = []
        self._answer: Completion | None = None
        self._refused: list[Step] = []
        """Steps that came after the turn had ended."""
        self._full = RepeatedWarning(_log)
        self._unwritten: list[Step] = []
        """Steps that could not be written; the later ones are not written either."""
        self._paid_calls: list[PaidCall] = []
        self.is_uncharged = False
        """Whether what it paid could not be recorded."""
        self.model_call = self._next_model_call()
        """The paid question to a model that no written step has yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Whoever kept the turn, or gave it up for now, has recorded all of its costs, unless that was impossible: then
        the next process does.
        """
        if not self.is_uncharged:
            for call in self._paid_calls:
                call.end()

    def paid_call(self, step: str) -> PaidCall:
        """A paid call of the turn: of a tool by the call's id, of a file by the attachment's, or of `SPEAKING`."""
        call = PaidCall(self._store, self._turn.id, step, person=self._turn.person, chat=self._turn.chat)
        self._paid_calls.append(call)
        return call

    def _next_model_call(self) -> PaidCall:
        return self.paid_call(_completion_step(len(self.completions) + len(self.discarded)))

    async def keep_completion(self, completion: Completion, *, hold: bool = False) -> None:
        """Writes a completion with tool calls; with the first one, also the question it answers.

        `hold` delays it until the next step, for calls that write one within milliseconds: calls that only compute, and
        calls that must not run twice, which write their start. That saves a commit.
        """
        turn = self._turn
        first = Asked(question=turn.question, settings=turn.settings)
        asked = () if self._is_asked else (first,)
        self._is_asked = True
        self.completions.append(completion)
        self._answer = None
        self._held = (*asked, Completed(completion=completion))
        if not hold:
            await self.flush()

    def note_answer(self, completion: Completion) -> None:
        """Notes a completion that no step has: unless one follows, the turn ends with it, and whoever keeps the turn
        writes it.
        """
        self._answer = completion

    async def discard(self, completion: Completion, asked_again: AskedAgain) -> None:
        """Writes that a paid completion is replaced by another, and how the model is asked for it."""
        self.discarded.append(completion)
        self.asked_again.add(asked_again)
        self._answer = None
        await self._write(Discarded(completion=completion, asked_again=asked_again))

    async def keep_opened(self, opened: Opened) -> None:
        """Writes what was found in a file that came with the question."""
        self.opened[opened.attachment] = opened.finding
        self.fees += _fees((opened,))
        await self._write(opened)

    def ask(self, turn: Turn) -> None:
        """Continues with this question, now that its files are open; the first completion writes it."""
        self._turn = turn

    async def keep_spoken(self, spoken: Spoken) -> None:
        """Writes that the answer was spoken."""
        self.spoken = spoken
        self.fees += _fees((spoken,))
        await self._write(spoken)

    async def flush(self) -> None:
        """Writes the steps that were held back, if any."""
        if self._held:
            await self._write()

    async def start(self, call_id: CallId) -> None:
        """Writes that a tool which must not run twice begins."""
        await self._write(Started(call_id=call_id))

    async def keep_run(self, run: ToolRun) -> None:
        """Writes how a tool call ended."""
        self.runs[run.answer.call_id] = run
        await self._write(run)

    def break_off(self, asked: Attempt | ToolRun | Fee) -> None:
        """Notes that nobody waits any longer for a model, a tool or a service that is paid; no step has it."""
        self._broken_off.append(asked)

    def take_failures(self) -> tuple[Attempt, ...]:
        """The tries abandoned so far, handed over: the caller records them from now on."""
        found = tuple(one for one in self._broken_off if isinstance(one, Attempt))
        self._broken_off = [one for one in self._broken_off if not isinstance(one, Attempt)]
        return found

    @property
    def broken_off(self) -> Outcome:
        """Returns what this attempt of the turn paid that no written step has: abandoned calls, and steps that were not
        written yet, or too late.
        """
        lost = failed_outcome((*self._refused, *self._unwritten, *self._held))
        return replace(
            lost,
            completions=(*lost.completions, *([] if self._answer is None else [self._answer])),
            runs=(*lost.runs, *(one for one in self._broken_off if isinstance(one, ToolRun))),
            failures=tuple(one for one in self._broken_off if isinstance(one, Attempt)),
            fees=(*lost.fees, *(one for one in self._broken_off if isinstance(one, Fee))),
        )

    def failure(self, text: str) -> Outcome:
        """An end without an answer: what was done and paid so far, for the ledger, and the text for the person."""
        return Outcome(
            text=text,
            ok=False,
            completions=(*self.discarded, *self.completions, *([] if self._answer is None else [self._answer])),
            is_journaled=True,
            runs=(*self.runs.values(), *(one for one in self._broken_off if isinstance(one, ToolRun))),
            failures=tuple(one for one in self._broken_off if isinstance(one, Attempt)),
            fees=(*self.fees, *(one for one in self._broken_off if isinstance(one, Fee))),
        )

    async def _write(self, *more: Step) -> None:
        steps, self._held = (*self._held, *more), ()
        first, self._position = self._position, self._position + len(steps)
        lines = [dump_step(step) for step in steps]

        def write(repos: Repositories) -> bool:
            is_written = repos.journal.add(self._turn.conversation, self._turn.id, first, *lines)
            self._refused += () if is_written else steps
            return is_written

        try:
            while (is_written := await self._tried(write)) is None:
                await self._wait_for_room(steps)
        except StoreError:
            self._unwritten += steps
            raise
        if is_written:
            # The steps of a turn follow each other: whatever a model has answered by now is written.
            self.model_call.end()
            self.model_call = self._next_model_call()

    async def _tried(self, write: Callable[[Repositories], bool]) -> bool | None:
        """Whether the steps were written; None if there is no room for them, or for those before, at the moment."""
        try:
            return await self._store.transaction(write)
        except (StoreFull, StepMissing):
            if self._unwritten:
                raise
            return None

    async def _wait_for_room(self, steps: tuple[Step, ...]) -> None:
        """Waits before these steps are tried again: what they cost is paid, and asking anew would cost it once more."""
        self._full.tell("what models and tools have answered waits for room on the disk", logging.ERROR)
        try:
            await asyncio.sleep(_PAUSE_SECONDS)
        except asyncio.CancelledError:
            self._unwritten += steps
            raise


SPEAKING = "spoken"
"""The name of the paid step in which an answer is spoken."""


def paid_steps(steps: Iterable[Step]) -> frozenset[str]:
    """The names of the paid calls (`bot.chat.paid_calls`) that these steps hold."""
    done = tuple(steps)
    answered = sum(isinstance(step, Completed | Discarded) for step in done)
    opened = [step.attachment for step in done if isinstance(step, Opened)]
    ran = [step.answer.call_id for step in done if isinstance(step, ToolRun)]
    spoken = [SPEAKING for step in done if isinstance(step, Spoken)]
    return frozenset(map(step_name, [*map(_completion_step, range(answered)), *opened, *ran, *spoken]))


def _completion_step(number: int) -> str:
    return f"completion {number}"


def origin_of(item: InboxId) -> str:
    """The id of a message for things a command in it made Aldis keep beyond the answer; a tool call has its own id."""
    return f"item_{item}"


def failed_outcome(steps: Iterable[Step]) -> Outcome:
    """Returns an end without an answer: what these steps did and paid, for the ledger."""
    done = tuple(steps)
    return Outcome(
        text="",
        ok=False,
        completions=tuple(step.completion for step in done if isinstance(step, Completed | Discarded)),
        runs=tuple(step for step in done if isinstance(step, ToolRun)),
        fees=_fees(done),
    )


def _fees(steps: Iterable[Step]) -> tuple[Fee, ...]:
    paid = (step.fee for step in steps if isinstance(step, Opened | Spoken))
    return tuple(fee for fee in paid if fee is not None)
