"""Reads signal-cli's JSON: first the few fields that tell who a frame is from, and later its content.

Both bridges pass on the same frames. Whatever comes, `FrameReader` returns None instead of raising, so that no frame
(any stranger can send one) ever stops the stream. Two promises are kept here before a frame can be stored: a view-once
message loses its content, and of what the owner of an account writes on another device only notes to self are read.

Source: signal-cli 0.14.6, `org.asamk.signal.json.JsonMessageEnvelope` and its neighbours (2026-11-21).
"""

import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bot.errors import NotSent, Undeliverable
from bot.events import (
    Account,
    ChatId,
    Deleted,
    Edited,
    Envelope,
    Event,
    Incoming,
    Kind,
    NamedPerson,
    PersonId,
    Quote,
    Reacted,
    Receipt,
    SentId,
    Undecryptable,
    is_stop_word,
)
from bot.signal.directory import Sticker
from bot.signal.files import attachment_in, quoted_picture_in, repeats_text
from bot.signal.json import (
    Json,
    as_object,
    as_whole,
    items_in,
    line_of,
    name_of,
    object_in,
    parse_frame,
    person_in,
    text_in,
    whole_in,
)
from bot.signal.protocol import StreamState

_log = logging.getLogger(__name__)

_GROUP_ID = re.compile(r"[A-Za-z0-9+/_-]{1,128}={0,2}")
_COMMAND = re.compile(r"\s*(?:\ufffc[\s,:]*|@?\w+(?:[,:]\s*|\s+))?/(?:[^\W\d_]|\?\s*$)")
"""A slash and a letter, optionally after a mention (`￼ /help`) or one word that may address Aldis (`Aldis, /help`)."""

CORRECTION = re.compile(
    r"(?i)\s*(?:\ufffc[\s,:]*|@\w+[\s,:]+|\w+[,:]\s*)?"
    r"(?:no,? (?:it is|it['’]s|that is|that['’]s|es|son)|nein,? (?:es|das) (?:ist|sind)|non,? (?:c['’]est|ce sont))\b"
)
"""How people begin to correct an answer under way, maybe behind a name; or they quote its status, which ends in `…`."""

MAX_FRAME_CHARS = 1024 * 1024
"""Longer frames are not read: Signal's longest text is 64 KiB, and files are not in the frame."""
_MAX_TARGETS = 500
"""How many messages one receipt can confirm. Source: SendReadReceiptJob.MAX_TIMESTAMPS of Signal-Android (2026)."""

_NO_MESSAGE = ("storyContext", "pinMessage", "unpinMessage", "payment", "pollVote", "pollTerminate")
"""Content of a data message that makes it none for Aldis."""
_CONTENT = ("attachments", "sticker", "quote", "viewOnce", "contacts", "pollCreate")
"""What makes a data message a message even without text."""

_CONFIRMED = ("isDelivery", "isRead", "isViewed")

_ADDRESS = ("destination", "destinationNumber", "destinationUuid")
_KEPT_OF_VIEW_ONCE = (
    *("timestamp", "viewOnce", "expiresInSeconds", "groupInfo", "mentions", "remoteDelete", "adminDelete"),
    *("id", "author", "authorNumber", "authorUuid"),
    *_ADDRESS,
)
"""The fields that stay of a view-once message and of its quote; any other, known to signal-cli now or later, may be
content. Mentions and the quote tell whether a group's message is for Aldis."""

_MENTION_SIGN = "\ufffc"
"""The placeholder for a native mention; its position and length (1) count UTF-16 code units."""

_SCHEME = re.compile(r"\w+:/+")
"""What turns the name that a person has chosen into an address among another one's words."""

_MAX_ITEMS = 20
"""For contacts, the options of a poll, and the files of a quoted message: Signal's apps have ten at most."""


