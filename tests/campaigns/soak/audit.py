"""The audit of a round: the properties, each with the number of things it was checked on, and what breaks it.

Nothing here depends on how quick the machine is but the patience with a message: late is held against early, what was
written beside the stubborn conversation against what was written before, idle against idle.
"""

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from tests.campaigns.chaos.evidence import Finding
from tests.campaigns.soak import conversations
from tests.campaigns.soak.conversations import Conversation, excesses, median
from tests.campaigns.soak.letters import Phase
from tests.campaigns.soak.record import Idle, Record

_GROWTH_SHARE = 0.05
"""By which part of its mean the memory may grow in the second half, along its trend."""
_TREND_SECONDS = 20.0
"""A trend of less is noise."""
_DELAYED_SHARE = 0.1
"""How many more messages may be late beside the stubborn conversation: machines have their hiccups."""
_FEW = 6
"""Of fewer messages nothing can be said."""
_SPARE_DESCRIPTORS = 2
"""Of the connections at rest one may close a moment later than another."""

_NO_PROC = "this system has no /proc"


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What was found, and what could not be looked at."""

    findings: tuple[Finding, ...]
    skipped: tuple[str, ...]
    """A sentence each, with the reason."""

    @property
    def broken(self) -> int:
        """How many properties are broken."""
        return sum(bool(finding.violations) for finding in self.findings)


def audit(record: Record) -> Audit:
    """Check everything that this record can tell."""
    checks: tuple[Callable[[Record], Finding | str], ...] = (
        _answered,
        _patient,
        lambda record: _steady(record, "alone"),
        lambda record: _steady(record, "beside"),
        _apart,
        _stubborn,
        _memory,
        lambda record: _held(record, "file descriptors", lambda idle: idle.descriptors, spare=_SPARE_DESCRIPTORS),
        lambda record: _held(record, "threads", lambda idle: idle.threads),
        lambda record: _held(record, "asyncio tasks", lambda idle: idle.tasks, untold="its page has no figure of them"),
        _ended,
    )
    found = [check(record) for check in checks]
    return Audit(
        findings=tuple(finding for finding in found if isinstance(finding, Finding)),
        skipped=tuple(finding for finding in found if isinstance(finding, str)),
    )


# Answers


def _answered(record: Record) -> Finding:
    """Every letter is answered once, in its own conversation, in the order in which they were written."""
    broken = [words for conversation in conversations.of(record) for words in _disorder(record, conversation)]
    return Finding("messages answered once and in their order", len(record.letters), "", tuple(broken))


def _disorder(record: Record, conversation: Conversation) -> Iterator[str]:
    name = conversation.chat.canary
    answers = conversation.answers()
    for out, numbers in answers:
        if not numbers:
            yield f"{name}: a message went out that answers nothing: {out.sent.text[:80]!r}"
        elif conversation.chat.id != record.stubborn and conversation.chat.canary not in out.sent.text:
            yield f"{name}: {numbers} have a notice for an answer: {out.sent.text[:80]!r}"
    answered = [number for _, numbers in answers for number in numbers]
    written = [letter.number for letter in conversation.letters]
    if answered != written:
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(answered, written, strict=False)))
        yield f"{name}: {len(written)} letters, {len(answered)} answered; from place {same} on: {answered[same:][:6]}"


# Delays


def _patient(record: Record) -> Finding:
    """Nobody but the stubborn waits without end."""
    patience_seconds = record.size.patience_seconds
    phases: tuple[Phase, ...] = ("alone", "beside")
    found = [pair for phase in phases for pair in excesses(record, phase)]
    broken = tuple(
        f"{letter.chat} number {letter.number} waited {seconds:.1f} s beyond its model's time"
        for letter, seconds in found
        if seconds > patience_seconds
    )
    details = f"at most {max((seconds for _, seconds in found), default=0):.2f} s beyond it"
    return Finding(f"messages answered within {patience_seconds:.0f} s of their model", len(found), details, broken)


def _steady(record: Record, phase: Phase) -> Finding | str:
    """The excess does not grow over a phase."""
    seconds = [seconds for _, seconds in excesses(record, phase)]
    third = len(seconds) // 3
    if third < _FEW:
        return f"whether delays grow ({phase}): too few messages"
    early, late = median(seconds[:third]), median(seconds[-third:])
    details = f"median beyond the model: {early:.3f} s early, {late:.3f} s late"
    broken = () if late <= _tolerated(record, early) else ("the later a message comes the longer it waits",)
    return Finding(f"messages delayed no more late than early ({phase})", len(seconds), details, broken)


def _apart(record: Record) -> Finding | str:
    """The stubborn conversation delays no other: neither most of them nor some of them by as much as its turns last."""
    alone, beside = ([seconds for _, seconds in excesses(record, phase)] for phase in ("alone", "beside"))
    if min(len(alone), len(beside)) < _FEW:
        return "whether the stubborn conversation delays others: too few messages"
    medians = median(alone), median(beside)
    long_seconds = record.size.turn_timeout_seconds / 2
    shares = [sum(value >= long_seconds for value in values) / len(values) for values in (alone, beside)]
    broken = [] if medians[1] <= _tolerated(record, medians[0]) else ["messages wait for the stubborn conversation"]
    if shares[1] > shares[0] + _DELAYED_SHARE:
        broken.append(
            f"{shares[1]:.0%} of the messages beside it wait for half of one of its turns, {shares[0]:.0%} before"
        )
    details = f"median beyond the model: {medians[0]:.3f} s before, {medians[1]:.3f} s beside it"
    return Finding("messages not delayed by the stubborn conversation", len(beside), details, tuple(broken))


def _tolerated(record: Record, seconds: float) -> float:
    """What is no more than this, for hiccups of the machine: twice it, and a third of what a stubborn turn lasts."""
    return 2 * seconds + record.size.turn_timeout_seconds / 3


def _stubborn(record: Record) -> Finding | str:
    """The stubborn conversation hears of every turn that took too long, and is answered when its model is back."""
    [stubborn] = [found for found in conversations.of(record) if found.chat.id == record.stubborn]
    left = [thought for thought in stubborn.thoughts if thought.was_left]
    if not left:
        return "the stubborn conversation: none of its turns took too long"
    notices = [numbers for out, numbers in stubborn.answers() if stubborn.chat.canary not in out.sent.text]
    letters = sum(len(thought.numbers) for thought in left)
    broken = () if len(notices) == len(left) else (f"{len(left)} of its turns took too long, it heard {len(notices)}",)
    details = f"with {letters} messages"
    return Finding("turns of the stubborn conversation that took too long and said so", len(left), details, broken)


# Resources


def _memory(record: Record) -> Finding | str:
    """Along the trend of its second half the memory grows by less than a small part of itself."""
    if not record.stats:
        return f"memory: {_NO_PROC}"
    found = record.stats[len(record.stats) // 2 :]
    seconds = found[-1].at_seconds - found[0].at_seconds
    if seconds < _TREND_SECONDS:
        return f"memory: {seconds:.0f} s are too short for a trend"
    sizes = [look.resident_bytes for look in found]
    trend = statistics.linear_regression([look.at_seconds for look in found], sizes)
    growth = trend.slope * seconds / statistics.fmean(sizes)
    details = f"{growth:+.1%} of {statistics.fmean(sizes) / 1e6:.0f} MB along the trend of {seconds:.0f} s"
    broken = () if growth < _GROWTH_SHARE else (f"that is more than {_GROWTH_SHARE:.0%}",)
    return Finding("looks at the memory, which stays flat", len(sizes), details, broken)


def _held(
    record: Record, name: str, of: Callable[[Idle], int | None], *, untold: str = _NO_PROC, spare: int = 0
) -> Finding | str:
    """At the end, idle, the process holds no more of these than after the warm-up, idle; `untold` says why not told."""
    if record.before is None or record.after is None:
        return f"{name}: the round did not come so far"
    before, after = of(record.before), of(record.after)
    if before is None or after is None:
        return f"{name}: {untold}"
    broken = () if after <= before + spare else (f"{after - before} more than after the warm-up: they leak",)
    return Finding(f"{name} held at the end", after, f"{before} after the warm-up", broken)


def _ended(record: Record) -> Finding:
    """All that was written was settled, no request was refused, and Aldis left when it was asked to."""
    broken = [] if record.rested else ["what was written did not come to rest"]
    broken += [] if record.status == 0 else [f"it ended with status {record.status}: {record.log[-2000:]}"]
    broken += [f"a request was refused: {words}" for words in record.refusals]
    return Finding("turns brought to their end", len(record.thoughts), "", tuple(broken))
