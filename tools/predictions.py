"""The tools `predict`, `resolve_prediction`, `list_predictions` and `calibration_stats`: what people expect to happen,
how it turned out, and how well calibrated they are.

    accuracy   the share of predictions on the right side of one half; exactly one half counts as half a hit
    Brier      the mean of (probability - outcome)^2, with an outcome of 1 or 0: 0 is perfect, 0.25 results from always
               saying one half, 1 from being certain and wrong each time
    bins       what is predicted with 60 to 70 % should come true in 60 to 70 % of the cases

Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950), in
the form for two outcomes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, StringConstraints

from tools.base import Arguments, Intent, Result, Tool, ToolContext, ToolSpec
from tools.errors import BadArguments
from tools.text import clean_line

_MAX_STATEMENT_CHARS = 400
_MAX_LISTED = 50
_MAX_DOMAINS = 20
_ENOUGH = 10
"""With fewer resolved predictions, the figures are mostly chance."""

_Domain = Annotated[str, StringConstraints(pattern=r"^\w[\w-]*$", max_length=30)]
"""The length is not part of the pattern: a repeated letter of any language takes 0.8 MB in each model."""


Verdict = Literal["came_true", "did_not", "void"]
"""The outcome of a prediction; `void`: it cannot be known, or it became meaningless, so it is not scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What a person expects to happen."""

    statement: str
    probability: float
    """How likely they think it is, from 0 to 1."""
    due: date
    """The day by which the outcome is known, by the person's calendar."""
    domain: str | None = None
    """One word for its subject; None: none was given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """A recorded forecast."""

    number: int
    """Its number in this conversation while it is kept."""
    forecast: Forecast
    made: date
    """When it was recorded, by the person's calendar."""
    verdict: Verdict | None = None
    """None: it is open."""
    is_overdue: bool = False
    """Whether it is open and its due day is over."""
    until: str | None = None
    """When it disappears with a message it came from (`2026-11-23T08:00Z`); None: it stays."""
    origin: str = ""
    """Where its words come from: opaque, for `Result.origins`."""


class Predictions(Protocol):
    """The predictions of a person in a conversation, both from the context; other conversations do not see them."""

    async def record(self, forecast: Forecast, context: ToolContext) -> Prediction:
        """Records a forecast; repeating the same call after a crash changes nothing.

        Raises:
            BadArguments: its day is past or too far away; the message says which.
            Denied: a reminder asks for it, or the question was taken back.
            RateLimited: the person has as many predictions as allowed.
        """
        ...

    async def resolve(self, number: int, verdict: Verdict | None, context: ToolContext) -> Prediction:
        """Records the outcome of one of the person's predictions (None: reopens it); returns its new state.

        Raises:
            Denied: as `record`.
            NotFound: they have no prediction with this number here.
        """
        ...

    async def strike(self, number: int, context: ToolContext) -> Prediction:
        """Strikes one of the person's predictions, as if it had not been made; returns what it was.

        Raises:
            Denied, NotFound: as `resolve`.
        """
        ...

    async def all(self, context: ToolContext) -> tuple[Prediction, ...]:
        """Returns the person's predictions: overdue, then open ones, each by due day; then settled, newest first."""
        ...

    async def everybody(self, context: ToolContext) -> tuple[tuple[float, bool], ...]:
        """Returns the probability of each settled prediction of all people in this conversation, and if it came true.

        Nothing tells what it was about or who made it.
        """
        ...


class PredictArguments(Arguments):
    """The prediction to record."""

    statement: str = Field(
        min_length=1,
        max_length=_MAX_STATEMENT_CHARS,
        description="What will be true by the due date, so that anybody can then tell whether it is.",
    )
    probability: float = Field(ge=0, le=1, description="0 to 1, as given by the person; 70 % is 0.7.")
    due: date = Field(description="The day by which it is known, YYYY-MM-DD.")
    domain: _Domain | None = Field(default=None, description="One word for its subject: sports, work, politics.")


def _percent(probability: float) -> Decimal:
    return (Decimal(str(probability)) * 100).normalize()


class _PredictionTool:
    """Base class of the four tools."""

    def __init__(self, predictions: Predictions) -> None:
        self._predictions = predictions


class Predict(_PredictionTool):
    """Records a person's predictions in the conversation."""

    spec = ToolSpec(
        name="predict",
        seldom="records what the person predicts, probability 0 to 1",
        description=(
            "Records a prediction of the person who asks: a statement, its probability, and the day by which it is"
            " known. Only when they predict something and want it recorded; the probability is theirs, so ask for it"
            " if they gave none, and for the day, too. Tell them the number that it returns."
        ),
        arguments=PredictArguments,
        intent=lambda given: Intent(
            "predict", {"percent": _percent(given.probability), "due": given.due, "statement": given.statement}
        ),
        effects="repeatable",
        label="kept",
    )

    async def run(self, arguments: PredictArguments, context: ToolContext) -> Result:
        """Returns what is recorded.

        Raises:
            BadArguments: the statement contains no words.
            ToolError: as the port.
        """
        statement = clean_line(arguments.statement)
        if not any(map(str.isalnum, statement)):
            raise BadArguments("The statement contains no words.")
        forecast = Forecast(
            statement=statement,
            probability=arguments.probability,
            due=arguments.due,
            domain=None if arguments.domain is None else arguments.domain.lower(),
        )
        recorded = await self._predictions.record(forecast, context)
        return Result(data=_data(recorded), origins=(recorded.origin,))


