"""The inbox: nothing lost, nothing twice, one turn at a time for a conversation, and whoever waited longest first."""

from datetime import timedelta

from store import Claim, ConversationId, Store
from tests import arrivals
from tests.conftest import NOON

LATER = NOON + timedelta(minutes=5)


async def arrive(store: Store, chat: str, sent_at: int, words: bytes = b"hello", **changes: object) -> int | None:
    return await arrivals.arrive(store, chat, sent_at, words, **({"author": chat} | changes))


async def claim(store: Store, *busy: ConversationId) -> Claim | None:
    return await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=LATER, busy=busy))


async def claimed(store: Store, *busy: ConversationId) -> Claim:
    found = await claim(store, *busy)
    assert found is not None
    return found


async def test_a_redelivery_changes_nothing(store: Store) -> None:
    """The same (account, author, device, timestamp, kind) is kept once, whatever it carries the second time."""
    assert await arrive(store, "direct:a", 1) is not None
    assert await arrive(store, "direct:a", 1, b"other words") is None
    found = await claimed(store)
    assert [item.envelope for item in found.items] == [b"hello"]
    await store.transaction(lambda repos: repos.inbox.done(found.turn))
    assert await arrive(store, "direct:a", 1) is None
    assert await claim(store) is None
    assert await arrive(store, "direct:a", 2)
    for part in ({"device": 2}, {"kind": "edit"}, {"author": "direct:b"}, {"account": "+15550000001"}):
        assert await arrive(store, "direct:a", 1, b"hello", **part)


async def test_messages_of_one_person_are_taken_by_themselves(store: Store) -> None:
    """A claim ends before the first message of another author."""
    for sent_at, author in enumerate(("a", "a", "b", "a"), 1):
        await arrive(store, "group:g", sent_at, author=f"direct:{author}")
    counts: list[int] = []
    while (
        found := await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=LATER, busy=()))
    ) is not None:
        counts.append(len(found.items))
        await store.transaction(lambda repos, turn=found.turn: repos.inbox.done(turn))
    assert counts == [2, 1, 1]


async def test_messages_that_wait_together_are_taken_together_in_order(store: Store) -> None:
    """A burst of a conversation becomes one turn, in the order of arrival, not of the senders' clocks."""
    for sent_at in (5, 3, 4):
        await arrive(store, "direct:a", sent_at, b"%d" % sent_at)
    found = await claimed(store)
    assert [item.envelope for item in found.items] == [b"5", b"3", b"4"]
    assert await claim(store) is None


async def test_what_comes_during_a_turn_is_the_next_turn(store: Store) -> None:
    """A message that comes while its conversation is busy waits for the turn to end."""
    await arrive(store, "direct:a", 1, b"first")
    first = await claimed(store)
    await arrive(store, "direct:a", 2, b"second")
    assert await claim(store, first.conversation) is None
    await store.transaction(lambda repos: repos.inbox.done(first.turn))
    second = await claimed(store)
    assert [item.envelope for item in second.items] == [b"second"]
    assert second.turn != first.turn


async def test_a_claim_left_behind_is_taken_up_with_the_same_messages(store: Store) -> None:
    """Once its deadline has passed: the turn has its id and messages again, later ones wait, and its journal fits."""
    await arrive(store, "direct:a", 1, b"first")
    before = await claimed(store)
    await arrive(store, "direct:a", 2, b"second")
    for now, count in ((LATER, 0), (LATER + timedelta(seconds=1), 1)):
        assert await store.transaction(lambda repos, now=now: repos.inbox.requeue(now=now)) == count
    again = await claimed(store)
    assert (again.turn, again.attempt) == (before.turn, 2)
    assert [item.envelope for item in again.items] == [b"first"]
    await store.transaction(lambda repos: repos.inbox.done(again.turn))
    assert [item.envelope for item in (await claimed(store)).items] == [b"second"]


async def test_a_claim_handed_back_on_purpose_does_not_count_as_a_try(store: Store) -> None:
    """A shutdown is nobody's failure; a failed try counts."""
    await arrive(store, "direct:a", 1)
    first = await claimed(store)
    await store.transaction(lambda repos: repos.inbox.hand_back(first.turn, counts=False))
    assert (await claimed(store)).attempt == 1
    await store.transaction(lambda repos: repos.inbox.hand_back(first.turn, counts=True))
    assert (await claimed(store)).attempt == 2


