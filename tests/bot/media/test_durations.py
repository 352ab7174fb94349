"""How long recordings last: as they tell in one place, and no longer than their bytes can hold."""

import io
import random
import struct
import wave

import pytest

from bot.media.audio import SECONDS_OF, as_m4a
from tests.bot.media.samples import adts

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


def flac(samples: int) -> bytes:
    """Says how many samples it has, 44,100 a second."""
    info = struct.pack(">HH6x", 16, 65_535) + (44_100 << 44 | 15 << 36 | samples).to_bytes(8) + bytes(16)
    return b"fLaC\x80" + len(info).to_bytes(3) + info + bytes(900)


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


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        ("wav", wav(48_000), 1.0),
        ("wav", wav(16_000, rate=8000, channels=2), 2.0),
        ("flac", flac(132_300), 3.0),
        ("ogg", opus(*[OPUS_20_MS] * 300, granule=288_000), 6.0),
        ("ogg", vorbis(88_200), 2.0),
        ("wav", wav(48_000).replace(b"fmt ", b"LIST"), None),
        ("flac", flac(1 << 35), None),
        ("flac", flac(0), None),
        ("ogg", opus(OPUS_20_MS, granule=1 << 60), None),
        ("ogg", opus(OPUS_20_MS, granule=-1), None),
        ("ogg", page([b"Speex   " + bytes(90)], granule=48_000), None),
    ],
)
def test_a_recording_is_as_long_as_it_says_where_its_bytes_can_hold_that(
    kind: str, data: bytes, told: float | None
) -> None:
    """By its length a minute is paid for: what is not told, or not believed, is unknown and counts by its size."""
    found = SECONDS_OF[kind](data)
    assert found is None if told is None else found == pytest.approx(told, rel=0.01)


@pytest.mark.parametrize("kind", ["wav", "flac", "ogg", "m4a"])
def test_no_damage_is_too_much(kind: str) -> None:
    """There is a length, or none."""
    whole = {"wav": wav(800), "flac": flac(99), "ogg": opus(*[OPUS_20_MS] * 9)}.get(kind, as_m4a(adts())[0])
    chance = random.Random(4711)
    for _ in range(300):
        damaged = bytearray(whole[: chance.randrange(len(whole))])
        for at in chance.sample(range(len(damaged)), min(len(damaged), 9)):
            damaged[at] = chance.randrange(256)
        assert (SECONDS_OF[kind](bytes(damaged)) or 1) > 0
