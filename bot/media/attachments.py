"""The files that came with messages: fetched, opened and described in words.

    attachment --too large, too many--------------------------------> a line that says so
               '-> transport --> bytes --> what is it? --picture----> a cell --> upright and small, for models that see
                       |                       |-------PDF----------> a cell --> its text, and itself
                       |                       |-------recording----> the audio service --> a transcript
                       |                       |-------text---------> its words
                       '-not there             '-------all else-----> a line that says what it is

Whatever happens, each file yields one description; only cancellation is raised.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from bot.errors import Disconnected, Unfetchable
from bot.events import Attachment, ChatId
from bot.media import audio, texts
from bot.media.cell import FileRefused
from bot.media.pdf_port import PaperFacts
from bot.media.sandbox import Sandbox, check_facts
from bot.media.sniff import FileKind, kind_of
from bot.media.speech import MAX_AUDIO_BYTES, Fee, Speech
from bot.messages import Document, Medium, Picture
from bot.settings import MediaSettings
from bot.signal.protocol import Transport
from tools import clean_text

_log = logging.getLogger(__name__)

TRANSCRIPT = "its transcript:"
"""The rest of a description whose text is the transcript of a recording."""
_MAX_NATIVE_BYTES = 8_000_000
_MAX_NATIVE_PAGES = 100
"""For a PDF that is passed on as it is; vendors accept 100 pages and 32 MB per request, all messages together."""
_PAUSES_SECONDS = (1.0, 2.0, 4.0, 8.0)
"""The pauses between attempts to fetch a file while the bridge is away."""
_CELL_SECONDS = 30.0
_UNKNOWN_BYTES = 2_000_000
"""Assumed for a file of unknown size."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileDescription:
    """One file as it is described to the model: `a PDF of 3 pages, which is attached`."""

    what: str
    """What it is, with its article: `a picture`."""
    rest: str
    """Its state: `which is attached`, `which cannot be opened: it is damaged`, `its transcript:`."""
    text: str = ""
    """Its content in words; empty if there is none. Words of the file's author: data."""
    medium: Medium | None = None
    """What the model can look at itself."""


MaySpend = Callable[[Fee], Awaitable[bool]]
"""Returns whether this many US dollars can be spent, and if so counts them as spent."""


async def _always(_: Fee) -> bool:
    return True


class _PictureFacts(BaseModel):
    """The facts that a cell reports about a picture."""

    content_type: Literal["image/jpeg", "image/png"]
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    is_animation: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadAttachment:
    """The result of reading one file."""

    finding: FileDescription
    fee: Fee | None = None


async def open_picture(sandbox: Sandbox, data: bytes, kind: FileKind, *, person: str = "") -> tuple[Picture, bool]:
    """Returns a picture re-encoded by a cell, upright and small, and whether it was the first frame of an animation.

    `person` is as for `Sandbox.open`.

    Raises:
        FileRefused: it is damaged, or too large.
    """
    facts, made = await sandbox.open("pictures", data, kind.name, timeout_seconds=_CELL_SECONDS, person=person)
    told = check_facts(_PictureFacts, facts)
    picture = Picture(data=made, content_type=told.content_type, width=told.width, height=told.height)
    return picture, told.is_animation


