"""Predictions: what people expect to happen, how it turned out, and how well calibrated they are.

They belong to the conversation in which they were made: those of a direct chat stay there, those of a group stay in the
group, each with the person who made it, who alone can list and score them and record their outcome. They live as long
as the message that made them, and no longer than the one that said the outcome.

    accuracy   the share of predictions on the right side of one half; exactly one half counts as half a hit
    Brier      the mean of (probability - outcome)^2, with an outcome of 1 or 0: 0 is perfect, 0.25 results from always
               saying one half, 1 from being certain and wrong each time
    bins       what is predicted with 60 to 70 % should come true in 60 to 70 % of the cases

Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950), in
the form for two outcomes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, StringConstraints, TypeAdapter

from bot import labels
from bot.clock import Clock
from bot.labels import Labels
from store import ConversationId, PredictionRow, Repositories, Store, TurnId
from tools import (
    Arguments,
    BadArguments,
    Denied,
    Intent,
    NotFound,
    RateLimited,
    Result,
    Tool,
    ToolContext,
    ToolSpec,
    clean_line,
)

MAX_KEPT = 500
"""How many predictions one person can have, in all conversations together: one a day for more than a year."""

_MAX_AHEAD = timedelta(days=50 * 366)
_MAX_STATEMENT_CHARS = 400
_MAX_LISTED = 50

_Domain = Annotated[str, StringConstraints(pattern=r"^\w[\w-]*$", max_length=30)]
"""The length is not part of the pattern: a repeated letter of any language takes 0.8 MB in each model."""

Verdict = Literal["came_true", "did_not", "void"]
"""The outcome of a prediction; `void`: it cannot be known, or it became meaningless, so it is not scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What a person expects to happen, as it is stored."""

    statement: str
    probability: float
    """How likely they think it is, from 0 to 1."""
    due: date
    """The day by which the outcome is known, by the person's calendar."""
    domain: str | None = None
    """One word for its subject; None: none was given."""
    made: date
    """When it was recorded, by the person's calendar."""
    labels: Labels | None = None
    """Where its words come from; None: it is older than labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """A recorded forecast."""

    row: PredictionRow
    forecast: Forecast
    status: Verdict | Literal["open", "overdue"]
    """The outcome; without one it is open, or overdue if its day is over."""

    @property
    def origin(self) -> str:
        """Where its words come from, for `Result.origins`."""
        return "" if self.forecast.labels is None else labels.dump_labels(self.forecast.labels).decode()


_OPEN = frozenset({"open", "overdue"})
"""The states of predictions without an outcome."""
_SCORED = frozenset({"came_true", "did_not"})
"""The states of predictions that count."""

_forecasts: TypeAdapter[Forecast] = TypeAdapter(Forecast)
_verdicts: TypeAdapter[Verdict] = TypeAdapter(Verdict)


def _today(context: ToolContext) -> date:
    return context.now.astimezone(ZoneInfo(context.timezone)).date()


def _loaded(row: PredictionRow, words: bytes, context: ToolContext) -> Prediction:
    forecast = _forecasts.validate_json(words)
    if row.outcome is not None:
        return Prediction(row=row, forecast=forecast, status=_verdicts.validate_json(row.outcome))
    return Prediction(row=row, forecast=forecast, status="overdue" if forecast.due < _today(context) else "open")


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


@dataclass(eq=False)
class _PredictionTool:
    """Base class of the four tools. The person and the conversation are those of the context."""

    store: Store
    clock: Clock

    async def _change(
        self, transact: Callable[[Repositories, ConversationId], PredictionRow | None], context: ToolContext
    ) -> Prediction:
        """Records or changes one within a transaction, and returns it.

        Raises:
            Denied: a reminder asks for it, or the question was taken back.
            NotFound: they have no such prediction here.
        """
        here, turn = await self.store.conversation(context.chat, now=self.clock.now()), TurnId(context.turn)

        def checked(repos: Repositories) -> PredictionRow | None:
            if not repos.journal.is_running(turn) or repos.reminders.is_run_by_one(turn):
                raise Denied("the person has not just asked for this themselves")
            return transact(repos, here)

        row = await self.store.transaction(checked)
        if row is None or row.words is None:
            raise NotFound("the person has no such prediction here; list_predictions shows those that they have")
        return _loaded(row, row.words, context)

    async def _all(self, context: ToolContext, domain: str | None) -> tuple[Prediction, ...]:
        """The person's predictions here, of this domain if there is one: open ones first, each kind by due day."""
        now = self.clock.now()
        here = await self.store.conversation(context.chat, now=now)
        rows = await self.store.read(lambda repos: repos.predictions.all(here, context.person, now=now))
        every = [_loaded(row, row.words, context) for row in rows if row.words is not None]
        found = [one for one in every if domain is None or one.forecast.domain == domain.lower()]
        return tuple(sorted(found, key=lambda one: (one.status not in _OPEN, one.forecast.due, one.row.number)))


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
            "predict",
            {
                "percent": (Decimal(str(given.probability)) * 100).normalize(),
                "due": given.due,
                "statement": given.statement,
            },
        ),
        effects="repeatable",
        label="kept",
    )

    async def run(self, arguments: PredictArguments, context: ToolContext) -> Result:
        """Returns what is recorded; repeating the same call after a crash changes nothing.

        Raises:
            BadArguments: the statement contains no words, or its day is past or too far away.
            RateLimited: the person has as many predictions as allowed.
            Denied, NotFound: as `_change`.
        """
        statement, today, due = clean_line(arguments.statement), _today(context), arguments.due
        if not any(map(str.isalnum, statement)):
            raise BadArguments("The statement contains no words.")
        forecast = Forecast(
            statement=statement,
            probability=arguments.probability,
            due=due,
            domain=None if arguments.domain is None else arguments.domain.lower(),
            made=today,
            labels=labels.load_labels(context.origin),
        )
        known_at = datetime.combine(due + timedelta(days=1), time.min, tzinfo=ZoneInfo(context.timezone))

        def transact(repos: Repositories, here: ConversationId) -> PredictionRow:
            if repos.predictions.of_origin(context.call) is None:
                if due < today:
                    raise BadArguments(f"due: that day is over, it is {today:%A %Y-%m-%d} for the person")
                if due - today > _MAX_AHEAD:
                    raise BadArguments("due: that is more than fifty years away")
                if repos.predictions.count(context.person) >= MAX_KEPT:
                    raise RateLimited(f"{MAX_KEPT} predictions are kept already; one has to be struck off first")
            words, turn = _forecasts.dump_json(forecast), TurnId(context.turn)
            return repos.predictions.put(here, context.person, context.call, words, due_at=known_at, turn=turn)

        recorded = await self._change(transact, context)
        return Result(data=_data(recorded), origins=(recorded.origin,))


