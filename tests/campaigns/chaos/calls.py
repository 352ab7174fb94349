"""The audit of what was asked: no finished model call is paid for again, and no finished lookup is made again.

From outside, a completion is known to be recorded once something follows it: the next question of its turn, a lookup
that it asked for, the answer going out. One that had arrived but was not recorded when its life was killed is requested
again, at most once per life.
"""

from collections import Counter, defaultdict

from tests.campaigns.chaos.crowd import labels_in
from tests.campaigns.chaos.evidence import Finding
from tests.campaigns.chaos.record import Answered, Asked, Searched, SummedUp, WentOut
from tests.campaigns.chaos.world import World

_DONE = 1_000_000
"""Further than any step: the turn has been answered."""


def paid_once(here: World) -> Finding:
    reached: defaultdict[str, int] = defaultdict(int)  # the first step not known to have been written down
    taken_with: dict[str, tuple[str, ...]] = {}  # with which others each question was asked for the first time
    bought: Counter[tuple[str, ...]] = Counter()
    broken: list[str] = []
    for entry in here.record:
        match entry:
            case Asked(labels=labels, step=step):
                for label in labels:
                    if taken_with.setdefault(label, labels) != labels:
                        broken.append(f"{label} was asked with {taken_with[label]} and then with {labels}")
                    if step < reached[label]:
                        broken.append(f"{entry.life} asked for step {step} of {label} again, which was written down")
                    reached[label] = max(reached[label], step)
            case Answered(labels=labels, step=step):
                bought[entry.life, str(step), *labels] += 1
                if bought[entry.life, str(step), *labels] > 1:
                    broken.append(f"{entry.life} paid twice for step {step} of {labels}")
            case Searched(label=label, step=step):
                reached[label] = max(reached[label], step + 1)
            case WentOut(sent=sent):
                reached |= dict.fromkeys(labels_in(sent.text), _DONE)
    answered = [entry for entry in here.record if isinstance(entry, Answered)]
    again = len(answered) - len({(entry.labels, entry.step) for entry in answered})
    told = f"{again} of them again, because their life was killed before they were written down"
    return Finding("completions paid, none of them after it was written down", len(answered), told, tuple(broken))


def in_the_ledger(here: World) -> Finding:
    """The ledger has every completion of every answered turn once, however many lives it took.

    A summary of older turns is paid by one of the turns as well: at most one that was written out for each surplus.
    """
    steps: dict[str, set[int]] = defaultdict(set)
    for entry in here.record:
        if isinstance(entry, Answered):
            for label in entry.labels:
                steps[label].add(entry.step)
    summaries = sum(isinstance(entry, SummedUp) for entry in here.record)
    broken: list[str] = []
    counted = surplus = 0
    for turn, labels in here.questions_by_turn().items():
        if here.store.turns[turn] != "kept":
            continue
        bought, kept = steps[labels[0]], here.store.completions[turn]
        counted += kept
        surplus += kept - len(bought)
        if kept < len(bought) or bought != set(range(len(bought))):
            broken.append(f"turn {turn} {labels} bought the steps {sorted(bought)}, its ledger has {kept}")
    if surplus > summaries:
        broken.append(f"the ledger has {surplus} more than were bought, and {summaries} summaries were written")
    told = f"{surplus} of them summaries of older turns"
    return Finding("completions of answered turns in the ledger, each once", counted, told, tuple(broken))


def looked_up_once(here: World) -> Finding:
    reached: defaultdict[str, int] = defaultdict(int)
    seen: Counter[tuple[str, int]] = Counter()
    broken: list[str] = []
    for entry in here.record:
        if isinstance(entry, Asked):
            for label in entry.labels:
                reached[label] = max(reached[label], entry.step)
        elif isinstance(entry, Searched):
            seen[entry.label, entry.step] += 1
            if reached[entry.label] > entry.step:
                broken.append(f"step {entry.step} of {entry.label} was looked up again after its result was used")
    again = seen.total() - len(seen)
    told = f"{again} of them again, because their life was killed before the result was written down"
    return Finding("lookups made, none of them after its result was written down", seen.total(), told, tuple(broken))
