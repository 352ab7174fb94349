"""The repository of predictions: numbered in their conversation, sealed, gone with the first of their messages."""

from datetime import datetime, timedelta

import pytest

from store import ConversationId, PredictionRow, Repositories, Store, TurnId
from tests.conftest import NOON
from tests.store.lives import rows

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


async def begun(
    store: Store, expires_at: datetime | None = None, address: str = "direct:a"
) -> tuple[ConversationId, TurnId]:
    """A conversation and a turn in it that runs."""
    here = await store.conversation(address, now=NOON)
    turn = await store.transaction(lambda repos: repos.turns.begin(here, now=NOON, expires_at=expires_at))
    return here, turn


def put(repos: Repositories, here: ConversationId, turn: TurnId, origin: str, due_at: datetime = NOON) -> PredictionRow:
    return repos.predictions.put(here, "alice", origin, b"words of " + origin.encode(), due_at=due_at, turn=turn)


async def numbers(store: Store, here: ConversationId, person: str = "alice", now: datetime = NOON) -> list[int]:
    found = await store.read(lambda repos: repos.predictions.all(here, person, now=now))
    return [one.number for one in found]


@pytest.mark.parametrize(
    ("made", "told", "goes"),
    [(None, None, None), (5, None, 5), (None, 5, 5), (5, 9, 5), (9, 5, 5)],
    ids=["both stay", "told forever", "made forever", "made goes first", "told goes first"],
)
async def test_it_goes_with_the_first_message_that_does(
    store: Store, made: int | None, told: int | None, goes: int | None
) -> None:
    """Of the one that made it and the one that told what came of it."""
    hours = [None if minutes is None else NOON + minutes * MINUTE for minutes in (made, told)]
    here, turn = await begun(store, hours[0])
    await store.transaction(lambda repos: put(repos, here, turn, "a"))
    _, later = await begun(store, hours[1])
    await store.transaction(lambda repos: repos.predictions.settle(here, "alice", 1, b"void", turn=later, now=NOON))
    for minutes in range(4, 11):
        now = NOON + minutes * MINUTE
        is_gone = goes is not None and minutes >= goes
        assert await numbers(store, here, now=now) == ([] if is_gone else [1])
        await store.transaction(lambda repos, now=now: repos.forgetting.expire(now))
        assert await rows(store, "SELECT count(*) FROM predictions") == [(0 if is_gone else 1,)]
