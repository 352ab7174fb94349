"""Predictions: what people think is likely, and what came of it.

They belong to the conversation in which they were made: those of a direct chat stay there, those of a group stay in the
group, each with the person who made it. Only that person can list them and record their outcome; a group sees totals
for everybody together. They live as long as the message that made them, and no longer than the one that told the
outcome.
"""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot import labels
from bot.chat.predictions import dump_forecast, dump_verdict, load_prediction, predictions_of
from bot.clock import Clock
from bot.events import PersonId
from store import ConversationId, PredictionRow, Repositories, Store, TurnId
from tools import BadArguments, Denied, Forecast, NotFound, Prediction, RateLimited, ToolContext, Verdict

MAX_KEPT = 500
"""How many predictions one person can have, in all conversations together: one a day for more than a year."""

_MAX_AHEAD = timedelta(days=50 * 366)


class Predictions:
    """The predictions of everybody; the port of the tools around `predict`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def record(self, forecast: Forecast, context: ToolContext) -> Prediction:
        """Records a prediction of the person who asks; see `tools.Predictions`."""
        conversation, today = await self._conversation(context), _today(context)

        def transact(repos: Repositories) -> PredictionRow:
            _check_asked(repos, context)
            if repos.predictions.of_origin(conversation, context.call) is None:
                _check_day(forecast.due, today)
                _check_room(repos, context)
            return repos.predictions.put(
                conversation,
                context.person,
                context.call,
                dump_forecast(forecast, made=today, origin=labels.load_labels(context.origin)),
                due_at=_end_of(forecast.due, context.timezone),
                turn=TurnId(context.turn),
            )

        kept = await self._store.transaction(transact)
        if kept.words is None:
            raise NotFound("this prediction was struck off the record again")
        return load_prediction(kept, kept.words, today)

    async def resolve(self, number: int, verdict: Verdict | None, context: ToolContext) -> Prediction:
        """Records the outcome of a prediction of the person who asks; see `tools.Predictions`."""
        conversation = await self._conversation(context)
        outcome = dump_verdict(verdict)
        return await self._changed(
            number,
            context,
            lambda repos: repos.predictions.settle(
                conversation, context.person, number, outcome, turn=TurnId(context.turn), now=self._clock.now()
            ),
        )

    async def strike(self, number: int, context: ToolContext) -> Prediction:
        """Strikes a prediction of the person who asks off the record; see `tools.Predictions`."""
        conversation = await self._conversation(context)
        return await self._changed(
            number,
            context,
            lambda repos: repos.predictions.strike(conversation, context.person, number, now=self._clock.now()),
        )

    async def all(self, context: ToolContext) -> tuple[Prediction, ...]:
        """Returns the predictions of the person who asks, in this conversation; see `tools.Predictions`."""
        conversation, person, today = await self._conversation(context), PersonId(context.person), _today(context)
        return await self._store.read(
            lambda repos: predictions_of(repos, conversation, person, now=self._clock.now(), today=today)
        )

    async def everybody(self, context: ToolContext) -> tuple[tuple[float, bool], ...]:
        """Returns how likely everybody here thought something was, and whether it came true; see
        `tools.Predictions`.
        """
        conversation, today = await self._conversation(context), _today(context)
        every = await self._store.read(
            lambda repos: predictions_of(repos, conversation, None, now=self._clock.now(), today=today)
        )
        return tuple(
            (one.forecast.probability, one.verdict == "came_true")
            for one in every
            if one.verdict in {"came_true", "did_not"}
        )

    async def _changed(
        self, number: int, context: ToolContext, change: Callable[[Repositories], PredictionRow | None]
    ) -> Prediction:
        def changed(repos: Repositories) -> PredictionRow | None:
            _check_asked(repos, context)
            return change(repos)

        kept = await self._store.transaction(changed)
        if kept is None or kept.words is None:
            raise NotFound(f"the person has no prediction {number} here; list_predictions shows those that they have")
        return load_prediction(kept, kept.words, _today(context))

    async def _conversation(self, context: ToolContext) -> ConversationId:
        return await self._store.conversation(context.chat, now=self._clock.now())


def _check_asked(repos: Repositories, context: ToolContext) -> None:
    turn = TurnId(context.turn)
    if not repos.journal.is_running(turn) or repos.reminders.is_run_by_one(turn):
        raise Denied("the person has not just asked for this themselves")


def _check_day(due: date, today: date) -> None:
    if due < today:
        raise BadArguments(f"due: that day is over, it is {today:%A %Y-%m-%d} for the person")
    if due - today > _MAX_AHEAD:
        raise BadArguments("due: that is more than fifty years away")


def _check_room(repos: Repositories, context: ToolContext) -> None:
    if repos.predictions.count(context.person) >= MAX_KEPT:
        raise RateLimited(f"{MAX_KEPT} predictions are kept already; the person has to have one struck off first")


def _today(context: ToolContext) -> date:
    """Today's date for the person who asks."""
    return context.now.astimezone(ZoneInfo(context.timezone)).date()


def _end_of(day: date, zone: str) -> datetime:
    return datetime.combine(day + timedelta(days=1), time.min, tzinfo=ZoneInfo(zone))
