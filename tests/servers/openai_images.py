"""A double of OpenAI's images endpoint: every description becomes the same small picture.

Refuses what the real one refuses, in the same form (OpenAI's API reference and openai SDK 3.54.0, 2026-11-21): a
missing or wrong key, unknown parameters (including `response_format`), an unknown or retired model, more than ten
pictures, a description of more than 32,000 characters, sizes that are no multiples of 16, forbidden subjects.
`local=True` makes it one of the compatible servers (LocalAI, vLLM-Omni, SD servers): any key, any model, and the
picture by `url` unless `b64_json` is requested.
"""

import base64
import re
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server
from tests.servers.openai import error_body

KEY = "sk-images-test"
MODELS = {"gpt-image-1.5", "gpt-image-2", "gpt-image-2.5-flare", "gpt-image-2.5-sunburst"}
FIELDS = {"model", "prompt", "n", "size", "quality", "output_format", "background", "moderation", "user"}
QUALITIES = {"low", "medium", "high", "xhigh", "max", "auto"}
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + b"\x00" * 20 + b"\xff\xd9"
WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00" + b"\x00" * 14


@dataclass
class OpenAIImages(Server):
    """`picture` is what is drawn; no picture may show violence."""

    local: bool = False
    picture: bytes = PNG
    drawn: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        is_list = (seen.method, seen.path) == ("GET", "/v1/models")
        if not is_list and (seen.method, seen.path) != ("POST", "/v1/images/generations"):
            return refused(f"Invalid URL ({seen.method} {seen.path})", status=404)
        if not self.local and seen.headers.get("authorization") != f"Bearer {KEY}":
            return refused("Incorrect API key provided.", status=401, code="invalid_api_key")
        if is_list:
            return web.json_response({"object": "list", "data": [{"id": name} for name in sorted(MODELS)]})
        body: dict[str, Any] = seen.json()
        if (mistake := self._mistake(body)) is not None:
            return mistake
        self.drawn.append(body)
        made = {"b64_json": base64.b64encode(self.picture).decode()}
        return web.json_response({"created": 1_795_000_000, "data": [made]})

    def _mistake(self, body: dict[str, Any]) -> web.StreamResponse | None:
        known = FIELDS | {"response_format"} if self.local else FIELDS
        if unknown := sorted(body.keys() - known):
            return refused(f"Unknown parameter: '{unknown[0]}'.", unknown[0], "unknown_parameter")
        if not body.get("prompt"):
            return refused("Missing required parameter: 'prompt'.", "prompt", "missing_required_parameter")
        if len(body["prompt"]) > 32_000:
            return refused("Invalid 'prompt': string too long.", "prompt", "string_above_max_length")
        if not self.local and body.get("model") not in MODELS:
            return refused(f"The model '{body.get('model')}' does not exist.", "model", "invalid_value")
        if not 1 <= body.get("n", 1) <= 10:
            return refused("Invalid 'n': integer out of range.", "n", "integer_above_max_value")
        if body.get("quality", "auto") not in QUALITIES:
            return refused("Invalid value for 'quality'.", "quality", "invalid_value")
        if not re.fullmatch(r"auto|\d{3,4}x\d{3,4}", body.get("size", "auto")):
            return refused("Invalid size.", "size", "invalid_value")
        if "violence" in body["prompt"]:
            message = "Your request was rejected by the safety system."
            return refused(message, code="moderation_blocked", kind="image_generation_user_error")
        return None


def refused(message: str, param: str | None = None, code: str | None = None, **more: Any) -> web.StreamResponse:
    """A refusal; `more` are its `status` (400) and its `kind`."""
    status: int = more.pop("status", 400)
    return web.json_response(error_body(message, param=param, code=code, **more), status=status)
