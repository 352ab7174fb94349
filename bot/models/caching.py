"""Pure: which part of a request a vendor's prompt cache should keep, and for how long.

    tools, system prompt | persona, earlier turns ... | question before | question | rounds of tools
          shared ........'                  marks ....'.................'..........'

Reading costs a tenth of the price; writing a quarter more than it (for five minutes) or twice as much (for an hour), so
it pays off with the first read in time, which the pauses of this chat foretell. Thinking is removed after its turn: the
next one finds the question in the cache, and what follows it only if nothing was thought.

Source: platform.claude.com and developers.openai.com (prompt caching), 2026-11-22.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal

from bot.messages import AssistantMessage, Message, Opaque, UserMessage
from bot.models.base import Request

Life = Literal["5m", "1h"]
"""How long an entry of Anthropic's cache lives; each read renews it."""

_FEW_MINUTES: Final = 270.0
"""The longest pause in seconds that a cache of five minutes survives, with half a minute for the answer."""
_HALF_HOUR: Final = 1740.0
_HOUR: Final = 3600.0
_MAX_PAUSES = 10
"""How many of the last pauses show the rhythm of a chat."""


Marks = Mapping[int, Life]
"""The messages, by index, that end a part to keep because it is asked again; in order, at most three."""


def plan(request: Request) -> Marks | None:
    """Decides what to keep of a request beside tools and system prompt, which all conversations share for an hour.

    None: not even these.
    """
    if request.is_one_off:
        return None
    if request.tools and not request.may_call_tools:
        return {}  # without calls the messages are read differently, and are in no cache
    places = [place for place, message in enumerate(request.messages) if isinstance(message, UserMessage)]
    pauses = _pauses(request.messages)
    # The next question may well come after more than five minutes but within an hour: at first, and after one such
    # pause, because losing the cache costs ten times what an hour costs extra.
    life: Life = "1h" if not pauses or any(_FEW_MINUTES < pause <= _HOUR for pause in pauses) else "5m"
    marks: dict[int, Life] = dict.fromkeys(places[-2:], life)
    last = len(request.messages) - 1
    if last not in marks:
        marks[last] = "5m" if has_thoughts(request.messages[places[-1] :] if places else ()) else life
    return marks


def outlives_half_an_hour(messages: Sequence[Message]) -> bool:
    """Whether people return after so long that a cache of half an hour has expired."""
    return any(pause > _HALF_HOUR for pause in _pauses(messages))


def _pauses(messages: Sequence[Message]) -> list[float]:
    asked = [message.sent_at for message in messages if isinstance(message, UserMessage) and message.sent_at]
    return [max(0, after[0] - before[-1]) / 1000 for before, after in pairwise(asked)][-_MAX_PAUSES:]


def has_thoughts(messages: Sequence[Message]) -> bool:
    """Whether messages have parts that the history will not have."""
    parts = (part for message in messages if isinstance(message, AssistantMessage) for part in message.parts)
    return any(isinstance(part, Opaque) for part in parts)
