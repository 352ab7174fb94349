"""Pictures and documents in a request: which of them a model takes, and the words in the place of the others.

A model takes *kinds* of media (`picture`, `document`). What it does not take becomes a note in the text of its message,
a document with what it says. Left to others: the wire shapes (the adapters), fetching, scaling and reading the files
(`bot.media`).
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable

from bot.messages import Document, Medium, Message, Picture, UserMessage

Kinds = frozenset[str]
"""Of media: `Medium.kind`s."""

PICTURE = "picture"
DOCUMENT = "document"
ALL: Kinds = frozenset({PICTURE, DOCUMENT})

_COMPLAINTS = {
    PICTURE: re.compile(r"image|vision|picture|modal|mmproj|(?:expected|must be|valid).{0,20}string", re.IGNORECASE),
    DOCUMENT: re.compile(r"\bfile|pdf|document|(?:expected|must be|valid).{0,20}string", re.IGNORECASE),
}
"""What services and local servers say that take no such part. llama-server speaks of `mmproj`, its part that sees.

Source: docs.claude.com (Vision, PDF support), issue threads of llama.cpp, vLLM, Ollama and OpenRouter, 2026-11-22.
"""

_OF_THIS_ONE = re.compile(
    r"could not process|cannot identify|corrupt|decod|invalid image|too (?:large|big|many)|exceed|maximum"
    r"|dimension|password|encrypted|not valid|empty",
    re.IGNORECASE,
)
"""What they say of one that they would take if it were in order."""

_NAME_CHARACTERS = 100


def text_of(message: UserMessage, taken: Kinds) -> str:
    """The words of a message, with a note for each medium that the model does not take."""
    return "\n".join([message.text, *(note(medium) for medium in message.media if medium.kind not in taken)])


def accepted_media(message: UserMessage, taken: Kinds) -> tuple[Medium, ...]:
    """The media of a message that the model takes, in their order."""
    return tuple(medium for medium in message.media if medium.kind in taken)


def kinds_in(messages: Iterable[Message]) -> Kinds:
    """Which kinds of media a conversation holds."""
    return frozenset(
        medium.kind for message in messages if isinstance(message, UserMessage) for medium in message.media
    )


def note(medium: Medium) -> str:
    """What a model is told that cannot take a medium: a line with a clip, and below it a document's own words.

    Each line of these begins with >, by which the system prompt tells them to be data (see `bot.turn.prompt`).
    """
    if isinstance(medium, Picture):
        size = f"{medium.width} × {medium.height} pixels"
        return f"📎 a picture of {size}, which you cannot see; say so where it matters"
    name = json.dumps(file_name(medium), ensure_ascii=False)  # in quotes, for strangers choose it
    named = f"📎 a PDF of {medium.pages} pages named {name}, whose pages you cannot see"
    if not medium.text.strip():
        return f"{named} and which holds no text; say so where it matters"
    return "\n".join([f"{named}; this is their text:", *(f"> {line}" for line in medium.text.splitlines())])


def file_name(document: Document) -> str:
    """The name of a document as services take it: printable, on one line, never empty, with its ending."""
    kept = "".join(character for character in document.name if character.isprintable())[-_NAME_CHARACTERS:]
    name = kept.strip() or "document"
    return name if name.lower().endswith(".pdf") else f"{name}.pdf"


def base64_of(medium: Medium) -> str:
    """The bytes as every service takes them in JSON."""
    return b64encode(medium.data).decode()


def data_uri(medium: Medium) -> str:
    """The bytes as an address that holds them."""
    content_type = medium.content_type if isinstance(medium, Picture) else "application/pdf"
    return f"data:{content_type};base64,{base64_of(medium)}"


def refused_kinds(words: str, sent: Kinds) -> Kinds:
    """Which of the kinds that were sent the words of a refusal are about; empty where about something else."""
    return frozenset(kind for kind in sent if _COMPLAINTS[kind].search(words))


def is_about_this_one(words: str) -> bool:
    """Whether a refusal is about this very picture or document, and another may be taken."""
    return _OF_THIS_ONE.search(words) is not None
