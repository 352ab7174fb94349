"""The steps of a running turn, and the turn itself as it goes through the loop.

    Opened ... -> Asked -> Completed -> (Started ->) ToolRun ... -> Completed -> ToolRun ... -> (Spoken ->) the Outcome,
    which is no step; Discarded in front of any completion

A step is journaled as it happens, so that no crash costs it twice. Only a tool that must not run twice
(`effects = "once"`) writes its start: for the others nobody would read it, and each step costs a commit. Steps that
follow each other within milliseconds share one (`Journal.keep_completion`); the answer of a tool that looks does not
wait for the next (docs/decisions.md has why).
Left to others: loading and keeping turns (`bot.turn.turns`), what comes next (`bot.turn.agent`).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from bot.events import ChatId, File, Incoming, PersonId
from bot.i18n.language import Language
from bot.labels import UNKNOWN, Labels, Source
from bot.media.findings import Fee, FileDescription
from bot.messages import CallId, Message, ToolAnswer, ToolCall, UserMessage
from bot.policy.budgets import Scope
from bot.policy.chat_settings import ChatSettings
from bot.providers.base import Attempt, Completion
from bot.turn.phrases import Deed
from bot.turn.prompt import PastTurn
from store import ConversationId, InboxId, Repositories, Store, TurnId


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """Step: a file that came with the question was opened; `fee` is what that cost, None where it costs nothing."""

    attachment: str
    """Its id."""
    finding: FileDescription
    fee: Fee | None = None
    step: Literal["opened"] = "opened"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Step: the question as it was put to the model, with the date it had then."""

    question: UserMessage
    settings: ChatSettings | None = None
    """What was set for the conversation then: a turn goes on as it began. None: what is set when it is taken up."""
    step: Literal["asked"] = "asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """Step: the model has answered, with tool calls to run."""

    completion: Completion
    step: Literal["completed"] = "completed"


AskedAgain = Literal["with more room", "to answer", "once more"]
"""How a model is asked again: for a longer answer, for words with what there is, or after an empty answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Discarded:
    """Step: the model has answered with what is of no use, and is asked again; `completion` is without its message."""

    completion: Completion
    asked_again: AskedAgain
    step: Literal["discarded"] = "discarded"


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """Step: a tool that must not run twice begins."""

    call_id: CallId
    step: Literal["started"] = "started"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRun:
    """Step: a tool call has ended. `outcome` is `ok` or an error code; `cost_usd` is what it cost."""

    answer: ToolAnswer
    arguments: Mapping[str, object]
    outcome: str
    latency_seconds: float
    cost_usd: Decimal
    tool: str = "unknown"
    """The tool's name; `unknown` where there is none of that name, for then it is a word that the model made up."""
    files: tuple[File, ...] = ()
    """What the tool has made for the person."""
    step: Literal["ran"] = "ran"


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """A tool that people may allow for good."""

    tool: str
    shape: str
    """What it is now: another one of that name was not allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Paused:
    """Step: a person was asked whether these calls may run; until then their word is waited for."""

    call_ids: tuple[CallId, ...]
    until: datetime
    people: tuple[PersonId, ...]
    """In whose name it would be done: theirs is the word that counts."""
    allowance: Allowance | None = None
    """The tool that they may allow for good with it; None: they may not."""
    question: str = ""
    """What they were asked, as Markdown, to be asked once more; empty: not known."""
    whole: str = ""
    """What is shortened in it, likewise; empty: nothing is."""
    position: int = 0
    """Where the question stands among what the turn says: what it said before is another one."""
    shapes: Mapping[CallId, str] = field(default_factory=dict[CallId, str])
    """What the tool of each call was when they were asked: a yes is one to that, and to nothing that it becomes."""
    step: Literal["paused"] = "paused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """Step: somebody who may has said whether these calls may run."""

    call_ids: tuple[CallId, ...]
    is_yes: bool
    always: str | None = None
    """The tool that they have allowed for good with it; None: none."""
    step: Literal["decided"] = "decided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """Step: the answer was spoken; `file` None: that failed."""

    file: File | None
    fee: Fee
    step: Literal["spoken"] = "spoken"


Step = Annotated[
    Opened | Asked | Completed | Discarded | Started | ToolRun | Paused | Decided | Spoken, Field(discriminator="step")
]
_steps: TypeAdapter[Step] = TypeAdapter(Step)


def dump_step(step: Step) -> bytes:
    """The step as JSON."""
    return _steps.dump_json(step)


def load_step(line: bytes) -> Step:
    """The step that `dump_step` wrote."""
    return _steps.validate_json(line)


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenQuestion:
    """A question of Aldis's own, whether it may do something, that waits for an answer."""

    turn: TurnId
    """The turn that waits for it."""
    calls: tuple[ToolCall, ...]
    labels: Labels
    """Of what these calls were made of."""

    def is_about(self, tools: Collection[str]) -> bool:
        """Whether one of these tools is asked for."""
        return any(call.name in tools for call in self.calls)


