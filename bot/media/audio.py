"""Pure: wraps raw AAC, as Signal for Android records it, into an M4A file, as services expect it; and reads lengths.

    [header frame][header frame]...  -->  ftyp  moov(how to read it, where each frame is)  mdat(frame frame ...)

Nothing is decoded and nothing is lost: the frames stay as they are. A length that a file does not tell in one place is
unknown, never zero; then its size counts, as it does where a file claims less than its bytes hold (`speech`).

Source: ISO/IEC 14496-3, 1.A.2 (ADTS); ISO/IEC 14496-12 (boxes) and -14 (`esds`); OpenAI and Groq refuse to transcribe
raw AAC, under any name, with "Invalid file format" (2026-11-21). RFC 3533 and RFC 7845 (Ogg,
Opus); xiph.org, "Vorbis I specification", 4.2.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from struct import pack

from bot.media.cell import FileRefused

MIN_PACKED_BITS = 16_000
"""The fewest bits of a second of packed speech, by which recordings of unknown length are estimated."""

_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)
_SAMPLES_PER_FRAME = 1024
_HEADER_BYTES = 7
_SYNC, _SYNC_MASK = 0xFFF0, 0xFFF6  # twelve ones, and a layer of zero
_CHECKSUM_BYTES = 2
_IDENTITY = pack(">9i", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_UNDETERMINED = 0x55C4  # "und", five bits a letter
_MAX_BOXES = 1000
_UNUSUAL = "it is a kind of AAC that is not read here"
_MAX_FRAMES = 500_000
"""Three hours of the usual kind. A crafted file can consist of headers alone: millions of them, each an object here."""
_MIN_BITS = 500
"""The fewest bits that hold a second of sound: a file that claims more seconds than that allows is not believed."""
_OPUS_RATE = 48_000


@dataclass(frozen=True, kw_only=True, slots=True)
class _Format:
    """The content of every frame's header."""

    profile: int
    rate_index: int
    channels: int

    @property
    def rate(self) -> int:
        return _RATES[self.rate_index]

    @property
    def specific_config(self) -> bytes:
        """AudioSpecificConfig: five bits for the kind of AAC, four for the rate, four for the channels."""
        return pack(">H", (self.profile + 1) << 11 | self.rate_index << 7 | self.channels << 3)


def as_m4a(adts: bytes) -> tuple[bytes, float]:
    """Returns the same sound as an M4A file, and its length in seconds. A truncated last frame is left out.

    Raises:
        FileRefused: there is no whole frame, or one of a kind that no recorder of voice notes makes.
    """
    frames = list(islice(_frames(adts), _MAX_FRAMES + 1))
    if not frames:
        raise FileRefused("it is damaged")
    if len(frames) > _MAX_FRAMES:
        raise FileRefused("it is too long")
    sound = _format(adts)
    head = _box(b"ftyp", b"M4A ", pack(">I", 0), b"M4A mp42isom")
    size = len(head) + len(_moov(sound, frames, 0))
    file = head + _moov(sound, frames, size + 8) + _box(b"mdat", *frames)
    return file, len(frames) * _SAMPLES_PER_FRAME / sound.rate


def seconds_of(m4a: bytes) -> float | None:
    """Returns the length that an M4A file claims (`mvhd`); None for none, an impossible one, or fragments (`mvex`)."""
    moov = _inside(m4a, b"moov")
    head = None if moov is None else _inside(moov, b"mvhd")
    if moov is None or not head or _inside(moov, b"mvex") is not None:
        return None
    at, width = (20, 8) if head[0] == 1 else (12, 4)
    scale = int.from_bytes(head[at : at + 4], "big")
    return _believable(int.from_bytes(head[at + 4 : at + 4 + width], "big"), scale, m4a)


def _seconds_of_ogg(data: bytes) -> float | None:
    """By the count of samples in its last page, at the rate that the head of its stream names."""
    last = data.rfind(b"OggS")
    samples = int.from_bytes(data[last + 6 : last + 14], "little") if last >= 0 else 0
    vorbis = data.find(b"\x01vorbis", 0, 200)
    if vorbis >= 0:
        return _believable(samples, int.from_bytes(data[vorbis + 12 : vorbis + 16], "little"), data)
    return _believable(samples, _OPUS_RATE if b"OpusHead" in data[:200] else 0, data)


def _believable(units: int, units_a_second: int, data: bytes) -> float | None:
    """The seconds that a file tells; None for none, or more than its bytes can hold."""
    is_told = 0 < units * _MIN_BITS <= units_a_second * len(data) * 8
    return units / units_a_second if is_told else None


