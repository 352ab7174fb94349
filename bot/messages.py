"""Messages that models read and write, free of any vendor: their parts and their versioned JSON.

A conversation is a tuple of messages with the roles `user`, `assistant` and `tool`. The journal and the history store
the same values by `dump_messages` and `load_messages`.
"""

import json
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar, cast

from pydantic import Base64Bytes, Field, TypeAdapter

from bot.events import dump_json, load_json
from bot.labels import Labels

CallId = NewType("CallId", str)
"""Identifies one tool call within a conversation; chosen by the model's vendor, `^[a-zA-Z0-9_-]+$`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """Words, never empty and never only white space."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """The model's request to run a tool."""

    id: CallId
    name: str
    arguments: Mapping[str, object]
    """The JSON object that the model wrote, not validated yet."""
    malformed: str | None = None
    """What it wrote instead of an object, for the error; `arguments` is then empty."""
    kind: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, kw_only=True, slots=True)
class Opaque:
    """A block that only its vendor understands (thinking, reasoning items), sent back unchanged within the turn."""

    vendor: str
    data: Mapping[str, object]
    kind: Literal["opaque"] = "opaque"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolAnswer:
    """The result of one tool call, errors included."""

    call_id: CallId
    name: str
    content: str
    """A JSON object: `{"ok": true, "untrusted_data": ...}` or `{"ok": false, "error": ..., "message": ...}`."""
    ok: bool
    labels: Labels | None = field(default=None, compare=False)
    """Where it comes from; None: it is older than labels, or not labelled yet."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The tool's findings; empty if it failed."""
        try:
            answer = json.loads(self.content)
        except ValueError:
            return {}
        data = cast("dict[str, Any]", answer).get("untrusted_data") if isinstance(answer, dict) else None
        return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A picture that people sent, upright and scaled."""

    data: Base64Bytes
    content_type: Literal["image/jpeg", "image/png"]
    width: int
    height: int
    kind: Literal["picture"] = "picture"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A PDF that people sent, for models that read PDFs; `text` is its text for all others."""

    data: Base64Bytes
    name: str
    pages: int
    text: str
    """Has page numbers; may be empty (a scan)."""
    kind: Literal["document"] = "document"


Medium = Annotated[Picture | Document, Field(discriminator="kind")]


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class UserMessage:
    """What people wrote, prefixed with the date and the sender (see `bot.chat.prompt`)."""

    text: str
    role: Literal["user"] = "user"
    sent_at: tuple[int, ...] = ()
    """Signal's ids of the messages it is made of, oldest first; empty if they are not needed."""
    media: tuple[Medium, ...] = ()
    """Attachments that a model can look at itself, in their order."""
    persona: str = ""
    """The persona that was asked this alone, by its name; empty: the chat's own."""
    labels: Labels | None = field(default=None, compare=False)
    """Where it comes from; None: it is older than labels, or not labelled yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page that an answer cites, under its number in the conversation, written in the text as `[101]`."""

    number: int
    url: str


AssistantPart = Annotated[Text | ToolCall | Opaque, Field(discriminator="kind")]


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class AssistantMessage:
    """What the model wrote: at least one part, in their order."""

    parts: tuple[AssistantPart, ...]
    role: Literal["assistant"] = "assistant"
    labels: Labels | None = field(default=None, compare=False)
    pages: tuple[Page, ...] | None = None
    """The pages it cites, in the order people see them. None: not an answer to people."""

    @property
    def text(self) -> str:
        """All text parts, joined by blank lines; empty if there are none."""
        return "\n\n".join([part.text for part in self.parts if isinstance(part, Text)])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in the order asked; empty if the model answered with words alone."""
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class ToolMessage:
    """The answers to all calls of the preceding assistant message: one each, in the order asked."""

    answers: tuple[ToolAnswer, ...]
    role: Literal["tool"] = "tool"


Message = Annotated[UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]

_messages: TypeAdapter[tuple[Message, ...]] = TypeAdapter(tuple[Message, ...])


def dump_messages(messages: Sequence[Message]) -> bytes:
    """The messages as versioned JSON."""
    return dump_json(_messages, tuple(messages))


def load_messages(data: bytes) -> tuple[Message, ...]:
    """The messages written by `dump_messages`; raises `UnreadableJson` if they are none."""
    return load_json(_messages, data, "message")


def load_question(data: bytes | None) -> UserMessage | None:
    """The question at the start of these messages, as by `load_messages`; None if there is none."""
    first = next(iter(load_messages(data)), None) if data is not None else None
    return first if isinstance(first, UserMessage) else None


_Said = TypeVar("_Said", bound=UserMessage | AssistantMessage | ToolMessage)


def without_opaque(message: _Said) -> _Said:
    """The message without vendor blocks, as the history keeps it."""
    if not isinstance(message, AssistantMessage):
        return message
    return replace(message, parts=tuple(part for part in message.parts if not isinstance(part, Opaque)))


_Of = TypeVar("_Of")
_Made = TypeVar("_Made")


class IdentityCache(Generic[_Of, _Made]):
    """Caches what is made of objects that every request repeats: the messages of the history, the offers of tools.

    An entry lives as long as its object, which what is made of it must not hold.
    """

    def __init__(self, make: Callable[[_Of], _Made]) -> None:
        self._make = make
        self._known: dict[int, tuple[weakref.ref[_Of], _Made]] = {}
        """By the identity of the object, which is unique while it lives."""

    def of(self, item: _Of) -> _Made:
        """Returns what was made of the object."""
        name = id(item)
        if name not in self._known:
            self._known[name] = (weakref.ref(item, lambda _: self._known.pop(name, None)), self._make(item))
        return self._known[name][1]

    def each(self, items: Iterable[_Of]) -> list[_Made]:
        """Returns what was made of each object, in order."""
        return [self.of(item) for item in items]
