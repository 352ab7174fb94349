"""Raw AAC in an M4A file: every frame where the file says that it is."""

import struct

import pytest

from bot.media.cell import FileRefused
from bot.media.speech import as_m4a, seconds_of
from tests.bot.media.samples import FRAMES, adts, box, boxes

OPUS_20_MS = b"\xfc" + bytes(40)


def page(packets: list[bytes], *, granule: int = 0, serial: int = 1) -> bytes:
    table = b"".join(b"\xff" * (len(packet) // 255) + bytes((len(packet) % 255,)) for packet in packets)
    return struct.pack("<4sxxqIII", b"OggS", granule, serial, 0, 0) + bytes((len(table),)) + table + b"".join(packets)


def opus(*packets: bytes, granule: int = 0) -> bytes:
    pages = [page(list(packets[at : at + 50]), granule=granule) for at in range(0, len(packets), 50)]
    return page([b"OpusHead" + bytes(11)]) + page([b"OpusTags" + bytes(600)]) + b"".join(pages)


def table(m4a: bytes) -> dict[str, bytes]:
    media = boxes(boxes(boxes(boxes(m4a)["moov"])["trak"])["mdia"])
    return boxes(boxes(media["minf"])["stbl"])


def frames_of(m4a: bytes) -> list[bytes]:
    """The frames, found as a player finds them: by their sizes, from where the one chunk begins."""
    sample_sizes, chunks = table(m4a)["stsz"], table(m4a)["stco"]
    _, same, count = struct.unpack_from(">III", sample_sizes)
    sizes = struct.unpack_from(f">{count}I", sample_sizes, 12)
    _, chunk_count, at = struct.unpack_from(">III", chunks)
    assert (same, chunk_count) == (0, 1)
    found: list[bytes] = []
    for size in sizes:
        found.append(m4a[at : at + size])
        at += size
    assert at == len(m4a)
    return found


def test_every_frame_is_where_the_file_says() -> None:
    """Byte for byte, with or without check sums in the headers; nothing is decoded; a cut off end is left out."""
    for checksum in (False, True):
        for rate_index, channels in ((4, 1), (3, 2)):
            made, _ = as_m4a(adts(rate_index=rate_index, channels=channels, checksum=checksum))
            assert frames_of(made) == list(FRAMES)
            assert boxes(made)["ftyp"].startswith(b"M4A ")
    assert frames_of(as_m4a(adts()[:-5])[0]) == list(FRAMES[:-1])


def test_a_player_learns_how_to_decode_it_and_how_long_it_lasts() -> None:
    """AAC-LC, 16,000 a second, two channels, in `esds` and the entry around it; 1,024 samples a frame."""
    made, seconds = as_m4a(adts())
    assert seconds == pytest.approx(100 * 1024 / 44_100)
    assert seconds_of(made) == pytest.approx(seconds)
    made, _ = as_m4a(adts(rate_index=8, channels=2))
    entry = table(made)["stsd"][8:]
    assert struct.unpack_from(">H", entry, 8 + 16)[0] == 2
    assert struct.unpack_from(">I", entry, 8 + 24)[0] == 16_000 << 16
    config = (2 << 11 | 8 << 7 | 2 << 3).to_bytes(2, "big")
    assert b"\x05\x02" + config + b"\x06\x01\x02" in entry


def test_what_has_no_frames_is_refused() -> None:
    """As damaged, or as a kind that no recorder of voice notes makes; of nothing but heads a made file has millions."""
    for data in (b"", adts(b"x")[:-1], b"\xff\xf1" + bytes(50), adts(channels=0), adts(rate_index=13)):
        with pytest.raises(FileRefused):
            as_m4a(data)
    with pytest.raises(FileRefused, match="too long"):
        as_m4a(adts(b"x") * 500_001)


def movie(*header: int, more: bytes = b"") -> bytes:
    return box(b"moov", box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, *header)) + more)


LENGTHS: list[tuple[bytes, float | None]] = [
    (box(b"free", b"x") + movie(1000, 2500), 2.5),
    (box(b"moov", box(b"mvhd", struct.pack(">IQQIQ", 1 << 24, 0, 0, 10, 45))), 4.5),
    (movie(0, 2500), None),
    (movie(1000, 0xFFFFFFFF), None),
    (movie(1000, 900, more=box(b"mvex", bytes(8))), None),
    (movie(1000, 0), None),
    (box(b"moov", box(b"mvhd", b"\x00")), None),
    (opus(*[OPUS_20_MS] * 300, granule=288_000), 6.0),
    (opus(OPUS_20_MS, granule=1 << 60), None),
    (opus(OPUS_20_MS, granule=-1), None),
    (page([b"Speex   " + bytes(90)], granule=48_000), None),
]


def test_the_length_of_other_files_is_read_where_it_stands() -> None:
    """In both versions of the box and in the last page; never guessed, nor longer than the bytes can hold."""
    for number, (data, seconds) in enumerate(LENGTHS):
        assert seconds_of(data + box(b"free", bytes(1000))) == seconds, number
    for whole in (opus(*[OPUS_20_MS] * 9), as_m4a(adts())[0]):
        assert all((seconds_of(whole[:end]) or 1) > 0 for end in range(len(whole)))
