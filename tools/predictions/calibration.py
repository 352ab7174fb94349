"""How good predictions were: pure arithmetic over what was said and what came of it.

    accuracy   the share of those on whose side of one half it came out; exactly one half takes no side: half a hit
    Brier      the mean of (probability - outcome)^2, outcome 1 or 0: 0 is perfect, 0.25 is what always saying one
               half gets, 1 is being sure and wrong each time
    bins       what was said to be 60 to 70 % likely should come true in 60 to 70 % of the cases

Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950), in
the form for two outcomes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

BINS = 10
"""Of the same width: 0 to 10 %, ..., 90 to 100 %; only the last holds its upper end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettledPrediction:
    """A prediction of which is known what came of it."""

    probability: float
    """From 0 to 1."""
    came_true: bool
    domain: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How good some predictions were. Shares and means are from 0 to 1."""

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
    """The predictions of about the same probability."""

    low_percent: int
    high_percent: int
    score: Score


def score(settled: Sequence[SettledPrediction]) -> Score | None:
    """The score of all of them; None of none."""
    if not settled:
        return None
    # Fractions of what was said in decimals: 0.7 is seven tenths, and no sum depends on its order.
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
    """The score of each domain, the one with most predictions first; None: those without a domain."""
    groups: dict[str | None, list[SettledPrediction]] = {}
    for one in settled:
        groups.setdefault(one.domain, []).append(one)
    scored = [(domain, found) for domain, group in groups.items() if (found := score(group)) is not None]
    return tuple(sorted(scored, key=lambda pair: (-pair[1].count, pair[0] or "")))


def bins(settled: Iterable[SettledPrediction]) -> tuple[Bin, ...]:
    """The score of each bin in which there is a prediction, from the unlikely to the likely."""
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
