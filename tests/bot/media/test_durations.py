"""How long recordings last: by what is in them, and never less because of what a file says of itself."""

import io
import random
import struct
import wave
from base64 import b64decode

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


def element(name: str, *parts: bytes, has_size: bool = True) -> bytes:
    """One of EBML; without a size as browsers write it while they record."""
    body = b"".join(parts)
    return bytes.fromhex(name) + ((1 << 56 | len(body)).to_bytes(8) if has_size else b"\x01" + b"\xff" * 7) + body


def webm(*packets: bytes, codec: bytes = b"A_OPUS", more: bytes = b"", has_sizes: bool = True, flags: int = 0) -> bytes:
    """Fifty packets a cluster, every second one in a group; it claims a length of one millisecond."""
    blocks = [b"\x81" + bytes((0, 0, flags)) + packet for packet in packets]
    held = [element("a0", element("a1", one)) if at % 2 else element("a3", one) for at, one in enumerate(blocks)]
    clusters = [b"".join(held[at : at + 50]) for at in range(0, len(held), 50)]
    sound = (
        element("1549a966", element("4489", struct.pack(">d", 1))),
        element("1654ae6b", element("ae", element("d7", b"\x01"), element("86", codec), more)),
        *(element("1f43b675", element("e7", b"\x00"), one, has_size=has_sizes) for one in clusters),
    )
    return element("1a45dfa3", element("4282", b"webm")) + element("18538067", *sound, has_size=has_sizes)


RECORDED = b64decode(
    "GkXfo59ChoEBQveBAULygQRC84EIQoKEd2VibUKHgQRChYECGFOAZwEAAAAAAAM7EU2bdLlNu4tTq4QVSalmU6yBbk27i1OrhBZUrmtTrIGTTbuL"
    "U6uEH0O2dVOsgddNu4xTq4QcU7trU6yCAynsrgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAVSalmoCrXsYMP"
    "QkBEiYREBwmaTYCGQ2hyb21lV0GGQ2hyb21lFlSua7+uvdeBAXPFh2I7Iv3d4t2DgQKGhkFfT1BVU2Oik09wdXNIZWFkAQIAAIC7AAAAAADhjbWE"
    "RzuAAJ+BAmJkgSAfQ7Z1AQAAAAAAAkbngQCjtoEAAIAY4VOfSYE9NCZP0YZ2SsKGDDdODfTLbVmKjfYUh/Hp5ws21mO66CqiDC+Xq5mKxsg0hKO6"
    "gQA7gBjtgVBFNPL6Ly7UN/lKyPV/oRb2BDzZ0jQvtIIYi2/3j3Wb1/fDijcNSFVHchEgsWsLH0doUqOxgQCAgBjtgVBFNPL6McyEKDSR72ecPLP2"
    "GE+F/KojDcyESN0NVDB53uzbk8eykvaJYKO3gQC0gBjtgVBFNNp9P/Go0g94tqxN+j7njdLR5iIz13SBC+4cgyngXe9wv1xmyTAQ7si7VQQpwKOy"
    "gQDvgBjtfc24npGtWSNSxiJvNWCC3j7iCwWAtPRJzsvZEn2Lu3e/r3VzdoakY7woKb6jvIEBNIAY7YFQRTTy+i2P5EHEz575kDu+jcduHVmB19n/"
    "fhMpsY4fD4nvaoGAz6G8YDmJeEbzIIA3tv/2gKO+gQFogBjtgVBFNPL6a+5KV82pRYEyEbCoWSjJ9qd2on+LIpxRLyMpjsK6Evzij05i1SnjfZEE"
    "0mQhCsxGcDqjtIEBo4AY7YFQRTTy+faguf/+xCy/EJXXgPt4fyjfr/foD06F6P5JaB8ilk6j5M4SQnwH3BWjuIEB6IAY7X+fQL7+JXPK+rjiVHA2"
    "P2v7IqI8o46vcOxRiXSMSNc18tSCDYdBWrBjH1gqySDT29eAo7+BAhyAGO1/n0C+/jR/SbjKKl6FUFqZ7EnpRXgbxr94HkyJH+Ir+u33hg+0Q+Fj"
    "/IIOC2uwR51DCT4GMbEC/oAcU7trjbuLs4EAt4b3gQHxgdc="
)
"""Six tenths of a second from a MediaRecorder of Chromium 156, which has no sizes, 2026-11-26."""


