"""The content of a message: mentions in its text, its quote and files, and in words what else it carries.

Each line about a contact or a poll is for the model, and made of text that people chose: names are kept short and on
one line. Left to others: what kind of frame it is (`envelope`).

Source: signal-cli 0.14.6, `org.asamk.signal.json` (2026-11-21).
"""

import re
from dataclasses import dataclass

from bot.events import Account, Attachment, PersonId, Quote, SentId
from bot.signal.files import attachment_in, quoted_picture_in
from bot.signal.json import Json, as_object, items_in, line_of, name_of, object_in, person_in, text_in, whole_in

MENTION_SIGN = "\ufffc"
"""The placeholder for a native mention; its position and length (1) count UTF-16 code units."""

_SCHEME = re.compile(r"\w+:/+")
"""What turns a name into an address: the person who is mentioned chose it, and it ends up among another one's words."""

_MAX_ITEMS, _MAX_QUOTED_FILES = 20, 4
"""For contacts and the options of a poll, and for the files of a quoted message: Signal's apps have ten and one."""
_MAX_LINE_CHARS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A mention in a text, in UTF-16 code units, and how it is spelled out."""

    start: int
    length: int
    written: str
    is_me: bool
    person: PersonId | None = None
    """None if the bridge does not say who it is."""


def mentions_in(parent: Json, own: Account, own_name: str) -> list[Mention]:
    """Returns the mentions in a message or a quote, the account's own by `own_name`."""
    found: list[Mention] = []
    for item in map(as_object, items_in(parent, "mentions")):
        person, number, start = person_in(item, "uuid"), text_in(item, "number"), whole_in(item, "start")
        is_me = own.is_called(person, number)
        unnamed = f"member-{person[:8] if person else 'unknown'}"
        name = own_name if is_me else name_of(text_in(item, "name"), number) or unnamed
        found.append(
            Mention(
                start=-1 if start is None else start,  # which points nowhere
                length=whole_in(item, "length") or 0,
                written=f"@{_SCHEME.sub('', name)}",
                is_me=is_me,
                person=person,
            )
        )
    return found


def with_names(text: str, mentions: list[Mention]) -> str:
    """Returns the text with its placeholders spelled out; Aldis's own mention at the very beginning is left out.

    A mention that does not point to a placeholder (or points to the same one again) changes nothing.
    """
    units = text.encode("utf-16-le")
    written, end, addressed, is_blank = "", 0, False, True
    for mention in sorted(mentions, key=lambda mention: mention.start):
        start, stop = 2 * mention.start, 2 * (mention.start + mention.length)
        if start < end or units[start:stop].decode("utf-16-le", "replace") != MENTION_SIGN:
            continue
        before = units[end:start].decode("utf-16-le", "replace")
        # Looking at all of it again for each of thousands of mentions would block all chats for a second.
        is_blank = is_blank and not before.strip()
        leads = mention.is_me and is_blank
        addressed, is_blank = addressed or leads, is_blank and leads
        written += before + ("" if leads else mention.written)
        end = stop
    written += units[end:].decode("utf-16-le", "replace")
    return written.lstrip(" \t\r\n,:") if addressed else written


def quote_in(data: Json, own: Account, own_name: str) -> Quote | None:
    """Returns the quote of a data message; None if it has none."""
    quote = object_in(data, "quote")
    sent_at = whole_in(quote, "id")
    if sent_at is None:
        return None
    pictures = [quoted_picture_in(as_object(item)) for item in items_in(quote, "attachments")[:_MAX_QUOTED_FILES]]
    return Quote(
        sent_at=SentId(sent_at),
        author=person_in(quote, "authorUuid"),
        text=with_names(text_in(quote, "text"), mentions_in(quote, own, own_name)),
        pictures=tuple(picture for picture in pictures if picture is not None),
        has_unseen_files=None in pictures,
    )


def attachments_in(data: Json) -> tuple[Attachment, ...]:
    """Returns the files of a data message."""
    read = (attachment_in(as_object(item)) for item in items_in(data, "attachments"))
    return tuple(attachment for attachment in read if attachment is not None)


def extras_in(data: Json) -> tuple[str, ...]:
    """Returns a line for each contact and poll of a data message."""
    lines = [_contact(as_object(item)) for item in items_in(data, "contacts")[:_MAX_ITEMS]]
    if poll := object_in(data, "pollCreate"):
        texts = ({"text": item} for item in items_in(poll, "options")[:_MAX_ITEMS])
        options = (f"{number}. {_short(text, 'text')}" for number, text in enumerate(texts, 1))
        choice = "several answers allowed" if poll.get("allowMultiple") is True else "one answer"
        lines.append(f"a poll ({choice}): {_short(poll, 'question')} — {', '.join(options)}")
    return tuple(filter(None, lines))


def _contact(contact: Json) -> str:
    name = object_in(contact, "name")
    full = " ".join(filter(None, (_short(name, "given"), _short(name, "family")))) or _short(name, "nickname")
    items = [(what, as_object(item)) for what in ("phone", "email") for item in items_in(contact, what)]
    ways = (f"{what} {value}" for what, item in items if (value := _short(item, "value")))
    known = "; ".join(list(filter(None, (full, _short(contact, "organization"), *ways)))[:_MAX_ITEMS])
    return line_of(f"a contact: {known}", _MAX_LINE_CHARS) if known else ""


def _short(parent: Json, field: str) -> str:
    return line_of(text_in(parent, field))
