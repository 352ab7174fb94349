"""The steps of a running turn, and the turn itself as it goes through the loop.

    Asked -> Completed -> (Started ->) ToolRun ... -> Completed -> ToolRun ... -> the Outcome, which is no step

A step is journaled as it happens, so that no crash costs it twice. Only a tool that must not run twice
(`effects = "once"`) writes its start: for the others nobody would read it, and each step costs a commit.
Left to others: loading and keeping turns (`bot.turn.turns`), what comes next (`bot.turn.agent`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from bot.events import ChatId, Incoming, PersonId
from bot.messages import CallId, Message, ToolAnswer, ToolCall, UserMessage
from bot.policy.budgets import Scope
from bot.providers.base import Attempt, Completion
from store import ConversationId, Entry, Shelves, Store, TurnId

Whole = tuple[Message, ...]
"""The messages of one turn, from the question to the answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Step: the question as it was put to the model, with the date it had then."""

    question: UserMessage
    step: Literal["asked"] = "asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """Step: the model has answered, with tool calls to run."""

    completion: Completion
    step: Literal["completed"] = "completed"


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
    step: Literal["ran"] = "ran"


@dataclass(frozen=True, kw_only=True, slots=True)
class Paused:
    """Step: a person was asked whether these calls may run; until then their word is waited for."""

    call_ids: tuple[CallId, ...]
    until: datetime
    people: tuple[PersonId, ...]
    """Who asked: theirs is the word that counts."""
    step: Literal["paused"] = "paused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """Step: somebody who may has said whether these calls may run."""

    call_ids: tuple[CallId, ...]
    is_yes: bool
    step: Literal["decided"] = "decided"


Step = Annotated[Asked | Completed | Started | ToolRun | Paused | Decided, Field(discriminator="step")]
_steps: TypeAdapter[Step] = TypeAdapter(Step)


def dumped(step: Step) -> bytes:
    """The step as JSON."""
    return _steps.dump_json(step)


def loaded(line: bytes) -> Step:
    """The step that `dumped` wrote."""
    return _steps.validate_json(line)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question with all that is needed to answer it."""

    id: TurnId
    conversation: ConversationId
    chat: ChatId
    incoming: tuple[Incoming, ...]
    """The messages it answers, oldest first; at least one."""
    loaded_at: datetime
    question: UserMessage
    history: tuple[Whole, ...]
    """The last turns of the conversation, oldest first, each whole."""
    steps: tuple[Step, ...]
    """What earlier attempts of this turn wrote; empty on the first."""
    expires_at: datetime | None = None
    """When everything that belongs to it has to be gone; None: it stays."""
    replaces: TurnId | None = None
    """The turn that it repeats after an edit: its answer is edited. None: it repeats none."""

    @property
    def person(self) -> PersonId:
        """Who asked last: whose limits count."""
        return self.incoming[-1].author

    @property
    def quotes_others(self) -> bool:
        """Whether the question holds words of somebody who did not ask: they are data, whatever they say."""
        quotes = (message.quote for message in self.incoming if message.quote is not None and not message.quotes_me)
        askers = {message.author for message in self.incoming}
        return any(quote.author not in askers for quote in quotes)

    @property
    def group(self) -> ChatId | None:
        """The group that it was asked in; None in a direct conversation."""
        return self.chat if self.chat.startswith("group:") else None


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """How far a turn has come that needs a person's word before it goes on: may these calls run?"""

    calls: tuple[ToolCall, ...]
    cost_usd: Decimal
    """What they cost together, as far as that is known before."""
    is_asked: bool
    """Whether the person was asked before, by this turn until a restart."""


class Journal:
    """The steps of one running turn: those that were written before, and those that are being written."""

    def __init__(self, store: Store, turn: Turn) -> None:
        self._store = store
        self._turn = turn
        self._position = len(turn.steps)
        self._held: tuple[Step, ...] = ()
        self.completions = [step.completion for step in turn.steps if isinstance(step, Completed)]
        self.runs = {step.answer.call_id: step for step in turn.steps if isinstance(step, ToolRun)}
        self.started = frozenset(step.call_id for step in turn.steps if isinstance(step, Started))
        self.asked = {call: step.until for step in turn.steps if isinstance(step, Paused) for call in step.call_ids}
        """The calls about which a person was asked, and until when their word is waited for."""
        self.decided = {call: step.is_yes for step in turn.steps if isinstance(step, Decided) for call in step.call_ids}

    async def completed(self, completion: Completion, *, hold: bool = False) -> None:
        """Write down a completion that asks for tools; with the first one, the question it answers.

        `hold` puts it off to the next step, for tools that are done in milliseconds: one commit instead of two.
        """
        asked = (Asked(question=self._turn.question),) if self._position == 0 else ()
        self.completions.append(completion)
        self._held = (*asked, Completed(completion=completion))
        if not hold:
            await self.flush()

    async def flush(self) -> None:
        """Write down what was held back; nothing when there is nothing."""
        if self._held:
            await self._write()

    async def start(self, call_id: CallId) -> None:
        """Write down that a tool which must not run twice begins."""
        await self._write(Started(call_id=call_id))

    async def ran(self, run: ToolRun) -> None:
        """Write down how a tool call ended."""
        self.runs[run.answer.call_id] = run
        await self._write(run)

    def spent(self, text: str) -> Outcome:
        """An end without an answer: what was done and paid so far, for the ledger, and what the person hears."""
        return Outcome(text=text, ok=False, completions=tuple(self.completions), runs=tuple(self.runs.values()))

    async def _write(self, *more: Step) -> None:
        steps, self._held = (*self._held, *more), ()
        first, self._position = self._position, self._position + len(steps)
        lines = [dumped(step) for step in steps]

        def write(shelves: Shelves) -> None:
            for position, line in enumerate(lines, first):
                shelves.journal.add(self._turn.conversation, self._turn.id, position, line)

        await self._store.transaction(write)


def spent(steps: Iterable[Step], text: str) -> Outcome:
    """An end without an answer: what was done and paid in these steps, for the ledger, and what the person hears."""
    done = tuple(steps)
    return Outcome(
        text=text,
        ok=False,
        completions=tuple(step.completion for step in done if isinstance(step, Completed)),
        runs=tuple(step for step in done if isinstance(step, ToolRun)),
    )


def entries(outcome: Outcome) -> tuple[Entry, ...]:
    """The ledger's rows: failed attempts before what came of them, then the tools."""
    found: list[Entry] = []
    for completion in outcome.completions:
        found += [_attempt_entry(attempt) for attempt in completion.attempts]
        found.append(_completion_entry(completion))
    found += [_attempt_entry(attempt) for attempt in outcome.failures]
    found += [_run_entry(run) for run in outcome.runs]
    return tuple(found)


def _completion_entry(completion: Completion) -> Entry:
    usage = completion.usage
    return Entry(
        kind="model",
        name=completion.model,
        outcome="ok" if completion.message is not None else "empty",
        latency_seconds=completion.latency_seconds,
        provider=completion.provider,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=completion.cost_usd,
    )


def _attempt_entry(attempt: Attempt) -> Entry:
    return Entry(
        kind="model",
        name=attempt.model,
        outcome=attempt.error,
        latency_seconds=attempt.latency_seconds,
        provider=attempt.provider,
        cost_usd=Decimal(0),
    )


def _run_entry(run: ToolRun) -> Entry:
    return Entry(
        kind="tool",
        name=run.tool,
        outcome=run.outcome,
        latency_seconds=run.latency_seconds,
        cost_usd=run.cost_usd,
        details=dumped(run),
    )
