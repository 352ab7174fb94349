"""The steps of a turn, as they are written down while it runs, and their JSON.

Opened ... -> Asked -> Completed -> (Started ->) ToolRun ... -> Completed -> ToolRun ... -> (Spoken ->) the Outcome,
which is not a step; Discarded may come before any completion
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from bot.access.chat_settings import ChatSettings
from bot.events import File, PersonId
from bot.labels import Labels
from bot.logs import describe_error
from bot.media.attachments import FileDescription
from bot.messages import CallId, ToolAnswer, ToolCall, UserMessage
from bot.models.base import Completion
from store import ConversationId, Damaged, LedgerEntry, Repositories, TurnId

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """Step: a file that came with the question was opened; `fee` is its cost, None if it is free."""

    attachment: str
    finding: FileDescription
    fee: LedgerEntry | None = None
    step: Literal["opened"] = "opened"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Step: the question as the model was asked it, with the date of that time."""

    question: UserMessage
    settings: ChatSettings | None = None
    """The conversation's settings at that time, which the turn keeps. None: those when it is taken up."""
    step: Literal["asked"] = "asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """Step: the model answered with tool calls to run."""

    completion: Completion
    step: Literal["completed"] = "completed"


AskedAgain = Literal["with more room", "to answer", "without tools", "once more", "corrected"]
"""How a model is asked again: for a longer answer, for words from what there is, the same where its server has let it
call a tool all the same, after an empty answer, or with what a person corrected meanwhile."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Discarded:
    """Step: the model's answer was useless, and it is asked again; `completion` has no message."""

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
    """The tool's name; `unknown` if no tool has that name, since the model made it up."""
    files: tuple[File, ...] = ()
    step: Literal["ran"] = "ran"

    @property
    def call(self) -> ToolCall:
        """The call that has ended."""
        return ToolCall(id=self.answer.call_id, name=self.answer.name, arguments=self.arguments)


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """A tool that people can allow permanently."""

    tool: str
    shape: str
    """The tool's definition when it was allowed: a different tool of the same name is not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Paused:
    """Step: a person was asked whether these calls may run, and the turn waits for their verdict."""

    call_ids: tuple[CallId, ...]
    until: datetime
    people: tuple[PersonId, ...]
    """The people in whose name it would be done: theirs is the verdict that counts."""
    allowance: Allowance | None = None
    """The tool they can allow permanently with their verdict; None if they cannot."""
    question: str = ""
    """The question as Markdown, to be repeated; empty if unknown."""
    position: int = 0
    """The question's position among the turn's messages, which tells it from earlier questions."""
    step: Literal["paused"] = "paused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """Step: an entitled person said whether these calls may run."""

    call_ids: tuple[CallId, ...]
    is_yes: bool
    always: str | None = None
    """The tool they allowed permanently with it; None if none."""
    is_replaced: bool = False
    """Whether it was no word of theirs: they want the same in a newer message, which takes its place."""
    step: Literal["decided"] = "decided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """Step: the answer was spoken; `file` is None if that failed."""

    file: File | None
    fee: LedgerEntry
    step: Literal["spoken"] = "spoken"


@dataclass(frozen=True, kw_only=True, slots=True)
class Corrected:
    """Step: a person says what holds in place of the last tool's answer."""

    text: str
    labels: Labels
    step: Literal["corrected"] = "corrected"


Step = Annotated[
    Opened | Asked | Completed | Discarded | Started | ToolRun | Paused | Decided | Spoken | Corrected,
    Field(discriminator="step"),
]
_steps: TypeAdapter[Step] = TypeAdapter(Step)


def dump_step(step: Step) -> bytes:
    """The step as JSON."""
    return _steps.dump_json(step)


def load_step(line: bytes) -> Step:
    """The step written by `dump_step`."""
    return _steps.validate_json(line)


def journaled_steps(repos: Repositories, conversation: ConversationId, turn: TurnId) -> tuple[Step, ...] | None:
    """The steps of a running turn, within a transaction; None if its journal is damaged: then it cannot go on."""
    try:
        return tuple(map(load_step, repos.journal.steps(conversation, turn)))
    except (Damaged, ValueError) as error:  # the latter: an older version of Aldis cannot read it
        _log.error("the journal of turn %d cannot be read: %s", turn, describe_error(error))
        return None


def has_acted(repos: Repositories, conversation: ConversationId, turn: TurnId) -> bool:
    """Whether a running turn may have done what must not be done twice, within a transaction."""
    steps = journaled_steps(repos, conversation, turn)
    return steps is None or any(isinstance(step, Started) for step in steps)