class ResolveArguments(Arguments):
    """The outcome of a prediction."""

    number: int = Field(ge=1, description="The number from predict or list_predictions.")
    outcome: Literal["came_true", "did_not", "void", "open", "struck"] = Field(
        description=(
            "void: nobody can tell, so it is not scored. open: it was resolved by mistake. struck: the person wants it"
            " off the record."
        )
    )


class ResolvePrediction(_PredictionTool):
    """Records the outcome of a prediction."""

    spec = ToolSpec(
        name="resolve_prediction",
        seldom="records its outcome",
        description=(
            "Records the outcome of a prediction of the person who asks: it came true, it did not, or it is void. Only"
            " when they say so or agree with what you found; nobody can resolve another person's predictions."
        ),
        arguments=ResolveArguments,
        intent=lambda given: Intent(f"prediction_{given.outcome}", {"number": given.number}),
        effects="repeatable",
        label="kept",
        approval=lambda given: "each_by_labels" if given.outcome == "struck" else "by_labels",
    )

    async def run(self, arguments: ResolveArguments, context: ToolContext) -> Result:
        """Returns the new state of the prediction.

        Raises:
            ToolError: as the port.
        """
        if arguments.outcome == "struck":
            struck = await self._predictions.strike(arguments.number, context)
            return Result(data={"struck": _data(struck)}, origins=(struck.origin,))
        verdict: Verdict | None = None if arguments.outcome == "open" else arguments.outcome
        resolved = await self._predictions.resolve(arguments.number, verdict, context)
        return Result(data=_data(resolved), origins=(resolved.origin,))


class ListArguments(Arguments):
    """The predictions to list."""

    status: Literal["open", "overdue", "resolved", "all"] = Field(
        default="open", description="open includes overdue ones, which come first; resolved includes void ones."
    )
    domain: _Domain | None = Field(default=None, description="Only those with this domain.")
    limit: int = Field(default=20, ge=1, le=_MAX_LISTED, description="The most to list.")


class ListPredictions(_PredictionTool):
    """Lists a person's predictions."""

    spec = ToolSpec(
        name="list_predictions",
        seldom="the predictions of the person",
        description=(
            "Lists the predictions that the person who asks has made in this conversation, with their numbers: overdue"
            " ones first, then open ones by day, then resolved ones. Remind them of overdue ones, whose outcome they"
            " still have to tell."
        ),
        arguments=ListArguments,
        intent=lambda _given: Intent("predictions"),
        label="kept",
    )

    async def run(self, arguments: ListArguments, context: ToolContext) -> Result:
        """Returns the matching predictions, and how many there are of each status.

        Raises:
            ToolError: as the port.
        """
        every = _of_domain(await self._predictions.all(context), arguments.domain)
        wanted = [one for one in every if _fits(one, arguments.status)]
        shown = [_data(one) for one in wanted[: arguments.limit]]
        data = {"predictions": shown, **_counts(every)}
        if len(wanted) > len(shown):
            data["left_out"] = len(wanted) - len(shown)
        return Result(data=data, origins=tuple(one.origin for one in wanted[: arguments.limit]))


class StatsArguments(Arguments):
    """Whose predictions to score."""

    whose: Literal["mine", "everybody"] = Field(
        default="mine", description="everybody: all people in this conversation together, never one by one."
    )
    domain: _Domain | None = Field(default=None, description="Only those with this domain; only with mine.")


class CalibrationStats(_PredictionTool):
    """Scores the predictions of a person, or of everybody in the conversation."""

    spec = ToolSpec(
        name="calibration_stats",
        seldom="how right they were",
        description=(
            "Scores the resolved predictions of this conversation: accuracy, Brier score (0 is perfect, always saying"
            " 50 % gives 0.25, lower is better), and tables by domain and of predicted against actual frequency. Void"
            " and open ones do not count. With few predictions, say that the figures are mostly chance."
        ),
        arguments=StatsArguments,
        intent=lambda _given: Intent("calibration"),
        label="kept",
    )

    async def run(self, arguments: StatsArguments, context: ToolContext) -> Result:
        """Returns the scores.

        Raises:
            ToolError: as the port.
        """
        origins: tuple[str, ...] = ()  # for everybody together there are only figures
        if arguments.whose == "everybody":
            everybody = await self._predictions.everybody(context)
            settled = [SettledPrediction(probability=said, came_true=came_true) for said, came_true in everybody]
            data: dict[str, Any] = {"whose": "everybody", **_scores(settled)}
        else:
            every = _of_domain(await self._predictions.all(context), arguments.domain)
            settled = [scored for one in every if (scored := _settle(one)) is not None]
            data = {"whose": "mine", **_counts(every), **_scores(settled), **_domains(settled)}
            origins = tuple(one.origin for one in every)
        return Result(data=data, origins=origins)


