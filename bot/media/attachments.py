"""The files that came with messages: fetched, opened and described in words.

    attachment --> bytes --> what is it? --picture----> a cell --> upright and small, for models that see
                                  |-------PDF----------> a cell --> its text, and itself
                                  |-------recording----> the audio service --> a transcript
                                  '-------text---------> its words

What a file is, its content tells; the name that its sender gave it proves nothing. Each file yields one description.

Source: the formats' own specifications (PNG, JPEG, GIF, RIFF, ISO base media, Matroska, Ogg, MPEG audio, PDF).
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from bot.errors import Disconnected, Unfetchable
from bot.events import Attachment, ChatId
from bot.media import texts
from bot.media.cell import FileRefused
from bot.media.library import Library
from bot.media.sandbox import Sandbox, check_facts
from bot.media.speech import MAX_AUDIO_BYTES, Speech, as_m4a, seconds_of
from bot.messages import Document, Medium, Picture
from bot.signal.protocol import Transport
from store import LedgerEntry

_log = logging.getLogger(__name__)

TRANSCRIPT = "its transcript:"
"""The rest of a description whose text is the transcript of a recording."""
MAX_FILES, MAX_BYTES = 8, 20_000_000
"""How many files are opened with one question, and how large each can be."""
MAX_PAGES, MAX_TEXT_CHARS = 50, 30_000
"""How many pages of a PDF, and characters of a file, the model reads."""
_MAX_NATIVE_BYTES = 8_000_000
_MAX_NATIVE_PAGES = 100
"""For a PDF that is passed on as it is; vendors accept 100 pages and 32 MB per request, all messages together."""
_PICTURE_SECONDS = 30.0
_UNREADABLE = "which cannot be read here"


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file."""

    family: Literal["picture", "audio", "paper", "text", "other"]
    what: str
    """What it is for people and models, with its article."""
    name: str = ""
    """For audio the usual file extension; empty otherwise."""


def _sound(name: str) -> FileKind:
    return FileKind("audio", "an audio file", name)


UNKNOWN = FileKind("other", "a file of a kind that is not known here")
_PICTURE = FileKind("picture", "a picture")
_VIDEO = FileKind("other", "a video")
_BOXES = _sound("m4a")
"""The ISO base media format, whose tracks tell videos from sounds."""
_HEIC = FileKind("other", "a picture in the format HEIC")
"""The libraries that read it have licences under which Aldis cannot distribute them; phones can send a JPEG instead."""

