"""The letters: what people write, numbered within their conversation, so that its order can be seen in the answers."""

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from tests.campaigns.chaos.crowd import Chat
from tests.servers import envelopes
from tests.servers.envelopes import Frame

Phase = Literal["warm-up", "alone", "beside"]
"""All are alike in the first two; `beside` is what is written beside a stubborn conversation."""

_NUMBER = re.compile(r"number (\d+)")


def numbers_in(text: str) -> tuple[int, ...]:
    """The numbers of the letters that a text names, in the order in which they stand there."""
    return tuple(int(number) for number in _NUMBER.findall(text))


def named(numbers: tuple[int, ...]) -> str:
    """Letters by their numbers, as `numbers_in` reads them."""
    return ", ".join(f"number {number}" for number in numbers)


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A message that was handed to Aldis."""

    chat: str
    number: int
    """Within its conversation, from 1."""
    phase: Phase
    sent_at: int
    """The time that names it in Signal."""
    delivered_seconds: float
    """When it was handed over, on the monotonic clock."""


@dataclass
class Pen:
    """Numbers the letters of each conversation."""

    _counts: Counter[str] = field(default_factory=Counter[str])

    def frame(self, chat: Chat, lots: random.Random) -> tuple[int, Frame]:
        """The next letter of this conversation: its number, and the frame that it arrives as."""
        self._counts[chat.id] += 1
        number = self._counts[chat.id]
        call = "Aldis, " if chat.group else ""
        words = f"{call}{named((number,))} about {chat.canary}: how does the garden grow?"
        return number, envelopes.message(words, author=lots.choice(chat.members), group=chat.group)
