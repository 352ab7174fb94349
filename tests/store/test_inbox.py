"""The inbox: nothing lost, nothing twice, one turn at a time for a conversation, and who waited longest comes first."""

from datetime import timedelta

import pytest

from store import Claim, ConversationId, InboxId, Repositories
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.lives import LATER
from tests.store.sends import place


def arrive(repos: Repositories, chat: str, sent_at: int, words: bytes = b"hello", **changes: object) -> InboxId | None:
    return repos.inbox.put(arrival(place(repos, chat), sent_at, words, **({"author": chat} | changes)))


def claim(repos: Repositories, *busy: ConversationId, limit: int = 20) -> Claim | None:
    return repos.inbox.claim(now=NOON, until=LATER, busy=busy, limit=limit)


def claimed(repos: Repositories, *busy: ConversationId, limit: int = 20) -> Claim:
    found = claim(repos, *busy, limit=limit)
    assert found is not None
    return found


def words(found: Claim) -> list[bytes]:
    return [item.envelope for item in found.items]


def test_a_redelivery_changes_nothing(repos: Repositories) -> None:
    """The same (account, author, device, timestamp, kind) is kept once, whatever it carries the second time."""
    assert arrive(repos, "direct:a", 1) is not None
    assert arrive(repos, "direct:a", 1, b"other words") is None
    found = claimed(repos)
    assert words(found) == [b"hello"]
    repos.inbox.done(found.turn)
    assert arrive(repos, "direct:a", 1) is None
    assert claim(repos) is None
    assert arrive(repos, "direct:a", 2)
    for part in ({"device": 2}, {"kind": "edit"}, {"author": "direct:b"}, {"account": "+15550000001"}):
        assert arrive(repos, "direct:a", 1, b"hello", **part)


@pytest.mark.parametrize(("authors", "turns"), [("aaa", [[1, 2, 3]]), ("aaba", [[1, 2], [3], [4]])])
def test_messages_that_wait_together_are_taken_together_in_order(
    repos: Repositories, authors: str, turns: list[list[int]]
) -> None:
    """As one turn, in the order of arrival, not of the senders' clocks, up to the first message of another author."""
    for number, author in enumerate(authors, 1):
        arrive(repos, "group:g", 9 - number, b"%d" % number, author=f"direct:{author}")
    taken: list[list[int]] = []
    while (found := claim(repos)) is not None:
        taken.append(list(map(int, words(found))))
        repos.inbox.done(found.turn)
    assert taken == turns


def test_a_claim_left_behind_is_taken_up_with_the_same_messages(repos: Repositories) -> None:
    """Once its deadline has passed: the turn has its id and messages again, later ones wait, and its journal fits."""
    arrive(repos, "direct:a", 1, b"first")
    before = claimed(repos)
    arrive(repos, "direct:a", 2, b"second")
    assert [repos.inbox.requeue(now=now) for now in (LATER, LATER + timedelta(seconds=1))] == [0, 1]
    again = claimed(repos)
    assert (again.turn, again.attempt, words(again)) == (before.turn, 2, [b"first"])
    repos.inbox.done(again.turn)
    assert words(claimed(repos)) == [b"second"]


def test_a_claim_handed_back_on_purpose_does_not_count_as_a_try(repos: Repositories) -> None:
    """A shutdown is no failure; a failed try counts."""
    arrive(repos, "direct:a", 1)
    first = claimed(repos)
    for counts, attempt in ((False, 1), (True, 2)):
        repos.inbox.hand_back(first.turn, counts=counts)
        assert claimed(repos).attempt == attempt


def test_a_long_queue_starves_no_other(repos: Repositories) -> None:
    """The conversation that was served longest ago comes first, however long another's queue is."""
    for sent_at in range(30):
        arrive(repos, "direct:talker", sent_at)
    arrive(repos, "direct:quiet", 1, b"quiet")
    talker = claimed(repos, limit=10)
    assert len(talker.items) == 10
    repos.inbox.done(talker.turn)
    assert words(claimed(repos)) == [b"quiet"]


def test_settled_messages_keep_no_words(repos: Repositories) -> None:
    """What is answered or dead is erased from the inbox; its name stays until it is pruned."""
    arrive(repos, "direct:a", 1)
    arrive(repos, "direct:b", 1)
    done, dead = claimed(repos), claimed(repos)
    repos.inbox.done(done.turn)
    repos.inbox.done(dead.turn, dead=True)
    assert repos.inbox.rows("SELECT state, envelope FROM inbox ORDER BY id") == [("done", None), ("dead", None)]
    backlog = repos.inbox.backlog()
    assert (backlog.items, backlog.oldest_at, backlog.dead) == (0, None, 1)
    repos.inbox.prune(before=LATER)
    assert repos.inbox.rows("SELECT * FROM inbox") == []


def test_realms_do_not_take_each_others_messages(repos: Repositories) -> None:
    """A chat in the terminal never answers what waits for Signal, even in a conversation of the same name."""
    arrive(repos, "direct:a", 1)
    repos.inbox.realm = "terminal"
    assert claim(repos) is None
    assert repos.inbox.backlog().items == 0
    repos.inbox.realm = "signal"
    assert claim(repos) is not None


def test_a_damaged_message_stops_no_other(repos: Repositories) -> None:
    """It is dead and counted; the rest of its conversation and all others are taken as ever."""
    arrive(repos, "direct:a", 1, b"damaged")
    arrive(repos, "direct:b", 1, b"damaged")
    arrive(repos, "direct:b", 2, b"whole")
    repos.inbox.execute("UPDATE inbox SET envelope = zeroblob(60) WHERE sent_at = 1")
    assert words(claimed(repos)) == [b"whole"]
    assert claim(repos) is None
    assert repos.inbox.backlog().dead == 2


def test_a_death_is_no_try_and_is_counted_apart(repos: Repositories) -> None:
    """A turn that ends every process comes to its end, too; so does a command, for which a death is a try."""
    arrive(repos, "direct:a", 1)
    claimed(repos)
    for deaths in (1, 2, 3):
        repos.inbox.recover()
        again = claimed(repos)
        assert (again.attempt, again.deaths) == (1, deaths)
    arrive(repos, "direct:a", 2, urgent=True)
    for attempts in (1, 2, 3):
        assert [item.attempts for item in repos.inbox.urgent_items()] == [attempts]
        repos.inbox.recover()


def test_a_command_that_becomes_a_question_disappears_with_the_former_one(repos: Repositories) -> None:
    """As `/retry` does, whose own words stay."""
    arrive(repos, "direct:a", 1, urgent=True)
    [item] = repos.inbox.urgent_items()
    repos.inbox.as_question(item.id, None, expires_at=LATER)
    assert claimed(repos).expires_at == LATER
