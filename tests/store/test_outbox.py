"""The outbox: order in a conversation, unknown sends, which are proved or sent again, statuses and holds."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from store import ConversationId, OutboxItem, Repositories, SentMessage, TurnId
from store.repository import millis
from tests.conftest import NOON
from tests.store.sends import GRACE, at, begin, doubt, doubted, listed, place, prove, say, sent, states


def receipts(repos: Repositories) -> int:
    return repos.outbox.value("SELECT count(*) FROM receipts")


def kinds(repos: Repositories) -> list[str]:
    return [state for state, _ in states(repos)]


def words(items: Iterable[OutboxItem]) -> list[bytes]:
    return [item.reply for item in items]


def test_the_parts_of_an_answer_go_out_one_after_the_other(repos: Repositories) -> None:
    """The second part waits until the first is sent; another conversation does not wait."""
    say(repos, "direct:a", b"one", b"two")
    say(repos, "direct:b", b"other")
    first, other = begin(repos)
    assert words((first, other)) == [b"one", b"other"]
    assert begin(repos) == ()
    sent(repos, first, at(1))
    assert words(begin(repos)) == [b"two"]


@pytest.mark.parametrize(
    ("address", "seconds", "now", "proves"),
    [
        ("direct:a", 1, 1, 1),
        ("direct:a", 9000, 9000, 1),
        ("direct:a", -0.5, 1, 1),
        ("direct:b", 1, 1, 0),
        ("direct:a", -6, 1, 0),
        ("direct:a", 120, 1, 0),
    ],
    ids=["its receipt", "slow bridge", "clock behind", "another person", "before the attempt", "in the future"],
)
def test_an_unknown_send_is_proved_by_its_receipt_or_repeated_after_the_grace_period(
    repos: Repositories, address: str, seconds: float, now: int, proves: int
) -> None:
    """Only the recipient's receipt for what may have gone out by now counts; proved, it is never repeated."""
    item = doubted(repos, "direct:a")
    place(repos, "direct:b")
    assert begin(repos, NOON + GRACE - timedelta(seconds=1)) == ()
    assert prove(repos, address, at(seconds), now=at(now)) == proves
    assert states(repos) == ([("sent", millis(at(seconds)))] if proves else [("unknown", None)])
    assert receipts(repos) == 0
    repeated = [] if proves else [(item.id, True)]
    assert [(again.id, again.was_unknown) for again in begin(repos, NOON + GRACE)] == repeated


def test_a_members_receipt_proves_the_send_to_their_group(repos: Repositories) -> None:
    """It names no group: that of a person in both waits until another member's shows which one it was."""
    for group, member in (("group:G", "direct:a"), ("group:H", "direct:b")):
        doubted(repos, group)
        listed(repos, group, member, "direct:both")
    for person, second, count in (("direct:both", 1, 0), ("direct:a", 1, 1), ("direct:both", 2, 1)):
        assert prove(repos, person, at(second)) == count
    assert states(repos) == [("sent", millis(at(second))) for second in (1, 2)]


@pytest.mark.parametrize(("left_at", "count"), [(5, 0), (-5, 1)], ids=["after it", "before it"])
def test_who_left_a_group_may_have_received_what_went_out_before(repos: Repositories, left_at: int, count: int) -> None:
    """Their receipt is not taken for one of their direct chat; of what went out later it is."""
    place(repos, "group:G")
    listed(repos, "group:G", "direct:a", "direct:b", now=NOON - GRACE)
    doubted(repos, "group:G")
    doubted(repos, "direct:b")
    listed(repos, "group:G", "direct:a", now=at(left_at))
    listed(repos, "group:G", "direct:a", now=at(6))
    assert prove(repos, "direct:b", at(4)) == count


@pytest.mark.parametrize(
    ("place_of", "seconds", "name", "count"),
    [
        ("direct:a", 3, None, 0),
        ("direct:a", 0.5, None, 0),
        ("direct:a", -2, None, 1),
        ("direct:a", 3, 2, 1),
        ("direct:b", 3, None, 1),
        ("group:H", 3, None, 0),
    ],
    ids=["to that person", "a little earlier", "long before", "with a name", "to another", "to a group"],
)
def test_a_receipt_that_can_mean_a_reaction_proves_nothing(
    repos: Repositories, place_of: str, seconds: float, name: float | None, count: int
) -> None:
    """Whose name is not known; the bridge ends it after so many seconds, and the receipt names the second one."""
    reaction = repos.outbox.begin_reaction(place_of, in_group=place_of.startswith("group:"), now=at(-3))
    assert reaction is not None
    doubted(repos, "direct:a", at(0.1))
    assert repos.outbox.begin_reaction("direct:a", in_group=False, now=at(0.2)) is None  # until that is known
    repos.outbox.end_reaction(reaction, None if name is None else millis(at(name)), now=at(seconds))
    assert prove(repos, "direct:a", at(1)) == count


