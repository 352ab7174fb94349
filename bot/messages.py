"""What a model reads and writes, free of any vendor: messages, their parts, and their versioned JSON.

A conversation is a tuple of messages with the roles `user`, `assistant` and `tool`. The same values are stored in the
journal and the history, so their JSON carries a version; `dump_messages` and `load_messages` are the only way in and
out. Left to others: the wire shapes of the vendors (`bot.providers`), what is kept and for how long (`store`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NewType, cast

from pydantic import Base64Bytes, Field, TypeAdapter

from bot.labels import Labels

CallId = NewType("CallId", str)
"""Names one tool call within a conversation; made by the model's vendor, `^[a-zA-Z0-9_-]+$`."""

JSON_VERSION = 1
"""The version that `dump_messages` writes; raised with every change that an older reader would misread."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """Words, never empty and never only white space."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """The model asks for one run of a tool.

    `arguments` is the JSON object the model wrote, not validated yet; `malformed` holds what it wrote instead where
    that was no JSON object (`arguments` is then empty), so that the toolbox can answer with the error.
    """

    id: CallId
    name: str
    arguments: Mapping[str, object]
    malformed: str | None = None
    kind: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, kw_only=True, slots=True)
class Opaque:
    """A block that only its vendor understands (thinking, reasoning items), handed back unchanged within the turn.

    `data` is the vendor's JSON. It is bound to what stood before it, so it is stripped when a turn enters the history.
    """

    vendor: str
    data: Mapping[str, object]
    kind: Literal["opaque"] = "opaque"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolAnswer:
    """How one tool call ended, errors included.

    `content` is a JSON object as text: `{"ok": true, "untrusted_data": ...}` or
    `{"ok": false, "error": ..., "message": ...}`. `ok` repeats its verdict for vendors that want a flag.
    """

    call_id: CallId
    name: str
    content: str
    ok: bool
    labels: Labels | None = field(default=None, compare=False)
    """Where it comes from; None: it was written before there were labels, or is not labelled yet."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What the tool found; empty where it failed."""
        try:
            answer = json.loads(self.content)
        except ValueError:
            return {}
        data = cast("dict[str, Any]", answer).get("untrusted_data") if isinstance(answer, dict) else None
        return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A picture that people sent: upright, scaled, and of a type that every model which sees can take."""

    data: Base64Bytes
    content_type: Literal["image/jpeg", "image/png"]
    width: int
    height: int
    """In pixels, both."""
    kind: Literal["picture"] = "picture"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A PDF that people sent, for models that read PDFs; `text` is what it says, for all others."""

    data: Base64Bytes
    name: str
    pages: int
    text: str
    """With page numbers; may be empty (a scan)."""
    kind: Literal["document"] = "document"


Medium = Annotated[Picture | Document, Field(discriminator="kind")]


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class UserMessage:
    """What people wrote, with the date and the sender in front (see `bot.turn.prompt`)."""

    text: str
    role: Literal["user"] = "user"
    sent_at: tuple[int, ...] = ()
    """What Signal calls the messages that it is made of, oldest first; empty where nobody will ask."""
    media: tuple[Medium, ...] = ()
    """What came with it that a model may look at itself, in the order in which it came. A provider whose model cannot
    take one says so to the model in its place."""
    labels: Labels | None = field(default=None, compare=False)
    """Where it comes from; None: it was written before there were labels, or is not labelled yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page that an answer cites: under its number in the conversation, which stands in the words as `[101]`."""

    number: int
    url: str


AssistantPart = Annotated[Text | ToolCall | Opaque, Field(discriminator="kind")]


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class AssistantMessage:
    """What the model wrote: parts in the order in which they came, at least one."""

    parts: tuple[AssistantPart, ...]
    role: Literal["assistant"] = "assistant"
    labels: Labels | None = field(default=None, compare=False)
    """Where it comes from: all that the model had read by then; None: it was written before there were labels, or is
    not labelled yet."""
    pages: tuple[Page, ...] | None = None
    """The pages that it cites, in the order in which people are shown them; None: no answer to people, or one from
    before pages had numbers of their own."""

    @property
    def text(self) -> str:
        """All text parts, joined by a blank line; empty when there is none."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in the order asked; empty when the model answered with words alone."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    def without_opaque(self) -> "AssistantMessage":
        """The same message as the history keeps it: vendor blocks stripped."""
        return replace(self, parts=tuple(part for part in self.parts if not isinstance(part, Opaque)))


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class ToolMessage:
    """The answers to all calls of the assistant message before it: one each, in the order asked."""

    answers: tuple[ToolAnswer, ...]
    role: Literal["tool"] = "tool"


Message = Annotated[UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]

_messages: TypeAdapter[tuple[Message, ...]] = TypeAdapter(tuple[Message, ...])


class UnreadableMessages(ValueError):
    """Stored messages were written by a newer version or are damaged; start the version of Aldis that wrote them."""


def dump_messages(messages: Sequence[Message]) -> bytes:
    """The messages as versioned JSON: one byte of version, a colon, then a JSON array in UTF-8."""
    return b"%d:" % JSON_VERSION + _messages.dump_json(tuple(messages))


def load_question(data: bytes | None) -> UserMessage | None:
    """The question that these messages begin with; None where there are none, or they begin with something else.

    Raises:
        UnreadableMessages: as `load_messages`.
    """
    first = next(iter(load_messages(data)), None) if data is not None else None
    return first if isinstance(first, UserMessage) else None


def without_opaque(message: Message) -> Message:
    """The message without what only its vendor understands."""
    return message.without_opaque() if isinstance(message, AssistantMessage) else message


def load_messages(data: bytes) -> tuple[Message, ...]:
    """The messages that `dump_messages` wrote.

    Raises:
        UnreadableMessages: the version is unknown or the JSON does not fit it.
    """
    version, _, body = data.partition(b":")
    if version != b"%d" % JSON_VERSION:
        raise UnreadableMessages(f"messages of version {version[:8]!r}, this Aldis reads {JSON_VERSION}")
    try:
        return _messages.validate_json(body)
    except ValueError as error:
        raise UnreadableMessages("the stored messages do not fit their version") from error