class FrameReader:
    """Reads the frames of one account; `name` is how Aldis's own mention is spelled out in a text.

    With `takes_notes`, what the account writes to itself is a message, and all else that it writes is the person's own
    affair. `stream` counts the frames that are no envelope.
    """

    def __init__(
        self, account: Account, name: str, *, takes_notes: bool = False, stream: StreamState | None = None
    ) -> None:
        self.own = account
        self.name = name
        self.takes_notes = takes_notes
        self.stream = stream or StreamState()
        self.stickers: Mapping[Sticker, str] = {}
        """The emoji of the stickers that the bridge knows."""
        self._owner: PersonId | None = None
        """Whose notes arrive, where the bridge does not give the account's id."""

    def is_own_chat(self, chat: ChatId) -> bool:
        """Returns whether it is the account's chat with itself."""
        return not chat.is_group and chat.id in {self.own.id, self.own.number, self._owner}

    def is_out_of_bounds(self, chat: ChatId) -> bool:
        """Returns whether Aldis must stay out of a chat, which is the person's own affair."""
        return self.takes_notes and not self.is_own_chat(chat)

    def check_bounds(self, chat: ChatId) -> None:
        """Raises `Undeliverable` if Aldis must stay out of a chat, `NotSent` if whose it is is not known yet."""
        if self.is_out_of_bounds(chat):
            if (self.own.id or self._owner) is None and not chat.is_group:
                raise NotSent("SIGNAL__NOTE_TO_SELF: the account's own id is not known before its next note")
            raise Undeliverable("SIGNAL__NOTE_TO_SELF: nothing is sent to other people")

    def envelope(self, raw: str) -> Envelope | None:
        """Returns the frame as an envelope; None, counted and logged without its text, if it is none."""
        envelope = self._peek(raw) if len(raw) <= MAX_FRAME_CHARS else None
        if envelope is None:
            self.stream.unreadable += 1
            _log.debug("a frame from the bridge is no envelope")
        elif envelope.from_self and envelope.kind is not Kind.OTHER:
            self._owner = envelope.author
        return envelope

    def event(self, envelope: Envelope) -> Event | None:
        """Returns the content of an envelope; None if it is nothing for Aldis or unreadable.

        Of what the account itself did on another device these are something: a sign that our own message arrived there,
        and a note to self if `envelope` has taken it as a message.
        """
        frame = parse_frame(envelope.raw)
        source = object_in(frame, "envelope")
        if envelope.from_self and envelope.kind is Kind.OTHER:
            return _own_receipt(envelope, source, self.own)
        if envelope.from_self:
            source = _note_in(source, replace(self.own, id=None))
        if envelope.kind is Kind.UNDECRYPTABLE:
            return Undecryptable(reason=text_in(object_in(frame, "exception"), "type"))
        if envelope.author is None or envelope.chat is None:
            return None
        return self._content(envelope, envelope.author, envelope.chat, source)

    def _content(self, envelope: Envelope, author: PersonId, chat: ChatId, source: Json) -> Event | None:
        data = _data(source)
        found: Event | None = None
        match envelope.kind:
            case Kind.MESSAGE:
                found = self._message(envelope, author, chat, source)
            case Kind.EDIT:
                target = whole_in(object_in(source, "editMessage"), "targetSentTimestamp")
                if target is not None and data:
                    found = Edited(target=SentId(target), message=self._message(envelope, author, chat, source))
            case Kind.DELETE:
                # An admin can delete what another person wrote, who is the author of what goes.
                by_admin, remote = object_in(data, "adminDelete"), object_in(data, "remoteDelete")
                writer = person_in(by_admin, "targetAuthorUuid") if by_admin else author
                target = whole_in(by_admin, "targetSentTimestamp") if by_admin else whole_in(remote, "timestamp")
                if target is not None and writer is not None:
                    found = Deleted(author=writer, chat=chat, target=SentId(target))
            case Kind.REACTION:
                found = self._reacted(author, chat, data)
            case Kind.RECEIPT:
                found = _confirmed_by(author, source)
            case _:
                pass
        return found

    def _message(self, envelope: Envelope, author: PersonId, chat: ChatId, source: Json) -> Incoming:
        data, own = _data(source), self.own
        text, quote, sticker = _words(data), object_in(data, "quote"), object_in(data, "sticker")
        mentions = _mentions_in(data, own, self.name)
        view_once = data.get("viewOnce") is True
        listed = [] if view_once else items_in(data, "attachments")
        files = [file for item in listed if (file := attachment_in(as_object(item))) is not None]
        return Incoming(
            author=author,
            name=name_of(text_in(source, "sourceName"), envelope.number or ""),
            chat=chat,
            sent_at=envelope.sent_at,
            text=_with_names(text, mentions),
            mentions_me=any(mention.is_me for mention in mentions),
            mentioned=tuple(
                NamedPerson(name=mention.written.removeprefix("@"), person=mention.person)
                for mention in mentions
                if mention.person is not None and not mention.is_me
            ),
            quote=_quote_in(data, own, self.name),
            quotes_me=own.is_called(person_in(quote, "authorUuid"), text_in(quote, "authorNumber")),
            attachments=tuple(file for file in files if not repeats_text(file, text)),
            text_files=tuple(file for file in files if repeats_text(file, text)),
            sticker=bool(data.get("sticker")),
            sticker_emoji=self.stickers.get((text_in(sticker, "packId"), whole_in(sticker, "stickerId"))),
            extras=_extras_in(data),
            view_once=view_once,
            expires_in_seconds=_timer_seconds(data),
        )

    def _reacted(self, author: PersonId, chat: ChatId, data: Json) -> Reacted | None:
        reaction = object_in(data, "reaction")
        target, emoji = whole_in(reaction, "targetSentTimestamp"), text_in(reaction, "emoji")
        if target is None or not emoji:
            return None
        target_author, number = person_in(reaction, "targetAuthorUuid"), text_in(reaction, "targetAuthorNumber")
        is_mine = self.own.is_called(target_author, number)
        return Reacted(
            author=author,
            chat=chat,
            emoji=emoji,
            target_author=target_author or (self.own.id if is_mine else None),
            target=SentId(target),
            removed=reaction.get("isRemove") is True,
            is_on_mine=is_mine or not (target_author or number),
        )

    def _peek(self, raw: str) -> Envelope | None:
        """A frame as an envelope; a note to self gets the kind that it would have from another person."""
        own, frame = self.own, parse_frame(raw)
        whole = object_in(frame, "envelope")
        note: Json = _note_in(whole, own) if self.takes_notes else {}
        source = note or whole
        sent_at, group = whole_in(source, "timestamp"), _group(source)
        if sent_at is None or group is None:
            return None
        author = person_in(source, "sourceUuid")
        number = text_in(source, "sourceNumber") or None
        # A sync message reports what the account itself did on another device: Signal refuses it from all others.
        from_self = whole.get("syncMessage") is not None or own.is_called(author, number)
        kind = Kind.OTHER if from_self and not note else _kind(frame, source)
        data = _data(source)
        received, delivered = (whole_in(source, f"server{what}Timestamp") for what in ("Received", "Delivered"))
        cleared = _cleared(frame) if "viewOnce" in raw else frame
        return Envelope(
            account=own.id or own.name,
            author=author,
            number=number,
            device=whole_in(source, "sourceDevice") or 0,
            sent_at=SentId(sent_at),
            kind=kind,
            chat=None if author is None else ChatId.group(group) if group else ChatId.direct(author),
            raw=raw if cleared == frame else json.dumps(cleared),
            from_self=from_self,
            server_at=received,
            # The second time is 0 if the server did not give it.
            waited_ms=max(0, delivered - received) if received and delivered else None,
            expires_in_seconds=_timer_seconds(data),
            is_command=kind is Kind.MESSAGE
            and (is_command(_words(data)) or text_in(object_in(data, "quote"), "text").endswith("…")),
            group_revision=whole_in(object_in(data, "groupInfo"), "revision"),
        )


