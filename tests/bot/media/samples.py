"""Files as people send them, made here: small, whole, and of one kind each."""

import io
import struct
import zlib
from typing import Any

from PIL import Image


def picture(
    width: int = 60, height: int = 40, file_format: str = "JPEG", *, mode: str = "RGB", colour: Any = "red", **more: Any
) -> bytes:
    return saved(Image.new(mode, (width, height), colour), file_format, **more)


def noise(width: int, height: int, file_format: str = "JPEG") -> bytes:
    return saved(Image.merge("RGB", [Image.effect_noise((width, height), 90) for _ in "RGB"]), file_format)


def saved(image: Image.Image, file_format: str, **more: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, file_format, **more)
    return buffer.getvalue()


def png_of_size(width: int, height: int) -> bytes:
    """A PNG that says it is so large, in a few bytes: whoever believes it takes the memory before looking further."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def pdf(*pages: str) -> bytes:
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, words in enumerate(pages):
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents {5 + 2 * number} 0 R "
        objects.append(f"{page}/Resources << /Font << /F1 3 0 R >> >> >>".encode())
        stream = f"BT /F1 12 Tf 20 100 Td ({words}) Tj ET".encode() if words else b""
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    body, places = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + trailer


def slow_pdf() -> bytes:
    """Some kilobytes that keep a reader busy for long: a page whose words are written one by one, three million."""
    small = pdf("x")
    stream = zlib.compress(b"BT /F1 12 Tf " + b"(x) Tj " * 3_000_000 + b"ET")
    begin, end = small.index(b"<< /Length"), small.index(b"endstream")
    head = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(stream)
    return small[:begin] + head + stream + b"\n" + small[end:]


FRAMES = tuple(bytes([number % 251]) * (20 + number % 7) for number in range(100))
"""Frames of AAC, as far as anybody looks who does not decode them."""


def adts(*frames: bytes, rate_index: int = 4, channels: int = 1, checksum: bool = False) -> bytes:
    """The frames as Signal for Android sends a voice note: each behind a header. `rate_index` 4 is 44,100 a second."""
    made = b""
    for frame in frames or FRAMES:
        length = len(frame) + (9 if checksum else 7)
        head = (
            0xFF,
            0xF0 if checksum else 0xF1,
            1 << 6 | rate_index << 2 | channels >> 2,
            (channels & 3) << 6 | length >> 11,
        )
        made += bytes((*head, length >> 3 & 0xFF, (length & 7) << 5 | 0x1F, 0xFC))
        made += (b"\x00\x00" if checksum else b"") + frame
    return made


def boxes(data: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    while data:
        size, name = struct.unpack_from(">I4s", data)
        assert 8 <= size <= len(data)
        found[name.decode()] = data[8:size]
        data = data[size:]
    return found


def box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", 8 + len(body)) + name + body


def video() -> bytes:
    return box(b"ftyp", b"isom" + bytes(4)) + box(b"moov", box(b"hdlr", bytes(8) + b"vide" + bytes(13)))
