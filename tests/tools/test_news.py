"""The settings of the news: which feeds are read."""

import pytest

from tools import NewsOptions


@pytest.mark.parametrize(
    ("given", "feeds"),
    [
        ("", ()),
        ("https://a.example/feed", ("https://a.example/feed",)),
        (
            " HTTPS://A.example:443/Feed?x=1 ,https://b.example , https://b.example",
            ("https://a.example/Feed?x=1", "https://b.example/"),
        ),
    ],
)
def test_feeds_are_a_comma_list_of_addresses(given: str, feeds: tuple[str, ...]) -> None:
    """Each once, in its one spelling; only then does the store know them again."""
    options = NewsOptions.model_validate({"feeds": given})
    assert options.feeds == feeds
    assert bool(options.idle_services()) is not bool(feeds)
    assert options.seen_by() == ()