async def test_a_long_queue_starves_nobody(store: Store) -> None:
    """The conversation that was served longest ago comes first, however long another's queue is."""
    for sent_at in range(30):
        await arrive(store, "direct:talker", sent_at)
    await arrive(store, "direct:quiet", 1, b"quiet")
    talker = await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=LATER, busy=(), limit=10))
    assert talker is not None
    assert len(talker.items) == 10
    await store.transaction(lambda repos: repos.inbox.done(talker.turn))
    assert [item.envelope for item in (await claimed(store)).items] == [b"quiet"]


async def test_settled_messages_keep_no_words(store: Store) -> None:
    """What is answered or dead is erased from the inbox; its name stays until it is pruned."""
    await arrive(store, "direct:a", 1)
    await arrive(store, "direct:b", 1)
    done, dead = await claimed(store), await claimed(store)
    await store.transaction(lambda repos: repos.inbox.done(done.turn))
    await store.transaction(lambda repos: repos.inbox.done(dead.turn, dead=True))
    rows = await store.read(lambda repos: repos.inbox.rows("SELECT state, envelope FROM inbox ORDER BY id"))
    assert rows == [("done", None), ("dead", None)]
    backlog = await store.read(lambda repos: repos.inbox.backlog())
    assert (backlog.items, backlog.oldest_at, backlog.dead) == (0, None, 1)
    assert await store.transaction(lambda repos: repos.inbox.prune(before=LATER)) == 2


async def test_realms_do_not_take_each_others_messages(store: Store) -> None:
    """A chat in the terminal never answers what waits for Signal, even in a conversation of the same name."""
    await arrive(store, "direct:a", 1)
    repository = await store.read(lambda repos: repos.inbox)
    assert repository.realm == "signal"
    repository.realm = "terminal"
    assert await claim(store) is None
    assert (await store.read(lambda repos: repos.inbox.backlog())).items == 0
    repository.realm = "signal"
    assert await claim(store) is not None


async def test_a_damaged_message_stops_no_other(store: Store) -> None:
    """It is dead and counted; the rest of its conversation and all others are taken as ever."""
    await arrive(store, "direct:a", 1, b"damaged")
    await arrive(store, "direct:b", 1, b"damaged")
    await arrive(store, "direct:b", 2, b"whole")
    await store.transaction(
        lambda repos: repos.inbox.execute("UPDATE inbox SET envelope = zeroblob(60) WHERE sent_at = 1")
    )
    found = await claimed(store)
    assert [item.envelope for item in found.items] == [b"whole"]
    assert await claim(store) is None
    assert (await store.read(lambda repos: repos.inbox.backlog())).dead == 2


async def test_a_death_is_no_try_and_is_counted_apart(store: Store) -> None:
    """Until the turn has come further."""
    await arrive(store, "direct:a", 1)
    claim = await claimed(store)

    async def after_death() -> tuple[int, int]:
        await store.transaction(lambda repos: repos.inbox.recover())
        again = await claimed(store)
        return again.attempt, again.deaths

    assert [await after_death() for _ in range(3)] == [(1, 1), (1, 2), (1, 3)]
    await store.transaction(lambda repos: repos.journal.add(claim.conversation, claim.turn, 0, b"it came further"))
    assert [await after_death() for _ in range(3)] == [(1, 0), (1, 1), (1, 2)]


async def test_a_death_is_a_try_for_the_urgent_item_that_was_carried_out(store: Store) -> None:
    """A command that kills every process is given up like any other that fails."""
    await arrive(store, "direct:a", 1, urgent=True)
    for attempts in (1, 2, 3):
        [urgent_item] = await store.read(lambda repos: repos.inbox.urgent_items())
        assert urgent_item.attempts == attempts
        await store.transaction(lambda repos: repos.inbox.recover())


async def test_a_command_that_becomes_a_question_disappears_with_the_former_one(store: Store) -> None:
    """As `/retry` does, whose own words stay."""
    await arrive(store, "direct:a", 1, urgent=True)
    [item] = await store.read(lambda repos: repos.inbox.urgent_items())
    await store.transaction(lambda repos: repos.inbox.as_question(item.id, None, expires_at=LATER))
    assert (await claimed(store)).expires_at == LATER
