"""The settings of the news: which feeds are read."""

from tools import NewsOptions


def test_feeds_are_a_comma_list_of_addresses() -> None:
    """Each once, in its one spelling; only then does the store know them again."""
    for given, feeds in (
        ("", ()),
        (
            " HTTPS://A.example:443/Feed?x=1 ,https://b.example , https://b.example",
            ("https://a.example/Feed?x=1", "https://b.example/"),
        ),
    ):
        options = NewsOptions.model_validate({"feeds": given})
        assert options.feeds == feeds
        assert bool(options.idle_services()) is not bool(feeds)
        assert options.seen_by() == ()
