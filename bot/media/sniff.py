"""Pure: recognizes what a file is by its content. The name that its sender gave it proves nothing.

Source: the formats' own specifications (PNG, JPEG, GIF, RIFF, ISO base media, Matroska, Ogg, MPEG audio, PDF, ZIP).
"""

import re
from dataclasses import dataclass
from typing import Literal

Family = Literal["picture", "audio", "paper", "text", "other"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileKind:
    """A kind of file."""

    family: Family
    name: str
    """For a picture Pillow's name of the format, for audio the usual file extension; a word otherwise."""
    what: str
    """What it is for people and models, with its article."""


def _picture(name: str) -> FileKind:
    return FileKind(family="picture", name=name, what="a picture")


def _audio(name: str) -> FileKind:
    return FileKind(family="audio", name=name, what="an audio file")


def _other(what: str) -> FileKind:
    return FileKind(family="other", name="other", what=what)


PDF = FileKind(family="paper", name="pdf", what="a PDF")
TEXT = FileKind(family="text", name="text", what="a text file")
HEIC = _other("a picture in the format HEIC")
"""The libraries that read it have licences under which Aldis cannot distribute them; phones can send a JPEG instead."""
VIDEO = _other("a video")
UNKNOWN = _other("a file of a kind that is not known here")

_BEGINNINGS = (
    (b"\xff\xd8\xff", _picture("JPEG")),
    (b"\x89PNG\r\n\x1a\n", _picture("PNG")),
    (b"GIF87a", _picture("GIF")),
    (b"GIF89a", _picture("GIF")),
    (b"BM", _picture("BMP")),
    (b"II*\x00", _picture("TIFF")),
    (b"MM\x00*", _picture("TIFF")),
    (b"%PDF-", PDF),
    (b"OggS", _audio("ogg")),
    (b"fLaC", _audio("flac")),
    (b"ID3", _audio("mp3")),
    (b"#!AMR", _other("a recording in the format AMR")),
    (b"{\\rtf", _other("a document in the format RTF")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _other("a document of an old office program")),
    (b"Rar!\x1a\x07", _other("a RAR archive")),
    (b"7z\xbc\xaf\x27\x1c", _other("a 7z archive")),
    (b"\x1f\x8b", _other("a gzip archive")),
    (b"\x7fELF", _other("a program")),
    (b"MZ", _other("a program")),
)
_UTF16 = b"\xff\xfe"
_AVIF_BRANDS = {b"avif", b"avis"}
_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_VIDEO_TRACK = re.compile(rb"hdlr.{8}vide", re.DOTALL)
_SOUND_TRACK = re.compile(rb"hdlr.{8}soun", re.DOTALL)
_OFFICE = (
    (b"word/", "a Word document"),
    (b"xl/", "an Excel sheet"),
    (b"ppt/", "a PowerPoint presentation"),
    (b"opendocument", "an OpenDocument file"),
    (b"epub", "an e-book"),
)


def kind_of(data: bytes) -> FileKind:
    """Returns what the bytes are. `TEXT` is only a guess: `texts.decode_text` tells whether they really are text."""
    container = next((read for at, sign, read in _CONTAINERS if data[at : at + 4] == sign), None)
    return container(data) if container else _sound_of_mpeg(data) or _by_beginning(data)


def _by_beginning(data: bytes) -> FileKind:
    # Long signatures are reliable; "BM" and "MZ" could begin a text, so such a file must contain a zero byte as well.
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning) and (len(beginning) > 2 or b"\x00" in data[:64]):  # noqa: PLR2004
            return kind
    return PDF if b"%PDF-" in data[:1024] else TEXT


def _sound_of_mpeg(data: bytes) -> FileKind | None:
    """Frames of MPEG audio begin with eleven ones; layer 0 is ADTS, which frames raw AAC."""
    sync = int.from_bytes(data[:2], "big")
    if sync & 0xFFE0 != 0xFFE0 or data[:2] == _UTF16:  # noqa: PLR2004
        return None
    return _audio("aac" if sync & 0xFFF6 == 0xFFF0 else "mp3")  # noqa: PLR2004


def _in_riff(data: bytes) -> FileKind:
    return {b"WEBP": _picture("WEBP"), b"WAVE": _audio("wav")}.get(data[8:12], UNKNOWN)


def _in_matroska(data: bytes) -> FileKind:
    """Tracks name their codecs: `V_VP9` is a picture, `A_OPUS` a sound."""
    return VIDEO if b"V_" in data[:65_536] else _audio("webm")


def _in_boxes(data: bytes) -> FileKind:
    """A file of the ISO base media format: `ftyp` names its brands, the tracks show whether there is a picture."""
    length = int.from_bytes(data[:4], "big")
    brands = {data[8:12], *(data[at : at + 4] for at in range(16, min(length, 256), 4))}
    if brands & _AVIF_BRANDS:
        return _picture("AVIF")
    if data[8:12] in _HEIC_BRANDS:
        return HEIC
    if _VIDEO_TRACK.search(data):
        return VIDEO
    return _audio("m4a") if data[8:11] == b"M4A" or _SOUND_TRACK.search(data) else UNKNOWN


def _packed(data: bytes) -> FileKind:
    """A ZIP file; the names of its parts show which program made it."""
    # The names are in the directory at the end as well as before each part.
    names = data[:4096] + data[-65_536:]
    return _other(next((what for sign, what in _OFFICE if sign in names), "a ZIP archive"))


_CONTAINERS = (
    (4, b"ftyp", _in_boxes),
    (0, b"RIFF", _in_riff),
    (0, b"\x1a\x45\xdf\xa3", _in_matroska),
    (0, b"PK\x03\x04", _packed),
)
