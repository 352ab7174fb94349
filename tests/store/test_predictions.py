"""The repository of predictions: each goes with the first of its messages that does."""

from datetime import datetime, timedelta

from store import ConversationId, Repositories, Store
from tests.conftest import NOON
from tests.store.lives import rows


def after(minutes: int | None) -> datetime | None:
    return None if minutes is None else NOON + timedelta(minutes=minutes)


async def test_it_goes_with_the_first_message_that_does(store: Store) -> None:
    """Of the one that made it and the one that said what came of it."""
    for made, told, goes in ((None, None, None), (5, None, 5), (None, 5, 5), (5, 9, 5), (9, 5, 5)):
        here = await store.conversation(f"direct:{made}-{told}", now=NOON)
        ends = after(made), after(told)

        def live(repos: Repositories, here: ConversationId = here, ends: tuple[datetime | None, ...] = ends) -> None:
            first, later = (repos.turns.begin(here, now=NOON, expires_at=end) for end in ends)
            repos.predictions.put(here, "alice", f"call {here}", b"words", due_at=NOON, turn=first)
            repos.predictions.settle(here, "alice", 1, b"void", turn=later, now=NOON)

        await store.transaction(live)
        for minutes in range(4, 11):
            now, left = NOON + timedelta(minutes=minutes), int(goes is None or minutes < goes)
            shown = await store.read(lambda repos, here=here, now=now: repos.predictions.all(here, "alice", now=now))
            assert len(shown) == left
            await store.transaction(lambda repos, now=now: repos.forgetting.expire(now))
            assert await rows(store, "SELECT count(*) FROM predictions WHERE conversation_id = ?", here) == [(left,)]
