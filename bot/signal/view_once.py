"""Keeps view-once content off the disk: such a message loses its content before anybody gets to store it.

The inbox stores frames as they came, and people were promised that a view-once message leaves no copy. So all that is
left of one is who wrote it, when, where, and that it was one. Left to others: reading frames (`envelope`).

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonDataMessage` (2026-11-21).
"""

import json

from bot.signal.json import Json, as_object, object_in

_PLACES = (
    ("dataMessage",),
    ("editMessage", "dataMessage"),
    ("syncMessage", "sentMessage"),
    ("syncMessage", "sentMessage", "editMessage", "dataMessage"),
)
"""Where in an envelope a message can be."""

_KEPT = (
    "timestamp",
    "viewOnce",
    "expiresInSeconds",
    "isExpirationUpdate",
    "groupInfo",
    "mentions",
    "quote",
    "reaction",
    "remoteDelete",
    "adminDelete",
    "destination",
    "destinationNumber",
    "destinationUuid",
)
"""The fields that stay; anything else, known to signal-cli now or later, may be content. Mentions and the quote tell
whether a group's message is for Aldis."""

_KEPT_OF_QUOTE = ("id", "author", "authorNumber", "authorUuid")


def without_content(raw: str, frame: Json) -> str | None:
    """Returns the frame in a form that can be stored: unchanged, except without view-once content.

    `frame` is `raw`, parsed. None if the rest cannot be written because it is nested too deeply.
    """
    source = object_in(frame, "envelope")
    if not any(_message_at(source, place).get("viewOnce") is True for place in _PLACES):
        return raw
    for place in _PLACES:
        source = _cleared(source, place)
    try:
        # Reading gives up at about the same nesting depth as writing; nothing guarantees that it is exactly the same.
        return json.dumps({**frame, "envelope": source})
    except RecursionError:
        return None


def _message_at(parent: Json, place: tuple[str, ...]) -> Json:
    for field in place:
        parent = object_in(parent, field)
    return parent


def _cleared(parent: Json, place: tuple[str, ...]) -> Json:
    """The object without the content of the message at this place, if that is view-once."""
    if place:
        child = object_in(parent, place[0])
        return {**parent, place[0]: _cleared(child, place[1:])} if child else parent
    if parent.get("viewOnce") is not True:
        return parent
    kept = {field: parent[field] for field in _KEPT if field in parent}
    if "quote" in kept:
        quote = as_object(kept["quote"])
        kept["quote"] = {field: quote[field] for field in _KEPT_OF_QUOTE if field in quote}
    return kept