def test_a_receipt_cannot_mean_what_was_sent_after_it_had_come(repos: Repositories) -> None:
    """A name may be older than its send, a receipt never: Alice's is for her first group, whatever the second got."""
    say(repos, "direct:alice", b"answer")
    say(repos, "group:one", b"answer")
    [_, ones] = begin(repos)
    for group in ("group:one", "group:two"):
        place(repos, group)
        listed(repos, group, "direct:alice", "direct:bob")
    assert prove(repos, "direct:alice", at(0.01), now=at(0.05)) == 0
    say(repos, "group:two", b"answer")
    begin(repos, at(0.5))
    sent(repos, ones, at(0.02), at(0.6))
    assert states(repos) == [("sent", millis(at(0.01))), ("sent", millis(at(0.02))), ("sending", None)]


def test_a_name_that_comes_again_proves_nothing(repos: Repositories) -> None:
    """What was in doubt when the clock was set back may have been named by either time: here the receipt comes last."""
    back = timedelta(hours=1)
    first = doubted(repos, "group:g")
    listed(repos, "group:g", "direct:a")
    repos.outbox.put_off_all(-back, now=at(1))
    doubted(repos, "direct:a", NOON - back)
    assert prove(repos, "direct:a", at(0.2) - back) == 0
    assert [item.id for item in begin(repos, NOON + GRACE - back)][:1] == [first.id]
    sent(repos, first, at(90) - back, at(91) - back)
    assert prove(repos, "direct:a", at(0.1), now=at(92) - back) == 0
    assert kinds(repos)[0] == "sent"


def test_a_strangers_receipt_changes_nothing(repos: Repositories) -> None:
    """Of a person in no group that is in doubt, and without a chat in doubt: not a byte is written."""
    doubted(repos, "group:G")
    listed(repos, "group:G", "direct:a")
    changes = repos.outbox._connection.total_changes
    repos.outbox.context.notified.clear()
    assert not prove(repos, "direct:mallory", at(1))
    assert (repos.outbox._connection.total_changes, repos.outbox.context.notified) == (changes, set())


def test_until_the_bridge_has_listed_a_group_no_unknown_person_proves_its_send(repos: Repositories) -> None:
    """The receipt of a possible stranger is kept, hides other sends, and counts once it is known who it is."""
    doubted(repos, "group:G")
    doubted(repos, "direct:a")
    assert not prove(repos, "direct:b", at(1))
    assert not prove(repos, "direct:a", at(2))
    listed(repos, "group:G", "direct:b", now=at(3))
    assert states(repos) == [("sent", millis(at(1))), ("sent", millis(at(2)))]


def test_receipts_that_prove_nothing_are_bounded(repos: Repositories) -> None:
    """However many one person sends, those of others are kept."""
    doubted(repos, "group:G")
    doubted(repos, "group:H")
    prove(repos, "direct:known", at(1))
    for second in (1, 3):
        prove(repos, "direct:stranger", *(at(second + number / 100) for number in range(100)))
    assert receipts(repos) == 33
    listed(repos, "group:G", "direct:known", now=at(9))
    listed(repos, "group:H", "direct:other", now=at(9))
    assert states(repos) == [("sent", millis(at(1))), ("unknown", None)]
    assert receipts(repos) == 0  # it is known now that the stranger received nothing


@pytest.mark.parametrize(("is_in_doubt", "next_at", "name"), [(False, 92, 91.5), (True, 101, 102)])
def test_a_repetition_under_way_may_still_get_a_name_when_the_first_is_proved(
    repos: Repositories, is_in_doubt: bool, next_at: float, name: float
) -> None:
    """Also by a slow bridge: its receipt, which comes later, is not taken for that of the next answer in doubt."""
    doubted(repos, "direct:a")
    [again] = begin(repos, NOON + GRACE)
    if is_in_doubt:
        doubt(repos, again, NOON + 2 * GRACE)
    assert prove(repos, "direct:a", at(1), now=at(91)) == 1
    doubted(repos, "direct:a", at(next_at))
    assert prove(repos, "direct:a", at(name), now=at(103)) == 0


def test_a_name_that_any_of_several_attempts_can_have_is_that_of_the_last(repos: Repositories) -> None:
    """The first one keeps its own, which is not taken for that of something else in doubt."""
    place(repos, "group:G")
    listed(repos, "group:G", "direct:a", "direct:b")
    doubted(repos, "group:G")
    doubted(repos, "direct:a")
    assert len(begin(repos, NOON + GRACE)) == 2
    assert prove(repos, "direct:b", at(91), now=at(92)) == 1
    assert prove(repos, "direct:a", at(1), now=at(93)) == 0