_BEGINNINGS = {
    rb"\xff\xd8\xff|\x89PNG\r\n\x1a\n|GIF8[79]a|II\*\x00|MM\x00\*": _PICTURE,
    rb"RIFF.{4}WEBP|.{4}ftyp(?:.{4}){0,61}avi[fs]": _PICTURE,
    rb"BM.{0,61}\x00": _PICTURE,  # without a zero byte it is a text
    rb".{4}ftyp(?:hei[cmsx]|hev[cx]|mif1|msf1)": _HEIC,
    rb".{4}ftyp": _BOXES,
    # Matroska, whose tracks name their codecs: `V_VP9` is a picture, `A_OPUS` a sound.
    rb"\x1a\x45\xdf\xa3.{0,65530}V_": _VIDEO,
    rb"\x1a\x45\xdf\xa3": _sound("webm"),
    rb"RIFF.{4}WAVE": _sound("wav"),
    rb"OggS": _sound("ogg"),
    rb"fLaC": _sound("flac"),
    # Frames of MPEG audio begin with eleven ones; layer 0 is ADTS, which frames raw AAC; FF FE begins UTF-16.
    rb"\xff[\xf0\xf1\xf8\xf9]": _sound("aac"),
    rb"ID3|\xff[\xe0-\xfd\xff]": _sound("mp3"),
    # PK: a ZIP archive, or an office document; it can begin with a PDF that is not compressed.
    rb"RIFF|PK\x03\x04": UNKNOWN,
    rb".{0,1019}%PDF-": FileKind("paper", "a PDF"),
    rb"": FileKind("text", "a text file"),
}
"""How files of each kind begin; the first that fits counts."""
_TRACK = re.compile(rb"hdlr.{8}(vide|soun)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileDescription:
    """One file as it is described to the model: `a PDF of 3 pages, which is attached`."""

    what: str
    rest: str
    """Its state: `which is attached`, `which cannot be opened: it is damaged`, `its transcript:`."""
    text: str = ""
    """Its content in the words of its author."""
    medium: Medium | None = None
    """What the model can look at itself."""


MaySpend = Callable[[LedgerEntry], Awaitable[bool]]
"""Returns whether this many US dollars can be spent, and if so counts them as spent."""


class _PictureFacts(BaseModel):
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    is_animation: bool


@dataclass(frozen=True, slots=True)
class AttachmentReader:
    """Reads what came with messages. `speech` None means that recordings cannot be transcribed here."""

    transport: Transport
    sandbox: Sandbox
    speech: Speech | None = None
    pause_seconds: float = 5.0
    """Before a file is fetched once more from a bridge that is away."""

    async def read_attachment(
        self, chat: ChatId, attachment: Attachment, *, number: int, may_spend: MaySpend, person: str = ""
    ) -> tuple[FileDescription, LedgerEntry | None]:
        """Returns what is in a question's `number`th file, from 1, and what was paid for that after `may_spend`."""
        what, fee = "a voice note" if attachment.is_voice_note else "a file", None
        if number > MAX_FILES:
            return FileDescription(what, f"which was not opened: the limit is {MAX_FILES} per message"), None
        if (attachment.size_bytes or 0) > MAX_BYTES:
            return FileDescription(what, _too_large(MAX_BYTES)), None
        try:
            data = await self._fetched(chat, attachment)
        except Unfetchable:
            rest = f"which is no longer available, or is larger than {MAX_BYTES // 1_000_000} MB"
            return FileDescription(what, rest), None
        except Disconnected:
            rest = "which could not be fetched, because Signal cannot be reached; it may be sent again"
            return FileDescription(what, rest), None
        kind = kind_of(data)
        try:
            match kind.family:
                case "audio":
                    what = what if attachment.is_voice_note else kind.what
                    found, fee = await self._recording(data, kind, what, may_spend)
                case "picture":
                    found = await self._picture(data, kind, person)
                case "paper":
                    found = await self._paper(data, kind, f"document-{number}.pdf", person)
                case "text":
                    # Up to half a second of work for a large file, during which everybody else must have their turn.
                    found = await asyncio.to_thread(_text, data, kind)
                case _:
                    found = FileDescription(kind.what, _UNREADABLE)
        except FileRefused as refusal:
            found = FileDescription(kind.what, f"which cannot be opened: {refusal}")
        return found, fee

    async def _fetched(self, chat: ChatId, attachment: Attachment) -> bytes:
        try:
            return await self.transport.attachment(chat, attachment, max_bytes=MAX_BYTES)
        except Disconnected as error:
            _log.warning("a file cannot be fetched now: %s", error)
            await asyncio.sleep(self.pause_seconds)
            return await self.transport.attachment(chat, attachment, max_bytes=MAX_BYTES)

    async def _picture(self, data: bytes, kind: FileKind, person: str) -> FileDescription:
        facts, made = await self.sandbox.open("pictures", data, timeout_seconds=_PICTURE_SECONDS, person=person)
        known = check_facts(_PictureFacts, facts)
        picture = Picture(data=made, content_type="image/jpeg", width=known.width, height=known.height)
        what = "the first picture of an animation" if known.is_animation else kind.what
        return FileDescription(what, "which is attached", medium=picture)

    async def _paper(self, data: bytes, kind: FileKind, name: str, person: str) -> FileDescription:
        library = Library(self.sandbox)
        paper = await library.read(data, "pdf", max_chars=MAX_TEXT_CHARS, max_pages=MAX_PAGES, person=person)
        pages = paper.pages or 0
        what = f"{kind.what} of {_counted(pages, 'page')}"
        part = "" if paper.pages_read == pages else f" (the first {_counted(paper.pages_read, 'page')} of it)"
        if len(data) <= _MAX_NATIVE_BYTES and pages <= _MAX_NATIVE_PAGES:
            document = Document(data=data, name=name, pages=pages, text=paper.text)
            return FileDescription(what, f"which is attached as {name}{part}", medium=document)
        if not paper.text:
            return FileDescription(what, "which has only pictures and no text, and is too large to be shown")
        return FileDescription(what, f"its text{part}:", text=paper.text)

    async def _recording(
        self, data: bytes, kind: FileKind, what: str, may_spend: MaySpend
    ) -> tuple[FileDescription, LedgerEntry | None]:
        if self.speech is None:
            return FileDescription(what, "which cannot be listened to: no audio service is set up here"), None
        if kind.name == "aac":
            (sound, seconds), ending = await asyncio.to_thread(as_m4a, data), "m4a"
        else:
            sound, seconds, ending = data, await asyncio.to_thread(seconds_of, data), kind.name
        if len(sound) > MAX_AUDIO_BYTES:
            return FileDescription(what, _too_large(MAX_AUDIO_BYTES)), None
        fee = self.speech.listening_fee(sound, ending, seconds=seconds)
        if fee.cost_usd and not await may_spend(fee):
            rest = "which was not listened to: that would cost more than may still be spent"
            return FileDescription(what, rest), None
        words, fee = await self.speech.transcribe(sound, ending, fee)
        what = f"{what} of {_counted(round(seconds), 'second')}" if seconds else what
        rest = TRANSCRIPT if words else "in which no words were understood"
        if words is None:
            rest = "which could not be listened to: the audio service failed; it may be sent again"
        return FileDescription(what, rest, text=words or ""), fee


def _text(data: bytes, kind: FileKind) -> FileDescription:
    text, most = texts.decode_text(data), MAX_TEXT_CHARS
    if text is None:
        return FileDescription(UNKNOWN.what, _UNREADABLE)
    if not text.strip():
        return FileDescription(kind.what, "which is empty")
    part = f" (the first {most} of {len(text)} characters)" if len(text) > most else ""
    return FileDescription(kind.what, f"its text{part}:", text=text[:most])


def _too_large(max_bytes: int) -> str:
    return f"which was not opened: it is larger than {max_bytes // 1_000_000} MB"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def kind_of(data: bytes) -> FileKind:
    """Returns what the bytes are; that they are a text is only a guess, see `texts.decode_text`."""
    kind = next(kind for beginning, kind in _BEGINNINGS.items() if re.match(beginning, data, re.DOTALL))
    tracks = set(_TRACK.findall(data)) if kind is _BOXES else ()
    if b"vide" in tracks:
        return _VIDEO
    return UNKNOWN if kind is _BOXES and not tracks and data[8:11] != b"M4A" else kind
