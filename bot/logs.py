"""The log: one line per event, as text or JSON, on standard error. Never people's words, never a key or number.

Exceptions are logged by type and place in the code, without their messages, in which a library may quote what a person
wrote. Line breaks and everything else that could mislead a reader are escaped.
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
    """Sends our own records from `level` up to the stream (default: standard error), of libraries only warnings.

    Below warnings, libraries log people's words and addresses that contain keys.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Plain())
    handler.addFilter(_is_worth_a_line)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # logging would show a record it cannot format with all its arguments.
    logging.raiseExceptions = False
    for name in _OURS:
        logging.getLogger(name).setLevel(level)

    def on_bug(_: type[BaseException], error: BaseException, __: TracebackType | None) -> None:
        for leaf in leaves(error):
            logging.getLogger(__name__).critical("a bug ends Aldis: %s", describe_error(leaf))

    sys.excepthook = on_bug  # the default one would show the exception's message


def leaves(error: BaseException) -> list[BaseException]:
    """The errors inside nested groups; a plain error gives just itself."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for part in group.exceptions for leaf in leaves(part)]
    return [error]


def describe_error(error: BaseException) -> str:
    """An exception's type, the types of its causes, and the last places in the code; never its message."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    return f"{' from '.join(type(link).__name__ for link in chain)} at {places or 'an unknown place'}"


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Leaves out malformed HTTP requests: every program that reaches a port can send any number."""
    error = record.exc_info[1] if record.exc_info else None
    return type(error).__module__ != "aiohttp.http_exceptions"


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        shown = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in _message(record))
        return f"{at:%Y-%m-%dT%H:%M:%S}Z {record.levelname:<7} {record.name}: {shown}"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": _message(record)}
        return json.dumps(line)


def _message(record: logging.LogRecord) -> str:
    message = record.getMessage()
    if record.name == "asyncio":
        # Its further lines show the failed task or future with the exception in it, including the message.
        message = message.partition("\n")[0]
    error = record.exc_info[1] if record.exc_info else None
    return message if error is None else f"{message} ({describe_error(error)})"


class RepeatedWarning:
    """Logs a recurring sentence once, then at most once a minute."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._sentence = ""
        self._told_at = 0.0

    def tell(self, sentence: str, level: int = logging.WARNING, *values: object) -> None:
        """Reports that the sentence holds (still), with other values than the last time or not."""
        now = time.monotonic()
        if sentence != self._sentence or now - self._told_at > _REMINDER_SECONDS:
            self._sentence, self._told_at = sentence, now
            self._log.log(level, sentence, *values)

    def end(self) -> None:
        """Reports that it no longer holds: the next time it is news."""
        self._sentence = ""
