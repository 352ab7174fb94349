"""The outbox: order kept in a conversation, one send under way in it, and an unknown send is proved or sent again."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from store import OutboxId, Repositories, Store
from store.repository import millis
from tests.conftest import NOON
from tests.store.sends import GRACE, begin, conversation_at, doubted, listed, prove, say, states


async def receipts(store: Store) -> int:
    """How many receipts are kept."""
    [(count,)] = await store.read(lambda repos: repos.outbox.rows("SELECT count(*) FROM receipts"))
    return count


def at(seconds: float) -> datetime:
    """So many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


async def test_the_parts_of_an_answer_go_out_one_after_the_other(store: Store) -> None:
    """The second part waits until the first is sent; another conversation does not wait."""
    await say(store, "direct:a", b"one", b"two")
    await say(store, "direct:b", b"other")
    first, other = await begin(store)
    assert (first.reply, other.reply) == (b"one", b"other")
    assert await begin(store) == []
    await store.transaction(lambda repos: repos.outbox.mark_sent(first.id, 17, now=NOON))
    [second] = await begin(store)
    assert second.reply == b"two"


async def test_what_surely_did_not_go_out_is_tried_again_in_its_time(store: Store) -> None:
    """A postponed item is not due before its time, and keeps its place in the conversation."""
    await say(store, "direct:a", b"one", b"two")
    [item] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.postpone(item.id, due_at=NOON + GRACE, now=NOON))
    assert await begin(store) == []
    assert await store.read(lambda repos: repos.outbox.next_due_at()) == NOON + GRACE
    [again] = await begin(store, NOON + GRACE)
    assert (again.id, again.attempts, again.was_unknown) == (item.id, 1, False)


@pytest.mark.parametrize(
    ("address", "seconds", "now", "proves"),
    [
        ("direct:a", 1, 1, 1),
        ("direct:a", 9000, 9000, 1),
        ("direct:b", 1, 1, 0),
        ("direct:a", -6, 1, 0),
        ("direct:a", 120, 1, 0),
    ],
    ids=["its receipt", "that of a slow bridge", "of somebody else", "before the attempt", "in the future"],
)
async def test_an_unknown_send_is_proved_by_its_receipt_or_repeated_after_the_grace_period(
    store: Store, address: str, seconds: int, now: int, proves: int
) -> None:
    """Only the recipient's receipt for what may have gone out by now counts; proved, it is never repeated."""
    item = await doubted(store, "direct:a")
    await conversation_at(store, "direct:b")
    assert await begin(store, NOON + GRACE - timedelta(seconds=1)) == []
    assert await prove(store, address, at(seconds), now=at(now)) == proves
    assert await states(store) == ([("sent", millis(at(seconds)))] if proves else [("unknown", None)])
    assert await receipts(store) == 0
    repeated = [] if proves else [(item.id, True)]
    assert [(again.id, again.was_unknown) for again in await begin(store, NOON + GRACE)] == repeated


async def test_a_receipt_proves_a_send_that_is_still_under_way(store: Store) -> None:
    """The receipt may overtake the bridge's answer; a late doubt changes nothing any more."""
    await say(store, "direct:a", b"answer")
    [item] = await begin(store)
    assert await prove(store, "direct:a", NOON + timedelta(seconds=1))
    await store.transaction(lambda repos: repos.outbox.mark_unknown(item.id, due_at=NOON + GRACE))
    assert [state for state, _ in await states(store)] == ["sent"]


async def test_a_members_receipt_proves_the_send_to_their_group(store: Store) -> None:
    """A receipt names no group: it counts for one whose author is in no other that is in doubt."""
    await doubted(store, "group:G")
    await doubted(store, "group:H")
    await listed(store, "group:G", "direct:a", "direct:both")
    await listed(store, "group:H", "direct:b", "direct:both")
    assert await prove(store, "direct:b", at(1)) == 1
    assert await states(store) == [("unknown", None), ("sent", millis(at(1)))]
    assert await prove(store, "direct:a", at(2)) == 1


