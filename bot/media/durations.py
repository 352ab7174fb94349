"""Pure: how long recordings last, by what a decoder reads: samples and packets, not what a file says of itself.

What belongs to no packet counts by its size: services may hear something in it. Nothing is decoded.

Source: Microsoft, "Multiple Channel Audio Data and WAVE Files" (WAVE); RFC 9639, 8.2 (FLAC's STREAMINFO), RFC 3533
(Ogg pages), RFC 7845 and RFC 6716, 3.1 (Opus packets); xiph.org, "Vorbis I specification", 4.2 and A.2; RFC 8794 and
RFC 9559 (the elements and blocks of WebM); read 2026-11-26.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from bot.media.audio import MIN_PACKED_BITS, seconds_of, seconds_of_mp3

_MAX_STEPS = 1_000_000
"""The most packets that are looked at; what is behind them counts by its size."""
_MIN_FLAC_BITS = 500
"""The fewest bits that hold a second: frames of silence are little more than their heads."""
_MAX_ELEMENTS = 500_000
"""The same for WebM, whose elements take longer to read; nearly three hours of the usual kind."""
_MAX_CHUNKS = 1000
_MIN_FORMAT_BYTES = 16
_EXTENSIBLE = 0xFFFE
_UNPACKED = frozenset({1, 3, 6, 7})
"""Formats with a fixed number of bits a sample: PCM, floats, A-law and mu-law."""
_MAX_HEADER_BYTES = 16
_MAX_RATE = 655_350
_OGG_HEAD_BYTES = 27
_PAGE_STEPS = 4
"""As how many of its packets a page itself counts."""
_OPUS_RATE = 48_000
_MAX_OPUS_SAMPLES = 5760
"""A packet holds at most 120 milliseconds."""
_FULL_SEGMENT = 255


def _by_size(size_bytes: int) -> float:
    return size_bytes * 8 / MIN_PACKED_BITS


def seconds_of_wav(data: bytes) -> float | None:
    """Returns how long a WAVE file is; None if it says nothing of its samples."""
    at, head = 12, b""
    for _ in range(_MAX_CHUNKS):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if len(name) < 4 or name == b"data":  # noqa: PLR2004  (a name)
            break
        head = data[at + 8 : at + 8 + size] if name == b"fmt " else head
        at += 8 + size + size % 2
    if data[at : at + 4] != b"data" or len(head) < _MIN_FORMAT_BYTES:
        return None
    form, channels = int.from_bytes(head[:2], "little"), int.from_bytes(head[2:4], "little")
    if form == _EXTENSIBLE:
        form = int.from_bytes(head[24:26], "little")
    rate, bits = int.from_bytes(head[4:8], "little"), int.from_bytes(head[14:16], "little")
    sample_bytes = channels * ((bits + 7) // 8)
    rest = len(data) - at - 8  # to the end, as decoders do not believe every size
    if form not in _UNPACKED or not sample_bytes or not 0 < rate <= _MAX_RATE:
        return _by_size(rest)
    return rest / sample_bytes / rate


def seconds_of_flac(data: bytes) -> float | None:
    """Returns how long a FLAC file says it is; None if it says nothing, or what its bytes could not hold."""
    rate, samples = int.from_bytes(data[18:21]) >> 4, int.from_bytes(data[21:26]) & ((1 << 36) - 1)
    return samples / rate if 0 < samples * _MIN_FLAC_BITS <= rate * len(data) * 8 else None


@dataclass(kw_only=True, slots=True)
class _Stream:
    """One stream of an Ogg file."""

    seconds_of: Callable[[bytes], float] | None = None
    """The length of a packet, where each tells; None if only the pages do."""
    rate: int = 0
    """Samples a second, in which its pages count; 0 if it is of a kind that is not known here."""
    seconds: float = 0.0
    packet: bytearray = field(default_factory=bytearray)
    """The beginning of the packet that goes on in the next page."""


def seconds_of_ogg(data: bytes) -> float | None:
    """Returns how long an Ogg file with Opus or Vorbis is, all its streams together; None if it has no such stream."""
    streams: dict[bytes, _Stream] = {}
    at = skipped = steps = 0
    while steps < _MAX_STEPS and (found := data.find(b"OggS", at)) >= 0:
        skipped, at = skipped + found - at, found
        table = data[at + _OGG_HEAD_BYTES : at + _OGG_HEAD_BYTES + int.from_bytes(data[at + 26 : at + 27])]
        steps += _PAGE_STEPS + len(table)
        body = at + _OGG_HEAD_BYTES + len(table)
        stream = streams.setdefault(data[at + 14 : at + 18], _Stream())
        for packet in _packets(stream, data, body, table):
            _take(stream, packet)
        if stream.rate and stream.seconds_of is None:
            granule = int.from_bytes(data[at + 6 : at + 14], "little", signed=True)
            stream.seconds = max(stream.seconds, min(granule / stream.rate, _MAX_SECONDS))
        if not stream.rate:
            skipped += sum(table)
        at = body + sum(table)
    seconds = sum(stream.seconds for stream in streams.values())
    return seconds + _by_size(skipped + max(0, len(data) - at)) if seconds else None


_MAX_SECONDS = 1_000_000


def _packets(stream: _Stream, data: bytes, at: int, table: bytes) -> Iterator[bytes]:
    """The beginnings of the packets that end in a page whose segments have these lengths."""
    for length in table:
        if len(stream.packet) < _MAX_HEADER_BYTES:
            stream.packet += data[at : at + min(length, _MAX_HEADER_BYTES)]
        at += length
        if length < _FULL_SEGMENT:
            yield bytes(stream.packet)
            stream.packet.clear()


def _take(stream: _Stream, packet: bytes) -> None:
    """Takes the next packet of a stream; the first of each kind says what the others are."""
    if packet.startswith(b"OpusHead"):
        stream.rate, stream.seconds_of = _OPUS_RATE, _opus_seconds
    elif packet.startswith(b"\x01vorbis"):
        stream.rate, stream.seconds_of = int.from_bytes(packet[12:16], "little"), None
    elif stream.seconds_of is not None and not packet.startswith(b"OpusTags"):
        stream.seconds += stream.seconds_of(packet)


def _opus_seconds(packet: bytes) -> float:
    if not packet:
        return 0.0
    config, code = packet[0] >> 3, packet[0] & 3
    if config < 12:  # noqa: PLR2004  (for speech: 10, 20, 40 or 60 milliseconds)
        samples = (480, 960, 1920, 2880)[config & 3]
    elif config < 16:  # noqa: PLR2004  (both: 10 or 20)
        samples = (480, 960)[config & 1]
    else:  # for music: 2.5, 5, 10 or 20
        samples = 120 << (config & 3)
    count = 1 if code == 0 else 2 if code < 3 else int.from_bytes(packet[1:2]) & 0x3F  # noqa: PLR2004
    return min(samples * count, _MAX_OPUS_SAMPLES) / _OPUS_RATE


def seconds_of_webm(data: bytes) -> float | None:
    """Returns how long a WebM file with Opus is, all its tracks together; None if it has none, or something besides."""
    at = skipped = 0
    seconds, is_opus = 0.0, False
    for _ in range(_MAX_ELEMENTS):
        name, body, size = _element(data, at)
        if body + size > len(data):
            break
        head = data[body : body + min(size, _MAX_HEADER_BYTES)]
        frame = _ebml_width(head, 0) + _BLOCK_BYTES
        if name in _BLOCKS and len(head) >= frame and not head[frame - 1] & _LACED:
            seconds += _opus_seconds(head[frame:])
        elif name in _CODECS and head.rstrip(b"\0") != b"A_OPUS":
            return None
        else:
            is_opus = is_opus or name in _CODECS
            skipped += size
        at = body + size
    return seconds + _by_size(skipped + len(data) - at) if seconds and is_opus else None


_WITHIN = frozenset(map(bytes.fromhex, ("18538067", "1654ae6b", "ae", "1f43b675", "a0")))
"""Segment, Tracks, TrackEntry, Cluster and BlockGroup: what is in them is read as if it stood beside them, because
browsers write no sizes of them while they record."""
_BLOCKS = frozenset({b"\xa3", b"\xa1"})
_CODECS = frozenset({b"\x86", b"\x6d\x80"})
"""CodecID, and ContentEncodings, by which packets may lack their first bytes."""
_MAX_ID_BYTES = 4
_BLOCK_BYTES = 3
"""The time and the flags, behind the number of the track."""
_LACED = 6
"""Flags of a block with several packets, which counts by its size."""


def _element(data: bytes, at: int) -> tuple[bytes, int, int]:
    """The name of the element that begins there, where its content begins, and the size of it if it is read as one.

    Where there is none, the content reaches beyond the end.
    """
    width = _ebml_width(data, at)
    size_width = _ebml_width(data, at + width)
    name, body = data[at : at + width], at + width + size_width
    if not 0 < width <= _MAX_ID_BYTES or not size_width:
        return b"", body, len(data) + 1
    size = int.from_bytes(data[at + width : body]) & ((1 << 7 * size_width) - 1)
    return name, body, 0 if name in _WITHIN else size


def _ebml_width(data: bytes, at: int) -> int:
    """The bytes of the number that begins there, by the zeros in front of its first one; 0 if none does."""
    return 9 - data[at].bit_length() if at < len(data) and data[at] else 0


SECONDS_OF: Mapping[str, Callable[[bytes], float | None]] = {
    "m4a": seconds_of,
    "mp3": seconds_of_mp3,
    "wav": seconds_of_wav,
    "flac": seconds_of_flac,
    "ogg": seconds_of_ogg,
    "webm": seconds_of_webm,
}
"""By the kind of file: its length in seconds; None if it cannot be told, or is not believed."""
