"""Reads signal-cli's JSON: first the few fields that tell who a frame is from, and later its content.

Both bridges pass on the same frames, so this module serves both. It is tolerant: whatever comes, `peek_envelope` and
`event` return None instead of raising, so that no frame (any stranger can send one) ever stops the stream. Left to
others: how frames travel (`signal_cli`, `rest_api`), who can write (`bot.access.access`), what is carried besides text
(`contents`, `files`), what the account writes to itself (`notes`).

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonMessageEnvelope` and its neighbours (2026-11-21).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.events import (
    Attachment,
    ChatId,
    Deleted,
    Edited,
    Envelope,
    Event,
    Incoming,
    Kind,
    PersonId,
    Quote,
    Reacted,
    Receipt,
    SentId,
    TimerChanged,
    Undecryptable,
    is_stop_word,
    plain_command,
)
from bot.signal.contents import Stickers, extras_in, sticker_emoji
from bot.signal.files import attachment_in, quoted_picture_in, repeats_text
from bot.signal.json import (
    Json,
    as_object,
    as_whole,
    items_in,
    name_of,
    object_in,
    parse_frame,
    person_in,
    text_in,
    whole_in,
)
from bot.signal.mentions import MENTION_SIGN, Own, mention_in, with_names
from bot.signal.notes import note_in
from bot.signal.view_once import without_content

_GROUP_ID = re.compile(r"[A-Za-z0-9+/_-]{1,128}={0,2}")
_CLASS_NAME = re.compile(r"[A-Za-z0-9_.$]{1,100}")
_COMMAND = re.compile(r"\s*(?:\ufffc[\s,:]*|@?\w+(?:[,:]\s*|\s+))?(?:[\"“„«'‘`]?[/\uff0f\u2044\u2215][^\W\d_]|/\?\s*$)")
"""A slash and a letter, optionally after a mention (`￼ /help`) or one word that may address somebody (`Aldis,
/help`)."""

_MAX_TARGETS = 500
"""How many messages one receipt can confirm. Source: SendReadReceiptJob.MAX_TIMESTAMPS of Signal-Android (2026)."""

_MAX_QUOTED_FILES = 4
"""How many files of a quoted message are looked at: Signal's own apps name one."""

_NO_MESSAGE = ("storyContext", "pinMessage", "unpinMessage", "payment")
"""Content of a data message that makes it none for Aldis. A story reply answers a story, and Aldis posts none."""

_POLL_TALK = ("pollVote", "pollTerminate")
"""In a group others can see who voted and that a poll is over; in a direct chat it would be the person's own poll,
which needs no answer."""