async def test_a_receipt_of_somebody_in_both_groups_waits_for_others(store: Store) -> None:
    """Whoever confirms the same message tells which group it was in, and what is left is the other."""
    await doubted(store, "group:G")
    await doubted(store, "group:H")
    await listed(store, "group:G", "direct:a", "direct:both")
    await listed(store, "group:H", "direct:b", "direct:both")
    assert not await prove(store, "direct:both", at(1))
    assert await prove(store, "direct:a", at(1)) == 1
    assert await states(store) == [("sent", millis(at(1))), ("unknown", None)]
    assert await prove(store, "direct:both", at(2)) == 1


async def test_a_receipt_cannot_mean_what_was_sent_after_it_had_come(store: Store) -> None:
    """The clock of the bridge may be behind ours, so a name may be older than its send; a receipt never is.

    Alice's names an answer to her or one to her first group. When the bridge has answered for the group it is hers,
    whatever was sent to her second group meanwhile.
    """
    await say(store, "direct:alice", b"answer")
    await say(store, "group:one", b"answer")
    [_, ones] = await begin(store)
    for group in ("group:one", "group:two"):
        await conversation_at(store, group)
        await listed(store, group, "direct:alice", "direct:bob")
    assert await prove(store, "direct:alice", at(0.01), now=at(0.05)) == 0
    await say(store, "group:two", b"answer")
    await begin(store, at(0.5))
    await store.transaction(lambda repos: repos.outbox.mark_sent(ones.id, millis(at(0.02)), now=at(0.6)))
    assert await states(store) == [("sent", millis(at(0.01))), ("sent", millis(at(0.02))), ("sending", None)]


async def test_a_name_that_comes_again_proves_nothing(store: Store) -> None:
    """What was in doubt when the clock was set back may have been named by either time: here its receipts come late."""
    back = timedelta(hours=1)
    first = await doubted(store, "group:g")
    await listed(store, "group:g", "direct:a")
    await store.transaction(lambda repos: repos.outbox.put_off_all(-back, now=at(1)))
    await doubted(store, "direct:a", NOON - back)
    assert await prove(store, "direct:a", at(0.2) - back) == 0
    assert [item.id for item in await begin(store, NOON + GRACE - back)][:1] == [first.id]
    await store.transaction(lambda repos: repos.outbox.mark_sent(first.id, millis(at(90) - back), now=at(91) - back))
    assert await prove(store, "direct:a", at(0.1), now=at(1)) == 0
    assert (await states(store))[0][0] == "sent"


async def test_a_reaction_is_remembered_as_long_as_its_receipt_can_be_mistaken(store: Store) -> None:
    """A reaction and a first attempt that was repeated: their two names are theirs, and prove nothing else in doubt."""

    def react(address: str, now: datetime) -> Callable[[Repositories], int | None]:
        return lambda repos: repos.attempts.begin_reaction(address, in_group=False, now=now)

    reaction = await store.transaction(react("direct:a", at(0)))
    assert reaction is not None
    await say(store, "direct:a", b"answer")
    [repeated] = await begin(store, at(0.05))
    await store.transaction(lambda repos: repos.outbox.mark_unknown(repeated.id, due_at=NOON + GRACE))
    await say(store, "group:g", b"another")
    [doubtful] = await begin(store, at(2))
    await store.transaction(lambda repos: repos.outbox.mark_unknown(doubtful.id, due_at=NOON + 2 * GRACE))
    await store.transaction(lambda repos: repos.attempts.end_reaction(reaction, None, now=at(0.2)))
    await listed(store, "group:g", "direct:a")
    await begin(store, at(90))
    await store.transaction(lambda repos: repos.outbox.mark_sent(repeated.id, millis(at(90.1)), now=at(90.2)))
    assert await store.transaction(react("direct:b", at(100))) is not None  # what is over is cleared away with each
    assert await prove(store, "direct:a", at(0.1), at(1.5), now=at(101)) == 0
    assert await states(store) == [("sent", millis(at(90.1))), ("unknown", None)]


