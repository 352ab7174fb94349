"""The tools around `predict`: what the model fills in reaches the port; scores come out as one reckons them by hand."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from tools import Forecast, NotFound, Prediction, ToolContext, Verdict
from tools.predictions import (
    CalibrationStats,
    ListPredictions,
    Predict,
    ResolvePrediction,
)

TODAY, DUE = date(2026, 11, 21), date(2026, 12, 31)


class Book:
    """A port that keeps predictions in a list; others in the conversation have made `others`."""

    def __init__(self, kept: Sequence[Prediction] = (), others: Sequence[tuple[float, bool]] = ()) -> None:
        self.kept = list(kept)
        self.others = others

    async def record(self, forecast: Forecast, context: ToolContext) -> Prediction:
        self.kept.append(Prediction(number=len(self.kept) + 1, forecast=forecast, made=TODAY))
        return self.kept[-1]

    async def resolve(self, number: int, verdict: Verdict | None, context: ToolContext) -> Prediction:
        if number > len(self.kept):
            raise NotFound("no such prediction")
        self.kept[number - 1] = replace(self.kept[number - 1], verdict=verdict, is_overdue=False)
        return self.kept[number - 1]

    async def strike(self, number: int, context: ToolContext) -> Prediction:
        return self.kept.pop(number - 1)

    async def all(self, context: ToolContext) -> tuple[Prediction, ...]:
        return tuple(self.kept)

    async def everybody(self, context: ToolContext) -> tuple[tuple[float, bool], ...]:
        return (*self.others,)


def book(*said: tuple[float, Any, str | None]) -> Book:
    """Predictions by their probability, what came of them, and their domain."""
    return Book(
        [
            Prediction(
                number=number,
                forecast=Forecast(statement=f"it {number}", probability=probability, due=DUE, domain=domain),
                made=TODAY,
                verdict=verdict,
            )
            for number, (probability, verdict, domain) in enumerate(said, 1)
        ]
    )


async def asked(kind: Any, kept: Book, context: ToolContext, **given: Any) -> Any:
    tool = kind(kept)
    return (await tool.run(tool.spec.arguments(**given), context)).data


# What is recorded


async def test_a_prediction_is_recorded_and_its_number_told(context: ToolContext) -> None:
    """Cleaned and on one line, its domain in small letters, its day with the day of the week."""
    kept = Book()
    told = await asked(
        Predict,
        kept,
        context,
        statement="Rain\u202e on\nChristmas",
        probability=0.7,
        due="2026-12-25",
        domain="Weather",
    )
    assert told == {
        "number": 1,
        "statement": "Rain on Christmas",
        "probability": 0.7,
        "due": "Friday 2026-12-25",
        "status": "open",
        "made": "2026-11-21",
        "domain": "weather",
    }


@pytest.mark.parametrize("outcome", ["came_true", "did_not", "void"])
async def test_what_came_of_it_is_kept(context: ToolContext, outcome: Verdict) -> None:
    """And is taken back by `open`."""
    kept = book((0.7, None, None))
    assert (await asked(ResolvePrediction, kept, context, number=1, outcome=outcome))["status"] == outcome
    assert kept.kept[0].verdict == outcome
    assert (await asked(ResolvePrediction, kept, context, number=1, outcome="open"))["status"] == "open"
    with pytest.raises(NotFound):
        await asked(ResolvePrediction, kept, context, number=2, outcome=outcome)


async def test_one_can_be_struck_off_the_record(context: ToolContext) -> None:
    """It is told once more, and then it is gone."""
    kept = book((0.7, None, None))
    told = await asked(ResolvePrediction, kept, context, number=1, outcome="struck")
    assert told["struck"]["statement"] == "it 1"
    assert kept.kept == []


# What is listed


async def test_a_list_shows_what_is_wanted_and_counts_the_rest(context: ToolContext) -> None:
    """By status and by domain, no more than the limit; what is left out is said."""
    kept = book((0.1, None, "a"), (0.2, None, "b"), (0.3, "did_not", "a"), (0.4, "void", "b"))
    kept.kept[0] = replace(kept.kept[0], is_overdue=True, until="2026-11-23T08:00Z")

    async def numbers(**given: Any) -> list[int]:
        return [one["number"] for one in (await asked(ListPredictions, kept, context, **given))["predictions"]]

    assert await numbers() == [1, 2]
    assert await numbers(status="overdue") == [1]
    assert await numbers(status="resolved") == [3, 4]
    assert await numbers(status="all") == [1, 2, 3, 4]
    assert await numbers(status="all", domain="B") == [2, 4]
    told = await asked(ListPredictions, kept, context, limit=1)
    assert told == {
        "predictions": [
            {
                "number": 1,
                "statement": "it 1",
                "probability": 0.1,
                "due": "Thursday 2026-12-31",
                "status": "overdue",
                "made": "2026-11-21",
                "domain": "a",
                "disappears": "2026-11-23T08:00Z",
            }
        ],
        "overdue": 1,
        "open": 2,
        "resolved": 1,
        "void": 1,
        "left_out": 1,
    }


# What is scored


async def test_scores_are_what_one_reckons_by_hand(context: ToolContext) -> None:
    """Void and open ones do not count; each domain and each bin has its own row."""
    kept = book(
        (0.9, "came_true", "sports"),  # 0.01, a hit
        (0.6, "did_not", "sports"),  # 0.36, a miss
        (0.2, "did_not", "work"),  # 0.04, a hit
        (0.3, "came_true", None),  # 0.49, a miss
        (0.99, "void", "sports"),
        (0.01, None, "sports"),
    )
    told = await asked(CalibrationStats, kept, context)
    assert {name: told[name] for name in ("whose", "resolved", "void", "open", "overdue", "count")} == {
        "whose": "mine",
        "resolved": 4,
        "void": 1,
        "open": 1,
        "overdue": 0,
        "count": 4,
    }
    assert (told["accuracy"], told["brier_score"]) == (0.5, 0.225)  # (0.01 + 0.36 + 0.04 + 0.49) / 4
    assert (told["mean_said"], told["came_true"]) == (0.5, 0.5)
    assert told["by_domain"] == [
        {"domain": "sports", "count": 2, "accuracy": 0.5, "brier_score": 0.185, "mean_said": 0.75, "came_true": 0.5},
        {"domain": "(none)", "count": 1, "accuracy": 0.0, "brier_score": 0.49, "mean_said": 0.3, "came_true": 1.0},
        {"domain": "work", "count": 1, "accuracy": 1.0, "brier_score": 0.04, "mean_said": 0.2, "came_true": 0.0},
    ]
    assert [(row["from"], row["to"], row["count"], row["came_true"]) for row in told["reliability"]] == [
        ("20 %", "30 %", 1, 0.0),
        ("30 %", "40 %", 1, 1.0),
        ("60 %", "70 %", 1, 0.0),
        ("90 %", "100 %", 1, 1.0),
    ]
    alone = await asked(CalibrationStats, kept, context, domain="Sports")
    assert (alone["resolved"], alone["brier_score"], alone["void"]) == (2, 0.185, 1)


async def test_of_everybody_nothing_but_figures_is_told(context: ToolContext) -> None:
    """No statement, no domain, no list: the others' words are not the asker's to see here."""
    kept = book((0.9, "came_true", "secret"))
    kept.others = ((0.9, True), (0.8, False))
    told = await asked(CalibrationStats, kept, context, whose="everybody")
    assert (told["resolved"], told["accuracy"], told["brier_score"]) == (2, 0.5, 0.325)  # (0.01 + 0.64) / 2
    assert "secret" not in repr(told)
    assert "it 1" not in repr(told)


# What is drawn
