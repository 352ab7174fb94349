"""Words that must be written nowhere, and the search for them in every form in which they could stand."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

STEM = "quitte"
"""What all words begin with, so that one look tells whether there are any."""

_numbers = count(1001)


@dataclass
class Canaries:
    """What is looked for, by a name that a failure can show."""

    known: dict[str, str] = field(default_factory=dict[str, str])

    def word(self, name: str) -> str:
        return self.keep(name, f"{STEM}{next(_numbers)}zaun")

    def keep(self, name: str, text: str) -> str:
        self.known[name] = text
        return text

    def keep_uuid(self, name: str, uuid: str) -> None:
        """A uuid, with its dashes or without."""
        self.known[name] = uuid
        self.known[f"{name}, without dashes"] = uuid.replace("-", "")
        self.known[f"{name}, its bytes"] = bytes.fromhex(uuid.replace("-", "")).decode("latin-1")

    def found_in(self, data: bytes | str) -> list[str]:
        """The names of those that stand in the data, in whatever form, in large letters or small."""
        given = data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape")
        texts = (given, given.lower())
        has_words = _stands_in(STEM, texts)
        return [
            name
            for name, text in self.known.items()
            if (has_words or not text.startswith(STEM)) and _stands_in(text, texts)
        ]

    def found_beneath(self, folder: Path) -> dict[str, list[str]]:
        """The same for the names and the raw bytes of every file."""
        looked_into = {path.name: path.name.encode() + b"\n" + path.read_bytes() for path in files_in(folder)}
        return {name: found for name, data in looked_into.items() if (found := self.found_in(data))}


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _stands_in(text: str, texts: tuple[bytes, ...]) -> bool:
    return any(form in data for form in forms(text) for data in texts)


@cache
def forms(text: str) -> frozenset[bytes]:
    """How a text may stand in a file: its letters, what encodes them, and what escapes them."""
    return frozenset(_forms(text))


def _forms(text: str) -> Iterator[bytes]:
    data = text.encode("latin-1" if _is_bytes(text) else "utf-8")
    yield from (data, data.lower(), data.hex().encode(), data.hex().upper().encode())
    yield from _in_base64(data)
    if _is_bytes(text):
        return
    yield from (text.encode("utf-16-le"), text.encode("utf-16-be"), text.lower().encode("utf-16-le"))
    yield from (json.dumps(text)[1:-1].encode(), "".join(f"\\u{ord(letter):04x}" for letter in text).encode())
    yield from (quote(text, safe="").encode(), repr(text)[1:-1].encode())


def _is_bytes(text: str) -> bool:
    """Whether the text stands for bytes that are none."""
    return any("\x7f" <= letter <= "\xff" for letter in text)


def _in_base64(data: bytes) -> Iterator[bytes]:
    """In both alphabets; what stands before it in the same text shifts it by none, one or two bytes."""
    for shift, begin in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(b"\0" * shift + data)[begin : (shift + len(data)) * 8 // 6]
        yield encoded
        yield encoded.replace(b"+", b"-").replace(b"/", b"_")
