"""A turn as it goes through the loop, and its journal: every step (`bot.chat.steps`) is written down as it happens.

Each commit also has what is paid: what is about to be asked is reserved in the ledger, what has been answered is
settled there with the step that holds it. So no crash costs a step twice, and no cost is lost (`bot.money.ledger`).
Only a tool that must not run twice (`effects = "once"`) journals its start: for others it would not be read. Steps that
follow each other within milliseconds share a commit (docs/decisions.md says why).
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from bot.access.chat_settings import ChatSettings
from bot.chat.phrases import Deed
from bot.chat.prompt import PastTurn
from bot.chat.steps import (
    Allowance,
    Asked,
    AskedAgain,
    Completed,
    Corrected,
    Decided,
    Discarded,
    Opened,
    Paused,
    Spoken,
    Started,
    Step,
    ToolRun,
    dump_step,
)
from bot.events import ChatId, File, Incoming, PersonId
from bot.i18n.language import Language
from bot.labels import UNKNOWN, Labels, Source
from bot.logs import RepeatedWarning
from bot.media.attachments import FileDescription
from bot.messages import CallId, Message, ToolCall, UserMessage
from bot.models.base import Completion
from bot.money.budgets import Budget, UsedUp
from bot.money.ledger import Bill, Payer, Reservation, completion_entries
from bot.signal.protocol import Progress
from store import ConversationId, InboxId, LedgerEntry, Repositories, StepMissing, Store, StoreFull, TurnId

_log = logging.getLogger(__name__)

_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenQuestion:
    """A question of Aldis, whether it may do something, that waits for an answer."""

    turn: TurnId
    calls: tuple[ToolCall, ...]
    labels: Labels
    """The labels of everything these calls were made from."""
    is_quoted: bool
    """Whether the person quotes it in what they ask now: what they want instead takes its place."""

    def is_replaced_by(self, calls: Iterable[ToolCall]) -> bool:
        """Whether these calls are the same wish: another one of the same kind leaves the question open."""
        wanted = {_wish(call) for call in calls}
        names = {name for name, _ in wanted}
        return all(_wish(call) in wanted or (self.is_quoted and call.name in names) for call in self.calls)


def _wish(call: ToolCall) -> tuple[str, str]:
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return call.name, json.dumps(given, sort_keys=True, default=str).casefold()


def open_question(turn: TurnId, steps: Iterable[Step], person: PersonId, *, is_quoted: bool) -> OpenQuestion | None:
    """Returns what the last of a turn's steps asked this person and they have not answered; None if nothing."""
    done = tuple(steps)
    asked = next((step for step in reversed(done) if isinstance(step, Paused)), None)
    is_decided = any(isinstance(step, Decided) and asked and step.call_ids == asked.call_ids for step in done)
    if asked is None or is_decided or person not in asked.people:
        return None
    written = [step.completion.message for step in done if isinstance(step, Completed)]
    calls = tuple(call for one in written if one is not None for call in one.calls if call.id in asked.call_ids)
    labels = next((one.labels for one in reversed(written) if one is not None), None)
    return OpenQuestion(turn=turn, calls=calls, labels=labels or UNKNOWN, is_quoted=is_quoted)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question with everything needed to answer it."""

    id: TurnId
    conversation: ConversationId
    chat: ChatId
    incoming: tuple[Incoming, ...]
    """The messages it answers, oldest first; at least one."""
    loaded_at: datetime
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
    heard: Language | None = None
    """The language of the question; None if not certain."""
    timezone: str | None = None
    """The IANA zone the asker has set; None: the one for everybody."""
    note: str = ""
    """What the model reads from before the history: remembered facts and a summary; may be empty."""
    note_labels: Labels = field(default_factory=Labels)

    allowed: frozenset[Allowance] = frozenset()
    """The tools that the asker has permanently allowed there."""
    open_questions: tuple[OpenQuestion, ...] = ()
    talk: tuple[Incoming, ...] = ()
    """What others said in the group since the last answer, for this attempt only: never written down."""

    @property
    def person(self) -> PersonId:
        """The person who asked: their limits count."""
        return self.incoming[-1].author

    @property
    def payer(self) -> Payer:
        """The turn as the ledger knows it."""
        return Payer(conversation=self.conversation, turn=self.id, person=self.person, group=self.group)

    @property
    def is_unattended(self) -> bool:
        """Whether a reminder asks, so that no person is there to answer a question."""
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
    bills: tuple[Bill, ...] = ()
    """What was paid and is not in the ledger yet."""
    files: tuple[File, ...] = ()
    voice: File | None = None
    done: tuple[ToolCall, ...] = ()
    """The calls that changed something: earlier questions about the same are settled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """A turn that cannot continue until a person decides whether these calls may run."""

    calls: tuple[ToolCall, ...]
    deeds: tuple[Deed, ...]
    """What each call would do, for the person."""
    cost_usd: Decimal
    asked_until: datetime | None = None
    """Until when the turn waits since it asked the person before a restart; None: it has not."""
    causes: tuple[Source, ...] = ()
    """The sources that make it necessary to ask; empty if the operator or the tool requires it."""
    allowance: Allowance | None = None
    """The tool of all these calls, if the asker can allow it permanently."""


