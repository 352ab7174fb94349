"""The counts: each name by itself, in alphabetical order."""

from bot.metrics import Counts


def test_each_name_is_counted_by_itself() -> None:
    """Adding gives the new count."""
    counts = Counts()
    assert [counts.add(name) for name in ("b", "a", "b")] == [1, 1, 2]
    assert list(counts.all().items()) == [("a", 1), ("b", 2)]


def test_nothing_is_counted_at_the_start() -> None:
    """And two counts do not share."""
    Counts().add("a")
    assert Counts().all() == {}


def test_what_is_handed_out_is_a_copy() -> None:
    """Changing it changes no count."""
    counts = Counts()
    counts.add("a")
    counts.all()["a"] = 7
    assert counts.all() == {"a": 1}