def open_question(turn: TurnId, steps: Iterable[Step], person: PersonId) -> OpenQuestion | None:
    """What this person was asked by the last of these steps of a turn, and has not answered; None: nothing."""
    done = tuple(steps)
    asked = next((step for step in reversed(done) if isinstance(step, Paused)), None)
    is_decided = any(isinstance(step, Decided) and asked and step.call_ids == asked.call_ids for step in done)
    if asked is None or is_decided or person not in asked.people:
        return None
    written = [step.completion.message for step in done if isinstance(step, Completed)]
    calls = tuple(call for one in written if one is not None for call in one.calls if call.id in asked.call_ids)
    labels = next((one.labels for one in reversed(written) if one is not None), None)
    return OpenQuestion(turn=turn, calls=calls, labels=labels or UNKNOWN)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question with all that is needed to answer it."""

    id: TurnId
    conversation: ConversationId
    chat: ChatId
    incoming: tuple[Incoming, ...]
    """The messages it answers, oldest first; at least one."""
    loaded_at: datetime
    """In own time."""
    wall_at: datetime
    """What the machine's clock showed then: what people and models are told."""
    question: UserMessage
    history: tuple[PastTurn, ...]
    """The last turns of the conversation, oldest first, each whole."""
    steps: tuple[Step, ...]
    """What earlier attempts of this turn wrote; empty on the first."""
    expires_at: datetime | None = None
    """When everything that belongs to it has to be gone; None: it stays."""
    replaces: TurnId | None = None
    """The turn that it repeats after an edit: its answer is edited. None: it repeats none."""
    settings: ChatSettings = field(default_factory=ChatSettings)
    """What is set for its conversation."""
    heard: Language | None = None
    """The language that it is surely asked in; None where that is not sure."""
    timezone: str | None = None
    """The IANA zone of the person who asks, where they have told; None: that of all people."""
    note: str = ""
    """What the model is told of what lies before the history: remembered facts and a summary; empty: nothing."""
    note_labels: Labels = field(default_factory=Labels)
    """Where that comes from."""

    allowed: frozenset[Allowance] = frozenset()
    """The tools that whoever asks has allowed for good there."""
    open_questions: tuple[OpenQuestion, ...] = ()
    """What whoever asks has been asked before, and not answered yet."""
    talk: tuple[Incoming, ...] = ()
    """What others said in the group since the last answer, for this attempt of the turn alone: never written down."""

    @property
    def person(self) -> PersonId:
        """Who asked last: whose limits count."""
        return self.incoming[-1].author

    @property
    def is_unattended(self) -> bool:
        """Whether nobody has written just now: a reminder asks, and nobody is there to answer a question."""
        return all(message.scheduled is not None for message in self.incoming)

    @property
    def group(self) -> ChatId | None:
        """The group that it was asked in; None in a direct conversation."""
        return self.chat if self.chat.is_group else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a turn ended."""

    text: str
    """Markdown for the person: the answer, or a sentence that tells why there is none."""
    ok: bool
    messages: tuple[Message, ...] = ()
    """The whole turn for the history; empty when nothing of it should be remembered."""
    completions: tuple[Completion, ...] = ()
    runs: tuple[ToolRun, ...] = ()
    failures: tuple[Attempt, ...] = ()
    """Model calls that failed for good."""
    warned: tuple[tuple[Scope, str], ...] = ()
    """The budgets, by scope and period, of which the text says that they are nearly used up."""
    fees: tuple[Fee, ...] = ()
    """What opening the question's files and speaking the answer cost."""
    files: tuple[File, ...] = ()
    """What goes to the person together with the text."""
    voice: File | None = None
    """The text, spoken; None: it is not."""
    done: frozenset[str] = frozenset()
    """The tools with which it has changed something: earlier questions about these are settled."""
    is_journaled: bool = False
    """Whether its last completion stands in the journal as well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """How far a turn has come that needs a person's word before it goes on: may these calls run?"""

    calls: tuple[ToolCall, ...]
    deeds: tuple[Deed, ...]
    """What each of them would do, for the person."""
    cost_usd: Decimal
    """What they cost together, as far as that is known before."""
    is_asked: bool
    """Whether the person was asked before, by this turn until a restart."""
    causes: tuple[Source, ...] = ()
    """Why they are asked: the sources behind the calls; empty: because the operator or the tool wants it."""
    allowance: Allowance | None = None
    """The tool of all these calls, where whoever asks may allow it for good."""
    shapes: Mapping[CallId, str] = field(default_factory=dict[CallId, str])
    """What the tool of each call is now."""
    is_changed: bool = False
    """Whether the server of one of them describes it differently than when somebody last agreed to it."""