class ResolveArguments(Arguments):
    """The outcome of a prediction."""

    number: int = Field(ge=1, description="The number from predict or list_predictions.")
    outcome: Verdict | Literal["open", "struck"] = Field(
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
        """Returns the new state of the prediction, or what was struck.

        Raises:
            Denied, NotFound: as `_change`.
        """
        person, turn, outcome = context.person, TurnId(context.turn), arguments.outcome
        now = self.clock.now()

        def transact(repos: Repositories, here: ConversationId) -> PredictionRow | None:
            if outcome == "struck":
                return repos.predictions.strike(here, person, arguments.number, now=now)
            verdict = None if outcome == "open" else _verdicts.dump_json(outcome)
            return repos.predictions.settle(here, person, arguments.number, verdict, turn=turn, now=now)

        resolved = await self._change(transact, context)
        data = {"struck": _data(resolved)} if outcome == "struck" else _data(resolved)
        return Result(data=data, origins=(resolved.origin,))


class ListArguments(Arguments):
    """The predictions to list."""

    status: Literal["open", "resolved", "all"] = Field(
        default="open", description="open includes overdue ones, which come first; resolved includes void ones."
    )
    domain: _Domain | None = Field(default=None, description="Only those with this domain.")


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
        """Returns the matching predictions, and how many there are of each status."""
        every = await self._all(context, arguments.domain)
        wanted = [one for one in every if arguments.status in {"all", "open" if one.status in _OPEN else "resolved"}]
        shown = wanted[:_MAX_LISTED]
        data = {"predictions": list(map(_data, shown)), "matching": len(wanted), **_counts(every)}
        return Result(data=data, origins=tuple(one.origin for one in shown))


class StatsArguments(Arguments):
    """The predictions to score."""

    domain: _Domain | None = Field(default=None, description="Only those with this domain.")


class CalibrationStats(_PredictionTool):
    """Scores the predictions of a person."""

    spec = ToolSpec(
        name="calibration_stats",
        seldom="how right they were",
        description=(
            "Scores the person's resolved predictions of this conversation: accuracy, Brier score (0 is perfect, always"
            " saying 50 % gives 0.25, lower is better), and predicted against actual frequency. Void and open ones do"
            " not count. With fewer than ten, say that the figures are mostly chance."
        ),
        arguments=StatsArguments,
        intent=lambda _given: Intent("calibration"),
        label="kept",
    )

    async def run(self, arguments: StatsArguments, context: ToolContext) -> Result:
        """Returns the scores."""
        every = await self._all(context, arguments.domain)
        scores = _scores([one for one in every if one.status in _SCORED])
        return Result(data={**_counts(every), **scores}, origins=tuple(one.origin for one in every))


def prediction_tools(store: Store, clock: Clock) -> tuple[Tool, ...]:
    """Returns the four tools."""
    return tuple(tool(store, clock) for tool in (Predict, ResolvePrediction, ListPredictions, CalibrationStats))


def _data(prediction: Prediction) -> Mapping[str, Any]:
    forecast, expires_at = prediction.forecast, prediction.row.expires_at
    shown = {
        "number": prediction.row.number,
        "statement": forecast.statement,
        "probability": forecast.probability,
        "due": f"{forecast.due:%A %Y-%m-%d}",
        "status": prediction.status,
        "made": forecast.made.isoformat(),
        "domain": forecast.domain,
        "disappears": expires_at and f"{expires_at:%Y-%m-%dT%H:%MZ}",  # with a message that it came from
    }
    return {name: value for name, value in shown.items() if value is not None}


def _counts(predictions: Sequence[Prediction]) -> Mapping[str, int]:
    return {
        "overdue": sum(one.status == "overdue" for one in predictions),
        "open": sum(one.status in _OPEN for one in predictions),
        "resolved": sum(one.status in _SCORED for one in predictions),
        "void": sum(one.status == "void" for one in predictions),
    }


def _scores(settled: Sequence[Prediction]) -> Mapping[str, Any]:
    if not settled:
        return {"resolved": 0, "note": "None is resolved yet, so there is nothing to score."}
    tenths: dict[int, list[Prediction]] = {}
    for one in sorted(settled, key=lambda one: one.forecast.probability):
        tenths.setdefault(min(int(10 * one.forecast.probability), 9), []).append(one)  # only the last has its end
    tables = [
        {"from": f"{10 * tenth} %", "to": f"{10 * tenth + 10} %", **_score(group)} for tenth, group in tenths.items()
    ]
    return {"resolved": len(settled), **_score(settled), "reliability": tables}


def _score(settled: Sequence[Prediction]) -> Mapping[str, float]:
    """Returns the figures of some predictions, at least one; shares and means are from 0 to 1."""
    pairs = [(one.forecast.probability, one.status == "came_true") for one in settled]
    sums = {
        "accuracy": sum(0.5 if said == 0.5 else (said > 0.5) == came_true for said, came_true in pairs),  # noqa: PLR2004
        "brier_score": sum((said - came_true) ** 2 for said, came_true in pairs),
        "mean_said": sum(said for said, _ in pairs),
        "came_true": sum(came_true for _, came_true in pairs),
    }
    return {"count": len(pairs), **{name: round(total / len(pairs), 4) for name, total in sums.items()}}
