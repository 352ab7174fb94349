"""Server-sent events, put together from bytes that are cut anywhere."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.transports.signal_cli.sse import EventParser


def events(*chunks: bytes, parser: EventParser | None = None) -> list[str]:
    parser = parser or EventParser()
    return [data for chunk in chunks for data in parser.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "found"),
    [
        (b"data:a\n\n", ["a"]),
        (b"data: a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"event:receive\ndata:a\n\nevent:receive\ndata:b\n\n", ["a", "b"]),
        (b"data:a\ndata:b\n\n", ["a\nb"]),
        (b"data:a\r\ndata:b\r\n\r\n", ["a\nb"]),
        (b"data:a\r\r", ["a"]),
        (b":\n:\ndata:a\n:keep\n\n:\n", ["a"]),
        (b"data:\n\n", [""]),
        (b"data\n\n", [""]),
        (b"\n\nevent:x\n\n", []),
        (b"id:1\nretry:5\nother\ndata:a\n\n", ["a"]),
        (b"data:a\n", []),
        ("data:🪴\n\n".encode(), ["🪴"]),
        (b"data:\xff\n\n", ["�"]),
    ],
)
def test_what_a_stream_says(stream: bytes, found: list[str]) -> None:
    """Whole, byte by byte, or with any of the three line ends, a stream says the same."""
    assert events(stream) == found
    assert events(*(bytes([byte]) for byte in stream)) == found


@given(st.lists(st.text(max_size=20)), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
@example(texts=["", ""], end=b"\r\n", drawn=None)
def test_no_cut_changes_an_event(texts: list[str], end: bytes, drawn: st.DataObject | None) -> None:
    """Cuts within characters and within CRLF are mended."""
    lines = [text.splitlines() or [""] for text in texts]
    fields = (b"".join(b"data: " + line.encode() + end for line in event) for event in lines)
    stream = b"".join(field + end for field in fields)
    cut = drawn.draw(st.integers(0, len(stream))) if drawn else len(stream) // 2
    assert events(stream[:cut], stream[cut:]) == ["\n".join(event) for event in lines]


def test_an_event_that_is_too_long_is_passed_over_alone() -> None:
    """It is counted once, however it is cut, and the next event arrives."""
    parser = EventParser(max_event_bytes=20)
    long = b"data:" + b"x" * 30 + b"\ndata:" + b"y" * 30 + b"\n\n"
    assert events(b"data:a\n\n", long[:12], long[12:40], long[40:], b"data:b\n\n", parser=parser) == ["a", "b"]
    assert parser.taken_too_long() == 1
    assert parser.taken_too_long() == 0


def test_many_short_lines_are_too_long_together() -> None:
    """What counts is the event, not its lines."""
    parser = EventParser(max_event_bytes=20)
    assert events(b"data:abcd\n" * 9 + b"\ndata:b\n\n", parser=parser) == ["b"]
    assert parser.taken_too_long() == 1


def test_keep_alives_do_not_add_up() -> None:
    """A quiet week of keep-alives is no event that is too long."""
    parser = EventParser(max_event_bytes=20)
    assert events(*[b":\n"] * 100, b"data:a\n\n", parser=parser) == ["a"]


def test_comments_are_counted() -> None:
    """signal-cli's keep-alives are comments; what stands in an event, or is too long, is none."""
    parser = EventParser(max_event_bytes=20)
    assert events(b":\n:", b"\ndata::\n\n: x\n", b"data:" + b"x" * 30 + b"\n:\n\n", parser=parser) == [":"]
    assert (parser.taken_comments(), parser.taken_comments()) == (3, 0)