async def test_a_strangers_receipt_proves_nothing_and_is_not_kept(store: Store) -> None:
    """Who is in no group of which somebody is in doubt, and has no chat in doubt, can have received nothing."""
    await doubted(store, "group:G")
    await listed(store, "group:G", "direct:a")
    assert not await prove(store, "direct:mallory", at(1))
    assert await receipts(store) == 0


async def test_until_the_bridge_tells_who_is_in_a_group_its_send_is_proved_by_nobody_unknown(store: Store) -> None:
    """The receipt of whoever may be a stranger is kept, hides other sends, and counts when it is known who it is."""
    await doubted(store, "group:G")
    await doubted(store, "direct:a")
    assert not await prove(store, "direct:b", at(1))
    assert not await prove(store, "direct:a", at(2))
    await listed(store, "group:G", "direct:b", now=at(3))
    assert await states(store) == [("sent", millis(at(1))), ("sent", millis(at(2)))]


async def test_who_left_a_group_may_have_received_what_went_out_before(store: Store) -> None:
    """Their receipt is not taken for one of their direct chat; of what went out later it is."""
    await conversation_at(store, "group:G")
    await listed(store, "group:G", "direct:a", "direct:b", now=NOON - GRACE)
    await doubted(store, "group:G")
    await doubted(store, "direct:b")
    await listed(store, "group:G", "direct:a", now=at(5))
    assert not await prove(store, "direct:b", at(6))
    assert await prove(store, "direct:a", at(7)) == 2


async def test_receipts_that_prove_nothing_are_bounded(store: Store) -> None:
    """However many one person sends, those of others are kept."""
    await doubted(store, "group:G")
    await doubted(store, "group:H")
    await prove(store, "direct:known", at(1))
    await prove(store, "direct:stranger", *(at(1 + number / 100) for number in range(100)))
    await prove(store, "direct:stranger", *(at(3 + number / 100) for number in range(100)))
    assert await receipts(store) == 33
    await listed(store, "group:G", "direct:known", now=at(9))
    await listed(store, "group:H", "direct:other", now=at(9))
    assert await states(store) == [("sent", millis(at(1))), ("unknown", None)]
    assert await receipts(store) == 0  # it is known now that the stranger received nothing


async def test_a_receipt_of_a_send_whose_answer_is_still_to_come_proves_no_other(store: Store) -> None:
    """The group's message goes out while the direct one is in doubt; when its time is known its receipt is spent."""
    await doubted(store, "direct:a")
    await say(store, "group:G", b"to all")
    [to_all] = [item for item in await begin(store) if item.reply == b"to all"]
    assert not await prove(store, "direct:a", at(1))
    await store.transaction(lambda repos: repos.outbox.mark_sent(to_all.id, millis(at(1)), now=at(2)))
    assert sorted(state for state, _ in await states(store)) == ["sent", "unknown"]


async def test_the_receipt_of_the_first_of_two_attempts_proves_no_other(store: Store) -> None:
    """It was repeated after the grace period, and its first attempt is confirmed at last, late."""
    await doubted(store, "direct:a")
    [again] = await begin(store, NOON + GRACE)
    second = NOON + GRACE + timedelta(seconds=1)
    await store.transaction(lambda repos: repos.outbox.mark_sent(again.id, millis(second), now=second))
    await say(store, "direct:a", b"next")
    [_, *_] = await begin(store, second)
    assert not await prove(store, "direct:a", second)
    assert not await prove(store, "direct:a", at(1))
    assert [state for state, _ in await states(store)] == ["sent", "sending"]
    third = second + timedelta(seconds=1)
    assert await prove(store, "direct:a", third) == 1