OnProgress = Callable[[Progress], Awaitable[None]]
"""Called with each step as it happens."""

SPEAKING = "spoken"
_ASKING = "asking"


class Journal:
    """The steps of one running turn: those written earlier and those being written."""

    def __init__(self, store: Store, turn: Turn, budget: Budget, on_progress: OnProgress) -> None:
        self.turn = turn
        """The turn; once its files are open, with what they say. The first completion writes its question."""
        self.on_progress = on_progress
        self._store = store
        self._budget = budget
        self._position = len(turn.steps)
        self._held: tuple[Step, ...] = ()
        self._reserved: dict[str, Reservation] = {}
        """What is reserved for the calls under way, by their names."""
        self.bills: tuple[Bill, ...] = ()
        """What was answered and is not settled yet: the next commit settles it, or what keeps the outcome."""
        self._answer: Completion | None = None
        """The last completion, as long as no step has it."""
        self._full = RepeatedWarning(_log)
        self.is_asked = False
        self.opened: dict[str, FileDescription] = {}
        self.spoken: Spoken | None = None
        self.corrections: list[tuple[int, Corrected]] = []
        """What a person corrected, and how many completions there were by then."""
        self.is_over = False
        """Whether it is too late for corrections, as the answer is there."""
        self.completions: list[Completion] = []
        self.asked_again: set[AskedAgain] = set()
        """How the model was asked again, each way at most once in a turn."""
        self.runs: dict[CallId, ToolRun] = {}
        self.started: set[CallId] = set()
        self.asked: dict[CallId, datetime] = {}
        """The calls a person was asked about, and until when the turn waits for their verdict."""
        self.decided: dict[CallId, bool] = {}
        self.allowed: list[str] = []
        """The tools that were permanently allowed when the person was asked."""
        self.replaced: set[CallId] = set()
        """The calls that a newer message wants once more."""
        for step in turn.steps:
            self._note(step)

    def _note(self, step: Step) -> None:
        match step:
            case Opened():
                self.opened[step.attachment] = step.finding
            case Asked():
                self.is_asked = True
            case Completed():
                self.completions.append(step.completion)
            case Discarded():
                self.asked_again.add(step.asked_again)
            case Started():
                self.started.add(step.call_id)
            case ToolRun():
                self.runs[step.answer.call_id] = step
            case Paused():
                self.asked |= dict.fromkeys(step.call_ids, step.until)
            case Decided():
                self.decided |= dict.fromkeys(step.call_ids, step.is_yes)
                self.allowed += [step.always] if step.always else []
                self.replaced |= {*step.call_ids} if step.is_replaced else set()
            case Spoken():
                self.spoken = step
            case _:
                self.corrections.append((len(self.completions), step))

    def failure(self, text: str) -> Outcome:
        """An end without an answer, and the text for the person."""
        return Outcome(text=text, ok=False, bills=self.bills)

    async def reserve_question(self, entry: LedgerEntry) -> UsedUp | None:
        """Writes what a question to the model may cost before it is asked; or returns the limit that forbids it."""
        return await self._write(reserves=(_ASKING, entry))

    async def reserve_fee(self, name: str, fee: LedgerEntry, *, is_limited: bool = True) -> UsedUp | None:
        """Does the same for a file, by its attachment's id, or for `SPEAKING`: with it, no limit may be reached."""
        fee_usd = fee.cost_usd or Decimal(0)
        return await self._write(reserves=(name, fee), is_limited=is_limited, fee_usd=fee_usd)

    async def start(self, call: ToolCall, cost_usd: Decimal, *, is_once: bool) -> None:
        """Writes that a tool begins which must not run twice, or which costs something."""
        steps = (Started(call_id=call.id),) if is_once else ()
        entry = LedgerEntry(kind="tool", name=call.name, outcome="ok", cost_usd=cost_usd)
        if steps or cost_usd:
            await self._write(*steps, reserves=(call.id, entry) if cost_usd else None, is_limited=False)

    def note_failures(self, entries: tuple[LedgerEntry, ...]) -> None:
        """Notes what a question to the model has cost that got no answer; the next commit settles it."""
        self._settle(_ASKING, entries)

    def note_answer(self, completion: Completion) -> None:
        """Notes a completion that no step has: unless one follows, what keeps the turn writes it."""
        self._answer = completion
        self._settle(_ASKING, completion_entries(completion))

    async def keep_answer(self) -> None:
        """Writes the last completion, if no step has it, because the end of the turn will take a while."""
        if self._answer is not None:
            await self.keep_completion(self._answer)

    async def keep_completion(self, completion: Completion, *, hold: bool = False) -> None:
        """Writes a completion with tool calls, the first with the question; `hold`: with the next step's commit."""
        turn = self.turn
        asked = () if self.is_asked else (Asked(question=turn.question, settings=turn.settings),)
        self._answer = None
        await self._keep(*asked, Completed(completion=completion), hold=hold)

    async def discard(self, completion: Completion, asked_again: AskedAgain) -> None:
        """Writes that a paid completion is replaced by another, and how the model is asked for it."""
        self._answer = None
        await self._keep(Discarded(completion=completion, asked_again=asked_again), hold=True)

    async def keep_beside(self, step: Opened | Spoken) -> None:
        """Writes what was found in a file that came with the question, or that the answer was spoken."""
        if step.fee is not None:
            self._settle(step.attachment if isinstance(step, Opened) else SPEAKING, (step.fee,))
        await self._keep(step)

    async def keep_run(self, run: ToolRun, *, hold: bool = False) -> None:
        """Writes how a tool call ended; `hold`: with the next commit, which comes within milliseconds."""
        entry = LedgerEntry(kind="tool", name=run.tool, outcome=run.outcome, cost_usd=run.cost_usd)
        self._settle(run.answer.call_id, (entry,))
        await self._keep(run, hold=hold)

    async def take_correction(self, correction: Corrected, item: InboxId) -> bool:
        """Writes a correction and settles its message with that; False: there is nothing to correct."""
        if self.is_over or not self.completions:
            return False
        self._note(correction)
        await self._write(correction, settles=item)
        return True

    async def flush(self) -> None:
        """Writes the steps that were held back, if any."""
        if self._held:
            await self._write()

    def _settle(self, name: str, entries: tuple[LedgerEntry, ...]) -> None:
        self.bills += (Bill(reservation=self._reserved.pop(name, None), entries=entries),)

    async def _keep(self, *steps: Step, hold: bool = False) -> None:
        for step in steps:
            self._note(step)
        self._held += steps
        if not hold:
            await self._write()

    async def _write(
        self,
        *more: Step,
        reserves: tuple[str, LedgerEntry] | None = None,
        is_limited: bool = True,
        fee_usd: Decimal = Decimal(0),
        settles: InboxId | None = None,
    ) -> UsedUp | None:
        """Writes what was held back and these steps, settles, and reserves under this name what the entry may cost."""
        steps, self._held = (*self._held, *more), ()
        bills, self.bills = self.bills, ()
        first, self._position = self._position, self._position + len(steps)
        lines = [dump_step(step) for step in steps]
        turn = self.turn

        def write(repos: Repositories) -> Reservation | UsedUp | None:
            # A turn that was taken back meanwhile has no journal, and has paid all the same.
            is_written = bool(lines) and repos.journal.add(turn.conversation, turn.id, first, *lines)
            if settles is not None and is_written:
                repos.inbox.settle(settles, turn=turn.id)
            self._budget.settle(repos, turn.payer, bills)
            if reserves is None:
                return None
            return self._budget.reserve(repos, turn.payer, reserves[1], is_limited=is_limited, fee_usd=fee_usd)

        while True:
            try:
                found = await self._store.transaction(write)
            except (StoreFull, StepMissing):
                # What they cost is paid, and asking anew would cost it once more; a step before may wait for room, too.
                self._full.tell("what models and tools have answered waits for room on the disk", logging.ERROR)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if isinstance(found, UsedUp):
                return found
            if reserves is not None and found is not None:
                self._reserved[reserves[0]] = found
            return None


def origin_of(item: InboxId) -> str:
    """The id of a message for things a command in it made Aldis keep beyond the answer; a tool call has its own id."""
    return f"item_{item}"