_CONTENT = ("attachments", "sticker", "quote", "viewOnce", "contacts", "pollCreate", *_POLL_TALK)
"""What makes a data message a message even without text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Opened:
    """An envelope that is being read: `source` is its JSON, `data` the data message in it (empty if there is none)."""

    envelope: Envelope
    author: PersonId
    chat: ChatId
    frame: Json
    source: Json
    data: Json
    own: Own
    stickers: Stickers


def peek_envelope(raw: str, *, own: Own, takes_notes: bool = False, is_exclusive: bool = False) -> Envelope | None:
    """Returns whom a frame is from, where it belongs and its kind; None if it is not an envelope for this account.

    `is_exclusive`: it is for this account, whatever account it names. With `takes_notes`, what the account writes to
    itself gets the kind that it would have from anybody else, in the account's chat with itself.
    """
    frame = parse_frame(raw)
    whole = object_in(frame, "envelope")
    note: Json = note_in(whole, number=own.number, own_uuid=own.uuid) if takes_notes else {}
    source = note or whole
    sent_at = whole_in(source, "timestamp")
    is_for_us = is_exclusive or text_in(frame, "account") in {"", own.number, own.uuid}
    if sent_at is None or not is_for_us:
        return None
    author = person_in(source, "sourceUuid")
    number = text_in(source, "sourceNumber") or None
    group = _group(source)
    if group is None:
        return None
    kept = without_content(raw, frame)
    if kept is None:
        return None
    # A sync message reports what the account itself did on another device: Signal refuses it from anybody else.
    from_self = whole.get("syncMessage") is not None or own.is_me(author, number or "")
    kind = Kind.OTHER if from_self and not note else _kind(frame, source)
    data = _data(source)
    return Envelope(
        account=own.id,
        author=author,
        number=number,
        device=whole_in(source, "sourceDevice") or 0,
        sent_at=SentId(sent_at),
        kind=kind,
        chat=_chat(group, author),
        raw=kept,
        from_self=from_self,
        server_at=whole_in(source, "serverReceivedTimestamp"),
        waited_ms=_waited_ms(source),
        expires_in_seconds=_timer_seconds(data),
        is_command=kind is Kind.MESSAGE and is_command(_words(data)),
        group_revision=whole_in(object_in(data, "groupInfo"), "revision"),
    )


def _waited_ms(source: Mapping[str, object]) -> int | None:
    """Returns how long Signal's server kept it; None if the bridge does not say.

    Source: signal-cli 0.14.6, JsonMessageEnvelope; the second time is 0 if the server did not give it.
    """
    received, delivered = whole_in(source, "serverReceivedTimestamp"), whole_in(source, "serverDeliveredTimestamp")
    return None if not received or not delivered else max(0, delivered - received)


def is_command(text: str) -> bool:
    """Whether a message with this text is a command to Aldis, or may stop what it is doing."""
    return _COMMAND.match(plain_command(text)) is not None or is_stop_word(text)


def event(envelope: Envelope, *, own: Own, stickers: Stickers | None = None) -> Event | None:
    """Returns the content of an envelope; None if it is nothing for Aldis or unreadable. `stickers` are the known ones.

    What the account itself did on another device is nothing, except for a sign that our own message arrived there, and
    for a note to self if `peek_envelope` has taken it as a message.
    """
    frame = parse_frame(envelope.raw)
    source = object_in(frame, "envelope")
    if envelope.from_self and envelope.kind is Kind.OTHER:
        return _own_receipt(envelope, source, own)
    if envelope.from_self:
        source = note_in(source, number=own.number, own_uuid=None)
    if envelope.kind is Kind.UNDECRYPTABLE:
        return _undecryptable(envelope, frame)
    read = _READERS.get(envelope.kind)
    if read is None or envelope.author is None or envelope.chat is None:
        return None
    return read(
        _Opened(
            envelope=envelope,
            author=envelope.author,
            chat=envelope.chat,
            frame=frame,
            source=source,
            data=_data(source),
            own=own,
            stickers=stickers or {},
        )
    )


# The kind


def _kind(frame: Json, source: Json) -> Kind:
    if frame.get("exception") is not None:
        return Kind.UNDECRYPTABLE
    if source.get("receiptMessage") is not None:
        return Kind.RECEIPT
    if source.get("editMessage") is not None:
        return Kind.EDIT
    return _data_kind(_data(source))


def _data_kind(data: Json) -> Kind:
    nothing = _NO_MESSAGE if data.get("groupInfo") is not None else (*_NO_MESSAGE, *_POLL_TALK)
    if any(data.get(part) is not None for part in nothing):
        return Kind.OTHER
    if data.get("remoteDelete") is not None or data.get("adminDelete") is not None:
        return Kind.DELETE
    if data.get("reaction") is not None:
        return Kind.REACTION
    if data.get("isExpirationUpdate") is True:
        return Kind.TIMER
    return Kind.MESSAGE if _says_something(data) else Kind.OTHER


def _says_something(data: Json) -> bool:
    return bool(_words(data).strip()) or any(data.get(part) for part in _CONTENT)


def _words(data: Json) -> str:
    """The text of a message; empty for a view-once one."""
    return "" if data.get("viewOnce") is True else text_in(data, "message")


def _data(source: Json) -> Json:
    edit = object_in(source, "editMessage")
    return object_in(edit, "dataMessage") if edit else object_in(source, "dataMessage")


def _group(source: Json) -> str | None:
    """The id of the group that it was written in; empty in a direct conversation; None if that cannot be determined.

    A group that cannot be read must not pass for a direct conversation: the answer would go to the wrong place.
    """
    places = [object_in(source, "typingMessage"), object_in(source, "storyMessage")]
    info = _data(source).get("groupInfo")
    if info is None and not any(place.get("groupId") for place in places):
        return ""
    group = text_in(as_object(info), "groupId") or next(
        filter(None, (text_in(place, "groupId") for place in places)), ""
    )
    return group if _GROUP_ID.fullmatch(group) else None


def _chat(group: str, author: PersonId | None) -> ChatId | None:
    if author is None:
        return None
    return ChatId.group(group) if group else ChatId.direct(author)


# The content


def _message(opened: _Opened) -> Incoming:
    data, own = opened.data, opened.own
    text = _words(data)
    mentions = [mention_in(as_object(item), own) for item in items_in(data, "mentions")]
    # Signal-cli 0.13.22 to 0.13.24 lost the list of mentions (https://github.com/AsamK/signal-cli/issues/1940).
    lost = not mentions and opened.chat.is_group and text.startswith(MENTION_SIGN)
    view_once = data.get("viewOnce") is True
    quote = object_in(data, "quote")
    files = () if view_once else _attachments(data)
    return Incoming(
        author=opened.author,
        name=name_of(text_in(opened.source, "sourceName"), opened.envelope.number or ""),
        chat=opened.chat,
        sent_at=opened.envelope.sent_at,
        text=text.lstrip(MENTION_SIGN).lstrip() if lost else with_names(text, mentions),
        mentions_me=lost or any(mention.is_me for mention in mentions),
        mentioned=tuple(named for mention in mentions for named in mention.others),
        quote=_quote(quote, own),
        quotes_me=bool(quote) and own.is_me(person_in(quote, "authorUuid"), _number_of(quote, "author")),
        attachments=tuple(file for file in files if not repeats_text(file, text)),
        text_files=tuple(file for file in files if repeats_text(file, text)),
        sticker=bool(data.get("sticker")),
        sticker_emoji=sticker_emoji(data, opened.stickers),
        extras=extras_in(data, text),
        view_once=view_once,
        expires_in_seconds=_timer_seconds(data),
        group_name=name_of(text_in(object_in(data, "groupInfo"), "groupName")),
    )


def _edited(opened: _Opened) -> Edited | None:
    target = whole_in(object_in(opened.source, "editMessage"), "targetSentTimestamp")
    if target is None or not opened.data:
        return None
    return Edited(target=SentId(target), message=_message(opened))


def _deleted(opened: _Opened) -> Deleted | None:
    """`author` is who wrote the deleted message, even if an admin deleted it; others cannot delete it."""
    by_admin = object_in(opened.data, "adminDelete")
    author = person_in(by_admin, "targetAuthorUuid") if by_admin else opened.author
    remote = object_in(opened.data, "remoteDelete")
    target = whole_in(by_admin, "targetSentTimestamp") if by_admin else whole_in(remote, "timestamp")
    if target is None or author is None:
        return None
    return Deleted(author=author, chat=opened.chat, target=SentId(target))


def _reacted(opened: _Opened) -> Reacted | None:
    reaction = object_in(opened.data, "reaction")
    target, emoji = whole_in(reaction, "targetSentTimestamp"), text_in(reaction, "emoji")
    if target is None or not emoji:
        return None
    target_author, number = person_in(reaction, "targetAuthorUuid"), _number_of(reaction, "targetAuthor")
    is_mine = opened.own.is_me(target_author, number)
    if target_author is None and is_mine:
        target_author = opened.own.uuid
    return Reacted(
        author=opened.author,
        chat=opened.chat,
        emoji=emoji,
        target_author=target_author,
        target=SentId(target),
        removed=reaction.get("isRemove") is True,
        is_on_mine=is_mine or not (target_author or number),
    )


def _timer(opened: _Opened) -> TimerChanged:
    seconds = _timer_seconds(opened.data)
    return TimerChanged(author=opened.author, chat=opened.chat, expires_in_seconds=seconds)


def _confirmed_by(author: PersonId, source: Json) -> Receipt | None:
    receipt = object_in(source, "receiptMessage")
    targets = _targets(items_in(receipt, "timestamps"))
    what = _confirmed(receipt)
    return Receipt(author=author, what=what, targets=targets) if what and targets else None


def _targets(items: Iterable[object]) -> tuple[SentId, ...]:
    """The newest timestamps of a receipt, without repeats, oldest first."""
    return tuple(sorted({SentId(at) for item in items if (at := as_whole(item)) is not None})[-_MAX_TARGETS:])


def _own_receipt(envelope: Envelope, source: Json, own: Own) -> Receipt | None:
    """A receipt for the account's own messages that another device of the account has received or read."""
    if envelope.author is None:
        return None
    if source.get("receiptMessage") is not None:
        return _confirmed_by(envelope.author, source)
    read = [as_object(item) for item in items_in(object_in(source, "syncMessage"), "readMessages")]
    of_own = [item for item in read if own.is_me(person_in(item, "senderUuid"), _number_of(item, "sender"))]
    targets = _targets([item.get("timestamp") for item in of_own])
    return Receipt(author=envelope.author, what="read", targets=targets) if targets else None


