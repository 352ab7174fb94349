"""What a round leaves behind for the audit, and what the audit finds in it."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

from tests.campaigns.chaos.crowd import Pen, labels_in
from tests.campaigns.chaos.phones import Handed
from tests.campaigns.chaos.record import Asked, Record
from tests.campaigns.chaos.store_contents import StoreContents
from tests.servers.signal_server import Removed, Sent


@dataclass(frozen=True)
class Finding:
    """One property: how many things it was checked on, and those that break it."""

    property: str
    count: int
    details: str
    violations: tuple[str, ...]

    def __str__(self) -> str:
        head = "ok    " if not self.violations else "BROKEN"
        lines = [f"{head} {self.count:7,} {self.property}" + (f" ({self.details})" if self.details else "")]
        lines += [f"         - {violation}" for violation in self.violations[:10]]
        if len(self.violations) > 10:
            lines.append(f"         - and {len(self.violations) - 10} more")
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a life ended."""

    number: int
    born_at: int
    ended_at: int
    """Both in milliseconds since 1970."""
    how: str
    status: int
    was_meant: bool
    """Whether the harness wanted it to end so."""
    words: tuple[str, ...]
    """Labels, canaries and phone numbers in its log: there must be none."""
    log: str
    """What it wrote, where that is worth a look; else empty."""
    told: tuple[tuple[int, int, str], ...]
    """What it wrote of what it sent: when, in milliseconds since 1970, the row of the outbox, the words."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that is known of a round when it is over."""

    pen: Pen
    deliveries: Counter[int]
    """How often each letter was delivered, by its time."""
    handed: tuple[Handed, ...]
    calm_streams: frozenset[int]
    """Those of lives that ended in order."""
    stops: int
    """How many lives ended in order while people wrote."""
    restarts: int
    """How often such a life began anew before, within its process."""
    lost_in_order: int
    """How much was fetched meanwhile and handed to nobody; only where nothing may be."""
    sent: tuple[Sent, ...]
    removed: tuple[Removed, ...]
    read: tuple[tuple[str, int], ...]
    typing_chats: frozenset[str]
    record: Record
    refusals: tuple[str, ...]
    """What the models' doubles refused as against their rules."""
    lives: tuple[Ended, ...]
    rested: bool
    """Whether all came to rest in time."""
    seconds: float
    """How long lives were killed."""
    store: StoreContents

    @cached_property
    def asked(self) -> tuple[Asked, ...]:
        """Every request to a model, oldest first."""
        return tuple(entry for entry in self.record if isinstance(entry, Asked))

    @cached_property
    def standing(self) -> tuple[Sent, ...]:
        """What was sent and not removed again, oldest first."""
        gone = {(removed.chat, removed.target) for removed in self.removed}
        return tuple(sent for sent in self.sent if (sent.chat, sent.timestamp) not in gone)

    def questions_by_turn(self) -> dict[int, tuple[str, ...]]:
        """The labels that each turn is to answer, in the order of arrival."""
        turns: dict[int, tuple[str, ...]] = defaultdict(tuple)
        for row in self.store.inbox:
            letter = self.pen.letters.get(row.sent_at)
            if letter is not None and letter.label and row.turn is not None:
                turns[row.turn] += (letter.label,)
        return turns

    def turns_by_label(self) -> dict[str, int]:
        """The turn of each question that was committed."""
        return {label: turn for turn, labels in self.questions_by_turn().items() for label in labels}

    @staticmethod
    def labels(sent: Sent) -> tuple[str, ...]:
        """The questions that a message that went out answers; none for a notice."""
        return labels_in(sent.text)