def is_command(text: str) -> bool:
    """Returns whether a message with this text is a command to Aldis, or may stop or correct what it is doing."""
    return _COMMAND.match(text) is not None or is_stop_word(text) or CORRECTION.match(text) is not None


def _note_in(source: Json, own: Account) -> Json:
    """Returns a note to self as if the account had sent it as an ordinary message; empty if it is none."""
    sent = object_in(object_in(source, "syncMessage"), "sentMessage")
    author, edit = person_in(source, "sourceUuid"), object_in(sent, "editMessage")
    if author is None or own.id not in {None, author}:
        return {}
    if sent.get("groupInfo") is not None or object_in(edit, "dataMessage").get("groupInfo"):
        return {}
    if sent.get("destinationUuid") is not None:  # then the number does not count
        is_to_self = person_in(sent, "destinationUuid") == author
    else:
        is_to_self = bool(own.number) and own.number in {text_in(sent, field) for field in _ADDRESS}
    if not is_to_self:
        return {}
    rest = {field: value for field, value in source.items() if field != "syncMessage"}
    if edit:
        return rest | {"editMessage": edit}
    return rest | {"dataMessage": {field: value for field, value in sent.items() if field not in _ADDRESS}}


def _cleared(parent: Json, *, is_once: bool = False) -> Json:
    """Returns an object without the content of view-once messages, wherever in an envelope they are."""
    is_once = is_once or parent.get("viewOnce") is True
    kept = {field: value for field, value in parent.items() if field in _KEPT_OF_VIEW_ONCE or not is_once}
    inner = ("quote",) if is_once else ("envelope", "dataMessage", "editMessage", "syncMessage", "sentMessage")
    found = {place: object_in(parent, place) for place in inner if object_in(parent, place)}
    return {**kept, **{place: _cleared(value, is_once=is_once) for place, value in found.items()}}


