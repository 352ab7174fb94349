"""Which command or name somebody means who has not written it as it stands."""

import time

import pytest

from bot.commands import names

NAMES = ("help", "forget", "persona", "language", "web_search", "web_fetch", "get_weather", "describe_picture")


@pytest.mark.parametrize("piece", ["help", "web_", "e"])
def test_a_long_word_is_nearly_nothing(piece: str) -> None:
    """That is seen at once: nobody else is answered while names are compared."""
    word = piece * (900_000 // len(piece))
    began = time.process_time()
    assert names.closest(word, NAMES) == names.similar(word, NAMES) == ()
    assert time.process_time() - began < 20
