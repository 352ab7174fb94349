"""Notes to self: recognizes what the owner of an account writes to their own chat on another device.

Linked to a person's own phone, Aldis sees a copy of everything that the person sends, to anybody. Only messages to the
account itself are for Aldis; they are read as ordinary messages from the account. Left to others: everything about
ordinary messages (`event`), whether a note is Aldis's own (`frames`, `bot.loops.intake`).

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonSyncDataMessage` (2026-11-21).
"""

from bot.events import PersonId
from bot.signal.json import Json, object_in, person_in, text_in

_ADDRESS = ("destination", "destinationNumber", "destinationUuid")


def note_in(source: Json, *, number: str | None, own_uuid: PersonId | None) -> Json:
    """Returns the envelope as if the account had sent the note as an ordinary message; empty if it is no note to
    self.
    """
    sent = object_in(object_in(source, "syncMessage"), "sentMessage")
    author = person_in(source, "sourceUuid")
    if author is None or own_uuid not in {None, author} or not _is_to_self(sent, author, number):
        return {}
    rest = {field: value for field, value in source.items() if field != "syncMessage"}
    edit = object_in(sent, "editMessage")
    if edit:
        return rest | {"editMessage": edit}
    return rest | {"dataMessage": {field: value for field, value in sent.items() if field not in _ADDRESS}}


def _is_to_self(sent: Json, author: PersonId, number: str | None) -> bool:
    """Whether it goes to the account alone; if a UUID is given, the number does not count."""
    if sent.get("groupInfo") is not None or object_in(object_in(sent, "editMessage"), "dataMessage").get("groupInfo"):
        return False
    if sent.get("destinationUuid") is not None:
        return person_in(sent, "destinationUuid") == author
    return bool(number) and number in {text_in(sent, "destinationNumber"), text_in(sent, "destination")}
