"""How long recordings last: as they tell in one place, and no longer than their bytes can hold."""

import random
import struct

import pytest

from bot.media.audio import SECONDS_OF, as_m4a
from tests.bot.media.samples import adts

OPUS_20_MS = b"\xfc" + bytes(40)
"""A packet of one frame, music of full band."""


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
        ("ogg", opus(*[OPUS_20_MS] * 300, granule=288_000), 6.0),
        ("ogg", vorbis(88_200), 2.0),
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


@pytest.mark.parametrize("kind", ["ogg", "m4a"])
def test_no_damage_is_too_much(kind: str) -> None:
    """There is a length, or none."""
    whole = opus(*[OPUS_20_MS] * 9) if kind == "ogg" else as_m4a(adts())[0]
    chance = random.Random(4711)
    for _ in range(300):
        damaged = bytearray(whole[: chance.randrange(len(whole))])
        for at in chance.sample(range(len(damaged)), min(len(damaged), 9)):
            damaged[at] = chance.randrange(256)
        assert (SECONDS_OF[kind](bytes(damaged)) or 1) > 0
