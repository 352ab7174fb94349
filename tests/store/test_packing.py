"""Packed values: smaller, back as they were, and readable for ever."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.packing import MAX_BYTES, MIN_BYTES, pack, unpack

ASKED = (
    b'1:[{"text":"[Sat 2026-11-21 22:40 Europe/Berlin] Which lamps flash?","role":"user",'
    b'"sent_at":[1795000000000],"media":[],"labels":null}]'
)
"""A question as it is kept."""
KEPT = bytes.fromhex("43717a30d055849d0ecad93989b905c50a693989c519f6947902128200")
"""The same, as the first Aldis that packed has written it."""


def test_a_question_is_a_third_of_what_it_was() -> None:
    small = pack(ASKED)
    assert small is not None
    assert len(small) * 3 < len(ASKED)


def test_what_was_packed_once_can_always_be_read() -> None:
    """The words that are known beforehand are a part of the format."""
    assert unpack(KEPT) == ASKED


def _often(value: bytes) -> bytes:
    return value * 99


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=300)
    | st.text(max_size=300).map(str.encode)
    | st.binary(min_size=1, max_size=9).map(lambda b: b * 99)
)
def test_any_value_comes_back(value: bytes) -> None:
    small = pack(value)
    if small is not None:
        assert unpack(small) == value
        assert len(small) < len(value)


@pytest.mark.parametrize("value", [b"", b"x" * (MIN_BYTES - 1), b"x" * (MAX_BYTES + 1), bytes(range(256))])
def test_what_is_not_worth_it_is_left(value: bytes) -> None:
    """What is short, what takes long, and what does not become smaller."""
    assert pack(value) is None


def test_what_was_not_packed_here_is_refused() -> None:
    """Also what would become larger than anything that was packed, and what was cut off."""
    bomb = pack(b"x" * MAX_BYTES)
    assert bomb is not None
    for small in (b"", b"words", KEPT[:-1], bomb[:-1]):
        with pytest.raises(ValueError, match="not packed"):
            unpack(small)
