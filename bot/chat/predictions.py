"""Predictions as they are stored: sealed words and their outcome, and the values that tools and exports show."""

from dataclasses import dataclass
from datetime import date, datetime

from pydantic import TypeAdapter

from bot import labels
from bot.events import PersonId
from bot.labels import Labels
from store import ConversationId, PredictionRow, Repositories
from tools import Forecast, Prediction, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class _Words:
    """The stored form of what was said."""

    statement: str
    probability: float
    due: date
    domain: str | None
    made: date
    labels: Labels | None = None
    """Where it comes from; None: it is older than labels."""


_words: TypeAdapter[_Words] = TypeAdapter(_Words)
_verdicts: TypeAdapter[Verdict] = TypeAdapter(Verdict)


def dump_forecast(forecast: Forecast, *, made: date, origin: Labels | None) -> bytes:
    """The stored form of a prediction; `load_prediction` reads it."""
    return _words.dump_json(
        _Words(
            statement=forecast.statement,
            probability=forecast.probability,
            due=forecast.due,
            domain=forecast.domain,
            made=made,
            labels=origin,
        )
    )


def dump_verdict(verdict: Verdict | None) -> bytes | None:
    """The stored form of a prediction's outcome; None if it is no longer known."""
    return None if verdict is None else _verdicts.dump_json(verdict)


def load_prediction(kept: PredictionRow, words: bytes, today: date) -> Prediction:
    """A prediction stored with these words; it is overdue if it should have been resolved before `today`."""
    said = _words.validate_json(words)
    verdict = None if kept.outcome is None else _verdicts.validate_json(kept.outcome)
    return Prediction(
        number=kept.number,
        forecast=Forecast(statement=said.statement, probability=said.probability, due=said.due, domain=said.domain),
        made=said.made,
        verdict=verdict,
        is_overdue=verdict is None and said.due < today,
        until=None if kept.expires_at is None else f"{kept.expires_at:%Y-%m-%dT%H:%MZ}",
        origin="" if said.labels is None else labels.dump_labels(said.labels).decode(),
    )


def predictions_of(
    repos: Repositories, conversation: ConversationId, person: PersonId | None, *, now: datetime, today: date
) -> tuple[Prediction, ...]:
    """The predictions of a person (None: of everybody) in a conversation, within a transaction.

    Overdue ones come first, then open ones, each by due date; then resolved ones, newest first.
    """
    every = repos.predictions.all(conversation, person, now=now)
    pairs = [(kept, load_prediction(kept, kept.words, today)) for kept in every if kept.words is not None]
    return tuple(shown for _, shown in sorted(pairs, key=lambda pair: _place(*pair)))


def _place(kept: PredictionRow, shown: Prediction) -> tuple[int, float, int]:
    """The sort key of a prediction."""
    if kept.settled_at is not None:
        return 2, -kept.settled_at.timestamp(), -kept.number
    return 0 if shown.is_overdue else 1, shown.forecast.due.toordinal(), kept.number
