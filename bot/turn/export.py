"""What is kept about one person, told to that person: their words, what Aldis answered, and what it cost.

Left to others: where it is kept (`store`), who may see it (`bot.commands`, the operator by `python -m bot export`).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from bot import messages, phrases
from bot.events import ChatId, PersonId
from bot.messages import AssistantMessage, Message, ToolMessage, UserMessage
from store import ConversationId, Shelves, StoredMessage


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptTurn:
    """One question of the person with all that was made of it."""

    conversation: ConversationId
    expires_at: datetime | None
    """When it disappears; None: it stays."""
    said: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Export:
    """What is kept about a person."""

    turns: tuple[KeptTurn, ...]

    def words(self) -> str:
        """For the chat: how much it is, and the questions and answers, newest first."""
        told = [f"{_asked(turn)}\n{_answered(turn)}" for turn in reversed(self.turns)]
        return "\n\n".join([phrases.kept_about_you(len(self.turns)), *told])

    def as_json(self) -> str:
        """For the operator: everything, tool calls and results included, oldest first."""
        turns = [
            {
                "conversation": turn.conversation,
                "expires_at": None if turn.expires_at is None else turn.expires_at.isoformat(),
                "messages": json.loads(messages.dumped(turn.said).partition(b":")[2]),
            }
            for turn in self.turns
        ]
        return json.dumps({"turns": turns}, ensure_ascii=False, indent=2)


def exported(
    shelves: Shelves, person: PersonId, direct: ChatId | None, *, conversation: ConversationId | None = None
) -> Export:
    """What is kept about a person, within a transaction: their direct chat whole, elsewhere the turns they asked.

    `direct` None leaves the direct chat out; `conversation` where it is asked for, None for everywhere.
    """
    rows = shelves.history.of_person(person, direct, conversation=None if direct else conversation)
    grouped = groupby(rows, key=lambda row: (row[0], row[1].turn, row[1].expires_at))
    return Export(
        turns=tuple(
            KeptTurn(conversation=place, expires_at=expires_at, said=tuple(_read(message for _, message in group)))
            for (place, _, expires_at), group in grouped
        )
    )


def _read(rows: Iterable[StoredMessage]) -> Iterable[Message]:
    for row in rows:
        yield from messages.loaded(row.message)


def _asked(turn: KeptTurn) -> str:
    return "\n".join(message.text for message in turn.said if isinstance(message, UserMessage))


def _answered(turn: KeptTurn) -> str:
    lines = [message.text for message in turn.said if isinstance(message, AssistantMessage) and message.text]
    tools = [answer.name for message in turn.said if isinstance(message, ToolMessage) for answer in message.answers]
    return "\n".join([*lines, *([f"({', '.join(tools)})"] if tools else [])])
