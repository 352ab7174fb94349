"""Turns an answer as the model wrote it into a message that fits Signal: styled, cut where a reader would pause.

Signal carries 2,000 bytes of UTF-8 inside a message. The bridges send a longer text by themselves as a long-text
attachment, and phones show it as one message with "Read more", up to 64 KiB. If a long text cannot be sent, it is
split into a few messages: after a paragraph, else a line, else a sentence, else a word, else between two characters. A
style that spans a cut continues in the next part. If there is too much for the last part, it ends with a visible mark.

Source: ServiceConfig.java of github.com/AsamK/signal-cli (0.14.6); MessageUtil.kt and DataMessageProcessor.kt of
github.com/signalapp/Signal-Android (2026-11-22).
Pure.
"""

import re

from bot.events import Incoming, Quote, Styled
from bot.formatting.layout import style_beginning
from bot.formatting.spans import StyledText, borders, fitting, sendable_text

LIMIT_BYTES = 2000
"""The limit of a part: what fits inside a message."""
MAX_MESSAGE_BYTES = 64 * 1024
"""The limit of a message with its long text: phones do not fetch more by themselves (`MAX_TOTAL_BODY_SIZE_BYTES`)."""
MAX_RANGES = 250
"""The limit of styles and mentions in one message: phones ignore the rest (`BODY_RANGE_PROCESSING_LIMIT`)."""
_QUOTE_CHARACTERS = 200

_MAX_GROWTH = 30
"""How many times longer than its Markdown a page can become through quotes, lists and rules."""
_MAX_SENT = 300_000
"""More characters than any answer is sent with."""
_READ = 2
"""How much of an answer is read, as a multiple of what the parts can hold, to limit the time spent on it."""
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


def parts(
    markdown: str, *, limit_bytes: int = LIMIT_BYTES, max_parts: int = 5, cut_mark: str = "…"
) -> tuple[Styled, ...]:
    """The messages to send for an answer, each of at most `limit_bytes` of UTF-8; none if nothing is visible.

    An answer that does not fit into `max_parts`, or is more than twice as long as those can hold, ends with `cut_mark`:
    a plain sentence for the person, on a line of its own.
    """
    answer, read_chars = sendable_text(markdown), _READ * limit_bytes * max_parts
    if not answer.strip():
        return ()
    page = style_beginning(answer, read_chars)
    if len(answer) > read_chars:
        page = page.followed_by(cut_mark)
    return _cut(page, limit_bytes, max_parts, cut_mark)


def visible(markdown: str) -> StyledText:
    """An answer as people see it, all of it; of a table that repeats a long header, at least what `parts` sends."""
    answer = sendable_text(markdown)
    return style_beginning(answer, max(_MAX_GROWTH * len(answer), _MAX_SENT))


def one_message(markdown: str, *, cut_mark: str) -> tuple[Styled | None, bool]:
    """Returns an answer as one message that Signal takes, None if nothing is visible, and whether it is complete."""
    found = parts(markdown, limit_bytes=MAX_MESSAGE_BYTES, max_parts=1, cut_mark=cut_mark)
    content = found[0] if found else None
    return content, content is None or not content.text.endswith(cut_mark)


def is_long(content: Styled) -> bool:
    """Whether a text is sent as an attachment because it is too long to fit inside a message."""
    return len(content.text.encode()) > LIMIT_BYTES


def split(content: Styled, *, max_parts: int, cut_mark: str) -> tuple[Styled, ...]:
    """Splits a finished message into parts of at most `LIMIT_BYTES`; see `parts`."""
    return _cut(StyledText.of(content), LIMIT_BYTES, max_parts, cut_mark)


def quoting(message: Incoming, *, is_apart: bool = False) -> Quote | None:
    """The quote by which an answer in a group shows what it answers; None in a direct chat, unless it stands apart."""
    if not (message.chat.is_group or is_apart):
        return None
    return Quote(author=message.author, sent_at=message.sent_at, text=message.text[:_QUOTE_CHARACTERS])


def _cut(page: StyledText, limit_bytes: int, max_parts: int, cut_mark: str) -> tuple[Styled, ...]:
    """The parts of a page; if they are too many, the first of them and the mark."""
    text = page.text
    characters = borders(text)
    slices: list[tuple[int, int]] = []
    start = 0
    while start < len(text) and len(slices) <= max_parts:
        end = _end(text, characters, start, limit_bytes)
        if text[start:end].strip():
            slices.append((start, end))
        between = _BETWEEN.match(text, end)  # only white space and bars of quotes lie between two
        start = characters.rfind(1, end, between.end() + 1) if between else end
    parts = [page.part(*each) for each in slices[:max_parts]]
    if len(slices) > max_parts:
        start, _ = slices[max_parts - 1]
        end = _end(text, characters, start, limit_bytes - len(f"\n\n{cut_mark}".encode()))
        parts[-1] = page.part(start, end).followed_by(cut_mark)
    return tuple(part.for_signal() for part in parts)


def _end(text: str, characters: bytes, start: int, limit_bytes: int) -> int:
    """The end of the part that begins at `start`: at the best border in its second half, else at the best of all."""
    last = fitting(text, start, limit_bytes)
    if last == len(text):
        return last
    for least in ((start + last) // 2, start):
        for border in _BORDERS:
            found = (match.end() for match in border.finditer(text, least, min(last + 3, len(text))))
            end = max((end for end in found if least < end <= last and characters[end]), default=start)
            if text[start:end].strip():
                return end
    end = characters.rfind(1, start + 1, last + 1)
    return end if end > start else last
