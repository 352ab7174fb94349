"""The audit of a round: the properties, each with the number of things it was checked on, and what breaks it.

Nothing here depends on how quick the machine is but the patience with a message: late is held against early, what was
written beside the stubborn conversation against what was written before, idle against idle.
"""

import statistics
from collections.abc import Iterator, Sequence

from tests.campaigns.bench.figures import Figure
from tests.campaigns.chaos.crowd import CANARY
from tests.campaigns.chaos.evidence import Finding
from tests.campaigns.soak.play import Phase, Record, numbers_in

_GROWTH_SHARE = 0.05
"""By which part of its mean the memory may grow in the second half, along its trend."""
_TREND_SECONDS = 20.0
"""A trend of less is noise."""
_FEW = 6
"""Of fewer messages nothing can be said."""
_SPARE = {"descriptors": 2, "threads": 0, "tasks": 0}
"""Of the connections at rest one may close a moment later than another."""


def audit(record: Record) -> list[Finding]:
    found = [_ended(record), _answered(record), _patient(record)]
    return [*found, *_even(record), *_memory(record), *_held(record)]


def figures(record: Record) -> list[Figure]:
    phases: tuple[Phase, ...] = ("alone", "beside")
    waits = [
        Figure(name=f"waits ({phase}), {name}", value=_quantile(record.waits(phase), share), unit="s")
        for phase in phases
        for name, share in (("median", 0.5), ("p99", 0.99), ("most", 1.0))
    ]
    found = [Figure(name="messages", value=len(record.letters)), *waits]
    if record.looks:
        first, last = record.looks[0], record.looks[-1]
        written = sum(letter.phase != "warm-up" for letter in record.letters)
        found += [
            Figure(name="resident after the warm-up", value=first.resident_bytes / 1e6, unit="MB"),
            Figure(name="resident when people stopped", value=last.resident_bytes / 1e6, unit="MB"),
            Figure(name="file descriptors at most", value=max(look.descriptors for look in record.looks)),
            Figure(name="CPU of a message", value=1000 * (last.cpu_seconds - first.cpu_seconds) / written, unit="ms"),
            Figure(name="database when people stopped", value=last.database_bytes / 1e6, unit="MB"),
        ]
    return found


def _answered(record: Record) -> Finding:
    broken = list(_disorder(record))
    return Finding("messages answered once and in their order", len(record.letters), "", tuple(broken))


def _disorder(record: Record) -> Iterator[str]:
    for chat in record.chats:
        texts = [text for _, text in record.visible(chat.id)]
        answers = [text for text in texts if CANARY.findall(text) == [chat.canary]]
        silenced = record.silenced if chat is record.stubborn else []
        left = {number for numbers in silenced for number in numbers}
        written = [letter.number for letter in record.letters if letter.chat == chat.id and letter.number not in left]
        answered = [number for text in answers for number in numbers_in(text) if number not in left]
        if answered != written:
            yield f"{chat.canary}: written {written[:9]}, answered {answered[:9]}"
        if len(texts) - len(answers) != len(silenced):
            yield f"{chat.canary}: {len(silenced)} questions took too long, {len(texts) - len(answers)} notices"


def _patient(record: Record) -> Finding:
    waits = record.waits("alone") + record.waits("beside")
    patience = record.size.patience_seconds
    broken = tuple(f"one waited {seconds:.1f} s" for seconds in waits if seconds > patience)
    return Finding(
        f"messages answered within {patience:.0f} s", len(waits), f"most {max(waits, default=0):.2f}", broken
    )


def _even(record: Record) -> Iterator[Finding]:
    """Late in a phase people wait as long as early in it, and beside the stubborn conversation as long as before."""
    alone, beside = record.waits("alone"), record.waits("beside")
    rows = [("messages not delayed by the stubborn conversation", alone, beside)]
    for phase, waits in (("alone", alone), ("beside", beside)):
        third = len(waits) // 3
        rows.append((f"messages delayed no more late than early ({phase})", waits[:third], waits[len(waits) - third :]))
    yield from (_compared(record, *row) for row in rows if min(len(row[1]), len(row[2])) >= _FEW)


def _compared(record: Record, name: str, before: Sequence[float], after: Sequence[float]) -> Finding:
    """Held to the median and the slowest tenth; twice the wait and a third of a stubborn turn are the machine's."""
    broken: list[str] = []
    for share in (0.5, 0.9):
        once, then = _quantile(before, share), _quantile(after, share)
        if then > 2 * once + record.size.turn_timeout_seconds / 3:
            broken.append(f"{share:.0%} waited at most {once:.1f} s, then {then:.1f} s")
    return Finding(
        name, len(after), f"median {_quantile(before, 0.5):.2f} s, {_quantile(after, 0.5):.2f} s", tuple(broken)
    )


def _quantile(seconds: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies; 0 of nothing."""
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))] if seconds else 0.0


def _memory(record: Record) -> Iterator[Finding]:
    looks = record.looks[len(record.looks) // 2 :]
    if len(looks) < 2 or (seconds := looks[-1].at_seconds - looks[0].at_seconds) < _TREND_SECONDS:
        return
    sizes = [look.resident_bytes for look in looks]
    trend = statistics.linear_regression([look.at_seconds for look in looks], sizes)
    growth = trend.slope * seconds / statistics.fmean(sizes)
    broken = () if growth < _GROWTH_SHARE else (f"it grew by {growth:.0%}",)
    yield Finding("looks at the memory, which stays flat", len(looks), f"{growth:+.1%} in {seconds:.0f} s", broken)


def _held(record: Record) -> Iterator[Finding]:
    if record.before is None or record.after is None:
        return
    for name, spare in _SPARE.items():
        before, after = getattr(record.before, name), getattr(record.after, name)
        broken = () if after <= before + spare else (f"{after - before} more: they leak",)
        yield Finding(f"{name} held at the end", after, f"{before} after the warm-up", broken)


def _ended(record: Record) -> Finding:
    broken = [] if record.rested else ["what was written did not come to rest"]
    broken += [] if record.status == 0 else [f"it ended with status {record.status}: {record.log[-2000:]}"]
    broken += [f"a request was refused: {words}" for words in record.refusals]
    return Finding("messages brought to their end", len(record.letters), "", tuple(broken))
