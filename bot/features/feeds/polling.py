"""Pure: when a feed is asked again. What the operator wants, what the feed wants, and failures each only make it later.

A feed that fails is asked half as often with every failure, down to once a day: most come back, and the others cost
nobody anything. A little chance is added, so that feeds do not come due together, nor at the full hour with the world.
"""

LONGEST_SECONDS = 86_400.0
"""However long a feed asks for, or fails: it is looked at once a day."""

_CHANCE = 0.1


def pause_seconds(*, every_seconds: float, wanted_seconds: float, failures: int, chance: float) -> float:
    """In how many seconds a feed is asked again.

    `every_seconds` is the operator's wish, `wanted_seconds` the feed's (0: none), `failures` how often it failed since
    it was read last, `chance` a number from 0 to 1.
    """
    doublings = min(max(failures - 1, 0), 10)
    patient = max(every_seconds * 2**doublings, wanted_seconds)
    return min(patient, max(LONGEST_SECONDS, every_seconds)) * (1 + _CHANCE * chance)


def longest_pause_seconds(every_seconds: float) -> float:
    """More than `pause_seconds` never gives, whatever a feed wants and however often it fails."""
    return max(LONGEST_SECONDS, every_seconds) * (1 + _CHANCE)