class AttachmentReader:
    """Reads what came with messages. `speech` None means that recordings cannot be transcribed here."""

    def __init__(
        self,
        transport: Transport,
        limits: MediaSettings,
        sandbox: Sandbox,
        *,
        speech: Speech | None = None,
        pauses_seconds: Sequence[float] = _PAUSES_SECONDS,
    ) -> None:
        self._transport = transport
        self._limits = limits
        self._speech = speech
        self._pauses_seconds = pauses_seconds
        self._sandbox = sandbox

    def size_bytes(self, attachments: Sequence[Attachment]) -> int:
        """Returns how much of a question's files is fetched; what is not opened is not, whatever size it claims."""
        sizes = [_UNKNOWN_BYTES if one.size_bytes is None else one.size_bytes for one in attachments]
        return sum(size for size in sizes[: self._limits.max_files] if size <= self._limits.max_bytes)

    async def read_attachment(
        self,
        chat: ChatId,
        attachment: Attachment,
        *,
        number: int,
        person: str = "",
        may_spend: MaySpend = _always,
    ) -> ReadAttachment:
        """Returns what is in a file, the `number`th of its question, from 1; asks `may_spend` before a paid service.

        `person` is as for `Sandbox.open`.
        """
        what = "a voice note" if attachment.is_voice_note else "a file"
        if number > self._limits.max_files:
            most = self._limits.max_files
            why = f"which was not opened: the limit is {most} per message" if most else "which cannot be opened here"
            return _refused(what, why)
        max_bytes = self._limits.max_bytes
        if (attachment.size_bytes or 0) > max_bytes:
            return _too_large(what, max_bytes)
        try:
            data = await self._fetched(chat, attachment)
        except Unfetchable:
            return _refused(what, f"which is no longer available, or is larger than {max_bytes // 1_000_000} MB")
        except Disconnected:
            return _refused(what, "which could not be fetched, because Signal cannot be reached; it may be sent again")
        kind, is_voice_note = kind_of(data), attachment.is_voice_note
        try:
            return await (
                self._recording(data, kind, may_spend, is_voice_note=is_voice_note)
                if kind.family == "audio"
                else self._opened(data, kind, number, person)
            )
        except FileRefused as refusal:
            return _refused(kind.what, f"which cannot be opened: {refusal}")

    async def _fetched(self, chat: ChatId, attachment: Attachment) -> bytes:
        for pause_seconds in self._pauses_seconds:
            try:
                return await self._transport.attachment(chat, attachment, max_bytes=self._limits.max_bytes)
            except Disconnected as error:
                _log.warning("a file cannot be fetched now: %s", error)
                await asyncio.sleep(pause_seconds)
        return await self._transport.attachment(chat, attachment, max_bytes=self._limits.max_bytes)

    async def _opened(self, data: bytes, kind: FileKind, number: int, person: str) -> ReadAttachment:
        match kind.family:
            case "picture":
                return ReadAttachment(finding=await self._picture(data, kind, person))
            case "paper":
                return ReadAttachment(finding=await self._paper(data, kind, f"document-{number}.pdf", person))
            case "text":
                # Up to half a second of work for a large file, during which everybody else must have their turn.
                return ReadAttachment(finding=await asyncio.to_thread(self._text, data, kind))
            case _:
                return _refused(kind.what, "which cannot be read here")

    async def _picture(self, data: bytes, kind: FileKind, person: str) -> FileDescription:
        picture, is_animation = await open_picture(self._sandbox, data, kind, person=person)
        what = "the first picture of an animation" if is_animation else kind.what
        return FileDescription(what=what, rest="which is attached", medium=picture)

    async def _paper(self, data: bytes, kind: FileKind, name: str, person: str) -> FileDescription:
        most = self._limits.max_text_chars
        facts, read = await self._sandbox.open(
            "pdf", data, str(self._limits.max_pages), str(most), timeout_seconds=_CELL_SECONDS, person=person
        )
        # Invisible text could be an instruction. Up to a second of work for the longest text.
        told, text = check_facts(PaperFacts, facts), await asyncio.to_thread(clean_text, read.decode(errors="replace"))
        pages = told.pages
        what = f"{kind.what} of {_counted(pages, 'page')}"
        part = "" if told.pages_read == pages else f" (the first {_counted(told.pages_read, 'page')} of it)"
        if len(data) <= _MAX_NATIVE_BYTES and pages <= _MAX_NATIVE_PAGES:
            document = Document(data=data, name=name, pages=pages, text=text)
            return FileDescription(what=what, rest=f"which is attached as {name}{part}", medium=document)
        if not text:
            return FileDescription(what=what, rest="which has only pictures and no text, and is too large to be shown")
        return FileDescription(what=what, rest=f"its text{part}:", text=text)

    def _text(self, data: bytes, kind: FileKind) -> FileDescription:
        text = texts.decode_text(data)
        if text is None:
            return FileDescription(what="a file of a kind that is not known here", rest="which cannot be read here")
        most = self._limits.max_text_chars
        if len(text) <= most:
            rest = "its text:" if text.strip() else "which is empty"
            return FileDescription(what=kind.what, rest=rest, text=text if text.strip() else "")
        return FileDescription(
            what=kind.what, rest=f"its text (the first {most} of {len(text)} characters):", text=text[:most]
        )

    async def _recording(
        self, data: bytes, kind: FileKind, may_spend: MaySpend, *, is_voice_note: bool
    ) -> ReadAttachment:
        what = "a voice note" if is_voice_note else kind.what
        if self._speech is None:
            return _refused(what, "which cannot be listened to: no audio service is set up here")
        sound, ending, seconds = data, kind.name, None
        if (measure := audio.SECONDS_OF.get(kind.name)) is not None:
            seconds = await asyncio.to_thread(measure, data)
        if kind.name == "aac":
            (sound, seconds), ending = await asyncio.to_thread(audio.as_m4a, data), "m4a"
        if len(sound) > MAX_AUDIO_BYTES:
            return _too_large(what, MAX_AUDIO_BYTES)
        fee = self._speech.listening_fee(sound, ending, seconds=seconds)
        if fee.cost_usd and not await may_spend(fee):
            return _refused(what, "which was not listened to: that would cost more than may still be spent")
        heard = await self._speech.transcribe(sound, ending, seconds=seconds)
        what = f"{what} of {_counted(round(seconds), 'second')}" if seconds else what
        if heard.text is None:
            rest = "which could not be listened to: the audio service failed; it may be sent again"
        else:
            rest = TRANSCRIPT if heard.text else "in which no words were understood"
        return ReadAttachment(finding=FileDescription(what=what, rest=rest, text=heard.text or ""), fee=heard.fee)


def _refused(what: str, rest: str) -> ReadAttachment:
    return ReadAttachment(finding=FileDescription(what=what, rest=rest))


def _too_large(what: str, max_bytes: int) -> ReadAttachment:
    return _refused(what, f"which was not opened: it is larger than {max_bytes // 1_000_000} MB")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
