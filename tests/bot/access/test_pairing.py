"""Pairing: a code for a stranger, one an hour, twenty in all, and whom an admin lets in with it."""

from dataclasses import replace
from datetime import timedelta

from bot.access.pairing import ALPHABET, Pairing
from bot.events import Envelope, PersonId, SentId
from tests.bot.loops.fake_transport import envelope
from tests.conftest import NOON
from tests.waiting import eventually

MALLORY = PersonId("3a110000-0000-4000-8000-0000000000d1")
TRUDY = PersonId("72dd0000-0000-4000-8000-0000000000e1")
CALLER = PersonId("mallory")
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


def code_for(pairing: Pairing, person: PersonId = MALLORY) -> str:
    assert pairing.has_room(person, NOON)
    return pairing.invite(person, None, NOON)[0].code


def test_a_code_is_short_cannot_be_misread_and_is_good_for_an_hour() -> None:
    """People copy it by ear, however it is written. A second before the hour is over it works, then no more."""
    pairing = Pairing()
    code = code_for(pairing)
    assert (len(code), code[4]) == (9, "-")
    assert set(code.replace("-", "")) <= set(ALPHABET)
    assert len(set(ALPHABET)) == len(ALPHABET)
    assert not set(ALPHABET) & set("B8IL1O0S5Z2")
    for written in (code, code.lower(), code.replace("-", ""), f" {code} ", f"«{code}»."):
        assert [one.person for one in pairing.find(written, NOON + HOUR - SECOND)] == [MALLORY]
    assert pairing.find(code, NOON + HOUR) == ()


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


async def test_who_calls_is_noted_only_while_a_page_waits() -> None:
    """A few, the newest first; of what they wrote nothing is shown."""
    pairing = Pairing()
    pairing.note(envelope("a secret", author="mallory"), NOON)
    assert pairing.callers() == ()
    pairing.listen()
    for number in range(7):
        pairing.note(envelope("a secret", author=f"person-{number}"), NOON)
    pairing.note(envelope("again", author="person-4"), NOON)
    assert [caller.person for caller in pairing.callers()] == [PersonId(f"person-{n}") for n in (4, 6, 5, 3, 2)]
    assert "secret" not in str(pairing.callers())


async def test_what_callers_write_is_held_for_as_long() -> None:
    """Without what they deleted, each message once; it goes with the list, by itself."""
    pairing = Pairing(listening_seconds=0.05)
    pairing.listen()
    for number in (2, 3, 4):
        pairing.note(envelope("hello", number, author="mallory"), NOON)
        pairing.hold(CALLER, envelope("hello", number, author="mallory"), NOON)
    pairing.take_back(CALLER, SentId(3))
    assert [one.sent_at for one in pairing.release(CALLER, NOON + timedelta(seconds=9))] == [2, 4]
    pairing.hold(CALLER, envelope("hello", 6, author="mallory"), NOON)
    code_for(pairing, TRUDY)
    pairing.hold(TRUDY, written("with a code", 7), NOON)
    await eventually(lambda: not pairing.callers())
    assert (pairing.newest(CALLER), pairing.release(CALLER, NOON)) == (None, ())
    assert [*pairing.people(NOON)] == [TRUDY]
    assert len(pairing.release(TRUDY, NOON)) == 1
