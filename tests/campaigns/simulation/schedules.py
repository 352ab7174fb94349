"""Which stories are played: every crash point of a small one, some pairs of them, and one story for each seed."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.campaigns.simulation import scenario
from tests.campaigns.simulation.audit import audited
from tests.campaigns.simulation.scenario import Scenario
from tests.campaigns.simulation.world import Played, played

_TOLD_TRACES = 3


@dataclass
class Tally:
    stories: int = 0
    steps: int = 0
    checked: Counter[str] = field(default_factory=Counter[str])
    kills: int = 0
    broken: list[str] = field(default_factory=list[str])
    """A line for each broken promise: which story, which promise."""
    traces: list[str] = field(default_factory=list[str])
    """The steps of the first stories that broke one."""

    def add(self, played: Played) -> None:
        findings = audited(played)
        self.stories += 1
        self.steps += played.steps.count
        self.checked.update(findings.checked)
        self.kills += played.record.kills
        if findings.broken:
            name = f"{played.scenario.name}, killed at {sorted(played.steps.deadly)}"
            self.broken += [f"{name}: {line}" for line in findings.broken]
            self.traces = [*self.traces, "\n  ".join((name, *played.steps.trace))][:_TOLD_TRACES]

    def merge(self, other: "Tally") -> None:
        self.stories += other.stories
        self.steps += other.steps
        self.checked.update(other.checked)
        self.kills += other.kills
        self.broken += other.broken
        self.traces = [*self.traces, *other.traces][:_TOLD_TRACES]


def of_seeds(seeds: Iterable[int]) -> Tally:
    tally = Tally()
    for seed in seeds:
        story = scenario.drawn(seed)
        tally.add(played(story, scenario.crashes(seed, len(story.said))))
    return tally


def of_singles(story: Scenario) -> Tally:
    """The story without a crash, and with one at every step."""
    tally = Tally()
    for number in range(_steps(story) + 1):
        tally.add(played(story, (number,)))
    return tally


def of_some_pairs(story: Scenario, count: int) -> Tally:
    """The story with so many pairs of crashes, the first spread evenly over all steps, always the same ones."""
    tally, chance, steps = Tally(), random.Random(count), _steps(story)
    for place in range(count):
        first = 1 + place * (steps - 1) // count
        tally.add(played(story, (first, chance.randint(first + 1, steps))))
    return tally


def _steps(story: Scenario) -> int:
    return played(story).steps.count
