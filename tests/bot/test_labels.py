"""Labels: where content comes from."""

from hypothesis import given
from hypothesis import strategies as st

from bot.labels import (
    MAX_PEOPLE,
    MAX_SOURCES,
    UNKNOWN,
    Labels,
    Source,
    Writer,
    dump_labels,
    join_labels,
    load_labels,
    shown_name,
)

SOURCES = st.builds(
    Source,
    kind=st.sampled_from(["page", "file", "tool"]),
    name=st.text(max_size=3),
    is_trusted=st.booleans(),
    is_private=st.booleans(),
)
WRITERS = st.builds(Writer, id=st.text(min_size=1, max_size=3), name=st.text(max_size=3))
LABELS = st.builds(
    Labels, people=st.lists(WRITERS, max_size=20).map(tuple), sources=st.lists(SOURCES, max_size=20).map(tuple)
)


@given(st.lists(LABELS, max_size=4))
def test_what_is_joined_is_never_more_harmless(labels: list[Labels]) -> None:
    """Whatever is left out for want of room: untrusted, private or another person's it stays."""
    whole = join_labels(labels)
    sources = [source for one in labels for source in one.sources]
    assert any(source.is_private for source in whole.sources) is any(source.is_private for source in sources)
    if any(not source.is_trusted for source in sources):
        assert any(not source.is_trusted for source in whole.sources)
    writers = {writer.id for one in labels for writer in one.people}
    assert {writer.id for writer in whole.people} <= writers
    if len(writers) > MAX_PEOPLE:
        assert Source(kind="person") in whole.sources
    assert len(whole.people) <= MAX_PEOPLE
    assert len(whole.sources) <= 4 * MAX_SOURCES
    assert join_labels([whole]).sources == whole.sources


@given(LABELS)
def test_labels_are_read_as_they_were_written(labels: Labels) -> None:
    """Whole."""
    assert load_labels(dump_labels(labels)) == labels


def test_what_cannot_be_read_is_unknown() -> None:
    """And so it counts as written by anybody, and as private."""
    for data in (None, "", b"no JSON", b'{"sources":[{"kind":"of tomorrow"}]}'):
        assert load_labels(data) == UNKNOWN
    [source] = UNKNOWN.sources
    assert (source.is_trusted, source.is_private) == (False, True)


def test_what_was_read_again_is_the_newest() -> None:
    """A question names the newest first."""
    one, other = Source(kind="page", name="a"), Source(kind="page", name="b")
    assert join_labels([Labels(sources=(one, other)), Labels(sources=(one,))]).sources == (other, one)


def test_a_name_cannot_style_or_hide() -> None:
    """It stands in a sentence of Aldis's own."""
    assert shown_name("**re\u202eport**\n`x` <y>.pdf") == "report x y.pdf".replace("report x", "reportx")
    assert len(shown_name("x" * 100)) == 60
    assert shown_name(None) == ""
