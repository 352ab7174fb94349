"""Queries for X, and what is left of them for a search engine."""

import pytest

from tests.servers.x import mistake_of_rule
from tools import BadArguments
from tools.twitter.query import MAX_QUERY_CHARS, Words, check_query, in_words

FINE = [
    "lamp",
    '"light house" -fog',
    "#lamp OR @keeper OR $LMP",
    "from:keeper -is:reply",
    "(lamp OR light) lang:de has:images",
    'url:"https://lamps.example/a" min_likes:10',
    "to:42 is:verified",
    "conversation_id:1900000000000000001",
    "(lamp (fog OR rain)) -from:cook",
    "größer als 5",
]


@pytest.mark.parametrize("query", FINE)
def test_what_x_takes_is_left_as_it_is(query: str) -> None:
    """Not a sign is changed."""
    assert check_query(query) == query
    assert mistake_of_rule(query) is None


def test_what_the_web_page_knows_is_answered_with_what_to_write_instead() -> None:
    """The model's next query is right."""
    for query, words in (
        ("lamp min_faves:10", "write min_likes:"),
        ("lamp min_retweets:10", "write min_reposts:"),
        ("lamp since:2026-11-01", "`hours`"),
        ("lamp filter:images", "has:images"),
        ("https://lamps.example/a", 'url:"'),
        ("x" * (MAX_QUERY_CHARS + 1), "512"),
    ):
        with pytest.raises(BadArguments) as caught:
            check_query(query)
        assert words in str(caught.value)


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
