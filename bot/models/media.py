"""Pictures and documents in a request: which of them a model accepts, and the text that replaces the others.

A model accepts *kinds* of media (`picture`, `document`). Others become a note in the text of their message, documents
with their text.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable

from bot.messages import Document, Medium, Message, Picture, UserMessage

Kinds = frozenset[str]
"""Kinds of media, as in `Medium.kind`."""

PICTURE = "picture"
DOCUMENT = "document"
ALL: Kinds = frozenset({PICTURE, DOCUMENT})

_COMPLAINTS = {
    PICTURE: re.compile(r"image|vision|picture|modal|mmproj|(?:expected|must be|valid).{0,20}string", re.IGNORECASE),
    DOCUMENT: re.compile(r"\bfile|pdf|document|(?:expected|must be|valid).{0,20}string", re.IGNORECASE),
}
"""How servers refuse such a part. Source: docs.claude.com; threads of llama.cpp, vLLM and Ollama, 2026-11-22."""

_OF_THIS_ONE = re.compile(
    r"could not process|cannot identify|corrupt|decod|invalid image|too (?:large|big|many)|exceed|maximum"
    r"|dimension|password|encrypted|not valid|empty",
    re.IGNORECASE,
)
"""How they refuse one that is merely faulty."""

_NAME_CHARACTERS = 100


def text_of(message: UserMessage, taken: Kinds) -> str:
    """The words of a message, with a note for each medium that the model does not accept."""
    return "\n".join([message.text, *(note(medium) for medium in message.media if medium.kind not in taken)])


def accepted_media(message: UserMessage, taken: Kinds) -> tuple[Medium, ...]:
    """The media of a message that the model accepts, in order."""
    return tuple(medium for medium in message.media if medium.kind in taken)


def kinds_in(messages: Iterable[Message]) -> Kinds:
    """The kinds of media in a conversation."""
    asked = (message for message in messages if isinstance(message, UserMessage))
    return frozenset(medium.kind for message in asked for medium in message.media)


def note(medium: Medium) -> str:
    """Returns what a model that cannot take a medium reads instead, with a document's text, each line behind a >."""
    if isinstance(medium, Picture):
        size = f"{medium.width} × {medium.height} pixels"
        return f"📎 a picture of {size}, which you cannot see; say so where it matters"
    name = json.dumps(file_name(medium), ensure_ascii=False)  # quoted, because strangers choose it
    named = f"📎 a PDF of {medium.pages} pages named {name}, whose pages you cannot see"
    if not medium.text.strip():
        return f"{named} and which holds no text; say so where it matters"
    return "\n".join([f"{named}; this is their text:", *(f"> {line}" for line in medium.text.splitlines())])


def file_name(document: Document) -> str:
    """A document's name in the form services accept: printable, on one line, never empty, with its ending."""
    kept = "".join(character for character in document.name if character.isprintable())[-_NAME_CHARACTERS:]
    name = kept.strip() or "document"
    return name if name.lower().endswith(".pdf") else f"{name}.pdf"


def content_type(medium: Medium) -> str:
    """The type of the bytes."""
    return medium.content_type if isinstance(medium, Picture) else "application/pdf"


def base64_of(medium: Medium) -> str:
    """The bytes in the form every service accepts in JSON."""
    return b64encode(medium.data).decode()


def data_uri(medium: Medium) -> str:
    """The bytes as a data address."""
    return f"data:{content_type(medium)};base64,{base64_of(medium)}"


def refused_kinds(words: str, sent: Kinds) -> Kinds:
    """The sent kinds that the words of a refusal are about; empty if they are about something else."""
    return frozenset(kind for kind in sent if _COMPLAINTS[kind].search(words))


def is_about_this_one(words: str) -> bool:
    """Whether a refusal is about this particular picture or document, and another may be accepted."""
    return _OF_THIS_ONE.search(words) is not None