def _confirmed(receipt: Json) -> Literal["delivered", "read", "viewed"] | None:
    if receipt.get("isDelivery") is True:
        return "delivered"
    if receipt.get("isRead") is True:
        return "read"
    return "viewed" if receipt.get("isViewed") is True else None


def _undecryptable(envelope: Envelope, frame: Json) -> Undecryptable:
    name = text_in(object_in(frame, "exception"), "type")
    return Undecryptable(author=envelope.author, reason=name if _CLASS_NAME.fullmatch(name) else "unknown")


def _timer_seconds(data: Json) -> int:
    """The disappearing-message timer in seconds; Signal keeps it in 32 bits."""
    return min(whole_in(data, "expiresInSeconds") or 0, 2**32 - 1)


_READERS: Mapping[Kind, Callable[[_Opened], Event | None]] = {
    Kind.MESSAGE: _message,
    Kind.EDIT: _edited,
    Kind.DELETE: _deleted,
    Kind.REACTION: _reacted,
    Kind.TIMER: _timer,
    Kind.RECEIPT: lambda opened: _confirmed_by(opened.author, opened.source),
}


# The parts of a message


def _quote(quote: Json, own: Own) -> Quote | None:
    sent_at = whole_in(quote, "id")
    if sent_at is None:
        return None
    mentions = [mention_in(as_object(item), own) for item in items_in(quote, "mentions")]
    text = with_names(text_in(quote, "text"), mentions)
    files = [as_object(item) for item in items_in(quote, "attachments")[:_MAX_QUOTED_FILES]]
    pictures = [quoted_picture_in(file) for file in files]
    return Quote(
        sent_at=SentId(sent_at),
        author=person_in(quote, "authorUuid"),
        text=text,
        pictures=tuple(picture for picture in pictures if picture is not None),
        has_unseen_files=None in pictures,
    )


def _attachments(data: Json) -> tuple[Attachment, ...]:
    read = (attachment_in(as_object(item)) for item in items_in(data, "attachments"))
    return tuple(attachment for attachment in read if attachment is not None)


def _number_of(item: Json, field: str) -> str:
    """The phone number of `author` or `targetAuthor`: older versions have it only in the field without `Number`."""
    return text_in(item, f"{field}Number") or text_in(item, field)
