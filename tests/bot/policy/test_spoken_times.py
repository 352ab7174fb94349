"""Which moments somebody's words name, however these spell them."""

from datetime import date, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.policy.spoken_times import is_moment, is_moment_named, times_in, without_days


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("on 2025-01-11", "2025-01-11"),
        ("am 11.1.2025", "2025-01-11"),
        ("am 11. januar 2025", "2025-01-11"),
        ("le 1er fevrier 2025", "2025-02-01"),
        ("el 11 de enero de 2025", "2025-01-11"),
        ("the 11th of january, 2025", "2025-01-11"),
        ("on jan. 11, 2025", "2025-01-11"),
        ("from january 11th to january 15th 2025", "2025-01-11"),
        ("from january 11th until the 15th of january 2025", "2025-01-11"),
        ("2025-01-11 at 10:00", "2025-01-11 10:00"),
        ("2025-01-11, 10pm", "2025-01-11T22:00:00"),
        ("2025-01-11, 12 a.m.", "2025-01-11T00:00"),
        ("am 11.1.2025 um 18 uhr", "2025-01-11 18:00"),
        ("le 11 janvier 2025 a 18h30", "2025-01-11 18:30"),
        ("2025-01-11 at 23:30, 2 hours", "2025-01-12 01:30"),
        ("a 1-hour long call on 2025-01-11 at 10:00", "2025-01-11 11:00"),
        ("eine stunde am 11.1.2025 um 10:00", "2025-01-11 11:00"),
        ("45 minutes on 2025-01-11 at 10:00", "2025-01-11 10:45"),
        ("all of 2025-01-11", "2025-01-11 00:00"),
    ],
)
def test_what_was_said_is_named(words: str, moment: str) -> None:
    """In four languages, with the year said once for two days that belong together, and the end of what lasts."""
    assert is_moment_named(moment, times_in(words))


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("on january 11th", "2025-01-11"),
        ("on january 11th, and in 2026 on march 3rd 2026", "2026-01-11"),
        ("on 2025-01-11", "2025-01-12"),
        ("on 2025-01-11", "2025-01-11 10:00"),
        ("on 2025-01-11 at 10:00", "2025-01-11 00:00"),
        ("on 2025-01-11 at 10:00", "2025-01-11 11:00"),
        ("on 2025-01-11 at 10:00 for an hour", "2025-01-11 12:00"),
        ("on 2025-01-11 at 10:00", "2025-01-11 10:00:30"),
        ("on 2025-01-11 at 10:00", "2025-01-11 10:00+05:00"),
        ("on 2025-02-30", "2025-02-30"),
        ("may 20 people come? 2025", "2025-05-20"),
        ("10:00 and 11", "2025-01-11 10:00"),
        ("", "2025-01-11"),
    ],
)
def test_what_was_not_said_is_not(words: str, moment: str) -> None:
    """No other day, time or length; no year that would be a guess; no zone; no day that there is not."""
    assert not is_moment_named(moment, times_in(words))


def test_what_stands_in_words_is_found() -> None:
    """Each kind by itself; the days can be taken out."""
    found = times_in("on 2025-01-11 at 10:00 and 3 pm, for 90 minutes; 20 lamps")
    assert found.days == {date(2025, 1, 11)}
    assert found.times == {time(10), time(15)}
    assert found.lengths == {timedelta(minutes=90)}
    assert without_days("june 13 and 2025-01-11: 20").split() == ["and", ":", "20"]
    assert [is_moment(value) for value in ("2025-01-11", "2025-01-11 10:00", "10:00", "lamp", "")] == [
        *(True, True, False, False, False)
    ]


@given(st.text(alphabet=st.sampled_from("0123456789-:. thampmyjuneuhr,²٣")) | st.text(), st.text())
def test_anything_may_be_said(words: str, value: str) -> None:
    """Nothing raises."""
    assert is_moment_named(value, times_in(words)) in {True, False}
