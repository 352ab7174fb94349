"""What crosses the door: envelopes and the events in them on the way in, replies and removals on the way out.

A transport hands on an `Envelope`: the raw frame with the few words of it that tell who it is from. Only after the
inbox has committed it is the frame read into an `Event`, so a frame that cannot be read is never lost by reading it.
Left to others: signal-cli's JSON (`bot.transports.envelope.event`), who may write (`bot.policy.access`).
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import accumulate
from typing import Any, Literal, NewType, Self, TypeVar

from pydantic import Base64Bytes, GetCoreSchemaHandler, TypeAdapter
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function, str_schema

from bot.labels import Labels

PersonId = NewType("PersonId", str)
"""A sender: the account's uuid (Signal) or a fixed word (terminal). Never a phone number, never a display name."""

TERMINAL_PERSON = PersonId("you")
"""Whoever sits at the terminal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A Signal account that a bridge has; since September 2026 there are some without a phone number."""

    id: PersonId | None
    """Its uuid, by which it is known everywhere; None as long as the bridge does not tell."""
    number: str | None = None
    """Its phone number, which may change or be missing."""

    @property
    def name(self) -> str:
        """Under which name the bridge takes it in a call: the number, as all versions do, or the uuid."""
        return self.number or self.id or ""

    def is_called(self, name: str) -> bool:
        """Whether somebody means this account by a number or a uuid."""
        return bool(name) and name in {self.id, self.number}

    def is_same(self, other: "Account") -> bool:
        """Whether it is the same account: by its id, or by its number where one of the ids is not known."""
        if self.id is None or other.id is None:
            return self.number is not None and self.number == other.number
        return self.id == other.id

    def with_number(self, number: str | None) -> "Account":
        """The account with another phone number, or without one."""
        return Account(id=self.id, number=number)


class ChatId(str):
    """Where a conversation takes place, as the store writes it: `direct:PERSON` or `group:ID`, its case exact."""

    __slots__ = ()

    @classmethod
    def direct(cls, person: str) -> Self:
        """The chat that a person has with Aldis alone."""
        return cls(f"direct:{person}")

    @classmethod
    def group(cls, group: str) -> Self:
        """The chat of a group, by its id in base64."""
        return cls(f"group:{group}")

    @property
    def is_group(self) -> bool:
        """Whether others read what is said there."""
        return self.startswith("group:")

    @property
    def id(self) -> str:
        """The person, or the group's id: what stands behind the colon."""
        return self.partition(":")[2]

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(cls, str_schema())


SentId = NewType("SentId", int)
"""What Signal calls a message: its sender's timestamp in milliseconds since 1970."""


