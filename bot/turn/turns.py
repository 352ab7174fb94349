"""Turns: loaded from the store, journaled while they run, kept in one transaction with everything they caused.

    claim -> load -> Turn --(agent)--> Outcome -> keep: history + ledger + outbox + journal closed + inbox done

A turn that a crash interrupted is claimed again with the same messages; its journal then holds what was already paid
for and done, and the agent goes on from there. Only a tool that must not run twice (`effects = "once"`) writes its
start: for the others nobody would read it, and each step costs a commit.
Left to others: what to ask and when to stop (`bot.turn.agent`), how an answer is cut and styled (`bot.turn.replies`).
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import groupby
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from bot import events, messages, phrases
from bot.clock import Clock
from bot.events import ChatId, Incoming, PersonId, QuoteTarget, Reply
from bot.messages import AssistantMessage, CallId, Message, ToolAnswer, ToolMessage, UserMessage
from bot.providers.base import Attempt, Completion
from bot.turn import prompt
from bot.turn.replies import parts
from store import Claim, ConversationId, Entry, Shelves, Store, StoredMessage, TurnEnd, TurnId

_QUOTE_CHARACTERS = 200
_REMEMBERED_CONVERSATIONS = 32

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
    step: Literal["ran"] = "ran"


Step = Annotated[Asked | Completed | Started | ToolRun, Field(discriminator="step")]
_steps: TypeAdapter[Step] = TypeAdapter(Step)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question with all that is needed to answer it."""

    id: TurnId
    conversation: ConversationId
    chat: ChatId
    incoming: tuple[Incoming, ...]
    """The messages it answers, oldest first; at least one."""
    question: UserMessage
    history: tuple[Whole, ...]
    """The last turns of the conversation, oldest first, each whole."""
    steps: tuple[Step, ...]
    """What earlier attempts of this turn wrote; empty on the first."""

    @property
    def person(self) -> PersonId:
        """Who asked last: whose limits count."""
        return self.incoming[-1].author


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
        lines = [_steps.dump_json(step) for step in steps]

        def write(shelves: Shelves) -> None:
            for position, line in enumerate(lines, first):
                shelves.journal.add(self._turn.conversation, self._turn.id, position, line)

        await self._store.transaction(write)


