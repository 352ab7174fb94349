"""What is known when a round is over."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.campaigns.chaos.crowd import Chat
from tests.campaigns.soak.beats import Beats
from tests.campaigns.soak.letters import Letter
from tests.campaigns.soak.model import Thought
from tests.campaigns.soak.phones import Out
from tests.campaigns.soak.process_stats import Files, ProcessStats


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much happens in a round."""

    seed: int
    conversations: int
    seconds: float
    """How long people write in all: a sixth is the warm-up, the two phases share the rest."""
    pause_seconds: float = 30.0
    """Between two bouts of letters in one conversation, on average."""
    model_seconds: tuple[float, float] = (0.5, 3.0)
    """What the model takes for an answer, at least and at most."""
    turn_timeout_seconds: float = 15.0
    """How long a turn of the stubborn conversation lasts."""
    patience_seconds: float = 30.0
    """No message of anybody but the stubborn may wait longer beyond its model's time; generous, for busy machines."""

    @property
    def warm_up_seconds(self) -> float:
        return self.seconds / 6

    @property
    def phase_seconds(self) -> float:
        return (self.seconds - self.warm_up_seconds) / 2


@dataclass(frozen=True, kw_only=True)
class Idle:
    """What the process holds while it has nothing to do; None where that cannot be told here."""

    descriptors: int | None
    threads: int | None
    tasks: int | None
    """Of asyncio."""

    def least(self, other: "Idle") -> "Idle":
        """Figure by figure the smaller one."""
        return Idle(
            descriptors=_least(self.descriptors, other.descriptors),
            threads=_least(self.threads, other.threads),
            tasks=_least(self.tasks, other.tasks),
        )


@dataclass(frozen=True, kw_only=True)
class Record:
    """A round, as it was seen from the outside. Times are of the monotonic clock."""

    size: Size
    chats: tuple[Chat, ...]
    stubborn: str
    """The chat that is stubborn in the last phase."""
    letters: tuple[Letter, ...]
    outs: tuple[Out, ...]
    thoughts: tuple[Thought, ...]
    read_seconds: Mapping[int, float]
    refusals: tuple[str, ...]
    """What the model's double refused as against the rules of its service."""
    stats: tuple[ProcessStats, ...]
    """Once a second from the end of the warm-up until people stopped writing."""
    files: tuple[Files, ...]
    """Beside the stats, and once more at the end."""
    before: Idle | None
    """After the warm-up."""
    after: Idle | None
    """At the end."""
    page_seconds: tuple[float, ...]
    lag_seconds: tuple[float, ...]
    """By how much the soak's own loop overslept, again and again: how busy the machine is."""
    beats: Beats
    """How Aldis's own loop turned."""
    rested: bool
    """Whether all that was written was settled in time, after each phase."""
    was_stopped: bool
    """Whether somebody ended it early."""
    status: int
    """With which Aldis left when it was asked to."""
    log: str

    @property
    def measured_seconds(self) -> float:
        """When the first letter after the warm-up was delivered, on the monotonic clock; without any, the beginning."""
        return min((letter.delivered_seconds for letter in self.letters if letter.phase != "warm-up"), default=0.0)


def _least(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)
