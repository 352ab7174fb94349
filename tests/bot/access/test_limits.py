"""How often: a sliding minute for each key, a memory that stays small, and what one person may send."""

from dataclasses import replace
from datetime import timedelta

from bot.access.limits import CallRate, Quota
from bot.events import Envelope, Kind
from bot.settings import LimitsSettings
from tests.bot.loops.fake_transport import envelope
from tests.conftest import NOON

SECOND = timedelta(seconds=1)


def test_no_more_than_so_many_a_minute() -> None:
    """The call beyond the limit is refused, and each one that has become a minute old makes room for one."""
    rate = CallRate(3)
    admitted = [n for n in (0, 1, 2, 3, 4, 59, 60, -60, 61) if rate.admits("anna", NOON + abs(n) * SECOND)]
    assert admitted == [0, 1, 2, 60, 61]


def test_a_clock_that_was_set_back_mutes_no_one() -> None:
    """Calls from a little later still count, as messages may come out of order; others are from before it was set."""
    rate = CallRate(1)
    assert [rate.admits("anna", NOON - n * SECOND) for n in (0, 59, 3600)] == [True, False, True]


def test_the_key_used_longest_ago_is_forgotten_first() -> None:
    """Ten thousand keys are remembered; whoever came lately is among them."""
    rate = CallRate(1)
    assert all(rate.admits(str(key), NOON) for key in ("anna", "ben", *range(9_998)))
    assert [rate.admits(key, NOON) for key in ("anna", "x", "anna", "ben")] == [False, True, False, True]
    assert len(rate._calls) == 10_000


# What one person and one conversation may send


def sent(number: int = 0, *, kind: Kind = Kind.MESSAGE, author: str = "anna", chat: str | None = None) -> Envelope:
    return envelope(sent_at=number, kind=kind, author=author, chat=chat)


def admitted(quota: Quota, *envelopes: Envelope) -> int:
    return sum(quota.admits(each, NOON) for each in envelopes)


def test_one_person_has_a_limit_over_all_chats() -> None:
    """Writing in two places at once gives no more room; another person has their own."""
    quota = Quota(LimitsSettings(messages_per_minute=3, conversation_messages_per_minute=100))
    both = [sent(n, chat="group:G" if n % 2 else None) for n in range(10)]
    assert admitted(quota, *both) == 3
    assert admitted(quota, *both[:3], both[3]) == 3  # taken again, because they could not be stored
    assert admitted(quota, sent(author="ben", chat="group:G")) == 1


def test_one_conversation_has_a_limit_over_all_people() -> None:
    """A group of many who each write little is limited, too, and nobody's own chat with it."""
    quota = Quota(LimitsSettings(messages_per_minute=2, conversation_messages_per_minute=5))
    assert admitted(quota, *(sent(n, author=str(n), chat="group:G") for n in range(10))) == 5
    assert admitted(quota, sent(author="0")) == 1


def test_a_backlog_is_no_burst() -> None:
    """What piled up over hours while Aldis was down counts at the time when Signal's server took it."""
    limits = LimitsSettings(messages_per_minute=2)
    start = int((NOON - timedelta(hours=3)).timestamp() * 1000)
    backlog = [replace(sent(n), server_at=start + n * 60_000) for n in range(180)]
    assert admitted(Quota(limits), *backlog) == 180
    assert admitted(Quota(limits), *(replace(each, server_at=start) for each in backlog)) == 2


def test_notes_about_messages_have_room_when_messages_have_none() -> None:
    """What must be gone is not kept because its author wrote too much; ten times as many, but not without end."""
    for kind in (Kind.DELETE, Kind.EDIT, Kind.REACTION):
        quota = Quota(LimitsSettings(messages_per_minute=3))
        assert admitted(quota, *map(sent, range(10))) == 3
        assert admitted(quota, *(sent(n, kind=kind) for n in range(100))) == 30
        assert quota.max_waiting(sent(kind=kind)) == 10 * quota.max_waiting(sent())