def seconds(kind: str, data: bytes) -> float | None:
    return SECONDS_OF[kind](data)


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        ("wav", wav(48_000), 1.0),
        ("wav", wav(16_000, rate=8000, channels=2), 2.0),
        ("flac", flac(132_300), 3.0),
        ("ogg", opus(*[OPUS_20_MS] * 300), 6.0),
        ("ogg", opus(b"\x18" + bytes(9), b"\x19" + bytes(9), b"\xff\x02" + bytes(9)), 0.06 + 0.12 + 0.04),
        ("ogg", vorbis(88_200), 2.0),
        ("webm", webm(*[OPUS_20_MS] * 300), 6.0),
        ("webm", webm(*[OPUS_20_MS] * 300, has_sizes=False), 6.0),
    ],
)
def test_a_recording_is_as_long_as_what_is_in_it(kind: str, data: bytes, told: float) -> None:
    """Samples, frames and packets, in pages or on their own."""
    assert seconds(kind, data) == pytest.approx(told, rel=0.001, abs=0.05 if kind == "webm" else 0)


def test_what_a_browser_recorded_is_as_long_as_it_was() -> None:
    """Decoded, it has 0.6 seconds; what is no sound in it counts by its size."""
    assert 0.6 <= (seconds("webm", RECORDED) or 0) < 0.75


@pytest.mark.parametrize(
    "data",
    [
        webm(OPUS_20_MS, codec=b"A_VORBIS"),
        webm(OPUS_20_MS, codec=b"A_OPUS", more=element("6d80", bytes(9))),
        webm(OPUS_20_MS, more=element("86", b"A_AAC")),
        webm(OPUS_20_MS).replace(element("86", b"A_OPUS"), b""),
        webm(),
    ],
    ids=["Vorbis", "shortened packets", "another track", "no codec", "no packet"],
)
def test_a_webm_file_with_anything_but_opus_has_no_length(data: bytes) -> None:
    """It counts by its size, as do packets that are not written as they are heard."""
    assert seconds("webm", data) is None


@pytest.mark.parametrize(
    ("kind", "data", "least"),
    [
        ("wav", wav(48_000).replace(struct.pack("<I", 96_000), bytes(4)), 1.0),
        ("wav", wav(8000).replace(b"\x01\x00\x01\x00", b"\x31\x00\x01\x00"), 8.0),
        ("ogg", opus(*[OPUS_20_MS] * 100, granule=1), 2.0),
        ("ogg", opus(OPUS_20_MS) + page([bytes(200)] * 100, serial=2), 10.0),
        ("ogg", opus(OPUS_20_MS) + bytes(20_000), 10.0),
        ("webm", webm(*[OPUS_20_MS] * 100), 2.0),
        ("webm", webm(OPUS_20_MS) + element("ec", bytes(20_000)), 10.0),
        ("webm", webm(OPUS_20_MS) + b"\xec\x01\xff" + bytes(20_000), 10.0),
        ("webm", webm(OPUS_20_MS) + element("a3", b"\x81\x00\x00\x02" + bytes(20_000)), 10.0),
    ],
    ids=["no size", "packed", "claims less", "another stream", "no page", "claims less", *["void"] * 2, "laced"],
)
def test_a_file_that_says_less_of_itself_counts_no_less(kind: str, data: bytes, least: float) -> None:
    """Services hear what is there."""
    assert (seconds(kind, data) or 0) >= least


@pytest.mark.parametrize("kind", ["wav", "flac", "ogg", "webm"])
def test_what_has_no_sound_that_is_known_here_has_no_length(kind: str) -> None:
    """It counts by its size; and no damage is too much."""
    whole = {"wav": wav(800), "flac": flac(99), "ogg": opus(*[OPUS_20_MS] * 9), "webm": RECORDED}[kind]
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
        ("ogg", b"OggS"),
        ("ogg", b"OggS" + bytes(22) + b"\x01\x00"),
        ("wav", b"x\x00\x00\x00"),
        ("webm", b"\xec\x80"),
        ("webm", b"\xa0\x80"),
        ("webm", b"\xa3\x84\x81\x00\x00\x80"),
    ],
)
def test_signs_of_sound_without_end_are_not_all_looked_at(kind: str, sign: bytes) -> None:
    """A crafted file of them ends the look: the rest counts by its size, or there is no length at all."""
    data = {"ogg": page([b"OpusHead" + bytes(11)]), "wav": b"RIFF\0\0\0\0WAVE", "webm": b""}[kind]
    assert (seconds(kind, data + sign * (24_000_000 // len(sign))) or 0) >= 0


def test_a_flac_file_is_not_believed_beyond_its_bytes() -> None:
    """By its length a minute is paid for."""
    assert seconds("flac", flac(1 << 35)) is None
    assert seconds("flac", flac(0)) is None


def test_what_is_behind_the_last_look_counts_by_its_size() -> None:
    """Whatever it would be."""
    assert (seconds("webm", webm(OPUS_20_MS) + b"\xec\x80" * 600_000) or 0) > 90
