"""What passes through a transport: envelopes and the events inside them come in, replies and removals go out.

A transport hands on an `Envelope`: the raw frame and the few fields that tell who it is from. The frame is parsed into
an `Event` only after the inbox has committed, so a frame that cannot be parsed is never lost.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import accumulate
from typing import Any, NewType, Self, TypeVar

from pydantic import Base64Bytes, GetCoreSchemaHandler, TypeAdapter
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function, str_schema

from bot.labels import Labels

PersonId = NewType("PersonId", str)
"""A sender: the account's uuid (Signal) or a fixed word (terminal). Never a phone number, never a display name."""

TERMINAL_PERSON = PersonId("you")


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A Signal account on a bridge, by its uuid and number, which it may lack; `id` None: not known yet."""

    id: PersonId | None
    number: str | None = None

    @property
    def name(self) -> str:
        """Its name in calls to the bridge: the number, which every version accepts, or else the uuid."""
        return self.number or self.id or ""

    def is_called(self, *names: str | None) -> bool:
        """Whether one of these numbers and uuids denotes this account."""
        return any(name and name in {self.id, self.number} for name in names)


class ChatId(str):
    """A conversation's place as the store writes it: `direct:PERSON` or `group:ID`, case-sensitive."""

    __slots__ = ()

    @classmethod
    def direct(cls, person: str) -> Self:
        """The chat of one person with Aldis."""
        return cls(f"direct:{person}")

    @classmethod
    def group(cls, group: str) -> Self:
        """The chat of a group, given its id in base64."""
        return cls(f"group:{group}")

    @property
    def is_group(self) -> bool:
        """Whether other people read along."""
        return self.startswith("group:")

    @property
    def id(self) -> str:
        """The person's or the group's id: the part after the colon."""
        return self.partition(":")[2]

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(cls, str_schema())


SentId = NewType("SentId", int)
"""Signal's id of a message: the sender's timestamp in milliseconds since 1970."""


class Kind(StrEnum):
    """What an envelope carries, as far as its outer fields tell."""

    MESSAGE = "message"
    EDIT = "edit"
    DELETE = "delete"
    REACTION = "reaction"
    RECEIPT = "receipt"
    UNDECRYPTABLE = "undecryptable"
    REMINDER = "reminder"
    """What a person asked to be asked at this time: Aldis itself sends it, and `raw` is an `Incoming`."""
    OTHER = "other"
    """Typing, calls, stories, polls, sync, a new timer for messages: counted, never stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Envelope:
    """One frame of a transport: who, where, when, what kind; `raw` is the frame as received.

    Unique by (account, author, device, sent_at, kind): a redelivery has the same five.
    """

    account: str
    """The id of the account that received it, or `terminal`."""
    author: PersonId | None
    """None where Signal does not say (an undecryptable sealed sender)."""
    number: str | None
    """The author's phone number if known: an alias for `ACCESS__ALLOWED`, never an identity."""
    device: int
    sent_at: SentId
    kind: Kind
    chat: ChatId | None
    raw: str
    from_self: bool = False
    """Whether the account itself wrote it, on another device."""
    server_at: int | None = None
    """When Signal's server received it, in milliseconds since 1970."""
    expires_in_seconds: int = 0
    """The disappearing-message timer it was sent under; 0 means it stays."""
    waited_ms: int | None = None
    """How long it had waited for Aldis on arrival, by the clock of Signal's server; None if not known (yet)."""
    is_command: bool = False
    """Whether it is a command (a slash and a letter, maybe after a name), only a stop word, or perhaps a correction."""
    group_revision: int | None = None
    """The group's revision as its sender knows it, which every join and leave raises."""

    @property
    def is_urgent(self) -> bool:
        """Whether it is handled at once even while a turn of its conversation runs, since it may concern that turn."""
        return self.is_command or self.kind in {Kind.EDIT, Kind.DELETE, Kind.REACTION}


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachment:
    """A file that came with a message; its bytes stay with the transport until they are needed."""

    id: str
    content_type: str
    name: str | None
    size_bytes: int | None
    is_voice_note: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """The older message that a message replies to; of one that we quote, its words in short."""

    sent_at: SentId
    author: PersonId | None
    text: str
    pictures: tuple[Attachment, ...] = ()
    """Small pictures of the files that came with it."""
    has_unseen_files: bool = False
    """Whether files came with it of which there is no picture."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedPerson:
    """A person, with the name a message calls them by."""

    name: str
    person: PersonId


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledPrompt:
    """Words that Aldis itself stored earlier, now asked on the person's behalf: their labels, and what they may do."""

    labels: Labels
    addresses: tuple[str, ...] = ()
    """Those in the person's own words when it was planned; no others count as theirs."""
    is_own: bool = False
    """Whether the person chose its words themselves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incoming:
    """A message that a person wrote."""

    author: PersonId
    name: str | None
    """The profile name the author chose: shown to the model, never trusted for access."""
    chat: ChatId
    sent_at: SentId
    text: str
    """With native mentions written out as `@name`; may be empty (a picture alone, a sticker)."""
    mentions_me: bool = False
    mentioned: tuple[NamedPerson, ...] = ()
    quote: Quote | None = None
    quotes_me: bool = False
    attachments: tuple[Attachment, ...] = ()
    text_files: tuple[Attachment, ...] = ()
    """Files that are only its text once more, and are only deleted."""
    sticker: bool = False
    sticker_emoji: str | None = None
    extras: tuple[str, ...] = ()
    """Whatever else came with it (a contact, a location, a poll), each as a line of text for the model."""
    view_once: bool = False
    expires_in_seconds: int = 0
    preface: str = ""
    """A note from Aldis to the model, placed before the words."""
    scheduled: ScheduledPrompt | None = None
    """Set when a reminder asks."""
    persona: str = ""
    """The persona that is asked this alone, by its name (`/as`); empty: the chat's own."""

    @property
    def files(self) -> tuple[Attachment, ...]:
        """The files that can be opened for it: its own, and the pictures of what it quotes."""
        return (*self.attachments, *(self.quote.pictures if self.quote is not None else ()))


