"""What servers answer: words, data and pictures become a result; what is too large or unknown is left out and said."""

import base64
from typing import Any

from mcp_types import CallToolResult

from tests.servers.mcp_server import PNG
from tools.mcp.contents import MAX_PICTURES, MAX_TEXT_CHARS, result_of


def answer(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": content, **more})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def image(data: bytes, kind: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": kind}


def test_answers_become_data() -> None:
    """What is data is handed on as such, without the words beside it that say the same; other words are joined. A few
    pictures are sent on, named after the tool.
    """
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "in a file"}}
    link = {"type": "resource_link", "name": "a", "uri": "file:///a"}
    audio = {"type": "audio", "data": "", "mimeType": "audio/wav"}
    table: list[tuple[CallToolResult, dict[str, Any]]] = [
        (answer(), {"text": ""}),
        (answer(text("one"), resource, link), {"text": "one\n\nin a file\n\na: file:///a"}),
        (answer(text("5"), structuredContent={"result": 5}), {"structured": {"result": 5}}),
        (answer(text("short"), structuredContent={"a": "x" * MAX_TEXT_CHARS}), {"text": "short"}),
        (answer(audio, text("heard")), {"text": "heard", "left_out": "1 parts that cannot be passed on"}),
        (answer(image(b"<svg>", "image/svg+xml")), {"text": "", "left_out": "1 parts that cannot be passed on"}),
    ]
    for given, data in table:
        assert result_of(given, tool="t").data == data

    result = result_of(answer(image(PNG), image(b"GIF89a", "image/gif")), tool="lamps_draw")
    assert [(file.name, file.content_type) for file in result.files] == [
        ("lamps_draw-1.png", "image/png"),
        ("lamps_draw-2.gif", "image/gif"),
    ]
    many = result_of(answer(*[image(PNG)] * 9), tool="t")
    assert len(many.files) == MAX_PICTURES
    assert many.data["left_out"].startswith("5 ")
