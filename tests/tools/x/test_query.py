"""What is left of a query for X for a search engine."""

import pytest

from tools.x.tool import Words, in_words


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("lamp", Words(text="lamp", language=None)),
        ('"light house" -fog lang:de', Words(text='"light house"', language="de")),
        ("(#lamp OR @keeper) is:verified min_likes:5", Words(text="lamp keeper", language=None)),
        ("from:keeper lamp has:links", Words(text="keeper lamp", language=None)),
        ('url:"lamps.example" -from:cook', Words(text='"lamps.example"', language=None)),
        ("lamp (lang:de OR lang:en)", Words(text="lamp", language=None)),
    ],
)
def test_for_a_search_engine_the_words_are_left(query: str, expected: Words) -> None:
    """Of the operators only what it can make use of."""
    assert in_words(query) == expected
