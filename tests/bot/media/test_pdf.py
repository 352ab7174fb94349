"""The text of PDFs."""

import io

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, PdfObject, TextStringObject

from bot.media.cell import Facts, FileRefused
from bot.media.pdf import preload, serve
from tests.bot.media.samples import pdf


def words(data: bytes, *, max_pages: int = 50, max_characters: int = 10_000) -> tuple[Facts, str]:
    preload()
    facts, text = serve(data, (str(max_pages), str(max_characters)))
    return facts, text.decode()


def writer_of(data: bytes) -> PdfWriter:
    return PdfWriter(clone_from=PdfReader(io.BytesIO(data)))


def written(writer: PdfWriter) -> bytes:
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def locked(password: str, cipher: str = "AES-256") -> bytes:
    writer = writer_of(pdf("secret"))
    writer.encrypt(password, owner_password="owner", algorithm=cipher)
    return written(writer)


def form(**fields: PdfObject) -> bytes:
    writer, refs = writer_of(pdf("A form")), ArrayObject()
    for name, value in fields.items():
        kind = "/Btn" if isinstance(value, NameObject) else "/Tx"
        field = {"/FT": NameObject(kind), "/T": TextStringObject(name[:2]), "/TU": TextStringObject(name), "/V": value}
        refs.append(writer._add_object(DictionaryObject({NameObject(key): held for key, held in field.items()})))
    writer.root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): refs})
    return written(writer)


def test_each_page_stands_under_its_number() -> None:
    """Also behind a scan, which has no text; pages and characters are bounded, and it is said how far it was read."""
    assert words(pdf("One", "", "Three")) == ({"pages": 3, "pages_read": 3}, "Page 1:\nOne\n\nPage 3:\nThree")
    assert words(pdf("", ""))[1] == ""
    facts, text = words(pdf(*["word"] * 9), max_pages=2)
    assert (facts["pages"], facts["pages_read"], "Page 3" in text) == (9, 2, False)
    facts, text = words(pdf(*["word"] * 9), max_characters=20)
    assert (facts["pages_read"], len(text)) == (2, 20)


def test_what_is_filled_into_a_form_is_read() -> None:
    """Below the pages, whose text has nothing of it (pypdf 7.1.0); what is empty, not ticked or signed is left out."""
    filled = form(
        Rent=TextStringObject("850 euros"),
        Pets=NameObject("/Yes"),
        Smoke=NameObject("/Off"),
        Note=TextStringObject(""),
        Signature=DictionaryObject(),
    )
    assert words(filled)[1] == "Page 1:\nA form\n\nFilled in:\nRent: 850 euros\nPets: Yes"


def test_one_that_is_locked_or_damaged_is_refused() -> None:
    """With the reason that helps; one that only forbids printing, whose password is empty, everybody's reader opens."""
    assert "secret" in words(locked(""))[1]
    for data, why in (
        (locked("key"), "password"),
        (b"%PDF-1.7", "damaged"),
        (b"%PDF-1.4\n" + b"\x00" * 3000, "damaged"),
        (pdf("x").replace(b"/Pages", b"/Paces"), "damaged"),
    ):
        with pytest.raises(FileRefused, match=why):
            words(data)