@dataclass(frozen=True, kw_only=True, slots=True)
class Edited:
    """A person changed an older message of theirs; `message.sent_at` is the edit's own time."""

    target: SentId
    message: Incoming


@dataclass(frozen=True, kw_only=True, slots=True)
class Deleted:
    """A message was deleted for everybody: by its author, or in a group by an admin."""

    author: PersonId
    chat: ChatId
    target: SentId


@dataclass(frozen=True, kw_only=True, slots=True)
class Reacted:
    """A person put an emoji on a message, or took it off (`removed`)."""

    author: PersonId
    chat: ChatId
    emoji: str
    target_author: PersonId | None
    target: SentId
    removed: bool
    is_on_mine: bool
    """Whether the message may be Aldis's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A person's phone confirms messages of ours: delivered, read or viewed."""

    author: PersonId
    targets: tuple[SentId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Undecryptable:
    """A message that could not be decrypted; `reason` is the exception's class name, nothing a person wrote."""

    reason: str


Event = Incoming | Edited | Deleted | Reacted | Receipt | Undecryptable


class Style(StrEnum):
    """The text styles that Signal knows."""

    BOLD = "BOLD"
    ITALIC = "ITALIC"
    STRIKETHROUGH = "STRIKETHROUGH"
    MONOSPACE = "MONOSPACE"
    SPOILER = "SPOILER"


@dataclass(frozen=True, kw_only=True, slots=True)
class StyleRange:
    """A style on part of a text; `start` and `length` count UTF-16 code units, as Signal does."""

    start: int
    length: int
    style: Style


_MAX_STOP_CHARS = 40
_STOP_WORDS = {"stop", "stopp", "halt", "arrête", "arrete", "para", "cancel", "never mind", "nevermind"}


def is_stop_word(text: str) -> bool:
    """Whether a text says nothing but that an answer should be stopped, in whatever case and punctuation."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text[:_MAX_STOP_CHARS]).casefold())
    return " ".join(words) in _STOP_WORDS and len(text) <= _MAX_STOP_CHARS and "/" not in text


def utf16_offsets(text: str) -> list[int]:
    """For each index of the text, and its end: the number of UTF-16 code units before it."""
    if max(text, default="") <= "\uffff":
        return list(range(len(text) + 1))
    return list(accumulate((2 if char > "\uffff" else 1 for char in text), initial=0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Styled:
    """A text with its styles: ranges sorted by start, inside the text, never splitting a character."""

    text: str
    styles: tuple[StyleRange, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MentionRange:
    """A native mention: phones show the person's name in place of this range, in UTF-16 code units."""

    start: int
    length: int
    person: PersonId


WHOLE_ANSWER = "answer.txt"
"""The file with the whole text of an answer too long for one message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A complete file to send."""

    name: str
    content_type: str
    data: Base64Bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One message to send, final before it is sent: at most 64 KiB, of which phones show the first 2,000 bytes."""

    chat: ChatId
    content: Styled
    quote: Quote | None = None
    mentions: tuple[MentionRange, ...] = ()
    files: tuple[File, ...] = ()
    """The attachments. A message with files is never edited, and never edits another."""
    is_voice_note: bool = False
    ok: bool = True
    """False if the words report a failure instead of answering."""
    notice_of: int | None = None
    """The outbox item that may not have arrived, if this says so."""
    last: bool = True
    """False for all but the last part of an answer in several parts."""
    answers: tuple[SentId, ...] = ()
    """The messages that it answers, oldest first."""
    edits: SentId | None = None
    """The newest revision of an earlier message of ours that this one replaces; the sender sets it when it sends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """Deletes one of our own messages for everybody; doing it twice has the same effect as once."""

    chat: ChatId
    target: SentId


Outgoing = Reply | Removal


# What the store keeps as versioned JSON; messages and settings have the same form

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
