"""What a message carries besides text and files, in words: contacts, places on the map, polls and stickers.

Each line is for the model, and made of text that people chose: names are kept short and on one line. Tolerant, like all
reading of frames. Left to others: text, mentions and files (`envelope`, `files`).

Source: signal-cli 0.14.6, `JsonSharedContact`, `JsonPollCreate`, `JsonPollVote`, `JsonPollTerminate`, `JsonSticker`,
`ListStickerPacksCommand`; Signal-Android, `SignalPlace` (2026-11-21).
"""

import re
from collections.abc import Iterable, Mapping

from bot.signal.json import Json, as_object, as_whole, items_in, line_of, object_in, text_in, whole_in

_MAX_ITEMS = 20
"""For contacts, and for the options of a poll; Signal's apps allow ten options."""

_MAX_LINE_CHARS = 300
_MAX_EMOJI_CHARS = 16

Stickers = Mapping[tuple[str, int | None], str]
"""The emoji of stickers, by pack and number."""

_PLACE = re.compile(
    r"https://maps\.google\.com/maps\?(?:[\w%.,=-]+&)?q=(?P<latitude>-?\d{1,2}(?:\.\d{1,15})?)(?:,|%2C)"
    r"(?P<longitude>-?\d{1,3}(?:\.\d{1,15})?)(?![\d.])",
    re.IGNORECASE,
)
"""Signal has no message type for places: Android sends the name, a picture of the map and this address."""

_NAME_PARTS = ("prefix", "given", "middle", "family", "suffix")
_ADDRESS_PARTS = ("street", "pobox", "neighborhood", "postcode", "city", "region", "country")


def extras_in(data: Json, text: str) -> tuple[str, ...]:
    """Returns a line for each contact, place and poll of a data message; `text` is its text."""
    contacts = (_contact(as_object(item)) for item in items_in(data, "contacts")[:_MAX_ITEMS])
    return tuple(line for line in (*contacts, *_places(text), *_polls(data)) if line)


def sticker_emoji(data: Json, known: Stickers) -> str | None:
    """Returns the emoji that stands for the sticker; None if there is no sticker, or its emoji is unknown.

    A frame of signal-cli 0.14.6 gives only the pack and the number of a sticker.
    """
    sticker = object_in(data, "sticker")
    place = (text_in(sticker, "packId"), whole_in(sticker, "stickerId"))
    return _emoji(sticker) or known.get(place)


def stickers_in(packs: Iterable[Json]) -> Stickers:
    """Returns the emoji of every sticker of some packs, as signal-cli lists them."""
    return {
        (text_in(pack, "packId"), whole_in(sticker, "id")): emoji
        for pack in packs
        for sticker in map(as_object, items_in(pack, "stickers"))
        if (emoji := _emoji(sticker))
    }


def _emoji(sticker: Json) -> str:
    """A sticker's emoji; empty if its pack has letters there, which would be words of its maker."""
    told = line_of(text_in(sticker, "emoji"), _MAX_EMOJI_CHARS)
    return "" if any(map(str.isalpha, told)) else told


def _contact(contact: Json) -> str:
    name = object_in(contact, "name")
    full = " ".join(filter(None, (_short(name, part) for part in _NAME_PARTS)))
    told = (
        full or _short(name, "nickname"),
        _short(contact, "organization"),
        *_values(contact, "phone", "phone"),
        *_values(contact, "email", "email"),
        *(_address(as_object(item)) for item in items_in(contact, "address")[:_MAX_ITEMS]),
    )
    known = "; ".join(filter(None, told))
    return line_of(f"a contact: {known}", _MAX_LINE_CHARS) if known else ""


def _values(contact: Json, field: str, what: str) -> Iterable[str]:
    """The phone numbers or addresses of a contact, each with its kind."""
    for item in map(as_object, items_in(contact, field)[:_MAX_ITEMS]):
        value, kind = _short(item, "value"), _short(item, "label") or _short(item, "type").lower()
        if value:
            yield f"{what} {value} ({kind})" if kind else f"{what} {value}"


def _address(item: Json) -> str:
    parts = ", ".join(filter(None, (_short(item, part) for part in _ADDRESS_PARTS)))
    return f"address {parts}" if parts else ""


def _places(text: str) -> Iterable[str]:
    for found in list(_PLACE.finditer(text))[:_MAX_ITEMS]:
        yield f"a place on the map: latitude {found['latitude']}, longitude {found['longitude']}"


def _polls(data: Json) -> Iterable[str]:
    poll, vote = object_in(data, "pollCreate"), object_in(data, "pollVote")
    if poll:
        texts = ({"text": item} for item in items_in(poll, "options")[:_MAX_ITEMS])
        options = (f"{number}. {_short(as_object(text), 'text')}" for number, text in enumerate(texts, 1))
        choice = "several answers allowed" if poll.get("allowMultiple") is True else "one answer"
        yield f"a poll ({choice}): {_short(poll, 'question')} — {', '.join(options)}"
    if vote:
        chosen = [as_whole(index) for index in items_in(vote, "optionIndexes")[:_MAX_ITEMS]]
        numbers = ", ".join(str(index + 1) for index in chosen if index is not None)
        yield f"a vote in a poll: option {numbers}" if numbers else "a vote in a poll taken back"
    if whole_in(object_in(data, "pollTerminate"), "targetSentTimestamp") is not None:
        yield "a poll was closed"


def _short(parent: Json, field: str) -> str:
    return line_of(text_in(parent, field))
