"""Pure: the operator's own secrets, removed from whatever a model reads, says or has done.

    "sk-ant" + "-api03-..."  --normalised: signs between letters, escapes, capitals-->  skantapi03...  --found--> cut

A key may be part of a file, a row or a server's answer; who makes a model say it has it. So it never gets out: neither
as it is, nor in parts of sixteen characters, nor in escapes, backwards, in hexadecimal digits or in base 64.
Left to others: which those are (`bot.app.wiring`), where they are cut out (`bot.chat.agent`).
"""

import base64
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import quote, unquote

from bot.messages import AssistantMessage, AssistantPart, Text, ToolCall

CUT = "[…]"
"""What replaces a secret."""

_MIN_CHARACTERS = 8
_MIN_LETTERS = 20
"""For a secret without a digit: a shorter one may be a word."""
_MIN_PART = 16
"""This many letters and digits of a secret are no coincidence, whatever stands between them."""
_GRAM = 8
"""The size of the pieces searched for first: every part of `_MIN_PART` contains one."""
_MAX_DEPTH = 50
_PASSWORD = re.compile(r"://[^\s/@:\"]*:([^\s/@\"]+)@")
_ESCAPE = re.compile(
    r"%(?P<url>[0-9a-f]{2})|&\#0{0,9}(?P<number>\d{1,6});|&\#x0{0,9}(?P<entity>[0-9a-f]{1,6});"
    r"|\\u(?P<json>[0-9a-f]{4})|\\u\{0{0,9}(?P<braced>[0-9a-f]{1,6})\}"
    r"|\\x(?P<byte>[0-9a-f]{2})|\\[nrtbf]",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class _Read:
    """A normalised text: its letters and digits, and the position of each in the original."""

    letters: str
    places: tuple[tuple[int, int], ...]


class Secrets:
    """The operator's secrets. Ignores values too short or too plain to differ from words."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        parts = {part for value in values for part in _parts(value) if _is_telling(part)}
        longest_first = sorted({form for part in parts for form in _spellings(part)}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if parts else None
        self._grams: dict[str, list[tuple[str, int]]] = {}
        for form in {_letters(form) for part in parts for form in _forms(part)}:
            for place in range(0, len(form) - _GRAM + 1, _GRAM):
                self._grams.setdefault(form[place : place + _GRAM], []).append((form, place))

    def cut(self, text: str) -> str:
        """The text without secrets."""
        if self._pattern is None or not text:
            return text
        return self._without_forms(self._pattern.sub(CUT, text))

    def cut_message(self, message: AssistantMessage) -> AssistantMessage:
        """Returns a model's message without secrets; its vendor's blocks stay unchanged."""
        if self._pattern is None:
            return message
        parts = tuple(self._cut_parts(message))
        return message if parts == message.parts else replace(message, parts=parts)

    def _without_forms(self, text: str) -> str:
        letters = _letters(text)
        if self._grams.keys().isdisjoint(letters[at : at + _GRAM] for at in range(len(letters) - _GRAM + 1)):
            return text
        read = _read(text)
        for start, end in reversed(_joined(self._found_in(read))):
            text = text[:start] + CUT + text[end:]
        return text

    def _found_in(self, read: _Read) -> Iterator[tuple[int, int]]:
        """The positions in a text with enough of a form."""
        for at in range(len(read.letters) - _GRAM + 1):
            for form, place in self._grams.get(read.letters[at : at + _GRAM], ()):
                first, last = _extended(read.letters, at, form, place)
                if last - first >= _MIN_PART:
                    yield read.places[first][0], read.places[last - 1][1]

    def _cut_parts(self, message: AssistantMessage) -> Iterator[AssistantPart]:
        for part in message.parts:
            match part:
                case Text():
                    yield Text(text=self.cut(part.text))
                case ToolCall():
                    arguments = cast("Mapping[str, object]", self._cut_value(dict(part.arguments)))
                    malformed = None if part.malformed is None else self.cut(part.malformed)
                    yield ToolCall(id=part.id, name=part.name, arguments=arguments, malformed=malformed)
                case _:
                    yield part

    def _cut_value(self, value: object, depth: int = 0) -> object:
        match value:
            case str():
                return self.cut(value)
            case dict() if depth < _MAX_DEPTH:
                items = cast("dict[str, object]", value).items()
                return {self.cut(name): self._cut_value(item, depth + 1) for name, item in items}
            case list() if depth < _MAX_DEPTH:
                return [self._cut_value(item, depth + 1) for item in cast("list[object]", value)]
            case dict() | list():
                return CUT
            case _:
                return value


def passwords_in(text: str) -> Iterator[str]:
    """The passwords in addresses (`https://user:password@host`), as they stand there and decoded."""
    passwords = _PASSWORD.findall(text)
    yield from passwords
    yield from map(unquote, passwords)


def _parts(value: str) -> Iterator[str]:
    """The secret parts of a setting: the whole value and the words of a header, or passwords in addresses."""
    yield from passwords_in(value)
    if not value.lstrip().startswith(("{", "[")):  # JSON contains more than secrets
        yield value.strip()
        yield from value.split()


def _spellings(part: str) -> Iterator[str]:
    """Its spellings without anything between the characters."""
    data = part.encode()
    yield part
    yield quote(part, safe="")
    yield data.hex()
    # What follows it may change the last characters.
    yield base64.b64encode(data).decode().rstrip("=")[:-1]
    yield part[::-1]


def _forms(part: str) -> Iterator[str]:
    """The letters and digits of it and of its encodings, if it is long enough to be recognised by them."""
    if len(_letters(part)) < _MIN_PART:
        return
    data = part.encode()
    yield part
    yield part[::-1]
    yield data.hex()
    for before in range(3):  # whatever stands before it shifts the boundaries of base64
        yield base64.b64encode(bytes(before) + data).decode().rstrip("=")[-(-before * 4 // 3) : -1]


def _letters(text: str) -> str:
    """The letters and digits of a text, lower-case and with escapes decoded."""
    if "%" in text or "&#" in text or "\\" in text:
        text = _ESCAPE.sub(_unescaped, text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return _BETWEEN.sub("", text).lower()


def _read(text: str) -> _Read:
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        escape = _ESCAPE.match(text, at)
        sign, end = (_unescaped(escape), escape.end()) if escape else (text[at], at + 1)
        for letter in _letters(sign):
            letters.append(letter)
            places.append((at, end))
        at = end
    return _Read("".join(letters), tuple(places))


def _unescaped(escape: re.Match[str]) -> str:
    number = escape["number"]
    digits = next(filter(None, map(escape.group, ("url", "entity", "json", "braced", "byte"))), None)
    code = int(number) if number else int(digits, 16) if digits else 0
    return chr(code) if 0 < code < 0x110000 else " "  # noqa: PLR2004  (the end of Unicode)


def _extended(letters: str, at: int, form: str, place: int) -> tuple[int, int]:
    """Returns how far the text matches the form around a place where both are equal."""
    first, last = at, at + _GRAM
    before, behind = place, place + _GRAM
    while first > 0 and before > 0 and letters[first - 1] == form[before - 1]:
        first, before = first - 1, before - 1
    while last < len(letters) and behind < len(form) and letters[last] == form[behind]:
        last, behind = last + 1, behind + 1
    return first, last


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, merged where they overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _is_telling(part: str) -> bool:
    """Whether it differs from a word, a folder, or an address without a password."""
    if len(part) < _MIN_CHARACTERS or part.startswith(("/", ".", "http://", "https://")):
        return False
    return len(part) >= _MIN_LETTERS or any(map(str.isdigit, part))
