"""One file from the bridge to what a model reads of it; opened in processes of their own."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from PIL import Image

from bot.errors import Disconnected
from bot.events import Attachment, ChatId
from bot.media.attachments import MAX_BYTES, MAX_FILES, MAX_PAGES, MAX_TEXT_CHARS, AttachmentReader, FileDescription
from bot.media.speech import Speech
from bot.messages import Document, Picture
from store import LedgerEntry
from tests.bot.loops.fake_transport import FakeTransport
from tests.bot.media.samples import adts, box, noise, pdf, picture
from tests.bot.media.test_audio import OPUS_20_MS, opus
from tests.bot.media.voices import speech_at
from tests.cells import sandbox
from tests.servers.fixtures import fixture_of
from tests.servers.openai_audio import OpenAIAudio

CHAT = ChatId("direct:alice")


def attached(content_type: str = "application/octet-stream", **more: Any) -> Attachment:
    return Attachment(**{"id": "a", "content_type": content_type, "name": None, "size_bytes": None, **more})


async def always(_: LedgerEntry) -> bool:
    return True


async def unpacked(
    data: bytes, *, number: int = 1, speech: Speech | None = None, **more: Any
) -> tuple[FileDescription, LedgerEntry | None]:
    reader = AttachmentReader(FakeTransport(files={"a": data}), sandbox(), speech=speech)
    return await reader.read_attachment(CHAT, attached(**more), number=number, may_spend=always)


async def line(data: bytes, **more: Any) -> str:
    finding, _ = await unpacked(data, **more)
    return f"{finding.what}, {finding.rest}"


service = fixture_of(OpenAIAudio)


@pytest.fixture
async def speech(service: OpenAIAudio) -> AsyncGenerator[Speech]:
    async with speech_at(service, minute_usd=Decimal("0.06"), characters_usd=None) as speech:
        yield speech


async def test_a_picture_is_what_it_is_not_what_it_is_called() -> None:
    """A PNG that its sender calls a PDF is seen all the same."""
    finding, _ = await unpacked(picture(file_format="PNG"), content_type="application/pdf", name="a.pdf")
    assert (finding.what, finding.rest) == ("a picture", "which is attached")
    assert isinstance(finding.medium, Picture)
    assert (finding.medium.content_type, finding.medium.width, finding.medium.height) == ("image/jpeg", 60, 40)
    moving = picture(20, 20, "GIF", save_all=True, append_images=[Image.new("RGB", (20, 20), "blue")])
    assert "first picture" in await line(moving)


async def test_a_pdf_is_handed_on_with_its_text() -> None:
    """Also to models that read PDFs themselves, without what no one sees; it is said how far it was read."""
    finding, _ = await unpacked(pdf(r"Rent\001\002 due", *["Deposit"] * MAX_PAGES), number=2)
    assert isinstance(finding.medium, Document)
    assert finding.what == f"a PDF of {MAX_PAGES + 1} pages"
    assert finding.rest == f"which is attached as document-2.pdf (the first {MAX_PAGES} pages of it)"
    assert (finding.medium.name, finding.medium.pages) == ("document-2.pdf", MAX_PAGES + 1)
    assert finding.medium.text.startswith("Page 1:\nRent due\n\nPage 2:\nDeposit\n")
    assert finding.medium.text.endswith(f"Page {MAX_PAGES}:\nDeposit")


async def test_a_text_is_read_as_far_as_there_is_room() -> None:
    """And it is said where it was cut."""
    assert (await unpacked(b"name;age\r\nAnna;7\r\n"))[0].text == "name;age\nAnna;7"
    finding, _ = await unpacked(b"x" * (MAX_TEXT_CHARS + 1))
    cut = f"its text (the first {MAX_TEXT_CHARS} of {MAX_TEXT_CHARS + 1} characters):"
    assert (finding.rest, len(finding.text)) == (cut, MAX_TEXT_CHARS)
    assert await line(b" \n") == "a text file, which is empty"


async def test_what_cannot_be_read_is_said() -> None:
    """The model can tell the person what was the matter: a file that is damaged, too large, gone or one too many."""
    for data, words in (
        (noise(50, 50)[:700], "a picture, which cannot be opened: it is damaged"),
        (b"%PDF-1.7 and nothing else", "a PDF, which cannot be opened: it is damaged"),
        (box(b"ftyp", b"heic" + bytes(4)), "a picture in the format HEIC, which cannot be read here"),
    ):
        assert await line(data) == words
    data = bytes(MAX_BYTES + 1)
    assert "not opened: it is larger than 20 MB" in await line(data, size_bytes=MAX_BYTES + 1)
    assert "is no longer available" in await line(data, size_bytes=10)
    assert "is no longer available" in await line(data, id="b")
    assert "not opened: the limit is 8 per message" in await line(data, number=MAX_FILES + 1)


@dataclass
class Away(FakeTransport):
    failures: int = 0
    attempts: int = 0

    async def attachment(self, chat: ChatId, attachment: Attachment, *, max_bytes: int) -> bytes:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise Disconnected("the bridge is away")
        return await super().attachment(chat, attachment, max_bytes=max_bytes)


async def test_a_bridge_that_is_away_is_waited_for() -> None:
    """Once; then the question goes on without the file."""
    for failures, words in ((1, "its text:"), (2, "Signal cannot be reached")):
        transport = Away(files={"a": b"hello"}, failures=failures)
        reader = AttachmentReader(transport, sandbox(), pause_seconds=0)
        found, _ = await reader.read_attachment(CHAT, attached(), number=1, may_spend=always)
        assert (words in found.rest, transport.attempts) == (True, 2)


async def test_a_recording_is_heard_and_costs_by_its_length(service: OpenAIAudio, speech: Speech) -> None:
    """Raw AAC of Android, which no service takes, goes out as an M4A; its price is known before, by its length."""
    expected: list[Decimal | None] = []

    async def may_spend(fee: LedgerEntry) -> bool:
        expected.append(fee.cost_usd)
        return True

    files = {"note": adts(), "file": opus(*[OPUS_20_MS] * 100, granule=96_000)}
    reader = AttachmentReader(FakeTransport(files=files), sandbox(), speech=speech)
    for id_, what, cost in (
        ("note", "a voice note of 2 seconds", Decimal("0.002321995")),
        ("file", "an audio file of 2 seconds", Decimal("0.002")),
    ):
        service.says = ["Remind me of the milk."]
        attachment = attached(id=id_, is_voice_note=id_ == "note")
        found, fee = await reader.read_attachment(CHAT, attachment, number=1, may_spend=may_spend)
        assert (found.what, found.rest) == (what, "its transcript:")
        assert found.text == "Remind me of the milk."
        assert fee is not None
        assert (fee.outcome, fee.cost_usd, expected[-1]) == ("ok", cost, cost)


async def test_a_recording_that_cannot_be_heard_is_described(service: OpenAIAudio, speech: Speech) -> None:
    """No service, a service that fails, a recording of silence: each in words."""
    assert "no audio service" in await line(adts(), is_voice_note=True)
    assert await line(adts()) == "an audio file, which cannot be listened to: no audio service is set up here"
    service.says = [" "]
    assert "no words were understood" in await line(adts(), speech=speech)
    await service.stop()
    failed, fee = await unpacked(adts(), speech=speech)
    assert "the audio service failed" in failed.rest
    assert fee is not None
    assert fee.outcome == "unavailable"
