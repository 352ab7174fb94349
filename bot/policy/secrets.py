"""Pure: the operator's own secrets, cut out of whatever a model reads, says or has done.

A key may stand in a file, a row or the answer of a server; whoever can make a model say it has it. So it goes nowhere:
as it is, and in the spellings in which a model could pass it on without a tool.
Left to others: which those are (`bot.app.policies`), where they are cut out (`bot.turn.agent`).
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, cast
from urllib.parse import quote, unquote

from bot.messages import AssistantMessage, Text, ToolCall

CUT = "[…]"
"""What stands in the place of a secret."""

_MIN_CHARACTERS = 8
_MIN_LETTERS = 20
"""Of a secret without a digit: a shorter one may be a word."""
_MAX_DEPTH = 50
_PASSWORD = re.compile(r"://[^\s/@:\"]*:([^\s/@\"]+)@")

T = TypeVar("T")


class Secrets:
    """The operator's secrets. Values that are too short or too plain to be told from words are none."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        spelled = {form for value in values for part in _parts(value) for form in _spellings(part)}
        longest_first = sorted(spelled, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if spelled else None

    def cut(self, text: str) -> str:
        """The text without them."""
        return text if self._pattern is None else self._pattern.sub(CUT, text)

    def cut_message(self, message: AssistantMessage) -> AssistantMessage:
        """What a model says and wants to have done, without them; the blocks of its vendor stay as they are."""
        if self._pattern is None or self._pattern.search(repr(message.parts)) is None:
            return message
        return _with_parts(message, self._cut_parts(message))

    def _cut_parts(self, message: AssistantMessage) -> Iterator[Text | ToolCall | object]:
        for part in message.parts:
            match part:
                case Text():
                    yield Text(text=self.cut(part.text))
                case ToolCall():
                    arguments = cast("Mapping[str, object]", self._cut_value(dict(part.arguments)))
                    yield ToolCall(id=part.id, name=part.name, arguments=arguments, malformed=part.malformed)
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


def _with_parts(message: AssistantMessage, parts: Iterable[object]) -> AssistantMessage:
    return AssistantMessage(parts=cast("tuple[Text | ToolCall, ...]", tuple(parts)), labels=message.labels)


def _parts(value: str) -> Iterator[str]:
    """What of a setting is secret: all of it and the words of a header, or the passwords in addresses."""
    passwords = _PASSWORD.findall(value)
    yield from passwords
    yield from map(unquote, passwords)
    if not value.lstrip().startswith(("{", "[")):  # JSON is more than its secrets
        yield value.strip()
        yield from value.split()


def _spellings(part: str) -> Iterator[str]:
    if not _is_telling(part):
        return
    data = part.encode()
    yield part
    yield quote(part, safe="")
    yield data.hex()
    # What follows it may change the last signs.
    yield base64.b64encode(data).decode().rstrip("=")[:-1]
    yield part[::-1]


def _is_telling(part: str) -> bool:
    """Whether it can be told from a word, a folder, or an address without a password."""
    if len(part) < _MIN_CHARACTERS or part.startswith(("/", ".", "http://", "https://")):
        return False
    return len(part) >= _MIN_LETTERS or any(map(str.isdigit, part))
