"""Pairing: a code for a stranger, one an hour, twenty in all, and whom an admin lets in with it."""

from dataclasses import replace
from datetime import timedelta

from bot.access.pairing import ALPHABET, LISTENING_SECONDS, Callers, Pairing
from bot.events import Envelope, PersonId, SentId
from tests.bot.loops.fake_transport import envelope
from tests.bot.web.admin.test_attacks import Watch
from tests.conftest import NOON
from tests.waiting import eventually

MALLORY = PersonId("3a110000-0000-4000-8000-0000000000d1")
TRUDY = PersonId("72dd0000-0000-4000-8000-0000000000e1")
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


def code_for(pairing: Pairing, person: PersonId = MALLORY) -> str:
    code = pairing.code(person, NOON)
    assert code is not None
    return code


def test_a_code_is_short_cannot_be_misread_and_is_good_for_an_hour() -> None:
    """People copy it by ear, however it is written. A second before the hour is over it works, then no more."""
    pairing = Pairing()
    code = code_for(pairing)
    assert (len(code), code[4]) == (9, "-")
    assert set(code.replace("-", "")) <= set(ALPHABET)
    assert len(set(ALPHABET)) == len(ALPHABET)
    assert not set(ALPHABET) & set("B8IL1O0S5Z2")
    for written in (code, code.lower(), code.replace("-", ""), f" {code} ", f"«{code}»."):
        assert pairing.approve(written, NOON + HOUR - SECOND) == MALLORY
    assert pairing.approve(code, NOON + HOUR) is None


def written(text: str, sent_at: int, *, expires_in_seconds: int = 0) -> Envelope:
    return replace(envelope(text, sent_at, author=MALLORY), expires_in_seconds=expires_in_seconds)


def test_what_is_written_while_somebody_waits_is_held_for_them() -> None:
    """The newest few, in their order, each given once; nothing of somebody without a code, and nothing very long."""
    pairing = Pairing()
    pairing.hold(MALLORY, written("too early", 1), NOON)
    code_for(pairing)
    pairing.hold(MALLORY, written("x" * 30_000, 2), NOON)
    for number in range(3, 11):
        pairing.hold(MALLORY, written("one", number), NOON)
    pairing.take_back(MALLORY, SentId(9))
    pairing.take_back(TRUDY, SentId(9))
    held = pairing.release(MALLORY, NOON + 5 * SECOND)
    assert [one.sent_at for one in held] == [6, 7, 8, 10]
    assert {one.waited_ms for one in held} == {5000}
    pairing.hold(MALLORY, written("gone", 12, expires_in_seconds=5), NOON)
    pairing.hold(MALLORY, written("stays", 13, expires_in_seconds=60), NOON)
    [left] = pairing.release(MALLORY, NOON + 5 * SECOND)
    assert (left.sent_at, left.expires_in_seconds) == (13, 55)
    assert pairing.release(MALLORY, NOON) == pairing.release(TRUDY, NOON) == ()


def test_what_is_held_goes_with_its_code() -> None:
    """An hour later, or when an admin has said no, Aldis knows nothing of it."""
    for is_refused in (True, False):
        pairing = Pairing()
        code_for(pairing)
        pairing.hold(MALLORY, written("hello", 1), NOON)
        if is_refused:
            pairing.refuse(MALLORY)
        else:
            pairing.hold(TRUDY, written("hello", 1), NOON + HOUR)
        assert pairing.release(MALLORY, NOON if is_refused else NOON + HOUR) == ()


CALLER = PersonId("mallory")


async def test_who_calls_is_noted_only_while_a_page_waits() -> None:
    """A few, the newest first, for ten minutes; of what they wrote nothing is shown."""
    watch = Watch()
    callers = Callers(seconds=watch)
    callers.note(envelope("a secret", author="mallory"), NOON)
    assert callers.all() == ()
    callers.listen()
    for number in range(7):
        callers.note(envelope("a secret", author=f"person-{number}"), NOON)
    callers.note(envelope("again", author="person-4"), NOON)
    assert [caller.person for caller in callers.all()] == [PersonId(f"person-{n}") for n in (4, 6, 5, 3, 2)]
    assert "secret" not in str(callers.all())
    assert {caller.at for caller in callers.all()} == {NOON}
    watch.now += LISTENING_SECONDS + 1
    assert callers.all() == ()


async def test_what_callers_write_is_held_for_as_long() -> None:
    """Of those who are listed, without what they deleted, each message once; then nothing of it is left."""
    watch = Watch()
    callers = Callers(seconds=watch)
    callers.hold(CALLER, envelope("too early", 1, author="mallory"), NOON)
    callers.listen()
    for number in (2, 3, 4):
        callers.note(envelope("hello", number, author="mallory"), NOON)
        callers.hold(CALLER, envelope("hello", number, author="mallory"), NOON)
    callers.hold(PersonId("trudy"), envelope("not listed", 5, author="trudy"), NOON)
    callers.take_back(CALLER, SentId(3))
    assert callers.people(NOON) == (CALLER,)
    assert callers.newest(CALLER) == envelope("hello", 4, author="mallory")
    assert [one.sent_at for one in callers.release(CALLER, NOON + timedelta(seconds=9))] == [2, 4]
    assert callers.release(CALLER, NOON) == callers.release(PersonId("trudy"), NOON) == ()
    callers.hold(CALLER, envelope("hello", 6, author="mallory"), NOON)
    watch.now += LISTENING_SECONDS
    assert (callers.people(NOON), callers.newest(CALLER), callers.release(CALLER, NOON)) == ((), None, ())


async def test_what_is_over_goes_by_itself() -> None:
    """Nobody has to look for it: the words leave the memory when the time is over."""
    callers = Callers(listening_seconds=0.01)
    callers.listen()
    callers.note(envelope("hello", author="mallory"), NOON)
    assert callers._callers
    await eventually(lambda: not callers._callers)
