"""Who writes in vain while a page waits for it: a few people, what they asked, for ten minutes."""

from datetime import timedelta

from bot.access.pairing import LISTENING_SECONDS, Callers
from bot.clock import SetClock
from bot.events import PersonId, SentId
from tests.bot.loops.fake_transport import envelope
from tests.bot.web.admin.test_sessions import Watch
from tests.conftest import NOON
from tests.waiting import eventually

MALLORY = PersonId("mallory")


async def test_who_calls_is_noted_only_while_a_page_waits() -> None:
    """A few, the newest first, for ten minutes; of what they wrote nothing is shown."""
    watch = Watch()
    callers = Callers(seconds=watch, clock=SetClock(NOON))
    callers.note(envelope("a secret", author="mallory"))
    assert callers.all() == ()
    callers.listen()
    for number in range(7):
        callers.note(envelope("a secret", author=f"person-{number}"))
    callers.note(envelope("again", author="person-4"))
    assert [caller.person for caller in callers.all()] == [PersonId(f"person-{n}") for n in (4, 6, 5, 3, 2)]
    assert "secret" not in str(callers.all())
    assert {caller.at for caller in callers.all()} == {NOON}
    watch.now += LISTENING_SECONDS + 1
    assert callers.all() == ()


async def test_what_callers_write_is_held_for_as_long() -> None:
    """Of those who are listed, without what they deleted, each message once; then nothing of it is left."""
    watch = Watch()
    callers = Callers(seconds=watch)
    callers.hold(MALLORY, envelope("too early", 1, author="mallory"), NOON)
    callers.listen()
    for number in (2, 3, 4):
        callers.note(envelope("hello", number, author="mallory"))
        callers.hold(MALLORY, envelope("hello", number, author="mallory"), NOON)
    callers.hold(PersonId("trudy"), envelope("not listed", 5, author="trudy"), NOON)
    callers.take_back(MALLORY, SentId(3))
    assert callers.people(NOON) == (MALLORY,)
    assert callers.newest(MALLORY) == envelope("hello", 4, author="mallory")
    assert [one.sent_at for one in callers.release(MALLORY, NOON + timedelta(seconds=9))] == [2, 4]
    assert callers.release(MALLORY, NOON) == callers.release(PersonId("trudy"), NOON) == ()
    callers.hold(MALLORY, envelope("hello", 6, author="mallory"), NOON)
    watch.now += LISTENING_SECONDS
    assert (callers.people(NOON), callers.newest(MALLORY), callers.release(MALLORY, NOON)) == ((), None, ())


async def test_what_is_over_goes_by_itself() -> None:
    """Nobody has to look for it: the words leave the memory when the time is over."""
    callers = Callers(listening_seconds=0.01)
    callers.listen()
    callers.note(envelope("hello", author="mallory"))
    assert callers._callers
    await eventually(lambda: not callers._callers)
