"""Pure: turns an MCP server's answer to a call into a result for the model: text, structured data, pictures.

Source: Model Context Protocol 2026-07-28, "Tools", kinds of content; read 2026-11-21.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from typing import Any

from mcp_types import CallToolResult, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent
from mcp_types import TextResourceContents as Words

from tools.base import Result, ResultFile
from tools.text import clean_line, shorten

MAX_TEXT_CHARS = 200_000
"""Far more than models are shown, and still quick to shorten."""
MAX_PARTS = 100
"""The limit of parts read per answer."""
MAX_PICTURES = 4
MAX_PICTURE_BYTES = 8_000_000
_MAX_QUOTED_CHARS = 500

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "png", "image/png"),
    (b"\xff\xd8\xff", "jpg", "image/jpeg"),
    (b"GIF8", "gif", "image/gif"),
)


def result_of(answer: CallToolResult, *, tool: str) -> Result:
    """Returns the result of a call; `tool` is used in the names of its pictures."""
    blocks = answer.content[:MAX_PARTS]
    texts = [text for block in blocks if (text := _words(block)) is not None]
    pictures = tuple(_pictures(blocks, tool))
    data: dict[str, Any] = {}
    structured = _unless_too_large(answer.structured_content)
    if structured is not None:
        data["structured"] = structured
    if text := "\n\n".join(text for text in texts if not _says(text, structured))[: MAX_TEXT_CHARS + 1]:
        data["text"] = text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]} [cut: more than can be read]"
    if left_out := min(len(answer.content), MAX_PARTS + 1) - len(texts) - len(pictures):
        at_least = "at least " if len(answer.content) > MAX_PARTS else ""
        data["left_out"] = f"{at_least}{left_out} parts that cannot be passed on"
    return Result(data=data or {"text": ""}, files=pictures)


def quote_failure(answer: CallToolResult) -> str:
    """Returns a server's message about a failure, cleaned and shortened."""
    words = " ".join(text[:MAX_TEXT_CHARS] for block in answer.content[:3] if (text := _words(block)) is not None)
    return shorten(clean_line(words[:MAX_TEXT_CHARS]), _MAX_QUOTED_CHARS)


def _words(block: ContentBlock) -> str | None:
    match block:
        case TextContent(text=text):
            return text
        case EmbeddedResource(resource=Words(text=text)):
            return text
        case ResourceLink(name=name, uri=uri):
            return f"{name}: {uri}"
        case _:
            return None


def _pictures(blocks: Iterable[ContentBlock], tool: str) -> Iterator[ResultFile]:
    images = [block for block in blocks if isinstance(block, ImageContent)]
    for number, image in enumerate(images[:MAX_PICTURES], start=1):
        if (data := _decode(image.data)) is not None and (kind := _kind_of(data)) is not None:
            yield ResultFile(name=f"{tool}-{number}.{kind[0]}", content_type=kind[1], data=data)


def _decode(text: str) -> bytes | None:
    if len(text) > MAX_PICTURE_BYTES * 4 // 3 + 4:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _kind_of(data: bytes) -> tuple[str, str] | None:
    """Returns a picture's file suffix and type by its first bytes, whatever the server says; None: it is no picture."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp", "image/webp"
    return next(((ending, name) for start, ending, name in _KINDS if data.startswith(start)), None)


def _unless_too_large(structured: Any) -> Any:
    """Returns the structured data, unless it is too large to be shortened quickly: the text says the same."""
    if structured is None:
        return None
    left = MAX_TEXT_CHARS
    try:
        for piece in json.JSONEncoder().iterencode(structured):
            left -= len(piece)
            if left < 0:
                return None
    except (ValueError, RecursionError):
        return None
    return structured


def _says(text: str, structured: Any) -> bool:
    """Whether the text only repeats the structured data, as servers do for clients that read only text."""
    if structured is None or len(text) > MAX_TEXT_CHARS:
        return False
    match structured:
        case {"result": result, **others} if not others:
            same = (structured, result)
        case _:
            same = (structured,)
    try:
        return text in same or json.loads(text) in same
    except (ValueError, RecursionError):
        return False
