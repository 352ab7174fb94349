"""Pure: recognizes what a file is by its content. The name that its sender gave it proves nothing.

Source: the formats' own specifications (PNG, JPEG, GIF, RIFF, ISO base media, Matroska, Ogg, MPEG audio, PDF, ZIP).
"""

import re
from dataclasses import dataclass
from typing import Literal

Family = Literal["picture", "audio", "paper", "text", "other"]


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file."""

    family: Family
    what: str
    """What it is for people and models, with its article."""
    name: str = ""
    """For a picture Pillow's name of the format, for audio the usual file extension; empty otherwise."""


PDF = FileKind("paper", "a PDF")
TEXT = FileKind("text", "a text file")
UNKNOWN = FileKind("other", "a file of a kind that is not known here")
_VIDEO = FileKind("other", "a video")
_HEIC = FileKind("other", "a picture in the format HEIC")
"""The libraries that read it have licences under which Aldis cannot distribute them; phones can send a JPEG instead."""

_PICTURES = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"GIF87a": "GIF",
    b"GIF89a": "GIF",
    b"BM": "BMP",
    b"II*\x00": "TIFF",
    b"MM\x00*": "TIFF",
}
_SOUNDS = {b"OggS": "ogg", b"fLaC": "flac", b"ID3": "mp3"}
_BEGINNINGS = (
    *((beginning, FileKind("picture", "a picture", name)) for beginning, name in _PICTURES.items()),
    *((beginning, FileKind("audio", "an audio file", name)) for beginning, name in _SOUNDS.items()),
)
_UTF16 = b"\xff\xfe"
_AVIF_BRANDS = {b"avif", b"avis"}
_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_TRACK = re.compile(rb"hdlr.{8}(vide|soun)", re.DOTALL)


def kind_of(data: bytes) -> FileKind:
    """Returns what the bytes are. `TEXT` is only a guess: `texts.decode_text` tells whether they really are text."""
    if data[4:8] == b"ftyp":
        return _in_boxes(data)
    match data[:4]:
        case b"RIFF":
            webp, wave = FileKind("picture", "a picture", "WEBP"), FileKind("audio", "an audio file", "wav")
            return {b"WEBP": webp, b"WAVE": wave}.get(data[8:12], UNKNOWN)
        case b"\x1a\x45\xdf\xa3":  # Matroska, whose tracks name their codecs: `V_VP9` is a picture, `A_OPUS` a sound
            return _VIDEO if b"V_" in data[:65_536] else FileKind("audio", "an audio file", "webm")
        case _:
            return _by_beginning(data)


def _by_beginning(data: bytes) -> FileKind:
    # Frames of MPEG audio begin with eleven ones; layer 0 is ADTS, which frames raw AAC.
    sync = int.from_bytes(data[:2], "big")
    if sync & 0xFFE0 == 0xFFE0 and data[:2] != _UTF16:  # noqa: PLR2004
        return FileKind("audio", "an audio file", "aac" if sync & 0xFFF6 == 0xFFF0 else "mp3")  # noqa: PLR2004
    # Long signatures are reliable; "BM" could begin a text, so such a file must contain a zero byte as well.
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning) and (len(beginning) > 2 or b"\x00" in data[:64]):  # noqa: PLR2004
            return kind
    return PDF if b"%PDF-" in data[:1024] else TEXT


def _in_boxes(data: bytes) -> FileKind:
    """A file of the ISO base media format: `ftyp` names its brands, the tracks show whether there is a picture."""
    length = int.from_bytes(data[:4], "big")
    brands = {data[8:12], *(data[at : at + 4] for at in range(16, min(length, 256), 4))}
    if brands & _AVIF_BRANDS:
        return FileKind("picture", "a picture", "AVIF")
    if data[8:12] in _HEIC_BRANDS:
        return _HEIC
    tracks = set(_TRACK.findall(data))
    if b"vide" in tracks:
        return _VIDEO
    return FileKind("audio", "an audio file", "m4a") if b"soun" in tracks or data[8:11] == b"M4A" else UNKNOWN