class Turns:
    """The turns of all conversations."""

    def __init__(self, store: Store, clock: Clock, *, max_turns: int, timezone: str, max_parts: int) -> None:
        self._store = store
        self._clock = clock
        self._max_turns = max_turns
        self._timezone = timezone
        self._max_parts = max_parts
        self._recent: OrderedDict[ConversationId, tuple[Whole, ...]] = OrderedDict()
        """The last turns of the conversations that were active last, as `load` gives them: opening and reading them
        anew costs a tenth of a turn. Only `keep` writes history, so they are what the store holds."""

    async def claim(
        self, *, busy: Iterable[ConversationId], seconds: float, most: int = 1
    ) -> tuple[tuple[Claim, ...], bool]:
        """Take what waits in at most so many conversations that are not busy, those served longest ago first.

        Gives also whether anything is left waiting, in busy conversations or beyond `most`.
        """
        now = self._clock.now()
        until = now + timedelta(seconds=seconds)
        passed_over = set(busy)

        def claim(shelves: Shelves) -> tuple[tuple[Claim, ...], bool]:
            claims: list[Claim] = []
            while len(claims) < most:
                found = shelves.inbox.claim(now=now, until=until, busy=passed_over)
                if found is None:
                    break
                claims.append(found)
                passed_over.add(found.conversation)
            return tuple(claims), shelves.inbox.has_waiting()

        return await self._store.transaction(claim)

    async def load(self, claim: Claim, incoming: tuple[Incoming, ...]) -> Turn:
        """The turn of a claim, with the history before it and the steps of earlier attempts."""
        history = self._recent.get(claim.conversation)
        if history is None:
            rows = await self._store.read(lambda shelves: shelves.history.last(claim.conversation, self._max_turns))
            history = _turns(rows)
            self._remember(claim.conversation, history)
        steps = () if claim.is_new else await self._steps(claim)
        asked = next((step.question for step in steps if isinstance(step, Asked)), None)
        return Turn(
            id=claim.turn,
            conversation=claim.conversation,
            chat=incoming[-1].chat,
            incoming=incoming,
            question=asked or prompt.question(incoming, now=self._clock.now(), timezone=self._timezone),
            history=history,
            steps=steps,
        )

    def journal(self, turn: Turn) -> Journal:
        """Where the steps of this turn are written."""
        return Journal(self._store, turn)

    async def keep(self, turn: Turn, outcome: Outcome) -> None:
        """Keep everything that the turn caused, in one transaction: either all of it happened, or nothing."""
        replies = [events.dumped(reply) for reply in self._replies(turn, outcome)]
        kept = tuple(map(_kept, outcome.messages))
        rows = _rows(turn.id, kept)
        end: TurnEnd = "kept" if outcome.messages else "failed"

        def keep(shelves: Shelves) -> None:
            now = self._clock.now()
            shelves.history.append(turn.conversation, rows)
            shelves.ledger.add(turn.conversation, turn.id, turn.person, _entries(outcome), now=now)
            self._put(shelves, turn, replies)
            shelves.journal.close(turn.id, end, now=now)
            shelves.inbox.done(turn.id)

        # Forgotten until it is known to be kept: a failure or a cancellation leaves open which of the two it was.
        self._recent.pop(turn.conversation, None)
        await self._store.transaction(keep)
        past = turn.history if not kept else (*turn.history, kept)
        self._remember(turn.conversation, past[max(0, len(past) - self._max_turns) :])

    async def ignore(self, claim: Claim) -> None:
        """There is nothing to answer in these messages."""

        def ignore(shelves: Shelves) -> None:
            shelves.journal.close(claim.turn, "ignored", now=self._clock.now())
            shelves.inbox.done(claim.turn)

        await self._store.transaction(ignore)

    async def bury(self, turn: Turn) -> None:
        """The turn failed too often: the person is told, its messages are dead; what it cost stays in the ledger."""
        spent = self.journal(turn).spent(phrases.GAVE_UP)
        replies = [events.dumped(reply) for reply in self._replies(turn, spent)]

        def bury(shelves: Shelves) -> None:
            now = self._clock.now()
            shelves.ledger.add(turn.conversation, turn.id, turn.person, _entries(spent), now=now)
            self._put(shelves, turn, replies)
            shelves.journal.close(turn.id, "failed", now=now)
            shelves.inbox.bury(turn.id)

        await self._store.transaction(bury)

    async def discard(self, claim: Claim) -> None:
        """The messages of a claim cannot be read at all: they are dead, and there is nobody to tell."""

        def discard(shelves: Shelves) -> None:
            shelves.journal.close(claim.turn, "failed", now=self._clock.now())
            shelves.inbox.bury(claim.turn)

        await self._store.transaction(discard)

    async def hand_back(self, claim: Claim, *, counts: bool) -> None:
        """Give the claim up: it waits again. `counts` tells whether this was a failed try."""
        await self._store.transaction(lambda shelves: shelves.inbox.hand_back(claim.turn, counts=counts))

    async def _steps(self, claim: Claim) -> tuple[Step, ...]:
        lines = await self._store.read(lambda shelves: shelves.journal.steps(claim.conversation, claim.turn))
        return tuple(_steps.validate_json(line) for line in lines)

    def _remember(self, conversation: ConversationId, history: tuple[Whole, ...]) -> None:
        self._recent[conversation] = history
        self._recent.move_to_end(conversation)
        if len(self._recent) > _REMEMBERED_CONVERSATIONS:
            self._recent.popitem(last=False)

    def _put(self, shelves: Shelves, turn: Turn, replies: list[bytes]) -> None:
        in_group = turn.chat.startswith("group:")
        for position, reply in enumerate(replies):
            shelves.outbox.put(turn.conversation, turn.id, position, reply, in_group=in_group, now=self._clock.now())

    def _replies(self, turn: Turn, outcome: Outcome) -> list[Reply]:
        contents = parts(outcome.text, max_parts=self._max_parts, cut_mark=phrases.CUT_PARTS)
        newest = turn.incoming[-1]
        quote = QuoteTarget(author=newest.author, sent_at=newest.sent_at, text=newest.text[:_QUOTE_CHARACTERS])
        return [
            Reply(
                chat=turn.chat,
                content=content,
                quote=quote if number == 1 and turn.chat.startswith("group:") else None,
                ok=outcome.ok,
                last=number == len(contents),
                answers=tuple(message.sent_at for message in turn.incoming),
            )
            for number, content in enumerate(contents, 1)
        ]


def _turns(rows: Iterable[StoredMessage]) -> tuple[Whole, ...]:
    return tuple(tuple(_joined(group)) for _, group in groupby(rows, key=lambda row: row.turn))


def _joined(rows: Iterable[StoredMessage]) -> Iterable[Message]:
    """The messages of one turn: the rows of tool answers that follow each other are one message."""
    for is_tool, group in groupby(rows, key=lambda row: row.role == "tool"):
        read = [message for row in group for message in messages.loaded(row.message)]
        if is_tool:
            yield ToolMessage(
                answers=tuple(a for message in read if isinstance(message, ToolMessage) for a in message.answers)
            )
        else:
            yield from read


def _rows(turn: TurnId, kept: Iterable[Message]) -> list[StoredMessage]:
    rows: list[StoredMessage] = []
    for message in kept:
        if isinstance(message, ToolMessage):
            rows += [_row(turn, ToolMessage(answers=(answer,)), answer.call_id) for answer in message.answers]
        else:
            rows.append(_row(turn, message, None))
    return rows


def _kept(message: Message) -> Message:
    """The message as the history keeps it: without what only its vendor understands."""
    return message.without_opaque() if isinstance(message, AssistantMessage) else message


def _row(turn: TurnId, message: Message, call_id: CallId | None) -> StoredMessage:
    return StoredMessage(turn=turn, role=message.role, call_id=call_id, message=messages.dumped((message,)))


def _entries(outcome: Outcome) -> tuple[Entry, ...]:
    """The ledger's rows: failed attempts before what came of them, then the tools."""
    entries: list[Entry] = []
    for completion in outcome.completions:
        entries += [_attempt_entry(attempt) for attempt in completion.attempts]
        entries.append(_completion_entry(completion))
    entries += [_attempt_entry(attempt) for attempt in outcome.failures]
    entries += [_run_entry(run) for run in outcome.runs]
    return tuple(entries)


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
        name=run.answer.name,
        outcome=run.outcome,
        latency_seconds=run.latency_seconds,
        cost_usd=run.cost_usd,
        details=_steps.dump_json(run),
    )