async def test_a_repetition_under_way_may_still_get_a_name_when_the_first_is_proved(store: Store) -> None:
    """Its receipt, which comes later, is not taken for that of the next answer, which is in doubt."""
    await doubted(store, "direct:a")
    await begin(store, NOON + GRACE)
    assert await prove(store, "direct:a", at(1), now=at(91)) == 1
    await say(store, "direct:a", b"next")
    [item] = await begin(store, at(92))
    await store.transaction(lambda repos: repos.outbox.mark_unknown(item.id, due_at=NOON + 3 * GRACE))
    assert await prove(store, "direct:a", at(91.5), now=at(93)) == 0


async def test_an_attempt_without_a_name_is_over_when_the_bridge_has_named_the_next(store: Store) -> None:
    """The repetition is proved and named; the first attempt hides nothing that is in doubt later."""
    await doubted(store, "direct:a")
    [again] = await begin(store, NOON + GRACE)
    assert await prove(store, "direct:a", at(91), now=at(92)) == 1
    await store.transaction(lambda repos: repos.outbox.mark_sent(again.id, millis(at(91)), now=at(93)))
    await say(store, "direct:a", b"next")
    [item] = await begin(store, at(1000))
    await store.transaction(lambda repos: repos.outbox.mark_unknown(item.id, due_at=at(2000)))
    assert await prove(store, "direct:a", at(1001)) == 1


async def test_a_name_that_any_of_several_attempts_can_have_is_that_of_the_last(store: Store) -> None:
    """The first one keeps its own, which is not taken for that of something else in doubt."""
    await conversation_at(store, "group:G")
    await listed(store, "group:G", "direct:a", "direct:b")
    await doubted(store, "group:G")
    await doubted(store, "direct:a")
    assert len(await begin(store, NOON + GRACE)) == 2
    assert await prove(store, "direct:b", at(91), now=at(92)) == 1
    assert await prove(store, "direct:a", at(1), now=at(93)) == 0


async def test_what_is_known_of_others_leaves_no_doubt_behind(store: Store) -> None:
    """A receipt can mean neither what was refused nor what is sent by name: it proves the one that is in doubt."""
    await say(store, "direct:a", b"refused", b"sent", b"answer")
    [refused] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.give_up(refused.id, now=NOON))
    [sent] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.mark_sent(sent.id, millis(at(1)), now=NOON))
    [item] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.mark_unknown(item.id, due_at=NOON + GRACE))
    assert not await prove(store, "direct:a", at(1))
    assert await prove(store, "direct:a", at(2))


async def test_a_send_that_is_given_up_waits_for_its_receipt_once_more(store: Store) -> None:
    """Nobody knows whether it went out, so the next one waits as long as for any other: no receipt can mean both."""
    await say(store, "direct:a", b"given up", b"answer")
    [first] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.give_up(first.id, now=NOON, doubted_until=NOON + GRACE))
    assert await begin(store, NOON + GRACE / 2) == []
    [item] = await begin(store, NOON + GRACE)
    assert item.reply == b"answer"
    assert [state for state, _ in await states(store)] == ["dead", "sending"]
    assert await prove(store, "direct:a", NOON + 2 * GRACE) == 1


async def started(store: Store, now: datetime) -> None:
    """A process begins to listen."""
    await store.transaction(lambda repos: repos.outbox.mark_all_unknown(now=now, grace=GRACE))


async def test_the_time_in_which_nobody_listened_does_not_count(store: Store) -> None:
    """A receipt may have waited with Signal's server while Aldis was down, longer than the grace period: what was in
    doubt, or being sent when the process died, is not repeated at once.
    """
    await doubted(store, "direct:a")
    await say(store, "direct:b", b"answer")
    await begin(store)
    start = NOON + 10 * GRACE
    await started(store, start)
    assert [state for state, _ in await states(store)] == ["unknown", "unknown"]
    assert await begin(store, start + GRACE / 2) == []
    assert len(await begin(store, start + GRACE)) == 2


