"""The repository of predictions: numbered in their conversation, sealed, gone with the first of their messages."""

from collections.abc import Callable
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


async def test_words_and_outcome_are_sealed(store: Store) -> None:
    """Neither can be read in the file, and neither opens in another's place."""
    here, turn = await begun(store)

    def tell(repos: Repositories) -> None:
        for number, origin in enumerate("ab", 1):
            put(repos, here, turn, origin)
            repos.predictions.settle(here, "alice", number, b"came true", turn=turn, now=NOON)

    await store.transaction(tell)
    sealed = await rows(store, "SELECT words, outcome FROM predictions")
    assert not [one for row in sealed for one in row if b"words" in bytes(one) or b"true" in bytes(one)]  # pyright: ignore[reportArgumentType]  (sealed columns are bytes)
    await store.transaction(
        lambda repos: repos.predictions.execute(
            "UPDATE predictions SET outcome = (SELECT outcome FROM predictions WHERE origin = 'a') WHERE origin = 'b'"
        )
    )
    assert await numbers(store, here) == [1]


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


async def test_nothing_is_changed_but_ones_own_that_is_there(store: Store) -> None:
    """Not another's, not one of another conversation under the same number, none that has just disappeared."""
    here, turn = await begun(store, NOON + MINUTE)
    there, other = await begun(store, address="group:g")
    await store.transaction(lambda repos: (put(repos, here, turn, "a"), put(repos, there, other, "b")))

    def change(where: ConversationId, who: str, now: datetime) -> Callable[[Repositories], list[bool]]:
        return lambda repos: [
            repos.predictions.settle(where, who, 1, b"void", turn=turn, now=now) is not None,
            repos.predictions.strike(where, who, 1, now=now) is not None,
        ]

    assert await store.transaction(change(here, "alice", NOON + MINUTE)) == [False, False]
    assert await store.transaction(change(there, "bob", NOON)) == [False, False]
    assert await store.transaction(change(there, "alice", NOON)) == [True, True]
    assert (await numbers(store, here), await numbers(store, there)) == ([1], [])


@pytest.mark.parametrize(("due", "settled", "goes"), [(10, None, 10), (10, 2, 2), (2, 10, 10)])
async def test_age_counts_from_when_it_was_known(store: Store, due: int, settled: int | None, goes: int) -> None:
    """From its outcome where there is one, else from its day; days in all three."""
    here, turn = await begun(store)
    await store.transaction(lambda repos: put(repos, here, turn, "a", NOON + due * DAY))
    if settled is not None:
        now = NOON + settled * DAY
        await store.transaction(lambda repos: repos.predictions.settle(here, "alice", 1, b"void", turn=turn, now=now))
    assert await store.transaction(lambda repos: repos.predictions.retain(NOON + goes * DAY)) == 0
    assert await store.transaction(lambda repos: repos.predictions.retain(NOON + goes * DAY + MINUTE)) == 1
