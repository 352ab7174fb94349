"""Turns an answer as the model wrote it into a message that fits Signal: styled, cut where a reader would pause.

Signal carries 2,000 bytes of UTF-8 inside a message. The bridges send a longer text by themselves as a long-text
attachment, and phones show it as one message with "Read more", up to 64 KiB. If a long text cannot be sent, it is
split into a few messages: after a paragraph, else a line, else a sentence, else a word, else between two characters. A
style that spans a cut continues in the next part; a code block stays whole if it fits into one part; a heading stays
with what follows. If there is too much for the last part, it ends with a visible mark.

Source: ServiceConfig.java of github.com/AsamK/signal-cli (0.14.6); MessageUtil.kt and DataMessageProcessor.kt of
github.com/signalapp/Signal-Android (2026-11-22).
Pure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from bot.events import Incoming, QuoteTarget, Style, Styled
from bot.formatting.graphemes import borders, fitting, sendable_text
from bot.formatting.layout import style_beginning
from bot.formatting.spans import Span, StyledText, overlapping

LIMIT_BYTES = 2000
"""The limit of a part: what fits inside a message."""
MAX_MESSAGE_BYTES = 64 * 1024
"""The limit of a message with its long text: phones do not fetch more by themselves (`MAX_TOTAL_BODY_SIZE_BYTES`)."""
MAX_RANGES = 250
"""The limit of styles and mentions in one message: phones ignore the rest (`BODY_RANGE_PROCESSING_LIMIT`)."""
MIN_LIMIT_BYTES = 200
"""Less leaves no room for a cut mark and a character of any size."""

_QUOTE_CHARACTERS = 200

_MAX_GROWTH = 30
"""How many times longer than its Markdown a page can become through quotes, lists and rules."""
_MAX_SENT = 300_000
"""More characters than any answer is sent with."""
_READ = 2
"""How much of an answer is read, as a multiple of what the parts can hold, to limit the time spent on it."""
_LOOSE, _DENSE = 1 / 8, 3 / 4
"""How full a part must at least be for a better border to be preferred to a later one. Dense is for answers that
would not fit into the parts otherwise."""
_HEADING_CHARS = 100
"""A longer bold line is a paragraph."""
_PARAGRAPH = re.compile(r"(?=\n[ \t>]*\n)")
_LINE = re.compile(r"(?=\n)")
_SENTENCE = re.compile(
    r"""
    # Not after "3." or "e.g.", nor before a small letter. Atomic: Python before 3.11.5 gets possessive groups wrong.
      (?<![.!?…]) (?> (?: (?<!\d)(?<!\b\w)\. | [!?…] )+ ) ["'”’»)\]]*+ (?=\s++[^a-zß-ÿ])
    | [。！？]+ [」』”’）》]*
    """,
    re.VERBOSE,
)
_WORD = re.compile("(?=[ \t\u3000\u200b])|(?<=[、，；：])")
_BORDERS = (_PARAGRAPH, _LINE, _SENTENCE, _WORD)
_BETWEEN = re.compile("(?:[ \t]*\n(?:[ \t>]*\n)*)|[ \t\u3000\u200b]+")
_BETWEEN_CODE = re.compile("(?:[ \t]*\n)+|[ \t]+")
"""As above, but in code a line of ">" alone is code; both keep the next line's indentation."""


def parts(
    markdown: str, *, limit_bytes: int = LIMIT_BYTES, max_parts: int = 5, cut_mark: str = "…"
) -> tuple[Styled, ...]:
    """The messages to send for an answer, in order, each of at most `limit_bytes` of UTF-8.

    Empty for an answer without a visible character; one of nothing but markers is sent as it is. An answer that does
    not fit into `max_parts`, or is more than twice as long as those can hold, ends with `cut_mark`: a plain sentence
    for the person, on a line of its own.

    Raises:
        ValueError: the limits contradict each other (`limit_bytes` under 200, `max_parts` under 1, a mark longer than
            half a part); the caller's mistake, whatever the answer.
    """
    _check(limit_bytes, max_parts, cut_mark)
    answer, read_chars = sendable_text(markdown), _READ * limit_bytes * max_parts
    if not answer.strip():
        return ()
    page = style_beginning(answer, read_chars)
    if not page.text:
        page = StyledText(text=answer.strip()[:read_chars].rstrip())
    if len(answer) > read_chars:
        page = page.followed_by(cut_mark)
    if len(page.text.encode()) <= limit_bytes:
        return (page.for_signal(),)  # the usual answer: it need not be cut
    return tuple(part.for_signal() for part in _Cutter.of(page).parts(limit_bytes, max_parts, cut_mark))


def visible(markdown: str) -> StyledText:
    """An answer as people see it; one of nothing but markers is seen as it is.

    All of it, although a page can be longer than its Markdown; of a table whose cells repeat a long header, at least
    what `parts` would send.
    """
    answer = sendable_text(markdown)
    page = style_beginning(answer, max(_MAX_GROWTH * len(answer), _MAX_SENT))
    return page if page.text else StyledText(text=answer.strip())


def one_message(markdown: str, *, cut_mark: str) -> tuple[Styled | None, bool]:
    """Returns an answer as a single message of at most `MAX_MESSAGE_BYTES`, and whether it is complete.

    None for an answer without a visible character. If it is cut, it ends with `cut_mark`, as in `parts`.
    """
    found = parts(markdown, limit_bytes=MAX_MESSAGE_BYTES, max_parts=1, cut_mark=cut_mark)
    if not found:
        return None, True
    return found[0], not found[0].text.endswith(cut_mark)


def is_long(content: Styled) -> bool:
    """Whether a text is sent as an attachment because it is too long to fit inside a message."""
    return len(content.text.encode()) > LIMIT_BYTES


def split(content: Styled, *, max_parts: int, cut_mark: str) -> tuple[Styled, ...]:
    """Splits a finished message into parts of at most `LIMIT_BYTES`; see `parts`."""
    cutter = _Cutter.of(StyledText.of(content))
    return tuple(part.for_signal() for part in cutter.parts(LIMIT_BYTES, max_parts, cut_mark))


def quoting(message: Incoming, *, is_apart: bool = False) -> QuoteTarget | None:
    """The quote by which an answer in a group shows what it answers; None in a direct chat, unless it stands apart."""
    if not (message.chat.is_group or is_apart):
        return None
    return QuoteTarget(author=message.author, sent_at=message.sent_at, text=message.text[:_QUOTE_CHARACTERS])


def _check(limit_bytes: int, max_parts: int, cut_mark: str) -> None:
    if limit_bytes < MIN_LIMIT_BYTES or max_parts < 1:
        raise ValueError(f"{max_parts} parts of {limit_bytes} bytes: want 1 or more of {MIN_LIMIT_BYTES} or more")
    if len(cut_mark.encode()) > limit_bytes // 2:
        raise ValueError(f"a cut mark of {len(cut_mark)} characters leaves no room in {limit_bytes} bytes")


@dataclass(frozen=True, kw_only=True)
class _Cutter:
    """A page and where it can be cut."""

    page: StyledText
    characters: bytes
    """The borders of its characters, see `graphemes.borders`."""
    code: tuple[tuple[int, int], ...]
    """Start and end of each code block: monospace over several lines."""
    code_bytes: Mapping[tuple[int, int], int]
    """The length of each code block in UTF-8."""
    headings: frozenset[int]
    """The ends of short lines that are entirely bold."""

    @classmethod
    def of(cls, page: StyledText) -> "_Cutter":
        """Finds the borders of a page once."""
        text = page.text
        code, bold = ([span for span in page.spans if span.style is style] for style in (Style.MONOSPACE, Style.BOLD))
        blocks = tuple((span.start, span.end) for span in code if "\n" in text[span.start : span.end])
        return cls(
            page=page,
            characters=borders(text),
            code=blocks,
            code_bytes={(start, end): len(text[start:end].encode()) for start, end in blocks},
            headings=frozenset(span.end for span in bold if _is_heading(text, span)),
        )

    def parts(self, limit_bytes: int, max_parts: int, cut_mark: str) -> list[StyledText]:
        """The parts, cut loosely if they are few enough, else densely, else the first of them and the mark."""
        for fill in (_LOOSE, _DENSE):
            slices = list(islice(self._slices(limit_bytes, fill), max_parts + 1))
            if len(slices) <= max_parts:
                return [self.page.part(*each) for each in slices]
        *kept, (start, _) = slices[:max_parts]
        room_bytes = limit_bytes - len(f"\n\n{cut_mark}".encode())
        last = self.page.part(start, self._end(start, room_bytes, _DENSE))
        return [*(self.page.part(*each) for each in kept), last.followed_by(cut_mark)]

    def _slices(self, limit_bytes: int, fill: float) -> Iterator[tuple[int, int]]:
        """Start and end of each part, to the end of the text; only white space lies between two of them."""
        start = 0
        while start < len(self.page.text):
            end = self._end(start, limit_bytes, fill)
            if self.page.text[start:end].strip():
                yield start, end
            start = self._next_start(end)

    def _next_start(self, end: int) -> int:
        between = _BETWEEN_CODE if self._code_around(end) else _BETWEEN
        found = between.match(self.page.text, end)
        return self.characters.rfind(1, end, found.end() + 1) if found else end

    def _end(self, start: int, limit_bytes: int, fill: float) -> int:
        """The end of the part that begins at `start`."""
        last = fitting(self.page.text, start, limit_bytes)
        if last == len(self.page.text):
            return last
        ends = [self._last_border(border, start, last, limit_bytes) for border in _BORDERS]
        filled = start + int((last - start) * fill)
        character = self.characters.rfind(1, start + 1, last + 1)
        wanted = (*(end for end in ends if end > filled), *ends, character)
        return next((end for end in wanted if end > start), last)

    def _last_border(self, border: re.Pattern[str], start: int, last: int, limit_bytes: int) -> int:
        """The last place for a cut of this kind, or -1."""
        text = self.page.text
        words = len(text) - len(text[start:].lstrip())
        found = (match.end() for match in border.finditer(text, words + 1, min(last + 3, len(text))))
        allowed = (end for end in found if end <= last and self._may_end(end, border, limit_bytes))
        return max(allowed, default=-1)

    def _may_end(self, end: int, border: re.Pattern[str], limit_bytes: int) -> bool:
        if not self.characters[end] or end in self.headings:
            return False
        code = self._code_around(end)
        if code is None:
            return True
        return self.code_bytes[code] > limit_bytes and border in {_LINE, _WORD}

    def _code_around(self, index: int) -> tuple[int, int] | None:
        """The code block that a cut at the index would split."""
        return overlapping(self.code, index, index)


def _is_heading(text: str, span: Span) -> bool:
    """Whether a bold span is short and begins a line; the caller asks only at line ends."""
    return span.end - span.start <= _HEADING_CHARS and (span.start == 0 or text[span.start - 1] == "\n")
