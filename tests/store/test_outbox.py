"""The outbox: order kept in a conversation, one send under way in it, and an unknown send is proved or sent again."""

from datetime import datetime, timedelta

import pytest

from store import ConversationId, OutboxItem, Shelves, Store, TurnId
from store.shelf import millis
from tests.conftest import NOON

WINDOW = timedelta(seconds=60)
GRACE = timedelta(seconds=90)


async def conversation_at(store: Store, chat: str) -> ConversationId:
    return await store.conversation(chat, now=NOON)


async def say(store: Store, chat: str, *replies: bytes) -> None:
    """A turn of the chat ends with these replies."""
    conversation = await conversation_at(store, chat)

    def put(shelves: Shelves) -> None:
        [(turn,)] = shelves.outbox.rows(
            "INSERT INTO turns (conversation_id, state, started_at) VALUES (?, 'kept', 0) RETURNING id", (conversation,)
        )
        for position, reply in enumerate(replies):
            shelves.outbox.put(
                conversation, TurnId(turn), position, reply, in_group=chat.startswith("group:"), now=NOON
            )

    await store.transaction(put)


async def begin(store: Store, now: datetime = NOON, most: int = 16) -> list[OutboxItem]:
    return list(await store.transaction(lambda shelves: shelves.outbox.begin(now=now, most=most)))


async def states(store: Store) -> list[tuple[str, int | None]]:
    rows = await store.read(lambda shelves: shelves.outbox.rows("SELECT state, sent_at FROM outbox ORDER BY id"))
    return [(state, sent_at) for state, sent_at in rows]


async def prove(store: Store, address: str, at: datetime) -> bool:
    return await store.transaction(lambda shelves: shelves.outbox.prove(address, millis(at), window=WINDOW))


async def doubted(store: Store, chat: str) -> OutboxItem:
    """A send of the chat whose outcome nobody knows."""
    await say(store, chat, b"answer")
    [item] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.doubt(item.id, due_at=NOON + GRACE))
    return item


async def test_the_parts_of_an_answer_go_out_one_after_the_other(store: Store) -> None:
    """The second part waits until the first is sent; another conversation does not wait."""
    await say(store, "direct:a", b"one", b"two")
    await say(store, "direct:b", b"other")
    first, other = await begin(store)
    assert (first.reply, other.reply) == (b"one", b"other")
    assert await begin(store) == []
    await store.transaction(lambda shelves: shelves.outbox.sent(first.id, 17, now=NOON))
    [second] = await begin(store)
    assert second.reply == b"two"


async def test_no_more_is_begun_than_asked_for(store: Store) -> None:
    """What is not begun keeps waiting."""
    for chat in "abc":
        await say(store, f"direct:{chat}", b"answer")
    assert len(await begin(store, most=2)) == 2
    assert len(await begin(store, most=2)) == 1


async def test_what_surely_did_not_go_out_is_tried_again_in_its_time(store: Store) -> None:
    """A postponed item is not due before its time, and keeps its place in the conversation."""
    await say(store, "direct:a", b"one", b"two")
    [item] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.postpone(item.id, due_at=NOON + GRACE))
    assert await begin(store) == []
    assert await store.read(lambda shelves: shelves.outbox.next_due_at()) == NOON + GRACE
    [again] = await begin(store, NOON + GRACE)
    assert (again.id, again.attempts, again.was_unknown) == (item.id, 1, False)


async def test_an_unknown_send_is_repeated_only_after_the_grace_period(store: Store) -> None:
    """Nothing proved it: it is sent again, and known to be a repetition."""
    item = await doubted(store, "direct:a")
    assert await begin(store, NOON + GRACE - timedelta(seconds=1)) == []
    [again] = await begin(store, NOON + GRACE)
    assert (again.id, again.was_unknown) == (item.id, True)


async def test_a_receipt_for_a_timestamp_that_nobody_knows_proves_an_unknown_send(store: Store) -> None:
    """The phone that received it names its timestamp: it is sent, and never repeated."""
    await doubted(store, "direct:a")
    assert await prove(store, "direct:a", NOON + timedelta(seconds=1))
    assert await states(store) == [("sent", millis(NOON + timedelta(seconds=1)))]
    assert await begin(store, NOON + GRACE) == []


async def test_a_receipt_proves_a_send_that_is_still_under_way(store: Store) -> None:
    """The receipt may overtake the bridge's answer; a late doubt changes nothing any more."""
    await say(store, "direct:a", b"answer")
    [item] = await begin(store)
    assert await prove(store, "direct:a", NOON + timedelta(seconds=1))
    await store.transaction(lambda shelves: shelves.outbox.doubt(item.id, due_at=NOON + GRACE))
    assert [state for state, _ in await states(store)] == ["sent"]


