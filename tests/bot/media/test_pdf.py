"""The text of PDFs."""

import io

import pytest
from pypdf import PdfReader, PdfWriter

from bot.media.cell import Facts, FileRefused
from bot.media.pdf import read
from tests.bot.media.samples import pdf


def words(data: bytes, *, max_pages: int = 50, max_characters: int = 10_000) -> tuple[Facts, str]:
    facts, text = read(data, max_pages=max_pages, max_characters=max_characters)
    return facts, text.decode()


def locked(password: str, cipher: str = "AES-256") -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("secret"))))
    writer.encrypt(password, owner_password="owner", algorithm=cipher)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_each_page_stands_under_its_number() -> None:
    """So that an answer can name the page."""
    assert words(pdf("Rent 900 euros", "Signed")) == (
        {"pages": 2, "pages_read": 2},
        "Page 1:\nRent 900 euros\n\nPage 2:\nSigned",
    )


def test_a_page_without_text_keeps_its_number() -> None:
    """A scan in the middle does not move the others; a whole one has no text at all."""
    assert words(pdf("One", "", "Three"))[1] == "Page 1:\nOne\n\nPage 3:\nThree"
    assert words(pdf("", ""))[1] == ""


def test_pages_and_characters_are_bounded() -> None:
    """And it is told how far it was read."""
    facts, text = words(pdf(*["word"] * 9), max_pages=2)
    assert (facts["pages"], facts["pages_read"], "Page 3" in text) == (9, 2, False)
    facts, text = words(pdf(*["word"] * 9), max_characters=20)
    assert (facts["pages_read"], len(text)) == (2, 20)


def test_one_that_only_forbids_printing_is_read() -> None:
    """Its password is empty: everybody's reader opens it."""
    assert "secret" in words(locked(""))[1]


def test_one_that_is_locked_is_refused() -> None:
    """With the reason that helps."""
    with pytest.raises(FileRefused, match="password"):
        words(locked("key"))


@pytest.mark.parametrize(
    "data", [b"%PDF-1.7", b"%PDF-1.4\n" + b"\x00" * 3000, pdf("x")[:200], pdf("x").replace(b"/Pages", b"/Paces")]
)
def test_a_damaged_one_is_refused_or_read(data: bytes) -> None:
    """Whatever the parser runs into, it comes to one or the other."""
    try:
        facts, _ = words(data)
    except FileRefused as refusal:
        assert "damaged" in str(refusal)  # noqa: PT017 - either is right
    else:
        assert facts["pages"] in {0, 1}