def test_what_surely_did_not_go_out_hides_nothing(repos: Repositories) -> None:
    """A receipt can mean neither what was refused nor what was put off: it proves what is in doubt after them."""
    say(repos, "direct:a", b"refused")
    say(repos, "group:G", b"put off")
    refused, put_off = begin(repos)
    listed(repos, "group:G", "direct:a", "direct:b")
    repos.outbox.give_up(refused.id, now=at(2))
    doubted(repos, "direct:a")
    assert prove(repos, "direct:a", at(1)) == 0
    repos.outbox.postpone(put_off.id, due_at=at(60), now=at(2))
    assert states(repos) == [("dead", None), ("waiting", None), ("sent", millis(at(1)))]


def test_a_send_that_is_given_up_waits_for_its_receipt_once_more(repos: Repositories) -> None:
    """It may have gone out, so the next one waits as long as for any other: no receipt can mean both."""
    say(repos, "direct:a", b"given up", b"answer")
    [first] = begin(repos)
    repos.outbox.give_up(first.id, now=NOON, doubted_until=NOON + GRACE)
    assert begin(repos, NOON + GRACE / 2) == ()
    assert words(begin(repos, NOON + GRACE)) == [b"answer"]
    assert kinds(repos) == ["dead", "sending"]
    assert prove(repos, "direct:a", NOON + 2 * GRACE) == 1


def test_the_time_in_which_no_receipt_could_come_does_not_count(repos: Repositories) -> None:
    """It may have waited with Signal's server while Aldis was down: what was in doubt is not repeated at once."""
    doubted(repos, "direct:a")
    say(repos, "direct:b", b"answer")
    begin(repos)
    start = NOON + 10 * GRACE
    repos.outbox.mark_all_unknown(now=start, grace=GRACE)
    assert kinds(repos) == ["unknown", "unknown"]
    assert begin(repos, start + GRACE / 2) == ()
    assert len(begin(repos, start + GRACE)) == 2


def test_settled_replies_keep_no_words_and_are_pruned(repos: Repositories) -> None:
    """What was sent or given up is erased from the outbox."""
    say(repos, "direct:a", b"one", b"two")
    [one] = begin(repos)
    sent(repos, one, NOON)
    [two] = begin(repos)
    repos.outbox.give_up(two.id, now=NOON)
    assert repos.outbox.rows("SELECT state, reply FROM outbox ORDER BY id") == [("sent", None), ("dead", None)]
    backlog = repos.outbox.backlog()
    assert (backlog.items, backlog.oldest_at, backlog.dead) == (0, None, 1)
    repos.outbox.prune(before=NOON + GRACE)
    assert repos.outbox.rows("SELECT * FROM outbox") == []


def test_the_other_realm_sends_nothing_of_this_one(repos: Repositories) -> None:
    """A chat in the terminal never prints what is to go out in Signal."""
    say(repos, "direct:a", b"answer")
    repos.outbox.realm = "terminal"
    assert begin(repos) == ()
    assert repos.outbox.next_due_at() is None
    assert repos.outbox.mark_all_unknown(now=NOON, grace=GRACE) == 0


def test_a_damaged_reply_stops_no_other(repos: Repositories) -> None:
    """It is dead and counted; the next part and other conversations go out."""
    say(repos, "direct:a", b"damaged", b"second")
    say(repos, "direct:b", b"other")
    repos.outbox.execute("UPDATE outbox SET reply = zeroblob(60) WHERE id = 1")
    assert [words(begin(repos)) for _ in range(2)] == [[b"other"], [b"second"]]
    assert kinds(repos) == ["dead", "sending", "sending"]


def test_people_are_owed_a_notice_of_what_is_dead_alone(repos: Repositories) -> None:
    """Not of what is still in doubt; once, and no person in another chat."""
    for chat in ("direct:a", "direct:b"):
        say(repos, chat, b"one")
    item, other = (one.id for one in begin(repos))
    repos.outbox.owe_notice(item)
    assert not repos.outbox.take_owed(item)
    repos.outbox.give_up(item, now=NOON)
    assert [repos.outbox.take_owed(where) for where in (other, item, item)] == [False, True, False]


def test_what_surely_did_not_go_out_is_tried_again_in_its_time(repos: Repositories) -> None:
    """Or as soon as it is woken, since the weather is better; what is in doubt waits for its proof as before."""
    doubted(repos, "direct:a")
    say(repos, "direct:b", b"one", b"two")
    [item] = begin(repos)
    for woken in (False, True):
        repos.outbox.postpone(item.id, due_at=at(60), now=NOON)
        assert begin(repos) == ()
        assert repos.outbox.next_due_at() == at(60)
        if woken:
            repos.outbox.wake(now=NOON)
        [again] = begin(repos, NOON if woken else at(60))
        assert (again.id, again.attempts, again.was_unknown) == (item.id, 1 + woken, False)


