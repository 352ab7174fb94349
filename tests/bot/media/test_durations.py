"""How long recordings last: by what is in them, and never less because of what a file says of itself."""

import io
import random
import struct
import wave

import pytest

from bot.media.durations import SECONDS_OF

OPUS_20_MS = b"\xfc" + bytes(40)
"""A packet of one frame, music of full band."""


def wav(samples: int, *, rate: int = 48_000, channels: int = 1) -> bytes:
    """As Python writes it, 16 bits a sample."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(bytes(2 * channels * samples))
    return file.getvalue()


def crc(data: bytes) -> int:
    """Bit by bit, as RFC 9639 has it."""
    found = 0
    for byte in data:
        found ^= byte
        for _ in range(8):
            found = (found << 1 ^ 0x07 if found & 0x80 else found << 1) & 0xFF
    return found


def flac(*sizes: int, claimed: int = 0) -> bytes:
    """Frames of so many samples of silence, 44,100 a second; `claimed` is how many the file says to have in all."""
    info = struct.pack(">HH6x", 16, 65_535) + (44_100 << 44 | 15 << 36 | claimed).to_bytes(8) + bytes(16)
    frames: list[bytes] = []
    for number, size in enumerate(sizes):
        head = b"\xff\xf8\x79\x08" + chr(number).encode() + (size - 1).to_bytes(2)
        frames.append(head + bytes((crc(head),)) + bytes(3) + bytes(2))
    return b"fLaC\x80" + len(info).to_bytes(3) + info + b"".join(frames)


def page(packets: list[bytes], *, granule: int = 0, serial: int = 1) -> bytes:
    """One page of whole packets."""
    table = b"".join(b"\xff" * (len(packet) // 255) + bytes((len(packet) % 255,)) for packet in packets)
    return struct.pack("<4sxxqIII", b"OggS", granule, serial, 0, 0) + bytes((len(table),)) + table + b"".join(packets)


def opus(*packets: bytes, granule: int = 0) -> bytes:
    """Fifty packets a page."""
    pages = [page(list(packets[at : at + 50]), granule=granule) for at in range(0, len(packets), 50)]
    return page([b"OpusHead" + bytes(11)]) + page([b"OpusTags" + bytes(600)]) + b"".join(pages)


def vorbis(granule: int) -> bytes:
    return page([b"\x01vorbis" + struct.pack("<IBI", 0, 1, 44_100) + bytes(14)]) + page([bytes(90)], granule=granule)


def seconds(kind: str, data: bytes) -> float | None:
    return SECONDS_OF[kind](data)


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        ("wav", wav(48_000), 1.0),
        ("wav", wav(16_000, rate=8000, channels=2), 2.0),
        ("flac", flac(*[44_100] * 3), 3.0),
        ("flac", flac(*[4096] * 300), 300 * 4096 / 44_100),
        ("ogg", opus(*[OPUS_20_MS] * 300), 6.0),
        ("ogg", opus(b"\x18" + bytes(9), b"\x19" + bytes(9), b"\xff\x02" + bytes(9)), 0.06 + 0.12 + 0.04),
        ("ogg", vorbis(88_200), 2.0),
    ],
)
def test_a_recording_is_as_long_as_what_is_in_it(kind: str, data: bytes, told: float) -> None:
    """Samples, frames and packets, in pages or on their own."""
    assert seconds(kind, data) == pytest.approx(told, rel=0.001)


@pytest.mark.parametrize(
    ("kind", "data", "least"),
    [
        ("wav", wav(48_000).replace(struct.pack("<I", 96_000), bytes(4)), 1.0),
        ("wav", wav(8000).replace(b"\x01\x00\x01\x00", b"\x31\x00\x01\x00"), 8.0),
        ("flac", flac(*[44_100] * 5, claimed=1), 5.0),
        ("ogg", opus(*[OPUS_20_MS] * 100, granule=1), 2.0),
        ("ogg", opus(OPUS_20_MS) + page([bytes(200)] * 100, serial=2), 10.0),
        ("ogg", opus(OPUS_20_MS) + bytes(20_000), 10.0),
    ],
    ids=["no size", "packed", "claims less", "claims less", "another stream", "no page"],
)
def test_a_file_that_says_less_of_itself_counts_no_less(kind: str, data: bytes, least: float) -> None:
    """Services hear what is there."""
    assert (seconds(kind, data) or 0) >= least


@pytest.mark.parametrize("kind", ["wav", "flac", "ogg"])
def test_what_has_no_sound_that_is_known_here_has_no_length(kind: str) -> None:
    """It counts by its size; and no damage is too much."""
    whole = {"wav": wav(800), "flac": flac(*[99] * 9), "ogg": opus(*[OPUS_20_MS] * 9)}[kind]
    assert seconds(kind, b"") is None
    assert seconds(kind, whole[:12]) is None
    chance = random.Random(4711)
    for _ in range(300):
        damaged = bytearray(whole[: chance.randrange(len(whole))])
        for at in chance.sample(range(len(damaged)), min(len(damaged), 9)):
            damaged[at] = chance.randrange(256)
        assert (seconds(kind, bytes(damaged)) or 0) >= 0


@pytest.mark.parametrize(
    ("kind", "sign"),
    [
        ("flac", b"\xff\xf8\xc9\x18\x00"),
        ("flac", b"\xff"),
        ("ogg", b"OggS"),
        ("ogg", b"OggS" + bytes(22) + b"\x01\x00"),
        ("wav", b"x\x00\x00\x00"),
    ],
)
def test_signs_of_sound_without_end_are_not_all_looked_at(kind: str, sign: bytes) -> None:
    """A crafted file of them ends the look: the rest counts by its size, or there is no length at all."""
    data = {"flac": flac(), "ogg": page([b"OpusHead" + bytes(11)]), "wav": b"RIFF\0\0\0\0WAVE"}[kind]
    assert (seconds(kind, data + sign * (24_000_000 // len(sign))) or 0) >= 0