@pytest.mark.parametrize(
    ("address", "seconds"),
    [("direct:b", 1), ("direct:a", 61), ("direct:a", -6)],
    ids=["of somebody else", "after the window", "before the attempt"],
)
async def test_a_receipt_that_does_not_fit_proves_nothing(store: Store, address: str, seconds: int) -> None:
    """Only the recipient's receipt within the window of the attempt counts."""
    await doubted(store, "direct:a")
    await conversation_at(store, "direct:b")
    assert not await prove(store, address, NOON + timedelta(seconds=seconds))
    assert [state for state, _ in await states(store)] == ["unknown"]


async def test_a_receipt_for_a_known_message_proves_nothing_else(store: Store) -> None:
    """The receipt of an earlier message of ours is not taken for the unknown one's."""
    await say(store, "direct:a", b"one", b"two")
    [one] = await begin(store)
    known = NOON + timedelta(seconds=1)
    await store.transaction(lambda shelves: shelves.outbox.sent(one.id, millis(known), now=NOON))
    [two] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.doubt(two.id, due_at=NOON + GRACE))
    assert not await prove(store, "direct:a", known)
    assert [state for state, _ in await states(store)] == ["sent", "unknown"]


async def test_a_members_receipt_proves_the_send_to_the_only_group_in_doubt(store: Store) -> None:
    """A receipt names no group: it counts for a group's send when there is but one that it can mean."""
    await doubted(store, "group:G")
    assert await prove(store, "direct:member", NOON + timedelta(seconds=1))
    await doubted(store, "group:G")
    await doubted(store, "group:H")
    assert not await prove(store, "direct:member", NOON + timedelta(seconds=2))


async def test_a_receipt_that_can_mean_two_sends_proves_none(store: Store) -> None:
    """A group's message and a direct one are both in doubt: neither is taken for sent, for the other may be meant."""
    await doubted(store, "group:G")
    await doubted(store, "direct:a")
    assert not await prove(store, "direct:a", NOON + timedelta(seconds=1))
    assert [state for state, _ in await states(store)] == ["unknown", "unknown"]
    # A stranger to the direct chat can mean the group's alone; then the first receipt can mean but one as well.
    assert await prove(store, "direct:b", NOON + timedelta(seconds=2))
    assert [state for state, _ in await states(store)] == ["sent", "sent"]


async def test_a_receipt_of_a_send_whose_answer_is_still_to_come_proves_no_other(store: Store) -> None:
    """The group's message goes out while the direct one is in doubt; when its time is known its receipt is spent."""
    await doubted(store, "direct:a")
    await say(store, "group:G", b"to all")
    [to_all] = [item for item in await begin(store) if item.reply == b"to all"]
    at = NOON + timedelta(seconds=1)
    assert not await prove(store, "direct:a", at)
    await store.transaction(lambda shelves: shelves.outbox.sent(to_all.id, millis(at), now=NOON))
    assert sorted(state for state, _ in await states(store)) == ["sent", "unknown"]


async def test_the_receipt_of_the_first_of_two_attempts_proves_no_other(store: Store) -> None:
    """It was repeated after the grace period, and its first attempt is confirmed at last, late."""
    await doubted(store, "direct:a")
    [again] = await begin(store, NOON + GRACE)
    second = NOON + GRACE + timedelta(seconds=1)
    await store.transaction(lambda shelves: shelves.outbox.sent(again.id, millis(second), now=second))
    await say(store, "direct:a", b"next")
    [_, *_] = await begin(store, NOON + GRACE)
    assert not await prove(store, "direct:a", second)
    assert await prove(store, "direct:a", NOON + timedelta(seconds=1))
    assert [state for state, _ in await states(store)] == ["sent", "sending"]


async def test_a_refused_send_leaves_no_doubt_behind(store: Store) -> None:
    """What Signal will never take did not go out: a receipt cannot mean it, and proves the one that is in doubt."""
    await say(store, "direct:a", b"refused", b"answer")
    [refused] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.give_up(refused.id, now=NOON))
    [item] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.doubt(item.id, due_at=NOON + GRACE))
    assert await prove(store, "direct:a", NOON + timedelta(seconds=1))


async def test_a_send_that_was_given_up_may_be_what_a_receipt_means(store: Store) -> None:
    """Nobody knows whether it went out, so the receipt proves no other: better one answer twice than one lost."""
    await say(store, "direct:a", b"given up", b"answer")
    [first] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.give_up(first.id, now=NOON, may_be_out=True))
    [item] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.doubt(item.id, due_at=NOON + GRACE))
    assert not await prove(store, "direct:a", NOON + timedelta(seconds=1))


async def test_after_a_crash_every_send_under_way_is_unknown(store: Store) -> None:
    """What was being sent when the process died is neither taken for sent nor repeated at once."""
    await say(store, "direct:a", b"answer")
    await begin(store)
    assert await store.transaction(lambda shelves: shelves.outbox.doubt_all(now=NOON, grace=GRACE)) == 1
    assert await begin(store, NOON) == []
    assert len(await begin(store, NOON + GRACE)) == 1