async def test_the_time_that_earlier_lives_listened_counts(store: Store) -> None:
    """Lives that are shorter than the grace period come to an end with a send in doubt all the same."""
    await doubted(store, "direct:a")
    lives = (NOON + number * 100 * GRACE for number in range(1, 6))
    begun: list[int] = []
    for start in lives:
        await started(store, start)
        begun += [len(await begin(store, start + part * GRACE)) for part in (0.1, 0.2, 0.3)]
    assert begun == [0] * 9 + [1] + [0] * 5


async def test_settled_replies_keep_no_words_and_are_pruned(store: Store) -> None:
    """What was sent or given up is erased from the outbox."""
    await say(store, "direct:a", b"one", b"two")
    [one] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.mark_sent(one.id, 17, now=NOON))
    [two] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.give_up(two.id, now=NOON))
    rows = await store.read(lambda repos: repos.outbox.rows("SELECT state, reply FROM outbox ORDER BY id"))
    assert rows == [("sent", None), ("dead", None)]
    backlog = await store.read(lambda repos: repos.outbox.backlog())
    assert (backlog.items, backlog.oldest_at, backlog.dead) == (0, None, 1)
    assert await store.transaction(lambda repos: repos.outbox.prune(before=NOON + GRACE)) == 2


async def test_the_other_realm_sends_nothing_of_this_one(store: Store) -> None:
    """A chat in the terminal never prints what is to go out in Signal."""
    await say(store, "direct:a", b"answer")
    repository = await store.read(lambda repos: repos.outbox)
    repository.realm = "terminal"
    assert await begin(store) == []
    assert await store.read(lambda repos: repos.outbox.next_due_at()) is None
    assert await store.transaction(lambda repos: repos.outbox.mark_all_unknown(now=NOON, grace=GRACE)) == 0


async def test_a_damaged_reply_stops_no_other(store: Store) -> None:
    """It is dead and counted; the next part and other conversations go out."""
    await say(store, "direct:a", b"damaged", b"second")
    await say(store, "direct:b", b"other")
    await store.transaction(
        lambda repos: repos.outbox.execute("UPDATE outbox SET reply = zeroblob(60) WHERE position = 0 AND id = 1")
    )
    assert [item.reply for item in await begin(store)] == [b"other"]
    assert [item.reply for item in await begin(store)] == [b"second"]
    assert [state for state, _ in await states(store)] == ["dead", "sending", "sending"]


async def test_people_are_owed_a_notice_of_what_is_dead_alone(store: Store) -> None:
    """Not of what is still in doubt; once, and nobody in another chat."""
    for chat in ("direct:a", "direct:b"):
        await say(store, chat, b"one")
    item, other = (one.id for one in await begin(store))
    await store.transaction(lambda repos: repos.outbox.owe_notice(item))

    async def is_owed(where: OutboxId) -> bool:
        return await store.transaction(lambda repos: repos.outbox.take_owed(where))

    assert not await is_owed(item)
    await store.transaction(lambda repos: repos.outbox.give_up(item, now=NOON))
    assert not await is_owed(other)
    assert await is_owed(item)
    assert not await is_owed(item)


async def test_what_waits_for_weather_is_due_when_it_is_woken(store: Store) -> None:
    """What nobody knows of waits for its proof as before."""
    for chat in ("direct:a", "direct:b"):
        await say(store, chat, b"one")
    for item in await begin(store):
        if item.id % 2:
            await store.transaction(lambda repos, item=item: repos.outbox.mark_unknown(item.id, due_at=NOON + GRACE))
        else:
            await store.transaction(
                lambda repos, item=item: repos.outbox.postpone(item.id, due_at=NOON + timedelta(hours=1), now=NOON)
            )
    assert await begin(store) == []
    await store.transaction(lambda repos: repos.outbox.wake(now=NOON))
    assert [item.was_unknown for item in await begin(store)] == [False]