def _kind(frame: Json, source: Json) -> Kind:
    if frame.get("exception") is not None:
        return Kind.UNDECRYPTABLE
    if source.get("receiptMessage") is not None:
        return Kind.RECEIPT
    data = _data(source)
    says_something = bool(_words(data).strip()) or any(data.get(part) for part in _CONTENT)
    found = (
        (source.get("editMessage") is not None, Kind.EDIT),
        (any(data.get(part) is not None for part in _NO_MESSAGE), Kind.OTHER),
        (data.get("remoteDelete") is not None or data.get("adminDelete") is not None, Kind.DELETE),
        (data.get("reaction") is not None, Kind.REACTION),
        (data.get("isExpirationUpdate") is True, Kind.OTHER),
        (says_something, Kind.MESSAGE),
    )
    return next((kind for is_so, kind in found if is_so), Kind.OTHER)


def _words(data: Json) -> str:
    """The text of a message; empty for a view-once one."""
    return "" if data.get("viewOnce") is True else text_in(data, "message")


def _data(source: Json) -> Json:
    edit = object_in(source, "editMessage")
    return object_in(edit, "dataMessage") if edit else object_in(source, "dataMessage")


def _group(source: Json) -> str | None:
    """The id of the group it was written in, empty in a direct chat; None, which is no direct chat, if unreadable."""
    places = [object_in(source, "typingMessage"), object_in(source, "storyMessage")]
    info = _data(source).get("groupInfo")
    if info is None and not any(place.get("groupId") for place in places):
        return ""
    ids = [text_in(place, "groupId") for place in (as_object(info), *places)]
    group = next(filter(None, ids), "")
    return group if _GROUP_ID.fullmatch(group) else None


def _confirmed_by(author: PersonId, source: Json) -> Receipt | None:
    receipt = object_in(source, "receiptMessage")
    targets = _targets(items_in(receipt, "timestamps"))
    if not targets or not any(receipt.get(field) is True for field in _CONFIRMED):
        return None
    return Receipt(author=author, targets=targets)


def _targets(items: Iterable[object]) -> tuple[SentId, ...]:
    """The newest timestamps of a receipt, without repeats, oldest first."""
    return tuple(sorted({SentId(at) for item in items if (at := as_whole(item)) is not None})[-_MAX_TARGETS:])