def prediction_tools(predictions: Predictions) -> tuple[Tool, ...]:
    """Returns the four tools."""
    return tuple(tool(predictions) for tool in (Predict, ResolvePrediction, ListPredictions, CalibrationStats))


@dataclass(frozen=True, kw_only=True, slots=True)
class SettledPrediction:
    """A prediction with a known outcome."""

    probability: float
    """From 0 to 1."""
    came_true: bool
    domain: str | None = None


def score(settled: Sequence[SettledPrediction]) -> Mapping[str, float]:
    """Returns the figures of some predictions, at least one; shares and means are from 0 to 1."""
    count = len(settled)
    hits = [0.5 if one.probability == 0.5 else (one.probability > 0.5) == one.came_true for one in settled]  # noqa: PLR2004
    said, came_true = [one.probability for one in settled], [one.came_true for one in settled]
    errors = [(probability - outcome) ** 2 for probability, outcome in zip(said, came_true, strict=True)]
    sums = {"accuracy": sum(hits), "brier_score": sum(errors), "mean_said": sum(said), "came_true": sum(came_true)}
    return {"count": count, **{name: round(total / count, 4) for name, total in sums.items()}}


def by_domain(settled: Iterable[SettledPrediction]) -> Sequence[tuple[str, Mapping[str, float]]]:
    """Returns the figures of each domain, the one with most predictions first."""
    groups: dict[str, list[SettledPrediction]] = {}
    for one in settled:
        groups.setdefault(one.domain or "", []).append(one)
    ranked = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [(domain or "(none)", score(group)) for domain, group in ranked]


def bins(settled: Iterable[SettledPrediction]) -> Sequence[tuple[int, Mapping[str, float]]]:
    """Returns the figures of the tenths that have predictions, each by its lower end in percent, from the unlikely to
    the likely; only the last includes its upper end.
    """
    groups: dict[int, list[SettledPrediction]] = {}
    for one in settled:
        groups.setdefault(min(int(10 * one.probability), 9), []).append(one)
    return [(10 * number, score(group)) for number, group in sorted(groups.items())]


def _data(prediction: Prediction) -> Mapping[str, Any]:
    forecast = prediction.forecast
    shown: dict[str, Any] = {
        "number": prediction.number,
        "statement": forecast.statement,
        "probability": forecast.probability,
        "due": f"{forecast.due:%A %Y-%m-%d}",
        "status": prediction.verdict or ("overdue" if prediction.is_overdue else "open"),
        "made": prediction.made.isoformat(),
    }
    beside = {"domain": forecast.domain, "disappears": prediction.until}
    return {**shown, **{name: value for name, value in beside.items() if value is not None}}


def _of_domain(predictions: Sequence[Prediction], domain: str | None) -> Sequence[Prediction]:
    wanted = None if domain is None else domain.lower()
    return [one for one in predictions if wanted is None or one.forecast.domain == wanted]


def _fits(prediction: Prediction, status: str) -> bool:
    match status:
        case "open":
            return prediction.verdict is None
        case "overdue":
            return prediction.is_overdue
        case "resolved":
            return prediction.verdict is not None
        case _:
            return True


def _counts(predictions: Sequence[Prediction]) -> Mapping[str, int]:
    return {
        "overdue": sum(one.is_overdue for one in predictions),
        "open": sum(one.verdict is None for one in predictions),
        "resolved": sum(_settle(one) is not None for one in predictions),
        "void": sum(one.verdict == "void" for one in predictions),
    }


def _settle(prediction: Prediction) -> SettledPrediction | None:
    """Returns the prediction for scoring; None if it is open or void."""
    if prediction.verdict is None or prediction.verdict == "void":
        return None
    return SettledPrediction(
        probability=prediction.forecast.probability,
        came_true=prediction.verdict == "came_true",
        domain=prediction.forecast.domain,
    )


def _scores(settled: Sequence[SettledPrediction]) -> Mapping[str, Any]:
    if not settled:
        return {"resolved": 0, "note": "None is resolved yet, so there is nothing to score."}
    tables = [{"from": f"{low} %", "to": f"{low + 10} %", **figures} for low, figures in bins(settled)]
    note = f"Only {len(settled)} resolved: too few to judge by; the figures are mostly chance."
    noted = {"note": note} if len(settled) < _ENOUGH else {}
    return {"resolved": len(settled), **score(settled), "reliability": tables, **noted}


def _domains(settled: Sequence[SettledPrediction]) -> Mapping[str, Any]:
    rows = [{"domain": domain, **figures} for domain, figures in by_domain(settled)]
    shown, left_out = rows[:_MAX_DOMAINS], len(rows) - _MAX_DOMAINS
    tables: dict[str, Any] = {"by_domain": shown} if shown else {}
    return {**tables, "domains_left_out": left_out} if left_out > 0 else tables
