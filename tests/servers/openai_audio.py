"""A double of OpenAI's audio endpoints: recordings become words given by the test, and words become a sound.

Refuses what the real ones refuse, in the same form (OpenAI's API reference and live answers, 2026-08-21): a form
without a file name or model, or with an unknown field; an unsupported container, recognized by content and never by
name, such as raw AAC; more than 25 MB; a text of more than 4,096 characters; a missing key.
"""

from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any

from aiohttp import web

from bot.media.attachments import kind_of
from tests.bot.media.samples import adts
from tests.servers.base import Seen, Server
from tests.servers.openai import error_body

KEY = "sk-audio-test"
FIELDS = {"file", "model", "language", "prompt", "response_format", "temperature"}
SPEECH_FIELDS = {"model", "input", "voice", "response_format", "speed", "instructions"}
SOUND = adts(b"spoken" * 5, b"words" * 4)


@dataclass
class OpenAIAudio(Server):
    """`says` are the words that recordings hold, in their order; `usage` what is told of their length."""

    says: list[str] = field(default_factory=list[str])
    usage: dict[str, Any] | None = None
    key: str | None = KEY
    models: tuple[str, ...] = ("gpt-4o-mini-transcribe", "gpt-4o-mini-tts", "tts-1", "whisper-1")
    """Empty: it has no list of them, as whisper.cpp's server."""
    heard: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The fields of the forms that were answered; `file` is name, type and bytes."""
    spoken: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if self.key is not None and seen.headers.get("authorization") != f"Bearer {self.key}":
            return refused("Incorrect API key provided", status=401)
        if (seen.method, seen.path) == ("POST", "/v1/audio/transcriptions"):
            return self._transcribed(_form(seen))
        if (seen.method, seen.path) == ("POST", "/v1/audio/speech"):
            return self._spoken(seen.json())
        if (seen.method, seen.path) == ("GET", "/v1/models") and self.models:
            data = [{"id": name, "object": "model"} for name in self.models]
            return web.json_response({"object": "list", "data": data})
        return refused("Invalid URL", status=404)

    def _transcribed(self, form: dict[str, Any]) -> web.StreamResponse:
        unknown = form.keys() - FIELDS
        if unknown:
            return refused(f"Unknown parameter: '{min(unknown)}'")
        if not form.get("model"):
            return refused("you must provide a model parameter")
        name, _, data = form.get("file") or ("", "", b"")
        if not name:
            return refused("'file' is a required property")
        if len(data) > 25 * 1024 * 1024:
            return refused("Maximum content size limit (26214400) exceeded", status=413)
        kind = kind_of(data)
        if kind.family != "audio" or kind.name == "aac":
            return refused(
                "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'ogg', 'wav', 'webm']"
            )
        self.heard.append(form)
        body: dict[str, Any] = {"text": self.says.pop(0)}
        return web.json_response(body | ({"usage": self.usage} if self.usage else {}))

    def _spoken(self, body: dict[str, Any]) -> web.StreamResponse:
        unknown = body.keys() - SPEECH_FIELDS
        if unknown or not all(body.get(name) for name in ("model", "input", "voice")):
            return refused("Invalid parameters")
        if len(body["input"]) > 4096:
            return refused("String should have at most 4096 characters")
        if body.get("response_format", "mp3") not in {"mp3", "opus", "aac", "flac", "wav", "pcm"}:
            return refused("Invalid response_format")
        self.spoken.append(body)
        return web.Response(body=SOUND, content_type="audio/aac")


def refused(message: str, status: int = 400) -> web.StreamResponse:
    return web.json_response(error_body(message), status=status)


def _form(seen: Seen) -> dict[str, Any]:
    head = f"Content-Type: {seen.headers.get('content-type', '')}\r\n\r\n".encode()
    parsed = message_from_bytes(head + seen.body)
    payload = parsed.get_payload()
    parts = [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []
    return {str(part.get_param("name", header="content-disposition")): _value(part) for part in parts}


def _value(part: Message) -> Any:
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)
    return (
        data.decode()
        if part.get_content_type() == "text/plain"
        else (part.get_filename(), part.get_content_type(), data)
    )