def _own_receipt(envelope: Envelope, source: Json, own: Account) -> Receipt | None:
    """What another device of the account has received or read of the account's own messages."""
    if envelope.author is None:
        return None
    if source.get("receiptMessage") is not None:
        return _confirmed_by(envelope.author, source)
    read = [as_object(item) for item in items_in(object_in(source, "syncMessage"), "readMessages")]
    of_own = [item for item in read if own.is_called(person_in(item, "senderUuid"), text_in(item, "senderNumber"))]
    targets = _targets([item.get("timestamp") for item in of_own])
    return Receipt(author=envelope.author, targets=targets) if targets else None


def _timer_seconds(data: Json) -> int:
    """The disappearing-message timer in seconds; Signal keeps it in 32 bits."""
    return min(whole_in(data, "expiresInSeconds") or 0, 2**32 - 1)


# What a message carries


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mention:
    """A mention in a text, in UTF-16 code units, and how it is spelled out."""

    start: int
    length: int
    written: str
    is_me: bool
    person: PersonId | None = None
    """None if the bridge does not say who it is."""


def _mentions_in(parent: Json, own: Account, own_name: str) -> list[_Mention]:
    found: list[_Mention] = []
    for item in map(as_object, items_in(parent, "mentions")):
        person = person_in(item, "uuid")
        number = text_in(item, "number")
        start = whole_in(item, "start")
        is_me = own.is_called(person, number)
        unnamed = f"member-{person[:8] if person else 'unknown'}"
        name = own_name if is_me else name_of(text_in(item, "name"), number) or unnamed
        found.append(
            _Mention(
                start=-1 if start is None else start,  # which points nowhere
                length=whole_in(item, "length") or 0,
                written=f"@{_SCHEME.sub('', name)}",
                is_me=is_me,
                person=person,
            )
        )
    return found


def _with_names(text: str, mentions: list[_Mention]) -> str:
    """The text with its placeholders spelled out once, without Aldis's own mention at the very beginning."""
    units = text.encode("utf-16-le")
    written = ""
    end = 0
    addressed = False
    is_blank = True
    for mention in sorted(mentions, key=lambda mention: mention.start):
        start, stop = 2 * mention.start, 2 * (mention.start + mention.length)
        if start < end or units[start:stop].decode("utf-16-le", "replace") != _MENTION_SIGN:
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


def _quote_in(data: Json, own: Account, own_name: str) -> Quote | None:
    quote = object_in(data, "quote")
    sent_at = whole_in(quote, "id")
    if sent_at is None:
        return None
    pictures = [quoted_picture_in(as_object(item)) for item in items_in(quote, "attachments")[:_MAX_ITEMS]]
    return Quote(
        sent_at=SentId(sent_at),
        author=person_in(quote, "authorUuid"),
        text=_with_names(text_in(quote, "text"), _mentions_in(quote, own, own_name)),
        pictures=tuple(picture for picture in pictures if picture is not None),
        has_unseen_files=None in pictures,
    )


def _extras_in(data: Json) -> tuple[str, ...]:
    """A line for each contact and poll of a data message, of text that people chose, and so kept short."""
    lines: list[str] = []
    for contact in map(as_object, items_in(data, "contacts")[:_MAX_ITEMS]):
        name = object_in(contact, "name")
        full = " ".join(filter(None, (_short(name, "given"), _short(name, "family")))) or _short(name, "nickname")
        items = [(what, as_object(item)) for what in ("phone", "email") for item in items_in(contact, what)]
        ways = (f"{what} {value}" for what, item in items if (value := _short(item, "value")))
        known = "; ".join(list(filter(None, (full, _short(contact, "organization"), *ways)))[:_MAX_ITEMS])
        if known:
            lines.append(line_of(f"a contact: {known}", max_chars=300))
    if poll := object_in(data, "pollCreate"):
        texts = ({"text": item} for item in items_in(poll, "options")[:_MAX_ITEMS])
        options = (f"{number}. {_short(text, 'text')}" for number, text in enumerate(texts, 1))
        choice = "several answers allowed" if poll.get("allowMultiple") is True else "one answer"
        lines.append(f"a poll ({choice}): {_short(poll, 'question')} — {', '.join(options)}")
    return tuple(lines)


def _short(parent: Json, field: str) -> str:
    return line_of(text_in(parent, field))
