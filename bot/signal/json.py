"""Reads JSON of any shape without ever raising: a missing field, a wrong type and a broken frame read as nothing.

Every account on Signal can send anything, and signal-cli changes its fields between versions.
"""

import json
from collections.abc import Mapping
from typing import cast

from bot.events import PersonId
from bot.settings.values import UUID
from tools import clean_line

Json = Mapping[str, object]

MAX_NAME_CHARS = 80

_MAX_WHOLE = 2**53
"""Larger numbers are no time, size or duration."""


def parse_frame(raw: str) -> Json:
    """Returns what a bridge wrote; empty if it is no JSON object."""
    try:
        return as_object(json.loads(raw))
    except (ValueError, RecursionError):
        return {}


def as_object(value: object) -> Json:
    """Returns the value if it is a JSON object, otherwise an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def as_whole(value: object) -> int | None:
    """Returns the value if it is a whole number that can be a time, a size or a duration; otherwise None."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MAX_WHOLE else None


def object_in(parent: Json, field: str) -> Json:
    """Returns the object in a field; empty if there is none."""
    return as_object(parent.get(field))


def items_in(parent: Json, field: str) -> list[object]:
    """Returns the array in a field; empty if there is none."""
    value = parent.get(field)
    return cast("list[object]", value) if isinstance(value, list) else []


def text_in(parent: Json, field: str) -> str:
    """Returns the string in a field, empty if there is none; lone surrogates, which no database takes, are replaced."""
    value = parent.get(field)
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_in(parent: Json, field: str) -> int | None:
    """Returns the whole number in a field, from 0 to 2**53; otherwise None."""
    return as_whole(parent.get(field))


def person_in(parent: Json, field: str) -> PersonId | None:
    """Returns the UUID in a field, in lower case; otherwise None."""
    uuid = text_in(parent, field).lower()
    return PersonId(uuid) if UUID.fullmatch(uuid) else None


def line_of(text: str, max_chars: int = MAX_NAME_CHARS) -> str:
    """Returns text that people wrote, on one short line, without characters that hide something; can be empty."""
    return clean_line(text)[:max_chars].rstrip()


def name_of(name: str, number: str = "") -> str | None:
    """Returns a name that people chose, as `line_of`; None if there is only a phone number or a UUID instead."""
    line = line_of(name)
    is_id = line in {"", number} or line.lstrip("+").isdecimal() or UUID.fullmatch(line.lower())
    return None if is_id else line