class Journal:
    """The steps of one running turn: those that were written before, and those that are being written."""

    def __init__(self, store: Store, turn: Turn) -> None:
        self._store = store
        self._turn = turn
        self._position = len(turn.steps)
        self._held: tuple[Step, ...] = ()
        self._is_asked = any(isinstance(step, Asked) for step in turn.steps)
        self.opened = {step.attachment: step.finding for step in turn.steps if isinstance(step, Opened)}
        """What was found in files, by the id of the attachment."""
        self.fees = _fees(turn.steps)
        self.spoken = next((step for step in turn.steps if isinstance(step, Spoken)), None)
        self.completions = [step.completion for step in turn.steps if isinstance(step, Completed)]
        self.discarded = [step.completion for step in turn.steps if isinstance(step, Discarded)]
        """Completions in whose place others were asked for: paid, and otherwise forgotten."""
        self.asked_again = {step.asked_again for step in turn.steps if isinstance(step, Discarded)}
        """How they were asked for, each once in a turn."""
        self.runs = {step.answer.call_id: step for step in turn.steps if isinstance(step, ToolRun)}
        self.started = frozenset(step.call_id for step in turn.steps if isinstance(step, Started))
        self.asked = {call: step.until for step in turn.steps if isinstance(step, Paused) for call in step.call_ids}
        """The calls about which a person was asked, and until when their word is waited for."""
        self.shapes = {
            call: shape for step in turn.steps if isinstance(step, Paused) for call, shape in step.shapes.items()
        }
        """What the tools of these calls were when the person was asked about them."""
        self.allowed = tuple(step.always for step in turn.steps if isinstance(step, Decided) and step.always)
        """The tools that were allowed for good when somebody was asked."""
        self.decided = {call: step.is_yes for step in turn.steps if isinstance(step, Decided) for call in step.call_ids}
        self._broken_off: list[Attempt | ToolRun | Fee] = []
        self._answer: Completion | None = None
        self._refused: list[Step] = []
        """Steps that came when the turn was over already."""

    async def keep_completion(self, completion: Completion, *, hold: bool = False) -> None:
        """Write down a completion that asks for tools; with the first one, the question it answers.

        `hold` puts it off to the next step, for calls that write one in milliseconds: those that only compute their
        answer, those that must not run twice that they begin. One commit instead of two.
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
        """The turn ends with this completion, which stands in no step: whoever keeps the turn writes it down."""
        self._answer = completion

    async def discard(self, completion: Completion, asked_again: AskedAgain) -> None:
        """Write down that a completion was paid in whose place another is asked for, and how."""
        self.discarded.append(completion)
        self.asked_again.add(asked_again)
        await self._write(Discarded(completion=completion, asked_again=asked_again))

    async def keep_opened(self, opened: Opened) -> None:
        """Write down what was found in a file that came with the question."""
        self.opened[opened.attachment] = opened.finding
        self.fees += _fees((opened,))
        await self._write(opened)

    def ask(self, turn: Turn) -> None:
        """The turn goes on with this question, now that its files are open; it is written with the first completion."""
        self._turn = turn

    async def keep_spoken(self, spoken: Spoken) -> None:
        """Write down that the answer was spoken."""
        self.spoken = spoken
        self.fees += _fees((spoken,))
        await self._write(spoken)

    async def flush(self) -> None:
        """Write down what was held back; nothing when there is nothing."""
        if self._held:
            await self._write()

    async def start(self, call_id: CallId) -> None:
        """Write down that a tool which must not run twice begins."""
        await self._write(Started(call_id=call_id))

    async def keep_run(self, run: ToolRun) -> None:
        """Write down how a tool call ended."""
        self.runs[run.answer.call_id] = run
        await self._write(run)

    def break_off(self, asked: Attempt | ToolRun | Fee) -> None:
        """What was asked of a model, a tool or a service is not waited for any more, and paid; it stands in no step."""
        self._broken_off.append(asked)

    def take_failures(self) -> tuple[Attempt, ...]:
        """The tries that were broken off so far: from now on they are known elsewhere."""
        found = tuple(one for one in self._broken_off if isinstance(one, Attempt))
        self._broken_off = [one for one in self._broken_off if not isinstance(one, Attempt)]
        return found

    @property
    def broken_off(self) -> Outcome:
        """What was paid in this attempt of the turn and stands in no step that was written: what was not waited for,
        and what was not written yet, or too late.
        """
        lost = failed_outcome((*self._refused, *self._held), "")
        return replace(
            lost,
            completions=(*lost.completions, *([] if self._answer is None else [self._answer])),
            runs=(*lost.runs, *(one for one in self._broken_off if isinstance(one, ToolRun))),
            failures=tuple(one for one in self._broken_off if isinstance(one, Attempt)),
            fees=(*lost.fees, *(one for one in self._broken_off if isinstance(one, Fee))),
        )

    def failure(self, text: str) -> Outcome:
        """An end without an answer: what was done and paid so far, for the ledger, and what the person hears."""
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

        def write(repos: Repositories) -> None:
            if not repos.journal.add(self._turn.conversation, self._turn.id, first, *lines):
                self._refused += steps

        await self._store.transaction(write)


def origin_of(item: InboxId) -> str:
    """What names the message in what a command in it has Aldis keep beyond the answer; a tool's call has its own id."""
    return f"item_{item}"


def failed_outcome(steps: Iterable[Step], text: str) -> Outcome:
    """An end without an answer: what was done and paid in these steps, for the ledger, and what the person hears."""
    done = tuple(steps)
    return Outcome(
        text=text,
        ok=False,
        completions=tuple(step.completion for step in done if isinstance(step, Completed | Discarded)),
        runs=tuple(step for step in done if isinstance(step, ToolRun)),
        fees=_fees(done),
    )


def _fees(steps: Iterable[Step]) -> tuple[Fee, ...]:
    paid = (step.fee for step in steps if isinstance(step, Opened | Spoken))
    return tuple(fee for fee in paid if fee is not None)
