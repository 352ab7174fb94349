"""What a file is, told by what is in it."""

import pytest

from bot.media.sniff import kind_of
from bot.media.texts import decode_text
from tests.bot.media.samples import adts, box, pdf, picture, video

BODY = bytes(40)


@pytest.mark.parametrize("name", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP", "TIFF"])
def test_pictures_are_known_by_their_beginning(name: str) -> None:
    """Each by the name under which Pillow reads it and no other."""
    kind = kind_of(picture(file_format=name))
    assert (kind.family, kind.name) == ("picture", name)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (adts(), "aac"),
        (b"\xff\xfb\x90\x00" + BODY, "mp3"),
        (b"ID3\x04\x00" + BODY, "mp3"),
        (b"OggS\x00" + BODY, "ogg"),
        (b"fLaC\x00" + BODY, "flac"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt " + BODY, "wav"),
        (b"\x1a\x45\xdf\xa3" + BODY + b"A_OPUS", "webm"),
        (box(b"ftyp", b"M4A " + bytes(4)), "m4a"),
        (box(b"ftyp", b"isom" + bytes(4)) + box(b"hdlr", bytes(8) + b"soun"), "m4a"),
    ],
)
def test_recordings_are_known_by_their_frames(data: bytes, name: str) -> None:
    """Raw AAC and MP3 begin alike; the layer tells them apart."""
    kind = kind_of(data)
    assert (kind.family, kind.name) == ("audio", name)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (box(b"ftyp", b"heic" + bytes(4) + b"mif1"), "a picture in the format HEIC"),
        (video(), "a video"),
        (b"\x1a\x45\xdf\xa3" + BODY + b"V_VP9", "a video"),
        (b"PK\x03\x04" + BODY + b"word/document.xml", "a Word document"),
        (b"PK\x03\x04" + BODY, "a ZIP archive"),
        (b"MZ\x90\x00" + BODY, "a program"),
        (b"RIFF\x24\x00\x00\x00AVI " + BODY, "a file of a kind that is not known here"),
    ],
)
def test_what_cannot_be_read_is_called_by_its_name(data: bytes, what: str) -> None:
    """So that the person learns what it was that did not work."""
    kind = kind_of(data)
    assert (kind.family, kind.what) == ("other", what)


def test_a_pdf_may_begin_late() -> None:
    """Some programs write a line of their own before it."""
    assert kind_of(pdf("x")).family == kind_of(b"\n\n" + pdf("x")).family == "paper"


@pytest.mark.parametrize("data", [b"", b"x", b"BMW is a car", b"MZ, dear", b"\xff\xfeh\x00i\x00", "Grüße".encode()])
def test_all_else_may_be_text(data: bytes) -> None:
    """A text may begin with the letters of a picture; whether it is one is seen when it is decoded."""
    assert kind_of(data).family == "text"
    assert decode_text(data) is not None


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße\r\nÖl\r".encode(), "Grüße\nÖl"),
        (b"\xef\xbb\xbfname;age\n", "name;age"),
        ("日本".encode("utf-16"), "日本"),
        ("Grüße".encode("cp1252"), "Grüße"),
        (b"", ""),
    ],
)
def test_texts_of_all_usual_encodings_are_read(data: bytes, text: str) -> None:
    """By their mark, else as UTF-8, else as Windows wrote them for decades."""
    assert decode_text(data) == text


@pytest.mark.parametrize("data", [b"abc\x00def", bytes(range(256)), b"\x01\x02"])
def test_bytes_that_are_no_text_are_none(data: bytes) -> None:
    """A model is not given rubbish to make sense of."""
    assert decode_text(data) is None