class Kind(StrEnum):
    """What an envelope carries, as far as one can tell without reading it whole."""

    MESSAGE = "message"
    EDIT = "edit"
    DELETE = "delete"
    REACTION = "reaction"
    TIMER = "timer"
    RECEIPT = "receipt"
    UNDECRYPTABLE = "undecryptable"
    REMINDER = "reminder"
    """What a person wanted to be asked at this time: it comes from Aldis itself, and `raw` is an `Incoming`."""
    OTHER = "other"
    """Typing, calls, stories, polls, sync and whatever Signal invents next: counted, never stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Envelope:
    """One frame of a transport: who, where, when, what kind; `raw` is the frame as it came.

    Unique by (account, author, device, sent_at, kind): a redelivery has the same five.
    """

    account: str
    """The id of the account that received it, or `terminal`."""
    author: PersonId | None
    """None where Signal does not say (an undecryptable sealed sender)."""
    number: str | None
    """The author's phone number where it is known: an alias for `ACCESS__ALLOWED`, never an identity."""
    device: int
    sent_at: SentId
    kind: Kind
    chat: ChatId | None
    """None only together with an unknown author."""
    raw: str
    from_self: bool = False
    """Whether the account itself wrote it on another device (a sync message)."""
    server_at: int | None = None
    """When Signal's server took it, in milliseconds since 1970: the one time its sender cannot choose. None where the
    bridge does not say."""
    expires_in_seconds: int = 0
    """The disappearing-message timer that it was sent under; 0 means that it stays."""
    waited_ms: int | None = None
    """How long it had waited for Aldis when it came, by the clock of Signal's server where the bridge tells both times.
    None: it is not known (yet)."""
    is_command: bool = False
    """Whether a message begins with a slash and a letter, after a mention or a name or not: a command to Aldis."""
    group_revision: int | None = None
    """In which revision its sender knows the group; who comes or goes makes another. None: it does not say."""

    @property
    def is_urgent(self) -> bool:
        """Whether it is taken up at once, also while a turn of its conversation runs: it may be about that turn."""
        return self.is_command or self.kind in {Kind.EDIT, Kind.DELETE, Kind.REACTION, Kind.TIMER}


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """The older message that a message answers."""

    sent_at: SentId
    author: PersonId | None
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachment:
    """A file that came with a message; its bytes stay with the transport until somebody needs them."""

    id: str
    content_type: str
    name: str | None
    size_bytes: int | None
    is_voice_note: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedPerson:
    """A person by the name under which a message names them."""

    name: str
    person: PersonId


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledPrompt:
    """What Aldis itself wrote earlier, to be asked as if the person did: its labels, and what it may do."""

    labels: Labels
    addresses: tuple[str, ...] = ()
    """The addresses that stood in the person's own words when it was planned: no others are theirs."""
    is_own: bool = False
    """Whether the person gave its words themselves, by a command or in the message that planned it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incoming:
    """A message that a person wrote.

    `text` has native mentions written out as `@name`; it may be empty (a picture alone, a sticker).
    """

    author: PersonId
    name: str | None
    """The profile name the author chose: shown to the model, never trusted for access."""
    chat: ChatId
    sent_at: SentId
    text: str
    mentions_me: bool = False
    mentioned: tuple[NamedPerson, ...] = ()
    """The others whom it mentions natively."""
    quote: Quote | None = None
    quotes_me: bool = False
    attachments: tuple[Attachment, ...] = ()
    sticker: bool = False
    sticker_emoji: str | None = None
    """The emoji that stands for the sticker; None where there is none or no sticker."""
    extras: tuple[str, ...] = ()
    """What else came with it (a contact, a location, a poll), each in a line of words for the model."""
    view_once: bool = False
    expires_in_seconds: int = 0
    """The conversation's disappearing-message timer; 0 means off."""
    group_name: str | None = None
    preface: str = ""
    """What Aldis has to say of it to the model, before the words; empty: nothing."""
    scheduled: ScheduledPrompt | None = None
    """Set where nobody has written it just now: a reminder asks. Its words are not the person's own."""


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
    """Whether the message may be Aldis's own: phones choose the times of messages, so others may have the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimerChanged:
    """The disappearing-message timer of a conversation was set; 0 means off."""

    author: PersonId
    chat: ChatId
    expires_in_seconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A person's phone confirms messages of ours: delivered, read or viewed."""

    author: PersonId
    what: Literal["delivered", "read", "viewed"]
    targets: tuple[SentId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Undecryptable:
    """Something came that could not be decrypted; its sender believes that it was delivered."""

    author: PersonId | None
    reason: str
    """The exception's class name, nothing a person wrote."""


Event = Incoming | Edited | Deleted | Reacted | TimerChanged | Receipt | Undecryptable


class Style(StrEnum):
    """The text styles that Signal knows."""

    BOLD = "BOLD"
    ITALIC = "ITALIC"
    STRIKETHROUGH = "STRIKETHROUGH"
    MONOSPACE = "MONOSPACE"
    SPOILER = "SPOILER"


@dataclass(frozen=True, kw_only=True, slots=True)
class StyleRange:
    """A style over a part of a text; `start` and `length` count UTF-16 code units, as Signal does."""

    start: int
    length: int
    style: Style


_SLASHES = frozenset("/\uff0f\u2044\u2215")
"""The slash, a full-width one, and those of fractions and divisions, which keyboards of other scripts give."""
_MARKS = frozenset("*_~")
_IN_FRONT = frozenset({"So", "Cf", "Mn", "Zs"})
"""The kinds of signs that emoji are made of, of those that nobody sees, and of blanks."""
_SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_MENTION = "\ufffc"
"""Stands where somebody is mentioned."""
_MAX_IN_FRONT = 20


def plain_command(text: str) -> str:
    """Returns what is typed like a command as one: its slash first, without emoji before it and Markdown around it.

    Any other text is given as it is.
    """
    plain = text.strip()
    plain = plain[next((at for at, sign in enumerate(plain[:_MAX_IN_FRONT]) if not _is_in_front(sign)), 0) :]
    for _ in _MARKS:
        if len(plain) > 1 and plain[0] in _MARKS and plain[-1] == plain[0]:
            plain = plain[1:-1].strip()
    return f"/{plain[1:]}" if plain[:1] and plain[0] in _SLASHES else text


def _is_in_front(sign: str) -> bool:
    return (unicodedata.category(sign) in _IN_FRONT or sign in _SKIN_TONES) and sign != _MENTION


def utf16_offsets(text: str) -> list[int]:
    """For each index of the text and its end: how many UTF-16 code units stand before it."""
    if max(text, default="") <= "\uffff":
        return list(range(len(text) + 1))
    return list(accumulate((2 if char > "\uffff" else 1 for char in text), initial=0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Styled:
    """A text with its styles: ranges sorted by start, within the text, never splitting a character."""

    text: str
    styles: tuple[StyleRange, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class QuoteTarget:
    """The message that a reply quotes: who wrote it, when, and its words in short."""

    author: PersonId
    sent_at: SentId
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MentionRange:
    """A person named natively: what stands there in the text is shown as the person's name; UTF-16 code units."""

    start: int
    length: int
    person: PersonId


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A file to send, whole."""

    name: str
    """A name with an ending that fits the type, without any folder."""
    content_type: str
    data: Base64Bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One message to send, fixed before it is sent: at most 64 KiB, of which phones show the first 2,000 bytes."""

    chat: ChatId
    content: Styled
    quote: QuoteTarget | None = None
    mentions: tuple[MentionRange, ...] = ()
    files: tuple[File, ...] = ()
    """What is attached. A message with files is never edited, nor does it edit one."""
    is_voice_note: bool = False
    """Whether its only file is a voice note."""
    ok: bool = True
    """False when the words tell of a failure instead of answering."""
    notice_of: int | None = None
    """The item of the outbox that led to it, where it says that something else may not have arrived: of a notice that
    does not, nothing is said at once.
    """
    last: bool = True
    """False for all but the last part of an answer in several parts."""
    answers: tuple[SentId, ...] = ()
    """The messages that this reply answers, oldest first."""
    edits: SentId | None = None
    """The newest revision of an earlier message of ours that this one takes the place of; None: a new message. Set by
    the sender when it sends, for only then is the revision known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """One of our own messages is to be deleted for everybody; doing it twice is the same as doing it once."""

    chat: ChatId
    target: SentId


Outgoing = Reply | Removal
"""What stands in the outbox."""


JSON_VERSION = 1
"""The version in front of stored envelopes and replies; raised with every change that an older reader would misread."""

_T = TypeVar("_T", Envelope, Reply)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Reads and writes values of this kind; made when it is first wanted, for each takes some milliseconds."""
    return TypeAdapter(kind)


class UnreadableEvent(ValueError):
    """A stored envelope or reply was written by a newer version or is damaged."""


def dump_value(value: Envelope | Outgoing) -> bytes:
    """The value as versioned JSON: the version, a colon, a JSON object in UTF-8."""
    return b"%d:" % JSON_VERSION + _adapter(type(value)).dump_json(value)


def load_value(kind: type[_T], data: bytes) -> _T:
    """The value that `dump_value` wrote.

    Raises:
        UnreadableEvent: the version is unknown or the JSON does not fit it.
    """
    body = _body(data, kind.__name__)
    try:
        value = _adapter(kind).validate_json(body)
    except ValueError as error:
        raise UnreadableEvent(f"a stored {kind.__name__} does not fit its version") from error
    assert isinstance(value, kind)  # noqa: S101  (tells the type checker what the adapter of this kind gives)
    return value


def dump_reminder(message: Incoming) -> str:
    """The `raw` of an envelope of the kind `REMINDER`."""
    return _adapter(Incoming).dump_json(message).decode()


def read(envelope: Envelope, read_frame: Callable[[Envelope], Event | None]) -> Event | None:
    """What an envelope of the inbox says; `read_frame` reads those that a transport handed on."""
    return _adapter(Incoming).validate_json(envelope.raw) if envelope.kind is Kind.REMINDER else read_frame(envelope)


def outgoing(data: bytes) -> Outgoing:
    """The reply or the removal that `dump_value` wrote.

    Raises:
        UnreadableEvent: as `load_value`.
    """
    try:
        # Each has a field that the other has not, so that one kind only fits.
        return _adapter(Outgoing).validate_json(_body(data, "outgoing message"))
    except ValueError as error:
        raise UnreadableEvent("a stored outgoing message does not fit its version") from error


def _body(data: bytes, what: str) -> bytes:
    version, _, body = data.partition(b":")
    if version != b"%d" % JSON_VERSION:
        raise UnreadableEvent(f"a stored {what} of version {version[:8]!r}, this Aldis reads {JSON_VERSION}")
    return body
