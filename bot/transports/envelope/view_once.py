"""What may be seen only once is never written: such a message loses its content before anybody gets to keep it.

The inbox keeps frames as they came, and people were promised that a view-once message leaves no copy. So of such a
message only this stays: who wrote it, when, where, and that it was one. Left to others: reading frames (`envelope`).

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonDataMessage` (2026-11-21).
"""

import json

from bot.transports.envelope.json import Json, as_object, object_in

_PLACES = (
    ("dataMessage",),
    ("editMessage", "dataMessage"),
    ("syncMessage", "sentMessage"),
    ("syncMessage", "sentMessage", "editMessage", "dataMessage"),
)
"""Where in an envelope a message can stand."""

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
"""What stays of it; anything else that signal-cli knows or will know may be content. Mentions and the quote tell
whether a group's message is for Aldis."""

_KEPT_OF_QUOTE = ("id", "author", "authorNumber", "authorUuid")


def without_content(raw: str, frame: Json) -> str | None:
    """The frame as it may be kept: as it came, without the content of a view-once message.

    `frame` is what `raw` reads as. None where what is left cannot be written (it is nested too deep).
    """
    source = object_in(frame, "envelope")
    if not any(_message_at(source, place).get("viewOnce") is True for place in _PLACES):
        return raw
    for place in _PLACES:
        source = _cleared(source, place)
    try:
        # Reading stops at about the depth at which writing does; nothing promises that it is exactly the same.
        return json.dumps({**frame, "envelope": source})
    except RecursionError:
        return None


def _message_at(parent: Json, place: tuple[str, ...]) -> Json:
    for field in place:
        parent = object_in(parent, field)
    return parent


def _cleared(parent: Json, place: tuple[str, ...]) -> Json:
    """The object with the message at this place without its content, where it is view-once."""
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
