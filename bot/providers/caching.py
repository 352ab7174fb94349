"""Pure: which part of a request a vendor's prompt cache keeps, and for how long.

    tools, system prompt | persona, earlier turns ... | question before | question | rounds of tools
          shared ........'                  marks ....'.................'..........'

A read costs a tenth of the price, a write a quarter more than it (five minutes) or twice as much (an hour), so a write
pays as soon as it is read once in time. How long that is follows from the pauses of this chat, which stand in the
request itself: nothing has to be remembered, and a restart loses nothing. Thinking within a turn is taken out of it
afterwards, so the next turn finds the question again, and what follows it only where nothing was thought.
Left to others: how a vendor wants to be told (`bot.providers.anthropic.provider`, `bot.providers.openai.responses`).

Source: platform.claude.com (prompt caching: prices, lives, look-back, what changes make invalid) and
developers.openai.com (prompt caching), 2026-11-22.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from bot.messages import AssistantMessage, Message, Opaque, UserMessage
from bot.providers.base import Request

Life = Literal["5m", "1h"]
"""How long a cache of Anthropic's lives; each read gives it its whole life again."""

_FEW_MINUTES: Final = 270.0
"""Seconds between two questions up to which a cache of five minutes is still there, half a minute for the answer."""
_HALF_HOUR: Final = 1740.0
_HOUR: Final = 3600.0
_MAX_PAUSES = 10
"""So many of the last pauses tell the rhythm of a chat."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CachePlan:
    """What of a request is to be kept."""

    shared: bool
    """Whether the tools and the system prompt are, which all conversations have in common, for an hour."""
    marks: Mapping[int, Life] = field(default_factory=dict[int, Life])
    """The messages, by their place, with which a part ends that is asked again; in order, at most three."""


NOTHING: Final = CachePlan(shared=False)


def plan(request: Request) -> CachePlan:
    """What to keep of a request."""
    if request.is_one_off:
        return NOTHING
    if request.tools and not request.may_call_tools:
        return CachePlan(shared=True)  # without calls the messages are read as others: no cache knows them, nor will
    places = [place for place, message in enumerate(request.messages) if isinstance(message, UserMessage)]
    life: Life = "1h" if _comes_back_late([request.messages[place] for place in places]) else "5m"
    marks: dict[int, Life] = dict.fromkeys(places[-2:], life)
    last = len(request.messages) - 1
    if last not in marks:
        marks[last] = "5m" if _thinks(request.messages[places[-1] :] if places else ()) else life
    return CachePlan(shared=True, marks=marks)


def outlives_half_an_hour(messages: Sequence[Message]) -> bool:
    """Whether people come back after so long that a cache of half an hour has gone."""
    return any(pause > _HALF_HOUR for pause in _pauses(messages))


def _comes_back_late(messages: Sequence[Message]) -> bool:
    """Whether the next question may well come after more than five minutes and within an hour.

    One such pause is enough, for what is lost with the cache is ten times what an hour costs more. In the beginning
    nobody knows; most people pause.
    """
    pauses = _pauses(messages)
    return not pauses or any(_FEW_MINUTES < pause <= _HOUR for pause in pauses)


def _pauses(messages: Sequence[Message]) -> list[float]:
    """The seconds between the last questions."""
    asked = [message.sent_at for message in messages if isinstance(message, UserMessage) and message.sent_at]
    return [max(0, after[0] - before[-1]) / 1000 for before, after in pairwise(asked)][-_MAX_PAUSES:]


def _thinks(running: Sequence[Message]) -> bool:
    """Whether the running turn has parts that its history will not have."""
    parts = (part for message in running if isinstance(message, AssistantMessage) for part in message.parts)
    return any(isinstance(part, Opaque) for part in parts)