async def started(store: Store, now: datetime) -> None:
    """A process begins to listen."""
    await store.transaction(lambda shelves: shelves.outbox.doubt_all(now=now, grace=GRACE))


async def test_the_time_in_which_nobody_listened_does_not_count(store: Store) -> None:
    """A receipt may have waited with Signal's server while Aldis was down, longer than the grace period."""
    await doubted(store, "direct:a")
    start = NOON + 10 * GRACE
    await started(store, start)
    assert await begin(store, start + GRACE / 2) == []
    assert len(await begin(store, start + GRACE)) == 1


async def test_the_time_that_earlier_lives_listened_counts(store: Store) -> None:
    """Lives that are shorter than the grace period come to an end with a send in doubt all the same."""
    await doubted(store, "direct:a")
    lives = (NOON + number * 100 * GRACE for number in range(1, 6))
    begun: list[int] = []
    for start in lives:
        await started(store, start)
        begun += [len(await begin(store, start + part * GRACE)) for part in (0.1, 0.2, 0.3)]
    assert begun == [0] * 9 + [1] + [0] * 5


async def test_a_clock_that_was_set_back_lengthens_no_wait(store: Store) -> None:
    """Nor does a wait grow beyond the grace period, however long nobody listened."""
    await doubted(store, "direct:a")
    await started(store, NOON - 10 * GRACE)
    assert len(await begin(store, NOON - 9 * GRACE)) == 1


async def test_settled_replies_keep_no_words_and_are_pruned(store: Store) -> None:
    """What was sent or given up is erased from the outbox."""
    await say(store, "direct:a", b"one", b"two")
    [one] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.sent(one.id, 17, now=NOON))
    [two] = await begin(store)
    await store.transaction(lambda shelves: shelves.outbox.give_up(two.id, now=NOON))
    rows = await store.read(lambda shelves: shelves.outbox.rows("SELECT state, reply FROM outbox ORDER BY id"))
    assert rows == [("sent", None), ("dead", None)]
    backlog = await store.read(lambda shelves: shelves.outbox.backlog())
    assert (backlog.items, backlog.oldest_at, backlog.dead) == (0, None, 1)
    assert await store.transaction(lambda shelves: shelves.outbox.prune(before=NOON + GRACE)) == 2


async def test_the_other_realm_sends_nothing_of_this_one(store: Store) -> None:
    """A chat in the terminal never prints what is to go out in Signal."""
    await say(store, "direct:a", b"answer")
    shelf = await store.read(lambda shelves: shelves.outbox)
    shelf.realm = "terminal"
    assert await begin(store) == []
    assert await store.read(lambda shelves: shelves.outbox.next_due_at()) is None
    assert await store.transaction(lambda shelves: shelves.outbox.doubt_all(now=NOON, grace=GRACE)) == 0


async def test_a_damaged_reply_stops_no_other(store: Store) -> None:
    """It is dead and counted; the next part and other conversations go out."""
    await say(store, "direct:a", b"damaged", b"second")
    await say(store, "direct:b", b"other")
    await store.transaction(
        lambda shelves: shelves.outbox.execute("UPDATE outbox SET reply = zeroblob(60) WHERE position = 0 AND id = 1")
    )
    assert [item.reply for item in await begin(store)] == [b"other"]
    assert [item.reply for item in await begin(store)] == [b"second"]
    assert [state for state, _ in await states(store)] == ["dead", "sending", "sending"]


async def test_what_is_blocked_is_not_due(store: Store) -> None:
    """While the first part is being sent, the second is no reason to look again."""
    await say(store, "direct:a", b"one", b"two")
    [one] = await begin(store)
    assert await store.read(lambda shelves: shelves.outbox.next_due_at()) is None
    await store.transaction(lambda shelves: shelves.outbox.doubt(one.id, due_at=NOON + GRACE))
    assert await store.read(lambda shelves: shelves.outbox.next_due_at()) == NOON + GRACE


async def test_a_status_in_doubt_that_is_taken_back_is_settled(store: Store) -> None:
    """Its row is pruned like any other."""
    conversation = await conversation_at(store, "direct:a")

    def status(shelves: Shelves) -> TurnId:
        turn = shelves.inbox.begin_turn(conversation, now=NOON)
        shelves.outbox.put_status(conversation, turn, b"Thinking", in_group=False, now=NOON, most_edits=8)
        return turn

    turn = await store.transaction(status)
    [item] = await begin(store)
    later = NOON + timedelta(days=1)
    await store.transaction(lambda shelves: shelves.outbox.doubt(item.id, due_at=NOON))
    assert await store.transaction(lambda shelves: shelves.outbox.take_status_back(turn)) is None
    assert await store.transaction(lambda shelves: shelves.outbox.prune(before=later)) == 1
