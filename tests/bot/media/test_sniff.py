"""What a file is, told by what is in it."""

from bot.media.attachments import kind_of
from bot.media.texts import decode_text
from tests.bot.media.samples import adts, box, pdf, picture, video

BODY = bytes(40)

KNOWN = [
    *((picture(file_format=name), "picture", "") for name in ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP", "TIFF")),
    (adts(), "audio", "aac"),
    (b"\xff\xfb\x90\x00" + BODY, "audio", "mp3"),
    (b"OggS\x00" + BODY, "audio", "ogg"),
    (b"RIFF\x24\x00\x00\x00WAVEfmt " + BODY, "audio", "wav"),
    (b"\x1a\x45\xdf\xa3" + BODY + b"A_OPUS", "audio", "webm"),
    (box(b"ftyp", b"M4A " + bytes(4)), "audio", "m4a"),
    (box(b"ftyp", b"isom" + bytes(4)) + box(b"hdlr", bytes(8) + b"soun"), "audio", "m4a"),
    (pdf("x"), "paper", ""),
    (b"\n\n" + pdf("x"), "paper", ""),  # some write a line before it
]


def test_what_cannot_be_read_is_called_by_its_name() -> None:
    """So that the person learns what it was that did not work."""
    for data, what in (
        (box(b"ftyp", b"heic" + bytes(4) + b"mif1"), "a picture in the format HEIC"),
        (video(), "a video"),
        (b"\x1a\x45\xdf\xa3" + BODY + b"V_VP9", "a video"),
        (b"PK\x03\x04" + BODY + pdf("x"), "a file of a kind that is not known here"),
        (b"RIFF\x24\x00\x00\x00AVI " + BODY, "a file of a kind that is not known here"),
    ):
        assert (kind_of(data).family, kind_of(data).what) == ("other", what)


def test_all_else_may_be_text() -> None:
    """In all usual encodings, no rubbish; pictures and recordings are known by their beginning."""
    for data, text in (
        (b"", ""),
        (b"BMW is a car", "BMW is a car"),
        ("Grüße\r\nÖl\r".encode(), "Grüße\nÖl"),
        (b"\xef\xbb\xbfname;age\n", "name;age"),
        ("日本".encode("utf-16"), "日本"),
        ("Grüße".encode("cp1252"), "Grüße"),
    ):
        assert (kind_of(data).family, decode_text(data)) == ("text", text)
    for data in (b"abc\x00def", bytes(range(256)), b"\x01\x02"):
        assert decode_text(data) is None
    for data, family, name in KNOWN:
        assert (kind_of(data).family, kind_of(data).name) == (family, name)