class TestHolds:
    def hold(self, repos: Repositories, chat: str) -> ConversationId:
        conversation = place(repos, chat)
        repos.outbox.hold(conversation, now=NOON)
        return conversation

    def test_what_is_held_is_never_due_and_not_late(self, repos: Repositories) -> None:
        """Neither what was there nor what comes; others go out. Released, it does, in its order."""
        say(repos, "direct:a", b"one")
        conversation = self.hold(repos, "direct:a")
        say(repos, "direct:a", b"two")
        say(repos, "direct:b", b"other")
        assert words(begin(repos, NOON + timedelta(days=1))) == [b"other"]
        assert repos.outbox.next_due_at() is None
        backlog = repos.outbox.backlog()
        assert (backlog.items, backlog.oldest_at) == (3, NOON)
        assert repos.outbox.holds() == {conversation: NOON}
        repos.outbox.context.notified.clear()
        repos.outbox.release(conversation)
        assert repos.outbox.context.notified == {"outbox"}
        assert words(begin(repos)) == [b"one"]


class TestStatuses:
    def put(self, repos: Repositories, chat: str, status: bytes, turn: TurnId | None = None) -> TurnId:
        conversation = place(repos, chat)
        turn = turn or repos.turns.begin(conversation, now=NOON)
        assert repos.outbox.put_status(conversation, turn, status, in_group=False, now=NOON, max_edits=8)
        return turn

    def answer(self, repos: Repositories, chat: str, turn: TurnId) -> None:
        status = repos.outbox.current_status(turn)
        assert status is not None
        repos.outbox.put(place(repos, chat), turn, 0, b"answer", in_group=False, now=NOON, replaces=status)

    def test_one_that_is_taken_back_while_it_is_sent_is_removed(self, repos: Repositories) -> None:
        """Also if its receipt comes before the bridge has answered."""
        turn = self.put(repos, "direct:a", b"Thinking")
        [item] = begin(repos)
        assert repos.outbox.take_status_back(turn) is None
        assert prove(repos, "direct:a", at(1)) == 0
        assert repos.outbox.mark_sent(item.id, millis(at(1)), now=at(2))

    def test_one_in_doubt_that_is_taken_back_is_settled(self, repos: Repositories) -> None:
        """Its row is pruned like any other."""
        turn = self.put(repos, "direct:a", b"Thinking")
        [item] = begin(repos)
        doubt(repos, item, NOON)
        assert repos.outbox.take_status_back(turn) is None
        repos.outbox.prune(before=NOON + timedelta(days=1))
        assert states(repos) == []

    @pytest.mark.parametrize("is_killed", [False, True])
    def test_one_given_up_early_may_still_be_what_arrives(self, repos: Repositories, is_killed: bool) -> None:
        """A slow bridge sends it later: its receipt proves nothing in doubt elsewhere, also with the clock set."""
        doubted(repos, "group:G")
        self.put(repos, "direct:a", b"Thinking")
        [item] = begin(repos)
        soon, jump = timedelta(seconds=10), timedelta(hours=1)
        if is_killed:
            repos.outbox.mark_all_unknown(now=NOON, grace=GRACE, status_grace=soon)
        else:
            repos.outbox.end_attempt(item.id, "unknown", due_at=NOON + soon)
        repos.outbox.put_off_all(jump, now=NOON)
        begin(repos, NOON + jump + soon)
        assert states(repos) == [("unknown", None), ("dead", None)]
        arrived: datetime = at(60) + jump
        listed(repos, "group:G", "direct:a", now=arrived + timedelta(seconds=1))
        assert prove(repos, "direct:a", arrived) == 0
        assert states(repos) == [("unknown", None), ("dead", None)]

    @pytest.mark.parametrize("is_begun", [False, True])
    def test_the_answer_replaces_the_last_one_that_was_sent(self, repos: Repositories, is_begun: bool) -> None:
        """It edits what stands in the chat, whatever became of a newer status; with none sent it is a message."""
        turn = self.put(repos, "direct:a", b"Thinking")
        [first] = begin(repos)
        sent(repos, first, NOON)
        self.put(repos, "direct:a", b"Searching", turn)
        failed = begin(repos) if is_begun else ()
        self.answer(repos, "direct:a", turn)
        for item in failed:
            repos.outbox.postpone(item.id, due_at=NOON, now=NOON)
        self.answer(repos, "direct:b", self.put(repos, "direct:b", b"Thinking"))
        shown = SentMessage(sent_at=millis(NOON), original_at=millis(NOON), revision=0)
        assert [(item.reply, item.edits) for item in begin(repos)] == [(b"answer", shown), (b"answer", None)]
