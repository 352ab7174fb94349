"""What the outside saw of Aldis in one story: every send, every completion, every run of a tool, over all its lives."""

from dataclasses import dataclass, field
from typing import Literal
from zlib import crc32

from tests.campaigns.simulation.scenario import Said

_MAY_I = "May I "
"""How every question begins."""

SendFate = Literal["sent", "unknown but sent", "unknown and lost", "not sent", "undeliverable"]
Words = tuple[tuple[int, int], ...]
"""Canaries, as conversation and message."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Utterance:
    """One message of Aldis, by what it says: the same said twice is equal."""

    chat: int
    answers: tuple[int, ...]
    text: str
    ok: bool
    last: bool
    status: int = 0
    """Above 0 for what only says what is going on: which one of the story, for none is ever said again."""

    notice: int = 0
    """Above 0 for what only says that something may not have arrived: by which it was brought about."""

    def __repr__(self) -> str:
        return f"<{self.role} {crc32(self.text.encode()):08x} in {self.chat} to {self.answers}>"

    @property
    def role(self) -> Literal["answer", "question", "status", "notice"]:
        """Whether it answers, asks whether something may be done, tells what is going on or what may be missing."""
        if self.status:
            return "status"
        if self.notice:
            return "notice"
        if self.text.startswith(_MAY_I):
            return "question"
        return "answer"


@dataclass(kw_only=True)
class Confirmation:
    sent_at_seconds: float
    read_at_seconds: float | None = None
    is_clear: bool = False
    """Whether it could mean one message only, of all that Aldis was in doubt about when it was read."""


@dataclass(kw_only=True)
class Visible:
    said: Utterance
    stamp: int
    at_seconds: float
    is_gone: bool = False
    heir: Utterance | None = None
    confirmations: list[Confirmation] = field(default_factory=list[Confirmation])


@dataclass(kw_only=True)
class Attempt:
    said: Utterance
    life: int
    fate: SendFate
    began_at_seconds: float
    edits: int | None = None
    """The message of which it takes the place, by the name of its newest revision."""
    ended_at_seconds: float | None = None
    """When Aldis got its answer; None when it died or gave up before."""
    visible: Visible | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether Aldis was never told what became of it, nor read a receipt that says so beyond doubt."""
        is_told = self.ended_at_seconds is not None and not self.fate.startswith("unknown")
        sent = self.visible.confirmations if self.visible else ()
        return not (is_told or any(one.is_clear and one.read_at_seconds is not None for one in sent))


@dataclass(frozen=True, kw_only=True)
class PaidCall:
    """A model call that was finished, and so paid. `question` and `position` say which one it was."""

    life: int
    question: tuple[int, ...]
    position: int

    @property
    def position_in_question(self) -> tuple[tuple[int, ...], int]:
        return self.question, self.position


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A tool that has had its effect. `note` is different for each call that a model asks for."""

    life: int
    tool: str
    note: str
    at_seconds: float


@dataclass(frozen=True, kw_only=True)
class Inheritance:
    completions: frozenset[tuple[tuple[int, ...], int]]
    """Journaled, as question and position."""
    notes: frozenset[str]
    settled: frozenset[int]


@dataclass
class Record:
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    visible: list[Visible] = field(default_factory=list[Visible])
    removals: dict[int, int] = field(default_factory=dict[int, int])
    completions: list[PaidCall] = field(default_factory=list[PaidCall])
    prompts: list[Words] = field(default_factory=list[Words])
    effects: list[Effect] = field(default_factory=list[Effect])
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    said: list[Said] = field(default_factory=list[Said])
    agreed: list[tuple[Said, float]] = field(default_factory=list[tuple[Said, float]])
    """Each yes to a message of Aldis, and when it was handed to Aldis."""
    taken: list[int] = field(default_factory=list[int])
    """The numbers of the messages that the intake has taken, in order; twice when delivered twice."""
    read: list[tuple[int, bool]] = field(default_factory=list[tuple[int, bool]])
    """The numbers of the messages that Aldis has told to be read, and whether they were kept by then."""
    lives: list[float] = field(default_factory=list[float])
    inheritances: dict[int, Inheritance] = field(default_factory=dict[int, Inheritance])
    """What each life found that came so far as to look."""
    clock_steps: list[float] = field(default_factory=list[float])
    """When the machine's clock was set, in seconds of the story."""
    troubles: list[str] = field(default_factory=list[str])
    """What a double refused, and errors that a loop met and should not have."""
    kills: int = 0
