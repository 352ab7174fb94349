"""Scores predictions from their probabilities and outcomes. Pure functions.

    accuracy   the share of predictions on the right side of one half; exactly one half counts as half a hit
    Brier      the mean of (probability - outcome)^2, with an outcome of 1 or 0: 0 is perfect, 0.25 results from always
               saying one half, 1 from being certain and wrong each time
    bins       what is predicted with 60 to 70 % should come true in 60 to 70 % of the cases

Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950), in
the form for two outcomes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

BINS = 10
"""The number of equal bins: 0 to 10 %, ..., 90 to 100 %; only the last includes its upper end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettledPrediction:
    """A prediction with a known outcome."""

    probability: float
    """From 0 to 1."""
    came_true: bool
    domain: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The score of some predictions. Shares and means are from 0 to 1."""

    count: int
    """At least 1."""
    accuracy: float
    brier: float
    said: float
    """The mean probability."""
    came_true: float
    """The share that came true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """Predictions with similar probabilities."""

    low_percent: int
    high_percent: int
    score: Score


def score(settled: Sequence[SettledPrediction]) -> Score | None:
    """Returns the score of all predictions; None if there are none."""
    if not settled:
        return None
    # Exact fractions: 0.7 is seven tenths, and no sum depends on its order.
    said = [Fraction(str(one.probability)) for one in settled]
    outcomes = [int(one.came_true) for one in settled]
    pairs = list(zip(said, outcomes, strict=True))
    return Score(
        count=len(settled),
        accuracy=_mean(_hit(probability, outcome) for probability, outcome in pairs),
        brier=_mean((probability - outcome) ** 2 for probability, outcome in pairs),
        said=_mean(said),
        came_true=_mean(map(Fraction, outcomes)),
    )


def by_domain(settled: Iterable[SettledPrediction]) -> tuple[tuple[str | None, Score], ...]:
    """Returns the score of each domain (None: no domain), the one with most predictions first."""
    groups: dict[str | None, list[SettledPrediction]] = {}
    for one in settled:
        groups.setdefault(one.domain, []).append(one)
    scored = [(domain, found) for domain, group in groups.items() if (found := score(group)) is not None]
    return tuple(sorted(scored, key=lambda pair: (-pair[1].count, pair[0] or "")))


def bins(settled: Iterable[SettledPrediction]) -> tuple[Bin, ...]:
    """Returns the bins that have predictions, from the unlikely to the likely."""
    groups: dict[int, list[SettledPrediction]] = {}
    for one in settled:
        groups.setdefault(min(int(Fraction(str(one.probability)) * BINS), BINS - 1), []).append(one)
    width = 100 // BINS
    return tuple(
        Bin(low_percent=number * width, high_percent=(number + 1) * width, score=found)
        for number, group in sorted(groups.items())
        if (found := score(group)) is not None
    )


def _hit(probability: Fraction, outcome: int) -> Fraction:
    if probability == Fraction(1, 2):
        return Fraction(1, 2)
    return Fraction(int((probability > Fraction(1, 2)) == bool(outcome)))


def _mean(values: Iterable[Fraction]) -> float:
    listed = list(values)
    return float(sum(listed, Fraction(0)) / len(listed))
