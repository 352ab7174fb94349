"""The short round of the simulation; `python -m tests.campaigns.simulation` plays the long one."""

import pytest

from tests.campaigns.simulation import schedules
from tests.campaigns.simulation.scenario import SMALL, Scenario, crashes, drawn
from tests.campaigns.simulation.schedules import Tally
from tests.campaigns.simulation.world import played

QUIETEST = 5
"""A promise that is looked at less often than this in a round is hardly tested by it."""


LOST_ON_A_FULL_DISK, FIRST_QUESTION_REFUSED = 44132, 960334
"""A paid completion cannot be kept, and is asked for again; Signal refuses the first of two questions of a turn."""


def shown(tally: Tally) -> str:
    return "\n".join([*tally.broken, *tally.traces])


def test_killed_at_every_step() -> None:
    """Wherever Aldis is killed once, every promise holds."""
    tally = schedules.of_singles(SMALL[0])
    assert not tally.broken, shown(tally)
    assert tally.kills == tally.stories - 1 > 60


@pytest.mark.parametrize("story", SMALL, ids=lambda story: story.name)
def test_killed_twice(story: Scenario) -> None:
    """Also when it is killed again on its way back."""
    tally = schedules.of_some_pairs(story, 5)
    assert not tally.broken, shown(tally)


def test_many_stories() -> None:
    """Strangers, groups, faults of models, tools and Signal, crashes and stops as the seed draws them."""
    tally = schedules.of_seeds((*range(47), LOST_ON_A_FULL_DISK, FIRST_QUESTION_REFUSED))
    assert not tally.broken, shown(tally)
    assert min(tally.checked.values()) >= QUIETEST, tally.checked
    assert tally.kills > tally.stories


def test_a_seed_is_a_story() -> None:
    """What a seed does is decided by the seed alone, to the step."""
    story = drawn(4)
    first, again = (played(story, crashes(4, len(story.said))) for _ in range(2))
    assert first.steps.trace == again.steps.trace
