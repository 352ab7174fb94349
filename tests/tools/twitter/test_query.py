"""Queries for X: what it refuses is found out before anybody pays, and told so that a model can do better."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("lamp min_faves:10", "write min_likes:"),
        ("lamp min_retweets:10", "write min_reposts:"),
        ("lamp since:2026-11-01", "`hours`"),
        ("lamp filter:images", "has:images"),
        ("https://lamps.example/a", 'url:"'),
        ("Star Trek: Picard", "quotes"),
        ("at 10:30", "quotes"),
        ("größe:5", "quotes"),
        ("lamp near:Oslo", "no operator near:"),
        ("lamp -is:retweet", "never found"),
        ("from:@keeper", "without @"),
        ("from: keeper", "without @"),
        ("lamp has:gifs", "has:images"),
        ("lamp lang:English", "lang:en"),
        ("lamp min_likes:many", "min_likes:100"),
        ("lamp min_likes:\u0665", "min_likes:100"),
        ("url:@ lang:en", 'url:"example.org/page"'),
        ("is:verified has:images", "needs a word"),
        ("-lamp", "needs a word"),
        ("-from:keeper lang:en", "needs a word"),
        ('"light house', "not closed"),
        ('""', "is empty"),
        ("# lamp", "is empty"),
        ("(lamp OR fog", "brackets"),
        ("lamp) (fog", "brackets"),
        ("lamp ()", "brackets is empty"),
        ("lamp -(fog OR rain)", "minus"),
        ("OR lamp", "OR has to stand"),
        ("lamp OR", "OR has to stand"),
        ("(lamp OR) fog", "OR has to stand"),
        ("lamp OR OR fog", "OR has to stand"),
        ("lamp AND fog", "Leave out AND"),
        ("x" * (MAX_QUERY_CHARS + 1), "512"),
    ],
)
def test_what_x_refuses_is_told_with_what_to_write_instead(query: str, words: str) -> None:
    """The model's next query is right."""
    with pytest.raises(BadArguments) as caught:
        check_query(query)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 200


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


@given(
    st.lists(
        st.sampled_from(
            ["lamp", "OR", "(", ")", "-", '"', "from:", "keeper", "lang:en", "is:reply", " ", " ", "#", ":", "AND"]
        ),
        max_size=12,
    ).map("".join)
)
def test_nothing_gets_through_that_x_refuses(query: str) -> None:
    """Whatever a model puts together."""
    try:
        check_query(query)
    except BadArguments:
        return
    assert mistake_of_rule(query) is None
    assert in_words(query).text
