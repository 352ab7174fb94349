"""What the store keeps as versioned JSON: envelopes, replies and removals; messages and settings by the same form."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.events import Envelope, Event, Incoming, Kind, Outgoing

_Value = TypeVar("_Value")

JSON_VERSION = 1
"""Raised by every change that an older reader would misread."""


class UnreadableJson(ValueError):
    """Stored JSON is damaged, or was written by a newer version of Aldis."""


def dump_json(adapter: TypeAdapter[Any], value: object, *, exclude_defaults: bool = False) -> bytes:
    """Returns the value as versioned JSON: the version, a colon, the JSON in UTF-8."""
    return b"%d:" % JSON_VERSION + adapter.dump_json(value, exclude_defaults=exclude_defaults)


def load_json(adapter: TypeAdapter[_Value], data: bytes, what: str) -> _Value:
    """Returns the value that `dump_json` wrote, or raises `UnreadableJson`; `what` it is stands in the error."""
    version, _, body = data.partition(b":")
    if version != b"%d" % JSON_VERSION:
        raise UnreadableJson(f"a stored {what} of version {version[:8]!r}, this Aldis reads {JSON_VERSION}")
    try:
        return adapter.validate_json(body)
    except ValueError as error:
        raise UnreadableJson(f"a stored {what} does not fit its version") from error


def dump_value(value: Envelope | Outgoing) -> bytes:
    """Returns it as versioned JSON."""
    return dump_json(_adapter(type(value)), value)


def load_envelope(data: bytes) -> Envelope:
    """Returns the envelope that `dump_value` wrote, or raises as `load_json`."""
    return load_json(_adapter(Envelope), data, "envelope")


def load_outgoing(data: bytes) -> Outgoing:
    """Returns the reply or removal that `dump_value` wrote (each has a field that the other lacks); raises likewise."""
    return load_json(_adapter(Outgoing), data, "outgoing message")


def dump_reminder(message: Incoming) -> str:
    """Returns the `raw` of an envelope of the kind `REMINDER`."""
    return _adapter(Incoming).dump_json(message).decode()


def read_event(envelope: Envelope, read_frame: Callable[[Envelope], Event | None]) -> Event | None:
    """Returns the event in an envelope; `read_frame` parses those that came through a transport."""
    return _adapter(Incoming).validate_json(envelope.raw) if envelope.kind is Kind.REMINDER else read_frame(envelope)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Made on first use, since each takes some milliseconds."""
    return TypeAdapter(kind)
