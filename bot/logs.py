"""The log: one line an event, as text or JSON, on standard error. Never what a person wrote, never a key or number.

Exceptions are told by their types and places in the code, without their messages: a foreign library may quote in them
what a person wrote. Line breaks and whatever else could change what a reader sees are written out as escapes.
"""

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal, TextIO, cast

_OURS = ("bot", "tools", "store")
_REMINDER_SECONDS = 60.0


def set_up(level: str, form: Literal["text", "json"], stream: TextIO | None = None) -> None:
    """Send our own lines from `level` up to the stream (standard error by default), and warnings of libraries.

    Below a warning, libraries log what people wrote and addresses with keys in them.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Plain())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # A line that cannot be formatted would be shown with its arguments, whatever they are.
    logging.raiseExceptions = False
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    # What ends the process would else be shown with its message.
    sys.excepthook = _ended


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Tell of the bug that ends the process; of each one where several came together."""
    del kind, trace
    for leaf in leaves(error):
        logging.getLogger(__name__).critical("a bug ends Aldis: %s", describe_error(leaf))


def leaves(error: BaseException) -> list[BaseException]:
    """The errors in a group of groups; one that is no group is all there is."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for part in group.exceptions for leaf in leaves(part)]
    return [error]


def describe_error(error: BaseException) -> str:
    """An exception as its type, the types it came from, and the last places in the code; never its message."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    return f"{' from '.join(type(link).__name__ for link in chain)} at {places or 'an unknown place'}"


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        return f"{at:%Y-%m-%dT%H:%M:%S}Z {record.levelname:<7} {record.name}: {_escaped(_told(record))}"


def escaped_line(record: logging.LogRecord) -> str:
    """A record as a line of text."""
    return _Plain().format(record)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _told(record),
        }
        return json.dumps(line)


def _told(record: logging.LogRecord) -> str:
    message = record.getMessage()
    if record.name == "asyncio":
        # Its further lines show what failed (a task, a future) with the exception in it, message and all.
        message = message.partition("\n")[0]
    error = record.exc_info[1] if record.exc_info else None
    return message if error is None else f"{message} ({describe_error(error)})"


def _escaped(text: str) -> str:
    """The text with every character that is not printable written as its escape."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def one_line(text: str) -> str:
    """The text without what a terminal would obey, and without line breaks: names are chosen by strangers."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


class RepeatedWarning:
    """Writes a sentence that would come again and again into a log: once, and again each minute."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._sentence = ""
        self._told_at = 0.0

    def tell(self, sentence: str, level: int = logging.WARNING) -> None:
        """It holds, or holds still."""
        now = time.monotonic()
        if sentence != self._sentence or now - self._told_at > _REMINDER_SECONDS:
            self._sentence, self._told_at = sentence, now
            self._log.log(level, "%s", sentence)

    def end(self) -> None:
        """It holds no more: the next time it is news."""
        self._sentence = ""
