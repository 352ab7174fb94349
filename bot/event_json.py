"""Envelopes, replies and removals as the store keeps them: versioned JSON."""

from collections.abc import Callable
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from bot.events import Envelope, Event, Incoming, Kind, Outgoing

JSON_VERSION = 1
"""The version in front of the JSON; raised by every change that an older reader would misread."""


class UnreadableEvent(ValueError):
    """A stored envelope or outgoing message is damaged, or was written by a newer version."""


def dump_value(value: Envelope | Outgoing) -> bytes:
    """Returns the value as versioned JSON: the version, a colon, a JSON object in UTF-8."""
    return b"%d:" % JSON_VERSION + _adapter(type(value)).dump_json(value)


def load_envelope(data: bytes) -> Envelope:
    """Returns the envelope that `dump_value` wrote.

    Raises:
        UnreadableEvent: the version is unknown or the JSON does not fit it.
    """
    return _load(Envelope, data, "envelope")


def load_outgoing(data: bytes) -> Outgoing:
    """Returns the reply or removal that `dump_value` wrote; each has a field that the other lacks.

    Raises:
        UnreadableEvent: as `load_envelope`.
    """
    return _load(Outgoing, data, "outgoing message")


def dump_reminder(message: Incoming) -> str:
    """Returns the `raw` of an envelope of the kind `REMINDER`."""
    return _adapter(Incoming).dump_json(message).decode()


def read_event(envelope: Envelope, read_frame: Callable[[Envelope], Event | None]) -> Event | None:
    """Returns the event in an envelope; `read_frame` parses those that came through a transport."""
    return _adapter(Incoming).validate_json(envelope.raw) if envelope.kind is Kind.REMINDER else read_frame(envelope)


def _load(kind: Any, data: bytes, what: str) -> Any:
    version, _, body = data.partition(b":")
    if version != b"%d" % JSON_VERSION:
        raise UnreadableEvent(f"a stored {what} of version {version[:8]!r}, this Aldis reads {JSON_VERSION}")
    try:
        return _adapter(kind).validate_json(body)
    except ValueError as error:
        raise UnreadableEvent(f"a stored {what} does not fit its version") from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Returns what reads and writes values of this kind; made on first use, since each takes some milliseconds."""
    return TypeAdapter(kind)