def _frames(data: bytes) -> Iterator[bytes]:
    """The frames without their headers, until the data ends or stops making sense."""
    at = 0
    while at + _HEADER_BYTES <= len(data):
        head = data[at : at + _HEADER_BYTES]
        length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        skipped = _HEADER_BYTES + (0 if head[1] & 1 else _CHECKSUM_BYTES)
        is_frame = int.from_bytes(head[:2], "big") & _SYNC_MASK == _SYNC and length > skipped
        if not is_frame or at + length > len(data):
            return
        if head[6] & 3:
            raise FileRefused(_UNUSUAL)
        yield data[at + skipped : at + length]
        at += length


def _format(head: bytes) -> _Format:
    rate_index, channels = head[2] >> 2 & 15, (head[2] & 1) << 2 | head[3] >> 6
    if rate_index >= len(_RATES) or not channels or head[6] & 3:
        raise FileRefused(_UNUSUAL)
    return _Format(profile=head[2] >> 6, rate_index=rate_index, channels=channels)


def _moov(sound: _Format, frames: list[bytes], offset: int) -> bytes:
    """The metadata; `offset` is where the first frame begins in the file."""
    duration = len(frames) * _SAMPLES_PER_FRAME
    times = pack(">IIII", 0, 0, sound.rate, duration)
    movie = _full(b"mvhd", times, pack(">IHxx8x", 0x10000, 0x100), _IDENTITY, bytes(24), pack(">I", 2))
    track = pack(">IIIII8xHHHxx", 0, 0, 1, 0, duration, 0, 0, 0x100)
    return _box(
        b"moov",
        movie,
        _box(
            b"trak",
            _full(b"tkhd", track, _IDENTITY, bytes(8), flags=7),
            _box(
                b"mdia",
                _full(b"mdhd", times, pack(">HH", _UNDETERMINED, 0)),
                _full(b"hdlr", bytes(4), b"soun", bytes(12), b"\x00"),
                _box(b"minf", _full(b"smhd", bytes(4)), _references(), _table(sound, frames, offset)),
            ),
        ),
    )


def _references() -> bytes:
    """The reference that says: the sound is in this very file."""
    return _box(b"dinf", _full(b"dref", pack(">I", 1), _full(b"url ", flags=1)))


def _table(sound: _Format, frames: list[bytes], offset: int) -> bytes:
    """One chunk with all frames, all of the same duration and of these sizes."""
    count = len(frames)
    entry = _box(
        b"mp4a",
        pack(">6xH8xHHIHxx", 1, sound.channels, 16, 0, sound.rate if sound.rate < 1 << 16 else 0),
        _full(b"esds", _descriptors(sound)),
    )
    return _box(
        b"stbl",
        _full(b"stsd", pack(">I", 1), entry),
        _full(b"stts", pack(">III", 1, count, _SAMPLES_PER_FRAME)),
        _full(b"stsc", pack(">IIII", 1, 1, count, 1)),
        _full(b"stsz", pack(">II", 0, count), pack(f">{count}I", *map(len, frames))),
        _full(b"stco", pack(">II", 1, offset)),
    )


def _descriptors(sound: _Format) -> bytes:
    """ES descriptor: MPEG-4 audio (0x40), an audio stream (0x15), rates unknown; then the configuration of AAC."""
    specific = _tagged(5, sound.specific_config)
    decoder = _tagged(4, pack(">BB3xII", 0x40, 0x15, 0, 0) + specific)
    return _tagged(3, pack(">HB", 1, 0) + decoder + _tagged(6, b"\x02"))


def _tagged(tag: int, body: bytes) -> bytes:
    return bytes((tag, len(body))) + body


def _full(name: bytes, *parts: bytes, flags: int = 0) -> bytes:
    """A box with a version (0) and flags."""
    return _box(name, pack(">I", flags), *parts)


def _box(name: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return pack(">I", 8 + len(body)) + name + body


def _inside(data: bytes, name: bytes) -> bytes | None:
    """The content of the first box of that name on this level; None if there is none."""
    at = 0
    for _ in range(_MAX_BOXES):
        size, head = int.from_bytes(data[at : at + 4], "big"), 8
        if size == 1:  # the size does not fit its field and follows the name
            size, head = int.from_bytes(data[at + 8 : at + 16], "big"), 16
        if data[at + 4 : at + 8] == name:
            return data[at + head : at + size if size else None]
        if size < head or at + size >= len(data):
            return None
        at += size
    return None


SECONDS_OF: Mapping[str, Callable[[bytes], float | None]] = {
    "m4a": seconds_of,
    "ogg": _seconds_of_ogg,
}
"""By the kind of file that phones record: its length in seconds; None if unknown, or not believed."""
