"""Pure: the operator's own secrets, removed from whatever a model reads, says or has done.

    "Use sk-ant-api03-..., please"  --> "Use […], please"

A key may be part of a file, a row or a server's answer. It is cut out as it is, in any case, as part of an address, in
hexadecimal digits and in base 64, so that no model has one that it could spell in another way.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast
from urllib.parse import quote, unquote

from bot.messages import AssistantMessage, AssistantPart, Text, ToolCall

CUT = "[…]"

_MIN_CHARACTERS = 8
_MIN_LETTERS = 20
"""For a secret without a digit: a shorter one may be a word."""
_MAX_DEPTH = 50
_PASSWORD = re.compile(r"://[^\s/@:\"]*:([^\s/@\"]+)@")


class Secrets:
    """The operator's secrets. Ignores values too short or too plain to differ from words."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        parts = {part for value in values for part in _parts(value) if _is_telling(part)}
        longest_first = sorted({form for part in parts for form in _spellings(part)}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if parts else None

    def cut(self, text: str) -> str:
        """The text without secrets."""
        return text if self._pattern is None else self._pattern.sub(CUT, text)

    def cut_message(self, message: AssistantMessage) -> AssistantMessage:
        """Returns a model's message without secrets; its vendor's blocks stay unchanged."""
        if self._pattern is None:
            return message
        parts: list[AssistantPart] = []
        for part in message.parts:
            match part:
                case Text():
                    parts.append(Text(text=self.cut(part.text)))
                case ToolCall():
                    arguments = cast("Mapping[str, object]", self._cut_value(dict(part.arguments)))
                    malformed = None if part.malformed is None else self.cut(part.malformed)
                    parts.append(ToolCall(id=part.id, name=part.name, arguments=arguments, malformed=malformed))
                case _:
                    parts.append(part)
        return message if tuple(parts) == message.parts else replace(message, parts=tuple(parts))

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
    data = part.encode()
    yield part
    yield quote(part, safe="")
    yield data.hex()
    # What follows it may change the last characters.
    yield base64.b64encode(data).decode().rstrip("=")[:-1]


def _is_telling(part: str) -> bool:
    """Whether it differs from a word, a folder, or an address without a password."""
    if len(part) < _MIN_CHARACTERS or part.startswith(("/", ".", "http://", "https://")):
        return False
    return len(part) >= _MIN_LETTERS or any(map(str.isdigit, part))
